// SPDX-License-Identifier: Apache-2.0
// Selection where a single call takes a large share of the budget, on a fake host.
#include "measure/candidate_order.hpp"
#include "measure/tuning_session.hpp"
#include "support/catch.hpp"
#include "support/fake_host.hpp"
#include <benanza/measure/measure.hpp>
#include <benanza/model/layer_signature.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace benanza;
using namespace benanza::measure;
using namespace benanza::sampling;
using test::FakeBackend;
using test::FakeHost;
using test::FakePlan;

std::vector<Measurement> run(FakeHost& host, const std::shared_ptr<FakeBackend>& backend, MeasureOptions options,
                             int threads = 1) {
  const std::vector<std::shared_ptr<const Backend>> backends{backend};
  const std::vector<Wanted> wanted{{.layer = op::Unary{.fn = ElementwiseFn::relu, .x = {64}}}};
  return run_tuning_session(host, wanted, backends, options, threads);
}

const Measurement* find(const std::vector<Measurement>& rows, const std::string& algorithm,
                        CacheState cache = CacheState::hot) {
  const auto found = std::find_if(rows.begin(), rows.end(),
                                  [&](const Measurement& m) { return m.algorithm == algorithm && m.cache == cache; });
  return found == rows.end() ? nullptr : &*found;
}

/// The convolution with an epilogue, and a candidate for each algorithm with the time of its only call; 0 if it was not
/// tried.
TuningTask convolution(Epilogue post, std::vector<std::pair<std::string, double>> plans) {
  op::Conv conv{.x = {1, 8, 4, 4}, .w = {8, 8, 1, 1}};
  conv.post = post;
  TuningTask task{.layer = conv, .signature = LayerSignature(conv).text()};
  for (const auto& [algorithm, seconds] : plans) {
    Candidate candidate{.plan = std::make_shared<LazyPlan>(PlanDraft{}, Seconds{})};
    candidate.row = {.backend = "fake", .algorithm = algorithm, .signature = task.signature, .threads = 1};
    candidate.row.times = MeasuredTimes{.p10 = {seconds}};
    task.candidates.push_back(std::move(candidate));
  }
  return task;
}

}  // namespace

// With two threads, the first plan is checked and then sampled. Thereafter, calls are known to be long: with one
// thread, the checked call is the sample. Nothing else fits.
TEST_CASE("the checked call of a long plan is its first sample") {
  for (const double seconds : {0.4, 0.06}) {
    FakeHost host;
    const auto backend = std::make_shared<FakeBackend>(host, std::vector<FakePlan>{{.name = "a", .seconds = seconds}});
    const auto rows = run(host, backend, {.caches = {CacheState::hot}, .budget = {1e-6}}, 2);
    REQUIRE(find(rows, "a,threads=1") != nullptr);
    CHECK(find(rows, "a,threads=1")->times->p10.value == Approx(seconds));
    CHECK(find(rows, "a,threads=2")->times->p10.value == Approx(seconds / 2));
    CHECK(backend->calls("a") == (seconds > 0.1 ? 2 + 1 : 2 + 2));
  }
}

// The delayed call of "best" is within 25 % of the best so far, 0.2 s, so nothing repeats it at once. The third plan
// shows that it would be clearly slower.
TEST_CASE("a checked call that a neighbour delays costs no plan its race, even if a later plan is much faster") {
  FakeHost host;
  bool delayed = false;
  const auto backend = std::make_shared<FakeBackend>(host, std::vector<FakePlan>{{.name = "first", .seconds = 0.2},
                                                                                 {.name = "best", .seconds = 0.1},
                                                                                 {.name = "third", .seconds = 0.11}});
  host.slowness = [&](double) {
    const bool now = !delayed && backend->calls("best") == 1;
    delayed = delayed || now;
    return now ? 2.4 : 1.0;
  };
  const auto rows = run(host, backend, {.caches = {CacheState::hot}, .budget = {60}});
  CHECK(delayed);
  REQUIRE(find(rows, "best,threads=1") != nullptr);
  CHECK(find(rows, "best,threads=1")->times->p10.value == Approx(0.1));
  CHECK(find(rows, "best,threads=1")->rounds_s.size() >= 40);
}

