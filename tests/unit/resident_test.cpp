// SPDX-License-Identifier: Apache-2.0
// The resident rungs, by hand.

#include "support/catch.hpp"
#include "support/graph_builder.hpp"
#include <benanza/bounds/analyze.hpp>
#include <benanza/bounds/detail/resident.hpp>
#include <benanza/fusion/model_layers.hpp>
#include <benanza/model/layer_signature.hpp>

#include <vector>

namespace {

using namespace benanza;
using benanza::testing::GraphBuilder;
using detail::resident_total;
using detail::ResidentCall;

constexpr double us = 1e-6;

double total(std::vector<ResidentCall> calls, double caches) { return resident_total(calls, {caches}).value / us; }

}  // namespace

TEST_CASE("resident bytes save at most what cold weights cost, in proportion") {
  const ResidentCall call{.hot = {60 * us}, .cold = {100 * us}, .weights = {1000}};
  CHECK(total({call}, 0) == Approx(100));
  CHECK(total({call}, 100) == Approx(90));  // 100 of 1000 bytes save at most a tenth of 100 us
  CHECK(total({call}, 400) == Approx(60));  // all that can be saved
  CHECK(total({call}, 1000) == Approx(60));
}

TEST_CASE("resident bytes go where they save most") {
  // 0.1 us per byte, at most 40 us, and 0.2 us per byte, at most 10 us: 50 bytes for the second, 50 left for the first.
  const ResidentCall large{.hot = {60 * us}, .cold = {100 * us}, .weights = {1000}};
  const ResidentCall dense{.hot = {10 * us}, .cold = {20 * us}, .weights = {100}};
  CHECK(total({large, dense}, 100) == Approx(120 - 10 - 5));
}

TEST_CASE("a call that is not slower cold costs its hot time, one without weights too") {
  CHECK(total({{.hot = {50 * us}, .cold = {40 * us}, .weights = {100}}}, 0) == Approx(50));
  CHECK(total({{.hot = {50 * us}, .cold = {80 * us}, .weights = {0}}}, 0) == Approx(50));
}

TEST_CASE("weights that an earlier call touched are resident") {
  const ResidentCall call{.hot = {60 * us}, .cold = {100 * us}, .weights = {1000}, .fresh = 0};
  CHECK(total({call}, 0) == Approx(60));
  const ResidentCall half{.hot = {10 * us}, .cold = {100 * us}, .weights = {1000}, .fresh = 0.5};
  CHECK(total({half}, 0) == Approx(50));
}

TEST_CASE("shared weights are cold once in the resident rungs, and without a cold row there is no rung") {
  // y = (x w) w, w of 16 x 16 f32 (1,024 bytes): 10 us hot and 18 us cold each. Caches of 256 bytes save 18/4 = 4.5 us
  // of the first product; the second finds w where the first left it: 13.5 + 10.
  GraphBuilder g;
  const auto w = g.weight({16, 16});
  const auto x = g.input({16, 16});
  g.output(g.map("MatMul", {g.map("MatMul", {x, w}), w}));
  const std::string signature =
      LayerSignature(Layer{op::MatMul{.a = {16, 16}, .b = {16, 16}, .b_constant = true}}).text();
  Run run{.machine = {.device = "fake", .isa = "none", .cores = 1}, .backends = {{"lib", "1"}}};
  run.ceilings.push_back({.quantity = CeilingQuantity::peak(DataType::f32), .threads = 1, .value = 1e15});
  run.ceilings.push_back(
      {.quantity = CeilingQuantity::bandwidth("memory"), .threads = 1, .value = 1e15, .in_front_bytes = 256});
  const auto add = [&](CacheState cache, double seconds) {
    run.rows.push_back({.backend = "lib",
                        .algorithm = "a,threads=1",
                        .cache = cache,
                        .signature = signature,
                        .times = MeasuredTimes{.p10 = {seconds}, .median = {seconds}},
                        .rounds_s = std::vector<double>(8, seconds)});
  };
  const auto analyzed = [&] {
    ResultDatabase database;
    database.add(run);
    return analyze(make_model_layers(g.graph()), database, {.threads = 1});
  };
  add(CacheState::hot, 10 * us);
  CHECK_FALSE(analyzed()[RungName::library_resident].bound);
  add(CacheState::cold_weights, 18 * us);
  const Analysis a = analyzed();
  CHECK(a[RungName::library].bound->value == Approx(20 * us));
  CHECK(a[RungName::library_resident].bound->value == Approx(23.5 * us));
  CHECK(a[RungName::library_fused_resident].bound->value == Approx(23.5 * us));
  CHECK(a[RungName::library_resident].median->value == Approx(23.5 * us));
  REQUIRE(a.rows.at(0).cold);
  CHECK(a.rows.at(0).cold->times->median.value == Approx(18 * us));

  // A later run that had no time for cold weights does not remove the rung.
  Run later = run;
  later.rows.pop_back();
  ResultDatabase both;
  both.add(run);
  both.add(later);
  const Analysis of_both = analyze(make_model_layers(g.graph()), both, {.threads = 1});
  CHECK(of_both[RungName::library_resident].bound->value == Approx(23.5 * us));
}
