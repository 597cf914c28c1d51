// SPDX-License-Identifier: Apache-2.0
// Broadcasts and reductions of tensors that are not in row-major order. 32 channels of 30 pixels: in two blocks of 16
// channels, and with channels last.
#include "execution/reordered_layer.hpp"

#include "execution/layout_changes.hpp"
#include "plan/transpose_matrices.hpp"
#include "support/catch.hpp"
#include "support/witness_of.hpp"
#include <benanza/model/layer_signature.hpp>

#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <vector>

using namespace benanza;
using execution::reordered_layer;
using testing::witness_of;

namespace {

const ElementOrder in_blocks(std::vector<OrderDigit>{{2, 480}, {30, 1}, {16, 30}});
const ElementOrder pixels_first(std::vector<OrderDigit>{{30, 1}, {32, 30}});

std::string in_memory(const Layer& layer, const ElementOrder& order) {
  const auto made = reordered_layer(layer, order);
  return made ? LayerSignature(made->layer).text() : "none";
}

}  // namespace

TEST_CASE("broadcasts in other orders are broadcasts of other dimensions") {
  const op::Binary per_channel{.fn = ElementwiseFn::mul, .a = {32, 30}, .b = {32, 1}};
  CHECK(in_memory(per_channel, in_blocks) == "Binary/f32/fn=mul/a=2x30x16/b=2x1x16");
  CHECK(in_memory(per_channel, pixels_first) == "Binary/f32/fn=mul/a=30x32/b=1x32");
  const op::Binary per_pixel{.fn = ElementwiseFn::sub, .a = {1, 30}, .b = {32, 30}};
  CHECK(in_memory(per_pixel, in_blocks) == "Binary/f32/fn=sub/a=1x30x1/b=2x30x16");
  const auto made = reordered_layer(per_pixel, in_blocks);
  REQUIRE(made);
  CHECK(made->inputs == std::vector<bool>{false, true});
  CHECK(made->outputs == std::vector<bool>{true});
  // Nothing is broadcast if both operands have all elements, and a row-major tensor already has the layer's order.
  CHECK(in_memory(op::Binary{.a = {960}, .b = {960}}, in_blocks) == "none");
  CHECK(in_memory(per_channel, ElementOrder()) == "none");
  // The ends of 40 rows of 24 are not the ends of channels of 30.
  CHECK(in_memory(op::Binary{.a = {40, 24}, .b = {40, 1}}, pixels_first) == "none");
  // The image is transposed in memory, and the small operand is not.
  const ElementOrder transposed_image(std::vector<OrderDigit>{{5, 1}, {6, 5}, {32, 30}});
  CHECK(in_memory(per_pixel, transposed_image) == "none");
}

TEST_CASE("reductions in other orders are reductions of other dimensions") {
  const op::Reduce pixels{.x = {32, 30}, .axes = {1}}, channels{.x = {32, 30}, .axes = {0}};
  CHECK(in_memory(pixels, in_blocks) == "Reduce/f32/x=2x30x16/axes=1");
  CHECK(in_memory(pixels, pixels_first) == "Reduce/f32/x=30x32/axes=0");
  CHECK(in_memory(channels, in_blocks) == "Reduce/f32/x=2x30x16/axes=0x2");
  CHECK(in_memory(channels, pixels_first) == "Reduce/f32/x=30x32/axes=1");
  CHECK(in_memory(op::Reduce{.fn = op::ReduceFn::arg_max, .x = {32, 30}, .axes = {1}}, in_blocks) == "none");
}

