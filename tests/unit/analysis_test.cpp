// SPDX-License-Identifier: Apache-2.0
// Bounds from synthetic results: graphs and times made by hand.
#include "support/catch.hpp"
#include "support/graph_builder.hpp"
#include "support/model_files.hpp"
#include <benanza/base/detail/quantile.hpp>
#include <benanza/bounds/analyze.hpp>
#include <benanza/fusion/model_layers.hpp>
#include <benanza/model/layer_graph.hpp>
#include <benanza/model/layer_signature.hpp>
#include <benanza/onnx.hpp>

#include <cmath>
#include <limits>
#include <map>
#include <random>

namespace {

using namespace benanza;
using namespace benanza::literals;
using benanza::testing::GraphBuilder;
using Dims = GraphBuilder::Dims;

constexpr double us = 1e-6;
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

std::string named(const std::string& text) { return LayerSignature::parse(text).text(); }

/// A run on a machine with two cores; tests add its rows, one per line.
struct Results {
  Run run{};
  explicit Results(bool with_ceilings = false) {
    run.machine = {.device = "fake", .isa = "none", .cores = 2};
    run.backends = {{"lib", "1"}};
    if (!with_ceilings) return;
    for (int threads : {1, 2}) {
      run.ceilings.push_back({.quantity = CeilingQuantity::peak(DataType::f32),
                              .threads = threads,
                              .value = 1e9 * threads});  // 1 GFLOP/s per core
      run.ceilings.push_back({.quantity = CeilingQuantity::bandwidth("memory"),
                              .threads = threads,
                              .value = 1e9,
                              .in_front_bytes = 0});  // 1 GB/s, no cache
    }
  }
  Measurement& add(const std::string& signature, std::vector<double> rounds, int threads = 1) {
    run.rows.push_back(
        {.backend = "lib",
         .algorithm = "a,threads=" + std::to_string(threads),
         .signature = named(signature),
         .threads = threads,
         .samples = 10,
         .times = MeasuredTimes{.p10 = {detail::quantile(rounds, 0.1)}, .median = {detail::quantile(rounds, 0.5)}},
         .rounds_s = rounds});
    return run.rows.back();
  }
  /// The same time in each of eight rounds.
  Measurement& add(const std::string& signature, double seconds, int threads = 1) {
    return add(signature, std::vector<double>(8, seconds), threads);
  }
  [[nodiscard]] ResultDatabase database() const {
    ResultDatabase database;
    database.add(run);
    return database;
  }
};

double ms(const Rung& rung) { return rung.bound ? rung.bound->value * 1e3 : -1; }

/// relu and exp of 1000 elements, one after the other.
GraphBuilder relu_exp() {
  GraphBuilder g;
  g.output(g.map("Softmax", {g.map("Relu", {g.input({10, 100})})}));  // softmax fuses with nothing
  return g;
}
const std::string relu = "Unary/f32/fn=relu/x=1000", softmax = "Softmax/f32/x=10x100x1";

Analysis analyzed(GraphBuilder& g, const ResultDatabase& database, int threads = 2) {
  return analyze(make_model_layers(g.graph()), database, {.threads = threads});
}

/// A row with one thread and a row with two for every layer that a model may need. Each takes 1 to 4 times its floor
/// and varies from round to round: groups may be faster or slower than their parts.
Results admissible_results(const ModelLayers& model, std::mt19937& random) {
  std::uniform_real_distribution<double> above(1.0, 4.0);
  Results r(true);
  const Ceilings one = r.database().ceilings(1);
  std::map<std::string, Layer> layers;
  for (const auto* form : {&model.single, &model.fused})
    for (const auto& at : form->layers) {
      layers.emplace(LayerSignature(at.layer).text(), at.layer);
      for (const auto& piece : at.pieces) layers.emplace(LayerSignature(piece.layer).text(), piece.layer);
    }
  for (const auto& [text, layer] : layers) {
    if (is_free(layer)) continue;
    const Cost c = cost(layer);
    const Seconds floor =
        std::max(one.arithmetic_floor(type(layer), c.flops), one.memory_floor(c.weights + c.activations, c.written));
    for (int threads : {1, 2}) {
      std::vector<double> rounds;
      for (int round = 0; round < 8; ++round) rounds.push_back(floor.value * above(random));
      r.add(text, rounds, threads);
    }
  }
  return r;
}

void check_order(const Analysis& a) {
  REQUIRE_FALSE(a.partial());
  const auto at = [&](RungName name) { return a[name].bound->value; };
  const double slack = 1 + 1e-12;
  CHECK(at(RungName::model_floor) <= at(RungName::roofline_parallel) * slack);
  CHECK(at(RungName::roofline_parallel) <= at(RungName::roofline) * slack);
  CHECK(at(RungName::roofline) <= at(RungName::library_fused) * slack);
  CHECK(at(RungName::library_fused) <= at(RungName::library) * slack);
  CHECK(at(RungName::library_fused_parallel) <= at(RungName::library_parallel) * slack);
  CHECK(at(RungName::library_fused_parallel) <= at(RungName::library_fused) * slack);
  CHECK(at(RungName::library_parallel) <= at(RungName::library) * slack);
  CHECK(at(RungName::model_floor) <= at(RungName::library_fused_parallel) * slack);
}

}  // namespace

