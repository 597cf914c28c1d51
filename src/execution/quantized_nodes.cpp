// SPDX-License-Identifier: Apache-2.0
#include "quantized_nodes.hpp"

#include <benanza/base/detail/collapse.hpp>
#include <benanza/plan/element.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace benanza::execution {

namespace {

constexpr std::array<std::string_view, 2> quantized_binary{"QLinearAdd", "QLinearMul"};
constexpr std::array<std::string_view, 4> quantized_unary{"QLinearAveragePool", "QLinearGlobalAveragePool",
                                                          "QLinearLeakyRelu", "QLinearSigmoid"};

bool is_quantized_binary(const Node& node) {
  return std::find(quantized_binary.begin(), quantized_binary.end(), node.op_type) != quantized_binary.end();
}

/// The layer of f32 that computes the same function. Empty for a layer of another kind.
std::optional<Layer> in_floats(const Layer& layer) {
  return std::visit(
      []<class Op>(Op op) -> std::optional<Layer> {
        constexpr bool is_computed =
            std::is_same_v<Op, op::Unary> || std::is_same_v<Op, op::Binary> || std::is_same_v<Op, op::Pool>;
        if constexpr (is_computed) {
          op.type = DataType::f32;
          if constexpr (std::is_same_v<Op, op::Binary>) op.same = op.scaled = false;  // one tensor may have two scales
          return Layer(op);
        } else {
          return std::nullopt;
        }
      },
      layer);
}

/// How the elements of a tensor map to numbers.
struct Quantized {
  double scale = 1, zero_point = 0;
};

/// From the two inputs that start at `at`.
Quantized quantized_at(const std::string& name, const NodeTensors& inputs, std::size_t at) {
  const bool has_zero_point = at + 1 < inputs.size() && inputs[at + 1];
  const Quantized result{(*inputs[at])[0], has_zero_point ? (*inputs[at + 1])[0] : 0};
  if (!(std::isfinite(result.scale) && result.scale > 0))
    throw InputError("node '" + name + "': a scale of " + std::to_string(result.scale));
  return result;
}

Tensor dequantized(const Tensor& x, const Quantized& by) {
  std::vector<double> values = x.values();
  for (double& value : values) value = (value - by.zero_point) * by.scale;
  return Tensor::of(DataType::f32, x.dims(), values);
}

Tensor quantized(std::vector<double> values, const Quantized& by, DataType type, const Tensor::Dims& dims) {
  for (double& value : values) value = quantized_element(value / by.scale, by.zero_point, type);
  return Tensor::of(type, dims, values);
}

}  // namespace

double quantized_element(double quotient, double zero_point, DataType type) {
  const auto [least, largest] = integer_range(type);
  return std::clamp(std::nearbyint(quotient) + zero_point, least, largest);
}

bool is_quantized_node(const Node& node) {
  return node.domain == "com.microsoft" &&
         (is_quantized_binary(node) ||
          std::find(quantized_unary.begin(), quantized_unary.end(), node.op_type) != quantized_unary.end());
}

NodeCall bind_quantized(const Graph& graph, const Node& node, const Layer& layer) {
  const auto computed = in_floats(layer);
  if (!computed) throw NotExecutable(node, "modelled only");
  if (node.attribute<std::int64_t>("channels_last", 0) != 0)
    throw NotExecutable(node, "images whose channels are last");
  // Each operand is followed by its scale and its zero point. So is the result, which is not among the inputs.
  std::vector<std::size_t> at{0};
  std::size_t scales_of_y = 3;
  if (is_quantized_binary(node)) {
    at.push_back(3);
    scales_of_y = 6;
  }
  std::vector<std::size_t> scales{scales_of_y};
  for (const std::size_t i : at) scales.push_back(i + 1);
  for (const std::size_t i : scales) {
    const bool is_one = graph.input(node, i).elements() == 1;
    if (!is_one || (node.has_input(i + 1) && graph.input(node, i + 1).elements() != 1))
      throw NotExecutable(node, "a tensor with several scales or zero points");
  }
  if (const auto* binary = std::get_if<op::Binary>(&*computed)) {
    const auto shapes =
        detail::collapse(std::vector<detail::Dims>{graph.input(node, 0).dims, graph.input(node, 3).dims});
    if (TensorShape(shapes[0]) != binary->a) std::swap(at[0], at[1]);
  }
  const Value& y = graph.output(node, 0);
  if (y.type != graph.input(node, 0).type || !is_8_bit(y.type)) throw NotExecutable(node, "operands of two types");
  NodeCall call{.layer = layer};
  call.outputs.resize(node.outputs.size());
  call.outputs[0].make = [=, name = node.name, type = y.type, dims = y.dims](const NodeTensors& inputs) {
    std::vector<Tensor> operands;
    std::vector<const void*> reads;
    for (const std::size_t i : at) {
      operands.push_back(dequantized(*inputs[i], quantized_at(name, inputs, i + 1)));
      reads.push_back(operands.back().data());
    }
    return quantized(reference::evaluate_all(*computed, reads, 0), quantized_at(name, inputs, scales_of_y), type, dims);
  };
  return call;
}

}  // namespace benanza::execution
