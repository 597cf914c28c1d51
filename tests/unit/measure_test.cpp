// SPDX-License-Identifier: Apache-2.0
// The measuring session on a fake host: nothing here waits or reads a clock.
#include "measure/rounds.hpp"
#include "measure/tuning_session.hpp"
#include "sampling/thread_counts.hpp"
#include "support/catch.hpp"
#include "support/fake_host.hpp"
#include <benanza/error.hpp>
#include <benanza/measure/measure.hpp>
#include <benanza/model/layer_signature.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace {

using namespace benanza;
using namespace benanza::ceilings;
using namespace benanza::measure;
using namespace benanza::sampling;
using test::FakeBackend;
using test::FakeHost;
using test::FakePlan;

Layer relu(std::int64_t elements) { return op::Unary{.fn = ElementwiseFn::relu, .x = {elements}}; }

using List = std::vector<std::shared_ptr<const Backend>>;

std::vector<Measurement> run(FakeHost& host, const List& backends, MeasureOptions options = {}, int threads = 1,
                             std::vector<Wanted> wanted = {{.layer = relu(64)}}) {
  return run_tuning_session(host, wanted, backends, options, threads);
}

const Measurement& row(const std::vector<Measurement>& rows, const std::string& algorithm) {
  const auto found =
      std::find_if(rows.begin(), rows.end(), [&](const Measurement& m) { return m.algorithm == algorithm; });
  if (found == rows.end()) throw std::runtime_error("no row " + algorithm);
  return *found;
}

std::size_t valid(const std::vector<double>& rounds) {
  return static_cast<std::size_t>(
      std::count_if(rounds.begin(), rounds.end(), [](double time) { return std::isfinite(time); }));
}

}  // namespace

TEST_CASE("the fastest plan is chosen and timed in at least forty rounds") {
  FakeHost host;
  const auto backend = std::make_shared<FakeBackend>(
      host, std::vector<FakePlan>{{.name = "slow", .seconds = 1.2e-3}, {.name = "fast", .seconds = 1e-3}});
  const auto rows = run(host, {backend});
  REQUIRE(rows.size() == 2);
  CHECK(row(rows, "fast,threads=1").rounds_s.size() >= 40);
  CHECK(row(rows, "fast,threads=1").times->p10.value == Approx(1e-3));
  CHECK(row(rows, "fast,threads=1").times->median.value == Approx(1e-3));
  CHECK_FALSE(row(rows, "fast,threads=1").contended);
  CHECK_FALSE(row(rows, "fast,threads=1").noisy);
  REQUIRE(row(rows, "fast,threads=1").visits_s.size() == 2);
  for (double time : row(rows, "fast,threads=1").visits_s) CHECK(time == Approx(1e-3));
  CHECK(row(rows, "slow,threads=1").rounds_s.empty());
  CHECK(row(rows, "slow,threads=1").visits_s.empty());
  CHECK(row(rows, "slow,threads=1").times->p10.value == Approx(1.2e-3));
}

TEST_CASE("a plan that two calls show to be slow is dropped at once, and not tried with fewer threads") {
  FakeHost host;
  const auto backend = std::make_shared<FakeBackend>(
      host, std::vector<FakePlan>{{.name = "fast", .seconds = 0.02}, {.name = "slow", .seconds = 0.2}});
  const auto rows = run(host, {backend}, {}, 2);
  CHECK(backend->calls("slow") == 2);
  CHECK_THAT(row(rows, "slow,threads=2").reason, Catch::Contains("clearly slower after one call"));
  CHECK_THAT(row(rows, "slow,threads=1").reason, Catch::Contains("not tried"));
  CHECK(row(rows, "fast,threads=1").measured());
}

TEST_CASE("what a library's heuristic chose is timed however slow it is, and is never chosen for that") {
  FakeHost host;
  const auto backend = std::make_shared<FakeBackend>(
      host,
      std::vector<FakePlan>{{.name = "fast", .seconds = 0.02}, {.name = "first", .seconds = 0.2, .advised = true}});
  const auto rows = run(host, {backend});
  const Measurement& advised = row(rows, "first,threads=1");
  CHECK(advised.advised);
  CHECK(advised.measured());
  CHECK(advised.times->median.value == Approx(0.2));
  CHECK(advised.rounds_s.empty());
  CHECK_FALSE(row(rows, "fast,threads=1").advised);
  CHECK(row(rows, "fast,threads=1").rounds_s.size() >= 40);
}

