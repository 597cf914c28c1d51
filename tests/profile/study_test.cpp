// SPDX-License-Identifier: Apache-2.0
#include "study/account.hpp"
#include "study/device_names.hpp"
#include "support/catch.hpp"
#include <benanza/study/make_study.hpp>

#include <algorithm>

using namespace benanza;

namespace {

StudyAccount account(const std::string& model, double library, double parallel, std::int64_t missing = 0) {
  StudyAccount made{.model = model, .device = "Tesla_T4", .source = "rows", .missing = missing};
  rung_of(made.rungs, RungName::library) = Seconds{library};
  rung_of(made.rungs, RungName::library_parallel) = Seconds{parallel};
  return made;
}

StudyLatency latency(const std::string& model, const std::string& framework, double time) {
  return {.model = model,
          .device = "Tesla T4",
          .framework = framework,
          .time = Seconds{time},
          .lowest = Seconds{time},
          .highest = Seconds{time}};
}

const StudyMean& mean_of(const Study& study, const std::string& quantity, const std::string& framework = {}) {
  const auto found = std::find_if(study.means.begin(), study.means.end(), [&](const auto& mean) {
    return mean.quantity == quantity && mean.framework == framework;
  });
  REQUIRE(found != study.means.end());
  return *found;
}

}  // namespace

TEST_CASE("A geometric mean with its interval is that of scipy") {
  // numpy, scipy: x = [0.5, 0.8, 1.25, 2.0, 1.1]; gmean(x); l = log(x); exp(t.interval(0.95, 4, l.mean(), sem(l))). The
  // quantile of Student's t is accurate to 0.15 %.
  const std::array x{0.5, 0.8, 1.25, 2.0, 1.1};
  const auto made = geometric_mean(x);
  REQUIRE(made);
  CHECK(made->count == 5);
  CHECK(made->mean == Approx(1.0192449).epsilon(1e-6));
  CHECK(made->low.value() == Approx(0.53662335).epsilon(2e-3));
  CHECK(made->high.value() == Approx(1.93592045).epsilon(2e-3));
  CHECK_FALSE(geometric_mean({}));
  const auto one = geometric_mean(std::span(x).first(1));
  CHECK(one->mean == 0.5);
  CHECK_FALSE(one->low);
}

TEST_CASE("A row has the ratios and speed-ups of its model") {
  const Study study = make_study({account("a", 4, 2), account("b", 9, 9)},
                                 {latency("a", "mxnet", 8), latency("a", "caffe2", 16), latency("b", "mxnet", 9)});
  REQUIRE(study.rows.size() == 3);
  CHECK(study.rows[0].device == "Tesla T4");
  CHECK(study.rows[0].framework == "mxnet");
  CHECK(study.rows[0].ratio(RungName::library).value() == 0.5);
  CHECK(study.rows[0].ratio(RungName::library_parallel).value() == 0.25);
  CHECK(study.rows[0].speedup(Optimization::parallel).value() == 2);
  CHECK_FALSE(study.rows[0].speedup(Optimization::fusion));
  CHECK_FALSE(study.rows[0].speedup(Optimization::all));
  // sqrt(0.5 x 1), and each model counts once, however many frameworks ran it: sqrt(2 x 1).
  CHECK(mean_of(study, "ratio of library", "mxnet").all.mean == Approx(std::sqrt(0.5)));
  CHECK(mean_of(study, "parallel").all.mean == Approx(std::sqrt(2.0)));
  CHECK(mean_of(study, "parallel").all.count == 2);
}

TEST_CASE("A mean over complete bounds stands beside one that has partial ones") {
  const Study study =
      make_study({account("a", 4, 4), account("b", 1, 1, 3)}, {latency("a", "mxnet", 8), latency("b", "mxnet", 4)});
  const StudyMean& mean = mean_of(study, "ratio of library", "mxnet");
  CHECK(mean.all.mean == Approx(std::sqrt(0.5 * 0.25)));
  CHECK(mean.complete.value().mean == 0.5);
  CHECK(study.rows[1].partial());
}

TEST_CASE("The first account counts; what it lacks is of others that lack no layer") {
  StudyAccount first = account("a", 10, 5), partial = account("a", 3, 3, 4), full = account("a", 12, 6);
  rung_of(partial.rungs, RungName::library_fused) = Seconds{1};
  rung_of(full.rungs, RungName::library_fused) = Seconds{8};
  full.advised = Seconds{15};
  full.in_types[DataType::f16] = full.rungs;
  rung_of(full.in_types[DataType::f16], RungName::library) = Seconds{6};
  rung_of(full.in_types[DataType::f16], RungName::library_fused) = Seconds{3};
  const Study study = make_study({first, partial, full}, {});
  REQUIRE(study.rows.size() == 1);
  const StudyRow& row = study.rows[0];
  CHECK(rung_of(row.rungs, RungName::library)->value == 10);
  CHECK(rung_of(row.rungs, RungName::library_fused)->value == 8);
  CHECK(row.speedup(Optimization::parallel).value() == 2);         // 10 / 5, of the first account
  CHECK(row.speedup(Optimization::fusion).value() == 1.5);         // 12 / 8, both of the same account
  CHECK(row.speedup(Optimization::algorithms).value() == 1.25);    // 15 / 12
  CHECK(row.speedup(Optimization::tensor_cores).value() == 2);     // 12 / 6
  CHECK(row.speedup(Optimization::all).value() == 1.25 * 12 / 3);  // advice, then the least of all: f16, fused
  CHECK(row.narrow == DataType::f16);
}

