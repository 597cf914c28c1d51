// SPDX-License-Identifier: Apache-2.0
#include "backend/node_run.hpp"

#include "backend/reference_support.hpp"
#include "backend/tree_operands.hpp"
#include <benanza/model/layer.hpp>
#include <benanza/model/make_layer.hpp>

#include <algorithm>
#include <array>
#include <numeric>
#include <string_view>

namespace benanza::test {

namespace {

using Tensors = std::map<ValueId, Numbers>;

/// Input `i` of a node, or null where it is left out.
const Numbers* input(const Node& node, const Tensors& tensors, std::size_t i) {
  if (!node.has_input(i)) return nullptr;
  const auto found = tensors.find(*node.inputs[i]);
  if (found == tensors.end()) throw Skip{"computed from constants whose numbers the importer drops"};
  return &found->second;
}

double scalar(const Numbers* numbers, double otherwise) {
  if (numbers == nullptr || numbers->values.empty()) return otherwise;
  if (numbers->values.size() > 1) throw Skip{"a scale or zero point for each channel of a quantised product"};
  return numbers->values[0];
}

/// A commutative function has its operands in canonical order.
bool is_swapped(const Node& node, const Graph& graph, const op::Binary& binary) {
  if (node.op_type == "PRelu") return false;
  const auto shapes = detail::collapse(std::vector<detail::Dims>{graph.input(node, 0).dims, graph.input(node, 1).dims});
  return TensorShape(shapes[0]) != binary.a;
}

/// Which of the node's inputs are the layer's operands, in the layer's order; all in turn where nothing is said.
std::vector<std::size_t> operand_inputs(const Node& node, const Graph& graph, const Layer& layer) {
  const std::string& type = node.op_type;
  if (type == "QLinearConv") return {0, 3, 8};
  if (type == "QLinearMatMul") return {0, 3};
  if (type == "STFT") return {0, 2};
  if (type == "Range") return {0, 2};
  if (type == "OneHot") return {0, 2};
  if (const auto* recurrent = std::get_if<op::Recurrent>(&layer)) {
    std::vector<std::size_t> inputs{0, 1, 2};
    if (recurrent->bias) inputs.push_back(3);
    if (recurrent->initial_state) inputs.insert(inputs.end(), {5, 6});
    if (recurrent->peepholes) inputs.push_back(7);
    return inputs;
  }
  std::vector<std::size_t> inputs(node.inputs.size());
  std::iota(inputs.begin(), inputs.end(), std::size_t{0});
  std::erase_if(inputs, [&](std::size_t i) { return !node.has_input(i); });
  if (type == "Concat") std::erase_if(inputs, [&](std::size_t i) { return graph.input(node, i).elements() == 0; });
  if (const auto* binary = std::get_if<op::Binary>(&layer)) {
    if (binary->same) return {0};
    if (type != "Clip" && is_swapped(node, graph, *binary)) return {1, 0};
  }
  return inputs;
}

std::vector<double> resize_scales(const Node& node, const op::Resize& resize, const Tensors& tensors) {
  const bool has_region = node.op_type == "Resize" && node.opset >= 11;
  const Numbers* scales = input(node, tensors, has_region ? 2 : 1);
  const Numbers* sizes = has_region ? input(node, tensors, 3) : nullptr;
  std::vector<std::int64_t> axes = node.attribute<std::vector<std::int64_t>>("axes", {});
  const auto rank = static_cast<std::int64_t>(resize.x.size());
  if (axes.empty())
    for (std::int64_t i = 0; i < rank; ++i) axes.push_back(i);
  std::vector<double> result(resize.x.size(), 1);
  const auto at = [&](std::size_t i) -> std::size_t {
    return static_cast<std::size_t>(axes[i] < 0 ? axes[i] + rank : axes[i]);
  };
  if (scales != nullptr && !scales->values.empty()) {
    for (std::size_t i = 0; i < axes.size(); ++i) result.at(at(i)) = scales->values.at(i);
    return result;
  }
  const auto policy = node.attribute<std::string>("keep_aspect_ratio_policy", "stretch");
  if (sizes == nullptr || policy == "stretch") return {};
  std::vector<double> ratios;
  for (std::size_t i = 0; i < axes.size(); ++i)
    ratios.push_back(sizes->values.at(i) / static_cast<double>(resize.x[at(i)]));
  const double ratio = policy == "not_larger" ? *std::min_element(ratios.begin(), ratios.end())
                                              : *std::max_element(ratios.begin(), ratios.end());
  for (std::size_t i = 0; i < axes.size(); ++i) result.at(at(i)) = ratio;
  return result;
}

/// Starts, then ends, of all axes.
std::vector<double> resize_region(const Node& node, const op::Resize& resize, const std::vector<double>& given) {
  const std::size_t rank = resize.x.size();
  if (given.empty()) return {};
  std::vector<double> result(2 * rank, 0);
  std::fill(result.begin() + static_cast<std::ptrdiff_t>(rank), result.end(), 1);
  std::vector<std::int64_t> axes(rank);
  std::iota(axes.begin(), axes.end(), std::int64_t{0});
  axes = node.attribute("axes", axes);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<std::size_t>(axes[i] < 0 ? axes[i] + static_cast<std::int64_t>(rank) : axes[i]);
    result.at(axis) = given.at(i);
    result.at(rank + axis) = given.at(axes.size() + i);
  }
  return result;
}

/// Numbers that a layer does not hold because they do not decide the speed.
reference::Parameters parameters(const Node& node, const Layer& layer, const Tensors& tensors) {
  reference::Parameters result;
  result.epsilon = node.attribute("epsilon", result.epsilon);
  if (node.op_type == "LRN") {
    result.lrn_alpha = node.attribute("alpha", result.lrn_alpha);
    result.lrn_bias = node.attribute("bias", result.lrn_bias);
  }
  if (const auto* attention = std::get_if<op::Attention>(&layer)) {
    if (const double scale = node.attribute("scale", 0.0); scale != 0) result.attention_scale = scale;
    if (attention->capped) result.attention_softcap = node.attribute("softcap", 0.0);
  }
  if (node.op_type == "Pad") result.pad_value = scalar(input(node, tensors, 2), node.attribute("value", 0.0));
  if (const auto* resize = std::get_if<op::Resize>(&layer)) {
    result.resize_scales = resize_scales(node, *resize, tensors);
    if (const Numbers* region = node.opset >= 11 ? input(node, tensors, 1) : nullptr; region != nullptr)
      result.resize_region = resize_region(node, *resize, region->values);
    result.resize_outside = node.attribute("extrapolation_value", 0.0);
    result.cubic_coefficient = node.attribute("cubic_coeff_a", result.cubic_coefficient);
    result.exclude_outside = node.attribute("exclude_outside", std::int64_t{0}) != 0;
  }
  if (node.op_type == "MeanVarianceNormalization") result.epsilon = 1e-9;
  result.momentum = node.attribute("momentum", result.momentum);
  result.box_scale = node.attribute("spatial_scale", result.box_scale);
  if (node.attributes.contains("ignore_index")) result.ignored_target = node.attribute("ignore_index", std::int64_t{0});
  if (node.op_type == "EyeLike") result.eye_diagonal = node.attribute("k", std::int64_t{0});
  result.periodic = node.attribute("periodic", std::int64_t{1}) != 0;
  result.select_last_index = node.attribute("select_last_index", std::int64_t{0}) != 0;
  if (node.op_type == "ConvInteger" || node.op_type == "MatMulInteger") {
    result.zero_point_a = scalar(input(node, tensors, 2), 0);
    result.zero_point_b = scalar(input(node, tensors, 3), 0);
  }
  if (node.op_type == "QLinearConv" || node.op_type == "QLinearMatMul") {
    result.zero_point_a = scalar(input(node, tensors, 2), 0);
    result.zero_point_b = scalar(input(node, tensors, 5), 0);
    result.zero_point_y = scalar(input(node, tensors, 7), 0);
    result.rescale =
        scalar(input(node, tensors, 1), 1) * scalar(input(node, tensors, 4), 1) / scalar(input(node, tensors, 6), 1);
  }
  return result;
}

/// Attributes that change the result, not the speed, and have no parameter either.
void check_attributes(const Node& node) {
  if (node.op_type == "IsInf" && (node.attribute("detect_positive", std::int64_t{1}) == 0 ||
                                  node.attribute("detect_negative", std::int64_t{1}) == 0))
    throw Skip{"infinities of one sign"};
  if (node.op_type == "MaxPool" && node.attribute("storage_order", std::int64_t{0}) != 0)
    throw Skip{"indices in column-major order"};
  if (node.attribute("saturate", std::int64_t{1}) == 0) throw Skip{"conversion without saturation"};
}

Buffer operand_buffer(const Node& node, const Operand& operand, const Numbers* numbers, double scale) {
  if (numbers == nullptr)
    return {operand.type,
            std::vector<double>(static_cast<std::size_t>(operand.elements()))};  // an absent state or zero point
  if (numbers->type != operand.type) throw Skip{"operands of two types"};
  if (static_cast<std::int64_t>(numbers->values.size()) != operand.elements())
    throw InputError("node '" + node.name + "': operand '" + std::string(operand.name) + "' has " +
                     std::to_string(operand.elements()) + " elements, the vector's input " +
                     std::to_string(numbers->values.size()));
  std::vector<double> values = numbers->values;
  if (scale != 1)
    for (double& value : values) value *= scale;
  return {operand.type, values};
}

/// The bits of each number as another type has them.
Numbers reread(const Numbers& x, const Value& value) {
  Numbers result{.type = value.type, .dims = value.dims};
  for (const double number : x.values) {
    std::array<std::byte, sizeof(double)> bits{};
    store(bits.data(), x.type, 0, number);
    result.values.push_back(load(bits.data(), value.type, 0));
  }
  return result;
}

/// Keys or values as a layer has them: those of a cache before those of the call, which may lie in a row of several
/// operands, `column` elements behind its begin.
struct Tokens {
  const Numbers* cache = nullptr;
  std::int64_t cache_begin = 0;
  const Numbers* given = nullptr;
  std::int64_t column = 0;