TEST_CASE("one call that a neighbour delays costs no plan its race") {
  // Calls of the host: the first plan's check, then readings and its samples. The second plan's first call is the one
  // that is delayed: by 123 ms, as was seen on a shared host, or by less than a call counts as long.
  for (const double delay : {0.123, 0.03}) {
    FakeHost host;
    bool delayed = false;
    const auto backend = std::make_shared<FakeBackend>(
        host, std::vector<FakePlan>{{.name = "first", .seconds = 2.05e-3}, {.name = "best", .seconds = 1.83e-3}});
    host.slowness = [&](double) {
      const bool now = !delayed && backend->calls("best") == 1;
      delayed = delayed || now;
      return now ? delay / 1.83e-3 : 1.0;
    };
    const auto rows = run(host, {backend});
    CHECK(delayed);
    CHECK(row(rows, "best,threads=1").times->p10.value == Approx(1.83e-3));
    CHECK(row(rows, "best,threads=1").rounds_s.size() >= 40);
  }
}

TEST_CASE("one timed call that a neighbour delays costs no plan its race, in any cache state") {
  // The delayed call is the first timed one: the second of a plan when hot, the one after the hot ones when cold.
  for (const auto& caches : {std::vector{CacheState::hot}, std::vector{CacheState::cold}}) {
    FakeHost host;
    bool delayed = false;
    const auto backend = std::make_shared<FakeBackend>(
        host, std::vector<FakePlan>{{.name = "first", .seconds = 0.205}, {.name = "best", .seconds = 0.183}});
    host.slowness = [&](double) {
      const bool now = !delayed && backend->calls("best") == 2;
      delayed = delayed || now;
      return now ? 3.0 : 1.0;
    };
    const auto rows = run(host, {backend}, {.caches = caches, .budget = {60}});
    CHECK(delayed);
    CHECK(row(rows, "best,threads=1").times->p10.value == Approx(0.183));
    CHECK(row(rows, "best,threads=1").rounds_s.size() >= 40);
  }
}

TEST_CASE("a call that took seconds too long is not repeated where the layer has no time for it") {
  for (const double budget : {20.0, 1000.0}) {
    FakeHost host;
    const auto backend = std::make_shared<FakeBackend>(
        host, std::vector<FakePlan>{{.name = "fast", .seconds = 0.02}, {.name = "reference", .seconds = 10}});
    const auto rows = run(host, {backend}, {.budget = {budget}});
    CHECK_FALSE(row(rows, "reference,threads=1").measured());
    CHECK(backend->calls("reference") == (budget < 100 ? 1 : 2));
    const RowStatus status = row(rows, "reference,threads=1").status;
    CHECK(status == (budget < 100 ? RowStatus::out_of_time : RowStatus::slower));
  }
}

TEST_CASE("a plan is tried again by the next session if there was no time to repeat its slow first call") {
  FakeHost host;
  bool delayed = false;
  const auto backend = std::make_shared<FakeBackend>(
      host, std::vector<FakePlan>{{.name = "first", .seconds = 0.02}, {.name = "best", .seconds = 0.015}});
  host.slowness = [&](double) {
    const bool now = !delayed && backend->calls("best") == 1;
    delayed = delayed || now;
    return now ? 10 / 0.015 : 1.0;
  };
  const auto earlier = std::make_shared<Run>();
  earlier->rows = run(host, {backend}, {.budget = {5}});
  CHECK(delayed);
  CHECK(backend->calls("best") == 1);
  CHECK(row(earlier->rows, "first,threads=1").measured());
  CHECK(row(earlier->rows, "best,threads=1").status == RowStatus::out_of_time);
  const auto rows = run(host, {backend}, {.budget = {5}, .earlier = earlier});
  CHECK(row(rows, "best,threads=1").times->p10.value == Approx(0.015));
  CHECK_FALSE(row(rows, "best,threads=1").rounds_s.empty());
}

TEST_CASE("a clearly slower plan is timed once, a candidate in at least three visits") {
  FakeHost host;
  const auto backend = std::make_shared<FakeBackend>(
      host, std::vector<FakePlan>{
                {.name = "fast"}, {.name = "close", .seconds = 1.1e-3}, {.name = "loser", .seconds = 3e-3}});
  const auto rows = run(host, {backend});
  CHECK(row(rows, "loser,threads=1").samples == 1);
  CHECK(row(rows, "loser,threads=1").measured());
  CHECK(row(rows, "close,threads=1").samples >= 3);
  // Candidates alternate: after the loser was dropped, no plan remains until the other one had its turn, in more than
  // three turns each.
  const auto& order = backend->order();
  const auto turns = std::count(order.begin(), order.end(), "close,threads=1");
  CHECK(turns >= 4);
}

