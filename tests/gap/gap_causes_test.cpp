// SPDX-License-Identifier: Apache-2.0
// Parts of gaps, by hand; support/gap_support.hpp has the model's times.
#include "support/gap_support.hpp"
#include <benanza/bounds/analyze.hpp>
#include <benanza/fusion/model_layers.hpp>

#include <algorithm>
#include <random>

namespace {

using namespace gap_support;

Gap gap_of(const Case& c, const EngineProfile& p, RungName rung = RungName::library_fused) {
  Gap gap = compare(c.analysis, c.model, p, {.rung = rung});
  if (gap.gap && !gap.parts.empty()) check_sums(gap);
  return gap;
}

}  // namespace

TEST_CASE("a gap is split into slower, not fused, faster and between layers") {
  // Conv_0 and Relu_1 are one call of the bound: 140 + 25 - 105 = 60. Two calls of the library would take 100 + 20, so
  // 15 come from missing fusion and 45 from slower layers. Softmax_2 gains 2; 200 - 140 - 25 - 28 = 7 are idle.
  const Gap gap = gap_of(three_layers(), three_records());
  CHECK(gap.gap->value == Approx(65 * us));  // 200 - 135
  CHECK(part_us(gap, Cause::slower_layers) == Approx(45));
  CHECK(part_us(gap, Cause::not_fused) == Approx(15));
  CHECK(part_us(gap, Cause::faster_layers) == Approx(-2));
  CHECK(part_us(gap, Cause::between_layers) == Approx(7));
  CHECK(gap.parts.size() == 4);
  CHECK(*gap.explained() == Approx(1));
  CHECK(gap.ratio(RungName::library_fused).ratio == Approx(135.0 / 200));
  CHECK(gap.ratio(RungName::library).gap->value == Approx(50 * us));
}

TEST_CASE("a layer is not called faster if all of its records may be among those that cannot be read") {
  EngineProfile profile = three_records();
  profile.unreadable = 1;  // one in each pass
  const Gap gap = gap_of(three_layers(), profile);
  CHECK(part_us(gap, Cause::faster_layers) == 0);
  CHECK(part_us(gap, Cause::unexplained) == Approx(-2));
  CHECK(part_us(gap, Cause::slower_layers) == Approx(45));
  CHECK_THAT(gap.warnings.back(), Catch::StartsWith("1 record cannot be read"));
  // The same for a layer that no record serves: 28 us of Softmax_2, which the bound does in 30.
  profile.records.pop_back();
  const Gap lost = gap_of(three_layers(), profile);
  CHECK(part_us(lost, Cause::not_in_profile) == 0);
  CHECK(lost.not_found == std::vector<std::string>{"Softmax_2"});
}

TEST_CASE("against the rung of single layers nothing could be fused") {
  // 40 + 5 slower, 2 faster, 7 between: 200 - 150 = 50
  const Gap gap = gap_of(three_layers(), three_records(), RungName::library);
  CHECK(gap.gap->value == Approx(50 * us));
  CHECK(part_us(gap, Cause::slower_layers) == Approx(45));
  CHECK(part_us(gap, Cause::not_fused) == 0);
  CHECK(part_us(gap, Cause::faster_layers) == Approx(-2));
}

TEST_CASE("an analytic rung has the library's own distance to it as a part of its own") {
  const Case c = three_layers(true);
  const Gap gap = gap_of(c, three_records(), RungName::roofline);
  // 135 us of library calls minus the roofline
  CHECK(part_us(gap, Cause::rung) == Approx(135 - c.analysis[RungName::roofline].bound->value / us));
}

namespace {

/// Ten convolutions of 100 us in the bound, which take these times in the engine.
Gap gap_of_ten(const std::vector<double>& times_us) {
  benanza::testing::GraphBuilder g;
  auto x = g.input({1, 8, 10, 10});
  for (std::size_t i = 0; i < times_us.size(); ++i) x = g.conv(x, 8, true);
  g.output(x);
  std::vector<ProfileRecord> records;
  double sum = 0;
  for (std::size_t i = 0; i < times_us.size(); ++i) {
    records.push_back(record("Conv_" + std::to_string(i), times_us[i], "Conv"));
    sum += times_us[i];
  }
  return gap_of(make_case(g), one_after_another(profile(sum, std::move(records))));
}

}  // namespace

