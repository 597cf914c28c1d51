// SPDX-License-Identifier: Apache-2.0
// make_sweeps: makes the sweeps of models from their analyses at several sizes.
#pragma once

#include <benanza/bounds/sweep.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace benanza {

namespace detail {

using Sizes = std::map<std::string, std::int64_t>;

/// All sizes of a model, including the batch.
inline Sizes sizes(const Analysis& a) {
  Sizes result = a.dims;
  result["batch"] = a.batch;
  return result;
}

/// The size that is swept: the one that has more than one value over the model's analyses.
inline std::string axis_of(const std::vector<const Analysis*>& points) {
  std::map<std::string, std::set<std::int64_t>> values;
  for (const auto* a : points)
    for (const auto& [name, value] : sizes(*a)) values[name].insert(value);
  if (values["batch"].size() > 1) return "batch";
  for (const auto& [name, seen] : values)
    if (seen.size() > 1) return name;
  return "batch";
}

/// The other sizes of a point, except those that change with the axis, such as a symbolic dimension that is the batch.
inline std::string rest_of(const Analysis& a, const std::string& axis, const std::vector<const Analysis*>& points) {
  std::string text;
  for (const auto& [name, value] : sizes(a)) {
    const auto goes_along = [&axis, &name = name](const Analysis* other) {
      return sizes(*other).at(name) == sizes(*other).at(axis);
    };
    if (std::all_of(points.begin(), points.end(), goes_along)) continue;
    text += (text.empty() ? "" : ", ") + name + " " + std::to_string(value);
  }
  return text;
}

inline SweepPoint point_of(const Analysis& a, const std::string& axis, RungName rung) {
  const std::int64_t value = sizes(a).at(axis);
  SweepPoint point{.value = value,
                   .latency = a[rung].expected(),
                   .bound = a[rung].bound,
                   .uncertainty = a[rung].uncertainty,
                   .floor_share = a[rung].floor_share,
                   .model_floor = a[RungName::model_floor].bound,
                   .partial = a.partial(),
                   .provisional = a[rung].provisional()};
  const double units = static_cast<double>(a.batch) * (axis == "batch" ? 1.0 : static_cast<double>(value));
  if (!point.partial && point.latency && point.latency->value > 0) point.throughput = units / point.latency->value;
  return point;
}

}  // namespace detail

/// One sweep for each model and each combination of the sizes that are not on the axis. The axis is the batch if it
/// varies, otherwise the first dimension that does. `models`: analyses of the same models at several sizes.
[[nodiscard]] inline std::vector<Sweep> make_sweeps(std::span<const Analysis> models) {
  std::vector<std::pair<std::string, std::vector<const Analysis*>>> by_file;
  for (const auto& a : models) {
    const auto same = std::find_if(by_file.begin(), by_file.end(), [&](const auto& e) { return e.first == a.file; });
    if (same == by_file.end()) by_file.push_back({a.file, {&a}});
    else same->second.push_back(&a);
  }
  std::vector<Sweep> result;
  for (const auto& [file, points] : by_file) {
    const std::string axis = detail::axis_of(points);
    std::map<std::string, Sweep> by_rest;
    for (const auto* a : points) {
      const std::string fixed = detail::rest_of(*a, axis, points);
      Sweep& sweep = by_rest[fixed];
      if (sweep.points.empty()) {
        sweep.model = a->model;
        sweep.axis = axis;
        sweep.fixed = fixed;
        sweep.unit = axis == "batch" ? "inputs" : axis;
        sweep.rung = a->headline();
      }
      sweep.points.push_back(detail::point_of(*a, axis, sweep.rung));
    }
    for (auto& [fixed, sweep] : by_rest) {
      std::stable_sort(sweep.points.begin(), sweep.points.end(),
                       [](const SweepPoint& a, const SweepPoint& b) { return a.value < b.value; });
      result.push_back(std::move(sweep));
    }
  }
  return result;
}

}  // namespace benanza
