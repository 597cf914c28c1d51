// SPDX-License-Identifier: Apache-2.0
// What a gap says to do, and the questions beside it.
#include "support/gap_support.hpp"

#include <algorithm>

namespace {

using namespace gap_support;

Measurement slower_row(const Case& c, const std::string& algorithm, double microseconds) {
  Measurement row{
      .backend = "lib", .algorithm = algorithm, .signature = signature(c.model.single.layers[0].layer).text()};
  row.samples = 10;
  row.p10 = row.median = {microseconds * us};
  return row;
}

const Advice* find(const Gap& gap, Change change) {
  const auto found =
      std::find_if(gap.advice.begin(), gap.advice.end(), [&](const Advice& a) { return a.change == change; });
  return found == gap.advice.end() ? nullptr : &*found;
}

EngineProfile usual() {
  return profile(210, {record("Conv_0", 140, "Conv"), record("Relu_1", 25, "Relu"), record("Softmax_2", 28, "Softmax"),
                       record("ReorderInput", 10, "ReorderInput")});
}

}  // namespace

TEST_CASE("advice is ranked by gain and names layers, calls and the engine's own options") {
  // slower 45, not fused 15, conversion 10, between 7
  const Case c = three_layers();
  const Gap gap = compare(c.analysis, c.model, usual());
  check_sums(gap);
  REQUIRE(gap.advice.size() == 4);
  CHECK(std::is_sorted(gap.advice.begin(), gap.advice.end(),
                       [](const auto& a, const auto& b) { return a.gain > b.gain; }));
  const Advice* kernel = find(gap, Change::algorithm);
  REQUIRE(kernel);
  CHECK(kernel->gain.value == Approx(45 * us));
  CHECK(kernel->layers == std::vector<std::string>{"Conv_0"});
  REQUIRE(kernel->calls.size() == 1);
  CHECK(kernel->calls[0].plan == "lib/a,threads=1");
  CHECK(kernel->calls[0].time.value == Approx(105 * us));
  CHECK(kernel->replaced.value == Approx(150 * us));  // 105 + 45: what is left of 165 when the fusion is paid apart
  CHECK(kernel->reproduce == "benanza measure " + kernel->calls[0].signature);
  CHECK_FALSE(kernel->how.empty());
  CHECK(find(gap, Change::fusion)->gain.value == Approx(15 * us));
  CHECK(find(gap, Change::fusion)->how.find("ORT_ENABLE_ALL") != std::string::npos);
  CHECK(find(gap, Change::layout)->gain.value == Approx(10 * us));
  CHECK(find(gap, Change::overhead)->gain.value == Approx(7 * us));
}

TEST_CASE("an engine that no table knows gets advice without options") {
  const Case c = three_layers();
  EngineProfile p = usual();
  p.engine = "mine";
  for (const auto& advice : compare(c.analysis, c.model, p).advice) CHECK(advice.how.empty());
}

TEST_CASE("an API log tells which algorithms were not the best") {
  const Case plain = three_layers();
  const Case c = three_layers(false, {slower_row(plain, "slow,threads=1", 130)});
  EngineProfile p = usual();
  p.calls = {{.library = "lib",
              .function = "conv",
              .signature = signature(c.model.single.layers[0].layer).text(),
              .algorithm = "slow",
              .count = 2},
             {.library = "lib", .function = "conv", .algorithm = "other"}};
  const Gap gap = compare(c.analysis, c.model, p);
  REQUIRE(gap.algorithms.size() == 2);
  CHECK(gap.algorithms[0].chosen_time->value == Approx(130 * us));
  CHECK(gap.algorithms[0].best_time->value == Approx(100 * us));
  CHECK(gap.algorithms[0].best == "lib a,threads=1");
  CHECK(gap.algorithms[0].gain()->value == Approx(60 * us));  // twice
  CHECK_FALSE(gap.algorithms[1].gain());
}

TEST_CASE("another layout is what its rows say, over all occurrences") {
  const Case plain = three_layers();
  // The fused call has only the plain row; give it one in blocks of 8 that takes 85 instead of 105
  const std::string fused = signature(plain.model.fused.layers[0].layer).text();
  Measurement row{.backend = "lib", .algorithm = "a,src=aBcd8b,dst=aBcd8b,threads=1", .signature = fused};
  row.samples = 10;
  row.p10 = row.median = {85 * us};
  const Case c = three_layers(false, {row});
  const Gap gap = compare(c.analysis, c.model, usual());
  REQUIRE(gap.layouts.size() == 1);
  CHECK(gap.layouts[0].layout == "aBcd8b");
  CHECK(gap.layouts[0].gain.value == Approx(20 * us));
}

TEST_CASE("another type without rows is the roofline's word, and without a peak nothing") {
  const Case c = three_layers(true);
  Analysis other = c.analysis;  // as if analysed in another type, with all layers modelled
  other.coverage_fused.count = {0, 2, 0, 0};
  other[RungName::roofline].bound = *c.analysis[RungName::roofline].bound / 2;
  GapOptions options;
  options.other_types = {other};
  Gap gap = compare(c.analysis, c.model, usual(), options);
  REQUIRE(gap.types.size() == 1);
  CHECK_FALSE(gap.types[0].measured);
  CHECK(gap.types[0].gain()->value == Approx(c.analysis[RungName::roofline].bound->value / 2));
  options.other_types[0].type = DataType::bf16;
  gap = compare(c.analysis, c.model, usual(), options);
  CHECK(gap.types.empty());
}