TEST_CASE("the fastest plan on more threads and the one of least work are chosen") {
  FakeHost host;
  const auto backend =
      std::make_shared<FakeBackend>(host, std::vector<FakePlan>{{.name = "a", .seconds = 1e-3, .speedup = 1.5}});
  const auto rows = run(host, {backend}, {}, 2);
  CHECK(row(rows, "a,threads=2").times->p10.value == Approx(1e-3 / 1.5));
  CHECK_FALSE(row(rows, "a,threads=2").rounds_s.empty());  // best time
  CHECK_FALSE(row(rows, "a,threads=1").rounds_s.empty());  // least threads x time
  CHECK(row(rows, "a,threads=1").rounds_s.size() == row(rows, "a,threads=2").rounds_s.size());
}

TEST_CASE("plans are tried with all thread counts up to 8, and with those that fill groups of processors") {
  CHECK(thread_counts(1, {}) == std::vector{1});
  CHECK(thread_counts(6, {}) == std::vector{1, 2, 3, 4, 5, 6});
  CHECK(thread_counts(8, {}) == std::vector{1, 2, 3, 4, 5, 6, 7, 8});
  CHECK(thread_counts(12, {}) == std::vector{1, 2, 3, 4, 5, 6, 7, 8, 12});
  CHECK(thread_counts(24, std::vector{6, 12, 18, 24}) == std::vector{1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 18, 24});
  CHECK(thread_counts(20, std::vector{8, 16, 24}) == std::vector{1, 2, 3, 4, 5, 6, 7, 8, 16, 20});
  CHECK(doubled_counts(1) == std::vector{1});
  CHECK(doubled_counts(6) == std::vector{1, 2, 4, 6});
  CHECK(doubled_counts(8) == std::vector{1, 2, 4, 8});
}

TEST_CASE("groups are the processors behind the outermost cache that some of them share") {
  const auto processors = [](int count) {
    std::vector<int> cpus(static_cast<std::size_t>(count));
    std::iota(cpus.begin(), cpus.end(), 0);
    return cpus;
  };
  /// Caches of one level, one for each group of consecutive processors.
  const auto caches = [](int level, std::initializer_list<int> sizes) {
    std::vector<Cache> result;
    for (int first = 0; const int size : sizes) {
      Cache cache{.level = level};
      for (int i = 0; i < size; ++i) cache.cpus.push_back(first++);
      result.push_back(cache);
    }
    return result;
  };
  const auto joined = [](std::vector<Cache> inner, const std::vector<Cache>& outer) {
    inner.insert(inner.end(), outer.begin(), outer.end());
    return inner;
  };
  const std::vector<int> none;
  // One core; a desktop whose cores share only the third level; four complexes of six; one of them with a core off.
  CHECK(group_counts(caches(1, {1}), processors(1)) == none);
  CHECK(group_counts(joined(caches(2, {1, 1, 1, 1}), caches(3, {4})), processors(4)) == none);
  CHECK(group_counts(joined(caches(2, {1, 1, 1, 1}), caches(3, {6, 6, 6, 6})), processors(24)) ==
        std::vector{6, 12, 18, 24});
  CHECK(group_counts(caches(3, {8, 7, 8}), processors(23)) == std::vector{8, 15, 23});
  // Pairs share the second level, all share the third: pairs. Pairs within complexes of four: complexes.
  CHECK(group_counts(joined(caches(2, {2, 2, 2, 2, 2}), caches(3, {10})), processors(10)) ==
        std::vector{2, 4, 6, 8, 10});
  CHECK(group_counts(joined(caches(2, {2, 2, 2, 2}), caches(3, {4, 4})), processors(8)) == std::vector{4, 8});
  // Two complexes whose processors are numbered alternately; two threads per core, of which one is used.
  const std::vector<Cache> in_turns{{.level = 3, .cpus = {0, 2, 4}}, {.level = 3, .cpus = {1, 3, 5}}};
  CHECK(group_counts(in_turns, processors(6)) == std::vector{3, 6});
  const std::vector<Cache> threads{{.level = 3, .cpus = {0, 1, 4, 5}}, {.level = 3, .cpus = {2, 3, 6, 7}}};
  CHECK(group_counts(threads, processors(4)) == std::vector{2, 4});
  // The system reports no caches.
  CHECK(group_counts({}, processors(16)) == none);
}

TEST_CASE("a session hands out the rows so far every few seconds") {
  FakeHost host;
  const auto backend = std::make_shared<FakeBackend>(host, std::vector<FakePlan>{{.name = "slow", .seconds = 0.2}});
  std::vector<Run> kept;
  const MeasureOptions options{.budget = {60}, .keep = [&](const Run& so_far) { kept.push_back(so_far); }};
  const auto rows = run(host, {backend}, options, 1, {{.layer = relu(64)}, {.layer = relu(65)}});
  REQUIRE_FALSE(kept.empty());
  CHECK(kept.size() <= 12);  // 60 s, every 5 s
  CHECK(kept.back().rows.size() == rows.size());
  CHECK(kept.back().rows[0].times->p10.value == Approx(0.2));
}

