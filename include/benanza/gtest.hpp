// SPDX-License-Identifier: Apache-2.0
// GoogleTest (with GoogleMock's matchers): `EXPECT_THAT(measured_latency, benanza::is_within(1.2).of(bound))`.
#pragma once

#include <benanza/bounds/bound.hpp>

#include <gmock/gmock-matchers.h>

#include <ostream>

namespace benanza {

class IsWithin {
 public:
  using is_gtest_matcher = void;
  explicit IsWithin(Within within) : within_(std::move(within)) {}
  bool MatchAndExplain(Seconds latency, std::ostream*) const { return within_.holds(latency); }
  void DescribeTo(std::ostream* out) const { *out << within_.describe(); }
  void DescribeNegationTo(std::ostream* out) const { *out << "not: " << within_.describe(); }

 private:
  Within within_;
};

struct IsWithinFactor {
  double factor = 1;
  [[nodiscard]] IsWithin of(const Bound& bound) const { return IsWithin(Within(factor, bound)); }
};
[[nodiscard]] inline IsWithinFactor is_within(double factor) { return {factor}; }

inline void PrintTo(const Seconds& time, std::ostream* out) { *out << time.value * 1e3 << " ms"; }

}  // namespace benanza
