// SPDX-License-Identifier: Apache-2.0
// Expressions as calls of the witness compute the same as their nodes one by one.
#include "support/catch.hpp"
#include "support/witness_of.hpp"

#include <algorithm>
#include <string>

using namespace benanza;
using testing::witness_of;

namespace {

/// The most nodes that one call of a plan computes.
std::size_t largest_call(const Witness& witness) {
  std::size_t most = 0;
  for (const auto& call : witness.calls) most = std::max(most, call.nodes.size());
  return most;
}

/// The witness of nodes that all are one expression.
void check_one_call(const std::string& model, std::size_t nodes) {
  const Witness witness = witness_of(model);
  CAPTURE(witness.refused);
  REQUIRE(witness.given());
  CHECK(witness.difference <= 1e-5);
  CHECK(largest_call(witness) == nodes);
}

}  // namespace

TEST_CASE("a gradient of a softmax is one call") {
  check_one_call(R"(m (float[6, 5, 70] y, float[6, 5, 70] dy) => (float[6, 5, 70] dx) <int64[1] last = {-1}> {
    products = Mul(y, dy)
    sum = ReduceSum(products, last)
    rest = Sub(dy, sum)
    dx = Mul(y, rest)
  })",
                 4);
}

TEST_CASE("a norm with modulation is one call, with its own epsilon") {
  // Variances of about 1e-8, so that an epsilon of 1e-5 instead of 1e-12 would give a thirtieth of the result.
  check_one_call(R"(m (float[2, 9, 64] x, float[2, 1, 64] scale, float[2, 1, 64] shift, float[64] w, float[64] b)
      => (float[2, 9, 64] y) <float small = {0.0001}> {
    s = Mul(x, small)
    n = LayerNormalization<axis = -1, epsilon = 1e-12>(s, w, b)
    m = Mul(n, scale)
    y = Add(m, shift)
  })",
                 4);
}

TEST_CASE("a call may have several results, and one of them may be read in between") {
  check_one_call(R"(m (float[8, 64] x, float[8, 64] z, float[64, 64] w) => (float[8, 64] a, float[8, 64] p) {
    s = Add(x, z)
    c = Cos(s)
    a = Mul(c, s)
    p = MatMul(s, w)
  })",
                 3);
}

TEST_CASE("masks, choices and casts are parts of one call") {
  check_one_call(R"(m (float[4, 96] x, float[96] limit) => (float[4, 96] y) <float low = {-3.5}> {
    is_above = Greater(x, limit)
    sine = Sin(x)
    chosen = Where(is_above, sine, low)
    e = Exp(chosen)
    flags = Cast<to = 1>(is_above)
    y = Add(e, flags)
  })",
                 6);
}

TEST_CASE("a group between two reshapes is one call") {
  check_one_call(R"(m (float[2, 8, 30] x, float[8, 1] scale) => (float[2, 8, 30] y)
      <int64[3] groups = {2, 4, 60}, int64[3] back = {2, 8, 30}, int64[1] last = {2}> {
    r = Reshape(x, groups)
    mean = ReduceMean(r, last)
    c = Sub(r, mean)
    u = Reshape(c, back)
    y = Mul(u, scale)
  })",
                 4);
}

TEST_CASE("norms of groups and of batches are parts of one call, with their own epsilon") {
  check_one_call(R"(m (float[2, 8, 6, 5] x, float[8] w, float[8] b) => (float[2, 8, 6, 5] y) <float small = {0.0001}> {
    s = Mul(x, small)
    n = GroupNormalization<num_groups = 4, epsilon = 1e-12>(s, w, b)
    t = Tanh(n)
    y = Mul(n, t)
  })",
                 4);
  check_one_call(R"(m (float[2, 8, 6, 5] x, float[8] w, float[8] b, float[8] u) => (float[2, 8, 6, 5] y) {
    v = Exp(u)
    n = BatchNormalization<epsilon = 0.3>(x, w, b, u, v)
    t = Tanh(n)
    y = Mul(n, t)
  })",
                 3);
}
