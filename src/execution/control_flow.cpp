// SPDX-License-Identifier: Apache-2.0
// If, Loop and Scan, executed as data requires.
#include "program.hpp"
#include <benanza/base/detail/node.hpp>

#include <cstring>
#include <limits>

namespace benanza::execution {

namespace {

/// Of all loops together: a file may have loops that never end.
constexpr std::int64_t most_passes = std::int64_t{1} << 16;

using Axes = std::vector<std::int64_t>;

std::size_t element_bytes(const Node& node, DataType type) {
  if (bits(type) % 8 != 0 || type == DataType::string)
    throw NotExecutable(node, "a sequence of elements of " + std::string(name(type)));
  return static_cast<std::size_t>(bits(type) / 8);
}

std::size_t axis_of(const Node& node, const Axes& axes, std::size_t i, std::size_t rank) {
  const auto axis = detail::to_axis(i < axes.size() ? axes[i] : 0, rank);
  if (!axis) throw InputError("node '" + node.name + "': an axis is out of range");
  return *axis;
}

/// Element `index` along an axis, without that axis.
Tensor element_along(const Node& node, const Tensor& x, std::size_t axis, std::int64_t index) {
  const TensorShape around = detail::around(x.dims(), axis);
  Tensor::Dims dims = x.dims();
  dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(axis));
  Tensor result(x.type(), std::move(dims));
  const std::size_t row = static_cast<std::size_t>(around[2]) * element_bytes(node, x.type());
  for (std::int64_t outer = 0; outer < around[0]; ++outer)
    std::memcpy(static_cast<std::byte*>(result.writable()) + static_cast<std::size_t>(outer) * row,
                static_cast<const std::byte*>(x.data()) + static_cast<std::size_t>(outer * around[1] + index) * row,
                row);
  return result;
}

/// Stacks tensors of equal shape along a new axis.
Tensor stacked(const Node& node, const std::vector<Tensor>& parts, std::size_t axis, DataType type,
               const Tensor::Dims& part) {
  Tensor::Dims dims = part;
  const auto count = static_cast<std::int64_t>(parts.size());
  dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(axis), count);
  Tensor result(type, dims);
  const TensorShape around = detail::around(dims, axis);
  const std::size_t row = static_cast<std::size_t>(around[2]) * element_bytes(node, type);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].dims() != part) throw InputError("node '" + node.name + "': passes give outputs of different sizes");
    for (std::int64_t outer = 0; outer < around[0]; ++outer)
      std::memcpy(static_cast<std::byte*>(result.writable()) + (static_cast<std::size_t>(outer * count) + i) * row,
                  static_cast<const std::byte*>(parts[i].data()) + static_cast<std::size_t>(outer) * row, row);
  }
  return result;
}

const Tensor& present(const Node& node, const std::optional<Tensor>& tensor) {
  if (!tensor) throw NotExecutable(node, "an output of its body is not computed");
  return *tensor;
}

}  // namespace

NodeTensors Program::run_body(Step& step, std::size_t body, const NodeTensors& inputs, const TensorStore& store,
                              Resources& resources) {
  std::map<ValueId, Tensor> captured;
  for (const auto& [here, outer] : step.node->bodies[body].graph.captures)
    captured[here] = store[outer] ? *store[outer]
                                  : throw NotExecutable(
                                        *step.node, "the numbers of '" + graph_.value(outer).name + "' are not known");
  return step.bodies[body]->run(inputs, captured, resources);
}

NodeTensors Program::run_if(Step& step, const TensorStore& store, Resources& resources) {
  const Tensor condition = *inputs_of(*step.node, store).at(0);
  if (condition.elements() != 1) throw InputError("node '" + step.node->name + "': its condition is not one number");
  return run_body(step, condition[0] != 0 ? 0 : 1, {}, store, resources);
}

