// SPDX-License-Identifier: Apache-2.0
// Native products of 8-bit integers against the reference: every combination of types, zero points and constants has a
// plan on every processor, and the sums are exact over the whole range of the types.
#include "backend/native/backend.hpp"
#include "plan_support.hpp"
#include <benanza/model/layer_signature.hpp>

namespace benanza {

namespace {

using enum DataType;

/// Calls `visit(layer)` with both types for either operand, with and without zero points and constant weights.
template <class Visit>
void for_each_combination(const Visit& visit) {
  for (const auto a : {u8, i8})
    for (const auto b : {u8, i8})
      for (const bool a_zero : {false, true})
        for (const bool b_zero : {false, true})
          for (const bool constant : {false, true}) visit(a, b, a_zero, b_zero, constant);
}

std::optional<DataType> if_other(DataType type, DataType usual) {
  return type == usual ? std::nullopt : std::optional(type);
}

/// On every instruction set, with one thread and with three, with small values and with all values of the types.
void check(const Layer& layer) {
  const Operands shapes = operands(layer);
  for (const auto isa : {native::Isa::baseline, native::Isa::avx2, native::Isa::avx512}) {
    if (!native::runs_here(isa)) continue;
    const auto backend = native::backend(isa);
    for (const int threads : {1, 3}) {
      INFO(LayerSignature(layer).text() << ", " << native::isa_names[static_cast<std::size_t>(isa)]);
      CHECK(test::check_plans(*backend, layer, threads) > 0);
      const auto plain = test::filled_inputs(shapes);
      for (const std::size_t i : {0U, 1U}) test::fill_with_all_bytes(shapes.inputs[i], plain[i]);
      CHECK(test::check_plans(*backend, layer, threads, plain) > 0);
    }
  }
}

}  // namespace

TEST_CASE("Matrix products of 8-bit integers agree with the reference", "[native]") {
  for_each_combination([](DataType a, DataType b, bool a_zero, bool b_zero, bool constant) {
    const op::MatMul product{.type = a,
                             .a = {7, 29},
                             .b = {29, 37},
                             .b_constant = constant,
                             .b_type = if_other(b, a),
                             .y_type = i32,
                             .a_zero = a_zero,
                             .b_zero = b_zero};
    check(product);
  });
  const op::MatMul batched{.type = u8, .a = {2, 3, 5, 16}, .b = {3, 16, 33}, .a_zero = true, .b_zero = true};
  op::MatMul transposed = batched;
  transposed.trans_a = transposed.trans_b = true;
  check(batched);
  check(transposed);
  check(op::MatMul{.type = u8, .a = {201, 64}, .b = {64, 64}, .b_constant = true, .y_type = i32, .b_zero = true});
  check(op::MatMul{.type = i8, .a = {16, 40}, .b = {40, 9}, .a_constant = true, .y_type = f32, .a_zero = true});
  check(op::MatMul{.type = u8, .a = {1, 70}, .b = {70, 33}, .b_constant = true, .a_zero = true, .post = {bias}});
  check(op::MatMul{.type = i8, .a = {9, 3}, .b = {3, 64}, .b_constant = true, .y_type = i32, .post = {bias}});
}

TEST_CASE("Convolutions of 8-bit integers agree with the reference", "[native]") {
  for_each_combination([](DataType x, DataType w, bool x_zero, bool w_zero, bool constant) {
    for (const std::int64_t group : {1, 2, 6}) {
      const op::Conv conv{.type = x,
                          .x = {2, 6, 9, 7},
                          .w = {12, 6 / group, 3, 3},
                          .pads = {1, 1, 1, 1},
                          .group = group,
                          .w_constant = constant,
                          .w_type = if_other(w, x),
                          .y_type = i32,
                          .x_zero = x_zero,
                          .w_zero = w_zero};
      check(conv);
    }
  });
  const op::Conv conv{.type = u8, .x = {1, 5, 11, 70}, .w = {13, 5, 3, 5}, .x_zero = true, .w_zero = true};
  op::Conv strided = conv, dilated = conv, point = conv, cropped = conv;
  strided.strides = {2, 3};
  strided.pads = {1, 2, 0, 4};
  strided.post = {bias};
  dilated.dilations = {2, 3};
  dilated.pads = {3, 0, 1, 7};
  dilated.y_type = f32;
  point.w = {13, 5, 1, 1};
  point.y_type = i8;
  cropped.pads = {-1, -2, -1, -3};
  for (const auto& each : {conv, strided, dilated, point, cropped}) check(each);
  check(op::Conv{.type = u8, .x = {1, 3, 4, 5, 40}, .w = {8, 3, 2, 3, 3}, .pads = {0, 1, 1, 1, 1, 1}, .w_zero = true});
}

TEST_CASE("Products of 8-bit integers with another epilogue than a bias have no native plan", "[native]") {
  const auto backend = native::backend();
  const op::MatMul product{.type = u8, .a = {4, 8}, .b = {8, 4}, .post = {ElementwiseFn::relu}};
  CHECK(std::holds_alternative<Unsupported>(backend->plans(product, 1)));
}

}  // namespace benanza
