// SPDX-License-Identifier: Apache-2.0
// Which algorithm and which library an engine ran, from the names that each engine gives to its kernels. Names of
// implementations are those of oneDNN 3.2 and of OpenVINO's counters.
#include "support/gap_support.hpp"

namespace {

using namespace gap_support;

/// The model with plans of oneDNN for its convolution with relu, in addition to the 105 us of `lib`.
Case with_onednn() {
  const std::vector<std::pair<std::string, double>> plans{{"brgconv:avx512_core,src=acdb,dst=acdb,threads=1", 120},
                                                          {"jit:avx512_core,src=aBcd16b,threads=1", 130},
                                                          {"jit_1x1:avx512_core,threads=1", 140},
                                                          {"brgconv:avx2,threads=1", 150}};  // us
  const Case plain = three_layers();
  std::vector<Measurement> rows;
  for (const auto& [algorithm, microseconds] : plans) {
    Measurement& row = rows.emplace_back();
    row.backend = "onednn";
    row.algorithm = algorithm;
    row.signature = signature(plain.model.fused.layers[0].layer).text();
    row.samples = 10;
    row.times = MeasuredTimes{.p10 = {microseconds * us}, .median = {microseconds * us}};
  }
  return three_layers(false, rows);
}

Gap gap_of(const Case& c, const std::string& engine, std::vector<ProfileRecord> records) {
  EngineProfile p = profile(300, std::move(records));
  p.engine = engine;
  Gap gap = compare(c.analysis, c.model, p);
  check_sums(gap);
  return gap;
}

ProfileRecord by(std::string provider, std::string algorithm, ProfileRecord made) {
  made.provider = std::move(provider);
  made.algorithm = std::move(algorithm);
  return made;
}

void check_backend(const Gap& gap) {
  REQUIRE(gap.backends.size() == 1);
  CHECK(gap.backends[0].from == "onednn");
  CHECK(gap.backends[0].to == "lib");
  CHECK(gap.backends[0].gain().value == Approx(15 * us));  // 120, the best of oneDNN's plans, against 105
}

}  // namespace

TEST_CASE("oneDNN's kernels in OpenVINO are known by family and instruction set") {
  const Case c = with_onednn();
  struct Named {
    const char* algorithm;
    double microseconds;  // time of the plan; 0: no plan is the same
  };
  const Named cases[] = {{"brgconv_avx512_f32", 120}, {"jit_avx512_f32", 130},       {"jit_avx512_1x1_f32", 140},
                         {"brgconv_avx2_f32", 150},   {"brgconv_avx512_amx_f32", 0}, {"brgconv_avx512_bf16", 0},
                         {"jit_avx512_dw_f32", 0}};
  for (const auto& named : cases) {
    INFO(named.algorithm);
    const Gap gap = gap_of(c, "openvino",
                           {by("openvino", named.algorithm, record("Conv_0", 125, "Convolution")),
                            by("openvino", "jit_avx512_f32", record("Softmax_2", 30, "Softmax"))});
    check_backend(gap);
    REQUIRE(gap.algorithms.size() == (named.microseconds > 0 ? 1U : 0U));
    if (gap.algorithms.empty()) continue;
    CHECK(gap.algorithms[0].layer == "Conv_0");
    CHECK(gap.algorithms[0].chosen == named.algorithm);
    CHECK(gap.algorithms[0].chosen_time->value == Approx(named.microseconds * us));
    CHECK(gap.algorithms[0].best == "lib a,threads=1");
  }
}

TEST_CASE("what oneDNN does not run in OpenVINO says nothing of oneDNN") {
  const Case c = with_onednn();
  for (const char* algorithm : {"ref_any_f32", "gemm_mlas_f32", "undef"}) {
    INFO(algorithm);
    const Gap gap = gap_of(c, "openvino", {by("openvino", algorithm, record("Conv_0", 125, "Convolution"))});
    CHECK(gap.algorithms.empty());
    CHECK(gap.backends.empty());
  }
}

TEST_CASE("oneDNN's log names implementations as its plans do") {
  const Gap gap = gap_of(with_onednn(), "onednn",
                         {by("onednn cpu", "jit:avx512_core", record("convolution +eltwise_relu", 135)),
                          by("onednn cpu", "jit:avx512_core", record("softmax", 30))});
  check_backend(gap);
  REQUIRE(gap.algorithms.size() == 1);
  CHECK(gap.algorithms[0].chosen_time->value == Approx(130 * us));
}

TEST_CASE("PyTorch's convolutions run oneDNN's kernels where they say so") {
  const Case c = with_onednn();
  std::vector<ProfileRecord> records{record("aten::conv2d", 140), record("aten::mkldnn_convolution", 130),
                                     record("aten::relu", 25), record("aten::softmax", 30)};
  records[1].parent = std::size_t{0};
  check_backend(gap_of(c, "pytorch", records));
  records[1].name = "aten::thnn_conv2d";
  CHECK(gap_of(c, "pytorch", records).backends.empty());
}

TEST_CASE("ONNX Runtime's CPU provider has kernels of its own, the Dnnl provider has oneDNN's") {
  const Case c = with_onednn();
  CHECK(
      gap_of(c, "onnxruntime", {by("CPUExecutionProvider", "", record("Conv_0", 125, "FusedConv"))}).backends.empty());
  check_backend(gap_of(c, "onnxruntime", {by("DnnlExecutionProvider", "", record("Conv_0", 125, "FusedConv"))}));
}

TEST_CASE("kernels of TensorRT with cuDNN's names are its own") {
  const Case plain = three_layers();
  Measurement row;
  row.backend = "cudnn";
  row.algorithm = "winograd,threads=1";
  row.signature = signature(plain.model.fused.layers[0].layer).text();
  row.samples = 10;
  row.times = MeasuredTimes{.p10 = {120 * us}, .median = {120 * us}};
  Case c = three_layers(false, {row});
  c.analysis.machine = {.device = "Tesla V100-SXM2-16GB", .driver = "418.67"};
  const std::string kernel = "volta_scudnn_128x64_relu_medium_nn_v1";
  CHECK(gap_of(c, "tensorrt", {by("tensorrt", kernel, record("Conv_0 + Relu_1", 125, "CaskConvolution"))})
            .backends.empty());
  const Gap direct = gap_of(c, "mxnet", {by("", kernel, record("Conv_0", 125, "Convolution"))});
  REQUIRE(direct.backends.size() == 1);
  CHECK(direct.backends[0].from == "cudnn");
}
