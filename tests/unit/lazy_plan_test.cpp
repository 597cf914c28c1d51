// SPDX-License-Identifier: Apache-2.0
// Plans that take long to build: the tuner builds only those that it needs, one at a time.
#include "measure/tuning_session.hpp"
#include "support/catch.hpp"
#include "support/fake_host.hpp"
#include <benanza/measure/measure.hpp>
#include <benanza/model/layer_signature.hpp>

#include <algorithm>
#include <map>

namespace {

using namespace benanza;
using namespace benanza::measure;
using test::FakeBackend;
using test::FakeHost;
using test::FakePlan;

Layer relu() { return op::Unary{.fn = ElementwiseFn::relu, .x = {64}}; }

/// Lists the plans of a fake backend by name; building a plan takes `build` seconds.
class SlowToBuild final : public Backend {
 public:
  SlowToBuild(FakeHost& host, std::vector<FakePlan> plans, double build)
      : host_(host), inner_(host, std::move(plans)), build_(build) {}

  std::string refused{};  ///< the plan that cannot be built
  [[nodiscard]] int built(const std::string& algorithm) const { return built_[algorithm]; }

  [[nodiscard]] std::string_view name() const override { return "slow"; }
  [[nodiscard]] std::string version() const override { return "1"; }
  [[nodiscard]] std::variant<Plans, Unsupported> plans(const Layer& layer, int threads) const override {
    return build_all(drafts(layer, threads));
  }
  [[nodiscard]] std::variant<PlanDrafts, Unsupported> drafts(const Layer& layer, int threads) const override {
    auto drafts = std::get<PlanDrafts>(inner_.drafts(layer, threads));
    for (auto& draft : drafts)
      draft.build = [this, name = draft.algorithm,
                     build = draft.build]() -> std::variant<std::unique_ptr<Plan>, Unsupported> {
        host_.spend(build_);
        ++built_[name];
        if (name == refused) return Unsupported{"no such kernel"};
        return build();
      };
    return drafts;
  }

 private:
  FakeHost& host_;
  FakeBackend inner_;
  double build_;
  mutable std::map<std::string, int> built_{};
};

std::vector<Measurement> run(FakeHost& host, std::shared_ptr<const Backend> backend, MeasureOptions options,
                             std::vector<Measurement> known = {}) {
  const std::vector<Wanted> wanted{{.layer = relu(), .known = known}};
  const std::vector<std::shared_ptr<const Backend>> backends{std::move(backend)};
  return run_tuning_session(host, wanted, backends, options, 1);
}

const Measurement& row(const std::vector<Measurement>& rows, const std::string& algorithm) {
  const auto found =
      std::find_if(rows.begin(), rows.end(), [&](const Measurement& m) { return m.algorithm == algorithm; });
  REQUIRE(found != rows.end());
  return *found;
}

std::vector<FakePlan> six() {
  std::vector<FakePlan> plans;
  for (const char* name : {"p0", "p1", "p2", "p3", "p4", "p5"}) plans.push_back({.name = name});
  return plans;
}

}  // namespace

TEST_CASE("plans are built one at a time until the layer's time is over; the others are not tried") {
  FakeHost host;
  const auto backend = std::make_shared<SlowToBuild>(host, six(), 0.2);
  const auto rows = run(host, backend, {.budget = {0.7}});
  REQUIRE(rows.size() == 6);
  CHECK(backend->built("p0,threads=1") == 1);
  CHECK(row(rows, "p0,threads=1").measured());
  CHECK(row(rows, "p0,threads=1").preparation.value().value >= 0.2);
  CHECK(backend->built("p5,threads=1") == 0);
  CHECK(row(rows, "p5,threads=1").status == RowStatus::out_of_time);
}

TEST_CASE("the next session builds what one session had no time to build") {
  FakeHost host;
  auto earlier = std::make_shared<Run>();
  earlier->rows = run(host, std::make_shared<SlowToBuild>(host, six(), 0.2), {.budget = {0.3}});
  REQUIRE_FALSE(was_tried(row(earlier->rows, "p5,threads=1").status));
  FakeHost other;
  const auto again = std::make_shared<SlowToBuild>(other, six(), 0.2);
  const auto rows = run(other, again, {.budget = {30}, .earlier = earlier});
  CHECK(again->built("p5,threads=1") == 1);
  CHECK(row(rows, "p5,threads=1").measured());
}

TEST_CASE("only the plan that its row names is built for a known layer") {
  FakeHost host;
  const auto backend = std::make_shared<SlowToBuild>(host, six(), 0.2);
  const std::vector<Measurement> known{{.backend = "slow",
                                        .algorithm = "p3,threads=1",
                                        .signature = LayerSignature(relu()).text(),
                                        .samples = 40,
                                        .times = MeasuredTimes{.p10 = {1e-3}, .median = {1e-3}}}};
  const auto rows = run(host, backend, {.budget = {10}}, known);
  CHECK(row(rows, "p3,threads=1").rounds_s.size() >= 40);
  for (const char* name : {"p0", "p1", "p2", "p3", "p4", "p5"})
    CHECK(backend->built(std::string(name) + ",threads=1") == (name == std::string("p3") ? 1 : 0));
}

TEST_CASE("a plan that cannot be built is a row with the reason, tried once for all cache states") {
  FakeHost host;
  const auto backend = std::make_shared<SlowToBuild>(host, six(), 1e-3);
  backend->refused = "p0,threads=1";
  const auto rows = run(host, backend, {.caches = {CacheState::hot, CacheState::cold}, .budget = {30}});
  CHECK(backend->built("p0,threads=1") == 1);
  CHECK(backend->built("p1,threads=1") == 1);
  for (const auto& each : rows)
    if (each.algorithm == "p0,threads=1") {
      CHECK(each.status == RowStatus::unsupported);  // not a failure: a bound is complete without it
      CHECK(each.reason == "not offered: no such kernel");
    } else {
      CHECK(each.measured());
    }
}
