// SPDX-License-Identifier: Apache-2.0
#include "attention_operands.hpp"

#include <cstring>

namespace benanza::execution {

namespace {

/// Where keys, values or queries are. Those of a cache come before those of the call. The latter may be part of a row
/// of several operands, `column` elements after its start.
struct Tokens {
  std::optional<std::size_t> cache{};  ///< inputs of the node
  bool second_of_cache = false;        ///< keys and values are stacked in one cache, and these are the values
  std::size_t given = 0;
  std::int64_t column = 0;

  [[nodiscard]] std::vector<std::size_t> inputs() const {
    return cache ? std::vector{*cache, given} : std::vector{given};
  }

  /// Dimensions: batch, heads, tokens, depth; tokens come before heads if `tokens_first`.
  [[nodiscard]] Tensor gathered(const NodeTensors& inputs, DataType type, const TensorShape& shape, bool tokens_first,
                                Tensor::Dims dims) const {
    const Tensor& own = *inputs[given];
    const Tensor* past = cache ? &*inputs[*cache] : nullptr;
    const std::int64_t heads = shape[1], depth = shape[3];
    const std::int64_t cached = past == nullptr ? 0 : past->dims()[past->dims().size() - 2];
    const std::int64_t begin = second_of_cache && past->dims().size() == 5 ? past->elements() / 2 : 0;
    const auto row = static_cast<std::size_t>(depth * bits(type) / 8);
    Tensor result(type, std::move(dims));
    auto* to = static_cast<std::byte*>(result.writable());
    const auto copy = [&](std::int64_t b, std::int64_t h, std::int64_t t) {
      const Tensor& from = t < cached ? *past : own;
      std::int64_t at = 0;
      if (t < cached) at = begin + ((b * heads + h) * cached + t) * depth;
      else if (own.dims().size() == 4) at = ((b * heads + h) * own.dims()[2] + t - cached) * depth;
      else at = (b * own.dims()[1] + t - cached) * own.dims()[2] + column + h * depth;
      const auto offset = static_cast<std::size_t>(at * bits(type) / 8);
      if (from.type() != type || offset + row > from.bytes()) throw UsageError("attention reads beyond an operand");
      std::memcpy(to, static_cast<const std::byte*>(from.data()) + offset, row);
      to += row;
    };
    for (std::int64_t b = 0; b < shape[0]; ++b)
      for (std::int64_t i = 0; i < shape[tokens_first ? 2 : 1]; ++i)
        for (std::int64_t j = 0; j < shape[tokens_first ? 1 : 2]; ++j)
          copy(b, tokens_first ? j : i, tokens_first ? i : j);
    return result;
  }
};

std::array<Tokens, 3> tokens_of(const Node& node, const op::Attention& op) {
  const bool packed = !node.has_input(1);
  const std::int64_t queries = op.q[1] * op.q[3], keys = op.k[1] * op.k[3];
  const auto cache = [&](std::size_t output) {
    const std::size_t at = op::Attention::cached_inputs(node, output)[0];
    return node.has_input(at) ? std::optional(at) : std::nullopt;
  };
  Tokens k{.cache = cache(1), .given = packed ? 0U : 1U, .column = packed ? queries : 0};
  Tokens v{.cache = cache(2), .given = packed ? 0U : 2U, .column = packed ? queries + keys : 0};
  if (!packed && !node.has_input(2)) {  // keys and values in one row
    v.given = 1;
    v.column = keys;
  }
  if (!v.cache && k.cache) {
    v.cache = k.cache;
    v.second_of_cache = true;
  }
  return {Tokens{}, k, v};
}

OperandSource source_of(const Tokens& tokens, DataType type, const TensorShape& shape, bool tokens_first) {
  const Tensor::Dims dims(shape.begin(), shape.end());
  return {.inputs = tokens.inputs(), .make = [tokens, type, shape, tokens_first, dims](const NodeTensors& inputs) {
            return tokens.gathered(inputs, type, shape, tokens_first, dims);
          }};
}

}  // namespace

std::array<OperandSource, 3> attention_operands(const Node& node, const op::Attention& op) {
  const auto tokens = tokens_of(node, op);
  return {source_of(tokens[0], op.type, op.q, op.q_tokens_first),
          source_of(tokens[1], op.type, op.k, op.k_tokens_first),
          source_of(tokens[2], op.type, op.v, op.v_tokens_first)};
}

OutputSource handed_on(const Node& node, const op::Attention& op, std::size_t output, const Tensor::Dims& dims) {
  const auto tokens = tokens_of(node, op);
  const TensorShape& shape = output == 1 ? op.k : op.v;
  if (element_count(dims) == element_count(shape))
    return {.make = [tokens = tokens[output], type = op.type, shape, dims](const NodeTensors& inputs) {
      return tokens.gathered(inputs, type, shape, false, dims);
    }};
  if (output != 1 || element_count(dims) != element_count(op.k) + element_count(op.v)) return {};
  return {.make = [tokens, op, dims](const NodeTensors& inputs) {  // stacked: keys, then values
    const Tensor keys = tokens[1].gathered(inputs, op.type, op.k, false, {op.k.begin(), op.k.end()});
    const Tensor values = tokens[2].gathered(inputs, op.type, op.v, false, {op.v.begin(), op.v.end()});
    Tensor result(op.type, dims);
    std::memcpy(result.writable(), keys.data(), keys.bytes());
    std::memcpy(static_cast<std::byte*>(result.writable()) + keys.bytes(), values.data(), values.bytes());
    return result;
  }};
}

}  // namespace benanza::execution