TEST_CASE("a disk that is full costs what would be kept there, and the session goes on") {
  FakeHost host;
  const auto backend = std::make_shared<FakeBackend>(host, std::vector<FakePlan>{{.name = "slow", .seconds = 0.2}});
  int tries = 0;
  std::vector<std::string> reasons;
  const MeasureOptions options{.budget = {60},
                               .keep =
                                   [&](const Run&) {
                                     ++tries;
                                     throw EnvironmentError("cannot write 'run.json': No space left on device");
                                   },
                               .keep_failed = [&](std::string_view reason) { reasons.emplace_back(reason); }};
  const auto rows = run(host, {backend}, options, 1, {{.layer = relu(64)}, {.layer = relu(65)}});
  CHECK(tries == 1);
  CHECK(reasons == std::vector<std::string>{"cannot write 'run.json': No space left on device"});
  REQUIRE(rows.size() == 2);
  for (const auto& each : rows) CHECK(each.rounds_s.size() >= 40);
}

TEST_CASE("reasons and clearly slower plans of a session that was cut short are kept, the rest is tried again") {
  const std::vector<FakePlan> plans{{.name = "fast"}, {.name = "loser", .seconds = 3e-3}, {.name = "crashes"}};
  FakeHost host;
  auto earlier = std::make_shared<Run>();
  earlier->rows = run(host, {std::make_shared<FakeBackend>(host, plans)});
  for (auto& each : earlier->rows)
    if (each.algorithm == "crashes,threads=1") each.exclude_for("crashed: Segmentation fault");

  FakeHost other;
  const auto again = std::make_shared<FakeBackend>(other, plans);
  auto rows = run(other, {again}, {.earlier = earlier});
  REQUIRE(rows.size() == 3);
  CHECK(again->calls("loser") == 0);
  CHECK(again->calls("crashes") == 0);
  CHECK(row(rows, "loser,threads=1").times->p10.value == Approx(3e-3));
  CHECK(row(rows, "crashes,threads=1").reason == "crashed: Segmentation fault");
  CHECK(row(rows, "fast,threads=1").rounds_s.size() >= 40);

  // Without time for more, the known rows are the result.
  earlier->rows[1].times->p10 = {1.5e-3};
  FakeHost late;
  const auto none = std::make_shared<FakeBackend>(late, plans);
  rows = run(late, {none}, {.budget = {1e-6}, .earlier = earlier});
  REQUIRE(rows.size() == 3);
  CHECK(none->calls("loser") == 0);
  CHECK(row(rows, "loser,threads=1").times->p10.value == Approx(1.5e-3));
  CHECK(row(rows, "loser,threads=1").noisy);
}

TEST_CASE("the calls of a sample fill a window of at least a hundred timer floors") {
  FakeHost host;
  const auto backend = std::make_shared<FakeBackend>(
      host, std::vector<FakePlan>{{.name = "tiny", .seconds = 50e-9}, {.name = "long", .seconds = 90e-9}});
  const auto rows = run(host, {backend});
  const auto& tiny = row(rows, "tiny,threads=1");
  CHECK(static_cast<double>(tiny.calls_per_sample) * 50e-9 >= 100 * 20e-9);
  CHECK(tiny.times->p10.value == Approx(50e-9));
  FakeHost other;
  const auto slow = std::make_shared<FakeBackend>(other, std::vector<FakePlan>{{.name = "slow", .seconds = 1e-2}});
  CHECK(row(run(other, {slow}), "slow,threads=1").calls_per_sample == 1);
}

