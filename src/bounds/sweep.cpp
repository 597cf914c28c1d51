// SPDX-License-Identifier: Apache-2.0
#include <benanza/bounds/sweep.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace benanza {

namespace {

constexpr double gain = 1.05;

using Sizes = std::map<std::string, std::int64_t>;

/// All sizes of a model, the batch among them.
Sizes sizes(const Analysis& a) {
  Sizes result = a.dims;
  result["batch"] = a.batch;
  return result;
}

/// The size that is swept: it takes more than one value over the model's analyses.
std::string axis_of(const std::vector<const Analysis*>& points) {
  std::map<std::string, std::set<std::int64_t>> values;
  for (const auto* a : points)
    for (const auto& [name, value] : sizes(*a)) values[name].insert(value);
  if (values["batch"].size() > 1) return "batch";
  for (const auto& [name, seen] : values)
    if (seen.size() > 1) return name;
  return "batch";
}

/// The other sizes of a point: not those that go with the axis, as a symbolic dimension that is the batch does.
std::string rest_of(const Analysis& a, const std::string& axis, const std::vector<const Analysis*>& points) {
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

SweepPoint point_of(const Analysis& a, const std::string& axis, RungName rung) {
  const std::int64_t value = sizes(a).at(axis);
  SweepPoint point{.value = value,
                   .latency = a.analytic ? a[rung].bound : a[rung].median,
                   .bound = a[rung].bound,
                   .uncertainty = a[rung].uncertainty,
                   .model_floor = a[RungName::model_floor].bound,
                   .partial = a.partial()};
  const double units = static_cast<double>(a.batch) * (axis == "batch" ? 1.0 : static_cast<double>(value));
  if (!point.partial && point.latency && point.latency->value > 0) point.throughput = units / point.latency->value;
  return point;
}

}  // namespace

RungName headline(const Analysis& analysis) {
  if (analysis.analytic) return RungName::model_floor;
  return analysis[RungName::library_fused_resident].bound ? RungName::library_fused_resident : RungName::library_fused;
}

std::optional<std::size_t> Sweep::last_gain() const {
  for (std::size_t i = 0; i + 1 < points.size(); ++i) {
    const auto gains = [&](const SweepPoint& later) { return *later.throughput >= gain * *points[i].throughput; };
    for (const auto& point : points)
      if (!point.throughput) return std::nullopt;
    if (std::none_of(points.begin() + static_cast<std::ptrdiff_t>(i) + 1, points.end(), gains)) return i;
  }
  return std::nullopt;
}

std::vector<Sweep> make_sweeps(std::span<const Analysis> models) {
  std::vector<std::pair<std::string, std::vector<const Analysis*>>> by_file;
  for (const auto& a : models) {
    const auto same = std::find_if(by_file.begin(), by_file.end(), [&](const auto& e) { return e.first == a.file; });
    if (same == by_file.end()) by_file.push_back({a.file, {&a}});
    else same->second.push_back(&a);
  }
  std::vector<Sweep> result;
  for (const auto& [file, points] : by_file) {
    const std::string axis = axis_of(points);
    std::map<std::string, Sweep> by_rest;
    for (const auto* a : points) {
      const std::string fixed = rest_of(*a, axis, points);
      Sweep& sweep = by_rest[fixed];
      if (sweep.points.empty()) {
        sweep.model = a->model;
        sweep.axis = axis;
        sweep.fixed = fixed;
        sweep.unit = axis == "batch" ? "inputs" : axis;
        sweep.rung = headline(*a);
      }
      sweep.points.push_back(point_of(*a, axis, sweep.rung));
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
