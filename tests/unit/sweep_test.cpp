// SPDX-License-Identifier: Apache-2.0
#include "support/catch.hpp"
#include <benanza/bounds/make_sweeps.hpp>

namespace {

using namespace benanza;

Analysis at(std::string model, std::int64_t batch, std::map<std::string, std::int64_t> dims, double milliseconds) {
  Analysis a{.model = model, .file = model + ".onnx", .batch = batch, .dims = std::move(dims)};
  a[RungName::library_fused] = {.bound = Seconds{milliseconds * 0.9e-3}, .median = Seconds{milliseconds * 1e-3}};
  return a;
}

}  // namespace

TEST_CASE("throughput is inputs a second, and stops to gain where no later point is 5 % above") {
  // 1 in 10 ms is 100/s, 2 in 12.5 ms 160/s, 4 in 24.5 ms 163.3/s, 8 in 48.2 ms 166/s: at most 3.7 % more after 2.
  const std::vector<Analysis> points{at("m", 4, {}, 24.5), at("m", 1, {}, 10), at("m", 8, {}, 48.2),
                                     at("m", 2, {}, 12.5)};
  const auto sweeps = make_sweeps(points);
  REQUIRE(sweeps.size() == 1);
  CHECK(sweeps[0].axis == "batch");
  CHECK(sweeps[0].unit == "inputs");
  REQUIRE(sweeps[0].points.size() == 4);
  CHECK(sweeps[0].points[0].value == 1);
  CHECK(*sweeps[0].points[1].throughput == Approx(160));
  CHECK(sweeps[0].last_gain() == std::size_t{1});
}

TEST_CASE("a sweep whose last point still gains has no limit to show, nor has one of unknown points") {
  CHECK_FALSE(make_sweeps(std::vector{at("m", 1, {}, 10), at("m", 2, {}, 11)})[0].last_gain());
  CHECK_FALSE(make_sweeps(std::vector{at("m", 1, {}, 10), at("m", 2, {}, 0)})[0].last_gain());
  CHECK(make_sweeps(std::vector{at("m", 1, {}, 10), at("m", 2, {}, 20)})[0].last_gain() == std::size_t{0});
}

TEST_CASE("a dimension's sweep counts its elements, for each model and each rest of the sizes") {
  const std::vector<Analysis> points{
      at("a", 1, {{"seq", 128}, {"batch", 1}}, 10), at("a", 1, {{"seq", 256}, {"batch", 1}}, 40),
      at("b", 1, {{"seq", 128}, {"width", 3}}, 10), at("b", 1, {{"seq", 256}, {"width", 3}}, 10)};
  const auto sweeps = make_sweeps(points);
  REQUIRE(sweeps.size() == 2);
  CHECK(sweeps[0].axis == "seq");
  CHECK(sweeps[0].unit == "seq");
  CHECK(sweeps[0].fixed == "batch 1");
  CHECK(*sweeps[0].points[0].throughput == Approx(12800));  // 128 in 10 ms
  CHECK(sweeps[0].last_gain() == std::size_t{0});           // 256 in 40 ms is 6,400
  CHECK(sweeps[1].fixed == "batch 1, width 3");
  CHECK_FALSE(sweeps[1].last_gain());
}

TEST_CASE("a symbolic dimension that is the batch does not part the points of a sweep over it") {
  const auto sweeps =
      make_sweeps(std::vector{at("m", 1, {{"N", 1}, {"seq", 8}}, 10), at("m", 2, {{"N", 2}, {"seq", 8}}, 11)});
  REQUIRE(sweeps.size() == 1);
  CHECK(sweeps[0].fixed == "seq 8");
}
