// SPDX-License-Identifier: Apache-2.0
#include "support/catch.hpp"
#include <benanza/model/layer.hpp>
#include <benanza/model/layer_signature.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace {

using namespace benanza;
using namespace benanza::op;
using enum ElementwiseFn;

constexpr double infinity = std::numeric_limits<double>::infinity();

/// At least one layer of every operator, with fields that are not at their defaults.
std::vector<Layer> samples() {
  return {
      op::Conv{.x = {1, 64, 56, 56}, .w = {64, 64, 3, 3}, .pads = {1, 1, 1, 1}, .post = {bias, relu}},
      op::Conv{.type = DataType::u8,
               .x = {1, 32, 1, 100},
               .w = {64, 4, 1, 9},
               .pads = {0, -1, 0, 4},
               .strides = {1, 2},
               .dilations = {1, 3},
               .group = 8,
               .w_constant = false,
               .w_type = DataType::i8,
               .y_type = DataType::i32},
      op::Conv{.x = {1, 8, 6, 6, 6},
               .w = {16, 8, 3, 3, 3},
               .post = {{clip, 0, 6}, {clip, -infinity, 1e30}, {leaky_relu, 0.1}, {shrink, 0, 0.5}}},
      op::AllReduce{.n = 25557032, .ranks = 4},
      op::ReduceScatter{.n = 64, .ranks = 2},
      op::AllGather{.type = DataType::bf16, .n = 64, .ranks = 8},
      op::ConvGradient{.x = {2, 64, 56, 56}, .w = {64, 64, 3, 3}, .pads = {1, 1, 1, 1}},
      op::ConvGradient{.type = DataType::bf16,
                       .of = op::ConvGradientOf::weights,
                       .x = {2, 8, 9, 9},
                       .w = {16, 4, 3, 3},
                       .pads = {0, 0, 1, 1},
                       .strides = {2, 2},
                       .dilations = {2, 1},
                       .group = 2},
      op::NormGradient{.x = {2, 64, 3136}},
      op::NormGradient{.of = op::NormGradientOf::layer, .x = {394, 768}, .affine = false},
      op::SoftmaxGradient{.x = {24, 197, 1}, .log = true},
      op::PoolGradient{.x = {2, 64, 112, 112}, .kernel = {3, 3}, .pads = {1, 1, 1, 1}, .strides = {2, 2}},
      op::PoolGradient{.mode = op::PoolMode::average, .x = {2, 2048, 7, 7}, .kernel = {7, 7}},
      op::LossGradient{.x = {2, 1000, 1}, .softmax = true, .reduction = op::LossReduction::sum, .weighted = true},
      op::GatherGradient{.x = {1, 30522, 768}, .indices = 128, .index_type = DataType::i32},
      op::ResizeGradient{.x = {1, 64, 28, 28}, .y = {1, 64, 56, 56}, .mode = op::ResizeMode::linear},
      op::OptimizerStep{.type = DataType::bf16, .rule = op::OptimizerRule::adamw, .x = {25557032}, .master = true},
      op::NormGradient{.of = op::NormGradientOf::group, .x = {2, 64, 49}, .groups = 32},
      op::NormGradient{.of = op::NormGradientOf::rms, .x = {394, 768}, .bias = false},
      op::UnaryGradient{.x = {401408}},
      op::UnaryGradient{.fn = ElementwiseFn::clip, .x = {99}, .alpha = 0, .beta = 6},
      op::ConvTranspose{
          .x = {1, 8, 4, 4}, .w = {8, 3, 2, 2}, .strides = {2, 2}, .output_padding = {1, 0}, .post = {bias}},
      op::MatMul{.a = {12, 128, 64},
                 .b = {12, 64, 128},
                 .trans_b = true,
                 .post = {{mul, TensorShape{1, 1, 1}}, {add, TensorShape{1, 128, 128}}, {sub, TensorShape{}, true}}},
      op::MatMul{.type = DataType::i8,
                 .a = {128, 768},
                 .b = {768, 3072},
                 .b_constant = true,
                 .b_type = DataType::u8,
                 .y_type = DataType::f32,
                 .post = {bias, gelu}},
      op::Attention{.q = {1, 12, 128, 64},
                    .k = {1, 12, 128, 64},
                    .v = {1, 12, 128, 64},
                    .mask = {1, 1, 1, 128},
                    .causal = true,
                    .k_transposed = true},
      op::Attention{.q = {1, 12, 4, 64},
                    .k = {1, 12, 128, 64},
                    .v = {1, 12, 128, 64},
                    .mask = {1, 1, 4, 128},
                    .mask_type = DataType::boolean,
                    .capped = true,
                    .past = 100,
                    .before = 64,
                    .after = 2,
                    .scores = op::Scores::weights},
      op::Rotary{.type = DataType::bf16, .x = {12, 128, 64}, .angles = {1, 128, 32}, .interleaved = true},
      op::Rotary{.x = {12, 128, 64}, .angles = {1, 128, 16}, .turned = 32},
      op::Recurrent{.x = {100, 2, 64}, .hidden = 32, .peepholes = true, .batch_first = true},
      op::RecurrentGradient{
          .y = {100, 2, 32}, .directions = 2, .initial_state = true, .last_c = true, .to_initial = true},
      op::RecurrentGradient{.cell = Cell::gru,
                            .y = {100, 2, 32},
                            .reverse = true,
                            .linear_before_reset = true,
                            .every_step = false,
                            .last_h = true},
      op::Recurrent{.type = DataType::u8, .x = {100, 2, 64}, .hidden = 32, .weight_type = DataType::i8},
      op::Recurrent{.x = {100, 2, 64}, .hidden = 32, .rows = 130},
      op::Recurrent{.cell = Cell::gru,
                    .x = {100, 1, 64},
                    .hidden = 32,
                    .directions = 2,
                    .bias = false,
                    .initial_state = true,
                    .linear_before_reset = true},
      op::Einsum{.a = {2, 3, 4}, .b = {4, 5, 3}, .a_labels = {0, 1, 2}, .b_labels = {2, 3, 1}, .y_labels = {0, 3}},
      op::Einsum{.a = {3, 3}, .a_labels = {0, 0}, .y_labels = {0}, .two_operands = false},
      op::Pool{.mode = PoolMode::average,
               .x = {1, 64, 7, 7},
               .kernel = {3, 3},
               .pads = {1, 1, 2, 2},
               .strides = {2, 2},
               .include_pad = true,
               .ceil_pads = {1, 1}},
      op::Pool{.x = {1, 4, 8, 8}, .kernel = {2, 2}, .indices = true},
      op::Pool{.mode = PoolMode::lp, .x = {1, 4, 8, 8}, .kernel = {2, 2}, .p = 3},
      op::BatchNorm{.x = {1, 64, 3136}, .post = {relu}},
      op::LayerNorm{.x = {128, 768}, .rms = true, .scale = false, .bias = true},
      op::LayerNorm{.x = {128, 768}, .residual = Residual::kept, .x_bias = true},
      op::GroupNorm{.x = {1, 32, 64}, .groups = 8},
      op::Lrn{.x = {1, 96, 3025}, .size = 3, .beta = 0.5},
      op::Softmax{.x = {12, 128, 1}, .log = true},
      op::Unary{.fn = celu, .x = {1000}, .alpha = 0.1, .post = {{mul, TensorShape{1}}, {pow, TensorShape{1}, true}}},
      op::Unary{.fn = clip, .x = {1000}, .alpha = -infinity, .beta = 1.0 / 3},
      op::Binary{.fn = mul, .a = {64, 3136}, .b = {64, 1}, .post = {sigmoid}},
      op::Binary{.type = DataType::i64, .fn = add, .a = {8}, .b = {8}, .same = true},
      op::Nary{.fn = max, .x = {1000}, .count = 4},
      op::Nary{.x = {1000}, .mean = true},
      op::Where{.c = {1, 16}, .x = {4, 16}, .y = {1, 1}},
      op::Expression{.x = {4, 16},
                     .rows = 1,
                     .in = {{}, {.shape = {1, 16}}},
                     .steps = {{.fn = ElementwiseFn::mul, .of = {0, 1}},
                               {.kind = StepKind::reduction, .reduce = op::ReduceFn::max, .of = {2}},
                               {.fn = ElementwiseFn::sub, .of = {2, 3}}},
                     .out = {4}},
      op::Reduce{.fn = ReduceFn::log_sum_exp, .x = {8, 100, 8}, .axes = {0, 2}},
      op::TopK{.x = {1, 1000, 1}, .k = 5, .largest = false, .sorted = false},
      op::Transpose{.x = {12, 128, 64}, .perm = {1, 0, 2}},
      op::Concat{.outer = 2, .sizes = {64, 32, 32}, .inner = 3136},
      op::Concat{.outer = 8, .sizes = {127, 1}, .inner = 64, .in_place = true},
      op::Split{.outer = 128, .sizes = {768, 768, 768}},
      op::Slice{.x = {128, 2304}, .starts = {0, 768}, .y = {128, 768}},
      op::Slice{.x = {100}, .starts = {99}, .y = {34}, .steps = {-3}},
      op::Pad{.x = {3, 10, 10}, .begins = {0, 1, 2}, .ends = {0, -1, 2}, .mode = PadMode::reflect},
      op::Gather{.x = {1, 30522, 768}, .indices = 128, .index_type = DataType::i32, .constant = true},
      op::GatherElements{.x = {2, 10, 3}, .indices = {2, 4, 3}, .axis = 1},
      op::GatherNd{.x = {2, 10, 3}, .indices = {2, 5, 1}, .batch_dims = 1},
      op::ScatterElements{.x = {2, 10, 3}, .indices = {2, 4, 3}, .axis = 1, .reduction = ScatterReduction::mul},
      op::ScatterElements{.x = {2, 10, 3}, .indices = {2, 4, 3}, .axis = 1, .in_place = true},
      op::ScatterNd{.x = {10, 3}, .indices = {4, 1}, .reduction = ScatterReduction::add},
      op::ScatterNd{.x = {10, 3}, .indices = {4, 1}, .in_place = true},
      op::Expand{.x = {1, 64}, .y = {10, 64}},
      op::Tile{.x = {10, 64}, .repeats = {2, 3}},
      op::Resize{.x = {1, 64, 8, 8},
                 .y = {1, 64, 16, 16},
                 .mode = ResizeMode::linear,
                 .coordinates = ResizeCoordinates::align_corners},
      op::Resize{.x = {1, 64, 8, 8}, .y = {1, 64, 16, 16}, .rounding = ResizeRounding::ceil},
      op::Resize{.x = {1, 64, 16, 16}, .y = {1, 64, 8, 8}, .mode = ResizeMode::cubic, .antialias = true},
      op::GridSample{.x = {2, 8, 16, 16},
                     .out = {4, 5},
                     .mode = ResizeMode::cubic,
                     .padding = GridPadding::reflection,
                     .align_corners = true},
      op::RoiAlign{.x = {1, 256, 50, 68},
                   .boxes = 1000,
                   .out = {7, 7},
                   .samples = 2,
                   .max = true,
                   .half_pixel = false,
                   .index_type = DataType::i32},
      op::DeformConv{.x = {1, 64, 28, 28},
                     .w = {32, 16, 3, 3},
                     .pads = {1, 1, 1, 1},
                     .strides = {2, 2},
                     .dilations = {1, 2},
                     .group = 4,
                     .offset_group = 2,
                     .bias = true,
                     .mask = true,
                     .w_constant = false},
      op::Fourier{.x = {4, 512, 3}, .length = 1000, .inverse = true, .one_sided = true},
      op::Fourier{.x = {1, 16000, 1},
                  .length = 400,
                  .real = true,
                  .one_sided = true,
                  .frames = 98,
                  .step = 160,
                  .window = true},
      op::Cumulative{.type = DataType::i64, .x = {8, 128, 3}, .product = true, .exclusive = true, .reverse = true},
      op::Trilu{.x = {12, 128, 100}, .upper = false, .diagonal = -3},
      op::OneHot{.type = DataType::i64, .y = {16, 1000, 2}, .index_type = DataType::i32},
      op::TensorScatter{.x = {2, 8, 1024, 64}, .length = 5, .indices = false, .circular = true, .in_place = true},
      op::Generate{.fn = GenerateFn::eye, .y = {8, 16}},
      op::AxisNorm{.fn = AxisNormFn::hardmax, .x = {8, 100, 3}},
      op::ChannelNorm{.x = {8, 64, 49}, .running = true},
      op::ChannelNorm{.x = {8, 64, 49}, .affine = false},
      op::Loss{.x = {32, 1000, 1},
               .softmax = true,
               .reduction = LossReduction::none,
               .weighted = true,
               .log_prob = true,
               .target_type = DataType::i32},
      op::TreeEnsemble{.type = DataType::f64,
                       .x = {100, 131},
                       .trees = 200,
                       .comparisons = 777,
                       .targets = 7,
                       .leaf_weights = 2,
                       .aggregate = TreeAggregate::max,
                       .transform = TreeTransform::logistic,
                       .labels = true,
                       .score_type = DataType::f32},
      op::Dequantize{.x = {1, 4096, 768}, .block = 32},
      op::Quantize{.x = {768, 4096, 1}, .block = 64},
      op::Cast{.to = DataType::f16, .x = {4096}},
      op::Quantize{.to = DataType::i8, .x = {1, 4096, 1}, .dynamic = true},
      op::Dequantize{.type = DataType::i32, .to = DataType::f16, .x = {64, 9, 4}},
      op::View{.rule = ViewRule::dropout, .x = {4096}},
      op::View{.type = DataType::boolean, .x = {0}},
      op::Opaque{.type = DataType::i64,
                 .op = "com.example.Op-2",
                 .read_bytes = 4096,
                 .written_bytes = 64,
                 .constant_bytes = 1024},
  };
}