TEST_CASE("A latency far below every bound is not one of the model") {
  const Study study = make_study({account("a", 10, 5)}, {latency("a", "mxnet", 0.9), latency("a", "caffe2", 1.1)});
  REQUIRE(study.rows.size() == 2);
  CHECK_FALSE(study.rows[0].ratio(RungName::library));  // 0.9 x 5 < 5
  CHECK_THAT(study.rows[0].doubt, Catch::Contains("a fifth"));
  CHECK(study.rows[1].ratio(RungName::library));
  REQUIRE(study.notes.size() == 1);
  StudyAccount with_floor = account("a", 10, 5);
  rung_of(with_floor.rungs, RungName::model_floor) = Seconds{3};
  CHECK(make_study({with_floor}, {latency("a", "x", 2.9)}).rows[0].doubt == "below the model floor");
}

TEST_CASE("The first of several latencies of one framework counts in means, and what two files have alike is one") {
  const Study study =
      make_study({account("a", 4, 2)}, {latency("a", "mxnet", 8), latency("a", "mxnet", 8), latency("a", "mxnet", 16)});
  REQUIRE(study.rows.size() == 2);
  CHECK(study.rows[1].latency.value().value == 16);
  CHECK(mean_of(study, "ratio of library", "mxnet").all.mean == Approx(0.5));
  CHECK(mean_of(study, "ratio of library", "mxnet").all.count == 1);
  REQUIRE(study.notes.size() == 1);
  CHECK(study.notes[0] ==
        "means lack 1 latency of a framework that has another one before, first mxnet of a on Tesla T4, batch 1: "
        "8e+03 ms counts, 1.6e+04 ms does not");
  // Of a type of its own, an engine is another one. A latency that cannot be of the model does not come first.
  StudyLatency half = latency("a", "mxnet", 16);
  half.type = DataType::f16;
  CHECK(make_study({account("a", 4, 2)}, {latency("a", "mxnet", 8), half}).notes.empty());
  const Study doubtful = make_study({account("a", 10, 5)}, {latency("a", "mxnet", 0.9), latency("a", "mxnet", 8)});
  REQUIRE(doubtful.notes.size() == 1);
  CHECK_THAT(doubtful.notes[0], Catch::Contains("a fifth"));
}

TEST_CASE("A latency without a device is of the only one, and one without a bound has a row") {
  StudyLatency nowhere = latency("a", "mxnet", 8);
  nowhere.device = "";
  CHECK(make_study({account("a", 4, 2)}, {nowhere}).rows[0].ratio(RungName::library) == 0.5);
  const Study alone = make_study({account("a", 4, 2)}, {latency("z", "mxnet", 8)});
  REQUIRE(alone.rows.size() == 2);
  CHECK(alone.rows[1].model == "z");
  CHECK_FALSE(alone.rows[1].ratio(RungName::library));
}

TEST_CASE("Machines that differ in more than which processors they use are devices of their own") {
  const Machine two{.device = "Some_CPU",
                    .isa = "avx2",
                    .cores = 2,
                    .affinity = "0,1",
                    .caches = {{3, Bytes{1 << 20}}},
                    .memory = Bytes{6.0 * (1 << 30)}};
  Machine alike = two, more_cores = two, other = two;
  alike.affinity = "2,3";
  alike.memory = Bytes{8.0 * (1 << 30)};  // the same when rounded up to a power of two
  alike.system = "another";
  more_cores.cores = 4;
  other.device = "Other CPU";
  other.cores = 1;
  CHECK(device_names(std::array{two, alike, other}) == std::vector<std::string>{"Some CPU", "Some CPU", "Other CPU"});
  CHECK(device_names(std::array{two, alike, more_cores}) ==
        std::vector<std::string>{"Some CPU, 2 cores", "Some CPU, 2 cores", "Some CPU, 4 cores"});
  const auto told_apart = [&](auto change) {
    Machine changed = two;
    change(changed);
    CHECK(changed.id() != two.id());
    return device_names(std::array{two, changed})[1];
  };
  CHECK(told_apart([](Machine& m) { m.isa = "avx512_core"; }) == "Some CPU, avx512_core");
  CHECK(told_apart([](Machine& m) { m.caches[0].total = Bytes{1 << 21}; }) == "Some CPU, 2048 KiB of L3");
  CHECK(told_apart([](Machine& m) { m.driver = "550.1"; }) == "Some CPU, driver 550.1");
  CHECK(told_apart([](Machine& m) { m.family = "26"; }) == "Some CPU, family 26");
  CHECK(told_apart([](Machine& m) { m.hypervisor = "KVM"; }) == "Some CPU, hypervisor KVM");
  CHECK(told_apart([](Machine& m) { m.settings = "MALLOC_ARENA_MAX=1"; }) == "Some CPU, settings MALLOC_ARENA_MAX=1");
  Machine larger = two;  // the memory of a virtual machine may grow: another name, the same machine
  larger.memory = Bytes{9.0 * (1 << 30)};
  CHECK(larger.id() == two.id());
  CHECK(device_names(std::array{two, larger})[1] == "Some CPU, 16 GiB of memory");
}