// Body: iteration, condition, carried -> condition, carried, scan outputs.
NodeTensors Program::run_loop(Step& step, const TensorStore& store, Resources& resources) {
  const Node& node = *step.node;
  const Graph& body = node.bodies[0].graph;
  const NodeTensors inputs = inputs_of(node, store);
  const auto carried = static_cast<std::ptrdiff_t>(inputs.size()) - 2;
  const double limit = inputs[0] ? (*inputs[0])[0] : std::numeric_limits<double>::infinity();
  std::optional<Tensor> condition = inputs[1];
  NodeTensors values(inputs.begin() + 2, inputs.end());
  const std::size_t scans = body.outputs.size() - 1 - values.size();
  std::vector<std::vector<Tensor>> collected(scans);
  for (std::int64_t pass = 0; static_cast<double>(pass) < limit && (!condition || (*condition)[0] != 0); ++pass) {
    if (++resources.passes > most_passes)
      throw NotExecutable(node, "a run of more than " + std::to_string(most_passes) + " passes of loops");
    NodeTensors given{Tensor::of(DataType::i64, {}, std::vector{static_cast<double>(pass)}),
                      condition ? *condition : Tensor::of(DataType::boolean, {}, std::vector{1.0})};
    given.insert(given.end(), values.begin(), values.end());
    const NodeTensors made = run_body(step, 0, given, store, resources);
    if (condition) condition = present(node, made[0]);
    else if (const Tensor& next = present(node, made[0]); next[0] == 0) condition = next;
    values.assign(made.begin() + 1, made.begin() + 1 + carried);
    for (std::size_t i = 0; i < scans; ++i) collected[i].push_back(present(node, made[1 + values.size() + i]));
  }
  for (std::size_t i = 0; i < scans; ++i) {
    const Value& part = body.value(body.outputs[1 + static_cast<std::size_t>(carried) + i]);
    const auto& parts = collected[i];
    values.push_back(stacked(node, parts, 0, part.type, parts.empty() ? part.dims : parts.front().dims()));
  }
  return values;
}

NodeTensors Program::run_scan(Step& step, const TensorStore& store, Resources& resources) {
  const Node& node = *step.node;
  if (node.op_type != "Scan") throw NotExecutable(node, "control flow of another kind");
  if (node.opset < 9) throw NotExecutable(node, "a Scan over a batch, of operator set 8");
  const Graph& body = node.bodies[0].graph;
  const NodeTensors inputs = inputs_of(node, store);
  const auto sequences = static_cast<std::size_t>(node.attribute("num_scan_inputs", std::int64_t{0}));
  const std::size_t states = inputs.size() - sequences, scans = body.outputs.size() - states;
  const Axes axes = node.attribute<Axes>("scan_input_axes", {}),
             output_axes = node.attribute<Axes>("scan_output_axes", {}),
             backward = node.attribute<Axes>("scan_input_directions", {}),
             output_backward = node.attribute<Axes>("scan_output_directions", {});
  const auto is_backward = [](const Axes& directions, std::size_t i) {
    return i < directions.size() && directions[i] != 0;
  };
  std::int64_t length = 0;
  for (std::size_t i = 0; i < sequences; ++i) {
    const auto& dims = inputs[states + i]->dims();
    const std::int64_t own = dims[axis_of(node, axes, i, dims.size())];
    if (i > 0 && own != length) throw InputError("node '" + node.name + "': sequences of different lengths");
    length = own;
  }
  NodeTensors values(inputs.begin(), inputs.begin() + static_cast<std::ptrdiff_t>(states));
  std::vector<std::vector<Tensor>> collected(scans);
  for (std::int64_t pass = 0; pass < length; ++pass) {
    NodeTensors given = values;
    for (std::size_t i = 0; i < sequences; ++i) {
      const Tensor& sequence = *inputs[states + i];
      given.emplace_back(element_along(node, sequence, axis_of(node, axes, i, sequence.dims().size()),
                                       is_backward(backward, i) ? length - 1 - pass : pass));
    }
    const NodeTensors made = run_body(step, 0, given, store, resources);
    values.assign(made.begin(), made.begin() + static_cast<std::ptrdiff_t>(states));
    for (std::size_t i = 0; i < scans; ++i) {
      auto& parts = collected[i];
      parts.insert(is_backward(output_backward, i) ? parts.begin() : parts.end(), present(node, made[states + i]));
    }
  }
  for (std::size_t i = 0; i < scans; ++i) {
    const Value& part = body.value(body.outputs[states + i]);
    const auto& parts = collected[i];
    const Tensor::Dims& dims = parts.empty() ? part.dims : parts.front().dims();
    values.push_back(stacked(node, parts, axis_of(node, output_axes, i, dims.size() + 1), part.type, dims));
  }
  return values;
}

}  // namespace benanza::execution
