// SPDX-License-Identifier: Apache-2.0
// Bandwidths in the notation of a command line.
#pragma once

#include <benanza/error.hpp>
#include <benanza/model/units.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace benanza::tool {

/// `10,25,100Gbps`: rates in ascending order, without duplicates. A rate without a unit has the unit of the next one.
/// Bits: `kbps`, `Mbps`, `Gbps`, `Tbps`; bytes: `MB/s`, `GB/s`. Throws UsageError.
[[nodiscard]] inline std::vector<BytesPerSecond> parse_rates(const std::string& option, std::string_view text) {
  constexpr std::array<std::pair<std::string_view, double>, 6> units{
      {{"kbps", 125}, {"Mbps", 125e3}, {"Gbps", 125e6}, {"Tbps", 125e9}, {"MB/s", 1e6}, {"GB/s", 1e9}}};
  std::vector<BytesPerSecond> rates;
  std::optional<double> unit;
  std::string_view rest = text;
  for (bool more = true; more;) {  // from the last rate, whose unit the ones before it take
    const auto comma = rest.rfind(',');
    more = comma != std::string_view::npos;
    const std::string_view part = more ? rest.substr(comma + 1) : rest;
    if (more) rest = rest.substr(0, comma);
    double number = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), number);
    const std::string_view name = part.substr(static_cast<std::size_t>(end - part.data()));
    if (!name.empty()) unit.reset();
    for (const auto& [known, factor] : units)
      if (name == known) unit = factor;
    if (error != std::errc{} || !std::isfinite(number) || number <= 0 || !unit)
      throw UsageError(option + ": '" + std::string(text) + "', expected rates such as 10,25,100Gbps or 12GB/s");
    rates.push_back({number * *unit});
  }
  std::sort(rates.begin(), rates.end());
  rates.erase(std::unique(rates.begin(), rates.end()), rates.end());
  return rates;
}

}  // namespace benanza::tool
