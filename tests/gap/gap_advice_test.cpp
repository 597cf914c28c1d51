// SPDX-License-Identifier: Apache-2.0
// The advice of a gap, and its other questions.
#include "support/gap_support.hpp"
#include <benanza/base/detail/shell_word.hpp>

#include <algorithm>
#include <optional>
#include <vector>

namespace {

using namespace gap_support;

Measurement slower_row(const Case& c, const std::string& algorithm, double microseconds) {
  Measurement row{
      .backend = "lib", .algorithm = algorithm, .signature = signature(c.model.single.layers[0].layer).text()};
  row.samples = 10;
  row.times = MeasuredTimes{.p10 = {microseconds * us}, .median = {microseconds * us}};
  return row;
}

const Advice* find(const Gap& gap, Change change) {
  const auto found =
      std::find_if(gap.advice.begin(), gap.advice.end(), [&](const Advice& a) { return a.change == change; });
  return found == gap.advice.end() ? nullptr : &*found;
}

EngineProfile usual() {
  return one_after_another(
      profile(210, {record("Conv_0", 140, "Conv"), record("Relu_1", 25, "Relu"), record("Softmax_2", 28, "Softmax"),
                    record("ReorderInput", 10, "ReorderInput")}));
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
  CHECK(kernel->replaced.value == Approx(150 * us));  // 105 + 45: the rest of 165 if the fusion is counted separately
  CHECK(kernel->reproduce == "benanza measure " + kernel->calls[0].signature);
  CHECK_FALSE(kernel->how.empty());
  CHECK(find(gap, Change::fusion)->gain.value == Approx(15 * us));
  CHECK(find(gap, Change::fusion)->how.empty());  // ReorderInput: all optimisations are on
  CHECK(find(gap, Change::layout)->gain.value == Approx(10 * us));
  CHECK(find(gap, Change::overhead)->gain.value == Approx(7 * us));
}

TEST_CASE("computing what is read alone saves its share of the engine's time, down to the floor of the rest") {
  // Only one of 64 rows of a product is read.
  benanza::testing::GraphBuilder g;
  const auto all = g.node("MatMul", {g.input({64, 256}), g.weight({256, 256})}, {64, 256});
  g.output(g.node("Gather", {all, g.ints({0})}, {1, 256}, {{"axis", std::int64_t{0}}}));
  const Case c = make_case(g, true);
  const auto advice_of = [&](double product_us) {
    GapOptions options;
    options.commands.bound = "benanza bound m.onnx";
    const Gap gap = compare(c.analysis, c.model,
                            one_after_another(profile(product_us + 70, {record("MatMul_0", product_us, "MatMul"),
                                                                        record("Gather_1", 60, "Gather")})),
                            options);
    const Advice* advice = find(gap, Change::dead_work);
    REQUIRE(advice);
    return *advice;
  };
  const Advice advice = advice_of(40);
  CHECK(advice.text == "compute in 1 layer what is read: 'Gather_1' (Gather) reads 1 of 64 along axis 0");
  CHECK(advice.layers == std::vector<std::string>{"MatMul_0"});
  CHECK(advice.gain.value == Approx(40 * us * 63 / 64));
  CHECK_FALSE(advice.uncertainty);
  CHECK(advice.reproduce == "benanza bound m.onnx");
  // A row of 256 floats, all weights and a row of results at 1 TB/s: 0.264 us, more than a 64th of 12 us.
  CHECK(advice_of(12).gain.value == Approx(12 * us - (256 + 256 * 256 + 256) * 4 / 1e12));
}

TEST_CASE("dead work is no advice where all that is computed is read") {
  const Case c = three_layers();
  CHECK_FALSE(find(compare(c.analysis, c.model, usual()), Change::dead_work));
}

TEST_CASE("no option is advised that is the engine's default or that the profile shows to be on") {
  const Case c = three_layers();
  EngineProfile p = one_after_another(
      profile(200, {record("Conv_0", 140, "Conv"), record("Relu_1", 25, "Relu"), record("Softmax_2", 28, "Softmax")}));
  const Gap gap = compare(c.analysis, c.model, p);
  REQUIRE(find(gap, Change::fusion));
  CHECK(find(gap, Change::fusion)->how.find("ORT_ENABLE_ALL") != std::string::npos);  // nothing shows that it is on
  REQUIRE(find(gap, Change::overhead));
  CHECK(find(gap, Change::overhead)->how.empty());  // spinning threads and all optimisations are defaults
}

TEST_CASE("how to change the type is of that type") {
  Case c = three_layers();
  GapOptions options;
  for (const DataType type : {DataType::bf16, DataType::i8, DataType::tf32}) {
    options.other_types.push_back(c.analysis);
    options.other_types.back().type = type;
    options.other_types.back()[RungName::library_fused].median = Seconds{60 * us};
  }
  for (const auto& advice : compare(c.analysis, c.model, usual(), options).advice) {
    if (advice.change != Change::type) continue;
    REQUIRE(advice.type);
    INFO(advice.text);
    if (*advice.type == DataType::bf16) CHECK(advice.how.find("OpenVINO") != std::string::npos);
    else if (*advice.type == DataType::i8) CHECK(advice.how == "onnxruntime.quantization.quantize_static");
    else CHECK(advice.how.empty());  // no tf32 on a processor
  }
}

TEST_CASE("numbers of things agree with their nouns") {
  const Case c = three_layers();
  const auto text_with = [&](std::vector<ProfileRecord> more) {
    std::vector<ProfileRecord> records{record("Conv_0", 100, "Conv"), record("Softmax_2", 20, "Softmax")};
    records.insert(records.end(), more.begin(), more.end());
    std::string text;
    for (const auto& advice : compare(c.analysis, c.model, one_after_another(profile(240, records))).advice)
      text += advice.text + "\n";
    return text;
  };
  const ProfileRecord copy = record("Memcpy HtoD", 10, "MemcpyFromHost"), reorder = record("r", 10, "ReorderInput");
  CHECK(text_with({copy, copy}).find("no 2 copies of data\n") != std::string::npos);
  CHECK(text_with({copy}).find("no 1 copy of data\n") != std::string::npos);
  CHECK(text_with({reorder, reorder}).find("instead of 2 conversions\n") != std::string::npos);
}

TEST_CASE("commands of advice begin as they are given and are words of a shell") {
  const Case c = three_layers();
  GapOptions options{
      .commands = {.gap = "benanza gap 'my model.onnx' --batch 2", .measure = "benanza measure --threads 2"}};
  const Gap gap = compare(c.analysis, c.model, usual(), options);
  CHECK(find(gap, Change::layout)->reproduce == "benanza gap 'my model.onnx' --batch 2 --all");
  const Advice* kernel = find(gap, Change::algorithm);
  CHECK(kernel->reproduce == "benanza measure --threads 2 " + kernel->calls[0].signature);
  for (const auto& advice : compare(c.analysis, c.model, usual()).advice)  // no command line: layers alone
    CHECK((advice.reproduce.empty() || advice.reproduce.starts_with("benanza measure ")));
  // A reproducer is named if there is one for the plan of the call that takes the most time.
  options.commands.has_reproducer = [](const std::string&, const std::string& plan) {
    return plan == "lib/a,threads=1";
  };
  CHECK(find(compare(c.analysis, c.model, usual(), options), Change::algorithm)->reproduce ==
        "benanza generate --reproducer " + kernel->calls[0].signature + " --plan lib/a,threads=1 -o reproducer.cpp");
  options.commands.has_reproducer = [](const std::string&, const std::string& plan) {
    return plan == "lib/b,threads=1";
  };
  CHECK(find(compare(c.analysis, c.model, usual(), options), Change::algorithm)->reproduce == kernel->reproduce);
  CHECK(detail::shell_word("a/b-1.onnx") == "a/b-1.onnx");
  CHECK(detail::shell_word("it's $HOME") == R"('it'\''s $HOME')");
  CHECK(detail::shell_word("").size() == 2);
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
  // The fused call has only the plain row; add one in blocks of 8 that takes 85 instead of 105
  const std::string fused = signature(plain.model.fused.layers[0].layer).text();
  Measurement row{.backend = "lib", .algorithm = "a,src=aBcd8b,dst=aBcd8b,threads=1", .signature = fused};
  row.samples = 10;
  row.times = MeasuredTimes{.p10 = {85 * us}, .median = {85 * us}};
  const Case c = three_layers(false, {row});
  const Gap gap = compare(c.analysis, c.model, usual());
  REQUIRE(gap.layouts.size() == 1);
  CHECK(gap.layouts[0].layout == "aBcd8b");
  CHECK(gap.layouts[0].gain.value == Approx(20 * us));
  REQUIRE(gap.layouts[0].calls.size() == 1);
  const Advice* advice = find(gap, Change::layout);
  REQUIRE(advice);
  CHECK(advice->gain.value == Approx(20 * us));  // the engine loses 45 there; the conversion is a separate advice
  REQUIRE(advice->calls.size() == 1);
  CHECK(advice->calls[0].plan == "lib/a,src=aBcd8b,dst=aBcd8b,threads=1");
  CHECK(advice->calls[0].time.value == Approx(85 * us));
  CHECK(advice->replaced.value == Approx(105 * us));
}

TEST_CASE("another type without rows has the roofline's figure, and without a peak none") {
  Case c = three_layers(true);
  c.analysis.ceilings.peaks[DataType::bf16] = c.analysis.ceilings.peaks[DataType::f32];
  Analysis other = c.analysis;  // as if analysed in another type, with all layers modelled
  other.type = DataType::bf16;
  other.coverage_fused.count = {0, 2, 0, 0};
  other[RungName::roofline].bound = *c.analysis[RungName::roofline].bound / 2;
  GapOptions options;
  options.other_types = {other};
  Gap gap = compare(c.analysis, c.model, usual(), options);
  REQUIRE(gap.types.size() == 1);
  CHECK_FALSE(gap.types[0].measured);
  CHECK(gap.types[0].gain()->value == Approx(c.analysis[RungName::roofline].bound->value / 2));
  options.other_types[0].type = DataType::f16;
  gap = compare(c.analysis, c.model, usual(), options);
  CHECK(gap.types.empty());
}

TEST_CASE("all changes together are a chain from the latency down to the headline in the fastest type") {
  // latency 210, bound 135: between 7, conversion 10, slower 45, not fused 15, and softmax 2 faster than its bound
  Case c = three_layers();
  c.analysis[RungName::library_fused_parallel].median = Seconds{120 * us};  // as if branches gained 15
  Analysis bf16 = c.analysis;
  bf16.type = DataType::bf16;
  bf16[RungName::library_fused_parallel].median = Seconds{50 * us};
  bf16[bf16.headline()].uncertainty = 0.1;
  Analysis f16 = bf16;  // faster, but not all of its layers have rows
  f16.type = DataType::f16;
  f16[RungName::library_fused_parallel].median = Seconds{40 * us};
  f16.missing = {"one"};
  GapOptions options;
  options.other_types = {bf16, f16};
  const Gap gap = compare(c.analysis, c.model, usual(), options);
  REQUIRE(gap.joint);
  struct Expected {
    std::optional<Change> change;
    double gain, left;  // us
  };
  const std::vector<Expected> expected{
      {Change::overhead, 7, 203}, {Change::extra, 10, 193},    {Change::algorithm, 45, 148}, {Change::fusion, 15, 133},
      {std::nullopt, -2, 135},    {Change::parallel, 15, 120}, {Change::type, 120 - 50, 50},
  };
  REQUIRE(gap.joint->steps.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const JointStep& step = gap.joint->steps[i];
    INFO(step.what);
    CHECK(step.change == expected[i].change);
    CHECK(step.gain.value == Approx(expected[i].gain * us));
    CHECK(step.latency.value == Approx(expected[i].left * us));
  }
  CHECK(gap.joint->type == DataType::bf16);
  CHECK(gap.joint->latency.value == Approx(50 * us));
  REQUIRE(gap.joint->uncertainty);
  CHECK(gap.joint->uncertainty->value == Approx(5 * us));  // a tenth of 50
}

TEST_CASE("all changes together end where the gap ends") {
  Case c = three_layers();
  Rung& resident = c.analysis[RungName::library_fused_resident];
  resident = c.analysis[RungName::library_fused];
  resident.bound = resident.median = Seconds{140 * us};
  const Gap gap = compare(c.analysis, c.model, profile(210, {}));
  REQUIRE(gap.joint);
  CHECK(gap.joint->latency.value == Approx(140 * us));
  CHECK(gap.joint->latency.value == Approx((*gap.latency - *gap.gap).value));
  const Gap fused = compare(c.analysis, c.model, profile(210, {}), {.rung = RungName::library_fused});
  REQUIRE(fused.joint);
  CHECK(fused.joint->latency.value == Approx(135 * us));
}

TEST_CASE("a joint figure of a latency alone has one step, and of layer by layer bounds fusion as the rungs have it") {
  const Case c = three_layers();
  const Gap alone = compare(c.analysis, c.model, profile(210, {}));
  REQUIRE(alone.joint);
  REQUIRE(alone.joint->steps.size() == 1);
  CHECK(alone.joint->steps[0].gain.value == Approx(75 * us));  // 210 - 135
  const Gap apart = compare(c.analysis, c.model, profile(210, {}), {.rung = RungName::library});
  REQUIRE(apart.joint);
  REQUIRE(apart.joint->steps.size() == 2);
  CHECK(apart.joint->steps[0].latency.value == Approx(150 * us));
  CHECK(apart.joint->steps[1].change == Change::fusion);
  CHECK(apart.joint->latency.value == Approx(135 * us));
}

TEST_CASE("gains of types and of algorithms are as uncertain as both figures together") {
  const Case plain = three_layers();
  Measurement slow = slower_row(plain, "slow,threads=1", 130);
  slow.times->p10 = {120 * us};
  slow.times->p90 = {146 * us};  // half of p10..p90 is 13 us
  Case c = three_layers(false, {slow});
  EngineProfile p = usual();
  p.calls = {{.library = "lib",
              .function = "conv",
              .signature = signature(c.model.single.layers[0].layer).text(),
              .algorithm = "slow",
              .count = 2}};
  c.analysis[RungName::library_fused].uncertainty = 0.04;  // 5.4 us of 135
  GapOptions options;
  options.other_types = {c.analysis};
  options.other_types[0].type = DataType::bf16;
  options.other_types[0][RungName::library_fused].median = Seconds{60 * us};
  options.other_types[0][RungName::library_fused].uncertainty = 0.12;  // 7.2 us
  const Gap gap = compare(c.analysis, c.model, p, options);
  const Advice* type = find(gap, Change::type);
  REQUIRE(type);
  REQUIRE(type->uncertainty);
  CHECK(type->uncertainty->value == Approx(9 * us));  // 5.4, 7.2, 9: a right triangle
  options.other_types[0].type = c.analysis.type;      // a model whose work stays in f32 in spite of --type bf16
  CHECK(compare(c.analysis, c.model, p, options).types.empty());
  const auto chosen = std::find_if(gap.advice.begin(), gap.advice.end(),
                                   [](const Advice& a) { return a.text.starts_with("lib slow"); });
  REQUIRE(chosen != gap.advice.end());
  REQUIRE(chosen->uncertainty);
  CHECK(chosen->uncertainty->value == Approx(26 * us));  // twice 13; the best row's rounds are all equal
  REQUIRE(chosen->calls.size() == 1);
  CHECK(chosen->calls[0].plan == "lib/a,threads=1");
  CHECK(chosen->calls[0].count == 2);
  CHECK(chosen->replaced.value == Approx(260 * us));
  CHECK(chosen->reproduce == "benanza measure " + chosen->calls[0].signature);
}