TEST_CASE("the calls of a sample are not found from a window that lost its processor") {
  FakeHost host;
  int call = 0;
  // The check, a reading and the first calls are as usual; then a call takes 12 ms, because another process ran.
  host.slowness = [&](double) { return ++call == 5 ? 240'000.0 : 1.0; };
  const auto backend = std::make_shared<FakeBackend>(host, std::vector<FakePlan>{{.name = "tiny", .seconds = 50e-9}});
  const auto rows = run(host, {backend});
  CHECK(static_cast<double>(row(rows, "tiny,threads=1").calls_per_sample) * 50e-9 >= 100 * 20e-9);
}

TEST_CASE("samples in which threads lost their processors do not count") {
  FakeHost host;
  host.preempted = [](double from, double) { return std::fmod(from, 2) > 1; };
  host.slowness = [](double now) { return std::fmod(now, 2) > 1 ? 1.02 : 1.0; };  // too little for the sentinel
  const auto backend = std::make_shared<FakeBackend>(
      host, std::vector<FakePlan>{{.name = "a", .seconds = 0.02}, {.name = "b", .seconds = 0.022}});
  const auto rows = run(host, {backend});
  const auto& best = row(rows, "a,threads=1");
  REQUIRE(valid(best.rounds_s) > 0);
  for (double time : best.rounds_s) CHECK((std::isnan(time) || time == Approx(0.02).epsilon(0.001)));
}

TEST_CASE("a sample is not shortened by what an earlier window of it lost") {
  FakeHost host;
  int windows = 0;
  host.preempted = [&](double, double) { return ++windows == 1; };  // it is too short for a sample
  host.lost_longest = host.lost_all = 0.5;
  const auto backend = std::make_shared<FakeBackend>(host, std::vector<FakePlan>{{.name = "a", .seconds = 1e-6}});
  MeasureOptions options;
  options.budget = {2e-3};  // too short for rounds, so that the first sample counts
  const auto rows = run(host, {backend}, options);
  const auto& only = row(rows, "a,threads=1");
  CHECK(only.rounds_s.size() < 4);
  CHECK_FALSE(only.contended);
  CHECK(only.times->min.value == Approx(1e-6).epsilon(0.01));
}

TEST_CASE("a row that was preempted in each sample has the time without what its threads waited") {
  FakeHost host;
  host.preempted = [](double, double) { return true; };
  host.lost_longest = 0.5;
  host.lost_all = 0.75;
  const auto backend = std::make_shared<FakeBackend>(host, std::vector<FakePlan>{{.name = "a", .seconds = 0.02}});
  const auto rows = run(host, {backend});
  const auto& only = row(rows, "a,threads=1");
  CHECK(only.contended);
  CHECK(only.times->p10.value == Approx(0.01));
  CHECK(only.at_least.value().value == Approx(0.005));
  CHECK(only.at_most.value().value == Approx(0.005));  // with one thread, all that was waited is lost
}

TEST_CASE("a plan whose samples lost nearly all of their time is not taken for the fastest") {
  FakeHost host;
  int windows = 0;
  host.preempted = [&](double, double) {
    host.lost_longest = host.lost_all = ++windows % 3 == 0 ? 0.99 : 0.1;
    return true;
  };
  const auto backend = std::make_shared<FakeBackend>(
      host, std::vector<FakePlan>{{.name = "slow", .seconds = 0.02}, {.name = "fast", .seconds = 0.012}});
  const auto rows = run(host, {backend});
  CHECK_FALSE(row(rows, "fast,threads=1").rounds_s.empty());
  CHECK(row(rows, "slow,threads=1").rounds_s.empty());
  CHECK(row(rows, "fast,threads=1").times->p10.value == Approx(0.012 * 0.9));
}

TEST_CASE("a plan that was faster in the selection than the chosen one is in rounds joins the rounds") {
  FakeHost host;
  // In the selection, the slow plan seems to lose a quarter of its time, and so to be the fastest.
  int slow_windows = 0;
  host.lost_longest = host.lost_all = 0.24;
  host.preempted = [&](double from, double to) { return to - from > 0.018 && ++slow_windows <= 40; };
  const auto backend = std::make_shared<FakeBackend>(
      host, std::vector<FakePlan>{{.name = "slow", .seconds = 0.02}, {.name = "fast", .seconds = 0.016}});
  const auto rows = run(host, {backend});
  const auto& fast = row(rows, "fast,threads=1");
  REQUIRE(valid(fast.rounds_s) > 20);
  CHECK(fast.times->p10.value == Approx(0.016));
}

TEST_CASE("samples of a slow phase do not count, however tight they are") {
  FakeHost host;
  // 1.7 times slower for 2 s out of every 4 s: longer than a round can wait.
  host.slowness = [](double now) { return std::fmod(now - 1000, 4) > 2 ? 1.7 : 1.0; };
  const auto backend = std::make_shared<FakeBackend>(
      host, std::vector<FakePlan>{{.name = "a", .seconds = 0.05}, {.name = "b", .seconds = 0.06}});
  const auto rows = run(host, {backend});
  const auto& best = row(rows, "a,threads=1");
  REQUIRE_FALSE(best.rounds_s.empty());
  for (double time : best.rounds_s) CHECK((std::isnan(time) || time == Approx(0.05).epsilon(0.001)));
  CHECK(valid(best.rounds_s) < best.rounds_s.size());
  CHECK(best.times->p90.value == Approx(0.05).epsilon(0.001));
}

TEST_CASE("a clock that boosts for a moment now and then does not make the rest contended") {
  FakeHost host;
  int spent = 0;
  host.slowness = [&](double) { return ++spent % 97 == 0 ? 0.94 : 1.0; };  // as many as readings on a Zen 5 have
  const auto backend = std::make_shared<FakeBackend>(
      host, std::vector<FakePlan>{{.name = "a", .seconds = 0.02}, {.name = "b", .seconds = 0.022}});
  const auto rows = run(host, {backend});
  const auto& best = row(rows, "a,threads=1");
  CHECK_FALSE(best.contended);
  CHECK(valid(best.rounds_s) == best.rounds_s.size());
  CHECK(best.times->median.value == Approx(0.02));
}

TEST_CASE("a clock that wanders by some percent is not contention, and tells how uncertain bounds are") {
  FakeHost host;
  // Two seconds at full speed, two at 4 % less: half the range is 2 %.
  host.slowness = [](double now) { return std::fmod(now, 4) < 2 ? 1.0 : 1.04; };
  const auto backend = std::make_shared<FakeBackend>(
      host, std::vector<FakePlan>{{.name = "a", .seconds = 0.02}, {.name = "b", .seconds = 0.022}});
  MeasureOptions options;
  options.budget = {120};
  const auto rows = run(host, {backend}, options);
  const auto& best = row(rows, "a,threads=1");
  CHECK(valid(best.rounds_s) == best.rounds_s.size());
  CHECK(best.wander.value() == Approx(0.02).epsilon(0.1));
}

TEST_CASE("a run that begins in a slow phase is checked against later readings") {
  FakeHost host;
  host.slowness = [](double now) { return now < 1003 ? 1.5 : 1.0; };
  const auto backend = std::make_shared<FakeBackend>(
      host, std::vector<FakePlan>{{.name = "a", .seconds = 0.05}, {.name = "b", .seconds = 0.055}});
  const auto rows = run(host, {backend});
  CHECK(row(rows, "a,threads=1").times->p90.value == Approx(0.05).epsilon(0.001));
  CHECK(row(rows, "b,threads=1").times->p90.value == Approx(0.055).epsilon(0.001));
}

TEST_CASE("a row is contended when no sample was quiet") {
  // The check and the first reading meet a quiet machine, nothing after them does. A clock that depends on the kind of
  // work may explain a part of it, but not half the speed.
  for (const double factor : {1.4, 2.0}) {
    FakeHost host;
    int call = 0;
    host.slowness = [&](double) { return ++call <= 2 ? 1.0 : factor; };
    const auto backend = std::make_shared<FakeBackend>(host, std::vector<FakePlan>{{.name = "a", .seconds = 0.01}});
    MeasureOptions options;
    options.budget = {5};
    const auto rows = run(host, {backend}, options);
    const auto& only = row(rows, "a,threads=1");
    CHECK(only.contended == (factor > 1.5));
    CHECK((only.samples == 0) == only.contended);
    CHECK((valid(only.rounds_s) == 0) == only.contended);
    CHECK(only.times->p10.value == Approx(factor * 0.01));
    CHECK(only.at_least.value_or(Seconds{}).value == Approx(only.contended ? 0.01 : 0.0));
  }
}

TEST_CASE("a session that is slow from end to end is found out by a peak that is known") {
  for (const bool known : {false, true}) {
    FakeHost host;
    host.slowness = [](double) { return 2.0; };
    const auto backend = std::make_shared<FakeBackend>(host, std::vector<FakePlan>{{.name = "a", .seconds = 0.01}});
    MeasureOptions options;
    options.budget = {5};
    if (known)
      options.ceilings = {{{.quantity = CeilingQuantity::peak(DataType::f32),
                            .algorithm = "fma:avx2,threads=1",
                            .threads = 1,
                            .value = 1e9}}};
    CHECK(row(run(host, {backend}, options), "a,threads=1").contended == known);
  }
}

TEST_CASE("a wrong result is excluded with its difference") {
  FakeHost host;
  const auto backend = std::make_shared<FakeBackend>(
      host,
      std::vector<FakePlan>{{.name = "wrong", .seconds = 1e-4, .wrong = true}, {.name = "right", .seconds = 1e-3}});
  const auto rows = run(host, {backend});
  REQUIRE_FALSE(row(rows, "wrong,threads=1").measured());
  CHECK_THAT(row(rows, "wrong,threads=1").reason, Catch::Contains("wrong result"));
  CHECK(row(rows, "wrong,threads=1").difference.value() > 0.1);
  CHECK(row(rows, "wrong,threads=1").rounds_s.empty());
  CHECK_FALSE(row(rows, "right,threads=1").rounds_s.empty());
}

TEST_CASE("what a candidate left in the output does not pass for another's result") {
  FakeHost host;
  const auto backend = std::make_shared<FakeBackend>(
      host, std::vector<FakePlan>{{.name = "right"}, {.name = "idle", .seconds = 1e-5, .leaves_output = true}});
  const auto rows = run(host, {backend});
  CHECK_FALSE(row(rows, "idle,threads=1").measured());
}

TEST_CASE("an exception costs its row and nothing else") {
  for (const int at : {1, 2, 12, 60}) {  // in the check, in the first sample, in a visit, in a round
    FakeHost host;
    const auto backend = std::make_shared<FakeBackend>(
        host, std::vector<FakePlan>{{.name = "fails", .seconds = 1e-3, .fails_at_call = at},
                                    {.name = "works", .seconds = 1.1e-3}});
    const auto rows = run(host, {backend});
    REQUIRE_FALSE(row(rows, "fails,threads=1").measured());
    CHECK(row(rows, "fails,threads=1").reason == "failed: out of luck");
    CHECK(row(rows, "works,threads=1").measured());
    CHECK(row(rows, "works,threads=1").samples >= 3);
  }
}

TEST_CASE("a plan that needs more memory than there is costs its row") {
  FakeHost host;
  host.memory = {1e6};
  const auto backend = std::make_shared<FakeBackend>(
      host, std::vector<FakePlan>{{.name = "large", .workspace = 2'000'000}, {.name = "small"}});
  const auto rows = run(host, {backend});
  REQUIRE_FALSE(row(rows, "large,threads=1").measured());
  CHECK_THAT(row(rows, "large,threads=1").reason, Catch::Contains("memory"));
  CHECK_FALSE(row(rows, "small,threads=1").rounds_s.empty());
}

TEST_CASE("an operator that a backend lacks is a row with its reason") {
  FakeHost host;
  const auto backend = std::make_shared<FakeBackend>(host, std::vector<FakePlan>{{.name = "a"}});
  const auto empty = std::make_shared<FakeBackend>(host, std::vector<FakePlan>{}, "empty");
  const auto rows = run(host, {empty, backend}, {}, 2);
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].backend == "empty");
  CHECK(rows[0].reason == "no Unary in backend empty");
  CHECK(rows[0].status == RowStatus::unsupported);
}

