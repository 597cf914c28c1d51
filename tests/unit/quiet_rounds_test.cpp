// SPDX-License-Identifier: Apache-2.0
// Which rounds make a total: at least four, and none that contradict the times of the same rows in another session.
#include "support/catch.hpp"
#include "support/graph_builder.hpp"
#include <benanza/bounds/analyze.hpp>
#include <benanza/fusion/model_layers.hpp>
#include <benanza/model/layer_signature.hpp>

#include <map>

namespace {

using namespace benanza;
using benanza::testing::GraphBuilder;

using Times = std::map<std::string, std::vector<double>>;  ///< in us, per round, by function

const std::map<std::string, std::string> signatures{
    {"relu", "Unary/f32/fn=relu/x=1000"}, {"softmax", "Softmax/f32/x=10x100x1"}, {"tanh", "Unary/f32/fn=tanh/x=1000"}};

Run session(const Times& times) {
  Run run{.machine = {.device = "fake", .isa = "none", .cores = 1}, .backends = {{"lib", "1"}}};
  for (const auto& [function, us] : times) {
    Measurement row{.backend = "lib",
                    .algorithm = "a,threads=1",
                    .signature = LayerSignature::parse(signatures.at(function)).text(),
                    .samples = 8};
    for (const double time : us) row.rounds_s.push_back(time * 1e-6);
    row.p10 = {detail::quantile(row.rounds_s, 0.1)};
    row.median = {detail::quantile(row.rounds_s, 0.5)};
    run.rows.push_back(row);
  }
  return run;
}

std::vector<double> eight(double us) { return std::vector<double>(8, us); }

/// A model with two layers.
ModelLayers small_model() {
  GraphBuilder g;
  g.output(g.map("Softmax", {g.map("Relu", {g.input({10, 100})})}));
  return make_model_layers(g.graph());
}
/// The same model with another layer.
ModelLayers large_model() {
  GraphBuilder g;
  g.output(g.map("Tanh", {g.map("Softmax", {g.map("Relu", {g.input({10, 100})})})}));
  return make_model_layers(g.graph());
}

Analysis analyzed(const ModelLayers& model, const std::vector<Run>& runs) {
  ResultDatabase database;
  for (const auto& run : runs) database.add(run);
  return analyze(model, database, {.threads = 1});
}

const Run quiet_small = session({{"relu", eight(10)}, {"softmax", eight(20)}});

}  // namespace

TEST_CASE("a total of fewer than four common rounds is not given, and the bound is partial") {
  const Run three = session({{"relu", {10, 10, 10}}, {"softmax", {20, 20, 20}}});
  const Analysis a = analyzed(small_model(), {three});
  for (const auto name : measured_rungs) {
    CHECK_FALSE(a[name].bound);
    CHECK_FALSE(a[name].median);
  }
  CHECK(a.partial());
  CHECK(a.missing == std::vector<std::string>{"4 quiet rounds of all layers together (there are 3): measure again"});
  CHECK_FALSE(Within(1000, a.bound(RungName::library)).holds(Seconds{1e-9}));
  CHECK(a.rows.size() == 4);  // the rows of the layers remain: two in each form
  const Run four = session({{"relu", eight(10)}, {"softmax", {20, 20, 20, 20}}});
  CHECK(analyzed(small_model(), {four})[RungName::library].bound->value == Approx(30e-6));
}

TEST_CASE("layers that sessions never timed together have no total") {
  const Analysis a = analyzed(small_model(), {session({{"relu", eight(10)}}), session({{"softmax", eight(20)}})});
  CHECK_FALSE(a[RungName::library].bound);
  CHECK(a.missing == std::vector<std::string>{"4 quiet rounds of all layers together (there are 0): measure again"});
}

TEST_CASE("a total of a database without rounds is the sum of its rows, and says so") {
  Run published = session({{"relu", eight(10)}, {"softmax", eight(20)}});
  for (auto& row : published.rows) row.rounds_s.clear();
  const Analysis a = analyzed(small_model(), {published});
  CHECK(a[RungName::library].bound->value == Approx(30e-6));
  CHECK_FALSE(a[RungName::library].common_rounds);
  CHECK_FALSE(a.partial());
}

