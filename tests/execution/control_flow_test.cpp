// SPDX-License-Identifier: Apache-2.0
// If, Loop, Scan and sizes that depend on data. Expected values follow from ONNX's definitions, computed by hand.
#include "support/catch.hpp"
#include "support/onnx_text.hpp"
#include <benanza/execution/executor.hpp>

using namespace benanza;

namespace {

using Numbers = std::vector<double>;

Tensor f32(Tensor::Dims dims, const Numbers& values) { return Tensor::of(DataType::f32, std::move(dims), values); }
Tensor i64(Tensor::Dims dims, const Numbers& values) { return Tensor::of(DataType::i64, std::move(dims), values); }

Executor executor_of(const std::string& model) {
  return Executor::load(testing::import_text(model, {.executable = true}));
}

}  // namespace

TEST_CASE("an If takes the branch that its condition says, with what the branch captures") {
  Executor executor = executor_of(R"(m (float[2] x, bool c) => (float[2] y) {
      y = If (c) <then_branch = t () => (float[2] a) { a = Add (x, x) },
                  else_branch = e () => (float[2] b) { b = Neg (x) }> })");
  const auto run = [&](double condition) {
    return executor.run({{"x", f32({2}, {1, 2})}, {"c", Tensor::of(DataType::boolean, {}, Numbers{condition})}})
        .outputs.at("y")
        .values();
  };
  CHECK(run(1) == Numbers{2, 4});
  CHECK(run(0) == Numbers{-1, -2});
}

TEST_CASE("a Loop runs as often as its trip count and condition say") {
  // Doubles a number while it is below 10; each pass also returns the number before it.
  Executor executor = executor_of(R"(m (int64 n, float[1] x) => (float[1] last, float[k,1] all) <bool go = {1}> {
      last, all = Loop (n, go, x) <body = b (int64 i, bool before, float[1] v) => (bool more, float[1] w, float[1] v2)
        <float[1] ten = {10}, float[1] two = {2}, int64[1] axes = {0}>
        { w = Mul (v, two)  less = Less (w, ten)  more = Squeeze (less, axes)  v2 = Identity (v) }> })");
  const auto run = [&](double trips, double x) {
    return executor.run({{"n", i64({}, {trips})}, {"x", f32({1}, {x})}});
  };
  // 3 -> 6 -> 12: two passes
  CHECK(run(100, 3).outputs.at("last").values() == Numbers{12});
  CHECK(run(100, 3).outputs.at("all").values() == Numbers{3, 6});
  CHECK(run(1, 3).outputs.at("all").dims() == Tensor::Dims{1, 1});
  const Execution none = run(0, 3);
  CHECK(none.outputs.at("last").values() == Numbers{3});
  CHECK(none.outputs.at("all").dims() == Tensor::Dims{0, 1});
}

TEST_CASE("a value that grows in a Loop has its size of each pass") {
  // [1] -> [1, 1] -> [1, 1, 1, 1], and the number of elements in each pass
  Executor executor = executor_of(R"(m (int64 n, float[1] x) => (float[k] y, int64[p,1] sizes) <bool go = {1}> {
      y, sizes = Loop (n, go, x) <body = b (int64 i, bool before, float[d] v) => (bool more, float[e] w, int64[1] s)
        { w = Concat <axis = 0> (v, v)  s = Shape (v)  more = Identity (before) }> })");
  const Execution execution = executor.run({{"n", i64({}, {3})}, {"x", f32({1}, {7})}});
  CHECK(execution.outputs.at("y").values() == Numbers(8, 7));
  CHECK(execution.outputs.at("sizes").values() == Numbers{1, 2, 4});
}

TEST_CASE("a Scan carries its state and walks its sequence, backward on demand") {
  Executor executor = executor_of(R"(m (float[1] s, float[3,1] x) => (float[1] end, float[3,1] sums) {
      end, sums = Scan <num_scan_inputs = 1, scan_input_directions = [1],
                        body = b (float[1] a, float[1] v) => (float[1] c, float[1] d) { c = Add (a, v)  d = Identity (c) }>
                  (s, x) })");
  const Execution execution = executor.run({{"s", f32({1}, {0})}, {"x", f32({3, 1}, {1, 2, 4})}});
  CHECK(execution.outputs.at("end").values() == Numbers{7});
  CHECK(execution.outputs.at("sums").values() == Numbers{4, 6, 7});
}

TEST_CASE("loops and Ifs that are alike have their results under each name") {
  // 1 -> 2 -> 4 -> 8, twice; 1 + 1 or -1, twice
  Executor executor = executor_of(R"(m (float[1] x, bool c) => (float[1] y, float[1] z, float[1] p, float[1] q)
    <int64 n = {3}> {
      y = Loop (n, "", x) <body = b (int64 i, bool go, float[1] v) => (bool on, float[1] w)
        { on = Identity (go)  w = Add (v, v) }>
      z = Loop (n, "", x) <body = d (int64 j, bool goes, float[1] u) => (bool more, float[1] t)
        { more = Identity (goes)  t = Add (u, u) }>
      p = If (c) <then_branch = e () => (float[1] k) { k = Add (x, x) }, else_branch = f () => (float[1] l) { l = Neg (x) }>
      q = If (c) <then_branch = g () => (float[1] r) { r = Add (x, x) }, else_branch = h () => (float[1] s) { s = Neg (x) }>
    })");
  const auto run = [&](double condition) {
    return executor.run({{"x", f32({1}, {1})}, {"c", Tensor::of(DataType::boolean, {}, Numbers{condition})}});
  };
  for (const double condition : {0.0, 1.0}) {
    const Execution execution = run(condition);
    const Numbers chosen{condition != 0 ? 2.0 : -1.0};
    CHECK(execution.outputs.at("y").values() == Numbers{8});
    CHECK(execution.outputs.at("z").values() == Numbers{8});
    CHECK(execution.outputs.at("p").values() == chosen);
    CHECK(execution.outputs.at("q").values() == chosen);
  }
}

TEST_CASE("sizes that data decides are those that it has") {
  // Selects the elements above 1 and then computes with them: (x - 1) of each, and their number.
  Executor executor = executor_of(R"(m (float[4] x) => (float[k] y, int64[1] count) <float one = {1}> {
      above = Greater (x, one)  kept = Compress (x, above)  y = Sub (kept, one)  count = Shape (y) })");
  const auto run = [&](const Numbers& x) { return executor.run({{"x", f32({4}, x)}}); };
  CHECK(run({0, 2, 5, 1}).outputs.at("y").values() == Numbers{1, 4});
  CHECK(run({0, 2, 5, 1}).outputs.at("count").values() == Numbers{2});
  CHECK(run({9, 2, 5, 1}).outputs.at("y").values() == Numbers{8, 1, 4});
  CHECK(run({0, 0, 0, 0}).outputs.at("count").values() == Numbers{0});
}
