// SPDX-License-Identifier: Apache-2.0
// The answers that cuDNN gives without a device are compared with our own shapes; plans need a device.
#include "backend/cudnn/graphs.hpp"
#include "execution/make_witness.hpp"
#include "plan/shared_library.hpp"
#include "support/cudnn_shapes.hpp"
#include "support/device_support.hpp"
#include "support/onnx_text.hpp"
#include "support/witness_rows.hpp"
#include <benanza/backend/cuda.hpp>
#include <benanza/backend/cudnn.hpp>
#include <benanza/model/layer_signature.hpp>
#include <benanza/model/unit_height.hpp>

using namespace benanza;
using test::has_cudnn;
using test::output_of;

TEST_CASE("cuDNN's output shapes of convolutions are ours") {
  if (!has_cudnn()) return;
  const std::vector<op::Conv> layers{
      {.x = {1, 3, 224, 224}, .w = {64, 3, 7, 7}, .pads = {3, 3, 3, 3}, .strides = {2, 2}},
      {.x = {2, 16, 17, 33}, .w = {8, 16, 3, 5}, .pads = {1, 2, 1, 2}, .strides = {2, 3}},
      {.x = {1, 8, 20, 20}, .w = {8, 8, 3, 3}, .dilations = {2, 3}},
      {.x = {1, 12, 9, 9}, .w = {24, 4, 3, 3}, .pads = {1, 1, 1, 1}, .group = 3},
      {.x = {1, 4, 8, 9, 10}, .w = {6, 4, 3, 3, 3}, .pads = {1, 1, 1, 1, 1, 1}, .strides = {2, 1, 2}},
  };
  for (const auto& op : layers) {
    INFO(LayerSignature(op).text());
    const auto theirs = output_of(op);
    REQUIRE(theirs);
    CHECK(*theirs == op.y());
  }
  CHECK_FALSE(output_of(op::Conv{.x = {1, 8, 20, 20}, .w = {8, 8, 3, 3}, .pads = {0, 0, 1, 1}}));
}

TEST_CASE("cuDNN's calls in f32 are strict, those in tf32 are not, and 16-bit types are summed in f32") {
  CHECK(cudnn::arithmetic(DataType::f32)->math == CUDNN_FMA_MATH);
  CHECK(cudnn::arithmetic(DataType::tf32)->stored == CUDNN_DATA_FLOAT);
  CHECK(cudnn::arithmetic(DataType::tf32)->math == CUDNN_TENSOR_OP_MATH);
  CHECK(cudnn::arithmetic(DataType::f16)->stored == CUDNN_DATA_HALF);
  CHECK(cudnn::arithmetic(DataType::f16)->accumulated == CUDNN_DATA_FLOAT);
  CHECK(cudnn::arithmetic(DataType::bf16)->stored == CUDNN_DATA_BFLOAT16);
  CHECK_FALSE(cudnn::arithmetic(DataType::u8));
}

// cuDNN documentation, cudnnConvolutionBiasActivationForward: reluNanOpt must be CUDNN_NOT_PROPAGATE_NAN.
TEST_CASE("activations do not propagate NaN, or cuDNN fuses none of them into a convolution") {
  if (!has_cudnn()) return;
  const auto& file = std::get<std::unique_ptr<const cudnn::Library>>(cudnn::Library::get())->file();
  auto* const read = file.function<decltype(cudnnGetActivationDescriptor)>("cudnnGetActivationDescriptor");
  REQUIRE(read != nullptr);
  for (const auto& activation : {*cudnn::activation(ElementwiseFn::relu, 0, 0), cudnn::identity_activation()}) {
    cudnnActivationMode_t mode{};
    cudnnNanPropagation_t nan = CUDNN_PROPAGATE_NAN;
    double coefficient = 0;
    REQUIRE(read(activation.get(), &mode, &nan, &coefficient) == CUDNN_STATUS_SUCCESS);
    CHECK(nan == CUDNN_NOT_PROPAGATE_NAN);
  }
}

TEST_CASE("strides describe tensors whose channels lie closest") {
  // N C H W = 2 3 4 5 as N H W C: 60, 1, 15, 3.
  CHECK(cudnn::packed_strides({2, 3, 4, 5}, cudnn::Order::nhwc) == TensorShape{60, 1, 15, 3});
  CHECK(cudnn::packed_strides({2, 3, 4, 5}) == TensorShape{60, 20, 5, 1});
}

