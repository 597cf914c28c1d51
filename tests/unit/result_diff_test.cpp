// SPDX-License-Identifier: Apache-2.0
// Two sets of results of a few rows each; every verdict by hand.
#include "support/catch.hpp"
#include <benanza/bounds/model_diff.hpp>
#include <benanza/model/layer_signature.hpp>

#include <cmath>
#include <utility>
#include <vector>

namespace {

using namespace benanza;

const std::string relu = "Unary/f32/x=4096", big_relu = "Unary/f32/x=65536", sum = "Binary/f32/a=16/b=16";

Measurement row(const std::string& signature, double seconds, const std::string& algorithm = "a,threads=1") {
  return {.backend = "lib",
          .algorithm = algorithm,
          .signature = signature,
          .samples = 8,
          .times = MeasuredTimes{.p10 = {seconds}, .median = {seconds}, .p90 = {seconds}},
          .rounds_s = std::vector<double>(8, seconds)};
}

Run run_of(std::vector<Measurement> rows) {
  return {
      .machine = {.device = "fake", .isa = "none", .cores = 2}, .backends = {{"lib", "1"}}, .rows = std::move(rows)};
}

ResultDatabase of(std::vector<Measurement> rows) {
  ResultDatabase database;
  database.add(run_of(std::move(rows)));
  return database;
}

Analysis analysis_of(double bound, double median, double uncertainty) {
  Analysis result{.model = "m"};
  result[RungName::library] = {.bound = Seconds{bound}, .median = Seconds{median}, .uncertainty = uncertainty};
  result[RungName::model_floor] = {.bound = Seconds{bound / 2}};
  return result;
}

}  // namespace

TEST_CASE("layers are compared by their fastest plans, the greatest change first") {
  // relu: 10 us -> min(13, 12) us: + 20 %. big_relu: 100 -> 90 us: - 10 %. sum: 1 us -> 1.02 us: + 2 %, within 3 %.
  const auto changes =
      diff_layers(of({row(relu, 11e-6), row(relu, 10e-6, "b,threads=2"), row(big_relu, 100e-6), row(sum, 1e-6)}),
                  of({row(relu, 13e-6), row(relu, 12e-6, "c,threads=1"), row(big_relu, 90e-6), row(sum, 1.02e-6)}));
  REQUIRE(changes.size() == 3);
  CHECK(changes[0].signature == relu);
  CHECK(changes[0].comparison.verdict == Verdict::slower);
  CHECK(changes[0].comparison.change.value() == Approx(0.2));
  CHECK(changes[0].before->algorithm == "b,threads=2");
  CHECK(changes[0].after->algorithm == "c,threads=1");
  CHECK(changes[1].signature == big_relu);
  CHECK(changes[1].comparison.verdict == Verdict::faster);
  CHECK(changes[2].comparison.verdict == Verdict::same);
}

TEST_CASE("kernels that only one side launches are told apart by name and geometry, not by time") {
  const auto kernel = [](const std::string& name, std::int64_t blocks, double seconds) {
    return KernelLaunch{.name = name, .grid = {blocks, 1, 1}, .block = {128, 1, 1}, .time = {seconds}};
  };
  Measurement old_row = row(relu, 10e-6), new_row = row(relu, 10e-6), none = row(sum, 1e-6), some = none;
  old_row.kernel_launches = {kernel("pad", 8, 1e-6), kernel("pad", 8, 1e-6), kernel("conv", 64, 8e-6)};
  new_row.kernel_launches = {kernel("pad", 8, 2e-6), kernel("conv", 32, 8e-6)};
  some.kernel_launches = {kernel("add", 1, 1e-6)};
  const auto changes = diff_layers(of({old_row, none}), of({new_row, some}));
  REQUIRE(changes.size() == 2);
  const auto& with = changes[0].signature == relu ? changes[0] : changes[1];
  const auto& without = changes[0].signature == relu ? changes[1] : changes[0];
  CHECK(with.comparison.verdict == Verdict::same);
  REQUIRE(with.kernels);
  REQUIRE(with.kernels->gone.size() == 2);  // one of two pads, and the convolution with the other grid
  CHECK(with.kernels->gone[0].name == "pad");
  CHECK(with.kernels->gone[1].grid.x == 64);
  REQUIRE(with.kernels->added.size() == 1);
  CHECK(with.kernels->added[0].grid.x == 32);
  CHECK_FALSE(without.kernels);  // one side has no kernels because none were requested
}

TEST_CASE("a layer that one side lacks or refuses is unknown, with the reason") {
  Measurement wrong = row(big_relu, 1e-6);
  wrong.exclude(RowStatus::wrong, "differs by 1");
  const auto changes = diff_layers(of({row(relu, 1e-6), row(big_relu, 1e-6)}), of({wrong, row(sum, 1e-6)}));
  REQUIRE(changes.size() == 3);  // in order of signatures, all unknown
  CHECK(changes[0].comparison.reason == "before: no row");
  CHECK(changes[1].comparison.reason == "after: no row");
  CHECK(changes[2].comparison.reason == "after: no valid row: wrong result: differs by 1");
  for (const auto& change : changes) CHECK(change.comparison.verdict == Verdict::unknown);
  CHECK(diff_layers(of({wrong}), of({wrong})).empty());
}