TEST_CASE("what all layers are slower by alike is a cause of its own, and advised before kernels") {
  // Nine of ten take twice as long, one three times: 10 * 100 alike, and 100 more of one layer
  const Gap gap = gap_of_ten({200, 200, 200, 200, 300, 200, 200, 200, 200, 200});
  CHECK(gap.slowdown == Approx(2));
  CHECK(part_us(gap, Cause::throughout) == Approx(1000));
  CHECK(part_us(gap, Cause::slower_layers) == Approx(100));
  REQUIRE(gap.advice.size() >= 2);
  CHECK(gap.advice[0].change == Change::conditions);
  CHECK(gap.advice[0].gain.value == Approx(1000 * us));
  CHECK(gap.advice[1].change == Change::algorithm);
  CHECK(gap.advice[1].gain.value == Approx(100 * us));
  // If two of ten are as fast as the calls of the bound, nothing slows all.
  CHECK(part_us(gap_of_ten({100, 100, 200, 200, 200, 200, 200, 200, 200, 200}), Cause::throughout) == 0);
}

TEST_CASE("three different layers that are slower by one factor are slower alike") {
  const auto slowdown_of = [](double conv, double relu, double softmax) {
    const std::vector<ProfileRecord> records{record("Conv_0", conv, "Conv"), record("Relu_1", relu, "Relu"),
                                             record("Softmax_2", softmax, "Softmax")};
    return gap_of(three_layers(), profile(conv + relu + softmax, records), RungName::library).slowdown;
  };
  CHECK(slowdown_of(200, 40, 60) == Approx(2));  // calls of 100, 20 and 30
  CHECK(slowdown_of(200, 40, 70) == 1);
}

TEST_CASE("layers that are slower by different factors, few layers and small slowdowns are not alike") {
  // 1.5 is less than the square root of 4: most of what the slow half is slower by is its own.
  const std::vector<std::vector<double>> unlike{
      {150, 150, 150, 150, 150, 400, 400, 400, 400, 400}, std::vector<double>(7, 200), std::vector<double>(10, 119)};
  for (const auto& times : unlike) {
    const Gap gap = gap_of_ten(times);
    CHECK(gap.slowdown == 1);
    CHECK(gap.part(Cause::throughout) == nullptr);
    CHECK(part_us(gap, Cause::slower_layers) == Approx(gap.gap->value / us));
  }
}

TEST_CASE("a profile whose records serve less than half of the bound may be of another model: no advice") {
  // Four of ten layers: 400 of 1000 us
  benanza::testing::GraphBuilder g;
  auto x = g.input({1, 8, 10, 10});
  for (int i = 0; i < 10; ++i) x = g.conv(x, 8, true);
  g.output(x);
  const Case c = make_case(g);
  std::vector<ProfileRecord> records;
  for (int i = 0; i < 6; ++i) records.push_back(record("Conv_" + std::to_string(i), 300, "Conv"));
  CHECK(gap_of(c, one_after_another(profile(1800, records))).explained());
  records.resize(4);
  const Gap gap = gap_of(c, one_after_another(profile(1200, records)));
  REQUIRE(gap.deviations.size() == 1);
  CHECK_THAT(gap.deviations[0], Catch::Contains("0.4 ms of the bound's 1 ms: the profile of another model"));
  CHECK_FALSE(gap.explained());
  CHECK(gap.advice.empty());
}

TEST_CASE("the order of records with names changes nothing") {
  const Case c = three_layers();
  EngineProfile p = three_records();
  p.records.push_back(record("ReorderInput", 3, "ReorderInput"));
  const Gap first = gap_of(c, p);
  std::mt19937 random(2020);
  for (int i = 0; i < 10; ++i) {
    std::shuffle(p.records.begin(), p.records.end(), random);
    const Gap next = gap_of(c, p);
    REQUIRE(next.parts.size() == first.parts.size());
    for (std::size_t k = 0; k < next.parts.size(); ++k) {
      CHECK(next.parts[k].cause == first.parts[k].cause);
      CHECK(next.parts[k].time.value == Approx(first.parts[k].time.value));
      REQUIRE(next.parts[k].items.size() == first.parts[k].items.size());
      for (std::size_t n = 0; n < next.parts[k].items.size(); ++n)
        CHECK(next.parts[k].items[n].name == first.parts[k].items[n].name);
    }
  }
}

TEST_CASE("what serves no layer is conversions, copies or extra calls, with its time") {
  EngineProfile p = profile(
      0, {record("Conv_0", 140), record("Relu_1", 25), record("Softmax_2", 30),
          record("ReorderInput", 10, "ReorderInput"), record("MemcpyToHost", 4, "MemcpyToHost"), record("mystery", 5)});
  p.records.push_back(record("tag", 2));
  p.records.back().activity = Activity::conversion;
  p.latencies = {Seconds{216 * us}};
  const Gap gap = gap_of(three_layers(), p);
  CHECK(part_us(gap, Cause::conversions) == Approx(12));
  CHECK(part_us(gap, Cause::copies) == Approx(4));
  CHECK(part_us(gap, Cause::extra_calls) == Approx(5));
  CHECK(gap.part(Cause::extra_calls)->items[0].name == "mystery");
  CHECK(gap.part(Cause::unmatched) == nullptr);
}

