// SPDX-License-Identifier: Apache-2.0
// Unique layers, according to any rule that says which layers are the same, and which of them a database of other
// models already contains.
#pragma once

#include <benanza/base/detail/saturated.hpp>
#include <benanza/model/units.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

namespace benanza {

struct CountedLayer {
  std::int64_t count = 0;         ///< layers of the model that are equal to this one
  std::optional<Seconds> time{};  ///< what it costs, in the caller's terms; empty if not known
};

/// Keyed by the text that distinguishes unique layers.
using CountedLayers = std::map<std::string, CountedLayer>;

inline void merge(CountedLayers& into, const CountedLayers& from) {
  for (const auto& [key, layer] : from) {
    CountedLayer& entry = into[key];
    detail::add_saturated(entry.count, layer.count);
    if (!entry.time) entry.time = layer.time;
  }
}

/// What a database of other models saves.
struct KnownLayers {
  std::string model{};           ///< empty for several models together
  std::int64_t layers = 0;       ///< with repeats
  std::int64_t unique = 0;       ///< distinct ones among these
  std::int64_t known = 0;        ///< unique layers that the other models have
  std::int64_t timed = 0;        ///< unique layers whose time is known
  Seconds time{}, known_time{};  ///< of the timed layers, each once: all, and those that the other models have

  [[nodiscard]] std::int64_t added() const { return unique - known; }
  [[nodiscard]] Seconds added_time() const { return time - known_time; }
};

[[nodiscard]] inline KnownLayers known_layers(std::string model, const CountedLayers& layers,
                                              const std::set<std::string>& known) {
  KnownLayers result{.model = std::move(model)};
  for (const auto& [key, layer] : layers) {
    detail::add_saturated(result.layers, layer.count);
    ++result.unique;
    const bool is_known = known.contains(key);
    if (is_known) ++result.known;
    if (!layer.time) continue;
    ++result.timed;
    result.time += *layer.time;
    if (is_known) result.known_time += *layer.time;
  }
  return result;
}

}  // namespace benanza