TEST_CASE("A signature names kind, type and every field that is not at its default", "[signature]") {
  struct Case {
    Layer layer;
    std::string text;
  };
  const std::vector<Case> cases{
      {op::Conv{.x = {1, 64, 56, 56}, .w = {64, 64, 3, 3}, .pads = {1, 1, 1, 1}, .post = {bias, relu}},
       "Conv/f32/x=1x64x56x56/w=64x64x3x3/pads=1x1x1x1/post=bias,relu"},
      {op::Conv{.type = DataType::u8,
                .x = {1, 8, 4, 4},
                .w = {4, 4, 1, 1},
                .group = 2,
                .w_constant = false,
                .w_type = DataType::i8},
       "Conv/u8/x=1x8x4x4/w=4x4x1x1/group=2/w_constant=0/w_type=i8"},
      {op::Unary{.fn = clip, .x = {8}, .alpha = -infinity, .beta = 6}, "Unary/f32/fn=clip/x=8/alpha=-inf/beta=6"},
      {op::Unary{.fn = leaky_relu, .x = {8}, .alpha = 0.1}, "Unary/f32/fn=leaky_relu/x=8/alpha=0.1"},
      {op::Unary{.x = {8}, .post = {{clip, 0, 6}, {elu, 1e20}, {shrink, 0, 0.5}}},
       "Unary/f32/x=8/post=clip:0:6,elu:1e20,shrink:0:0.5"},
      {op::Binary{.fn = sub,
                  .a = {64, 3136},
                  .b = {64, 1},
                  .post = {add,
                           {mul, TensorShape{64, 1}},
                           per_channel(mul),
                           {sub, TensorShape{}, true},
                           {div, TensorShape{1}, true}}},
       "Binary/f32/fn=sub/a=64x3136/b=64x1/post=add,mul:64x1,mul:channel,sub:swapped,div:1:swapped"},
      {op::Pool{.mode = PoolMode::average, .x = {1, 8, 7, 7}, .kernel = {7, 7}},
       "Pool/f32/mode=average/x=1x8x7x7/kernel=7x7"},
      {op::Opaque{.op = "NonZero", .read_bytes = 4096}, "Opaque/f32/op=NonZero/read_bytes=4096"},
      {op::Dequantize{.x = {1, 10, 1}}, "Dequantize/u8/x=1x10x1"},
  };
  for (const auto& [layer, text] : cases) CHECK(LayerSignature(layer).text() == text);
}

