// SPDX-License-Identifier: Apache-2.0
// The layers to which a record belongs, by the names that engines give to their records.
#include "support/gap_support.hpp"
#include <benanza/onnx.hpp>
#include <benanza/profile/engine_profile.hpp>

#include <filesystem>

namespace {

using namespace gap_support;
using benanza::testing::GraphBuilder;

Gap gap_of(const Case& c, std::vector<ProfileRecord> records) {
  Gap gap = compare(c.analysis, c.model, profile(1000, std::move(records)));
  if (gap.total_only.empty()) check_sums(gap);  // if nothing matched there are no parts
  return gap;
}
using Layers = std::vector<std::size_t>;

ProfileRecord shaped(ProfileRecord made, std::vector<std::int64_t> dims) {
  made.outputs = {{.dims = std::move(dims)}};
  return made;
}

}  // namespace

TEST_CASE("records are matched by the names that engines give fused calls") {
  const Case c = three_layers();
  struct Named {
    const char* name;
    const char* op;
    MatchedBy by;
    Layers layers;
  };
  const Named cases[] = {
      {"Conv_0", "Conv", MatchedBy::name, {0, 1}},  // Relu_1 is in no record, and fuses with Conv_0
      {"v4", "Relu", MatchedBy::name, {0, 1}},      // the tensor that Relu_1 makes
      {"Relu_1_nchwc", "Conv", MatchedBy::part_of_name, {0, 1}},
      {"fused Conv_0", "FusedConv", MatchedBy::part_of_name, {0, 1}},
      {"Conv_0 + Relu_1", "CaskConvolution", MatchedBy::part_of_name, {0, 1}},
      {"PWN(Relu_1)", "", MatchedBy::part_of_name, {0, 1}},
      {"{ForeignNode[Conv_0...Softmax_2]}", "Myelin", MatchedBy::part_of_name, {0, 1, 2}},
      {"Conv_0_7", "Conv", MatchedBy::order, {0, 1}},       // a counter makes another name; it is the only convolution
      {"Relu_1/Gather", "Gather", MatchedBy::nothing, {}},  // another operator
  };
  for (const auto& named : cases) {
    INFO(named.name);
    const Gap gap = gap_of(c, {record(named.name, 100, named.op)});
    CHECK(gap.records[0].by == named.by);
    CHECK(gap.records[0].layers == named.layers);
  }
}

TEST_CASE("records of a loop's node serve the passes that stand in place of the loop") {
  // ONNX Runtime 1.32.0 on tests/data/loops/shrinking_loop.onnx: 10 passes, each of which has half of the rows of the
  // pass before it. Its records name `n_m`, the product, once in each pass.
  const Case c = make_case(import_onnx(std::filesystem::path(BENANZA_TEST_DATA) / "loops/shrinking_loop.onnx"));
  const std::filesystem::path files[] = {std::filesystem::path(BENANZA_TEST_DATA) /
                                         "profile/onnxruntime_passes.json.gz"};
  const EngineProfile read = read_profile(files);
  const auto rows = [&c](const MatchedRecord& at) {
    std::vector<std::int64_t> found;
    for (const std::size_t layer : at.layers)
      if (const auto* product = std::get_if<op::MatMul>(&*c.model.single.layers[layer].layer))
        found.push_back(product->m());
    return found;
  };
  const auto served_in = [&](const EngineProfile& profile) {
    std::vector<std::vector<std::int64_t>> served;
    const Gap gap = compare(c.analysis, c.model, profile);
    for (const MatchedRecord& at : gap.records)
      if (profile.records[at.record].name == "n_m") served.push_back(rows(at));
    return served;
  };
  SECTION("one after the other") {
    CHECK(served_in(read) ==
          std::vector<std::vector<std::int64_t>>{{512}, {256}, {128}, {64}, {32}, {16}, {8}, {4}, {2}, {1}});
  }
  SECTION("together if there is not one for each pass") {
    EngineProfile part = read;
    const auto is_product = [](const ProfileRecord& at) { return at.name == "n_m"; };
    part.records.erase(std::find_if(part.records.begin(), part.records.end(), is_product));
    const std::vector<std::int64_t> all{512, 256, 128, 64, 32, 16, 8, 4, 2, 1};
    for (auto& at : part.records) at.parent.reset();  // the indices have changed
    CHECK(served_in(part) == std::vector(9, all));
  }
}