TEST_CASE("a backend that crashes while it makes plans has failed, which is not to have none") {
  FakeHost host;
  const auto backend = std::make_shared<FakeBackend>(host, std::vector<FakePlan>{{.name = "a"}});
  const std::string making = "fake/none,threads=1/hot/" + LayerSignature(relu(64)).text();
  const auto rows = run(host, {backend}, {.crashing_plans = {{making, "crashed: Segmentation fault"}}});
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].reason == "crashed: Segmentation fault");
  CHECK(rows[0].status == RowStatus::ended);
}

TEST_CASE("rounds are aligned over all rows of a run") {
  FakeHost host;
  host.slowness = [](double now) { return std::fmod(now, 1.0) > 0.9 ? 2.0 : 1.0; };
  const auto backend =
      std::make_shared<FakeBackend>(host, std::vector<FakePlan>{{.name = "a", .seconds = 2e-3, .speedup = 1.4}});
  const auto rows =
      run(host, {backend}, {}, 2, {{.layer = relu(64)}, {.layer = relu(128)}, {.layer = relu(256), .weight = 3}});
  std::vector<std::size_t> lengths;
  for (const auto& m : rows)
    if (!m.rounds_s.empty()) lengths.push_back(m.rounds_s.size());
  REQUIRE(lengths.size() == 6);
  CHECK(std::all_of(lengths.begin(), lengths.end(), [&](std::size_t length) { return length == lengths.front(); }));
  CHECK(lengths.front() >= 40);
}

