// SPDX-License-Identifier: Apache-2.0
// Expected values: tests/data/gradients.txt, which PyTorch's autograd computed, and finite differences of the forward
// functions.
#include "backend/reference_support.hpp"
#include "support/catch.hpp"
#include <benanza/model/layer_signature.hpp>

#include <fstream>
#include <sstream>
#include <string>

using namespace benanza;
using test::run;
using Values = std::vector<double>;

namespace {

struct Case {
  std::string signature{};
  std::vector<Values> inputs{}, outputs{};
};

std::vector<Case> cases() {
  std::ifstream file(std::string(BENANZA_TEST_DATA) + "/gradients.txt");
  std::vector<Case> result;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string word;
    words >> word;
    if (word == "layer") {
      words >> result.emplace_back().signature;
      continue;
    }
    Values& values = (word == "in" ? result.back().inputs : result.back().outputs).emplace_back();
    for (double number = 0; words >> number;) values.push_back(number);
  }
  return result;
}

}  // namespace

TEST_CASE("gradients are those of PyTorch's autograd") {
  const auto all = cases();
  REQUIRE(all.size() == 100);
  for (const Case& one : all) {
    INFO(one.signature);
    const Layer layer = parse_layer(one.signature);
    REQUIRE(operands(layer).outputs.size() == one.outputs.size());
    const double epsilon = type(layer) == DataType::f32 ? 1e-6 : 1e-10;  // PyTorch computed in this type
    for (std::size_t k = 0; k < one.outputs.size(); ++k) {
      const Values got = run(layer, one.inputs, k);
      REQUIRE(got.size() == one.outputs[k].size());
      for (std::size_t i = 0; i < got.size(); ++i) {
        CAPTURE(k, i);
        CHECK(got[i] == Approx(one.outputs[k][i]).epsilon(epsilon).margin(epsilon / 10));
      }
    }
  }
}

TEST_CASE("derivatives are the limits of finite differences") {
  using enum ElementwiseFn;
  struct Function {
    ElementwiseFn fn;
    double alpha = 0, beta = 0;
  };
  const double step = 1e-5;
  for (const Function f : {Function{relu},
                           {sigmoid},
                           {ElementwiseFn::tanh},
                           {ElementwiseFn::exp},
                           {ElementwiseFn::sqrt},
                           {reciprocal},
                           {elu, 0.7},
                           {leaky_relu, 0.1},
                           {hard_sigmoid, 0.2, 0.5},
                           {ElementwiseFn::abs},
                           {celu, 0.8},
                           {clip, -0.5, 0.25},
                           {ElementwiseFn::cos},
                           {ElementwiseFn::sin},
                           {ElementwiseFn::erf},
                           {ElementwiseFn::log},
                           {gelu},
                           {gelu_tanh},
                           {hard_swish},
                           {mish},
                           {softplus},
                           {selu, 1.67, 1.05},
                           {shrink, 0.4, 0.5},
                           {softsign},
                           {swish, 1.702},
                           {thresholded_relu, 0.7}}) {
    const bool positive = f.fn == ElementwiseFn::sqrt || f.fn == ElementwiseFn::log || f.fn == reciprocal;
    const Values x = positive ? Values{0.3, 0.9, 1.7, 4.2} : Values{-3.7, -1.2, -0.31, 0.12, 0.93, 2.6, 4.1};
    const auto count = static_cast<std::int64_t>(x.size());
    const op::Unary forward{.type = DataType::f64, .fn = f.fn, .x = {count}, .alpha = f.alpha, .beta = f.beta};
    const op::UnaryGradient backward{.type = DataType::f64, .fn = f.fn, .x = {count}, .alpha = f.alpha, .beta = f.beta};
    REQUIRE(backward.consistent());
    Values above = x, below = x;
    for (std::size_t i = 0; i < x.size(); ++i) above[i] += step, below[i] -= step;
    const Values y = run(forward, {x}), high = run(forward, {above}), low = run(forward, {below});
    const Values got = run(backward, {Values(x.size(), 1.0), backward.reads_result() ? y : x});
    for (std::size_t i = 0; i < x.size(); ++i) {
      CAPTURE(static_cast<int>(f.fn), x[i]);
      CHECK(got[i] == Approx((high[i] - low[i]) / (2 * step)).epsilon(1e-6).margin(1e-8));
    }
  }
}

