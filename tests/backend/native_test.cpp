// SPDX-License-Identifier: Apache-2.0
// Every native kernel against the reference: all functions, shapes whose sizes are not multiples of any block, one to
// three threads, and each instruction set of this machine.
#include "backend/native/backend.hpp"
#include "plan_support.hpp"

namespace benanza {

namespace {

using enum ElementwiseFn;

/// Checks all plans of the layers on every instruction set, with one and with two threads.
void check(std::initializer_list<Layer> layers) {
  for (const auto isa : {native::Isa::baseline, native::Isa::avx2, native::Isa::avx512}) {
    if (!native::runs_here(isa)) continue;
    const auto backend = native::backend(isa);
    for (const Layer& layer : layers) {
      for (const int threads : {1, 2}) {
        INFO("kind " << kind(layer) << ", element type " << name(type(layer)) << ", "
                     << native::isa_names[static_cast<std::size_t>(isa)]);
        std::string shapes;
        for (const auto& operand : operands(layer).inputs) {
          shapes.append(" ").append(operand.name).append("=");
          for (const auto dim : operand.shape) shapes.append(std::to_string(dim)).append(".");
        }
        INFO(shapes);
        CHECK(test::check_plans(*backend, layer, threads) > 0);
      }
    }
  }
}

PostOp post(ElementwiseFn fn, double alpha = 0, double beta = 0) { return {fn, alpha, beta}; }

}  // namespace

TEST_CASE("Functions of one operand agree with the reference", "[native]") {
  for (auto fn = abs; fn < add; fn = static_cast<ElementwiseFn>(static_cast<int>(fn) + 1)) {
    if (fn == bitwise_not || fn == logical_not || fn == atanh) continue;
    INFO(enum_names(fn)[static_cast<std::size_t>(fn)]);
    const double alpha = fn == clip ? -0.25 : 0.75, beta = 0.5;
    check({op::Unary{.fn = fn, .x = {1037}, .alpha = alpha, .beta = beta}});
  }
  // The magnitude of a complex number: a sum of squares has a square root only if the addend is positive.
  check({op::Unary{.fn = square, .x = {387}, .post = {{add, TensorShape{}}, sqrt}},
         op::Binary{.fn = add, .a = {387}, .b = {387}, .post = {sqrt}}});
  check({op::Unary{.fn = relu, .x = {1}}, op::Unary{.fn = gelu, .x = {7}}, op::Unary{.fn = sigmoid, .x = {70001}},
         op::Unary{.type = DataType::f16, .fn = tanh, .x = {333}},
         op::Unary{.type = DataType::bf16, .fn = exp, .x = {333}},
         op::Unary{.type = DataType::i64, .fn = neg, .x = {77}}, op::Unary{.type = DataType::i32, .fn = abs, .x = {77}},
         op::Unary{.type = DataType::i64, .fn = sign, .x = {77}},
         op::Unary{.type = DataType::i32, .fn = bitwise_not, .x = {77}},
         op::Unary{.type = DataType::boolean, .fn = logical_not, .x = {131}}, op::Unary{.fn = relu, .x = {300001}}});
}

TEST_CASE("Functions of two operands agree with the reference, however they broadcast", "[native]") {
  for (const auto fn :
       {add, sub, mul, div, max, min, mod, fmod, pow, prelu, equal, greater, greater_or_equal, less, less_or_equal}) {
    INFO(enum_names(fn)[static_cast<std::size_t>(fn)]);
    check({op::Binary{.fn = fn, .a = {1037}, .b = {1037}}, op::Binary{.fn = fn, .a = {5, 41}, .b = {1, 41}},
           op::Binary{.fn = fn, .a = {7, 53}, .b = {7, 1}}, op::Binary{.fn = fn, .a = {1}, .b = {77}}});
  }
  for (const auto fn :
       {add, sub, mul, div, mod, fmod, max, min, bitwise_and, bitwise_or, bitwise_xor, equal, greater, less_or_equal})
    for (const auto type : {DataType::i32, DataType::i64})
      check({op::Binary{.type = type, .fn = fn, .a = {3, 37}, .b = {3, 37}},
             op::Binary{.type = type, .fn = fn, .a = {37}, .b = {1}}});
  for (const auto fn : {logical_and, logical_or, logical_xor, equal})
    check({op::Binary{.type = DataType::boolean, .fn = fn, .a = {3, 37}, .b = {1, 37}}});
  check({op::Binary{.fn = add, .a = {2, 3, 5, 7}, .b = {1, 3, 1, 7}},
         op::Binary{.fn = sub, .a = {2, 1, 5, 1}, .b = {1, 3, 1, 7}},
         op::Binary{.fn = mul, .a = {4, 1, 3}, .b = {4, 9, 1}},
         op::Binary{.fn = add, .a = {3, 100, 49}, .b = {1, 100, 1}},
         op::Binary{.fn = add, .a = {600, 7}, .b = {600, 1}}, op::Binary{.fn = add, .a = {600, 7}, .b = {1, 7}},
         op::Binary{.type = DataType::f16, .fn = add, .a = {60, 7}, .b = {1, 7}},
         op::Binary{.type = DataType::bf16, .fn = mul, .a = {6, 70}, .b = {6, 1}},
         op::Binary{.fn = mul, .a = {1037}, .b = {1037}, .same = true},
         op::Binary{.fn = add, .a = {300001}, .b = {300001}},
         op::Binary{.fn = sub, .a = {1, 16, 1, 33}, .b = {4, 16, 50, 33}},
         op::Binary{.fn = add, .a = {700, 700}, .b = {1, 700}}});
}

TEST_CASE("Chains of element-wise functions agree with the reference", "[native]") {
  check(
      {op::Unary{.fn = exp,
                 .x = {33, 65},
                 .post = {post(tanh), PostOp(mul, {1, 65}), PostOp(sub, {33, 1}, true), post(relu)}},
       op::Binary{
           .fn = add, .a = {4, 8, 9}, .b = {1, 8, 1}, .post = {post(relu), PostOp(add, TensorShape{}), post(sigmoid)}},
       op::Binary{.fn = mul,
                  .a = {5000},
                  .b = {5000},
                  .post = {post(gelu), PostOp(div, TensorShape{}, true), post(clip, -1, 1)}},
       op::Binary{.type = DataType::f16, .fn = add, .a = {9, 99}, .b = {1, 99}, .post = {post(relu), post(square)}},
       op::BatchNorm{.x = {2, 13, 37}}, op::BatchNorm{.x = {2, 13, 7}, .post = {post(relu)}},
       op::BatchNorm{.x = {3, 77, 1}},
       op::BatchNorm{.x = {1, 64, 5000}, .post = {PostOp(add, TensorShape{}), post(relu)}},
       op::Nary{.fn = add, .x = {3, 41}, .count = 4}, op::Nary{.fn = add, .x = {1000}, .count = 3, .mean = true},
       op::Nary{.fn = max, .x = {77}, .count = 5}, op::Nary{.fn = min, .x = {5, 5}, .count = 3}});
}

TEST_CASE("Where chooses elements of any size", "[native]") {
  for (const auto type : {DataType::f32, DataType::i64, DataType::boolean, DataType::f16, DataType::i32})
    check({op::Where{.type = type, .c = {5, 41}, .x = {5, 41}, .y = {5, 41}},
           op::Where{.type = type, .c = {5, 41}, .x = {1, 1}, .y = {5, 41}},
           op::Where{.type = type, .c = {1, 7}, .x = {9, 7}, .y = {9, 1}},
           op::Where{.type = type, .c = {3, 1}, .x = {3, 50}, .y = {1, 50}},
           op::Where{.type = type, .c = {200}, .x = {1}, .y = {1}}});
}

TEST_CASE("Movement of elements is exact", "[native]") {
  for (const auto type : {DataType::f32, DataType::u8, DataType::f16, DataType::i64, DataType::boolean})
    check({op::Transpose{.type = type, .x = {37, 53}, .perm = {1, 0}},
           op::Transpose{.type = type, .x = {2, 67, 131}, .perm = {0, 2, 1}},
           op::Transpose{.type = type, .x = {3, 5, 7, 9}, .perm = {3, 1, 0, 2}},
           op::Transpose{.type = type, .x = {4, 6, 12, 2}, .perm = {0, 2, 1, 3}},
           op::Transpose{.type = type, .x = {3, 1000}, .perm = {1, 0}},
           op::Transpose{.type = type, .x = {1000, 3}, .perm = {1, 0}},
           op::Transpose{.type = type, .x = {2, 8, 5, 64}, .perm = {0, 2, 1, 3}},
           op::Transpose{.type = type, .x = {17, 4, 2}, .perm = {1, 0, 2}},
           op::Transpose{.type = type, .x = {1, 2, 2, 3, 5, 7}, .perm = {0, 3, 4, 1, 5, 2}},
           op::Transpose{.type = type, .x = {600, 610}, .perm = {1, 0}},
           op::Concat{.type = type, .outer = 3, .sizes = {1, 4, 2}, .inner = 11},
           op::Concat{.type = type, .outer = 50, .sizes = {3, 5}, .inner = 1},
           op::Concat{.type = type, .outer = 4, .sizes = {60, 1}, .inner = 16, .in_place = true},
           op::Split{.type = type, .outer = 3, .sizes = {2, 2, 5}, .inner = 7},
           op::Split{.type = type, .outer = 1, .sizes = {1000, 333}, .inner = 1},
           op::Slice{.type = type, .x = {5, 33, 9}, .starts = {1, 32, 0}, .y = {3, 11, 9}, .steps = {1, -3, 1}},
           op::Slice{.type = type, .x = {9, 40}, .starts = {0, 1}, .y = {9, 20}, .steps = {1, 2}},
           op::Slice{.type = type, .x = {700, 1000}, .starts = {0, 1}, .y = {700, 999}},
           op::Expand{.type = type, .x = {5, 1}, .y = {5, 77}},
           op::Expand{.type = type, .x = {1, 3, 1, 7}, .y = {4, 3, 5, 7}},
           op::Tile{.type = type, .x = {3, 5, 2}, .repeats = {2, 1, 3}},
           op::Tile{.type = type, .x = {7}, .repeats = {100}},
           op::Pad{.type = type, .x = {3, 5, 7}, .begins = {1, 0, 2}, .ends = {0, 2, 1}},
           op::Pad{.type = type, .x = {4, 6, 9}, .begins = {0, 2, 3}, .ends = {1, 3, 2}, .mode = op::PadMode::reflect},
           op::Pad{.type = type, .x = {4, 9}, .begins = {2, 0}, .ends = {0, 12}, .mode = op::PadMode::edge},
           op::Pad{.type = type, .x = {4, 9}, .begins = {1, 11}, .ends = {1, 3}, .mode = op::PadMode::wrap},
           op::Pad{.type = type, .x = {5, 40}, .begins = {-1, -3}, .ends = {2, -1}}});
}

TEST_CASE("Gathers and scatters are exact, and the later update wins", "[native]") {
  for (const auto type : {DataType::f32, DataType::i64, DataType::boolean, DataType::f16})
    for (const auto index : {DataType::i64, DataType::i32})
      check({op::Gather{.type = type, .x = {1, 100, 48}, .indices = 33, .index_type = index},
             op::Gather{.type = type, .x = {5, 7, 1}, .indices = 70, .index_type = index},
             op::Gather{.type = type, .x = {3, 9, 2}, .indices = 4, .index_type = index},
             op::Gather{.type = type, .x = {1, 500, 700}, .indices = 800, .index_type = index},
             op::GatherElements{.type = type, .x = {4, 9, 33}, .indices = {4, 9, 33}, .axis = 1, .index_type = index},
             op::GatherElements{.type = type, .x = {4, 9, 33}, .indices = {3, 5, 70}, .axis = 2, .index_type = index},
             op::GatherElements{.type = type, .x = {9, 8}, .indices = {20, 5}, .axis = 0, .index_type = index},
             op::GatherNd{.type = type, .x = {5, 6, 7}, .indices = {11, 2}, .index_type = index},
             op::GatherNd{.type = type, .x = {3, 6, 7}, .indices = {3, 11, 1}, .batch_dims = 1, .index_type = index},
             op::ScatterElements{.type = type, .x = {5, 33}, .indices = {5, 20}, .axis = 1, .index_type = index},
             op::ScatterElements{.type = type, .x = {50, 3}, .indices = {40, 2}, .axis = 0, .index_type = index},
             op::ScatterNd{.type = type, .x = {20, 7}, .indices = {31, 1}, .index_type = index},
             op::ScatterNd{.type = type, .x = {4, 5, 6}, .indices = {9, 3}, .index_type = index},
             op::ScatterNd{.type = type, .x = {500, 7}, .indices = {2, 1}, .index_type = index, .in_place = true},
             op::ScatterElements{
                 .type = type, .x = {50, 33}, .indices = {50, 2}, .axis = 1, .index_type = index, .in_place = true}});
  for (const auto reduction :
       {op::ScatterReduction::add, op::ScatterReduction::mul, op::ScatterReduction::max, op::ScatterReduction::min})
    check({op::ScatterElements{.x = {5, 33}, .indices = {5, 20}, .axis = 1, .reduction = reduction},
           op::ScatterNd{.type = DataType::i64, .x = {20, 7}, .indices = {31, 1}, .reduction = reduction}});
}

TEST_CASE("Normalisations agree with the reference", "[native]") {
  for (const bool log : {false, true})
    check({op::Softmax{.x = {7, 1000, 1}, .log = log}, op::Softmax{.x = {33, 49, 1}, .log = log},
           op::Softmax{.x = {5, 3, 1}, .log = log}, op::Softmax{.x = {2, 19, 77}, .log = log},
           op::Softmax{.x = {3, 11, 5}, .log = log}});
  for (const bool rms : {false, true})
    for (const bool bias : {false, true})
      check({op::LayerNorm{.x = {9, 768}, .rms = rms, .bias = bias},
             op::LayerNorm{.x = {4, 77}, .rms = rms, .bias = bias},
             op::LayerNorm{.x = {3, 5000}, .rms = rms, .scale = false, .bias = bias},
             op::LayerNorm{.x = {5, 3}, .rms = rms, .bias = bias},
             op::LayerNorm{.x = {9, 77}, .rms = rms, .bias = bias, .residual = op::Residual::added},
             op::LayerNorm{.x = {7, 768}, .rms = rms, .bias = bias, .residual = op::Residual::kept, .x_bias = true}});
  check({op::GroupNorm{.x = {2, 12, 49}, .groups = 4}, op::GroupNorm{.x = {1, 6, 3001}, .groups = 1},
         op::GroupNorm{.x = {3, 5, 10}, .groups = 5}, op::Lrn{.x = {2, 20, 133}}, op::Lrn{.x = {1, 7, 9}, .size = 4},
         op::Lrn{.x = {1, 9, 40}, .size = 3, .beta = 0.5}, op::Lrn{.x = {1, 9, 40}, .beta = 1},
         op::Lrn{.x = {1, 9, 41}, .beta = 0.6}});
}

TEST_CASE("Reductions agree with the reference, whichever axes they take", "[native]") {
  for (int fn = 0; fn <= static_cast<int>(op::ReduceFn::log_sum_exp) + 1; ++fn) {
    const auto reduce = static_cast<op::ReduceFn>(fn);
    if (reduce == op::ReduceFn::arg_max || reduce == op::ReduceFn::arg_min) continue;
    check({op::Reduce{.fn = reduce, .x = {7, 133}, .axes = {1}}, op::Reduce{.fn = reduce, .x = {33, 77}, .axes = {0}},
           op::Reduce{.fn = reduce, .x = {reduce == op::ReduceFn::prod ? 90 : 9001}, .axes = {0}},
           op::Reduce{.fn = reduce, .x = {3, 5, 21}, .axes = {1}},
           op::Reduce{.fn = reduce, .x = {3, 5, 21}, .axes = {0, 2}},
           op::Reduce{.fn = reduce, .x = {3, 5, 4, 7}, .axes = {0, 2}}});
  }
  for (const auto fn : {op::ReduceFn::arg_max, op::ReduceFn::arg_min})
    check({op::Reduce{.fn = fn, .x = {7, 1333}, .axes = {1}}, op::Reduce{.fn = fn, .x = {33, 77}, .axes = {0}},
           op::Reduce{.fn = fn, .x = {3, 21, 50}, .axes = {1}}});
  for (const bool largest : {true, false})
    check({op::TopK{.x = {3, 1000, 1}, .k = 5, .largest = largest},
           op::TopK{.x = {3, 100, 1}, .k = 50, .largest = largest},
           op::TopK{.x = {2, 40, 7}, .k = 3, .largest = largest},
           op::TopK{.x = {1, 9, 1}, .k = 9, .largest = largest}});
}

TEST_CASE("f64 and wide integers agree with the reference where plain loops compute them", "[native]") {
  constexpr auto type = DataType::f64;
  for (const auto fn : {abs, ceil,       clip, cos,   elu,     erf,  exp, floor,    gelu,   is_nan, leaky_relu,
                        neg, reciprocal, relu, round, sigmoid, sign, sin, softplus, square, tanh}) {
    INFO(enum_names(fn)[static_cast<std::size_t>(fn)]);
    check({op::Unary{.type = type, .fn = fn, .x = {1037}, .alpha = fn == clip ? -0.25 : 0.75, .beta = 0.5}});
  }
  for (const auto fn : {add, sub, mul, div, max, min, pow, less, equal}) {
    INFO(enum_names(fn)[static_cast<std::size_t>(fn)]);
    check({op::Binary{.type = type, .fn = fn, .a = {5, 41}, .b = {5, 41}},
           op::Binary{.type = type, .fn = fn, .a = {5, 41}, .b = {1}},
           op::Binary{.type = type, .fn = fn, .a = {41}, .b = {5, 41}}});
  }
  using enum op::ReduceFn;
  for (const auto fn :
       {op::ReduceFn::sum, op::ReduceFn::max, op::ReduceFn::min, prod, l1, sum_square, arg_max, arg_min}) {
    INFO(enum_names(fn)[static_cast<std::size_t>(fn)]);
    for (const auto each : {DataType::f64, DataType::i32, DataType::i64})
      check({op::Reduce{.type = each, .fn = fn, .x = {3, 5, 7}, .axes = {1}},
             op::Reduce{.type = each, .fn = fn, .x = {3, 5, 7}, .axes = {2}}});
  }
  for (const auto fn : {mean, l2, log_sum_exp})
    check({op::Reduce{.type = type, .fn = fn, .x = {3, 5, 7}, .axes = {0, 2}},
           op::Reduce{.type = type, .fn = fn, .x = {3, 300}, .axes = {0}}});
  check({op::Softmax{.type = type, .x = {6, 7, 1}}, op::Softmax{.type = type, .x = {2, 7, 5}},
         op::Softmax{.type = type, .x = {3, 9, 1}, .log = true},
         op::Where{.type = type, .c = {5, 1}, .x = {5, 9}, .y = {1}}});
}

TEST_CASE("Pooling and resizing agree with the reference", "[native]") {
  for (const auto mode : {op::PoolMode::max, op::PoolMode::average, op::PoolMode::lp})
    check({op::Pool{.mode = mode, .x = {2, 3, 23, 29}, .kernel = {3, 3}, .pads = {1, 1, 1, 1}, .strides = {2, 2}},
           op::Pool{.mode = mode, .x = {1, 4, 9, 11}, .kernel = {2, 3}},
           op::Pool{.mode = mode, .x = {2, 37, 9, 11}, .kernel = {5, 5}, .pads = {2, 2, 2, 2}},
           op::Pool{.mode = mode, .x = {2, 9, 7, 7}, .kernel = {7, 7}},
           op::Pool{.mode = mode, .x = {1, 17, 12, 14}, .kernel = {2, 2}, .strides = {2, 2}},
           op::Pool{.mode = mode, .x = {2, 20, 8, 9}, .kernel = {3, 3}, .pads = {1, 1, 1, 1}},
           op::Pool{.mode = mode, .x = {1, 18, 13, 9}, .kernel = {2, 3}, .pads = {1, 2, 0, 1}, .strides = {1, 2}},
           op::Pool{.mode = mode, .x = {1, 16, 11, 12}, .kernel = {3, 3}, .pads = {-1, -2, 1, -1}, .strides = {2, 2}},
           op::Pool{.mode = mode,
                    .x = {1, 2, 17, 19},
                    .kernel = {3, 2},
                    .pads = {2, 1, 0, 1},
                    .strides = {1, 3},
                    .dilations = {2, 3},
                    .include_pad = true},
           op::Pool{.mode = mode, .x = {1, 2, 7, 8, 9}, .kernel = {2, 2, 2}, .strides = {2, 1, 2}, .p = 3},
           op::Pool{.mode = mode, .x = {1, 2, 33}, .kernel = {4}, .strides = {3}, .p = 1}});
  check({op::Pool{.x = {2, 3, 23, 29}, .kernel = {3, 3}, .pads = {1, 1, 1, 1}, .strides = {2, 2}, .indices = true},
         op::Pool{.x = {2, 3, 23, 41}, .kernel = {3, 5}, .pads = {1, 4, 2, 1}, .indices = true},
         op::Pool{
             .x = {1, 2, 5, 9, 70}, .kernel = {2, 2, 3}, .strides = {1, 2, 3}, .dilations = {2, 1, 2}, .indices = true},
         op::Pool{.mode = op::PoolMode::average,
                  .x = {1, 2, 6, 6},
                  .kernel = {3, 3},
                  .pads = {0, 0, 1, 1},
                  .strides = {2, 2},
                  .include_pad = true,
                  .ceil_pads = {1, 1}}});
  for (const auto mode : {op::ResizeMode::nearest, op::ResizeMode::linear, op::ResizeMode::cubic})
    for (const auto coordinates : {op::ResizeCoordinates::half_pixel, op::ResizeCoordinates::align_corners,
                                   op::ResizeCoordinates::asymmetric, op::ResizeCoordinates::pytorch_half_pixel})
      check({op::Resize{.x = {1, 3, 7, 9}, .y = {1, 3, 14, 18}, .mode = mode, .coordinates = coordinates},
             op::Resize{.x = {1, 2, 20, 30}, .y = {1, 2, 13, 11}, .mode = mode, .coordinates = coordinates},
             op::Resize{.x = {2, 5, 9}, .y = {2, 11, 9}, .mode = mode, .coordinates = coordinates}});
  for (const auto rounding :
       {op::ResizeRounding::round_prefer_ceil, op::ResizeRounding::floor, op::ResizeRounding::ceil})
    check({op::Resize{.type = DataType::u8, .x = {1, 3, 7, 9}, .y = {1, 3, 14, 20}, .rounding = rounding}});
}

TEST_CASE("Casts and quantisation agree with the reference", "[native]") {
  const auto types = {DataType::f32, DataType::f16, DataType::bf16,   DataType::f64, DataType::i8,
                      DataType::u8,  DataType::i16, DataType::u16,    DataType::i32, DataType::u32,
                      DataType::i64, DataType::u64, DataType::boolean};
  for (const auto from : types)
    for (const auto to : types)
      if (from != to) check({op::Cast{.type = from, .to = to, .x = {133}}});
  check({op::Cast{.type = DataType::f16, .x = {700001}},
         op::Cast{.type = DataType::i64, .to = DataType::i32, .x = {700001}}});
  for (const auto to : {DataType::u8, DataType::i8})
    check({op::Quantize{.to = to, .x = {1, 1033, 1}}, op::Quantize{.to = to, .x = {2, 7, 33}},
           op::Quantize{.to = to, .x = {9, 37, 1}}, op::Quantize{.to = to, .x = {1, 5001, 1}, .dynamic = true},
           op::Dequantize{.type = to, .x = {1, 1033, 1}}, op::Dequantize{.type = to, .x = {2, 7, 33}},
           op::Dequantize{.type = to, .x = {9, 37, 1}}});
}

TEST_CASE("Quantised tensors agree with the reference", "[native]") {
  for (const auto type : {DataType::u8, DataType::i8})
    check({op::Unary{.type = type, .fn = ElementwiseFn::hard_swish, .x = {1033}},
           op::Unary{.type = type, .fn = ElementwiseFn::exp, .x = {77}, .post = {{ElementwiseFn::clip, -1.0, 3.0}}},
           op::Unary{.type = type,
                     .fn = ElementwiseFn::relu,
                     .x = {9, 33},
                     .post = {PostOp{ElementwiseFn::add, TensorShape{}}}},
           op::Binary{.type = type, .a = {1033}, .b = {1033}, .scaled = true},
           op::Binary{.type = type, .fn = ElementwiseFn::mul, .a = {9, 49}, .b = {9, 1}, .scaled = true},
           op::Reduce{.type = type, .x = {16, 49}, .axes = {1}},
           op::Pool{.type = type, .mode = op::PoolMode::average, .x = {1, 8, 7, 7}, .kernel = {7, 7}},
           op::Pool{.type = type, .x = {1, 8, 9, 9}, .kernel = {3, 3}, .strides = {2, 2}}});
}

TEST_CASE("16-bit floats agree with the reference where f32 computes for them", "[native]") {
  for (const auto type : {DataType::f16, DataType::bf16})
    check({op::Softmax{.type = type, .x = {9, 67, 1}}, op::LayerNorm{.type = type, .x = {11, 67}, .bias = true},
           op::LayerNorm{.type = type, .x = {11, 67}, .rms = true, .residual = op::Residual::kept},
           op::Reduce{.type = type, .x = {3, 17, 40}, .axes = {2}},
           op::Pool{.type = type, .x = {1, 8, 9, 9}, .kernel = {3, 3}, .strides = {2, 2}},
           op::Attention{.type = type, .q = {1, 2, 31, 20}, .k = {1, 2, 60, 20}, .v = {1, 2, 60, 44}}});
}

TEST_CASE("Recurrent layers agree with the reference", "[native]") {
  using enum op::Cell;
  check(
      {op::Recurrent{.x = {7, 1, 12}, .hidden = 16},
       op::Recurrent{.x = {7, 5, 11}, .hidden = 37, .directions = 2, .initial_state = true},
       op::Recurrent{.x = {9, 13, 12}, .hidden = 3, .reverse = true, .bias = false},
       op::Recurrent{.cell = gru, .x = {7, 5, 12}, .hidden = 37, .directions = 2, .linear_before_reset = true},
       op::Recurrent{.cell = gru,
                     .x = {7, 1, 12},
                     .hidden = 20,
                     .reverse = true,
                     .bias = false,
                     .initial_state = true,
                     .linear_before_reset = true},
       op::Recurrent{.cell = rnn, .x = {7, 8, 12}, .hidden = 37, .initial_state = true},
       op::Recurrent{.cell = rnn, .x = {1, 1, 1}, .hidden = 1, .directions = 2, .bias = false},
       op::Recurrent{.type = DataType::u8, .x = {9, 3, 11}, .hidden = 37, .directions = 2, .weight_type = DataType::i8},
       op::Recurrent{
           .type = DataType::u8, .x = {5, 1, 12}, .hidden = 16, .initial_state = true, .weight_type = DataType::u8}});
  check({op::RecurrentGradient{.y = {7, 5, 37}, .directions = 2},
         op::RecurrentGradient{.y = {4, 13, 16},
                               .reverse = true,
                               .initial_state = true,
                               .every_step = false,
                               .last_h = true,
                               .last_c = true,
                               .to_initial = true},
         op::RecurrentGradient{.y = {1, 1, 3}, .every_step = false, .last_c = true},
         op::RecurrentGradient{
             .cell = gru, .y = {7, 5, 37}, .directions = 2, .linear_before_reset = true, .last_h = true},
         op::RecurrentGradient{
             .cell = gru, .y = {3, 1, 20}, .linear_before_reset = true, .initial_state = true, .to_initial = true},
         op::RecurrentGradient{.cell = rnn, .y = {7, 8, 37}, .reverse = true, .last_h = true, .to_initial = true}});
  const auto reset_first = native::backend()->plans(op::Recurrent{.cell = gru, .x = {7, 1, 12}, .hidden = 16}, 1);
  REQUIRE(std::holds_alternative<Unsupported>(reset_first));
  CHECK(std::get<Unsupported>(reset_first).reason ==
        "no GRU that resets the state before its product in backend native");
  // A plan that computes all steps would give other results behind the end of a sequence.
  for (const auto& layer :
       {op::Recurrent{.x = {7, 5, 12}, .hidden = 16, .rows = 20},
        op::Recurrent{.type = DataType::u8, .x = {7, 5, 12}, .hidden = 16, .weight_type = DataType::i8, .rows = 20}}) {
    const auto shorter = native::backend()->plans(layer, 1);
    REQUIRE(std::holds_alternative<Unsupported>(shorter));
    CHECK(std::get<Unsupported>(shorter).reason ==
          "no recurrence with sequences of different lengths in backend native");
  }
}

TEST_CASE("Einsum and attention agree with the reference", "[native]") {
  check(
      {op::Einsum{.a = {5, 7}, .b = {7, 9}, .a_labels = {0, 1}, .b_labels = {1, 2}, .y_labels = {0, 2}},
       op::Einsum{.a = {2, 5, 7}, .b = {2, 9, 7}, .a_labels = {0, 1, 2}, .b_labels = {0, 3, 2}, .y_labels = {0, 1, 3}},
       op::Einsum{.a = {3, 4, 5}, .b = {3, 6, 5}, .a_labels = {0, 1, 2}, .b_labels = {0, 3, 2}, .y_labels = {1, 0, 3}},
       op::Einsum{.a = {6, 6}, .a_labels = {0, 0}, .y_labels = {0}, .two_operands = false},
       op::Einsum{.a = {6, 33}, .a_labels = {0, 1}, .y_labels = {}, .two_operands = false},
       op::Einsum{.a = {5, 7}, .a_labels = {0, 1}, .y_labels = {1, 0}, .two_operands = false},
       op::Einsum{.a = {33}, .b = {41}, .a_labels = {0}, .b_labels = {1}, .y_labels = {0, 1}}});
  check({op::Attention{.q = {2, 3, 50, 32}, .k = {2, 3, 50, 32}, .v = {2, 3, 50, 32}},
         op::Attention{.q = {1, 2, 197, 64}, .k = {1, 2, 197, 64}, .v = {1, 2, 197, 64}},
         op::Attention{.q = {1, 2, 31, 20}, .k = {1, 2, 600, 20}, .v = {1, 2, 600, 44}, .mask = {1, 1, 31, 600}},
         op::Attention{.q = {1, 8, 1, 64}, .k = {1, 2, 513, 64}, .v = {1, 2, 513, 64}},
         op::Attention{.q = {2, 8, 1, 40}, .k = {2, 4, 77, 40}, .v = {2, 4, 77, 40}, .mask = {2, 1, 1, 77}},
         op::Attention{.q = {1, 4, 300, 16}, .k = {1, 2, 300, 16}, .v = {1, 2, 300, 16}, .causal = true},
         op::Attention{
             .q = {1, 4, 9, 24}, .k = {1, 4, 300, 24}, .v = {1, 4, 300, 24}, .mask = {4, 1, 300}, .k_transposed = true},
         op::Attention{.q = {1, 4, 1, 24}, .k = {1, 2, 301, 24}, .v = {1, 2, 301, 24}, .k_transposed = true},
         op::Attention{.q = {1, 1, 100, 64}, .k = {1, 1, 100, 64}, .v = {1, 1, 100, 64}, .mask = {100, 1}}});
}

TEST_CASE("Attention with caches, windows, caps and masks of truth values agrees with the reference", "[native]") {
  using benanza::DataType;
  const op::Attention attention{.q = {2, 4, 37, 24}, .k = {2, 2, 600, 24}, .v = {2, 2, 600, 20}};
  const auto with = [&](auto change) {
    op::Attention op = attention;
    change(op);
    return op;
  };
  check({with([](auto& op) { op.causal = true, op.past = 563; }),
         with([](auto& op) { op.causal = true, op.past = 300, op.before = 20; }),
         with([](auto& op) { op.past = 290, op.before = 3, op.after = 270; }), with([](auto& op) {
           op.causal = true, op.past = 2, op.before = 0, op.mask = {37, 600};
         }),
         with([](auto& op) { op.capped = true; }), with([](auto& op) { op.capped = op.causal = true; }),
         with([](auto& op) {
           op.mask = {2, 1, 37, 600}, op.mask_type = DataType::boolean;
         }),
         with([](auto& op) {
           op.mask = {37, 1}, op.mask_type = DataType::boolean, op.causal = true;
         }),
         with([](auto& op) {
           op.q_tokens_first = op.k_tokens_first = op.v_tokens_first = op.y_tokens_first = op.causal = true;
         }),
         op::Attention{.q = {1, 8, 1, 64},
                       .k = {1, 2, 700, 64},
                       .v = {1, 2, 700, 64},
                       .q_tokens_first = true,
                       .y_tokens_first = true,
                       .past = 699,
                       .before = 100},
         op::Attention{.type = DataType::f16,
                       .q = {1, 2, 9, 16},
                       .k = {1, 2, 40, 16},
                       .v = {1, 2, 40, 16},
                       .mask = {9, 40},
                       .mask_type = DataType::boolean,
                       .capped = true}});
  const auto refused = native::backend()->plans(with([](auto& op) { op.scores = op::Scores::raw; }), 1);
  REQUIRE(std::holds_alternative<Unsupported>(refused));
  CHECK(std::get<Unsupported>(refused).reason == "no attention that writes its scores in backend native");
}

TEST_CASE("Rotary embeddings agree with the reference", "[native]") {
  check({op::Rotary{.x = {12, 128, 64}, .angles = {1, 128, 64}}, op::Rotary{.x = {12, 64}, .angles = {1, 64}},
         op::Rotary{.x = {2, 7, 3, 10}, .angles = {1, 7, 1, 5}},
         op::Rotary{.x = {2, 3, 5, 6}, .angles = {2, 1, 5, 6}, .interleaved = true},
         op::Rotary{.x = {3, 5, 70}, .angles = {1, 5, 35}, .interleaved = true},
         op::Rotary{.x = {3, 5, 70}, .angles = {1, 5, 16}, .turned = 32},
         op::Rotary{.x = {3, 5, 70}, .angles = {1, 5, 32}, .interleaved = true, .turned = 32},
         op::Rotary{.type = DataType::f16, .x = {4, 9, 32}, .angles = {1, 9, 32}},
         op::Rotary{.type = DataType::bf16, .x = {4, 9, 32}, .angles = {4, 1, 16}}});
}

TEST_CASE("What the native backend leaves to libraries is refused with a reason", "[native]") {
  const auto result = native::backend()->plans(op::AllReduce{.n = 8, .ranks = 2}, 1);
  REQUIRE(std::holds_alternative<Unsupported>(result));
  CHECK(std::get<Unsupported>(result).reason == "no AllReduce in backend native");
}

}  // namespace benanza