TEST_CASE("a record that may be a layer which none was found for is unmatched, and not explained") {
  // 8 us of the unknown record minus 30 us of the softmax, for which no record is known
  const Gap gap = gap_of(
      three_layers(), one_after_another(profile(175, {record("Conv_0", 140), record("Relu_1", 25), record("?", 8)})));
  CHECK(part_us(gap, Cause::unmatched) == Approx(8 - 30));
  CHECK(gap.not_found == std::vector<std::string>{"Softmax_2"});
  // gap 40 = 45 + 15 - 22 + 2: 1 - 22 / 40
  CHECK(*gap.explained() == Approx(1 - 22.0 / 40));
}

TEST_CASE("layers that no record serves make the gap smaller when every record serves one") {
  const Gap gap =
      gap_of(three_layers(), one_after_another(profile(170, {record("Conv_0", 140), record("Relu_1", 25)})));
  CHECK(part_us(gap, Cause::not_in_profile) == Approx(-30));
  CHECK(part_us(gap, Cause::between_layers) == Approx(5));
}

TEST_CASE("latencies alone, or records that support no claim, tell the total only") {
  const Case c = three_layers();
  for (EngineProfile p : {latency_profile({Seconds{200 * us}}), three_records()}) {
    if (!p.records.empty()) p.total_only = "an asynchronous provider";
    const Gap gap = compare(c.analysis, c.model, p);
    CHECK(gap.gap->value == Approx(65 * us));
    CHECK(gap.parts.empty());
    CHECK(gap.groups.empty());
    CHECK(gap.records.empty());
    CHECK_FALSE(gap.explained());
    CHECK(gap.total_only == (p.records.empty() ? "the profile names no layers" : "an asynchronous provider"));
    for (const auto& advice : gap.advice) CHECK(advice.layers.empty());
  }
}

TEST_CASE("records without a latency are their own sum, and idle time is not known") {
  EngineProfile p = three_records();
  p.latencies.clear();
  const Gap gap = gap_of(three_layers(), p);
  CHECK(gap.latency_of_records);
  CHECK(gap.latency->value == Approx(193 * us));
  CHECK(gap.part(Cause::between_layers) == nullptr);
  REQUIRE(gap.warnings.size() == 1);
  CHECK(gap.warnings[0].find("idle time is not known") != std::string::npos);
}

TEST_CASE("an engine below the model floor has no gap") {
  // Conv_0: 8 channels of 8 x 3x3 taps over 10x10, minus the padding, is over 1e5 FLOPs: 0.1 us at 1 TFLOP/s
  const Case c = three_layers(true);
  const Gap gap = compare(c.analysis, c.model, profile(0.01, {record("Conv_0", 0.01)}));
  CHECK_FALSE(gap.gap);
  CHECK(gap.parts.empty());
  CHECK(gap.advice.empty());
  CHECK(gap.outside.find("below the model floor") != std::string::npos);

  // It counts convolutions by any algorithm, so that a Winograd implementation cannot go below it either.
  ProfileRecord winograd = record("Conv_0", 0.01);
  winograd.algorithm = "jit_avx512_core_fp32_wino_4x3";
  CHECK_FALSE(compare(c.analysis, c.model, profile(0.01, {winograd})).outside.empty());
}

TEST_CASE("layers faster than their roofline are doubtful, and many of them are times in another unit") {
  const Case c = three_layers(true);
  // The convolution has more than 1e5 FLOPs and so at least 0.1 us
  const Gap gap = gap_of(c, profile(200, {record("Conv_0", 0.001), record("Relu_1", 0.001), record("Softmax_2", 28)}));
  REQUIRE_FALSE(gap.records[0].doubt.empty());
  REQUIRE_FALSE(gap.warnings.empty());
  CHECK(gap.warnings.back().find("less than their roofline") != std::string::npos);
}

TEST_CASE("nothing to compare is an error") {
  const Case c = three_layers();
  EngineProfile p;
  p.files = {"empty.json"};
  REQUIRE_THROWS_AS(compare(c.analysis, c.model, p), InputError);
}

TEST_CASE("a bound that lacks layers is partial, and so is its gap") {
  benanza::testing::GraphBuilder g;
  g.output(g.map("Softmax", {g.map("Relu", {g.input({10, 100})})}));
  const ModelLayers model = make_model_layers(g.graph());
  const Analysis analysis = analyze(model, ResultDatabase{});
  const Gap gap = compare(analysis, model, profile(60, {record("Relu_0", 20), record("Softmax_1", 30)}));
  CHECK(gap.partial);
}