TEST_CASE("cache states are compared apart, too many threads and the reference not at all") {
  Measurement cold = row(relu, 5e-6), wide = row(relu, 1e-9, "a,threads=4"), judge = row(relu, 1e-9);
  cold.cache = CacheState::cold;
  wide.threads = 4;
  judge.backend = "reference";
  const auto changes = diff_layers(of({row(relu, 1e-6), cold}), of({row(relu, 1e-6), cold, wide, judge}));
  REQUIRE(changes.size() == 2);
  for (const auto& change : changes) CHECK(change.comparison.verdict == Verdict::same);
  const auto with_four = diff_layers(of({row(relu, 1e-6)}), of({row(relu, 1e-6), wide}), {.threads_after = 4});
  CHECK(with_four[0].comparison.verdict == Verdict::faster);
}

TEST_CASE("the row of the later of two runs counts, and only the signatures asked for") {
  ResultDatabase twice = of({row(relu, 1e-6)});
  twice.add(run_of({row(relu, 2e-6)}));
  const auto changes = diff_layers(of({row(relu, 1e-6), row(sum, 1e-6)}), twice, {}, {relu});
  REQUIRE(changes.size() == 1);
  CHECK(changes[0].comparison.change.value() == Approx(1.0));
}

TEST_CASE("one measurement that both sides hold is the same, whatever its noise") {
  Measurement wide = row(relu, 100e-6), contended = row(sum, 1e-6);
  wide.rounds_s = {80e-6, 80e-6, 100e-6, 100e-6, 120e-6, 120e-6, 100e-6, 100e-6, std::nan("")};
  contended.contended = true;
  const auto equal = diff_layers(of({wide, contended}), of({wide, contended}));
  REQUIRE(equal.size() == 2);
  for (const auto& change : equal) {
    CHECK(change.comparison.verdict == Verdict::same);
    CHECK(change.comparison.change.value() == 0);
  }
  Measurement other = wide;  // another session with the same p10 and median
  std::swap(other.rounds_s[1], other.rounds_s[2]);
  CHECK(diff_layers(of({wide}), of({other}))[0].comparison.verdict == Verdict::unknown);
  const Analysis model = analysis_of(9e-3, 10e-3, 0.2);
  CHECK(diff_models(model, model).rungs[0].comparison.verdict == Verdict::same);
  CHECK(diff_models(model, analysis_of(9e-3, 10e-3, 0.21)).rungs[0].comparison.verdict == Verdict::unknown);
}

TEST_CASE("a layer of a clock that wanders is slower only beyond that") {
  // + 8 %; 6 % and 6 % of wander: sqrt(72) = 8.5 %. 5 % and 5 %: sqrt(50) = 7.1 %.
  const auto verdict = [](double wander) {
    Measurement before = row(relu, 100e-6), after = row(relu, 108e-6);
    before.wander = after.wander = wander;
    return diff_layers(of({before}), of({after}))[0].comparison.verdict;
  };
  CHECK(verdict(0.06) == Verdict::unknown);
  CHECK(verdict(0.05) == Verdict::slower);
}

TEST_CASE("models are compared by their measured rungs and what these are uncertain by") {
  // 10 -> 11 ms, p10 9 -> 9.9 ms: both + 10 %, beyond sqrt(3^2 + 4^2) = 5 %.
  const ModelChange slower = diff_models(analysis_of(9e-3, 10e-3, 0.03), analysis_of(9.9e-3, 11e-3, 0.04));
  REQUIRE(slower.rungs.size() == 1);  // the analytic rungs are not measurements
  CHECK(slower.rungs[0].rung == RungName::library);
  CHECK(slower.rungs[0].comparison.verdict == Verdict::slower);
  CHECK(slower.rungs[0].comparison.noise == Approx(0.05));
  CHECK(diff_models(analysis_of(9e-3, 10e-3, 0.06), analysis_of(9.9e-3, 11e-3, 0.08)).rungs[0].comparison.verdict ==
        Verdict::unknown);
  Analysis partial = analysis_of(9e-3, 10e-3, 0);
  partial.missing = {relu};
  CHECK(diff_models(analysis_of(9e-3, 10e-3, 0), partial).rungs[0].comparison.reason ==
        "after: the bound is partial, it lacks " + relu);
}

TEST_CASE("a gate looks at models if there are any, at layers otherwise") {
  ResultDiff diff;
  diff.layers = {{.signature = relu, .comparison = {.verdict = Verdict::slower}}};
  CHECK(diff.has(Verdict::slower));
  CHECK(!diff.has(Verdict::unknown));
  diff.models = {{.model = "m", .rungs = {{.comparison = {.verdict = Verdict::same}}}}};
  CHECK(!diff.has(Verdict::slower));
  CHECK(diff.has(Verdict::same));
}
