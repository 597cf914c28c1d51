// SPDX-License-Identifier: Apache-2.0
#include "largest_batch.hpp"

#include <benanza/error.hpp>
#include <benanza/report/memory_report.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string_view>
#include <utility>

namespace benanza::tool {

double parse_bytes(const std::string& option, const std::string& text) {
  constexpr std::array<std::pair<std::string_view, double>, 9> units{{{"TiB", 0x1p40},
                                                                      {"GiB", 0x1p30},
                                                                      {"MiB", 0x1p20},
                                                                      {"KiB", 0x1p10},
                                                                      {"TB", 1e12},
                                                                      {"GB", 1e9},
                                                                      {"MB", 1e6},
                                                                      {"kB", 1e3},
                                                                      {"B", 1}}};
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  if (error == std::errc{} && std::isfinite(number) && number > 0) {
    for (const auto& [name, factor] : units)
      if (unit == name) return number * factor;
  }
  throw UsageError(option + ": '" + text + "', expected a size such as 80GB or 16GiB");
}

std::optional<std::int64_t> largest_batch(double capacity, const PeakAt& known,
                                          const std::function<double(std::int64_t)>& peak) {
  constexpr std::int64_t most = most_batch + 1;
  const auto at = [&](std::int64_t batch) {
    return PeakAt{.batch = batch, .bytes = batch == known.batch ? known.bytes : peak(batch)};
  };
  try {
    PeakAt fits = known.bytes <= capacity && known.batch < most / 2 ? known : at(1);
    if (fits.bytes > capacity) return 0;
    // The bytes that depend on the batch usually grow in proportion to it, and never faster.
    const double per_batch = (fits.bytes - known.fixed) / static_cast<double>(fits.batch);
    const double in_proportion = per_batch > 0 ? (capacity - known.fixed) / per_batch : static_cast<double>(most);
    const auto estimate = static_cast<std::int64_t>(std::min(in_proportion, static_cast<double>(most - 1)));
    const PeakAt other = known.bytes > capacity ? known : at(std::max(estimate, fits.batch + 1));
    const double slope = (other.bytes - fits.bytes) / static_cast<double>(other.batch - fits.batch);
    if (slope <= 0) return std::nullopt;
    if (other.bytes <= capacity) fits = other;
    // The peak is nearly linear in the batch: two points give an estimate of the answer, which bisection makes exact.
    const double more = (capacity - fits.bytes) / slope;
    std::int64_t low = fits.batch, high = other.bytes > capacity ? other.batch : most;  // low always fits
    if (low + 1 == high) return low;
    if (more > static_cast<double>(high - low) && at(high - 1).bytes <= capacity) return high - 1;
    const auto guess = low + static_cast<std::int64_t>(std::min(more, static_cast<double>(high - low)));
    for (const std::int64_t tried : {guess, guess + 1, guess - 1, guess + guess / 8 + 1, guess - guess / 8 - 1}) {
      if (tried <= low || tried >= high) continue;
      (at(tried).bytes <= capacity ? low : high) = tried;
      if (low + 1 == high) return low;
    }
    while (high - low > 1) {
      const std::int64_t middle = low + (high - low) / 2;
      (at(middle).bytes <= capacity ? low : high) = middle;
    }
    return low;
  } catch (const InputError&) {
    return std::nullopt;  // the model cannot have that batch
  } catch (const UsageError&) {
    return std::nullopt;  // --input says another batch
  }
}

}  // namespace benanza::tool