TEST_CASE("the budget is kept, and a slow model gets fewer rounds") {
  for (const double seconds : {0.02, 0.5, 4.0}) {
    FakeHost host;
    const double start = host.time;
    const auto backend = std::make_shared<FakeBackend>(
        host, std::vector<FakePlan>{{.name = "a", .seconds = seconds}, {.name = "b", .seconds = 1.15 * seconds}});
    MeasureOptions options;
    options.budget = {30};
    const auto rows = run(host, {backend}, options);
    CHECK(host.time - start <= 30 + 4 * seconds);  // work that was running at the end is finished
    const auto& best = row(rows, "a,threads=1");
    CHECK(best.times->p10.value == Approx(seconds));
    CHECK(best.noisy == (seconds > 1));
    CHECK((best.rounds_s.size() < 40) == (seconds > 1));
  }
}

TEST_CASE("selection leaves time for eight rounds, however many plans there are to try") {
  FakeHost host;
  std::vector<FakePlan> plans;
  for (int i = 0; i < 8; ++i) plans.push_back({.name = std::string(1, static_cast<char>('a' + i)), .seconds = 0.05});
  std::vector<Wanted> layers;
  for (int i = 0; i < 30; ++i) layers.push_back({.layer = relu(64 + i)});
  MeasureOptions options;
  options.budget = {40};
  const auto rows = run(host, {std::make_shared<FakeBackend>(host, plans)}, options, 1, layers);
  std::map<std::string, std::size_t> rounds;
  for (const auto& m : rows) rounds[m.signature] = std::max(rounds[m.signature], m.rounds_s.size());
  REQUIRE(rounds.size() == layers.size());
  for (const auto& [signature, count] : rounds) CHECK(count >= 8);
}