TEST_CASE("gradients of windows, softmax and resizing are the limits of finite differences") {
  struct Pair {
    std::string forward{}, backward{};
    std::size_t operand = 0;          ///< of forward: the gradient is with respect to it
    std::vector<std::size_t> kept{};  ///< operands of forward that backward reads too
    bool reads_result = false;
    bool dy_first = true;
  };
  const std::string strided = "x=1x4x7x6/w=6x2x3x2/pads=1x1x1x1/strides=2x2/group=2";
  const std::string dilated = "x=2x4x6x6/w=4x1x3x3/pads=2x2x2x2/dilations=2x2/group=4";
  const std::string average = "mode=average/x=1x2x7x6/kernel=3x3/pads=1x1x1x1/strides=2x2/include_pad=1";
  const double step = 1e-5;
  for (const Pair& pair :
       {Pair{"Conv/f64/" + strided, "ConvGradient/f64/" + strided, 0, {1}},
        Pair{"Conv/f64/" + strided, "ConvGradient/f64/of=weights/" + strided, 1, {0}, false, false},
        Pair{"Conv/f64/" + dilated, "ConvGradient/f64/" + dilated, 0, {1}},
        Pair{"Conv/f64/" + dilated, "ConvGradient/f64/of=weights/" + dilated, 1, {0}, false, false},
        Pair{"Pool/f64/" + average, "PoolGradient/f64/" + average, 0},
        Pair{"Softmax/f64/x=2x5x3", "SoftmaxGradient/f64/x=2x5x3", 0, {}, true},
        Pair{"Resize/f64/mode=linear/x=1x2x4x5/y=1x2x7x9", "ResizeGradient/f64/mode=linear/x=1x2x4x5/y=1x2x7x9", 0}}) {
    CAPTURE(pair.backward);
    const Layer forward = parse_layer(pair.forward), backward = parse_layer(pair.backward);
    std::vector<Values> inputs;
    std::uint64_t state = 7;  // numbers from -1 to 1, by the generator of Numerical Recipes
    const auto random = [&](std::int64_t count) {
      Values values;
      for (std::int64_t i = 0; i < count; ++i) {
        state = state * 6364136223846793005U + 1442695040888963407U;
        values.push_back(static_cast<double>(state >> 11) / static_cast<double>(std::uint64_t{1} << 52) - 1);
      }
      return values;
    };
    for (const auto& operand : operands(forward).inputs) inputs.push_back(random(operand.elements()));
    const Values y = run(forward, inputs), dy = random(static_cast<std::int64_t>(y.size()));
    std::vector<Values> given;
    for (const std::size_t i : pair.kept) given.push_back(inputs[i]);
    if (pair.reads_result) given.push_back(y);
    given.insert(pair.dy_first ? given.begin() : given.end(), dy);
    const Values got = run(backward, given);
    REQUIRE(got.size() == inputs[pair.operand].size());
    for (std::size_t i = 0; i < got.size(); ++i) {
      auto above = inputs, below = inputs;
      above[pair.operand][i] += step;
      below[pair.operand][i] -= step;
      const Values high = run(forward, above), low = run(forward, below);
      double expected = 0;
      for (std::size_t k = 0; k < y.size(); ++k) expected += dy[k] * (high[k] - low[k]) / (2 * step);
      CAPTURE(i);
      CHECK(got[i] == Approx(expected).epsilon(1e-6).margin(1e-8));
    }
  }
}
