// SPDX-License-Identifier: Apache-2.0
#include "backend/node_run.hpp"

#include <benanza/execution/executor.hpp>

namespace benanza::test {

std::vector<std::optional<Numbers>> run_graph(const Graph& graph, const std::map<std::string, Numbers>& inputs) {
  try {
    Executor executor = Executor::load(graph);
    std::map<std::string, Tensor> tensors;
    for (const auto& info : executor.inputs()) {
      const Numbers& given = inputs.at(info.name);
      tensors[info.name] = Tensor::of(given.type, given.dims, given.values);
    }
    const Execution execution = executor.run(tensors);
    std::vector<std::optional<Numbers>> outputs;
    for (const auto& info : executor.outputs()) {
      const auto found = execution.outputs.find(info.name);
      if (found == execution.outputs.end()) outputs.emplace_back();
      else
        outputs.push_back(
            Numbers{.type = found->second.type(), .dims = found->second.dims(), .values = found->second.values()});
    }
    return outputs;
  } catch (const NotExecutable& refused) {
    throw Skip{refused.reason};
  }
}

}  // namespace benanza::test
