// SPDX-License-Identifier: Apache-2.0
// Broadcasts and reductions of tensors that do not lie row-major. 32 channels of 30 pixels: in two blocks of 16
// channels, and with channels last.
#include "../src/execution/reordered_layer.hpp"

#include "support/catch.hpp"
#include "support/onnx_text.hpp"
#include "support/witness_rows.hpp"
#include <benanza/execution/make_witness.hpp>
#include <benanza/model/layer_signature.hpp>
#include <benanza/session/backends.hpp>

#include <algorithm>
#include <string>

using namespace benanza;
using execution::reordered_layer;

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
  // Nothing is broadcast where both have all elements, and a row-major tensor lies as the layer has it.
  CHECK(in_memory(op::Binary{.a = {960}, .b = {960}}, in_blocks) == "none");
  CHECK(in_memory(per_channel, ElementOrder()) == "none");
  // 40 rows of 24 do not end where channels of 30 do.
  CHECK(in_memory(op::Binary{.a = {40, 24}, .b = {40, 1}}, pixels_first) == "none");
  // The image lies transposed, and the small operand does not.
  const ElementOrder transposed_image(std::vector<OrderDigit>{{5, 1}, {6, 5}, {32, 30}});
  CHECK(in_memory(per_pixel, transposed_image) == "none");
}

TEST_CASE("reductions in other orders are reductions of other dimensions") {
  const op::Reduce pixels{.x = {32, 30}, .axes = {1}}, channels{.x = {32, 30}, .axes = {0}};
  CHECK(in_memory(pixels, in_blocks) == "Reduce/f32/fn=mean/x=2x30x16/axes=1");
  CHECK(in_memory(pixels, pixels_first) == "Reduce/f32/fn=mean/x=30x32/axes=0");
  CHECK(in_memory(channels, in_blocks) == "Reduce/f32/fn=mean/x=2x30x16/axes=0x2");
  CHECK(in_memory(channels, pixels_first) == "Reduce/f32/fn=mean/x=30x32/axes=1");
  CHECK(in_memory(op::Reduce{.fn = op::ReduceFn::arg_max, .x = {32, 30}, .axes = {1}}, in_blocks) == "none");
}

TEST_CASE("squeeze and excitation computes the same in the orders of its convolutions") {
  const auto backends = usable_backends();
  const Graph graph = testing::import_text(R"(m (float[1, 32, 6, 5] x) => (float[1, 32, 6, 5] y)
      <int64[2] image = {2, 3}> {
    d = Constant<value = int64[4] {32, 32, 3, 3}>()
    e = Constant<value = int64[4] {32, 32, 1, 1}>()
    w = ConstantOfShape<value = float[1] {1.0}>(d)
    v = ConstantOfShape<value = float[1] {1.0}>(e)
    a = Conv<pads = [1, 1, 1, 1]>(x, w)
    m = ReduceMean(a, image)
    c = Conv(m, v)
    s = Sigmoid(c)
    b = Mul(s, a)
    y = Conv<pads = [1, 1, 1, 1]>(b, w)
  })",
                                           {.executable = true});
  const Witness witness = make_witness(graph, testing::rows_for(graph, backends),
                                       {.backends = backends, .budget = {0.05}, .weight_seed = 7});
  CAPTURE(witness.refused);
  REQUIRE(witness.given());
  CHECK(witness.difference <= 1e-5);
}