TEST_CASE("nodes that the engine names come before the record's own name") {
  const Case c = three_layers();
  ProfileRecord r = record("Softmax_2", 100);
  r.nodes = {"Conv_0", "Relu_1", "gone"};
  const Gap gap = gap_of(c, {r});
  CHECK(gap.records[0].by == MatchedBy::nodes);
  CHECK(gap.records[0].layers == Layers{0, 1});
}

TEST_CASE("a call that projects and attends serves the product, the bias and the attention") {
  GraphBuilder g;
  const auto all = g.node("MatMul", {g.input({1, 16, 32}), g.weight({32, 96})}, {1, 16, 96});
  g.last().name = "attention/product";
  const auto sum = g.node("Add", {all, g.weight({96})}, {1, 16, 96});
  g.last().name = "attention/bias";
  const auto y = g.node("MultiHeadAttention", {sum}, {1, 16, 32}, {{"num_heads", std::int64_t{4}}});
  g.last().name = "attention";
  g.last().domain = "com.microsoft";
  g.output(g.map("Softmax", {y}));
  const Case c = make_case(g);
  ProfileRecord by_node = record("attention_kernel_time", 100, "Attention");
  by_node.nodes = {"attention"};
  for (const auto& made : {record("attention", 100, "Attention"), by_node})
    CHECK(gap_of(c, {made, record("Softmax_3", 10)}).records[0].layers == Layers{0, 1, 2});
}

TEST_CASE("a call of an operator that became several serves them all") {
  GraphBuilder g;
  const auto product = g.node("MatMul", {g.input({16, 32}), g.weight({32, 96})}, {16, 96});
  g.last().name = "linear";
  const auto sum = g.node("Add", {product, g.weight({96})}, {16, 96});
  g.last().name = "linear/part.1";
  g.output(g.map("Softmax", {sum}));
  const Case c = make_case(g);
  CHECK(gap_of(c, {record("linear", 100, "LinearClassifier"), record("Softmax_2", 10)}).records[0].layers ==
        Layers{0, 1});
}

TEST_CASE("one call of the engine for a whole group is a fusion that it did") {
  const Gap gap = gap_of(three_layers(), {record("Relu_1_nchwc", 110, "Conv"), record("Softmax_2", 30)});
  CHECK(gap.part(Cause::not_fused) == nullptr);
  CHECK(part_us(gap, Cause::slower_layers) == Approx(5));
  REQUIRE(gap.fusions.size() == 1);
  CHECK(gap.fusions[0].pattern == "Conv + relu");
  CHECK(gap.fusions[0].count == 1);
  CHECK(gap.fusions[0].done == 1);
  CHECK(gap.fusions[0].gain.value == Approx(15 * us));  // 100 + 20 - 105
  CHECK(gap.fusions[0].open.value == 0);
}

TEST_CASE("without names operator and shape decide, in the model's order") {
  GraphBuilder g;
  auto x = g.conv(g.input({1, 8, 10, 10}), 16);  // Conv_0: 1600 elements
  x = g.conv(x, 32);                             // Conv_1: 3200
  x = g.conv(x, 16);                             // Conv_2: 1600
  g.output(g.map("Softmax", {x}));
  const Case c = make_case(g);
  const Gap gap = gap_of(
      c, {shaped(record("a", 110, "Conv"), {1, 16, 10, 10}), shaped(record("b", 120, "Conv"), {1, 32, 10, 10}),
          shaped(record("c", 130, "Conv"), {1, 16, 10, 10}), shaped(record("d", 30, "Softmax"), {1, 16, 10, 10})});
  for (std::size_t r = 0; r < 4; ++r) {
    CHECK(gap.records[r].by == MatchedBy::shape);
    CHECK(gap.records[r].layers == Layers{r});
  }
}