TEST_CASE("where time runs out, the many plans of one library do not keep those of another from being tried") {
  FakeHost host;
  std::vector<FakePlan> plans;
  for (const char* name : {"m0", "m1", "m2", "m3", "m4", "m5"}) plans.push_back({.name = name, .seconds = 0.1});
  const auto many = std::make_shared<FakeBackend>(host, plans, "many");
  const auto few = std::make_shared<FakeBackend>(host, std::vector<FakePlan>{{.name = "only", .seconds = 0.06}}, "few");
  const auto rows = run(host, {many, few}, {.budget = {0.7}});
  CHECK(many->calls("m5") == 0);
  CHECK(row(rows, "m5,threads=1").status == RowStatus::out_of_time);
  CHECK(row(rows, "only,threads=1").times->p10.value == Approx(0.06));
}

TEST_CASE("what time is left for last is a plan that its library calls by the name of a last resort") {
  FakeHost host;
  const auto backend = std::make_shared<FakeBackend>(
      host, std::vector<FakePlan>{{.name = "simple:any", .seconds = 0.1}, {.name = "jit", .seconds = 0.1}});
  const auto rows = run(host, {backend}, {.budget = {1e-6}});
  CHECK(row(rows, "jit,threads=1").measured());
  REQUIRE_FALSE(row(rows, "simple:any,threads=1").measured());
  CHECK_FALSE(was_tried(row(rows, "simple:any,threads=1").status));
  CHECK(row(rows, "simple:any,threads=1").status != RowStatus::out_of_time);  // its layer is not doubtful because of it
}

TEST_CASE("a cancelled session returns what it has") {
  for (const double after : {0.5, 2.0, 6.0}) {
    FakeHost host;
    std::stop_source canceled;
    const double start = host.time;
    host.slowness = [&](double now) {
      if (now - start > after) canceled.request_stop();
      return 1.0;
    };
    const auto backend = std::make_shared<FakeBackend>(
        host, std::vector<FakePlan>{{.name = "a", .seconds = 0.1}, {.name = "b", .seconds = 0.11}});
    MeasureOptions options;
    options.stop = canceled.get_token();
    const auto rows = run(host, {backend}, options, 1, {{.layer = relu(64)}, {.layer = relu(128)}});
    CHECK(host.time - start < after + 1.5);
    REQUIRE_FALSE(rows.empty());
    CHECK(std::any_of(rows.begin(), rows.end(), [](const Measurement& m) { return m.times.has_value(); }));
  }
}

TEST_CASE("a known layer is not selected again, only timed in rounds") {
  FakeHost host;
  const auto backend =
      std::make_shared<FakeBackend>(host, std::vector<FakePlan>{{.name = "a"}, {.name = "b", .seconds = 2e-3}});
  Wanted wanted{.layer = relu(64)};
  wanted.known = {{.backend = "fake",
                   .algorithm = "b,threads=1",
                   .samples = 40,
                   .times = MeasuredTimes{.p10 = {2e-3}, .median = {2e-3}}}};
  const auto rows = run(host, {backend}, {}, 1, {wanted});
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].algorithm == "b,threads=1");
  CHECK(rows[0].rounds_s.size() >= 40);
  CHECK(backend->calls("a") == 0);

  wanted.known[0].algorithm = "gone,threads=1";  // then the layer is selected again
  CHECK(run(host, {backend}, {}, 1, {wanted}).size() == 2);
}

TEST_CASE("only accepted rows are measured") {
  FakeHost host;
  const auto backend = std::make_shared<FakeBackend>(host, std::vector<FakePlan>{{.name = "a"}, {.name = "b"}});
  MeasureOptions options;
  options.accept = [](std::string_view name) { return name.starts_with("fake/b,"); };
  const auto rows = run(host, {backend}, options);
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].algorithm == "b,threads=1");
}

TEST_CASE("progress tells phases in order and never runs past its end") {
  FakeHost host;
  const auto backend =
      std::make_shared<FakeBackend>(host, std::vector<FakePlan>{{.name = "a"}, {.name = "b", .seconds = 1.05e-3}});
  MeasureOptions options;
  std::vector<std::string> phases;
  options.progress = [&](const Progress& progress) {
    CHECK(progress.done <= progress.total);
    if (phases.empty() || phases.back() != progress.phase) phases.emplace_back(progress.phase);
  };
  run(host, {backend}, options);
  CHECK(phases == std::vector<std::string>{"select", "rounds"});
}
