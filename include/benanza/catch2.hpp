// SPDX-License-Identifier: Apache-2.0
// Catch2 (2 and 3): `REQUIRE_THAT(measured_latency, benanza::is_within(1.2).of(bound))`.
#pragma once

#if __has_include(<catch2/matchers/catch_matchers_templated.hpp>)
#include <catch2/matchers/catch_matchers.hpp>
#else
#include <catch2/catch.hpp>
#endif

#include <benanza/bounds/bound.hpp>

namespace benanza {

#if __has_include(<catch2/matchers/catch_matchers_templated.hpp>)
using SecondsMatcherBase = Catch::Matchers::MatcherBase<Seconds>;
#else
using SecondsMatcherBase = Catch::MatcherBase<Seconds>;
#endif

class IsWithin : public SecondsMatcherBase {
 public:
  explicit IsWithin(Within within) : within_(std::move(within)) {}
  bool match(const Seconds& latency) const override { return within_.holds(latency); }
  std::string describe() const override { return within_.describe(); }

 private:
  Within within_;
};

struct IsWithinFactor {
  double factor = 1;
  [[nodiscard]] IsWithin of(const Bound& bound) const { return IsWithin(Within(factor, bound)); }
};
[[nodiscard]] inline IsWithinFactor is_within(double factor) { return {factor}; }

}  // namespace benanza

namespace Catch {

template <>
struct StringMaker<benanza::Seconds> {
  static std::string convert(benanza::Seconds time) { return std::to_string(time.value * 1e3) + " ms"; }
};

}  // namespace Catch
