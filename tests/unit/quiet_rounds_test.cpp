// SPDX-License-Identifier: Apache-2.0
// Which rounds make a total: at least four, none that contradict the times of the same rows in another session, and
// none of a session with a busy neighbour. Other totals are provisional.
#include "support/catch.hpp"
#include "support/graph_builder.hpp"
#include <benanza/bounds/analyze.hpp>
#include <benanza/fusion/model_layers.hpp>
#include <benanza/model/layer_signature.hpp>

#include <cmath>
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
    row.times =
        MeasuredTimes{.p10 = {detail::quantile(row.rounds_s, 0.1)}, .median = {detail::quantile(row.rounds_s, 0.5)}};
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

TEST_CASE("a total of fewer than four common rounds is provisional, and no assertion takes it unasked") {
  const Run three = session({{"relu", {10, 10, 10}}, {"softmax", {20, 20, 20}}});
  const Analysis a = analyzed(small_model(), {three});
  CHECK(a[RungName::library].bound->value == Approx(30e-6));
  CHECK(a[RungName::library].doubt == "3 rounds timed all layers together without a disturbance, and a total needs 4");
  CHECK(a.provisional());
  CHECK_FALSE(a.partial());
  Bound bound = a.bound(RungName::library);
  CHECK_FALSE(Within(1000, bound).holds(Seconds{1e-9}));
  CHECK(Within(1000, bound).describe().find("provisional") != std::string::npos);
  bound.take_provisional = true;
  CHECK(Within(1, bound).holds(Seconds{29e-6}));
  CHECK(a.rows.size() == 4);  // the rows of the layers remain: two in each form
  const Run four = session({{"relu", eight(10)}, {"softmax", {20, 20, 20, 20}}});
  CHECK(analyzed(small_model(), {four})[RungName::library].bound->value == Approx(30e-6));
}

TEST_CASE("a total is provisional if the values of a plan's only row cannot be true") {
  Run run = quiet_small;
  Measurement damaged = run.rows.front();
  damaged.algorithm = "b,threads=1";
  damaged.rounds_s.clear();
  damaged.exclude(RowStatus::damaged, "has a p10 that is not from 1 ps to 1 year");
  run.rows.push_back(damaged);
  const Analysis a = analyzed(small_model(), {run});
  CHECK(a[RungName::library].bound->value == Approx(30e-6));
  CHECK(a[RungName::library].doubt == "the times of " + damaged.name() + " cannot be true and do not count");
  // Another session tells of the plan: that it is slower, for example.
  Run later = quiet_small;
  later.rows.push_back(damaged);
  later.rows.back().exclude(RowStatus::slower, "9.1 ms, the best takes 1.2 ms");
  CHECK_FALSE(analyzed(small_model(), {run, later}).provisional());
  CHECK_FALSE(analyzed(small_model(), {later, run}).provisional());
  // A later session has measured the layer, perhaps without this plan.
  CHECK_FALSE(analyzed(small_model(), {run, quiet_small}).provisional());
  CHECK(analyzed(small_model(), {quiet_small, run}).provisional());
}

TEST_CASE("layers that sessions never timed together have a provisional total") {
  const Analysis a = analyzed(small_model(), {session({{"relu", eight(10)}}), session({{"softmax", eight(20)}})});
  CHECK(a[RungName::library].bound->value == Approx(30e-6));
  CHECK(a[RungName::library].doubt == "0 rounds timed all layers together without a disturbance, and a total needs 4");
}

TEST_CASE("a provisional total is corrected for the bias of a sum of low quantiles") {
  // Two rows with independent spreads of 3 and 4 us: p10 10 + 20, medians 13 + 24, and the spread of the sum is
  // sqrt(9 + 16) = 5 of 7 us. So the total is 37 - 5 = 32.
  const std::vector<double> relu{10, 10, 13, 13, 13, 13, 13, 13}, softmax{20, 20, 24, 24, 24, 24, 24, 24};
  const Analysis a = analyzed(small_model(), {session({{"relu", relu}}), session({{"softmax", softmax}})});
  const Rung& library = a[RungName::library];
  REQUIRE(library.bound);
  CHECK(library.bound->value == Approx(32e-6).epsilon(0.02));        // quantiles of 8 values interpolate
  CHECK(library.bound->value * (1 - library.uncertainty) <= 30e-6);  // right if both depend on one condition
}

TEST_CASE("the interval of a provisional total reaches down to what contended rows may take on an idle machine") {
  Run run = session({{"relu", {10, 10, 10}}, {"softmax", {20, 20, 20}}});
  Measurement& row = run.rows.back();
  row.contended = true;
  row.samples = 0;
  row.at_least = Seconds{row.times->p10.value / 2};
  const Rung& library = analyzed(small_model(), {run})[RungName::library];
  REQUIRE(library.provisional());
  CHECK(library.bound->value * (1 - library.uncertainty) <= 30e-6 - row.at_least->value);
}