TEST_CASE("library is the sum of the best rows") {
  GraphBuilder g = relu_exp();
  Results r;
  r.add(relu, 12 * us);
  r.add(relu, 10 * us);
  r.add(softmax, 20 * us);
  const Analysis a = analyzed(g, r.database());
  CHECK(ms(a[RungName::library]) == Approx(0.030));
  CHECK(a[RungName::library].median->value == Approx(30 * us));
  CHECK(a[RungName::library].common_rounds);
  CHECK_FALSE(a.partial());
  CHECK(a.coverage[Status::measured] == 2);
}

TEST_CASE("a total's p10 is taken over rounds, not summed over rows") {
  // 1 and 2 us in turn, and 2 and 1: each round takes 3 us. A sum of p10 would be 2 us.
  GraphBuilder g = relu_exp();
  Results r;
  r.add(relu, {1 * us, 2 * us, 1 * us, 2 * us, 1 * us, 2 * us, 1 * us, 2 * us});
  r.add(softmax, {2 * us, 1 * us, 2 * us, 1 * us, 2 * us, 1 * us, 2 * us, 1 * us});
  const Analysis a = analyzed(g, r.database());
  CHECK(ms(a[RungName::library]) == Approx(0.003));
  CHECK(a[RungName::library].uncertainty == Approx(0).margin(1e-9));
}

TEST_CASE("what the selection saw long before the rounds is a part of the uncertainty") {
  GraphBuilder g = relu_exp();
  Results r;
  const double none = std::numeric_limits<double>::quiet_NaN();
  r.add(relu, 10 * us).visits_s = {12 * us, none};
  r.add(softmax, 20 * us).visits_s = {24 * us, 23 * us};
  const Analysis a = analyzed(g, r.database());
  CHECK(ms(a[RungName::library]) == Approx(0.030));
  // Four groups of two rounds at 30 us, and 36 and 33 us: t of three degrees of freedom, 3.182, times sqrt((6^2 + 3^2)
  // / (4 * 5)) = 1.5, relative to 30.
  CHECK(a[RungName::library].uncertainty == Approx(3.182 * 1.5 / 30).epsilon(0.0015));
}

TEST_CASE("how far the processor's speed wandered in its session is a part of a bound's uncertainty") {
  GraphBuilder g = relu_exp();
  Results r;
  r.add(relu, 10 * us).wander = 0.02;
  r.add(softmax, 20 * us).wander = 0.02;
  CHECK(analyzed(g, r.database())[RungName::library].uncertainty == Approx(0.02));
  // 39 us: t of three degrees of freedom, 3.182, times sqrt(9^2 / (4 * 4)) = 2.25, relative to 30.
  r.run.rows.back().visits_s = {29 * us};
  CHECK(analyzed(g, r.database())[RungName::library].uncertainty == Approx(3.182 * 2.25 / 30 + 0.02).epsilon(0.0015));
}

TEST_CASE("bound and expected figure are p10 and median over rounds") {
  // Rounds of 11, 12 ... 21 us in any order: type-7 quantiles are 12 and 16 us.
  GraphBuilder g;
  g.output(g.map("Relu", {g.input({10, 100})}));
  Results r;
  r.add(relu, {16 * us, 11 * us, 21 * us, 12 * us, 20 * us, 13 * us, 19 * us, 14 * us, 18 * us, 15 * us, 17 * us});
  const Analysis a = analyzed(g, r.database());
  CHECK(a[RungName::library].bound->value == Approx(12 * us));
  CHECK(a[RungName::library].median->value == Approx(16 * us));
}

TEST_CASE("a row of few samples is believed to spread as the others do") {
  GraphBuilder g = relu_exp();
  for (const bool any_spread : {true, false}) {
    Results results;
    Measurement& many = results.add(relu, std::vector<double>{});
    many.times = MeasuredTimes{.p10 = {10 * us}, .median = {12 * us}}, many.samples = any_spread ? 4 : 1;
    Measurement& one = results.add(softmax, std::vector<double>{});
    one.times = MeasuredTimes{.p10 = {20 * us}, .median = {20 * us}}, one.samples = 1;
    const Rung library = analyzed(g, results.database())[RungName::library];
    CHECK(library.bound->value == Approx(30 * us));
    CHECK(library.median->value == Approx(32 * us));
    // Spread 0.2 from the row of four samples: (12 + 20 * 1.2 - 30) / 30. If no row has a spread: (20 + 40 - 30) / 30.
    CHECK(library.uncertainty == Approx(any_spread ? 0.2 : 1.0));
  }
}

TEST_CASE("a row of few samples spreads by 5 % at least, whatever rows of one moment show") {
  GraphBuilder g = relu_exp();
  Results results;
  Measurement& many = results.add(relu, std::vector<double>{});
  many.times = MeasuredTimes{.p10 = {10 * us}, .median = {10 * us}}, many.samples = 4;
  Measurement& one = results.add(softmax, std::vector<double>{});
  one.times = MeasuredTimes{.p10 = {20 * us}, .median = {20 * us}}, one.samples = 1;
  CHECK(analyzed(g, results.database())[RungName::library].uncertainty ==
        Approx(1.0 / 30));  // (10 + 20 * 1.05 - 30) / 30
}