TEST_CASE(
    "a total that the rows of another model contradict is not given until its layers are timed in a quiet session") {
  // Half the speed: 20 + 40 + 10, while relu and softmax are known to take 10 and 20.
  const Run slow = session({{"relu", eight(20)}, {"softmax", eight(40)}, {"tanh", eight(10)}});
  const Analysis contended = analyzed(large_model(), {quiet_small, slow});
  for (const auto name : measured_rungs) CHECK_FALSE(contended[name].bound);
  REQUIRE(contended.missing.size() == 1);
  CHECK(contended.missing.front() ==
        "quiet rounds: all layers took 0.070000 ms when they were timed together, and 0.040000 ms in the quietest "
        "session of each: measure again");
  CHECK(analyzed(small_model(), {quiet_small, slow})[RungName::library].bound->value == Approx(30e-6));

  const Run quiet = session({{"relu", eight(10)}, {"softmax", eight(20)}, {"tanh", eight(5)}});
  CHECK(analyzed(large_model(), {quiet_small, slow, quiet})[RungName::library].bound->value == Approx(35e-6));
  // The order of sessions does not matter.
  CHECK(analyzed(large_model(), {quiet, quiet_small, slow})[RungName::library].bound->value == Approx(35e-6));
}

TEST_CASE("of sessions within 3 % the latest counts") {
  const Run later = session({{"relu", eight(10.2)}, {"softmax", eight(20.4)}});  // 2 % more
  CHECK(analyzed(small_model(), {quiet_small, later})[RungName::library].bound->value == Approx(30.6e-6));
  const Run slower = session({{"relu", eight(10.4)}, {"softmax", eight(20.8)}});  // 4 % more
  CHECK(analyzed(small_model(), {quiet_small, slower})[RungName::library].bound->value == Approx(30e-6));
}

TEST_CASE("a total agrees with its rows where its interval reaches them") {
  // Totals of 45 and 60 us alternate, group by group: p10 45. By the quietest sessions of each layer it is 35. The
  // interval includes it: sections alone are 3.18 * sqrt(2 * 15^2 / 12) = 19.5 us.
  const std::vector<double> unsteady{30, 30, 45, 45, 30, 30, 45, 45};
  const Run wide = session({{"relu", unsteady}, {"softmax", eight(10)}, {"tanh", eight(5)}});
  const Run other = session({{"relu", eight(20)}});
  const Analysis a = analyzed(large_model(), {other, wide});
  CHECK(a[RungName::library].bound->value == Approx(45e-6));
  CHECK(a[RungName::library].uncertainty > 10.0 / 45);
  // The total of steady rounds contradicts its rows: 45 instead of 35.
  const Run steady = session({{"relu", eight(30)}, {"softmax", eight(10)}, {"tanh", eight(5)}});
  CHECK_FALSE(analyzed(large_model(), {other, steady})[RungName::library].bound);
}

TEST_CASE("the quietest session is named if it is a week older, and gives way to two later ones that agree") {
  const auto on = [](const std::string& date, double factor) {
    Run run = session({{"relu", eight(10 * factor)}, {"softmax", eight(20 * factor)}});
    run.started = date + "T12:00:00Z";
    return run;
  };
  const auto library = [](const Analysis& a) { return a[RungName::library].bound->value * 1e6; };
  const Analysis recent = analyzed(small_model(), {on("2026-02-26", 1), on("2026-03-04", 1.2)});  // six days
  CHECK(library(recent) == Approx(30));
  CHECK_FALSE(recent.quietest);
  const Analysis contested = analyzed(small_model(), {on("2026-02-25", 1), on("2026-03-04", 1.2)});  // seven
  CHECK(library(contested) == Approx(30));
  REQUIRE(contested.quietest);
  CHECK(contested.quietest->started == "2026-02-25T12:00:00Z");
  CHECK(contested.quietest->newest == "2026-03-04T12:00:00Z");
  CHECK(contested.quietest->contested);
  const Analysis replaced =
      analyzed(small_model(), {on("2026-02-25", 1), on("2026-03-04", 1.2), on("2026-03-05", 1.21)});
  CHECK(library(replaced) == Approx(1.21 * 30));
  CHECK_FALSE(replaced.partial());
  REQUIRE(replaced.quietest);
  CHECK(replaced.quietest->replaced);
  const Analysis kept = analyzed(small_model(), {on("2026-02-25", 1), on("2026-03-04", 1.2), on("2026-03-05", 1.5)});
  CHECK(library(kept) == Approx(30));  // the two do not agree: one of them was disturbed
  REQUIRE(kept.quietest);
  CHECK_FALSE(kept.quietest->contested);
}