TEST_CASE("the interval of a provisional total reaches down to what contended rows with more threads may take") {
  Run run = session({{"relu", {10, 10, 10}}, {"softmax", {20, 20, 20}}});
  run.machine.cores = 2;
  Measurement both = run.rows.back();  // neighbours on both processors: slower with two threads than with one
  both.algorithm = "a,threads=2";
  both.threads = 2;
  both.rounds_s.clear();
  both.samples = 0;
  both.times = MeasuredTimes{.p10 = {30e-6}, .median = {30e-6}};
  both.contended = true;
  both.at_least = Seconds{12e-6};
  const auto bound_beside = [&](CacheState cache) {
    both.cache = cache;
    Run all = run;
    all.rows.push_back(both);
    ResultDatabase database;
    database.add(all);
    return analyze(small_model(), database, {.threads = 2})[RungName::library];
  };
  const Rung library = bound_beside(run.rows.back().cache);
  REQUIRE(library.provisional());
  CHECK(library.bound->value == Approx(10e-6 + std::sqrt(12e-6 * 20e-6)));  // no sample of two threads counts
  CHECK(library.bound->value * (1 - library.uncertainty) <= 10e-6 + 12e-6);
  CHECK(library.bound->value * (1 + library.uncertainty) >= Approx(30e-6));
  const Rung cold = bound_beside(CacheState::cold);  // a bound takes the lowest time over the cache states
  CHECK(cold.bound->value * (1 - cold.uncertainty) <= 10e-6 + 12e-6);
}

TEST_CASE("a contended sample with several threads says little if they lost more than half of it") {
  Run run = session({{"relu", {10, 10, 10}}, {"softmax", {20, 20, 20}}});
  run.machine.cores = 2;
  Measurement& row = run.rows.back();
  row.algorithm = "a,threads=2";
  row.threads = 2;
  row.rounds_s.clear();
  row.samples = 0;
  row.contended = true;
  row.at_least = Seconds{5e-6};
  const auto library = [&](Seconds at_most) {
    row.at_most = at_most;
    ResultDatabase database;
    database.add(run);
    return analyze(small_model(), database, {.threads = 2})[RungName::library];
  };
  CHECK(library(row.times->p10).bound->value == Approx(10e-6 + std::sqrt(5e-6 * 20e-6)));
  CHECK(library({25e-6}).bound->value == Approx(30e-6));  // the time that was lost is known
}

TEST_CASE("rows with several threads are provisional if other processes used their processors") {
  Run run = session({{"relu", eight(10)}, {"softmax", eight(20)}});
  run.machine.cores = 2;
  for (auto& row : run.rows) {
    row.algorithm = "a,threads=2";
    row.threads = 2;
  }
  const auto bound_beside = [&](double others) {
    run.others = others;
    ResultDatabase database;
    database.add(run);
    return analyze(small_model(), database, {.threads = 2});
  };
  CHECK_FALSE(bound_beside(0.02).provisional());
  const Analysis a = bound_beside(0.98);
  CHECK(a[RungName::library].doubt == "other processes used 98 % of a processor");
  CHECK(a[RungName::library].bound->value == Approx(30e-6));
  CHECK(a[RungName::library].uncertainty >= 0.5);  // both rows may take half as long
}

TEST_CASE("rows with one thread are provisional if other processes ran while thread counts were compared") {
  Run run = session({{"relu", eight(10)}, {"softmax", eight(20)}});
  run.machine.cores = 2;
  Measurement both = run.rows.back();  // slower with two threads than with one, and so without rounds
  both.algorithm = "a,threads=2";
  both.threads = 2;
  both.rounds_s.clear();
  both.times = MeasuredTimes{.p10 = {22e-6}, .median = {22e-6}};
  run.rows.push_back(both);
  const auto bound_beside = [&](double others) {
    run.others = others;
    ResultDatabase database;
    database.add(run);
    return analyze(small_model(), database, {.threads = 2});
  };
  CHECK_FALSE(bound_beside(0.02).provisional());
  CHECK_FALSE(bound_beside(0.2).provisional());  // most samples see no neighbour
  const Rung library = bound_beside(1.52)[RungName::library];
  CHECK(library.doubt == "other processes ran while numbers of threads were compared");
  CHECK(library.bound->value == Approx(30e-6));
  CHECK(library.bound->value * (1 - library.uncertainty) <= 20e-6);  // softmax may take half of 20 with two threads

  // Rounds of the same plans without a neighbour do not tell whether two threads would be faster.
  Run rounds = run;
  rounds.started = "2026-02-01T00:00:00Z";
  rounds.others = 0;
  rounds.rows.pop_back();
  ResultDatabase with_rounds;
  for (const auto& each : {run, rounds}) with_rounds.add(each);
  CHECK(analyze(small_model(), with_rounds, {.threads = 2}).provisional());

  // Another session beside a neighbour timed two threads at a better moment.
  both.times = MeasuredTimes{.p10 = {14e-6}, .median = {14e-6}};
  Run later = run;
  later.started = "2026-02-01T00:00:00Z";
  later.rows = {both};
  ResultDatabase database;
  for (const auto& each : {run, later}) database.add(each);
  CHECK(analyze(small_model(), database, {.threads = 2})[RungName::library].bound->value == Approx(24e-6));
}