TEST_CASE("kernels of one class serve all layers of their operator where no order is known") {
  GraphBuilder g;
  auto x = g.conv(g.conv(g.input({1, 8, 10, 10}), 8), 8);
  g.output(g.map("Softmax", {x}));
  const Case c = make_case(g);
  // Three kernels for two convolutions: 210 us against 200
  const Gap gap = gap_of(c, {record("winograd_in", 10), record("winograd_gemm", 150), record("winograd_out", 50),
                             record("softmax_kernel", 30)});
  for (std::size_t r = 0; r < 3; ++r) {
    CHECK(gap.records[r].by == MatchedBy::kernel_class);
    CHECK(gap.records[r].layers == Layers{0, 1});
  }
  CHECK(gap.records[3].by == MatchedBy::order);
  CHECK(part_us(gap, Cause::slower_layers) == Approx(10));
}

TEST_CASE("a record with another shape than any layer is not forced onto one") {
  const Gap gap = gap_of(three_layers(), {shaped(record("x", 50, "Softmax"), {64, 8, 10, 10})});
  CHECK(gap.records[0].by == MatchedBy::nothing);
  CHECK(gap.records[0].cause == Cause::unmatched);
}

TEST_CASE("a name of a megabyte is searched for no longer name than the model has") {
  const Case c = three_layers();
  std::string name = "Conv_0";
  while (name.size() < 1'000'000) name += "/no_node";
  const Gap gap = compare(c.analysis, c.model, profile(210, {record(name, 140, "Conv"), record("Relu_1", 25, "Relu")}));
  REQUIRE(gap.records.size() == 2);
  CHECK(gap.records[0].by == MatchedBy::part_of_name);
}

TEST_CASE("another batch size of the engine is said") {
  const Gap gap = gap_of(three_layers(), {shaped(record("Softmax_2", 50, "Softmax"), {64, 8, 10, 10})});
  REQUIRE(gap.deviations.size() == 1);
  CHECK(gap.deviations[0].find("makes 64x8x10x10, the model 1x8x10x10") != std::string::npos);
}

TEST_CASE("another input size of the engine is said once, with an example") {
  const auto at_14 = [](const char* name) { return shaped(record(name, 50), {1, 8, 14, 14}); };
  const Gap gap = gap_of(three_layers(), {at_14("Conv_0"), at_14("Relu_1"), at_14("Softmax_2")});
  REQUIRE(gap.deviations.size() == 1);
  CHECK(gap.deviations[0].find("3 of 3 records") == 0);
  CHECK(gap.deviations[0].find("'Conv_0' makes 1x8x14x14, the model 1x8x10x10") != std::string::npos);
}

TEST_CASE("another element type of the engine is said once, with an example") {
  const auto half = [](const char* name) {
    ProfileRecord made = record(name, 50);
    made.outputs = {{.type = DataType::f16, .dims = {1, 8, 10, 10}}};
    return made;
  };
  const Gap gap = gap_of(three_layers(), {half("Conv_0"), half("Relu_1"), half("Softmax_2")});
  REQUIRE(gap.deviations.size() == 1);
  CHECK(gap.deviations[0].find("3 of 3 records") == 0);
  CHECK(gap.deviations[0].find("'Conv_0' makes f16, the model f32") != std::string::npos);
}

TEST_CASE("another layout, channels padded to a block, and one odd record of three are not another size") {
  const std::vector<std::int64_t> layouts[] = {{1, 8, 10, 10},    {1, 10, 10, 8},  {1, 1, 10, 10, 8},
                                               {1, 2, 10, 10, 4}, {1, 16, 10, 10}, {1, 1, 10, 10, 16}};
  for (const auto& dims : layouts) {
    const Gap gap = gap_of(three_layers(), {shaped(record("Conv_0", 50), dims), shaped(record("Relu_1", 50), dims),
                                            shaped(record("Softmax_2", 50), {8, 7, 7})});
    CHECK(gap.deviations.empty());
  }
}

