// SPDX-License-Identifier: Apache-2.0
#include "fill.hpp"

#include <benanza/plan/element.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace benanza {

namespace {

constexpr std::int64_t period = 1'048'573;  // prime, so that rows of a matrix are not shifted copies of each other

/// SplitMix64 (Steele, Lea, Flood 2014): a counter with a mixing function. The seed is mixed as well, because counters
/// that begin a few steps apart would give the same numbers, shifted.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(mixed(seed + step)) {}
  std::uint64_t operator()() { return mixed(state_ += step); }
  /// In [0, limit), by multiplication of the high 32 bits (Lemire 2019); the bias below 2^-32 * limit does not matter
  /// here.
  std::int64_t below(std::int64_t limit) {
    return static_cast<std::int64_t>(((*this)() >> 32) * static_cast<std::uint64_t>(limit) >> 32);
  }
  /// In [0, 1).
  float fraction() { return static_cast<float>((*this)() >> 40) * 0x1p-24F; }

 private:
  static constexpr std::uint64_t step = 0x9E3779B97F4A7C15U;
  static constexpr std::uint64_t mixed(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31);
  }

  std::uint64_t state_;
};

template <class T>
void fill_indices(T* data, std::int64_t count, std::int64_t limit, Random& random) {
  for (std::int64_t i = 0; i < count; ++i) data[i] = static_cast<T>(random.below(limit));
}

/// A non-zero integer in [-limit, limit], or in [1, limit] without sign.
double small_integer(Random& random, std::int64_t limit, bool has_sign) {
  const std::int64_t magnitude = 1 + random.below(limit);
  return static_cast<double>(has_sign && (random() & 1U) != 0 ? -magnitude : magnitude);
}

double draw(Random& random, const Operand& operand) {
  const DataType type = operand.type;
  switch (operand.contents) {
    case Contents::boolean: return static_cast<double>(random() & 1U);
    case Contents::indices: return static_cast<double>(random.below(std::max<std::int64_t>(operand.limit, 1)));
    case Contents::positive:
      if (has_coarse_steps(type)) {
        const auto exponent = static_cast<int>(random.below(4)) - 2;
        return std::ldexp(1 + static_cast<double>(random.fraction()), exponent);
      }
      if (is_float(type)) return 0.5 + static_cast<double>(random.fraction());
      return type == DataType::boolean ? 1 : small_integer(random, 3, false);
    case Contents::even: return 2 * small_integer(random, 3, integer_range(type).least < 0);
    case Contents::settling:
    case Contents::uniform: break;
  }
  if (type == DataType::boolean) return static_cast<double>(random() & 1U);
  if (type == DataType::f8e8m0) return 1;
  if (is_float(type) && bits(type) < 8) return small_integer(random, 3, true);
  if (is_float(type)) {
    double magnitude = 0x1p-6 + (1 - 0x1p-6) * static_cast<double>(random.fraction());
    if (operand.contents == Contents::settling) magnitude /= std::sqrt(static_cast<double>(operand.limit));
    return (random() & 1U) != 0 ? -magnitude : magnitude;
  }
  return small_integer(random, bits(type) <= 8 ? 3 : 8, integer_range(type).least < 0);
}

/// Operands of tf32 have 11 significant bits: tensor cores ignore the other 13, and the reference must not see them.
double rounded(double value, DataType type) {
  if (type != DataType::tf32) return value;
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(static_cast<float>(value)) & 0xFFFFE000U);
}

}  // namespace

void fill(const Operand& operand, void* data, std::uint64_t seed) {
  Random random(seed);
  const std::int64_t count = operand.elements();
  if (operand.contents == Contents::indices && operand.limit > 0 && operand.type == DataType::i64)
    return fill_indices(static_cast<std::int64_t*>(data), count, operand.limit, random);
  if (operand.contents == Contents::indices && operand.limit > 0 && operand.type == DataType::i32)
    return fill_indices(static_cast<std::int32_t*>(data), count, operand.limit, random);

  const std::int64_t distinct =
      bits(operand.type) < 8 ? std::min(count, 2 * (period + 1)) : std::min(count, period);  // whole bytes
  for (std::int64_t i = 0; i < distinct; ++i)
    store(data, operand.type, i, rounded(std::ldexp(draw(random, operand), operand.exponent), operand.type));
  const auto total = static_cast<std::size_t>(operand.bytes());
  auto* bytes = static_cast<std::byte*>(data);
  for (auto done = static_cast<std::size_t>(distinct * bits(operand.type) / 8); done < total;) {
    const std::size_t length =
        std::min(done, total - done);  // doubling keeps the period, because `done` is a multiple of it
    std::memcpy(bytes + done, bytes, length);
    done += length;
  }
}

}  // namespace benanza