TEST_CASE("a contended sample is replaced by its row's median, a round that is mostly contended does not count") {
  GraphBuilder g = relu_exp();
  Results r;
  // Softmax takes 100 us; relu takes 2 us (2 % of the time) and is contended in round 0, softmax in round 1.
  r.add(relu, {not_a_number, 2 * us, 2 * us, 2 * us, 2 * us, 2 * us});
  r.add(softmax, {100 * us, not_a_number, 100 * us, 100 * us, 100 * us, 100 * us});
  const Analysis a = analyzed(g, r.database());
  CHECK(a[RungName::library].common_rounds);
  CHECK(ms(a[RungName::library]) == Approx(0.102));
}

TEST_CASE("rows of more threads than allowed, of the reference and excluded ones are not used") {
  GraphBuilder g;
  g.output(g.map("Relu", {g.input({10, 100})}));
  Results r;
  r.add(relu, 10 * us);
  r.add(relu, 4 * us, 2);
  SECTION("one thread") { CHECK(ms(analyzed(g, r.database(), 1)[RungName::library]) == Approx(0.010)); }
  SECTION("two threads") { CHECK(ms(analyzed(g, r.database(), 2)[RungName::library]) == Approx(0.004)); }
  SECTION("the reference") {
    r.add(relu, 1 * us).backend = "reference";
    CHECK(ms(analyzed(g, r.database(), 1)[RungName::library]) == Approx(0.010));
  }
  SECTION("a wrong result") {
    r.add(relu, 1 * us).exclude_for("differs from the reference");
    CHECK(ms(analyzed(g, r.database(), 1)[RungName::library]) == Approx(0.010));
  }
  SECTION("a backend that was not asked for") {
    r.add(relu, 1 * us).backend = "other";
    CHECK(analyze(make_model_layers(g.graph()), r.database(), {.threads = 1, .backends = {"lib"}})[RungName::library]
              .bound->value == Approx(10 * us));
  }
}

TEST_CASE("plans that a budget had no time for are counted until some run has time for them") {
  GraphBuilder g;
  g.output(g.map("Relu", {g.input({10, 100})}));
  Results r;
  r.add(relu, 10 * us);
  const auto other = [&]() -> Measurement& {
    Measurement& row = r.add(relu, 9 * us);
    row.algorithm = "other,threads=1";
    return row;
  };
  CHECK(analyzed(g, r.database()).rows.front().untried == 0);
  other().exclude(RowStatus::out_of_time);
  CHECK(analyzed(g, r.database()).rows.front().untried == 1);
  other();
  CHECK(analyzed(g, r.database()).rows.front().untried == 0);
}

TEST_CASE("the most threads that plans were tried with are those of rows that count") {
  GraphBuilder g;
  g.output(g.map("Relu", {g.input({10, 100})}));
  Results r;
  r.add(relu, 10 * us);
  CHECK(analyzed(g, r.database(), 4).rows.front().most_threads == 1);
  r.add(relu, 4 * us, 2).exclude(RowStatus::out_of_time);
  CHECK(analyzed(g, r.database(), 4).rows.front().most_threads == 2);
  CHECK(analyzed(g, r.database(), 1).rows.front().most_threads == 1);
  Measurement& none = r.add(relu, 1 * us, 4);
  none.algorithm = "none,threads=4";
  none.has_plan = false;
  none.exclude(RowStatus::unsupported);
  CHECK(analyzed(g, r.database(), 4).rows.front().most_threads == 2);
}

TEST_CASE("machines and versions never share a total") {
  GraphBuilder g;
  g.output(g.map("Relu", {g.input({10, 100})}));
  Results mine, other, newer;
  mine.add(relu, 10 * us);
  other.add(relu, 1 * us);
  other.run.machine.device = "another";
  newer.add(relu, 2 * us);
  newer.run.backends = {{"lib", "2"}};
  ResultDatabase all = mine.database();
  all.add(other.run);
  all.add(newer.run);
  const auto with = [&](const std::string& version) {
    return analyzed(g, all.select(mine.run.machine, std::vector<BackendVersion>{{"lib", version}}));
  };
  CHECK(ms(with("1")[RungName::library]) == Approx(0.010));
  CHECK(ms(with("2")[RungName::library]) == Approx(0.002));
  CHECK(with("3").partial());
}

TEST_CASE("results of two machines are refused, and the error lists them") {
  GraphBuilder g = relu_exp();
  Results mine, other;
  mine.add(relu, 37.7 * us);
  other.add(softmax, 11.5 * us);
  other.run.machine.device = "an invented second machine";
  ResultDatabase all = mine.database();
  all.add(other.run);
  CHECK_THROWS_WITH(analyzed(g, all), Catch::Contains("2 machines") && Catch::Contains("an invented second machine"));
}

