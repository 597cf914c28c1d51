// SPDX-License-Identifier: Apache-2.0
// Verdicts by hand, each with its arithmetic.
#include "support/catch.hpp"
#include <benanza/results/comparison.hpp>

#include <cmath>
#include <limits>

namespace {

using namespace benanza;

Timing timing(double p10, double median, double noise) { return {.p10 = {p10}, .median = {median}, .noise = noise}; }

/// Eight rounds: four groups of two equal times.
Measurement in_rounds(double a, double b, double c, double d) {
  return {.samples = 8,
          .times = MeasuredTimes{.p10 = {1}, .median = {1}, .p90 = {1}},
          .rounds_s = {a, a, b, b, c, c, d, d}};
}

}  // namespace

TEST_CASE("a change counts when it is beyond the tolerance and beyond the noise") {
  struct Case {
    Timing before, after;
    Verdict verdict;
    double change;
  };
  const Case cases[] = {
      {timing(100, 110, 0.01), timing(110, 121, 0.01), Verdict::slower, 0.10},   // 110/100 and 121/110: both + 10 %
      {timing(100, 110, 0.01), timing(90, 99, 0.01), Verdict::faster, -0.10},    // 90/100 and 99/110: both - 10 %
      {timing(100, 100, 0.02), timing(102, 102, 0.02), Verdict::same, 0.02},     // 2 %; noise sqrt(8) = 2.8 % <= 3 %
      {timing(100, 100, 0.03), timing(102, 102, 0.04), Verdict::unknown, 0.02},  // noise 5 % could hide more than 3 %
      {timing(100, 100, 0.04), timing(105, 105, 0.04), Verdict::unknown, 0.05},  // 5 % < sqrt(32) = 5.7 % of noise
      {timing(100, 100, 0.04), timing(106, 106, 0.04), Verdict::slower, 0.06},   // 6 % > 5.7 %
      {timing(100, 110, 0), timing(101, 132, 0), Verdict::unknown, 0.20},        // median + 20 %, p10 + 1 % only
      {timing(100, 110, 0), timing(90, 121, 0), Verdict::unknown, 0.10},         // median + 10 %, p10 - 10 %
      {timing(92.1, 92.2, 0), timing(86.4, 78.3, 0), Verdict::faster, -13.9 / 92.2},  // p10 - 6.2 %, median - 15 %
  };
  for (const auto& c : cases) {
    const Comparison found = compare(c.before, c.after);
    INFO("before " << c.before.median.value << ", after " << c.after.median.value << " and " << c.after.p10.value);
    CHECK(found.verdict == c.verdict);
    CHECK(found.change.value() == Approx(c.change).margin(1e-12));
    CHECK((found.verdict == Verdict::unknown) == !found.reason.empty());
  }
  CHECK(compare(timing(100, 100, 0), timing(105, 105, 0), 0.06).verdict == Verdict::same);
  CHECK(compare(timing(100, 100, 0), timing(100.2, 100.2, 0), 0).verdict == Verdict::slower);
}

TEST_CASE("what has no time or no spread is unknown, with the reason") {
  CHECK(compare({}, timing(1, 1, 0)).reason == "no time");
  CHECK(!compare({}, timing(1, 1, 0)).change);
  const Timing single{.p10 = {1}, .median = {1}, .doubt = "a single sample has no spread"};
  CHECK(compare(timing(1, 1, 0), single).reason == "after: a single sample has no spread");
  CHECK(compare(single, timing(1, 1, 0)).reason == "before: a single sample has no spread");
  CHECK(compare(single, timing(1, 1, 0)).verdict == Verdict::unknown);
}

TEST_CASE("the noise of a row in rounds is half its interval over four groups") {
  // Medians and p10 of the groups: 100, 102, 98, 100. All: 98 98 100 100 100 100 102 102: median 100, p10 at position
  // 0.7: 98. Squared distances from p10: 4 + 16 + 0 + 4 = 24, over 4 * 3: 2. Without one group the p10 is at position
  // 0.5: 98, 98, 100, 98: mean 98.5, squares 0.25 * 3 + 2.25 = 3, times 3 / 4: 2.25. Half the interval of p10 is 3.182
  // * sqrt(4.25) = 6.56; that of the median is smaller: 8 / 12 and nothing.
  const Timing found = timing_of(in_rounds(100, 102, 98, 100));
  CHECK(found.median.value == 100);
  CHECK(found.p10.value == 98);
  CHECK(found.noise.value() == Approx(3.182 * std::sqrt(4.25) / 98).epsilon(0.0015));
}

TEST_CASE("the noise of a row without rounds is its spread") {
  // (p90 - p10) / 2 / median = (112 - 100) / 2 / 105
  Measurement row{.samples = 6, .times = MeasuredTimes{.p10 = {100}, .median = {105}, .p90 = {112}, .cv = 0.01}};
  CHECK(timing_of(row).noise.value() == Approx(6.0 / 105));
  row.times->cv = 0.2;
  CHECK(timing_of(row).noise.value() == 0.2);
  row.rounds_s = {100, 100, 100};  // too few for four groups
  CHECK(timing_of(row).noise.value() == 0.2);
  row.samples = 1;
  CHECK(!timing_of(row).noise);
  CHECK(timing_of(row).doubt == "a single sample has no spread");
}

TEST_CASE("between sessions the wander of a processor's speed is a part of the noise") {
  Measurement row = in_rounds(100, 102, 98, 100);
  row.wander = 0.03;
  row.noisy = true;  // but eight rounds show by how much
  CHECK(timing_of_session(row).noise.value() == Approx(timing_of(row).noise.value() + 0.03));
}

TEST_CASE("the noise of a row that the budget left uncertain after a few rounds is not known") {
  Measurement row{.samples = 3, .times = MeasuredTimes{.p10 = {100}, .median = {100}, .p90 = {100}}, .noisy = true};
  row.rounds_s = {100, 100, 100};
  CHECK(!timing_of_session(row).noise);
  CHECK(timing_of_session(row).doubt == "still uncertain when the budget ended");
  row.noisy = false;
  CHECK(timing_of_session(row).noise.value() == 0);
}

TEST_CASE("contention leaves the noise unknown") {
  Measurement row = in_rounds(100, 100, 100, 100);
  row.contended = true;
  CHECK(timing_of(row).doubt == "the machine was contended");
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  Measurement part{.samples = 12,
                   .times = MeasuredTimes{.p10 = {1}, .median = {1}, .p90 = {1}},
                   .rounds_s = std::vector<double>(12, 1)};
  part.rounds_s[3] = part.rounds_s[4] = part.rounds_s[5] = none;  // the second of four groups of three
  CHECK(timing_of(part).doubt == "the machine was contended during a part of the rounds");
  part.rounds_s[4] = 1;
  CHECK(timing_of(part).noise.value() == 0);
}
