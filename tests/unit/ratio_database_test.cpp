// SPDX-License-Identifier: Apache-2.0
// Ratios of the nearest layers, and the hull outside of which there are no ratios.
#include "support/catch.hpp"
#include <benanza/predict/detail/ratio_database.hpp>

#include <cmath>
#include <string>

namespace {

using namespace benanza;

RatioSample sample_of(double time, double flops, double bytes, double ratio, std::string shape,
                      std::string family = "") {
  return {.layer = {.kind = "Conv/f32", .time = {time}, .flops = {flops}, .bytes = {bytes}},
          .shape = std::move(shape),
          .family = std::move(family),
          .ratio = ratio};
}

/// A cube in log space with corners at 1 and e^2 times base values; ratios 1 to 8.
RatioDatabase cube() {
  RatioDatabase database;
  int corner = 0;
  for (const double t : {1.0, std::exp(2)})
    for (const double f : {1e6, 1e6 * std::exp(2)})
      for (const double b : {1e3, 1e3 * std::exp(2)}) {
        ++corner;
        database.add(sample_of(t, f, b, corner, "corner " + std::to_string(corner)));
      }
  return database;
}

LayerFeatures at(double time, double flops, double bytes, const std::string& kind = "Conv/f32") {
  return {.kind = kind, .time = {time}, .flops = {flops}, .bytes = {bytes}};
}

}  // namespace

TEST_CASE("the median of the five nearest ratios counts") {
  // Near corner 1 (0, 0, 0): 1 itself, then its three neighbours 2, 3 and 5, then the nearest of the corners that are
  // two edges away: 4 (0, 1, 1), because the point is a little further along FLOPs and bytes. The median of 1, 2, 3, 4,
  // 5 is 3.
  const auto found = cube().find(at(std::exp(0.1), 1e6 * std::exp(0.2), 1e3 * std::exp(0.2)));
  const auto* ratio = std::get_if<NearestRatio>(&found);
  REQUIRE(ratio);
  CHECK(ratio->ratio == 3);
  CHECK(ratio->lowest == 1);
  CHECK(ratio->highest == 5);
}

TEST_CASE("a layer outside of the hull is refused") {
  const RatioDatabase database = cube();
  const auto inside = [&](double t, double f, double b) {
    return std::holds_alternative<NearestRatio>(database.find(at(std::exp(t), 1e6 * std::exp(f), 1e3 * std::exp(b))));
  };
  CHECK(inside(1, 1, 1));
  CHECK(inside(0, 0, 0));
  CHECK(inside(2, 2, 2));
  CHECK(inside(-0.04, 1, 1));  // within 5 %
  CHECK(!inside(-0.1, 1, 1));
  CHECK(!inside(1, 2.1, 1));
  CHECK(!inside(5, 5, 5));
  const auto refused = database.find(at(std::exp(9), 1e6, 1e3));
  CHECK(std::get<std::string>(refused) == "outside of what was measured of kind Conv/f32 on both devices");
  // In the bounding box of all values, but above the plane t + f + b = 2 through three corners of a tetrahedron.
  RatioDatabase tetrahedron;
  tetrahedron.add(sample_of(1, 1e6, 1e3, 1, "a"));
  tetrahedron.add(sample_of(std::exp(2), 1e6, 1e3, 1, "b"));
  tetrahedron.add(sample_of(1, 1e6 * std::exp(2), 1e3, 1, "c"));
  tetrahedron.add(sample_of(1, 1e6, 1e3 * std::exp(2), 1, "d"));
  tetrahedron.add(sample_of(std::exp(0.2), 1e6, 1e3, 1, "e"));
  CHECK(std::holds_alternative<NearestRatio>(
      tetrahedron.find(at(std::exp(0.6), 1e6 * std::exp(0.6), 1e3 * std::exp(0.6)))));
  CHECK(!std::holds_alternative<NearestRatio>(tetrahedron.find(at(std::exp(1), 1e6 * std::exp(1), 1e3 * std::exp(1)))));
}

TEST_CASE("without five layers of the kind there is no basis") {
  const RatioDatabase database = cube();
  CHECK(std::get<std::string>(database.find(at(1, 1e6, 1e3, "Pool/f32"))) ==
        "no layer of kind Pool/f32 was measured on both devices");
  RatioDatabase few;
  for (int i = 0; i < 9; ++i) few.add(sample_of(1, 1e6, 1e3, 2, "the same shape"));
  CHECK(std::get<std::string>(few.find(at(1, 1e6, 1e3))) ==
        "fewer than 5 layers of kind Conv/f32 were measured on both devices");
}

TEST_CASE("a layer with the same epilogue is nearer") {
  RatioDatabase database = cube();
  LayerFeatures asked = at(std::exp(1), 1e6 * std::exp(1), 1e3 * std::exp(1));
  asked.epilogue = "bias,relu";
  CHECK(std::get<NearestRatio>(database.find(asked)).highest < 9);  // no layer has this epilogue
  for (int corner = 1; corner <= 8; ++corner) {
    const auto end = [&](int bit) { return (corner - 1) & bit ? std::exp(2) : 1.0; };
    RatioSample sample = sample_of(end(1), 1e6 * end(2), 1e3 * end(4), 20 + corner, std::to_string(corner));
    sample.layer.epilogue = "bias,relu";
    database.add(sample);
  }
  const auto alike = std::get<NearestRatio>(database.find(asked));
  CHECK(alike.lowest > 20);
  asked.epilogue = "";
  CHECK(std::get<NearestRatio>(database.find(asked)).highest < 9);
}

TEST_CASE("what is excluded is no neighbour") {
  RatioDatabase database = cube();
  database.add(sample_of(std::exp(1), 1e6 * std::exp(1), 1e3 * std::exp(1), 100, "asked", "family"));
  const LayerFeatures asked = at(std::exp(1), 1e6 * std::exp(1), 1e3 * std::exp(1));
  CHECK(std::get<NearestRatio>(database.find(asked)).highest == 100);
  const auto without =
      database.find(asked, [](const RatioSample& one) { return one.family == "family" && one.shape == "asked"; });
  CHECK(std::get<NearestRatio>(without).highest < 9);
}