  /// `shape` is batch, heads, tokens, depth.
  [[nodiscard]] double at(const TensorShape& shape, std::int64_t b, std::int64_t h, std::int64_t t,
                          std::int64_t d) const {
    const auto element = [](const Numbers& numbers, std::int64_t i) {
      return numbers.values.at(static_cast<std::size_t>(i));
    };
    const std::int64_t past = cache == nullptr ? 0 : cache->dims[cache->dims.size() - 2], heads = shape[1];
    if (t < past) return element(*cache, cache_begin + ((b * heads + h) * past + t) * shape[3] + d);
    const auto& dims = given->dims;
    if (dims.size() == 4) return element(*given, ((b * heads + h) * dims[2] + t - past) * shape[3] + d);
    return element(*given, (b * dims[1] + t - past) * dims[2] + column + h * shape[3] + d);
  }

  [[nodiscard]] Buffer buffer(DataType type, const TensorShape& shape, bool tokens_first) const {
    std::vector<double> values;
    for (std::int64_t b = 0; b < shape[0]; ++b)
      for (std::int64_t i = 0; i < shape[tokens_first ? 2 : 1]; ++i)
        for (std::int64_t j = 0; j < shape[tokens_first ? 1 : 2]; ++j)
          for (std::int64_t d = 0; d < shape[3]; ++d)
            values.push_back(tokens_first ? at(shape, b, j, i, d) : at(shape, b, i, j, d));
    return {type, values};
  }
};

/// The operands of attention before its mask, of a node of ONNX or of one that has queries, keys and values in one row.
std::vector<Buffer> attention_operands(const Node& node, const op::Attention& op, const Tensors& tensors) {
  if (node.domain.empty() && node.has_input(6)) throw Skip{"a cache of which data tells how much is filled"};
  const Numbers* first = input(node, tensors, 0);
  const bool packed = !node.has_input(1);
  const std::int64_t queries = op.q[1] * op.q[3], keys = op.k[1] * op.k[3];
  Tokens q{.given = first};
  Tokens k{.cache = input(node, tensors, op::Attention::cached_inputs(node, 1)[0]),
           .given = packed ? first : input(node, tensors, 1),
           .column = packed ? queries : 0};
  Tokens v{.cache = input(node, tensors, op::Attention::cached_inputs(node, 2)[0]),
           .given = packed ? first : input(node, tensors, 2),
           .column = packed ? queries + keys : 0};
  if (k.cache != nullptr && k.cache->dims.size() == 5) {  // stacked
    v.cache = k.cache;
    v.cache_begin = element_count(k.cache->dims) / 2;
  }
  return {q.buffer(op.type, op.q, op.q_tokens_first), k.buffer(op.type, op.k, op.k_tokens_first),
          v.buffer(op.type, op.v, op.v_tokens_first)};
}

/// Angles of the positions that a node picks from a table.
Numbers picked(const Numbers& table, const Numbers& positions) {
  const std::int64_t columns = table.dims.back();
  Numbers result{.type = table.type, .dims = positions.dims};
  result.dims.push_back(columns);
  for (const double position : positions.values)
    for (std::int64_t i = 0; i < columns; ++i)
      result.values.push_back(
          table.values.at(static_cast<std::size_t>(static_cast<std::int64_t>(position) * columns + i)));
  return result;
}

std::vector<Buffer> operand_buffers(const Graph& graph, const Node& node, const Layer& layer, const Operands& shapes,
                                    const Tensors& tensors) {
  if (const auto* forest = std::get_if<op::TreeEnsemble>(&layer))
    return tree_operands(node, *forest, *input(node, tensors, 0));
  std::vector<Buffer> buffers;
  auto which = operand_inputs(node, graph, layer);
  if (const auto* attention = std::get_if<op::Attention>(&layer)) {
    buffers = attention_operands(node, *attention, tensors);
    which = {0, 1, 2, node.domain.empty() ? 3U : 5U};
  }
  for (std::size_t i = buffers.size(); i < shapes.inputs.size(); ++i) {
    double scale = 1;  // Gemm: alpha A B + beta C
    if (node.op_type == "Gemm" && i != 1) scale = node.attribute(i == 0 ? "alpha" : "beta", 1.0);
    const Numbers* numbers = i < which.size() ? input(node, tensors, which[i]) : nullptr;
    std::optional<Numbers> angles;
    if (i > 0 && std::holds_alternative<op::Rotary>(layer) && node.domain.empty() && node.has_input(3))
      angles = picked(*numbers, *input(node, tensors, 3));
    buffers.push_back(operand_buffer(node, shapes.inputs[i], angles ? &*angles : numbers, scale));
  }
  return buffers;
}

/// Which output of the layer output `i` of attention is; nothing for a cache that is handed on.
std::optional<std::size_t> attention_output(std::size_t i) {
  return i == 0 ? std::optional<std::size_t>(0) : i == 3 ? std::optional<std::size_t>(1) : std::nullopt;
}

/// Operators whose output's size is not a function of the operands' sizes.
constexpr std::array<std::string_view, 4> data_dependent{"Compress", "NonMaxSuppression", "NonZero", "Unique"};

void run_node(const Graph& graph, const Node& node, Tensors& tensors) {
  if (!node.bodies.empty()) throw Skip{"control flow"};
  check_attributes(node);
  if (std::find(data_dependent.begin(), data_dependent.end(), node.op_type) != data_dependent.end())
    throw Skip{"sizes that depend on data"};
  const Layer layer = make_layer(node, graph);
  if (is_opaque(layer)) throw Skip{"modelled only: " + node.op_type};

  if (const auto* view = std::get_if<op::View>(&layer); view != nullptr && view->rule == op::ViewRule::bits) {
    const Numbers* x = input(node, tensors, 0);
    tensors[*node.outputs[0]] = reread(*x, graph.output(node, 0));
    return;
  }
  Operands shapes = operands(layer);
  if (is_free(layer) && graph.output(node, 0).elements() == 0) shapes = {};  // nothing at all to compute
  const std::vector<Buffer> buffers = operand_buffers(graph, node, layer, shapes, tensors);
  const auto given = parameters(node, layer, tensors);
  const auto arguments = pointers(buffers);
  std::size_t next = 0;
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    if (!node.has_output(i)) {
      ++next;
      continue;
    }
    const Value& value = graph.output(node, i);
    Numbers& numbers = tensors[*node.outputs[i]] = {.type = value.type, .dims = value.dims};
    if (value.elements() == 0) continue;  // Split leaves out what is empty
    const auto at = std::holds_alternative<op::Attention>(layer) ? attention_output(i) : std::optional(next++);
    if (!at || *at >= shapes.outputs.size()) {
      tensors.erase(*node.outputs[i]);
      continue;
    }
    const Operand& output = shapes.outputs[*at];
    if (value.elements() != output.elements() || value.type != output.type)
      throw InputError("node '" + node.name + "': the layer's output " + std::to_string(i) +
                       " has another size or type");
    numbers.values = reference::evaluate_all(layer, arguments, *at, given);
    for (double& number : numbers.values) number = round_to(output.type, number);
  }
}

}  // namespace

std::vector<std::optional<Numbers>> run_graph(const Graph& graph, const std::map<std::string, Numbers>& inputs) {
  Tensors tensors;
  for (ValueId id = 0; id < graph.values.size(); ++id) {
    const Value& value = graph.values[id];
    if (const auto found = inputs.find(value.name); found != inputs.end()) {
      tensors[id] = found->second;
    } else if (value.literal) {
      Numbers numbers{.type = value.type, .dims = value.dims, .values = value.literal->floats};
      if (numbers.values.empty()) numbers.values.assign(value.literal->ints.begin(), value.literal->ints.end());
      tensors[id] = std::move(numbers);
    }
  }
  for (const auto& node : graph.nodes) run_node(graph, node, tensors);
  std::vector<std::optional<Numbers>> outputs;
  for (auto id : graph.outputs) {
    const auto found = tensors.find(id);
    outputs.push_back(found == tensors.end() ? std::nullopt : std::optional(found->second));
  }
  return outputs;
}

}  // namespace benanza::test
