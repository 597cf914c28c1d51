// SPDX-License-Identifier: Apache-2.0
#include <benanza/gtest.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace benanza::literals;

TEST(Latency, IsNearTheBound) {
  const benanza::Bound bound{.model = "mine", .latency = 10.0_ms};
  const benanza::Seconds measured = 11.5_ms;
  EXPECT_THAT(measured, benanza::is_within(1.2).of(bound));
  EXPECT_THAT(measured, ::testing::Not(benanza::is_within(1.1).of(bound)));
}

TEST(Latency, IsNeverWithinAPartialBound) {
  const benanza::Bound partial{.model = "mine", .latency = 10.0_ms, .missing = {"Softmax/f32/x=1x10x1"}};
  EXPECT_THAT(1.0_ms, ::testing::Not(benanza::is_within(1e9).of(partial)));
  const ::testing::Matcher<benanza::Seconds> matcher = benanza::is_within(1.2).of(partial);
  std::ostringstream said;
  matcher.DescribeTo(&said);
  EXPECT_NE(said.str().find("Run `benanza bound`"), std::string::npos);
}
