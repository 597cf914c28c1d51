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