TEST_CASE("Every layer comes back from its signature", "[signature]") {
  const auto all = samples();
  for (const auto& layer : all) {
    const std::string text = LayerSignature(layer).text();
    INFO(text);
    CHECK(parse_layer(text) == layer);
    CHECK(LayerSignature::parse(text) == LayerSignature(layer));
    CHECK(text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.,=:x/-") ==
          std::string::npos);
    CHECK_FALSE(operands(layer).outputs.empty());
    CHECK(std::isfinite(cost(layer).bytes().value));
  }
  for (std::size_t kind = 0; kind < std::variant_size_v<Layer>; ++kind)
    CHECK(std::any_of(all.begin(), all.end(), [&](const Layer& layer) { return layer.index() == kind; }));
}

TEST_CASE("Layers that differ in one field have different signatures", "[signature]") {
  std::vector<std::string> texts;
  for (const auto& layer : samples()) texts.push_back(LayerSignature(layer).text());
  std::sort(texts.begin(), texts.end());
  CHECK(std::adjacent_find(texts.begin(), texts.end()) == texts.end());
  CHECK(LayerSignature(op::Unary{.x = {8}, .alpha = 0.1}) != LayerSignature(op::Unary{.x = {8}, .alpha = 0.1F}));
  CHECK(LayerSignature(op::Unary{.x = {8}, .alpha = -0.0}) == LayerSignature(op::Unary{.x = {8}}));
}

