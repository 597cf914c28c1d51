// SPDX-License-Identifier: Apache-2.0
// Any bytes are a model or an error of Benanza's family, and the reference runs a small model on random inputs.
#include "memory_file.hpp"
#include <benanza/error.hpp>
#include <benanza/execution/executor.hpp>
#include <benanza/execution/random_tensor.hpp>
#include <benanza/model/layer.hpp>
#include <benanza/model/make_layer.hpp>

#include <algorithm>

namespace {

using namespace benanza;

/// Whether a run takes milliseconds. Loops are left out: their conditions may never be false.
bool is_small(const Graph& graph) {
  constexpr std::int64_t most_elements = 1 << 14;
  constexpr double most_flops = 1e5;
  const auto is_short = [&](const Value& value) { return value.elements() <= most_elements; };
  if (!std::all_of(graph.values.begin(), graph.values.end(), is_short)) return false;
  return std::all_of(graph.nodes.begin(), graph.nodes.end(), [&](const Node& node) {
    return node.bodies.empty() && cost(make_layer(node, graph)).flops.value <= most_flops;
  });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const testing::MemoryFile file(data, size);
  try {
    Graph graph = import_onnx(file.path(), {.executable = true});
    if (!is_small(graph)) return 0;
    Executor executor = Executor::load(std::move(graph));
    std::map<std::string, Tensor> inputs;
    for (const auto& info : executor.inputs()) inputs[info.name] = random_input(info.type, info.dims, info.name, size);
    static_cast<void>(executor.run(inputs));
  } catch (const Error&) {
    // expected for a broken model, and for one that cannot be run
  }
  return 0;
}