TEST_CASE("plans that ended the process that tried them are named if they could lead") {
  GraphBuilder g = relu_exp();
  Results r;
  r.add(relu, 10 * us);
  r.add(softmax, 20 * us);
  const auto end = [&](const std::string& signature, const std::string& algorithm) {
    Measurement row = r.run.rows.front();
    row.signature = LayerSignature::parse(signature).text();
    row.algorithm = algorithm;
    row.exclude_for("hung: no sign of life for 120 s");
    r.run.rows.push_back(row);
  };
  end(relu, "never_timed,threads=1");
  end(softmax, "slower,threads=1");
  ResultDatabase database = r.database();
  Results earlier;
  earlier.add(softmax, 25 * us).algorithm = "slower,threads=1";
  earlier.run.started = "2000-01-01T00:00:00Z";
  r.run.started = "2000-01-02T00:00:00Z";
  database = earlier.database();
  database.add(r.run);
  const Analysis a = analyzed(g, database);
  REQUIRE(a.ended.size() == 1);
  CHECK(a.ended[0].algorithm == "never_timed,threads=1");
  Results later;  // a session that timed the plan
  later.add(relu, 30 * us).algorithm = "never_timed,threads=1";
  later.run.started = "2000-01-03T00:00:00Z";
  database.add(later.run);
  CHECK(analyzed(g, database).ended.empty());
}

TEST_CASE("a layer without a row is missing: named, and the bound is partial") {
  GraphBuilder g = relu_exp();
  Results r;
  r.add(relu, 10 * us);
  const Analysis a = analyzed(g, r.database());
  CHECK(a.partial());
  CHECK(a.missing == std::vector<std::string>{named(softmax)});
  CHECK(a.coverage[Status::missing] == 1);
  CHECK(ms(a[RungName::library]) == Approx(0.010));  // the sum of what is known
  CHECK(a.bound(RungName::library).partial());
}

TEST_CASE("a layer that every library refused is modelled, with the reason") {
  GraphBuilder g = relu_exp();
  Results r(true);
  r.add(relu, 10 * us);
  auto& row = r.add(softmax, 1 * us);
  row.algorithm = "none,threads=1";
  row.has_plan = false;
  row.exclude_for("no Softmax in backend lib");
  const Analysis a = analyzed(g, r.database(), 1);
  CHECK_FALSE(a.partial());
  CHECK(a.coverage[Status::modelled] == 1);
  // 1000 floats read and written at 1 GB/s take 8 us, 5 FLOPs per element at 1 GFLOP/s take 5 us.
  CHECK(ms(a[RungName::library]) == Approx(0.018));
}

TEST_CASE("a layer of which every plan failed is missing, with the reason") {
  const auto [algorithm, reason] =
      GENERATE(table<std::string, std::string>({{"a,threads=1", "wrong result: differs by 1"},
                                                {"a,threads=1", "failed: out of memory"},
                                                {"a,threads=1", "cannot be checked against the reference: failed: no"},
                                                {"none,threads=1", "failed: an internal error"}}));
  GraphBuilder g = relu_exp();
  Results r(true);
  r.add(relu, 10 * us);
  auto& other = r.add(softmax, 1 * us);
  other.backend = "other";
  other.algorithm = "none,threads=1";
  other.has_plan = false;
  other.exclude_for("no Softmax in backend other");
  auto& row = r.add(softmax, 1 * us);
  row.algorithm = algorithm;
  row.has_plan = algorithm != "none,threads=1";
  row.exclude_for(reason);
  r.add(softmax, 1 * us).exclude_for(reason);  // reported once
  const Analysis a = analyzed(g, r.database(), 1);
  CHECK(a.coverage[Status::missing] == 1);
  CHECK(a.missing == std::vector<std::string>{named(softmax) + ": no Softmax in backend other; " + reason});
}

TEST_CASE("a way to do a group that was never measured makes the bound partial") {
  GraphBuilder g;
  g.output(g.map("Relu", {g.conv(g.input({1, 8, 16, 16}), 8)}));
  Results r;
  r.add("Conv/f32/x=1x8x16x16/w=8x8x3x3/pads=1x1x1x1", 50 * us);
  r.add("Unary/f32/fn=relu/x=2048", 5 * us);
  CHECK(analyzed(g, r.database()).missing ==
        std::vector<std::string>{named("Conv/f32/x=1x8x16x16/w=8x8x3x3/pads=1x1x1x1/post=relu")});
  r.add("Conv/f32/x=1x8x16x16/w=8x8x3x3/pads=1x1x1x1/post=relu", 51 * us);
  const Analysis a = analyzed(g, r.database());
  CHECK_FALSE(a.partial());
  CHECK(ms(a[RungName::library]) == Approx(0.055));
  CHECK(ms(a[RungName::library_fused]) == Approx(0.051));
}

