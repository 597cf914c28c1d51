// SPDX-License-Identifier: Apache-2.0
#include "program.hpp"
#include <benanza/execution/executor.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

namespace benanza {

namespace {

TensorInfo info_of(const std::string& name, const Value& value) {
  return {.name = name, .type = value.type, .dims = value.dims, .data_dependent = value.data_dependent};
}

/// The name of an output in the file.
std::string output_name(const Graph& graph, std::size_t i) {
  return i < graph.output_names.size() ? graph.output_names[i] : graph.value(graph.outputs[i]).name;
}

void check_finite(const TensorInfo& info, const Tensor& tensor) {
  if (!is_float(info.type)) return;
  for (std::int64_t i = 0; i < tensor.elements(); ++i)
    if (!std::isfinite(tensor[i]))
      throw InputError("input '" + info.name + "': element " + std::to_string(i) +
                       " is not a finite number, and results cannot be checked with it");
}

}  // namespace

Seconds Execution::by_reference() const {
  Seconds sum{};
  for (const auto& run : nodes)
    if (run.plan == "reference") sum += run.time;
  return sum;
}

class Executor::State {
 public:
  State(Graph given, ExecutorOptions options)
      : graph(std::move(given)),
        weights(graph.file),
        resources{.plans = {std::move(options.backends), options.threads}, .weight_seed = options.weight_seed},
        program(graph, weights, resources) {
    for (std::size_t i = 0; i < graph.outputs.size(); ++i)
      outputs.push_back(info_of(output_name(graph, i), graph.value(graph.outputs[i])));
    program.prepare(resources);
    for (const auto id : graph.inputs) {
      const Value& value = graph.value(id);
      if (value.data_dependent)
        throw InputError("input '" + value.name + "' is a sequence, a map or an optional: only tensors can be given");
      if (value.type == DataType::string)
        throw InputError("input '" + value.name + "' is text: only numbers can be given");
      inputs.push_back(info_of(value.name, value));
    }
  }

  Graph graph;
  execution::Weights weights;
  execution::Resources resources;
  execution::Program program;
  std::vector<TensorInfo> inputs{}, outputs{};
};

Executor::Executor(std::unique_ptr<State> state) : state_(std::move(state)) {}
Executor::~Executor() = default;
Executor::Executor(Executor&& other) noexcept = default;
Executor& Executor::operator=(Executor&& other) noexcept = default;

Executor Executor::load(const std::filesystem::path& file, ExecutorOptions options) {
  ImportOptions import = options.import;
  import.executable = true;
  return load(import_onnx(file, import), std::move(options));
}

Executor Executor::load(Graph graph, ExecutorOptions options) {
  for (const auto& backend : options.backends)
    if (backend->on_device())
      throw UsageError("backend '" + std::string(backend->name()) +
                       "' works in a device's memory, and a model is run in that of the processor");
  return Executor(std::make_unique<State>(std::move(graph), std::move(options)));
}

const Graph& Executor::graph() const { return state_->graph; }
const std::vector<TensorInfo>& Executor::inputs() const { return state_->inputs; }
const std::vector<TensorInfo>& Executor::outputs() const { return state_->outputs; }

Execution Executor::run(const std::map<std::string, Tensor>& inputs, const RunOptions& options) {
  State& state = *state_;
  for (const auto& [name, tensor] : inputs)
    if (std::none_of(state.inputs.begin(), state.inputs.end(),
                     [&, &wanted = name](const auto& info) { return info.name == wanted; }))
      throw InputError(state.graph.name + " has no input '" + name + "'");
  execution::NodeTensors given;
  for (const auto& info : state.inputs) {
    const auto found = inputs.find(info.name);
    if (found == inputs.end())
      throw InputError("input '" + info.name + "' is not given, expected " + described(info.type, info.dims));
    const Tensor& tensor = found->second;
    if (tensor.type() != info.type || tensor.dims() != info.dims)
      throw InputError("input '" + info.name + "': " + described(tensor.type(), tensor.dims()) + " given, expected " +
                       described(info.type, info.dims));
    if (options.check) check_finite(info, tensor);
    given.emplace_back(tensor);
  }
  Execution result;
  state.resources.check = options.check;
  state.resources.checks = {};
  state.resources.passes = 0;
  state.resources.execution = &result;
  const auto begin = std::chrono::steady_clock::now();
  const auto made = state.program.run(given, {}, state.resources);
  result.time = {std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count()};
  result.time = result.time - state.resources.checks;
  state.resources.execution = nullptr;
  for (std::size_t i = 0; i < made.size(); ++i) {
    if (made[i]) result.outputs.insert_or_assign(state.outputs[i].name, *made[i]);
    else result.not_computed.push_back(state.outputs[i].name);
  }
  return result;
}

}  // namespace benanza
