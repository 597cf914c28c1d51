// SPDX-License-Identifier: Apache-2.0
// Functions that a model writes as several nodes are one call of the witness, which computes the same as single nodes.
#include "support/catch.hpp"
#include "support/witness_of.hpp"

#include <algorithm>
#include <string>
#include <tuple>

using namespace benanza;
using testing::witness_of;

namespace {

/// The number of nodes that each call of a plan computes. Changes of layout and nodes that need no call are left out.
std::vector<std::size_t> sizes_of(const Witness& witness) {
  std::vector<std::size_t> sizes;
  for (const auto& call : witness.calls)
    if (call.plan != "layout" && call.plan != "in place" && !call.plan.empty()) sizes.push_back(call.nodes.size());
  return sizes;
}

}  // namespace

TEST_CASE("an RMS norm in parts is one call, with its own epsilon") {
  // Squares of about 1e-9, so that an epsilon of 1e-5 instead of 1e-12 would give a hundredth of the result.
  const Witness witness = witness_of(R"(m (float[8, 64] x) => (float[8, 64] y) <float two = {2},
      float epsilon = {1e-12}, int64[1] last = {-1}> {
    c = Constant<value = int64[1] {64}>()
    weights = ConstantOfShape<value = float[1] {1.0}>(c)
    d = Constant<value = int64[2] {64, 64}>()
    small = ConstantOfShape<value = float[1] {0.00001}>(d)
    s = MatMul(x, small)
    square = Pow(s, two)
    mean = ReduceMean(square, last)
    sum = Add(mean, epsilon)
    root = Sqrt(sum)
    inverse = Reciprocal(root)
    n = Mul(s, inverse)
    y = Mul(weights, n)
  })");
  CAPTURE(witness.refused);
  REQUIRE(witness.given());
  CHECK(witness.difference <= 1e-5);
  CHECK(sizes_of(witness) == std::vector<std::size_t>{1, 7});
}

TEST_CASE("attention in parts is one call, with the scale that its parts have") {
  // Factors of 0.5 on queries and on keys: 0.25 in all, which is not 1 / sqrt(8).
  const Witness witness = witness_of(R"(m (float[1, 12, 2, 8] a, float[1, 12, 2, 8] b, float[1, 12, 2, 8] c,
      float[1, 1, 12, 12] mask) => (float[1, 12, 2, 8] y) <float half = {0.5}> {
    q = Transpose<perm = [0, 2, 1, 3]>(a)
    k = Transpose<perm = [0, 2, 3, 1]>(b)
    v = Transpose<perm = [0, 2, 1, 3]>(c)
    qs = Mul(q, half)
    ks = Mul(k, half)
    scores = MatMul(qs, ks)
    masked = Add(scores, mask)
    weights = Softmax<axis = -1>(masked)
    z = MatMul(weights, v)
    y = Transpose<perm = [0, 2, 1, 3]>(z)
  })");
  CAPTURE(witness.refused);
  REQUIRE(witness.given());
  CHECK(witness.difference <= 1e-5);
  CHECK(sizes_of(witness) == std::vector<std::size_t>{10});
}

TEST_CASE("attention in parts is one call where groups of queries share heads of keys and values") {
  // Four heads of queries; the first two share one head of keys and values, the last two share another.
  const Witness witness = witness_of(R"(m (float[1, 4, 12, 8] q, float[1, 2, 12, 8] k, float[1, 2, 12, 8] v)
      => (float[1, 4, 12, 8] y) <float factor = {0.25}, int64[1] two = {2}, int64[5] repeated = {1, 2, 2, 12, 8},
      int64[4] four = {1, 4, 12, 8}> {
    k1 = Unsqueeze(k, two)
    k2 = Expand(k1, repeated)
    k3 = Reshape(k2, four)
    kt = Transpose<perm = [0, 1, 3, 2]>(k3)
    v1 = Unsqueeze(v, two)
    v2 = Expand(v1, repeated)
    v3 = Reshape(v2, four)
    scores = MatMul(q, kt)
    scaled = Mul(scores, factor)
    weights = Softmax<axis = -1>(scaled)
    y = MatMul(weights, v3)
  })");
  CAPTURE(witness.refused);
  REQUIRE(witness.given());
  CHECK(witness.difference <= 1e-5);
  CHECK(sizes_of(witness).size() == 1);
}

TEST_CASE("attention in parts is one call where the mask follows the scale, and not where the mask is scaled") {
  const auto attention = [](const std::string& scores) {
    return witness_of(R"(m (float[1, 2, 12, 8] q, float[1, 2, 8, 12] k, float[1, 2, 12, 8] v, float[1, 1, 12, 12] mask)
        => (float[1, 2, 12, 8] y) <float factor = {0.25}> {
      product = MatMul(q, k)
      )" + scores + R"(
      weights = Softmax<axis = -1>(scores)
      y = MatMul(weights, v)
    })");
  };
  const Witness after = attention("scaled = Mul(product, factor)\n scores = Add(scaled, mask)"),
                before = attention("masked = Add(product, mask)\n scores = Mul(masked, factor)");
  for (const Witness* witness : {&after, &before}) {
    CAPTURE(witness->refused);
    REQUIRE(witness->given());
    CHECK(witness->difference <= 1e-5);
  }
  CHECK(sizes_of(after) == std::vector<std::size_t>{5});
  CHECK(sizes_of(before).size() > 1);
}

