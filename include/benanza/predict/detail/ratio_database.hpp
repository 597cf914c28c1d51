// SPDX-License-Identifier: Apache-2.0
// RatioDatabase: layers that were measured on two devices. For a layer that was measured only on the first device, the
// ratio of its times on both is taken from layers of the same kind that are its neighbours in time, FLOPs and bytes.
#pragma once

#include <benanza/model/units.hpp>
#include <benanza/predict/detail/hull.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace benanza {

/// The features that decide which layers are neighbours.
struct LayerFeatures {
  std::string kind{};      ///< operator and type: `Conv/f32`; layers of another kind are not neighbours
  std::string epilogue{};  ///< what is fused after it, without sizes: `bias,relu`
  Seconds time{};          ///< one call on the first device
  Flops flops{};
  Bytes bytes{};
};

/// A layer that was measured on both devices.
struct RatioSample {
  LayerFeatures layer{};
  std::string shape{};   ///< equal shapes count once among the neighbours
  std::string family{};  ///< model family, for evaluation; may be empty
  double ratio = 1;      ///< time on the second device over time on the first
};

/// The answer for a layer.
struct NearestRatio {
  double ratio = 1;                ///< the median over the neighbours
  double lowest = 1, highest = 1;  ///< among them
};

class RatioDatabase {
 public:
  static constexpr std::size_t neighbors = 5;
  /// A layer may lie outside the hull of the measured layers by this much, in natural logarithms: for example 5 % in
  /// time.
  static constexpr double hull_tolerance = 0.05;
  /// What a different epilogue adds to the square of the distance: as much as a factor of e in time.
  static constexpr double other_epilogue = 1;
  using Excluded = std::function<bool(const RatioSample&)>;

  void add(RatioSample sample) { samples_[sample.layer.kind].push_back(std::move(sample)); }
  [[nodiscard]] bool empty() const { return samples_.empty(); }

  /// The ratio of the nearest layers, or why there is no basis for one. `excluded` leaves samples out, for evaluation.
  [[nodiscard]] std::variant<NearestRatio, std::string> find(
      const LayerFeatures& layer, const Excluded& excluded = [](const RatioSample&) { return false; }) const {
    const auto found = samples_.find(layer.kind);
    if (found == samples_.end()) return "no layer of kind " + layer.kind + " was measured on both devices";
    std::vector<const RatioSample*> used;
    std::vector<detail::Point3> points;
    for (const auto& sample : found->second) {
      if (excluded(sample)) continue;
      used.push_back(&sample);
      points.push_back(point_of(sample.layer));
    }
    const detail::Point3 at = point_of(layer);
    std::vector<std::size_t> order(used.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    const auto distance = [&](std::size_t i) {
      const auto apart = detail::minus(points[i], at);
      return detail::dot(apart, apart) + (used[i]->layer.epilogue == layer.epilogue ? 0 : other_epilogue);
    };
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return distance(a) < distance(b); });
    std::vector<const RatioSample*> nearest;
    for (const std::size_t i : order) {
      const auto same = [&](const RatioSample* other) { return other->shape == used[i]->shape; };
      if (std::any_of(nearest.begin(), nearest.end(), same)) continue;
      nearest.push_back(used[i]);
      if (nearest.size() == neighbors) break;
    }
    if (nearest.size() < neighbors)
      return "fewer than " + std::to_string(neighbors) + " layers of kind " + layer.kind +
             " were measured on both devices";
    if (!detail::within_hull(points, at, hull_tolerance))
      return "outside of what was measured of kind " + layer.kind + " on both devices";
    std::sort(nearest.begin(), nearest.end(), [](const auto* a, const auto* b) { return a->ratio < b->ratio; });
    return NearestRatio{
        .ratio = nearest[neighbors / 2]->ratio, .lowest = nearest.front()->ratio, .highest = nearest.back()->ratio};
  }

 private:
  [[nodiscard]] static detail::Point3 point_of(const LayerFeatures& layer) {
    return {std::log(layer.time.value), std::log(std::max(1.0, layer.flops.value)),
            std::log(std::max(1.0, layer.bytes.value))};
  }

  std::map<std::string, std::vector<RatioSample>> samples_{};
};

}  // namespace benanza