TEST_CASE("an order that the model forbids is said") {
  const Case c = three_layers();
  std::vector<ProfileRecord> records{record("Softmax_2", 30), record("Conv_0", 140), record("Relu_1", 25)};
  for (std::size_t r = 0; r < 3; ++r) records[r].start = Seconds{static_cast<double>(r) * 200 * us};
  const Gap gap = compare(c.analysis, c.model, profile(1000, records));
  REQUIRE_FALSE(gap.deviations.empty());
  CHECK(gap.deviations[0].find("'Softmax_2' starts before 'Relu_1'") != std::string::npos);
}

TEST_CASE("a copy that the bound's layers do by strides is time for what is free there") {
  GraphBuilder g;
  const auto first = g.conv(g.input({1, 8, 10, 10}), 8), second = g.conv(first, 8);
  const auto joined = g.node("Concat", {first, second}, {1, 16, 10, 10}, {{"axis", std::int64_t{1}}});
  g.output(g.map("Softmax", {joined}));
  const Case c = make_case(g);
  // Two convolutions of 100 us and a softmax of 30 us; the copy takes 20 us if every node is a call.
  CHECK_THAT(c.analysis[RungName::library].median->value, Catch::Matchers::WithinRel(250 * us, 1e-9));
  CHECK_THAT(c.analysis[RungName::library_fused].median->value, Catch::Matchers::WithinRel(230 * us, 1e-9));
  CHECK(c.analysis.coverage_fused[Status::free] == 1);
  CHECK_FALSE(c.analysis.partial());
  const Gap gap = gap_of(c, {record("Conv_0", 100, "Conv"), record("Conv_1", 100, "Conv"),
                             record("Concat_2", 15, "Concat"), record("Softmax_3", 30, "Softmax")});
  REQUIRE(gap.part(Cause::views) != nullptr);
  CHECK_THAT(gap.part(Cause::views)->time.value, Catch::Matchers::WithinRel(15 * us, 1e-9));
}

TEST_CASE("a record of one product's shape is not one of several products side by side") {
  GraphBuilder g;
  const auto x = g.input({16, 64});
  for (int i = 0; i < 3; ++i) g.output(g.map("Softmax", {g.node("MatMul", {x, g.weight({64, 64})}, {16, 64})}));
  const Case c = make_case(g);
  REQUIRE(c.model.fused.layers.front().members.size() == 3);
  const auto one = shaped(record("gemm", 100, "MatMul"), {16, 64});
  const Gap gap = gap_of(c, {one, one, one});
  for (const std::size_t i : {0U, 1U, 2U}) CHECK(gap.records[i].layers == Layers{2 * i});
  CHECK(gap_of(c, {shaped(one, {16, 192})}).records[0].layers == Layers{0, 2, 4});
}

TEST_CASE("records without names do not join the groups of records with names") {
  GraphBuilder g;
  auto x = g.input({1, 8, 10, 10});
  for (int i = 0; i < 2; ++i) {  // twice: convolution, sigmoid, product, which the bound runs in one call
    const auto y = g.conv(x, 8);
    x = g.node("Mul", {y, g.map("Sigmoid", {y})}, {1, 8, 10, 10});
  }
  g.output(g.map("Softmax", {x}));
  const Case c = make_case(g);
  const Gap gap = gap_of(c, {record("Conv_0", 100, "Convolution"), record("Multiply_77", 10, "Subgraph"),
                             record("Conv_3", 100, "Convolution"), record("Softmax_6", 30, "Softmax")});
  CHECK(gap.records[0].layers == Layers{0, 1, 2});
  CHECK(gap.records[1].layers.empty());
  CHECK(gap.records[1].cause == Cause::extra_calls);
  CHECK(gap.records[2].layers == Layers{3, 4, 5});
  for (const auto& group : gap.groups) CHECK(group.signatures.size() == 1);
}