TEST_CASE("cuDNN lists the plans of its graphs for a described device, with no device here") {
  if (!has_cudnn() || cudnn::calls().cudnnGetVersion() < 90800) return;
  // The H100 SXM5 as NVIDIA publishes it: compute capability 9.0, 132 processors, 50 MB of L2, 80 GB.
  const std::string h100 =
      R"({"cudaDeviceId":0,"deviceName":"NVIDIA H100 80GB HBM3","deviceVer":900,"driverVer":13000,"isTccDriver":0,)"
      R"("l2CacheSize":52428800,"maxBlockSize":[1024,1024,64],"maxGridSize":[2147483647,65535,65535],)"
      R"("maxCtasPerSM":32,"maxRegistersPerSM":65536,"maxSharedMemoryPerBlock":49152,)"
      R"("maxSharedMemoryPerBlockOptin":232448,"maxThreadsPerBlock":1024,"maxThreadsPerSM":2048,)"
      R"("memClockRateKHz":2619000,"multiProcessorCount":132,"pciDeviceId":0,"regsPerBlock":65536,)"
      R"("reservedSharedMemoryPerBlock":1024,"smClockRateKHz":1980000,"supportCoopLaunch":1,)"
      R"("totalGlobalMem":84942979072,"warpSize":32})";
  const op::Conv conv{.type = DataType::f16,
                      .x = {8, 64, 28, 28},
                      .w = {64, 64, 3, 3},
                      .pads = {1, 1, 1, 1},
                      .post = {bias, ElementwiseFn::relu}};
  if (cudnn::graph_plans_listed(conv, h100).empty()) {
    WARN("built without cudnn-frontend, or this cuDNN lists nothing without a device");
    return;
  }
  CHECK(cudnn::graph_plans_listed(conv, h100).size() > 3);
  CHECK_THROWS_AS(cudnn::graph_plans_listed(conv, "{}"), EnvironmentError);
  for (const char* signature : {"ConvGradient/f16/x=8x64x28x28/w=64x64x3x3/pads=1x1x1x1",
                                "ConvGradient/f16/of=weights/x=8x64x28x28/w=64x64x3x3/pads=1x1x1x1/strides=2x2",
                                "ConvGradient/f32/x=8x64x28x28/w=64x64x3x3/pads=1x1x1x1",
                                "ConvGradient/f32/of=weights/x=8x64x28x28/w=64x64x3x3/pads=1x1x1x1"}) {
    INFO(signature);
    CHECK_FALSE(cudnn::graph_plans_listed(parse_layer(signature), h100).empty());
  }
  // Many engines are compiled at run time (cuDNN: CUDNN_STATUS_NOT_SUPPORTED_RUNTIME_PREREQUISITE_MISSING).
  if (std::holds_alternative<std::string>(SharedLibrary::open({"libcuda.so.1"}))) {
    WARN("products and 8-bit types are skipped: cuDNN lists their plans only where the driver's libcuda.so.1 is");
    return;
  }
  for (const char* signature :
       {"Conv/i8/x=8x64x28x28/w=64x64x3x3/pads=1x1x1x1", "Conv/i8/x=8x64x28x28/w=64x64x3x3/pads=1x1x1x1/y_type=i32",
        "Conv/i8/x=1x3x224x224/w=64x3x7x7/pads=3x3x3x3/strides=2x2/post=bias,relu",
        "Conv/i8/x=8x64x28x28/w=64x64x3x3/pads=1x1x1x1/post=bias,add,relu",
        "Conv/f8e4m3/x=8x64x28x28/w=64x64x3x3/pads=1x1x1x1/post=bias,add,relu",
        "Conv/f8e4m3/x=8x64x28x28/w=64x64x3x3/pads=1x1x1x1",
        "Conv/f8e5m2/x=8x64x28x28/w=64x64x3x3/pads=1x1x1x1/post=bias,relu", "MatMul/bf16/a=128x64/b=64x256",
        "MatMul/i8/a=128x64/b=64x256/b_constant=1/post=bias,relu",
        "MatMul/f8e4m3/a=128x64/b=64x256/b_constant=1/post=bias,gelu", "MatMul/f8e5m2/a=128x64/b=64x256/trans_b=1",
        "MatMul/f8e5m2/a=128x64/b=64x256/b_constant=1", "Unary/f16/fn=gelu/x=8x4096",
        "Binary/f8e4m3/fn=add/a=64x4096/b=64x4096",
        "Attention/f16/q=1x12x128x64/k=1x12x128x64/v=1x12x128x64/mask=1x1x128x128/k_transposed=1",
        "Attention/bf16/q=1x6x1500x64/k=1x6x1500x64/v=1x6x1500x64/k_transposed=1",
        "Attention/f16/q=1x12x1x64/k=1x12x513x64/v=1x12x513x64/mask=1x1x1x513/k_transposed=1",
        "Attention/f16/q=1x4x64x64/k=1x4x64x64/v=1x4x64x64/causal=1",
        "Attention/f16/q=1x32x128x64/k=1x8x128x64/v=1x8x128x64/causal=1",
        "Attention/bf16/q=1x32x1x64/k=1x8x513x64/v=1x8x513x64/mask=1x1x1x513",
        "Attention/f16/q=8x12x128x64/k=8x12x128x64/v=8x12x128x64/mask=1x1x128x128/q_tokens_first=1/k_tokens_first=1/"
        "v_tokens_first=1/y_tokens_first=1",
        "Attention/bf16/q=1x32x128x64/k=1x8x128x64/v=1x8x128x64/causal=1/v_tokens_first=1/y_tokens_first=1",
        // The first layers of Whisper's encoder, with one dimension each.
        "Conv/f16/x=1x80x3000/w=384x80x3/pads=1x1/post=bias,gelu",
        "Conv/tf32/x=1x384x3000/w=384x384x3/pads=1x1/strides=2/post=bias,gelu",
        "Conv/f32/x=1x80x3000/w=384x80x3/pads=1x1", "Conv/f16/x=8x64x28x28/w=64x64x3x3/pads=1x1x1x1/post=bias,swish:1",
        "Conv/bf16/x=8x64x28x28/w=64x64x3x3/pads=1x1x1x1/post=bias,swish:1",
        "Conv/f16/x=8x64x28x28/w=64x64x3x3/pads=1x1x1x1/post=bias,hard_swish",
        "Conv/tf32/x=8x64x28x28/w=64x64x3x3/pads=1x1x1x1/post=bias,hard_swish",
        "Conv/f32/x=8x64x28x28/w=64x64x3x3/pads=1x1x1x1/post=bias,hard_swish",
        "Conv/f32/x=8x64x28x28/w=64x64x3x3/pads=1x1x1x1/post=bias,swish:1",
        "Conv/f32/x=1x80x3000/w=384x80x3/pads=1x1/post=bias,gelu",
        "Conv/i8/x=8x64x28x28/w=64x64x3x3/pads=1x1x1x1/post=bias,hard_swish",
        "MatMul/f16/a=128x768/b=768x3072/b_constant=1/post=bias,gelu", "Unary/f16/fn=hard_swish/x=8x4096",
        "NormGradient/f32/x=8x64x784", "NormGradient/f32/of=layer/x=256x768",
        "NormGradient/f32/of=rms/x=256x768/bias=0"}) {
    INFO(signature);
    CHECK_FALSE(cudnn::graph_plans_listed(parse_layer(signature), h100).empty());
  }
  // f32 is strict. All engines of products round their operands for tensor cores; the engines of convolutions do not.
  CHECK(cudnn::graph_plans_listed(parse_layer("MatMul/f32/a=128x64/b=64x256"), h100).empty());
  CHECK_FALSE(cudnn::graph_plans_listed(parse_layer("MatMul/tf32/a=128x64/b=64x256"), h100).empty());
  CHECK_FALSE(cudnn::graph_plans_listed(parse_layer("Conv/f32/x=8x64x28x28/w=64x64x3x3/pads=1x1x1x1"), h100).empty());
}

