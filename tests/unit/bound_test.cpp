// SPDX-License-Identifier: Apache-2.0
#include "support/catch.hpp"
#include <benanza/bounds/bound.hpp>
#include <benanza/catch2.hpp>

namespace {

using namespace benanza;
using namespace benanza::literals;

const Bound whole{.model = "resnet50", .rung = RungName::library_fused, .latency = 10.0_ms};
const Bound without_result{
    .model = "resnet50", .latency = 10.0_ms, .missing = {"Conv/f32/x=1x3x8x8/w=4x3x3x3", "Softmax/f32/x=1x10x1"}};
const Bound never_measured{.model = "resnet50"};

}  // namespace

TEST_CASE("a latency is within a factor of the bound up to and including it") {
  CHECK_THAT(9.0_ms, is_within(1.2).of(whole));
  CHECK_THAT(12.0_ms, is_within(1.2).of(whole));
  CHECK_THAT(12.1_ms, !is_within(1.2).of(whole));
}

TEST_CASE("no latency is within a bound that is partial or absent") {
  for (auto latency : {0.0_ms, 1.0_ms, 1e9_ms}) {
    CHECK_THAT(latency, !is_within(1e6).of(without_result));
    CHECK_THAT(latency, !is_within(1e6).of(never_measured));
  }
}

TEST_CASE("what is asserted is said with model, rung and figure") {
  CHECK(is_within(1.2).of(whole).describe() == "is within 1.2 times 10 ms, the library_fused of resnet50");
}

TEST_CASE("a partial bound says what is missing and what to do") {
  using Catch::Contains;
  const std::string missing = is_within(1.2).of(without_result).describe();
  CHECK_THAT(missing, Contains("partial"));
  CHECK_THAT(missing, Contains("2 "));
  CHECK_THAT(missing, Contains("Conv/f32/x=1x3x8x8/w=4x3x3x3"));
  CHECK_THAT(missing, Contains("Run `benanza bound`"));
  const std::string never = is_within(1.2).of(never_measured).describe();
  CHECK_THAT(never, Contains("never measured"));
  CHECK_THAT(never, Contains("Run `benanza bound`"));
}

TEST_CASE("every rung has a name of its own") {
  const auto names = enum_names(RungName{});
  for (std::size_t i = 0; i < names.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) CHECK(names[i] != names[j]);
  CHECK(names[static_cast<std::size_t>(RungName::roofline_memory)] == "roofline_memory");
}

TEST_CASE("latencies are printed in milliseconds") {
  CHECK(Catch::StringMaker<Seconds>::convert(12.5_ms) == "12.500000 ms");
}