TEST_CASE("kernels of one class join no groups if other records have names") {
  GraphBuilder g;
  g.output(g.map("Softmax", {g.conv(g.conv(g.input({1, 8, 10, 10}), 8), 8)}));
  const Case c = make_case(g);
  const std::vector<ProfileRecord> kernels{record("winograd_in", 10), record("winograd_gemm", 150),
                                           record("winograd_out", 50)};
  for (const std::string softmax : {"softmax_kernel", "Softmax_2"}) {
    std::vector<ProfileRecord> records = kernels;
    records.push_back(record(softmax, 30));
    const Gap gap = gap_of(c, records);
    const bool named = softmax == "Softmax_2";
    for (std::size_t r = 0; r < 3; ++r) CHECK(gap.records[r].layers == (named ? Layers{} : Layers{0, 1}));
    CHECK((gap.part(Cause::unmatched) != nullptr) == named);
  }
}

TEST_CASE("a group of more than 16 calls does not count as explained") {
  for (const int count : {16, 17}) {
    GraphBuilder g;
    auto x = g.input({1, 8, 10, 10});
    for (int i = 0; i < count; ++i) x = g.conv(x, 8);
    g.output(g.map("Softmax", {x}));
    // Two kernels for all convolutions, 100 us slower than these; 170 us in no record.
    const double convolutions = 100.0 * count;
    const Case c = make_case(g);
    const Gap gap = compare(
        c.analysis, c.model,
        profile(convolutions + 300,
                {record("winograd_in", 100), record("winograd_gemm", convolutions), record("softmax_kernel", 30)}));
    CHECK(gap.records[1].by == MatchedBy::kernel_class);
    CHECK(gap.explained().value() == Approx(count == 16 ? 100.0 / 270 : 0).margin(1e-9));
  }
}

TEST_CASE("an operator of attention is matched before products of its shape") {
  GraphBuilder g;  // products 0 and 2 and a softmax are one call of the bound; product 3 has the shape of product 0
  const auto scores = g.node("MatMul", {g.input({1, 2, 8, 4}), g.input({1, 2, 4, 8})}, {1, 2, 8, 8});
  const auto y = g.node("MatMul", {g.map("Softmax", {scores}), g.input({1, 2, 8, 4})}, {1, 2, 8, 4});
  g.output(y);
  g.output(g.node("MatMul", {g.input({1, 2, 8, 4}), g.weight({4, 4})}, {1, 2, 8, 4}));
  const Case c = make_case(g);
  const auto reads = [](ProfileRecord made, std::vector<std::int64_t> first, std::vector<std::int64_t> second) {
    made.inputs = {{.dims = std::move(first)}, {.dims = std::move(second)}};
    return made;
  };
  const Gap gap = gap_of(c, {reads(record("aten::matmul", 20), {1, 2, 8, 4}, {4, 4}),
                             reads(record("aten::scaled_dot_product_attention", 30), {1, 2, 8, 4}, {1, 2, 8, 4})});
  CHECK(gap.records[0].layers == Layers{3});
  CHECK(gap.records[1].layers == Layers{0, 1, 2});
}

TEST_CASE("PyTorch's kernels of attention are attention") {
  GraphBuilder g;
  const auto scores = g.node("MatMul", {g.input({1, 2, 8, 4}), g.input({1, 2, 4, 8})}, {1, 2, 8, 8});
  g.output(g.node("MatMul", {g.map("Softmax", {scores}), g.input({1, 2, 8, 4})}, {1, 2, 8, 4}));
  const Case c = make_case(g);
  for (const std::string name :
       {"void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128, 64, 4>>(Flash_fwd_params)",
        "fmha_cutlassF_f32_aligned_64x64_rf_sm80(PyTorchMemEffAttention::AttentionKernel<float>::Params)",
        "cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7",
        "aten::_scaled_dot_product_flash_attention_for_cpu"}) {
    INFO(name);
    const Gap gap = gap_of(c, {record(name, 30)});
    CHECK(gap.records[0].by == MatchedBy::order);
    CHECK(gap.records[0].layers == Layers{0, 1, 2});
    CHECK(gap.part(Cause::host) == nullptr);
  }
}