TEST_CASE("a convolution of one dimension is one of two with height 1 to cuDNN") {
  const op::Conv conv =
      detail::with_unit_height(op::Conv{.x = {1, 80, 3000},
                                        .w = {384, 80, 3},
                                        .pads = {1, 2},
                                        .strides = {2},
                                        .post = {bias, {ElementwiseFn::add, TensorShape{1, 384, 1}}}});
  CHECK(conv.x == TensorShape{1, 80, 1, 3000});
  CHECK(conv.w == TensorShape{384, 80, 1, 3});
  CHECK(conv.pads == TensorShape{0, 1, 0, 2});  // both begins, then both ends
  CHECK(conv.strides == TensorShape{1, 2});
  CHECK(conv.dilations.empty());
  CHECK(conv.post[1].shape == TensorShape{1, 384, 1, 1});
  CHECK(conv.y() == TensorShape{1, 384, 1, 1501});  // (3000 + 1 + 2 - 3) / 2 + 1
}

TEST_CASE("cuDNN's plans agree with the reference", "[gpu]") {
  const auto backend = cudnn::backend();
  if (!test::has_device(*backend)) return;
  const std::vector<Layer> layers{
      op::Conv{.x = {1, 16, 14, 14}, .w = {32, 16, 3, 3}, .pads = {1, 1, 1, 1}},
      op::Conv{.x = {1, 16, 14, 14}, .w = {32, 16, 3, 3}, .pads = {1, 1, 1, 1}, .post = {bias, ElementwiseFn::relu}},
      op::Conv{.x = {2, 8, 9, 9},
               .w = {8, 8, 3, 3},
               .pads = {1, 1, 1, 1},
               .post = {bias, {ElementwiseFn::add, TensorShape{}}, ElementwiseFn::relu}},
      op::Conv{.x = {1, 16, 15, 15}, .w = {16, 1, 3, 3}, .strides = {2, 2}, .group = 16},
      op::Conv{.type = DataType::tf32, .x = {1, 16, 14, 14}, .w = {32, 16, 3, 3}, .pads = {1, 1, 1, 1}},
      op::Conv{.type = DataType::f16, .x = {1, 16, 14, 14}, .w = {32, 16, 3, 3}, .pads = {1, 1, 1, 1}},
      op::Conv{.type = DataType::bf16, .x = {1, 16, 14, 14}, .w = {32, 16, 1, 1}},
      op::Conv{.type = DataType::i8,
               .x = {1, 32, 14, 14},
               .w = {32, 32, 3, 3},
               .pads = {1, 1, 1, 1},
               .post = {bias, ElementwiseFn::relu}},
      op::ConvTranspose{.x = {1, 8, 7, 7}, .w = {8, 4, 3, 3}, .strides = {2, 2}},
      op::Pool{.x = {1, 8, 12, 12}, .kernel = {3, 3}, .pads = {1, 1, 1, 1}, .strides = {2, 2}},
      op::Pool{.mode = op::PoolMode::average, .x = {2, 8, 7, 7}, .kernel = {7, 7}},
      op::Softmax{.x = {12, 100, 1}},
      op::Softmax{.x = {3, 10, 33}, .log = true},
      op::BatchNorm{.x = {2, 16, 49}, .post = {ElementwiseFn::relu}},
      op::BatchNorm{.type = DataType::f16, .x = {2, 16, 49}},
      op::Lrn{.x = {2, 16, 30}},
      op::Unary{.fn = ElementwiseFn::tanh, .x = {1003}},
      op::Unary{.fn = ElementwiseFn::clip, .x = {1003}, .beta = 6},
      op::Binary{.fn = ElementwiseFn::sub, .a = {4, 64, 49}, .b = {1, 64, 1}},
      op::Binary{.fn = ElementwiseFn::sub, .a = {1, 64, 1}, .b = {4, 64, 49}},
      op::Nary{.x = {4, 100}, .count = 3, .mean = true},
      op::Reduce{.x = {12, 100}, .axes = {1}},
      op::Transpose{.x = {5, 6, 7}, .perm = {2, 0, 1}},
      op::Conv{.x = {2, 16, 50}, .w = {32, 16, 3}, .pads = {1, 1}, .strides = {2}, .post = {bias}},
      op::Conv{.type = DataType::f16,
               .x = {2, 16, 50},
               .w = {32, 16, 3},
               .pads = {1, 1},
               .post = {bias, ElementwiseFn::gelu}},
      op::ConvTranspose{.x = {1, 8, 21}, .w = {8, 4, 3}, .strides = {2}},
      op::Conv{.type = DataType::f16,
               .x = {1, 16, 14, 14},
               .w = {32, 16, 3, 3},
               .pads = {1, 1, 1, 1},
               .post = {bias, ElementwiseFn::hard_swish}},
      op::Conv{.type = DataType::tf32,
               .x = {1, 16, 14, 14},
               .w = {32, 16, 3, 3},
               .pads = {1, 1, 1, 1},
               .post = {bias, {ElementwiseFn::swish, 1}}},
      op::Unary{.type = DataType::f16, .fn = ElementwiseFn::mish, .x = {8, 4096}},
      op::MatMul{.type = DataType::tf32, .a = {32, 64}, .b = {64, 48}, .post = {bias, ElementwiseFn::relu}},
      op::MatMul{.type = DataType::f16, .a = {32, 64}, .b = {64, 48}, .post = {bias, ElementwiseFn::gelu}},
      op::LayerNorm{.x = {16, 96}, .bias = true},
      op::Attention{.type = DataType::f16, .q = {1, 4, 64, 64}, .k = {1, 4, 64, 64}, .v = {1, 4, 64, 64}},
      op::Attention{.type = DataType::f16,
                    .q = {2, 4, 48, 64},
                    .k = {2, 4, 72, 64},
                    .v = {2, 4, 72, 64},
                    .q_tokens_first = true,
                    .k_tokens_first = true,
                    .v_tokens_first = true,
                    .y_tokens_first = true},
      op::Attention{
          .type = DataType::f16, .q = {1, 8, 64, 64}, .k = {1, 2, 64, 64}, .v = {1, 2, 64, 64}, .causal = true},
      op::Attention{
          .type = DataType::f16, .q = {2, 4, 48, 64}, .k = {2, 4, 72, 64}, .v = {2, 4, 72, 64}, .k_transposed = true},
      op::Recurrent{.x = {5, 2, 16}, .hidden = 24},
      op::Recurrent{.x = {5, 2, 16}, .hidden = 24, .directions = 2, .initial_state = true},
      op::Recurrent{.cell = op::Cell::gru, .x = {5, 2, 16}, .hidden = 24, .linear_before_reset = true},
  };
  for (const auto& layer : layers) {
    INFO(LayerSignature(layer).text());
    CHECK(test::check_device_plans(*backend, layer) > 0);
  }
  // Strict f32 excludes the engines that round operands; on some devices no engine is left.
  const op::MatMul strict{.a = {32, 64}, .b = {64, 48}};
  if (std::holds_alternative<PlanDrafts>(backend->drafts(strict, 1)))
    CHECK(test::check_device_plans(*backend, strict) > 0);
}