TEST_CASE("the cheapest partition of a group is taken, in parts where the whole is slow") {
  // conv bn relu: whole 90, conv+bn 60, relu 5, parts 50 + 20 + 5.
  GraphBuilder g;
  g.output(g.map("Relu", {g.batch_norm(g.conv(g.input({1, 8, 16, 16}), 8))}));
  const std::string conv = "Conv/f32/x=1x8x16x16/w=8x8x3x3/pads=1x1x1x1";
  Results r;
  r.add(conv, 50 * us);
  r.add("BatchNorm/f32/x=1x8x256", 20 * us);
  r.add("Unary/f32/fn=relu/x=2048", 5 * us);
  r.add(conv + "/post=bias", 60 * us);
  auto& whole = r.add(conv + "/post=bias,relu", 90 * us);
  CHECK(ms(analyzed(g, r.database())[RungName::library_fused]) == Approx(0.065));
  CHECK(ms(analyzed(g, r.database())[RungName::library]) == Approx(0.075));
  whole.rounds_s.assign(8, 61 * us);
  CHECK(ms(analyzed(g, r.database())[RungName::library_fused]) == Approx(0.061));
}

TEST_CASE("not to fuse is a partition too") {
  GraphBuilder g;
  g.output(g.map("Relu", {g.conv(g.input({1, 8, 16, 16}), 8)}));
  Results r;
  // In most rounds the whole is faster, so it is chosen by its median; in p10 its parts are.
  r.add("Conv/f32/x=1x8x16x16/w=8x8x3x3/pads=1x1x1x1",
        {10 * us, 10 * us, 60 * us, 60 * us, 60 * us, 60 * us, 60 * us, 60 * us});
  r.add("Unary/f32/fn=relu/x=2048", 5 * us);
  r.add("Conv/f32/x=1x8x16x16/w=8x8x3x3/pads=1x1x1x1/post=relu", 50 * us);
  const Analysis a = analyzed(g, r.database());
  CHECK(*a[RungName::library_fused].bound <= *a[RungName::library].bound);
}

TEST_CASE("side by side, the critical path or the least work decides") {
  // Two independent layers: 10 us on one thread, 6 us on two (12 us of work). Path: 6. Work: (10 + 10) / 2 = 10.
  GraphBuilder g;
  const auto x = g.input({10, 100});
  g.output(g.map("Relu", {x})).output(g.map("Softmax", {x}));
  Results r;
  for (const auto& layer : {relu, softmax}) {
    r.add(layer, 10 * us);
    r.add(layer, 6 * us, 2);
  }
  const Analysis a = analyzed(g, r.database(), 2);
  CHECK(ms(a[RungName::library]) == Approx(0.012));
  CHECK(ms(a[RungName::library_parallel]) == Approx(0.010));
  // One after the other, the path decides: 12.
  GraphBuilder chain = relu_exp();
  CHECK(ms(analyzed(chain, r.database(), 2)[RungName::library_parallel]) == Approx(0.012));
}

TEST_CASE("a loop multiplies; only what carries a value is a chain") {
  // Each pass has a Relu and a Softmax. Either only the Softmax carries the state, or both do.
  const auto looped = [](bool both) {
    GraphBuilder g;
    GraphBuilder body("body");
    body.input({}, DataType::i64);
    body.output(body.input({}, DataType::boolean));
    const auto state = body.input({10, 100});
    const auto y = body.map("Relu", {state});
    body.output(body.map("Softmax", {both ? y : state})).output(y);
    const auto results = g.node_of("Loop", {g.ints({12}), g.ints({1}), g.input({10, 100})}, {{10, 100}, {12, 10, 100}});
    g.last().bodies.push_back({"body", body.graph()});
    g.last().trip_count = 12;
    g.output(results[0]).output(results[1]);
    return g;
  };
  Results r;
  r.add(relu, 10 * us);
  r.add(softmax, 10 * us);
  for (bool both : {false, true}) {
    GraphBuilder g = looped(both);
    const Analysis a = analyzed(g, r.database(), 2);
    CHECK(a.layers == 24);
    CHECK(ms(a[RungName::library]) == Approx(0.240));
    // 24 calls of 10 us on two threads, or one after the other.
    CHECK(ms(a[RungName::library_parallel]) == Approx(both ? 0.240 : 0.120));
  }
}

TEST_CASE("a state that no pass of a loop changes is computed with once") {
  GraphBuilder g;
  GraphBuilder body("body");
  body.input({}, DataType::i64);
  body.output(body.input({}, DataType::boolean));
  const auto state = body.input({10, 100});
  body.output(state).output(body.map("Relu", {state}));
  const auto results = g.node_of("Loop", {g.ints({12}), g.ints({1}), g.input({10, 100})}, {{10, 100}, {12, 10, 100}});
  g.last().bodies.push_back({"body", body.graph()});
  g.last().trip_count = 12;
  g.output(results[0]).output(results[1]);
  Results r;
  r.add(relu, 10 * us);
  const Analysis a = analyzed(g, r.database(), 2);
  CHECK(a.layers == 1);
  CHECK(ms(a[RungName::library]) == Approx(0.010));
}

