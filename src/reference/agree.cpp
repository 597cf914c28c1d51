// SPDX-License-Identifier: Apache-2.0
#include "reference.hpp"
#include <benanza/base/detail/small_float.hpp>
#include <benanza/plan/element.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace benanza::reference {

namespace {

/// Whether a correct result of integer type may be one unit off, since it was rounded.
bool rounds(const Layer& layer, DataType type) {
  if (bits(type) > 8 || type == DataType::boolean) return false;
  if (const auto* pool = std::get_if<op::Pool>(&layer)) return pool->mode != op::PoolMode::max;
  if (const auto* resize = std::get_if<op::Resize>(&layer)) return resize->mode != op::ResizeMode::nearest;
  if (const auto* reduce = std::get_if<op::Reduce>(&layer)) return reduce->fn == op::ReduceFn::mean;
  if (const auto* binary = std::get_if<op::Binary>(&layer)) return binary->scaled;
  if (std::holds_alternative<op::Unary>(layer)) return true;
  return std::holds_alternative<op::Conv>(layer) || std::holds_alternative<op::ConvTranspose>(layer) ||
         std::holds_alternative<op::MatMul>(layer) || std::holds_alternative<op::Quantize>(layer);
}

/// The least positive number of a float of at most 16 bits.
double least_positive(DataType type) {
  if (type == DataType::f16) return 0x1p-24;
  if (type == DataType::bf16) return 0x1p-133;
  return detail::decode(detail::small_float(type), 1);
}

/// Compares floats of at most 16 bits with the expected values rounded to the type. Values beyond the range of the type
/// become infinite; in 8-bit types, the largest number. Small values may differ by one step of the subnormal numbers,
/// which are far apart.
bool agree_rounded(DataType type, std::span<const double> expected, std::span<const double> got, double tolerance) {
  std::vector<double> rounded(expected.size());
  std::transform(expected.begin(), expected.end(), rounded.begin(),
                 [&](double value) { return round_to(type, value); });
  double largest = 0;
  for (const double value : rounded) largest = std::max(largest, std::fabs(value));
  const double step = least_positive(type);
  return difference(rounded, got) <= (largest == 0 ? step : std::max(tolerance, step / largest));
}

}  // namespace

double difference(std::span<const double> expected, std::span<const double> got) {
  constexpr double never = std::numeric_limits<double>::infinity();
  if (expected.size() != got.size()) return never;
  double worst = 0, scale = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (std::isnan(expected[i]) || std::isnan(got[i])) return never;
    if (std::isinf(expected[i]) || std::isinf(got[i])) {
      if (expected[i] != got[i]) return never;
      continue;
    }
    worst = std::max(worst, std::fabs(expected[i] - got[i]));
    scale = std::max(scale, std::fabs(expected[i]));
  }
  return scale == 0 ? worst : worst / scale;
}

bool agree(const Layer& layer, std::size_t output, std::span<const double> expected, std::span<const double> got,
           double tolerance) {
  const DataType type = operands(layer).outputs.at(output).type;
  if (is_float(type) && bits(type) <= 16) return agree_rounded(type, expected, got, tolerance);
  if (is_float(type)) return difference(expected, got) <= tolerance;
  const double allowed = rounds(layer, type) ? 1 : 0;
  return expected.size() == got.size() &&
         std::equal(expected.begin(), expected.end(), got.begin(), [&](double want, double have) {
           return std::fabs(want - have) <= allowed;  // false for NaN
         });
}

std::vector<std::int64_t> sample_indices(std::int64_t elements, std::size_t samples, std::uint64_t seed) {
  std::vector<std::int64_t> result;
  if (elements <= static_cast<std::int64_t>(samples)) {
    result.resize(static_cast<std::size_t>(elements));
    std::iota(result.begin(), result.end(), std::int64_t{0});
    return result;
  }
  if (samples > 0) result.push_back(0);
  if (samples > 1) result.push_back(elements - 1);
  std::uint64_t state = seed * 2 + 1;
  for (std::size_t i = 2; i < samples; ++i) {  // one in each of equal strata, so that every region is sampled
    state = state * 6364136223846793005U + 1442695040888963407U;  // Knuth's MMIX generator
    const auto width = static_cast<double>(elements - 2) / static_cast<double>(samples - 2);
    const double within = static_cast<double>(state >> 11) * 0x1p-53;
    const auto index = static_cast<std::int64_t>((static_cast<double>(i - 2) + within) * width) + 1;
    result.push_back(std::clamp<std::int64_t>(index, 1, elements - 2));
  }
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

std::vector<double> read(const Operand& operand, const void* data, std::span<const std::int64_t> indices) {
  std::vector<double> result(indices.size());
  std::transform(indices.begin(), indices.end(), result.begin(),
                 [&](std::int64_t i) { return load(data, operand.type, i); });
  return result;
}

}  // namespace benanza::reference
