// SPDX-License-Identifier: Apache-2.0
// Whether a point is in the convex hull of others: Gilbert's algorithm moves through the hull towards the point until
// it reaches it, or until a plane separates the two.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <vector>

namespace benanza::detail {

using Point3 = std::array<double, 3>;

[[nodiscard]] inline double dot(const Point3& a, const Point3& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
[[nodiscard]] inline Point3 minus(const Point3& a, const Point3& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }

/// Whether the distance between the hull of `points` and `at` is at most `tolerance`.
[[nodiscard]] inline bool within_hull(const std::vector<Point3>& points, const Point3& at, double tolerance) {
  if (points.empty()) return false;
  const auto distance = [&at](const Point3& p) { return dot(minus(p, at), minus(p, at)); };
  Point3 near = *std::min_element(points.begin(), points.end(),
                                  [&](const Point3& a, const Point3& b) { return distance(a) < distance(b); });
  constexpr int most_steps = 1000;  // points on the boundary are approached slowly
  for (int step = 0; step < most_steps; ++step) {
    const Point3 away = minus(near, at);
    if (dot(away, away) <= tolerance * tolerance) return true;
    const Point3* furthest = nullptr;
    double least = std::numeric_limits<double>::infinity();
    for (const auto& point : points)
      if (const double along = dot(minus(point, at), away); along < least) {
        least = along;
        furthest = &point;
      }
    if (least > 0) return false;  // all points are on the other side of a plane through `at`
    const Point3 way = minus(*furthest, near);
    const double length = dot(way, way);
    if (!(length > 0)) return false;
    const double part = std::clamp(-dot(away, way) / length, 0.0, 1.0);
    for (std::size_t i = 0; i < near.size(); ++i) near[i] += part * way[i];
  }
  return true;
}

}  // namespace benanza::detail
