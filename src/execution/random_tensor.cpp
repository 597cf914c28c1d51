// SPDX-License-Identifier: Apache-2.0
#include <benanza/execution/random_tensor.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace benanza {

namespace {

constexpr std::uint64_t golden = 0x9e3779b97f4a7c15;

/// Steele, Lea, Flood, "Fast splittable pseudorandom number generators" (2014).
std::uint64_t mixed(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

std::uint64_t fnv1a(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

/// The random bits of one tensor's elements.
class Bits {
 public:
  Bits(std::string_view name, std::uint64_t seed) : base_(mixed(seed + fnv1a(name))) {}
  [[nodiscard]] std::uint64_t at(std::int64_t i) const {
    return mixed(base_ + golden * (static_cast<std::uint64_t>(i) + 1));
  }
  [[nodiscard]] double number(std::int64_t i) const {
    const std::uint64_t all = at(i);
    const auto sum =
        static_cast<std::int64_t>((all & 0xffff) + (all >> 16 & 0xffff) + (all >> 32 & 0xffff) + (all >> 48));
    return static_cast<double>(sum - 2 * 0xffff) * (std::numbers::sqrt3 / 0x10000);  // four uniform numbers: 4 / 12
  }

 private:
  std::uint64_t base_;
};

template <class Number>
Tensor tensor_from(DataType type, const Tensor::Dims& dims, const Number& number) {
  Tensor result(type, dims);
  void* const data = result.writable();
  for (std::int64_t i = 0; i < result.elements(); ++i) store(data, type, i, number(i));
  return result;
}

}  // namespace

Tensor random_input(DataType type, const Tensor::Dims& dims, std::string_view name, std::uint64_t seed) {
  const Bits bits(name, seed);
  if (is_float(type)) return tensor_from(type, dims, [&](std::int64_t i) { return bits.number(i); });
  if (type == DataType::boolean) return tensor_from(type, dims, [](std::int64_t) { return 1.0; });
  return tensor_from(type, dims, [&](std::int64_t i) { return static_cast<double>(bits.at(i) & 1); });
}

Tensor random_weights(DataType type, const Tensor::Dims& dims, std::string_view name, std::uint64_t seed,
                      double value) {
  const Bits bits(name, seed);
  if (is_8_bit(type)) {
    const auto [least, largest] = integer_range(type);
    return tensor_from(type, dims, [&, low = least, high = largest](std::int64_t i) {
      return std::clamp(value + std::nearbyint(20 * bits.number(i)), low, high);
    });
  }
  if (!is_float(type)) return tensor_from(type, dims, [&](std::int64_t) { return value; });
  if (dims.size() < 2)
    return tensor_from(type, dims, [&](std::int64_t i) { return value * (1 + 0.1 * bits.number(i)); });
  double inputs = static_cast<double>(dims[0]);
  if (dims.size() > 2) inputs = static_cast<double>(element_count(std::span(dims).subspan(1)));
  const double spread = std::sqrt(2 / inputs);
  return tensor_from(type, dims, [&](std::int64_t i) { return spread * bits.number(i); });
}

}  // namespace benanza
