// SPDX-License-Identifier: Apache-2.0
#include "bind_node.hpp"

#include "attention_operands.hpp"
#include "channel_scales.hpp"
#include "dynamic_lstm.hpp"
#include "node_parameters.hpp"
#include "packed_product.hpp"
#include "quantized_gemm.hpp"
#include "quantized_nodes.hpp"
#include "reference/index.hpp"
#include "training_nodes.hpp"
#include "tree_call.hpp"
#include <benanza/base/detail/node.hpp>
#include <benanza/model/make_layer.hpp>
#include <benanza/operators/lookup.hpp>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>
#include <string_view>

namespace benanza::execution {

namespace {

using Indices = std::vector<std::size_t>;

/// Throws if a node has something that its layer does not express.
void refuse_extensions(const Node& node) {
  if (node.domain.empty() || node.domain == "ai.onnx" || node.domain == "ai.onnx.ml") return;
  const auto refuse = [&](const std::string& why) { throw NotExecutable(node, why); };
  if (node.domain == "benanza" && node.op_type == "Dropout") refuse("random numbers of training");
  if (node.domain == "benanza") return;  // gradients
  if (is_quantized_node(node) || is_dynamic_lstm(node) || is_packed_product(node)) return;
  if (!facts_of(node).is(Trait::as_layer)) refuse("an operator of domain " + node.domain);
  const auto has = [&](std::string_view key) { return node.attribute<std::int64_t>(key, 0) != 0; };
  if (node.op_type == "MultiHeadAttention" && node.has_input(3)) refuse("a bias of queries, keys and values");
  if (node.op_type == "MultiHeadAttention" && node.has_input(4)) refuse("a mask of padding");
  if (node.op_type == "GroupQueryAttention" && (has("do_rotary") || has("smooth_softmax")))
    refuse("a rotation or another softmax within attention");
}

/// Throws if a node has attributes that change the result but not the speed, and that have no parameter.
void refuse_attributes(const Node& node) {
  const auto refuse = [&](const char* why) { throw NotExecutable(node, why); };
  if (node.op_type == "MaxPool" && node.attribute("storage_order", std::int64_t{0}) != 0)
    refuse("indices in column-major order");
  if (node.attribute("saturate", std::int64_t{1}) == 0) refuse("conversion without saturation");
}

bool has_text(const Graph& graph, const Node& node) {
  const auto is_text = [&](const std::optional<ValueId>& value) {
    return value && graph.value(*value).type == DataType::string;
  };
  return std::any_of(node.inputs.begin(), node.inputs.end(), is_text) ||
         std::any_of(node.outputs.begin(), node.outputs.end(), is_text);
}

/// GroupQueryAttention may leave part of its cache unused, or have sequences of different lengths (`seqlens_k` holds
/// the last key of each sequence). The layer would then read keys that the node leaves out. Lengths that depend on data
/// are checked in each run.
void refuse_unused_keys(const Graph& graph, const Node& node, NodeCall& call) {
  const auto* attention = std::get_if<op::Attention>(&call.layer);
  if (attention == nullptr || node.op_type != "GroupQueryAttention") return;
  constexpr const char* why = "a cache that is not full, or sequences of different lengths";
  const std::int64_t keys = attention->k[2], cached = node.has_input(3) ? graph.input(node, 3).dims[2] : 0;
  if (keys != cached + attention->q[2]) throw NotExecutable(node, why);
  if (!node.has_input(5)) return;
  if (const auto& literal = graph.input(node, 5).literal) {
    const auto last_keys = literal->ints;
    if (std::any_of(last_keys.begin(), last_keys.end(), [&](auto last) { return last != keys - 1; }))
      throw NotExecutable(node, why);
    return;
  }
  OperandSource& source = call.operands[1];
  source.make = [node = node, keys, read = source](const NodeTensors& inputs) {
    for (const double last : inputs[5]->values())
      if (last != static_cast<double>(keys - 1)) throw NotExecutable(node, why);
    return read.make ? read.make(inputs) : *inputs[read.inputs.front()];
  };
  source.inputs.push_back(5);
}

/// Whether the layer, which has the operands of a commutative function in canonical order, has swapped them.
bool is_swapped(const Node& node, const Graph& graph, const op::Binary& binary) {
  if (node.op_type == "PRelu") return false;
  const auto shapes = detail::collapse(std::vector<detail::Dims>{graph.input(node, 0).dims, graph.input(node, 1).dims});
  return TensorShape(shapes[0]) != binary.a;
}

/// Which of the node's inputs are the layer's operands, in the layer's order. By default all of them in turn.
Indices operand_inputs(const Node& node, const Graph& graph, const Layer& layer) {
  const std::string& type = node.op_type;
  if (type == "QLinearConv") return {0, 3, 8};
  if (type == "QLinearMatMul") return {0, 3};
  if (is_quantized_gemm(node)) return node.has_input(6) ? Indices{0, 3, 6} : Indices{0, 3};
  if (type == "STFT") return {0, 2};
  if (type == "Range") return {0, 2};
  if (type == "OneHot") return {0, 2};
  if (const auto* recurrent = std::get_if<op::Recurrent>(&layer)) {
    Indices inputs{0, 1, 2};
    if (recurrent->bias) inputs.push_back(3);
    if (recurrent->initial_state) inputs.insert(inputs.end(), {5, 6});
    if (recurrent->peepholes) inputs.push_back(7);
    return inputs;
  }
  Indices inputs(node.inputs.size());
  std::iota(inputs.begin(), inputs.end(), std::size_t{0});
  std::erase_if(inputs, [&](std::size_t i) { return !node.has_input(i); });
  if (type == "Concat") std::erase_if(inputs, [&](std::size_t i) { return graph.input(node, i).elements() == 0; });
  if (const auto* binary = std::get_if<op::Binary>(&layer)) {
    if (binary->same) return {0};
    if (type != "Clip" && is_swapped(node, graph, *binary)) return {1, 0};
  }
  return inputs;
}

/// The angles of positions, selected from a table.
Tensor picked_angles(const Tensor& table, const Tensor& positions) {
  Tensor::Dims dims = positions.dims();
  dims.push_back(table.dims().back());
  Tensor result(table.type(), std::move(dims));
  const auto row = static_cast<std::size_t>(table.dims().back() * bits(table.type()) / 8);
  for (std::int64_t i = 0; i < positions.elements(); ++i) {
    const auto at = static_cast<std::size_t>(positions[i]) * row;
    if (positions[i] < 0 || at + row > table.bytes()) throw InputError("a position beyond the table of angles");
    std::memcpy(static_cast<std::byte*>(result.writable()) + static_cast<std::size_t>(i) * row,
                static_cast<const std::byte*>(table.data()) + at, row);
  }
  return result;
}

Tensor scaled(const Tensor& x, double factor) {
  std::vector<double> values = x.values();
  for (double& value : values) value *= factor;
  return Tensor::of(x.type(), x.dims(), values);
}

/// x with its last two dimensions exchanged.
Tensor transposed(const Tensor& x) {
  Tensor::Dims dims = x.dims();
  std::swap(dims[dims.size() - 1], dims[dims.size() - 2]);
  const auto rows = static_cast<std::size_t>(x.dims()[dims.size() - 2]),
             columns = static_cast<std::size_t>(x.dims().back()), size = static_cast<std::size_t>(bits(x.type())) / 8,
             matrix = rows * columns * size;
  Tensor result(x.type(), std::move(dims));
  for (std::size_t begin = 0; begin < x.bytes(); begin += matrix) {
    const auto* const from = static_cast<const std::byte*>(x.data()) + begin;
    auto* const to = static_cast<std::byte*>(result.writable()) + begin;
    for (std::size_t row = 0; row < rows; ++row)
      for (std::size_t column = 0; column < columns; ++column)
        std::memcpy(to + (column * rows + row) * size, from + (row * columns + column) * size, size);
  }
  return result;
}

/// x, which broadcasts to a shape, with all elements of that shape.
Tensor spread(const Tensor& x, const Tensor::Dims& dims) {
  const TensorShape from(x.dims()), shape(dims);
  std::vector<double> values;
  TensorShape at = TensorShape::filled(shape.size(), 0);
  do values.push_back(x[reference::broadcast_index(from, at)]);
  while (reference::advance(shape, at));
  return Tensor::of(x.type(), dims, values);
}

/// The dimensions that a layer norm normalizes, if input `i` is a scale or a bias that has to broadcast to them.
std::optional<Tensor::Dims> spread_to(const Graph& graph, const Node& node, const Layer& layer, std::size_t i) {
  if (!std::holds_alternative<op::LayerNorm>(layer) || i == 0 || node.op_type.starts_with("Skip")) return std::nullopt;
  const Tensor::Dims &x = graph.input(node, 0).dims, &given = graph.input(node, i).dims;
  const auto axis = benanza::detail::to_axis(node.attribute<std::int64_t>("axis", -1), x.size());
  Tensor::Dims normalized(x.begin() + static_cast<std::ptrdiff_t>(axis.value_or(0)), x.end());
  if (!axis || given.size() > normalized.size() || element_count(given) >= element_count(normalized))
    return std::nullopt;
  for (std::size_t k = 1; k <= given.size(); ++k)
    if (given[given.size() - k] != 1 && given[given.size() - k] != normalized[normalized.size() - k])
      return std::nullopt;
  return normalized;
}

/// Whether a layer takes operand `i` of a product without the transposition that the node applies. A product with
/// constants has them in the order that suits its plans.
bool is_transposed(const Node& node, const Layer& layer, std::size_t i) {
  const auto* product = std::get_if<op::MatMul>(&layer);
  if (product == nullptr || i > 1) return false;
  return node.attribute<std::int64_t>(i == 0 ? "transA" : "transB", 0) != 0 &&
         !(i == 0 ? product->trans_a : product->trans_b);
}

std::vector<OperandSource> sources_of(const Graph& graph, const Node& node, const NodeCall& call) {
  std::vector<OperandSource> sources;
  Indices which = operand_inputs(node, graph, call.layer);
  if (const auto* attention = std::get_if<op::Attention>(&call.layer)) {
    const auto made = attention_operands(node, *attention);
    sources.assign(made.begin(), made.end());
    which = {0, 1, 2, node.domain.empty() ? 3U : 5U};
  }
  const bool picks = std::holds_alternative<op::Rotary>(call.layer) && node.domain.empty() && node.has_input(3);
  for (std::size_t i = sources.size(); i < call.shapes.inputs.size(); ++i) {
    OperandSource source;
    if (i < which.size() && node.has_input(which[i])) source.inputs = {which[i]};
    if (node.domain == "benanza" && !source.inputs.empty())
      if (auto other = gradient_operand(node, call.layer, i, which[i])) {
        sources.push_back(std::move(*other));
        continue;
      }
    double factor = 1;  // Gemm: alpha A B + beta C; FusedMatMul: alpha A B
    if (node.op_type == "FusedMatMul" && i == 0) factor = node.attribute("alpha", 1.0);
    if (node.op_type == "Gemm" && i != 1) factor = node.attribute(i == 0 ? "alpha" : "beta", 1.0);
    const bool exchanged = is_transposed(node, call.layer, i);
    if ((factor != 1 || exchanged) && !source.inputs.empty())
      source.make = [at = which[i], factor, exchanged](const NodeTensors& inputs) {
        const Tensor given = exchanged ? transposed(*inputs[at]) : *inputs[at];
        return factor != 1 ? scaled(given, factor) : given;
      };
    if (i == 1 && node.op_type == "Pow" && !source.inputs.empty())
      if (const DataType type = call.shapes.inputs[i].type, given = graph.input(node, which[i]).type;
          given != type && (is_float(type) || !is_float(given)))
        source.make = [at = which[i], type](const NodeTensors& inputs) {
          return Tensor::of(type, inputs[at]->dims(), inputs[at]->values());
        };
    if (!source.inputs.empty())
      if (const auto dims = spread_to(graph, node, call.layer, which[i]))
        source.make = [at = which[i], dims = *dims](const NodeTensors& inputs) { return spread(*inputs[at], dims); };
    if (i > 0 && picks) {
      source.inputs.push_back(3);
      source.make = [at = which[i]](const NodeTensors& inputs) { return picked_angles(*inputs[at], *inputs[3]); };
    }
    sources.push_back(std::move(source));
  }
  return sources;
}

/// Whether no result has elements. A Split may have empty parts beside one that is the whole tensor.
bool makes_nothing(const Graph& graph, const Node& node) {
  for (std::size_t i = 0; i < node.outputs.size(); ++i)
    if (node.has_output(i) && graph.output(node, i).elements() != 0) return false;
  return true;
}

/// The source of each output of the node.
std::vector<OutputSource> output_sources(const Graph& graph, const Node& node, const NodeCall& call) {
  std::vector<OutputSource> result(node.outputs.size());
  const auto* attention = std::get_if<op::Attention>(&call.layer);
  std::size_t next = 0;
  for (std::size_t i = 0; i < result.size(); ++i) {
    if (!node.has_output(i)) {
      ++next;
      continue;
    }
    const Value& value = graph.output(node, i);
    if (value.elements() == 0) continue;  // the layer of a Split leaves out empty parts
    std::optional<std::size_t> at = next++;
    if (const auto* recurrent = std::get_if<op::Recurrent>(&call.layer))
      if (auto kept = kept_step(graph, node, *recurrent, i, operand_inputs(node, graph, call.layer))) {
        result[i] = std::move(*kept);
        continue;
      }
    if (attention != nullptr) {
      if (i == 1 || i == 2) result[i] = handed_on(node, *attention, i, value.dims);
      if (i == 0) at = 0;
      else if (i == 3) at = 1;
      else at.reset();
    }
    if (node.op_type == "Dropout" && i == 1)
      result[i].make = [type = value.type, dims = value.dims](const NodeTensors&) {
        const std::vector<double> kept(static_cast<std::size_t>(element_count(dims)), 1.0);
        return Tensor::of(type, dims, kept);
      };
    if (at && *at >= call.shapes.outputs.size())
      if (auto statistic = kept_statistic(graph, node, i)) result[i] = std::move(*statistic);
    if (!at || *at >= call.shapes.outputs.size()) continue;
    const Operand& output = call.shapes.outputs[*at];
    const bool bits_alone = node.op_type == "BitCast";
    if (value.elements() != output.elements() || (value.type != output.type && !bits_alone))
      throw InputError("node '" + node.name + "': the layer's output " + std::to_string(i) +
                       " has another size or type");
    result[i].of_layer = *at;
  }
  return result;
}

}  // namespace

Indices parameter_inputs(const Node& node) {
  const OperatorFacts& facts = facts_of(node);
  Indices result;
  for (std::size_t i = 0; i < node.inputs.size(); ++i)
    if (node.has_input(i) && facts.is_setting(i)) result.push_back(i);
  return result;
}

NodeCall bind_node(const Graph& graph, const Node& node, const NodeTensors& inputs) {
  refuse_extensions(node);
  refuse_attributes(node);
  NodeCall call{.layer = make_layer(node, graph)};
  if (const auto* recurrent = std::get_if<op::Recurrent>(&call.layer); recurrent && recurrent->rows)
    throw NotExecutable(node, std::string(recurrent->rare_part()));
  if (is_tree_ensemble(node)) return bind_trees(graph, node, call.layer);
  if (is_quantized_node(node)) return bind_quantized(graph, node, call.layer);
  if (is_dynamic_lstm(node)) return bind_dynamic_lstm(graph, node, call.layer);
  if (is_packed_product(node)) return bind_packed_product(graph, node, call.layer, inputs);
  if (is_quantized_gemm(node) && !is_layer_of_gemm(graph, node, call.layer))
    return bind_quantized_gemm(graph, node, call.layer);
  if (has_channel_scales(graph, node)) return bind_channel_scales(graph, node, call.layer);
  if (node.op_type == "Einsum" && std::holds_alternative<op::MatMul>(call.layer))
    if (const auto einsum = op::Einsum::from(node, graph)) call.layer = *einsum;  // operands as they are in memory
  if (node.attribute<std::int64_t>("transBatchA", 0) != 0 || node.attribute<std::int64_t>("transBatchB", 0) != 0)
    throw NotExecutable(node, "a batch that is not the first dimension");
  if (is_opaque(call.layer)) throw NotExecutable(node, has_text(graph, node) ? "text" : "modelled only");
  if (std::holds_alternative<op::Attention>(call.layer) && node.domain.empty() && node.has_input(6))
    throw NotExecutable(node, "a cache of which data tells how much is filled");
  if (node.op_type == "Dropout" && node.has_input(2) && (*inputs[2])[0] != 0 &&
      !(node.has_input(1) && (*inputs[1])[0] == 0))
    throw NotExecutable(node, "random numbers of training");
  call.shapes = operands(call.layer);
  if (is_free(call.layer) && makes_nothing(graph, node)) call.shapes = {};
  call.operands = sources_of(graph, node, call);
  refuse_unused_keys(graph, node, call);
  call.outputs = output_sources(graph, node, call);
  call.parameters = node_parameters(node, call.layer, inputs);
  return call;
}

Tensor operand_tensor(const NodeCall& call, const Node& node, std::size_t i, const NodeTensors& inputs) {
  const OperandSource& source = call.operands[i];
  const Operand& operand = call.shapes.inputs[i];
  Tensor result;
  if (source.make) {
    result = source.make(inputs);
  } else if (source.inputs.empty()) {
    const std::vector<double> zeros(static_cast<std::size_t>(operand.elements()));
    result = Tensor::of(operand.type, {operand.elements()}, zeros);
  } else {
    result = *inputs[source.inputs.front()];
  }
  if (result.type() != operand.type) throw NotExecutable(node, "operands of two types");
  if (result.elements() != operand.elements())
    throw InputError("node '" + node.name + "': operand '" + std::string(operand.name) + "' has " +
                     std::to_string(operand.elements()) + " elements, its input has " +
                     std::to_string(result.elements()));
  return result;
}

}  // namespace benanza::execution
