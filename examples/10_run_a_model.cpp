// SPDX-License-Identifier: Apache-2.0
// Executes a model once: inputs in, outputs out. The files of examples/models have no weights, so they get random ones.
#include <benanza/execution/executor.hpp>
#include <benanza/execution/random_tensor.hpp>

#include <cstdio>

int main(int argc, char** argv) {
  using namespace benanza;
  Executor executor = Executor::load(argc > 1 ? argv[1] : "examples/models/zoo2019/MNIST.onnx", {.weight_seed = 1});
  std::map<std::string, Tensor> inputs;
  for (const auto& info : executor.inputs()) inputs[info.name] = random_input(info.type, info.dims, info.name, 1);
  const Execution execution = executor.run(inputs);

  for (const auto& [name, tensor] : execution.outputs) {
    std::printf("%s, %s:", name.c_str(), described(tensor.type(), tensor.dims()).c_str());
    for (std::int64_t i = 0; i < tensor.elements() && i < 10; ++i) std::printf(" %.3f", tensor[i]);
    std::printf("\n");
  }
}