TEST_CASE("Signatures are ordered by operator, then with numbers as numbers", "[signature]") {
  const std::vector<std::string> ordered{"Conv/f32/x=1x9x4x4/w=8x9x1x1",
                                         "Conv/f32/x=1x10x4x4/w=8x10x1x1",
                                         "Conv/f32/x=1x10x4x4/w=8x10x1x1/post=relu",
                                         "Conv/f32/x=1x10x4x4/w=64x10x1x1",
                                         "Conv/f32/x=2x9x4x4/w=8x9x1x1",
                                         "Conv/u8/x=1x9x4x4/w=8x9x1x1",
                                         "MatMul/f32/a=1x1/b=1x1",
                                         "Attention/f32/q=1x1x1x1/k=1x1x1x1/v=1x1x1x1"};
  for (std::size_t i = 0; i < ordered.size(); ++i)
    for (std::size_t j = 0; j < ordered.size(); ++j) {
      INFO(ordered[i] << " against " << ordered[j]);
      CHECK((LayerSignature::parse(ordered[i]) < LayerSignature::parse(ordered[j])) == (i < j));
    }
}

TEST_CASE("Another spelling of a signature is read and made canonical", "[signature]") {
  CHECK(LayerSignature::parse("Conv/f32/group=1/w=8x4x1x1/x=1x4x09x9/pads=none/w_type=none/post=none").text() ==
        "Conv/f32/x=1x4x9x9/w=8x4x1x1");
}