TEST_CASE("transpositions in other orders are other transpositions, or none") {
  using execution::arrangement_of;
  using execution::order_of_operand;
  const auto moved = [](const op::Transpose& transpose, const ElementOrder& from, const ElementOrder& to) {
    const auto order = order_of_operand(transpose, to);
    if (!order) return std::string("none");
    const auto layer = execution::layout_change_layer(DataType::f32, 960, arrangement_of(from), arrangement_of(*order));
    return layer ? LayerSignature(*layer).text() : *order == from ? "nothing moves" : "none";
  };
  // A shuffle of 32 channels in 4 groups: with channels last, the groups of each pixel are exchanged.
  const op::Transpose shuffle{.x = {4, 8, 30}, .perm = {1, 0, 2}};
  CHECK(moved(shuffle, ElementOrder(), ElementOrder()) == "Transpose/f32/x=4x8x30/perm=1x0x2");
  CHECK(moved(shuffle, pixels_first, pixels_first) == "Transpose/f32/x=30x4x8/perm=0x2x1");
  CHECK(moved(shuffle, pixels_first, ElementOrder()) == "Transpose/f32/x=30x4x8/perm=2x1x0");
  // If a node of the model moves the channels last, memory already has that order.
  const op::Transpose to_last{.x = {32, 30}, .perm = {1, 0}};
  CHECK(moved(to_last, pixels_first, ElementOrder()) == "nothing moves");
  CHECK(moved(to_last, in_blocks, ElementOrder()) == "Transpose/f32/x=2x30x16/perm=1x0x2");
  CHECK(moved(op::Transpose{.x = {40, 24}, .perm = {1, 0}}, ElementOrder(), pixels_first) == "none");
}

TEST_CASE("a channel shuffle computes the same in the orders of its convolutions") {
  const Witness witness = witness_of(R"(m (float[1, 32, 6, 5] x) => (float[1, 32, 6, 5] y, float[1, 6, 5, 32] z)
      <int64[5] groups = {1, 4, 8, 6, 5}, int64[4] image = {1, 32, 6, 5}> {
    d = Constant<value = int64[4] {32, 8, 3, 3}>()
    w = ConstantOfShape<value = float[1] {1.0}>(d)
    a = Conv<pads = [1, 1, 1, 1], group = 4>(x, w)
    b = Reshape(a, groups)
    c = Transpose<perm = [0, 2, 1, 3, 4]>(b)
    e = Reshape(c, image)
    y = Conv<pads = [1, 1, 1, 1], group = 4>(e, w)
    z = Transpose<perm = [0, 2, 3, 1]>(a)
  })");
  CAPTURE(witness.refused);
  REQUIRE(witness.given());
  CHECK(witness.difference <= 1e-5);
}

TEST_CASE("squeeze and excitation computes the same in the orders of its convolutions") {
  const Witness witness = witness_of(R"(m (float[1, 32, 6, 5] x) => (float[1, 32, 6, 5] y)
      <int64[2] image = {2, 3}, int64[4] d = {32, 32, 3, 3}, int64[4] e = {32, 32, 1, 1}> {
    w = ConstantOfShape<value = float[1] {1.0}>(d)
    v = ConstantOfShape<value = float[1] {1.0}>(e)
    a = Conv<pads = [1, 1, 1, 1]>(x, w)
    m = ReduceMean(a, image)
    c = Conv(m, v)
    s = Sigmoid(c)
    b = Mul(s, a)
    y = Conv<pads = [1, 1, 1, 1]>(b, w)
  })");
  CAPTURE(witness.refused);
  REQUIRE(witness.given());
  CHECK(witness.difference <= 1e-5);
}

// The first column of a matrix of 3 x 4 comes first: elements 0, 4, 8, then 1, 5, 9.
TEST_CASE("transposed matrices say in which order their elements lie") {
  CHECK(transposed_order(2, 3, 4).text() == "2*12,4*1,3*4");
  CHECK(transposed_order(1, 3, 4).text() == "4*1,3*4");
  std::array<int, 24> from{}, to{};
  std::iota(from.begin(), from.end(), 0);
  transpose_matrices(from.data(), to.data(), 2, 3, 4, sizeof(int));
  std::vector<int> walked;
  for (int matrix = 0; matrix < 2; ++matrix)
    for (int column = 0; column < 4; ++column)
      for (int row = 0; row < 3; ++row) walked.push_back(matrix * 12 + column * 1 + row * 4);
  CHECK(std::equal(to.begin(), to.end(), walked.begin()));
  CHECK(transposed_order(5, 1, 4).is_row_major());
}
