// SPDX-License-Identifier: Apache-2.0
#include "reference.hpp"

#include "evaluate.hpp"
#include "function.hpp"
#include "index.hpp"
#include <benanza/model/quantization.hpp>

#include <cmath>
#include <limits>
#include <string>

namespace benanza::reference {

namespace {

/// Convolutions and products keep wide accumulators through the epilogue; the other operators compute in their element
/// type.
bool accumulates(const Layer& layer) {
  return std::holds_alternative<op::Conv>(layer) || std::holds_alternative<op::ConvTranspose>(layer) ||
         std::holds_alternative<op::MatMul>(layer);
}

void apply_epilogue(const Epilogue& post, const Query& query, const Operand& y, DataType type,
                    std::span<double> values) {
  const bool scales_bias = !post.empty() && post[0] == bias;
  const auto operand_count = static_cast<std::size_t>(
      std::count_if(post.begin(), post.end(), [](const PostOp& op) { return is_binary(op.fn); }));
  const std::size_t first = query.inputs.size() - operand_count;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const TensorShape at = operand_count == 0 ? TensorShape{} : coordinates(y.shape, query.indices[i]);
    std::size_t next = first;
    if (!scales_bias) values[i] *= query.parameters.rescale;
    for (const auto& op : post) {
      if (!is_binary(op.fn)) {
        values[i] = apply(op.fn, type, values[i], op.alpha, op.beta);
        continue;
      }
      const ConstTensor& tensor = query.input(next++);
      const double operand = tensor[broadcast_index(tensor.shape, at)];
      values[i] = op.swapped ? apply(op.fn, type, operand, values[i]) : apply(op.fn, type, values[i], operand);
      if (scales_bias && &op == post.begin()) values[i] *= query.parameters.rescale;
    }
  }
}

void check(const Operands& operands, std::span<const void* const> inputs, std::size_t output,
           std::span<const std::int64_t> indices) {
  if (inputs.size() != operands.inputs.size())
    throw UsageError("reference: " + std::to_string(inputs.size()) + " inputs given, " +
                     std::to_string(operands.inputs.size()) + " expected");
  if (output >= operands.outputs.size())
    throw UsageError("reference: output " + std::to_string(output) + " asked for, the layer has " +
                     std::to_string(operands.outputs.size()));
  const std::int64_t count = operands.outputs[output].elements();
  for (auto index : indices)
    if (index < 0 || index >= count)
      throw UsageError("reference: element " + std::to_string(index) + " asked for, the output has " +
                       std::to_string(count));
}

/// Integer results of accumulating and of scaled operators are rounded to nearest even, shifted and saturated.
void round_and_saturate(DataType type, const Parameters& parameters, std::span<double> values) {
  const auto [least, largest] = integer_range(type);
  for (double& value : values) value = std::clamp(std::nearbyint(value) + parameters.zero_point_y, least, largest);
}

/// Element-wise operators on quantised tensors compute in floats between two roundings, unless the operator is defined
/// on integers.
bool computes_in_floats(const Layer& layer) {
  if (!is_8_bit(type(layer))) return false;
  if (const auto* binary = std::get_if<op::Binary>(&layer)) return binary->scaled;
  if (const auto* reduce = std::get_if<op::Reduce>(&layer)) return reduce->fn == op::ReduceFn::mean;
  if (const auto* pool = std::get_if<op::Pool>(&layer)) return pool->mode == op::PoolMode::average;
  const auto* unary = std::get_if<op::Unary>(&layer);
  return unary != nullptr && !is_exact_on_integers(unary->fn);
}

}  // namespace

Elements compute(const op::Opaque& opaque, const Query&) {
  throw UsageError("reference: operator '" + std::string(opaque.op.view()) +
                   "' is known by its bytes only and cannot be computed");
}

std::vector<double> evaluate(const Layer& layer, std::span<const void* const> inputs, std::size_t output,
                             std::span<const std::int64_t> indices, const Parameters& parameters) {
  const Operands operands = benanza::operands(layer);
  check(operands, inputs, output, indices);
  Query query{.output = output, .indices = indices, .parameters = parameters};
  for (std::size_t i = 0; i < inputs.size(); ++i)
    query.inputs.push_back({inputs[i], operands.inputs[i].type, operands.inputs[i].shape});

  std::vector<double> values = std::visit([&](const auto& op) { return compute(op, query); }, layer);
  const Operand& y = operands.outputs[output];
  const bool wide = accumulates(layer) || computes_in_floats(layer);
  if (const Epilogue* post = epilogue(layer); post != nullptr)
    apply_epilogue(*post, query, y, wide ? DataType::f64 : y.type, values);
  if (wide && !is_float(y.type)) round_and_saturate(y.type, parameters, values);
  return values;
}

std::vector<double> evaluate(const Layer& layer, std::span<const void* const> inputs, std::size_t output,
                             std::span<const std::int64_t> indices) {
  return evaluate(layer, inputs, output, indices, parameters_of(layer));
}

std::vector<double> evaluate_all(const Layer& layer, std::span<const void* const> inputs, std::size_t output,
                                 const Parameters& parameters) {
  std::vector<std::int64_t> all(static_cast<std::size_t>(operands(layer).outputs.at(output).elements()));
  std::iota(all.begin(), all.end(), std::int64_t{0});
  return evaluate(layer, inputs, output, all, parameters);
}

}  // namespace benanza::reference