TEST_CASE("A broken signature is refused with what was found where", "[signature]") {
  struct Case {
    std::string text, message;
  };
  const std::vector<Case> cases{
      {"", "signature '', character 1: nothing, expected an operator such as Conv"},
      {"Foo/f32", "signature 'Foo/f32', character 1: 'Foo', expected an operator such as Conv"},
      {"Conv", "signature 'Conv', character 5: nothing, expected an element type such as f32"},
      {"Conv/f3", "signature 'Conv/f3', character 6: 'f3', expected an element type such as f32"},
      {"Conv/f32/x=1xq", "signature 'Conv/f32/x=1xq', character 12: '1xq', expected whole numbers joined by x"},
      {"Conv/f32/y=1", "signature 'Conv/f32/y=1', character 10: 'y', expected a field of Conv"},
      {"Conv/f32/type=u8", "signature 'Conv/f32/type=u8', character 10: 'type', expected a field of Conv"},
      {"Conv/f32/x=1/x=2", "signature 'Conv/f32/x=1/x=2', character 14: 'x', expected each field once"},
      {"Conv/f32/", "signature 'Conv/f32/', character 10: nothing, expected a field of Conv"},
      {"Conv/f32/x", "signature 'Conv/f32/x', character 11: nothing, expected = and a value"},
      {"Conv/f32/group=2.5", "signature 'Conv/f32/group=2.5', character 16: '2.5', expected a whole number"},
      {"Conv/f32/group=99999999999999999999",
       "signature 'Conv/f32/group=99999999999999999999', character 16: '99999999999999999999', expected a whole "
       "number"},
      {"Conv/f32/w_constant=yes", "signature 'Conv/f32/w_constant=yes', character 21: 'yes', expected 0 or 1"},
      {"Conv/f32/post=bias,rel",
       "signature 'Conv/f32/post=bias,rel', character 15: 'bias,rel', expected steps such as bias,relu"},
      {"Unary/f32/fn=frob", "signature 'Unary/f32/fn=frob', character 14: 'frob', expected one of this field's words"},
      {"Unary/f32/alpha=nan", "signature 'Unary/f32/alpha=nan', character 17: 'nan', expected a number"},
      {"Unary/f32/\n", "signature 'Unary/f32/?', character 11: '?', expected a field of Unary"},
      {"Conv/f32", "signature 'Conv/f32', character 1: 'Conv', expected sizes that fit together"},
      {"Conv/f32/x=1x3x8x8/w=8x4x3x3",
       "signature 'Conv/f32/x=1x3x8x8/w=8x4x3x3', character 1: 'Conv', expected sizes that fit together"},
  };
  for (const auto& [text, message] : cases) CHECK_THROWS_WITH(parse_layer(text), message);
}