TEST_CASE("a total of a database without rounds is the sum of its rows, and says so") {
  Run published = session({{"relu", eight(10)}, {"softmax", eight(20)}});
  for (auto& row : published.rows) row.rounds_s.clear();
  const Analysis a = analyzed(small_model(), {published});
  CHECK(a[RungName::library].bound->value == Approx(30e-6));
  CHECK_FALSE(a[RungName::library].common_rounds);
  CHECK_FALSE(a.partial());
}

TEST_CASE("a session beside a neighbour that was faster contradicts a slower one without") {
  Run busy = session({{"relu", eight(10)}, {"softmax", eight(20)}}),
      idle = session({{"relu", eight(13)}, {"softmax", eight(26)}});
  for (auto* run : {&busy, &idle}) {
    run->machine.cores = 2;
    for (auto& row : run->rows) row.threads = 2;
  }
  busy.others = 0.5;
  ResultDatabase database;
  for (const auto& run : {busy, idle}) database.add(run);
  const Rung library = analyze(small_model(), database, {.threads = 2})[RungName::library];
  CHECK(library.provisional());
  CHECK(library.bound->value == Approx(30e-6));
}

TEST_CASE("a total that the rows of another model contradict is provisional until a quiet session times its layers") {
  // Half the speed: 20 + 40 + 10, while relu and softmax are known to take 10 and 20.
  const Run slow = session({{"relu", eight(20)}, {"softmax", eight(40)}, {"tanh", eight(10)}});
  const Analysis contended = analyzed(large_model(), {quiet_small, slow});
  const Rung& library = contended[RungName::library];
  CHECK(library.doubt ==
        "all layers took 70 us when they were timed together, and 40 us in the quietest session of each");
  CHECK(library.bound->value == Approx(40e-6));
  CHECK(library.bound->value * (1 - library.uncertainty) <= 35e-6);  // the quiet session below
  CHECK(analyzed(small_model(), {quiet_small, slow})[RungName::library].bound->value == Approx(30e-6));

  const Run quiet = session({{"relu", eight(10)}, {"softmax", eight(20)}, {"tanh", eight(5)}});
  CHECK(analyzed(large_model(), {quiet_small, slow, quiet})[RungName::library].bound->value == Approx(35e-6));
  // The order of sessions does not matter.
  CHECK(analyzed(large_model(), {quiet, quiet_small, slow})[RungName::library].bound->value == Approx(35e-6));
}

TEST_CASE("the latest of sessions within 3 % counts") {
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
  CHECK(analyzed(large_model(), {other, steady})[RungName::library].provisional());
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
  const Analysis doubted = analyzed(small_model(), {on("2026-02-25", 1), on("2026-03-04", 1.2)});  // seven
  CHECK(library(doubted) == Approx(30));
  REQUIRE(doubted.quietest);
  CHECK(doubted.quietest->started == "2026-02-25T12:00:00Z");
  CHECK(doubted.quietest->newest == "2026-03-04T12:00:00Z");
  CHECK(doubted.quietest->in_doubt);
  const Analysis replaced =
      analyzed(small_model(), {on("2026-02-25", 1), on("2026-03-04", 1.2), on("2026-03-05", 1.21)});
  CHECK(library(replaced) == Approx(1.21 * 30));
  CHECK_FALSE(replaced.partial());
  REQUIRE(replaced.quietest);
  CHECK(replaced.quietest->replaced);
  const Analysis kept = analyzed(small_model(), {on("2026-02-25", 1), on("2026-03-04", 1.2), on("2026-03-05", 1.5)});
  CHECK(library(kept) == Approx(30));  // the two do not agree: one of them was disturbed
  REQUIRE(kept.quietest);
  CHECK_FALSE(kept.quietest->in_doubt);
}
