// SPDX-License-Identifier: Apache-2.0
// Models whose structure shows that an engine may do less than the floor counts. What it saves at most is counted by
// hand: a multiply-add is two operations, floats have 4 bytes.
#include "least_work.hpp"

#include <string>

namespace floor_exceptions {

using namespace benanza;
using benanza::testing::least_layers;
using benanza::testing::Stored;

constexpr auto f32 = onnx::TensorProto::FLOAT;

/// The only exception of a model.
FloorException only_exception(const ModelLayers& model) {
  REQUIRE(model.single.exceptions.size() == 1);
  return model.single.exceptions[0];
}

TEST_CASE("two linear layers without a function between them are named", "[floors]") {
  SECTION("32 x 64 by 64 x 8 are 32 x 8 for 16 rows") {
    const std::vector<Stored> weights{{"a", f32, {32, 64}}, {"b", f32, {64, 8}}, {"c", f32, {64}}};
    const auto model = [&](const std::string& between) {
      return least_layers("(float[16, 32] x) => (float[16, 8] y) { p = MatMul(x, a) " + between + " y = MatMul(q, b) }",
                          weights);
    };
    for (const std::string linear : {"q = Identity(p)", "q = Add(p, c)"}) {
      const auto found = only_exception(model(linear));
      CHECK(found.flops.value == 2 * 16 * (32 * 64 + 64 * 8 - 32 * 8));
      CHECK(found.node.starts_with("MatMul"));
    }
    CHECK(model("q = Relu(p)").single.exceptions.empty());
  }
  SECTION("a narrow layer in between saves work as it is") {
    CHECK(least_layers("(float[16, 64] x) => (float[16, 64] y) { p = MatMul(x, a) y = MatMul(p, b) }",
                       {{"a", f32, {64, 4}}, {"b", f32, {4, 64}}})
              .single.exceptions.empty());
  }
  SECTION("a convolution of 3 x 3 and one of 1 x 1: the second is left out") {
    const auto found =
        only_exception(least_layers("(float[1, 4, 8, 8] x) => (float[1, 4, 6, 6] y) { p = Conv(x, a) y = Conv(p, b) }",
                                    {{"a", f32, {4, 4, 3, 3}}, {"b", f32, {4, 4, 1, 1}}}));
    CHECK(found.flops.value == 2 * 36 * 4 * 4);
  }
}

TEST_CASE("latent attention is named, with the work that another order saves", "[floors]") {
  // 4 heads of depth 16; 1 query and 256 latent vectors of 32 numbers. As it is written, the keys take 256 x 32 x 64
  // multiply-adds and the scores 4 x 16 x 256. An engine multiplies the query by the weights, 4 x 16 x 32, and the
  // result by the latent vectors, 4 x 32 x 256.
  const auto model = least_layers(
      "(float[1, 4, 1, 16] q, float[1, 256, 32] l) => (float[1, 4, 1, 256] y) "
      "<int64[4] s = {1, 256, 4, 16}> { k = MatMul(l, w) v = Reshape(k, s) "
      "t = Transpose<perm = [0, 2, 3, 1]>(v) y = MatMul(q, t) }",
      {{"w", f32, {32, 64}}});
  CHECK(only_exception(model).flops.value == 2 * (256 * 32 * 64 + 4 * 16 * 256 - 4 * 16 * 32 - 4 * 32 * 256));
}

TEST_CASE("branches whose weights can be added are named", "[floors]") {
  const auto found = only_exception(
      least_layers("(float[16, 32] x) => (float[16, 8] y) { p = MatMul(x, a) q = MatMul(x, b) y = Add(p, q) }",
                   {{"a", f32, {32, 8}}, {"b", f32, {32, 8}}}));
  CHECK(found.flops.value == 2 * 16 * 32 * 8);
  CHECK(least_layers("(float[16, 32] x, float[16, 32] z) => (float[16, 8] y) { p = MatMul(x, a) q = MatMul(z, b) "
                     "y = Add(p, q) }",
                     {{"a", f32, {32, 8}}, {"b", f32, {32, 8}}})
            .single.exceptions.empty());
}

TEST_CASE("a Gather with more indices than are followed is named", "[floors]") {
  // 10,000 of 20,000 results of a function.
  const auto found =
      only_exception(least_layers("(float[20000] x) => (float[10000] y) { r = Relu(x) y = Gather(r, i) }",
                                  {{"i", onnx::TensorProto::INT64, {10000}, 8}}));
  CHECK(found.flops.value == 20000);
  CHECK(found.bytes.value == 10000 * 4);
}

TEST_CASE("a constant mask that is no band is named", "[floors]") {
  // 2 heads, 16 queries and keys of depth 8. The mask is not a band.
  const auto model = least_layers(
      "(float[1, 2, 16, 8] q, float[1, 2, 16, 8] k, float[1, 2, 16, 8] v) => "
      "(float[1, 2, 16, 8] y) { y = Attention(q, k, v, m) }",
      {{"m", f32, {16, 16}}}, 23);
  CHECK(only_exception(model).flops.value == model.single.layers[0].needed.flops.value);
}

}  // namespace floor_exceptions
