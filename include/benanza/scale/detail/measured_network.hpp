// SPDX-License-Identifier: Apache-2.0
// MeasuredNetwork: measured times of all-reduces, which replace an analytic network.
#pragma once

#include <benanza/model/data_type.hpp>
#include <benanza/model/layer_signature.hpp>
#include <benanza/model/units.hpp>
#include <benanza/results/expected_time.hpp>
#include <benanza/results/results.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace benanza {

/// One all-reduce: its expected time, and the first and the last decile of its samples.
struct MeasuredTime {
  Seconds expected{}, least{}, most{};
};

class MeasuredNetwork {
 public:
  std::string backend{};          ///< the backend that ran the collectives
  DataType type = DataType::f32;  ///< type of their elements

  /// Adds a time. If there is one of the same size already, the shorter one counts.
  void add(std::int64_t ranks, Bytes bytes, const MeasuredTime& time) {
    const auto [place, is_new] = times_[ranks].try_emplace(bytes.value, time);
    if (!is_new && time.expected < place->second.expected) place->second = time;
  }
  /// The time that was measured for this size; between two sizes it is interpolated linearly. Nothing outside the
  /// smallest and the largest size, or for numbers of ranks that were not measured.
  [[nodiscard]] std::optional<MeasuredTime> time(std::int64_t ranks, Bytes bytes) const {
    const auto of = times_.find(ranks);
    if (of == times_.end()) return std::nullopt;
    const auto above = of->second.lower_bound(bytes.value);
    if (above == of->second.end()) return std::nullopt;
    if (above->first == bytes.value) return above->second;
    if (above == of->second.begin()) return std::nullopt;
    const auto& [low, shorter] = *std::prev(above);
    const double share = (bytes.value - low) / (above->first - low);
    const auto between = [&](Seconds from, Seconds to) { return from + share * (to - from); };
    return MeasuredTime{between(shorter.expected, above->second.expected), between(shorter.least, above->second.least),
                        between(shorter.most, above->second.most)};
  }

 private:
  std::map<std::int64_t, std::map<double, MeasuredTime>> times_{};  // by ranks, by bytes
};

/// The all-reduces of one type and one backend in a database, each with its fastest row.
[[nodiscard]] inline MeasuredNetwork measured_network(const ResultDatabase& results, std::string_view backend,
                                                      DataType type) {
  MeasuredNetwork network;
  network.backend = backend;
  network.type = type;
  for (const auto& [text, rows] : results.newest_rows()) {
    if (!text.starts_with(op::AllReduce::kind)) continue;
    const Layer layer = parse_layer(text);
    const auto* const exchange = std::get_if<op::AllReduce>(&layer);
    if (exchange == nullptr || exchange->type != type) continue;
    for (const auto& row : rows)
      if (row.backend == backend && row.measured())
        network.add(exchange->ranks, {static_cast<double>(exchange->n) * bits(type) / 8},
                    {.expected = expected_time(row), .least = row.times->p10, .most = row.times->p90});
  }
  return network;
}

}  // namespace benanza
