// SPDX-License-Identifier: Apache-2.0
#include "packed_product.hpp"

#include "node_parameters.hpp"
#include <benanza/plan/element.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

namespace benanza::execution {

namespace {

/// Inputs of the node. `packed_order` gives the block of each row.
enum PackedInput : std::size_t { packed_a, packed_b, packed_scales, packed_zeros, packed_order, packed_bias };

const Tensor* given_or_null(const NodeTensors& inputs, std::size_t i) {
  return i < inputs.size() && inputs[i] ? &*inputs[i] : nullptr;
}

/// The layout of the weights: column by column, with the last block of a column padded.
struct PackedWeights {
  DataType type = DataType::u4;
  std::int64_t rows = 0, columns = 0;
  std::int64_t block = 1, blocks = 1;  ///< rows of a block, and blocks of a column

  [[nodiscard]] std::int64_t zero_bytes() const { return (blocks * bits(type) + 7) / 8; }  ///< per column, packed

  /// The zero point of a block. If there are none, the middle of the range.
  [[nodiscard]] double zero_point(const Tensor* zeros, std::int64_t column, std::int64_t at) const {
    if (zeros == nullptr) return static_cast<double>(1 << (bits(type) - 1));
    if (zeros->type() != DataType::u8) return (*zeros)[column * blocks + at];
    return load(zeros->data(), type, column * zero_bytes() * 8 / bits(type) + at);
  }

  /// Row-major. The stored numbers if `to` is their type, otherwise the numbers that they stand for.
  [[nodiscard]] Tensor matrix(const NodeTensors& inputs, DataType to) const {
    const Tensor &packed = *inputs[packed_b], &scales = *inputs[packed_scales];
    const Tensor* const zeros = given_or_null(inputs, packed_zeros);
    Tensor result(to, {rows, columns});
    for (std::int64_t row = 0; row < rows; ++row)
      for (std::int64_t column = 0; column < columns; ++column) {
        const std::int64_t at = row / block;
        double value = load(packed.data(), type, column * blocks * block + row);
        if (to != type) value = (value - zero_point(zeros, column, at)) * scales[column * blocks + at];
        store(result.writable(), to, row * columns + column, value);
      }
    return result;
  }
};

PackedWeights packed_weights(const Graph& graph, const Node& node, const op::MatMul& product) {
  constexpr std::int64_t whole_bytes_of_rows = 8, largest_block = 1 << 16;
  PackedWeights result{.type = product.b_type.value(),
                       .rows = product.k(),
                       .columns = product.n(),
                       .block = node.attribute<std::int64_t>("block_size", 0)};
  if (result.block < 1 || result.block > largest_block || result.block % whole_bytes_of_rows != 0)
    throw NotExecutable(node, "blocks of another size");
  result.blocks = (result.rows + result.block - 1) / result.block;
  const Value &b = graph.input(node, packed_b), &scales = graph.input(node, packed_scales);
  const std::int64_t numbers = checked_product(result.columns, result.blocks);
  bool fits = b.type == DataType::u8 && is_float(scales.type) && scales.elements() == numbers &&
              b.elements() == checked_product(numbers, result.block) / 8 * bits(result.type);
  if (node.has_input(packed_zeros)) {
    const Value& zeros = graph.input(node, packed_zeros);
    fits = fits && (zeros.type == DataType::u8 ? zeros.elements() == result.columns * result.zero_bytes()
                                               : is_float(zeros.type) && zeros.elements() == numbers);
  }
  if (!fits) throw NotExecutable(node, "operands of other sizes or types");
  return result;
}

/// Whether the stored numbers are the weights themselves, in every call.
bool are_stored_as_meant(const Graph& graph, const Node& node, const NodeTensors& inputs) {
  const auto are_all = [&](std::size_t i, double number) {
    const Tensor* const given = given_or_null(inputs, i);
    if (given == nullptr || !graph.input(node, i).constant) return false;
    for (std::int64_t k = 0; k < given->elements(); ++k)
      if ((*given)[k] != number) return false;
    return true;
  };
  return are_all(packed_scales, 1) && are_all(packed_zeros, 0);
}

}  // namespace

bool is_packed_product(const Node& node) { return node.domain == "com.microsoft" && node.op_type == "MatMulNBits"; }

NodeCall bind_packed_product(const Graph& graph, const Node& node, const Layer& layer, const NodeTensors& inputs) {
  const auto* own = std::get_if<op::MatMul>(&layer);
  const DataType type = graph.input(node, packed_a).type;
  if (own == nullptr || !own->b_type || !is_float(type)) throw NotExecutable(node, "modelled only");
  if (node.has_input(packed_order)) throw NotExecutable(node, "rows in another order than their blocks");
  const PackedWeights weights = packed_weights(graph, node, *own);
  OperandSource b{.inputs = {packed_b, packed_scales}};
  if (node.has_input(packed_zeros)) b.inputs.push_back(packed_zeros);
  op::MatMul product = *own;
  product.type = type;  // at accuracy level 4 the layer rounds it to 8 bits
  product.y_type.reset();
  product.b_constant =
      std::all_of(b.inputs.begin(), b.inputs.end(), [&](std::size_t i) { return graph.input(node, i).constant; });
  if (!are_stored_as_meant(graph, node, inputs)) product.b_type.reset();
  b.make = [weights, to = product.b_type.value_or(type)](const NodeTensors& given) {
    return weights.matrix(given, to);
  };
  NodeCall call{.layer = product, .shapes = product.operands()};
  call.operands.push_back({.inputs = {packed_a}});
  call.operands.push_back(std::move(b));
  if (node.has_input(packed_bias)) call.operands.push_back({.inputs = {packed_bias}});
  call.outputs.resize(node.outputs.size());
  call.outputs[0].of_layer = 0;
  call.parameters = node_parameters(node, call.layer, inputs);
  return call;
}

}  // namespace benanza::execution