// The variances of the rows are about a third, so that an epsilon of 0.5 changes every result.
TEST_CASE("a witness of cuDNN's plans computes with a node's epsilon", "[gpu]") {
  const std::vector<std::shared_ptr<const Backend>> backends{cudnn::backend(), cuda::backend()};
  for (const auto& backend : backends)
    if (!test::has_device(*backend)) return;
  const Graph graph = testing::import_text(R"(m (float[1,16,6,8] x) => (float[1,16,6,8] y, float[1,16,6,8] z) {
    s = Constant<value = int64[1] {8}>()
    k = Constant<value = int64[4] {16, 16, 3, 3}>()
    scale = ConstantOfShape<value = float[1] {1.5}>(s)
    shift = ConstantOfShape<value = float[1] {0.5}>(s)
    w = ConstantOfShape<value = float[1] {0.1}>(k)
    y = LayerNormalization<axis = -1, epsilon = 0.5>(x, scale, shift)
    c = Conv<pads = [1, 1, 1, 1]>(x, w)
    z = Relu(c)
  })",
                                           {.executable = true});
  const Witness witness = make_witness(graph, testing::rows_for(graph, backends),
                                       {.backends = backends, .budget = {0.01}, .weight_seed = 7});
  CAPTURE(witness.refused);
  REQUIRE(witness.given());
  CHECK(witness.difference <= 1e-4);
}