TEST_CASE("a loop of unknown trip count makes every bound partial") {
  GraphBuilder g;
  GraphBuilder body("body");
  body.input({}, DataType::i64);
  body.output(body.input({}, DataType::boolean));
  body.output(body.map("Relu", {body.input({10, 100})}));
  g.output(g.node("Loop", {g.input({}, DataType::i64), g.ints({1}), g.input({10, 100})}, {10, 100}));
  g.last().bodies.push_back({"body", body.graph()});
  Results r;
  r.add(relu, 10 * us);
  const Analysis a = analyzed(g, r.database());
  CHECK(a.partial());
  CHECK_THAT(a.missing.at(0), Catch::Contains("trip count of 'Loop_0'"));
  CHECK(ms(a[RungName::library]) == Approx(0.010));
}

TEST_CASE("a product of which the bytes alone are known makes every bound partial") {
  GraphBuilder g;
  const auto x = g.input({10, 100});
  g.output(g.map("MoE", {x, g.weight({8, 100, 100})})).output(g.map("Relu", {x}));
  Results r(true);
  r.add(relu, 10 * us);
  const Analysis a = analyzed(g, r.database(), 1);
  CHECK(a.partial());
  CHECK(a.missing == std::vector<std::string>{"'MoE_0' (MoE): known by bytes alone, the arithmetic is not counted"});
}

TEST_CASE("a size that only data tells makes every bound partial") {
  GraphBuilder g;
  const auto x = g.input({10, 100});
  const auto places = g.node("NonZero", {x}, {2, 0}, {}, DataType::i64);
  g.graph().values[places].data_dependent = g.graph().values[places].unknown_size = true;
  g.output(places).output(g.map("Relu", {x}));
  Results r(true);
  r.add(relu, 10 * us);
  const Analysis a = analyzed(g, r.database(), 1);
  CHECK(a.partial());
  REQUIRE(a.missing.size() == 1);
  CHECK_THAT(a.missing[0], Catch::Contains("the size of 'NonZero_0' (NonZero) depends on data"));
  CHECK(a.coverage[Status::modelled] == 1);
  CHECK(ms(a[RungName::library]) == Approx(0.014));  // and 1000 floats read at 1 GB/s: 4 us
}

TEST_CASE("the cheaper branch of an If is the bound, and both are shown") {
  GraphBuilder g;
  const auto x = g.input({10, 100});
  GraphBuilder yes("then_branch"), no("else_branch");
  yes.output(yes.map("Relu", {yes.capture(g.graph(), x)}));
  no.output(no.map("Softmax", {no.capture(g.graph(), x)}));
  g.output(g.node("If", {g.input({}, DataType::boolean)}, {10, 100}));
  g.last().bodies.push_back({"then_branch", yes.graph()});
  g.last().bodies.push_back({"else_branch", no.graph()});
  Results r;
  r.add(relu, 30 * us);
  r.add(softmax, 20 * us);
  const Analysis a = analyzed(g, r.database());
  CHECK(ms(a[RungName::library]) == Approx(0.020));
  CHECK(ms(a[RungName::library_parallel]) == Approx(0.020));
  REQUIRE(a.choices.size() == 1);
  CHECK_THAT(a.choices[0], Catch::Contains("'If_0'") && Catch::Contains("then_branch 30 us") &&
                               Catch::Contains("else_branch 20 us (in the bound)"));
  Seconds in_rows{};
  for (const auto& row : a.rows)
    if (row.form == Form::single) in_rows += row.total();
  CHECK(in_rows.value == Approx(20e-6));
}

TEST_CASE("side by side, the branch of more work may have the shorter chain") {
  // then: three relus in a chain, 30 us. else: a softmax and two relus side by side, 20 + 10 + 10 = 40 us of work, but
  // 20 us long.
  GraphBuilder g;
  const auto x = g.input({10, 100});
  GraphBuilder yes("then_branch"), no("else_branch");
  const auto a = yes.capture(g.graph(), x), b = no.capture(g.graph(), x);
  yes.output(yes.map("Relu", {yes.map("Relu", {yes.map("Relu", {a})})}));
  yes.output(a).output(a);
  no.output(no.map("Softmax", {b})).output(no.map("Relu", {b})).output(no.map("Relu", {no.capture(g.graph(), x)}));
  const auto joined = g.node_of("If", {g.input({}, DataType::boolean)}, {{10, 100}, {10, 100}, {10, 100}});
  g.last().bodies.push_back({"then_branch", yes.graph()});
  g.last().bodies.push_back({"else_branch", no.graph()});
  for (auto id : joined) g.output(id);
  Results r;
  r.add(relu, 10 * us);
  r.add(softmax, 20 * us);
  const Analysis found =
      analyze(ModelLayers{.single = make_layer_graph(g.graph()), .fused = make_layer_graph(g.graph())}, r.database(),
              {.threads = 2});
  CHECK(ms(found[RungName::library]) == Approx(0.030));
  CHECK(ms(found[RungName::library_parallel]) == Approx(0.020));  // not 30; work: 30 / 2 = 15
}

