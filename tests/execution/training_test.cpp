// SPDX-License-Identifier: Apache-2.0
// An iteration of training, executed. Expected values: tests/data/training, which PyTorch computed, and for `causal`
// NumPy (tests/data/training_causal.py).
#include "support/catch.hpp"
#include <benanza/execution/executor.hpp>
#include <benanza/session/backends.hpp>
#include <benanza/training/derive_training.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

using namespace benanza;

namespace {

using Values = std::vector<double>;

struct ExpectedIteration {
  TrainingLoss kind = TrainingLoss::cross_entropy;
  double loss = 0;
  std::map<std::string, Values> inputs{}, gradients{}, updated{};
};

ExpectedIteration read_expected(const std::string& file) {
  ExpectedIteration made;
  std::ifstream text(file);
  REQUIRE(text.good());
  for (std::string line; std::getline(text, line);) {
    std::istringstream words(line);
    std::string what, name;
    words >> what;
    if (what == "target") name = what;
    else words >> name;
    if (what == "loss") {
      made.kind = name == "mse" ? TrainingLoss::mse : TrainingLoss::cross_entropy;
      words >> made.loss;
      continue;
    }
    auto& to = what == "gradient" ? made.gradients : what == "updated" ? made.updated : made.inputs;
    for (double number = 0; words >> number;) to[name].push_back(number);
  }
  return made;
}

template <class Map>
const auto& entry(const Map& map, const std::string& key) {
  INFO(key);
  REQUIRE(map.contains(key));
  return map.at(key);
}

/// The tolerance is relative to the largest magnitude of the tensor.
void check_near(const std::string& name, const Values& got, const Values& expected, double tolerance) {
  INFO(name);
  REQUIRE(got.size() == expected.size());
  double largest = 0, difference = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    largest = std::max(largest, std::fabs(expected[i]));
    difference = std::max(difference, std::fabs(got[i] - expected[i]));
  }
  CHECK(difference <= tolerance * std::max(largest, 1e-3));
}

}  // namespace

TEST_CASE("gradients and updated weights of small networks are those of PyTorch") {
  const std::string folder = std::string(BENANZA_TEST_DATA) + "/training/";
  for (const std::string name :
       {"convolutions", "attention", "decoder", "frozen", "functions", "movements", "recurrent", "zeroed", "windows",
        "reductions", "elementwise", "normalizations", "products", "places", "paddings", "losses", "causal"})
    for (const bool by_plans : {false, true}) {
      CAPTURE(name, by_plans);
      const ExpectedIteration expected = read_expected(folder + name + ".txt");
      TrainingGraph iteration = derive_training(
          import_onnx(folder + name + ".onnx", {.executable = true, .training = true}), {.loss = expected.kind});
      for (const Parameter& one : iteration.parameters) {
        iteration.graph.outputs.push_back(one.gradient);
        iteration.graph.output_names.push_back("gradient of " + one.name);
      }
      ExecutorOptions options;
      if (by_plans) options.backends = usable_backends();
      Executor executor = Executor::load(with_numbers(iteration), std::move(options));
      std::map<std::string, Tensor> inputs;
      for (const auto& info : executor.inputs())
        inputs[info.name] = Tensor::of(info.type, info.dims, entry(expected.inputs, info.name));
      const Execution execution = executor.run(inputs, {.check = by_plans});
      for (const Disagreement& each : execution.disagreements)
        FAIL_CHECK(each.node << " by " << each.plan << " is off by " << each.difference << ", tolerance "
                             << each.tolerance);
      CHECK(entry(execution.outputs, executor.outputs().front().name)[0] == Approx(expected.loss).epsilon(1e-5));
      REQUIRE(iteration.parameters.size() == expected.gradients.size());
      for (std::size_t i = 0; i < iteration.parameters.size(); ++i) {
        const std::string& parameter = iteration.parameters[i].name;
        check_near("gradient of " + parameter, entry(execution.outputs, "gradient of " + parameter).values(),
                   entry(expected.gradients, parameter), 2e-4);
        check_near("updated " + parameter, entry(execution.outputs, parameter + "/updated").values(),
                   entry(expected.updated, parameter), 1e-5);
      }
    }
}

TEST_CASE("a Gelu that the exporter has written with a tanh is one node, which keeps its operand alone") {
  const TrainingGraph iteration =
      derive_training(import_onnx(std::string(BENANZA_TEST_DATA) + "/training/zeroed.onnx", {.training = true}));
  const auto count = [&](std::string_view type) {
    const auto& nodes = iteration.graph.nodes;
    return std::count_if(nodes.begin(), nodes.end(), [&](const Node& node) { return node.op_type == type; });
  };
  CHECK(count("Gelu") == 1);
  CHECK(count("GeluGrad") == 1);
  CHECK(count("Tanh") == 0);
}

TEST_CASE("slices that take all of a weight are one split of it, whose gradient is one concatenation") {
  const TrainingGraph iteration =
      derive_training(import_onnx(std::string(BENANZA_TEST_DATA) + "/training/recurrent.onnx", {.training = true}));
  const auto& nodes = iteration.graph.nodes;
  const auto count = [&](std::string_view type) {
    return std::count_if(nodes.begin(), nodes.end(), [&](const Node& node) { return node.op_type == type; });
  };
  // Weights and biases of inputs and of states: four of each direction of the LSTM, four of the GRU.
  CHECK(count("Split") >= 12);
  CHECK(count("Pad") == 0);
}