TEST_CASE("Sizes that do not fit together are refused, so that costs never read out of range", "[signature]") {
  for (const std::string text : {"MatMul/f32/a=4/b=4",
                                 "MatMul/f32/a=4x4/b=5x4",
                                 "MatMul/f32/a=2x4x4/b=3x4x4",
                                 "Conv/f32/x=1x4x2x2/w=4x4x3x3",
                                 "Conv/f32/x=1x4x8x8/w=4x4x3x3/pads=1x1",
                                 "Conv/f32/x=1x4x8x8/w=4x4x3x3/strides=0x1",
                                 "Conv/f32/x=1x4x8x8/w=4x4x3x3/post=mul:1x3x1x1",
                                 "Pool/f32/x=1x4x8x8",
                                 "Softmax/f32/x=4",
                                 "Reduce/f32/x=4x4/axes=1x0",
                                 "Reduce/f32/x=4x4/axes=2",
                                 "Transpose/f32/x=4x4/perm=0x0",
                                 "Transpose/f32/x=4x4/perm=0x2",
                                 "Slice/f32/x=8/starts=0/y=9",
                                 "Slice/f32/x=8/starts=4/y=5",
                                 "Slice/f32/x=8/starts=0/y=4/steps=3",
                                 "Gather/f32/x=4",
                                 "GatherNd/f32/x=4/indices=4x2",
                                 "ScatterNd/f32/x=4/indices=4x0",
                                 "Binary/f32/a=4x1/b=5",
                                 "Binary/f32/fn=relu/a=4/b=4",
                                 "Unary/f32/fn=add/x=4",
                                 "Einsum/f32/a=4x4/a_labels=0x9/y_labels=0/two_operands=0",
                                 "Pad/f32/x=4/begins=-4/ends=0",
                                 "View/f32/x=2x2",
                                 "Cumulative/f32/x=4",
                                 "Trilu/f32/x=1x4x4/diagonal=5",
                                 "GridSample/f32/x=1x2x4x4/out=3",
                                 "Loss/f32/x=1x2x3/log_prob=1",
                                 "TreeEnsemble/f32/x=4x4/leaf_weights=2",
                                 "TreeEnsemble/f32/x=4x4/comparisons=99",
                                 "Fourier/f32/x=1x8x1/length=8/frames=2/step=4",
                                 "Fourier/f32/x=1x8x1/length=8/real=1/inverse=1",
                                 "RoiAlign/f32/x=1x2x4x4/out=0x1",
                                 "DeformConv/f32/x=1x4x8x8/w=4x4x3x3/offset_group=3",
                                 "Generate/f32/y=2x2",
                                 "ChannelNorm/f32/x=1x2x3/affine=0/running=1",
                                 "TensorScatter/f32/x=1x1x4x4/length=5",
                                 "Quantize/f32/x=1x8x1/block=9",
                                 "Resize/f32/x=4/y=2/antialias=1",
                                 "Expand/f32/x=3/y=4",
                                 "Unary/f32/x=9999999999999999",
                                 "Nary/f32/x=8/count=1000000000000",
                                 "Pool/f32/x=1x1x1x999999999999/kernel=1x999999999999"}) {
    INFO(text);
    CHECK_THROWS_AS(parse_layer(text), InputError);
  }
}

}  // namespace