TEST_CASE("A latency on a device of which the results have several kinds is noted") {
  StudyAccount two = account("a", 4, 2), four = account("a", 2, 1);
  two.device = "Tesla T4, 2 cores";
  four.device = "Tesla T4, 4 cores";
  StudyLatency told = latency("a", "caffe2", 8);
  told.device = "Tesla_T4, 2 cores";
  const Study study = make_study({two, four}, {latency("a", "mxnet", 8), told});
  REQUIRE(study.rows.size() == 3);
  CHECK(study.rows[0].framework == "mxnet");
  CHECK_FALSE(study.rows[0].ratio(RungName::library));
  CHECK(study.rows[1].ratio(RungName::library) == 0.5);
  REQUIRE(study.notes.size() == 1);
  CHECK_THAT(study.notes[0], Catch::Contains("latencies on Tesla T4 have no bounds"));
}

TEST_CASE("An engine in another type is held against the bounds in that type") {
  StudyAccount with_f16 = account("a", 10, 5);
  rung_of(with_f16.in_types[DataType::f16], RungName::library) = Seconds{4};
  StudyLatency half = latency("a", "mxnet", 8), unknown = latency("a", "mxnet", 8);
  half.type = DataType::f16;
  unknown.type = DataType::bf16;
  const Study study = make_study({with_f16}, {half, unknown});
  CHECK(study.rows[0].ratio(RungName::library) == 0.5);
  CHECK_FALSE(study.rows[0].ratio(RungName::library_parallel));
  CHECK_FALSE(study.rows[1].ratio(RungName::library));
  CHECK(mean_of(study, "ratio of library", "mxnet in f16").all.count == 1);
}

TEST_CASE("What algorithms an engine chose is known without its latency") {
  StudyLatency log{.model = "a", .device = "Tesla_T4", .framework = "mxnet", .chosen_over_best = 1.25};
  const Study study = make_study({account("a", 4, 2)}, {log});
  REQUIRE(study.rows.size() == 1);
  CHECK_FALSE(study.rows[0].latency);
  CHECK(study.rows[0].chosen_over_best == 1.25);
  CHECK(mean_of(study, "chosen over best", "mxnet").all.mean == Approx(1.25));
}

namespace {

Measurement row(const std::string& backend, const std::string& algorithm, double time, bool advised) {
  return {.backend = backend,
          .algorithm = algorithm,
          .signature = "x",
          .samples = 9,
          .times = MeasuredTimes{Seconds{time}, Seconds{time}, Seconds{time}, Seconds{time}},
          .advised = advised};
}

}  // namespace

TEST_CASE("What advice costs is told by the libraries that give it") {
  Analysis analysis{.model = "m", .threads = 1};
  analysis[RungName::library].bound = Seconds{20};
  // Called three times, 4 s. onednn advises 6 s although it has 5 s, so its advice costs 3 x 1 s. native, which is the
  // best, advises nothing.
  analysis.rows.push_back({.signature = "x", .form = Form::single, .count = 3, .median = Seconds{4}});
  analysis.rows[0].candidates = {row("native", "a", 4, false), row("onednn", "b", 5, false),
                                 row("onednn", "c", 6, true)};
  // No library advises anything for the other layer: it still takes 8 s.
  analysis.rows.push_back({.signature = "y", .form = Form::single, .count = 1, .median = Seconds{8}});
  const StudyAccount made = account_of(analysis);
  CHECK(made.advised.value().value == Approx(20 * (1 + 3.0 / 20)));
  // A single group of the fused form: 7 s with plain tensors, 5 s in another layout.
  analysis.rows.push_back({.signature = "z", .form = Form::fused, .count = 2, .median = Seconds{5}});
  analysis.rows[2].candidates = {row("onednn", "jit,src=aBcd8b", 5, false), row("onednn", "jit", 7, true)};
  const StudyAccount with_layouts = account_of(analysis);
  CHECK(with_layouts.plain_layout.value().value == 14);
  CHECK(with_layouts.any_layout.value().value == 10);
  analysis.rows[0].candidates.clear();
  CHECK_FALSE(account_of(analysis).advised);
}
