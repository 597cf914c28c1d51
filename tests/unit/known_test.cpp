// SPDX-License-Identifier: Apache-2.0
// When the database has the rows that a layer needs: rows of sessions on a fake host, and rows made by hand.
#include "measure/known.hpp"

#include "measure/tuning_session.hpp"
#include "support/catch.hpp"
#include "support/fake_host.hpp"
#include <benanza/measure/measure.hpp>

#include <memory>
#include <string>
#include <vector>

namespace {

using namespace benanza;
using namespace benanza::measure;
using test::FakeBackend;
using test::FakeHost;

Layer relu() { return op::Unary{.fn = ElementwiseFn::relu, .x = {64}}; }

std::vector<Measurement> run(FakeHost& host, const std::shared_ptr<const FakeBackend>& backend,
                             const MeasureOptions& options) {
  const std::vector<Wanted> wanted{{.layer = relu()}};
  const std::vector<std::shared_ptr<const Backend>> backends{backend};
  return run_tuning_session(host, wanted, backends, options, 1);
}

Question question(bool certain) {
  return {
      .backends = {"fake"}, .caches = {CacheState::hot, CacheState::cold_weights}, .threads = 1, .certain = certain};
}

Measurement timed() {
  return {.backend = "fake",
          .algorithm = "a,threads=1",
          .samples = 40,
          .times = MeasuredTimes{.p10 = {1e-3}, .median = {1e-3}}};
}

}  // namespace

TEST_CASE(
    "a candidate that the budget left untried is tried by a session that asks for more, and its layer is known to "
    "others") {
  // The faster plan comes after the one for which there was time.
  const std::vector<test::FakePlan> plans{{.name = "close", .seconds = 1.1e-3}, {.name = "fast"}};
  FakeHost host;
  const auto backend = std::make_shared<FakeBackend>(host, plans);
  auto earlier = std::make_shared<Run>();
  earlier->rows = run(host, backend, {.budget = {1e-6}});
  REQUIRE(earlier->rows.size() == 2);
  CHECK(backend->calls("fast") == 0);
  CHECK(is_known(relu(), earlier->rows, question(false)));
  CHECK_FALSE(is_known(relu(), earlier->rows, question(true)));

  FakeHost other;
  const auto again = std::make_shared<FakeBackend>(other, plans);
  const auto rows = run(other, again, {.earlier = earlier});
  REQUIRE(rows.size() == 2);
  CHECK(again->calls("fast") > 0);
  CHECK(rows[1].measured());
  CHECK(is_known(relu(), rows, question(true)));
}

TEST_CASE("where an earlier session ran out of time, the next one tries what it left, and the best it found") {
  FakeHost host;
  const std::vector<test::FakePlan> tried{{.name = "a", .seconds = 0.12}, {.name = "b", .seconds = 0.1}};
  auto earlier = std::make_shared<Run>();
  earlier->rows = run(host, std::make_shared<FakeBackend>(host, tried), {});
  FakeHost other;
  const auto again = std::make_shared<FakeBackend>(
      other, std::vector<test::FakePlan>{tried[0], tried[1], {.name = "new", .seconds = 0.09}});
  const auto rows = run(other, again, {.budget = {0.4}, .earlier = earlier});
  CHECK(again->calls("b") > 0);
  CHECK(again->calls("new") > 0);
  CHECK(again->calls("a") == 0);
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].times->p10.value == Approx(0.12));  // unchanged
}

TEST_CASE("a noisy row does for all but those who ask for more") {
  std::vector<Measurement> rows{timed()};
  CHECK(is_known(relu(), rows, question(true)));
  rows[0].noisy = true;
  CHECK(is_known(relu(), rows, question(false)));
  CHECK_FALSE(is_known(relu(), rows, question(true)));
  rows.push_back(timed());
  rows[0].threads = 2;  // more than the question asks for
  CHECK(is_known(relu(), rows, question(true)));
}

TEST_CASE("a layer with a row whose values cannot be true is not known") {
  std::vector<Measurement> rows{timed(), timed()};
  rows[1].algorithm = "b,threads=1";
  CHECK(is_known(relu(), rows, question(false)));
  rows[1].exclude(RowStatus::damaged, "has a p10 that is not from 1 ps to 1 year");
  CHECK_FALSE(is_known(relu(), rows, question(false)));
}