TEST_CASE("the model floor is the longest of the times that each arithmetic type takes") {
  // 2 * 64 * 512 * 512 = 33,554,432 FLOPs in each product: 33.6 ms in f32 at 1 GFLOP/s; 16.8 ms in 8 bits at 2 GFLOP/s,
  // independent of the sign of the operand. Bytes are at most 64 KiB + 1 MiB + 128 KiB and 32 KiB + 256 KiB + 128 KiB:
  // 1.7 ms.
  GraphBuilder g;
  g.output(g.node("MatMul", {g.input({64, 512}), g.weight({512, 512})}, {64, 512}));
  g.output(g.node("MatMulInteger", {g.input({64, 512}, DataType::u8), g.weight({512, 512}, DataType::i8)}, {64, 512},
                  {}, DataType::i32));
  Results r(true);
  r.run.ceilings.push_back({.quantity = CeilingQuantity::peak(DataType::i8), .threads = 1, .value = 2e9});
  CHECK(ms(analyzed(g, r.database(), 1)[RungName::model_floor]) == Approx(33.554432));
  Results slow(true);
  slow.run.ceilings.push_back({.quantity = CeilingQuantity::peak(DataType::i8), .threads = 1, .value = 0.5e9});
  CHECK(ms(analyzed(g, slow.database(), 1)[RungName::model_floor]) == Approx(67.108864));
}

TEST_CASE("the model floor is FLOPs over peak or the model's own bytes over bandwidth") {
  // 1x8x16x16 with 8 filters of 3x3 and a padding of 1: any algorithm needs 2 * 8 * 8 * 16 * 16 = 32,768 FLOPs, 32.8 us
  // at 1 GFLOP/s. For direct ones, taps in range per axis are 2 * 15 + 16 = 46 (each of 16 positions has 3 except for
  // the two at the ends), so 2 * 8 * 8 * 46 * 46 = 270,848 FLOPs. Bytes: 8 KiB in, 8 KiB out, 2,304 of weights: 18.7
  // us.
  GraphBuilder g;
  g.output(g.conv(g.input({1, 8, 16, 16}), 8));
  Results r(true);
  r.add("Conv/f32/x=1x8x16x16/w=8x8x3x3/pads=1x1x1x1", 20 * us);
  const Analysis a = analyzed(g, r.database(), 1);
  CHECK(ms(a[RungName::model_floor]) == Approx(0.032768));
  CHECK(ms(a[RungName::roofline]) == Approx(0.032768));
  CHECK(a.direct_floor.value().value == Approx(270.848 * us));
  // The row claims 20 us. The rung is raised and reports by how much; the row stays unchanged.
  CHECK(ms(a[RungName::library]) == Approx(0.032768));
  CHECK(a[RungName::library].raised.value == Approx(12.768 * us));
  CHECK(a.rows.at(0).p10.value == Approx(20 * us));
}

TEST_CASE("a plan that saves multiplications stays above the floor of any algorithm, and its rungs are named") {
  // Any algorithm needs 2 * 8 * 8 * 16 * 16 = 32,768 FLOPs: 32.8 us at 1 GFLOP/s. Direct ones need 270.8 us.
  GraphBuilder g;
  g.output(g.conv(g.input({1, 8, 16, 16}), 8));
  const auto taking = [&](double time) {
    Results r(true);
    r.add("Conv/f32/x=1x8x16x16/w=8x8x3x3/pads=1x1x1x1", time).saves_multiplications = true;
    return analyzed(g, r.database(), 1);
  };
  const Analysis a = taking(100 * us);
  CHECK(ms(a[RungName::model_floor]) == Approx(0.032768));
  CHECK(ms(a[RungName::roofline]) == Approx(0.032768));
  CHECK(a.direct_floor.value().value == Approx(270.848 * us));
  CHECK(ms(a[RungName::library]) == Approx(0.1));
  CHECK(a.rows.front().of_roofline().value() == Approx(0.32768));
  for (const auto name : measured_rungs) CHECK(a[name].saves_multiplications == a[name].bound.has_value());
  CHECK_FALSE(a[RungName::roofline].saves_multiplications);
  const Analysis too_fast = taking(10 * us);
  CHECK(ms(too_fast[RungName::library]) == Approx(0.032768));
  CHECK(too_fast[RungName::library].raised.value == Approx(22.768 * us));
}

TEST_CASE("views and movement are free in analytic rungs, and bytes are those that they refer to") {
  GraphBuilder g;
  const auto x = g.input({1000, 10});
  const auto turned = g.node("Transpose", {x}, {10, 1000}, {{"perm", Dims{1, 0}}});
  g.output(g.map("Softmax", {turned}));
  Results r(true);
  const Analysis a = analyzed(g, r.database(), 1);
  // Softmax alone: 40,000 bytes in and out at 1 GB/s are 80 us, 50,000 FLOPs at 1 GFLOP/s are 50 us.
  CHECK(ms(a[RungName::roofline]) == Approx(0.080));
  CHECK(a.coverage[Status::missing] == 2);  // a transpose is still a layer to measure
}