TEST_CASE("a long plan that is 1.5 times slower with everything in the caches is not tried in colder states") {
  for (const double seconds : {0.2, 0.03, 0.002}) {
    FakeHost host;
    const auto backend =
        std::make_shared<FakeBackend>(host, std::vector<FakePlan>{{.name = "fast", .seconds = seconds},
                                                                  {.name = "slow", .seconds = 1.2 * seconds},
                                                                  {.name = "slower", .seconds = 1.5 * seconds}});
    const auto rows = run(host, backend, {.caches = {CacheState::hot, CacheState::cold}, .budget = {120}});
    const auto was_measured = [&](const char* plan) {
      const Measurement* cold = find(rows, std::string(plan) + ",threads=1", CacheState::cold);
      return cold != nullptr && cold->measured();
    };
    CHECK(was_measured("fast"));
    CHECK(was_measured("slow"));
    CHECK(was_measured("slower") == (seconds < 0.02));
  }
}

TEST_CASE("each session tries one more plan, however short its budget is") {
  FakeHost host;
  const std::vector<std::string> names{"p0", "p1", "p2", "p3"};
  std::vector<FakePlan> plans;
  for (const auto& name : names)
    plans.push_back({.name = name, .seconds = 0.5 - 0.02 * static_cast<double>(plans.size())});
  const auto backend = std::make_shared<FakeBackend>(host, plans);
  auto earlier = std::make_shared<Run>();
  for (std::size_t session = 0; session < names.size(); ++session) {
    const auto next = std::make_shared<Run>();
    next->rows = run(host, backend, {.caches = {CacheState::hot}, .budget = {1e-6}, .earlier = earlier});
    for (std::size_t i = 0; i < names.size(); ++i) {
      INFO("session " << session << ", " << names[i]);
      const Measurement* row = find(next->rows, names[i] + ",threads=1");
      REQUIRE(row != nullptr);
      CHECK(row->measured() == (i <= session));
    }
    earlier = next;
  }
}

// The plans of the convolution alone took 3, 1, 9 and 1.1 s; "new" was not tried. With a ReLU, those within 25 % of the
// fastest come first, and those that were clearly slower last.
TEST_CASE("plans that were fast for a convolution are tried first for the same convolution with a ReLU") {
  FakeHost host;
  Sampler sampler(host, {1e6});
  const TuningTask bare = convolution({}, {{"a", 3}, {"b", 1}, {"c", 9}, {"d", 1.1}});
  RelatedTimes related;
  related.add(bare, sampler);
  const auto order = [&](const Epilogue& post) {
    TuningTask task = convolution(post, {{"a", 0}, {"new", 0}, {"c", 0}, {"d", 0}, {"b", 0}});
    std::string names;
    for (const Candidate* candidate : best_first(task, CacheState::hot, 1, false, sampler, related))
      names += candidate->row.algorithm + " ";
    return names;
  };
  CHECK(order({bias, ElementwiseFn::relu}) == "b d new a c ");
  CHECK(order({ElementwiseFn::relu}) == "b d new a c ");
}

TEST_CASE("the first plan whose name says Winograd is tried first, and its others in turn") {
  FakeHost host;
  Sampler sampler(host, {1e6});
  TuningTask task = convolution({}, {{"a", 0}, {"winograd:4x4", 0}, {"winograd:2x2", 0}, {"b", 0}});
  std::vector<std::string> names;
  for (const Candidate* candidate : best_first(task, CacheState::hot, 1, false, sampler, {}))
    names.push_back(candidate->row.algorithm);
  CHECK(names == std::vector<std::string>{"winograd:4x4", "a", "winograd:2x2", "b"});
}