TEST_CASE("activations in parts are one call, alone and behind a convolution") {
  const auto activated = [](const std::string& head, const std::string& activation) {
    return witness_of(R"(m (float[1, 16, 6, 6] x) => (float[1, 16, 6, 6] y)
        <float half = {0.5}, float one = {1.0}, float root = {1.41421354}> {
      s = Constant<value = int64[4] {16, 16, 3, 3}>()
      w = ConstantOfShape<value = float[1] {1.0}>(s)
      )" + head + activation +
                      "}");
  };
  const std::string swish = "t = Sigmoid(z)\n y = Mul(z, t)\n";
  // The multiplication by a half comes last, so that the nodes are a function of x with and without the last one.
  const std::string gelu = "a = Div(z, root)\n b = Erf(a)\n c = Add(b, one)\n d = Mul(z, c)\n y = Mul(d, half)\n";
  const std::string pool = "z = MaxPool<kernel_shape = [3, 3], pads = [1, 1, 1, 1]>(x)\n";
  const std::string conv = "z = Conv<pads = [1, 1, 1, 1]>(x, w)\n";
  for (const auto& [head, activation, sizes] :
       {std::tuple(pool, swish, std::vector<std::size_t>{1, 2}), std::tuple(pool, gelu, std::vector<std::size_t>{1, 5}),
        std::tuple(conv, gelu, std::vector<std::size_t>{6})}) {
    const Witness witness = activated(head, activation);
    CAPTURE(head, activation, witness.refused);
    REQUIRE(witness.given());
    CHECK(witness.difference <= 1e-5);
    CHECK(sizes_of(witness) == sizes);
  }
}

TEST_CASE("products of one row are one call, whose result their readers take in parts") {
  const std::string constants = R"(
    c = Constant<value = int64[2] {32, 48}>()
    b = Constant<value = int64[1] {48}>()
    w1 = ConstantOfShape<value = float[1] {1.0}>(c)
    w2 = ConstantOfShape<value = float[1] {2.0}>(c)
    b2 = ConstantOfShape<value = float[1] {3.0}>(b)
  )";
  // Constants have random numbers, so that swapped parts would give other results.
  SECTION("one of which has a bias") {
    const Witness witness = witness_of("m (float[1, 32] x) => (float[1, 48] y, float[1, 48] z) {" + constants + R"(
      p = MatMul(x, w1)
      q = MatMul(x, w2)
      r = Add(q, b2)
      y = Softmax(p)
      z = Softmax(r)
    })");
    CAPTURE(witness.refused);
    REQUIRE(witness.given());
    CHECK(witness.difference <= 1e-5);
    CHECK(sizes_of(witness) == std::vector<std::size_t>{3, 1, 1});
  }
  SECTION("one of which gates the other, by an activation in parts") {
    const Witness witness = witness_of("m (float[1, 32] x) => (float[1, 48] y) {" + constants + R"(
      p = MatMul(x, w1)
      s = Sigmoid(p)
      t = Mul(p, s)
      q = MatMul(x, w2)
      y = Mul(t, q)
    })");
    CAPTURE(witness.refused);
    REQUIRE(witness.given());
    CHECK(witness.difference <= 1e-5);
    CHECK(sizes_of(witness) == std::vector<std::size_t>{2, 3});
  }
}

TEST_CASE("a convolution does the padding before it") {
  const Witness witness = witness_of(R"(m (float[1, 16, 6, 6] x) => (float[1, 16, 8, 8] y)
      <int64[8] pads = {0, 0, 2, 2, 0, 0, 2, 2}> {
    s = Constant<value = int64[4] {16, 16, 3, 3}>()
    w = ConstantOfShape<value = float[1] {1.0}>(s)
    padded = Pad(x, pads)
    z = Conv(padded, w)
    y = Relu(z)
  })");
  CAPTURE(witness.refused);
  REQUIRE(witness.given());
  CHECK(witness.difference <= 1e-5);
  CHECK(sizes_of(witness) == std::vector<std::size_t>{3});
}

TEST_CASE("what is concatenated and split in one piece of memory is not copied") {
  // A dense block: each Concat begins with the one before it.
  const Witness witness = witness_of(R"(m (float[1, 16, 6, 6] x) => (float[1, 48, 6, 6] y, float[1, 16, 6, 6] t) {
    s = Constant<value = int64[4] {16, 16, 3, 3}>()
    u = Constant<value = int64[4] {16, 32, 3, 3}>()
    w = ConstantOfShape<value = float[1] {1.0}>(s)
    v = ConstantOfShape<value = float[1] {1.0}>(u)
    a = Relu(x)
    b = Conv<pads = [1, 1, 1, 1]>(a, w)
    j = Concat<axis = 1>(a, b)
    c = Conv<pads = [1, 1, 1, 1]>(j, v)
    y = Concat<axis = 1>(j, c)
    p, q = Split<axis = 1, num_outputs = 2>(j)
    t = Tanh(q)
  })");
  CAPTURE(witness.refused);
  REQUIRE(witness.given());
  CHECK(witness.difference <= 1e-5);
  CHECK(sizes_of(witness) == std::vector<std::size_t>{1, 1, 1, 1});  // Relu, two convolutions, Tanh
}