TEST_CASE("a layer whose plans were tried with fewer threads is not known") {
  Question two = question(false);
  two.threads = 2;
  std::vector<Measurement> rows{timed(),
                                {.backend = "fake", .algorithm = "none,threads=2", .has_plan = false, .threads = 2}};
  CHECK_FALSE(is_known(relu(), rows, two));
  CHECK(is_known(relu(), rows, question(false)));
  // It is enough that one plan was tried, even without a time.
  rows.push_back({.backend = "fake", .algorithm = "a,threads=2", .threads = 2});
  rows.back().exclude(RowStatus::out_of_time);
  CHECK(is_known(relu(), rows, two));
}

TEST_CASE("the fastest known row is timed again, contended or not, if any was quiet") {
  Measurement fast = timed(), close = timed();
  fast.algorithm = "fast,threads=1";
  fast.samples = 0;
  fast.contended = true;
  close.algorithm = "close,threads=1";
  close.times = MeasuredTimes{.p10 = {1.1e-3}, .median = {1.1e-3}};
  const auto calls_of_close = [&](const std::vector<Measurement>& known) {
    FakeHost host;
    const auto backend = std::make_shared<FakeBackend>(
        host, std::vector<test::FakePlan>{{.name = "close", .seconds = 1.1e-3}, {.name = "fast"}});
    const std::vector<std::shared_ptr<const Backend>> backends{backend};
    const std::vector<Wanted> wanted{{.layer = relu(), .known = known}};
    for (const auto& row : run_tuning_session(host, wanted, backends, {}, 1))
      CHECK(row.rounds_s.empty() == (row.algorithm != "fast,threads=1"));
    return backend->calls("close");
  };
  CHECK(calls_of_close({close, fast}) == 0);
  CHECK(calls_of_close({fast}) > 0);  // selected again
}

TEST_CASE("a layer is known when every backend was asked, in each cache state that it can be in") {
  const Layer product = op::MatMul{.a = {8, 8}, .b = {8, 8}, .b_constant = true};
  CHECK_FALSE(is_known(relu(), {}, question(false)));
  std::vector<Measurement> rows{timed()};
  CHECK(is_known(relu(), rows, question(false)));         // it has no weights that could be cold
  CHECK_FALSE(is_known(product, rows, question(false)));  // the product has weights
  rows.push_back(timed());
  rows[1].cache = CacheState::cold_weights;
  CHECK(is_known(product, rows, question(false)));
  Question two = question(false);
  two.backends.emplace_back("other");
  CHECK_FALSE(is_known(product, rows, two));
  rows.push_back({.backend = "other", .status = RowStatus::unsupported, .reason = "no MatMul in backend other"});
  CHECK(is_known(product, rows, two));
  for (auto& row : rows) {
    row.algorithm = "none,threads=1";
    row.has_plan = false;
    row.exclude_for("no MatMul in any backend");
  }
  CHECK(is_known(product, rows, two));  // no backend can run it
  rows[0].algorithm = "a,threads=1";
  rows[0].has_plan = true;
  rows[0].exclude_for("failed: out of memory");
  CHECK(is_known(product, rows, two));
  two.certain = true;
  CHECK_FALSE(is_known(product, rows, two));  // it may run next time
}

TEST_CASE("a layer without weights is hot where only the weights' absence from the caches was asked for") {
  const std::vector<CacheState> cold{CacheState::cold_weights}, both{CacheState::cold_weights, CacheState::hot};
  const Layer with_weights = op::MatMul{.a = {8, 8}, .b = {8, 8}, .b_constant = true};
  CHECK(states_of(relu(), cold) == std::vector{CacheState::hot});
  CHECK(states_of(relu(), both) == std::vector{CacheState::hot});
  CHECK(states_of(with_weights, cold) == std::vector{CacheState::cold_weights});
  Question cold_only = question(false);
  cold_only.caches = cold;
  CHECK(is_known(relu(), std::vector{timed()}, cold_only));
  CHECK_FALSE(is_known(with_weights, std::vector{timed()}, cold_only));
}