TEST_CASE("the ladder keeps its order whatever the times are") {
  std::mt19937 random(1);
  for (int repetition = 0; repetition < 100; ++repetition) {
    GraphBuilder g;
    const auto x = g.input({1, 8, 16, 16});
    const auto left = g.batch_norm(g.conv(x, 8)), right = g.map("Sigmoid", {g.conv(x, 8, true)});
    const auto sum = g.map("Relu", {g.map("Add", {left, right})});
    const auto pooled = g.node("MaxPool", {sum}, {1, 8, 8, 8}, {{"kernel_shape", Dims{2, 2}}, {"strides", Dims{2, 2}}});
    const auto flat = g.node("Reshape", {pooled, g.ints({1, 512})}, {1, 512});
    g.output(g.map("Softmax", {g.node("Gemm", {flat, g.weight({512, 10}), g.weight({10})}, {1, 10})}));
    const ModelLayers model = make_model_layers(g.graph());
    check_order(analyze(model, admissible_results(model, random).database(), {.threads = repetition % 2 + 1}));
  }
}

TEST_CASE("the ladder of each of the 44 models keeps its order, and has all layers in both forms") {
  std::mt19937 random(1);
  int threads = 1;
  for (const auto& file : benanza::testing::model_files()) {
    INFO(file.string());
    const ModelLayers model = make_model_layers(import_onnx(file));
    const Analysis a = analyze(model, admissible_results(model, random).database(), {.threads = threads});
    for (const auto* coverage : {&a.coverage, &a.coverage_fused}) {
      CHECK((*coverage)[Status::missing] == 0);
      CHECK((*coverage)[Status::modelled] == 0);
    }
    check_order(a);
    threads = 3 - threads;  // one and two alternate
  }
}

TEST_CASE("without ceilings analytic rungs are absent, never zero") {
  GraphBuilder g = relu_exp();
  Results r;
  r.add(relu, 10 * us);
  r.add(softmax, 10 * us);
  const Analysis a = analyzed(g, r.database());
  for (auto name : {RungName::model_floor, RungName::roofline, RungName::roofline_parallel, RungName::roofline_memory})
    CHECK_FALSE(a[name].bound);
}

TEST_CASE("arithmetic without a peak has no floor, and what no library has then no bound") {
  GraphBuilder g;
  g.output(g.conv(g.input({1, 8, 16, 16}), 8));
  Results r(true);
  for (auto& ceiling : r.run.ceilings)
    if (ceiling.quantity == CeilingQuantity::peak(DataType::f32))
      ceiling.quantity = CeilingQuantity::peak(DataType::bf16);
  const std::string conv = "Conv/f32/x=1x8x16x16/w=8x8x3x3/pads=1x1x1x1";
  auto& row = r.add(conv, 1 * us);
  row.algorithm = "none,threads=1";
  row.has_plan = false;
  row.exclude_for("no Conv in backend lib");
  const Analysis a = analyzed(g, r.database(), 1);
  for (auto name : {RungName::model_floor, RungName::roofline, RungName::roofline_parallel}) CHECK_FALSE(a[name].bound);
  CHECK(a.coverage[Status::missing] == 1);
  CHECK(a.partial());
}

TEST_CASE("a rung of which nothing is known is absent, never zero") {
  GraphBuilder g = relu_exp();
  for (const Rung& rung : analyzed(g, ResultDatabase{}).rungs) CHECK_FALSE(rung.bound);
}

TEST_CASE("a model without results has every layer missing") {
  GraphBuilder g = relu_exp();
  const Analysis a = analyzed(g, ResultDatabase{});
  CHECK(a.partial());
  CHECK(a.coverage[Status::missing] == 2);
  CHECK(a.missing.size() == 2);
}

TEST_CASE("rungs of floors alone are not raised by rounding") {
  GraphBuilder g;
  auto y = g.input({1, 8, 16, 16});
  for (int i = 0; i < 10; ++i) y = g.map("Relu", {g.conv(y, 8)});
  const Analysis a = analyzed(g.output(y), Results(true).database(), 1);
  for (auto name :
       {RungName::library, RungName::library_fused, RungName::library_parallel, RungName::library_fused_parallel}) {
    CHECK(a[name].raised == Seconds{});
    CHECK(a[name].bound->value >=
          a[RungName::roofline].bound->value * (1 - 1e-9));  // separately, a layer's result also crosses memory
  }
  // Layers without measurements count with their floor, in the cheapest partition: a valid but weak bound.
  CHECK(a[RungName::library_fused].bound->value == Approx(a[RungName::roofline].bound->value));
}

TEST_CASE("rows of a model list each layer once with its count and nodes") {
  GraphBuilder g;
  const auto x = g.input({10, 100});
  g.output(g.map("Softmax", {g.map("Softmax", {x})}));
  Results r;
  r.add(softmax, 10 * us);
  const Analysis a = analyzed(g, r.database());
  std::vector<const LayerRow*> single;
  for (const auto& row : a.rows)
    if (row.form == Form::single) single.push_back(&row);
  REQUIRE(single.size() == 1);
  CHECK(single[0]->count == 2);
  CHECK(single[0]->nodes == std::vector<std::string>{"Softmax_0", "Softmax_1"});
  CHECK(single[0]->total().value == Approx(20 * us));
  CHECK(single[0]->critical);
  CHECK(a.unique_layers == 1);
  CHECK(a.layers == 2);
}
