// SPDX-License-Identifier: Apache-2.0
// Products and convolutions of one input with constant weights, such as those of queries, keys and values, as one layer
// with the weights side by side. Its result has their results side by side too: readers of one of them use strides.
#pragma once

#include <benanza/fusion/detail/strided_view.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace benanza::detail {

/// The part of an epilogue that several layers side by side can share. A layer without a bias gets one of zeros. A
/// numeric factor that follows nothing but a bias goes into the weights. Nothing if the epilogue has other operands.
[[nodiscard]] inline std::optional<Epilogue> shareable(const Epilogue& post, bool has_number) {
  Epilogue result;
  for (const PostOp& op : post) {
    const bool is_linear = result.empty() || (result.size() == 1 && result[0] == bias);
    const bool is_factor = (op.fn == ElementwiseFn::mul || op.fn == ElementwiseFn::div) && !op.swapped;
    if (is_binary(op.fn) && !op.channel && !op.shape.empty() && element_count(op.shape) == 1 && is_factor &&
        is_linear && has_number)
      continue;
    if (is_binary(op.fn) && !op.channel) return std::nullopt;
    result.push_back(op);
  }
  return result;
}

/// What layers with the same input must have in common to become one, and how many columns or filters one contributes.
struct SharedInput {
  Layer common{};  ///< has one column, and no bias if that is its whole epilogue
  std::int64_t columns = 0;
  bool has_bias = false;

  [[nodiscard]] static std::optional<SharedInput> of(const LayerGraph& graph, const Occurrence& at) {
    if (!std::holds_alternative<op::MatMul>(*at.layer) && !std::holds_alternative<op::Conv>(*at.layer))
      return std::nullopt;
    SharedInput result{.common = at.layer};
    Epilogue* post = nullptr;
    if (auto* product = std::get_if<op::MatMul>(&result.common)) {
      if (!is_float(product->type) || product->a_constant || !product->b_constant || product->b.size() != 2 ||
          product->y_type)
        return std::nullopt;
      result.columns = std::exchange(product->b[1], 1);
      post = &product->post;
    } else {
      auto& conv = std::get<op::Conv>(result.common);
      if (!is_float(conv.type) || !conv.w_constant || conv.group != 1 || conv.y_type) return std::nullopt;
      result.columns = std::exchange(conv.w[0], 1);
      post = &conv.post;
    }
    if (at.inputs.empty() || !at.inputs[0] || at.outputs.size() != 1) return std::nullopt;
    const bool has_number = std::any_of(at.inputs.begin(), at.inputs.end(), [&](const auto& input) {
      return input && graph.tensors[*input].scalar.has_value();
    });
    const auto shared = shareable(*post, has_number);
    if (!shared) return std::nullopt;
    result.has_bias = *shared == Epilogue{bias};
    *post = result.has_bias ? Epilogue{} : *shared;
    return result;
  }

  /// The layer that computes all results.
  [[nodiscard]] static Layer joined(Layer common, std::int64_t columns, bool has_bias) {
    if (auto* product = std::get_if<op::MatMul>(&common)) {
      product->b[1] = columns;
      if (has_bias) product->post = {bias};
    } else if (auto* conv = std::get_if<op::Conv>(&common)) {
      conv->w[0] = columns;
      if (has_bias) conv->post = {bias};
    }
    return common;
  }
};

/// The view of the result of one layer with `columns` columns in the joint result with `total` columns.
[[nodiscard]] inline StridedView view_of_part(const Layer& layer, std::int64_t elements, std::int64_t columns,
                                              std::int64_t total) {
  const auto* conv = std::get_if<op::Conv>(&layer);
  const std::int64_t rows = conv ? conv->x[0] : elements / columns, row = elements / rows;
  return StridedView::rows(rows, row, row / columns * total);
}

/// Whether a Concat reads a tensor, possibly through views, that can be written directly to its position.
[[nodiscard]] inline bool is_concatenated(const LayerGraph& graph, TensorId id) {
  return std::any_of(graph.tensors[id].consumers.begin(), graph.tensors[id].consumers.end(), [&](std::size_t reader) {
    const Occurrence& at = graph.layers[reader];
    if (std::holds_alternative<op::View>(*at.layer))
      return at.outputs.size() == 1 && is_concatenated(graph, at.outputs[0]);
    return std::holds_alternative<op::Concat>(*at.layer) &&
           std::all_of(at.inputs.begin(), at.inputs.end(),
                       [&](const auto& input) { return only_producer(graph, input).has_value(); });
  });
}

/// Whether everything that reads the result of a layer can read it from a joint result, however many columns that has.
/// Operands of a Concat are left alone: they are written to their positions in its result instead.
[[nodiscard]] inline bool is_read_from_joint(const LayerGraph& graph, const Occurrence& at, std::int64_t columns) {
  const TensorId y = at.outputs[0];
  const StridedView view = view_of_part(at.layer, element_count(graph.tensors[y].dims), columns, 2 * columns);
  return all_read_as(graph, y, view) && !is_concatenated(graph, y);
}

/// `at` is the first of the layers.
[[nodiscard]] inline std::optional<Match> match_shared_input(const LayerGraph& graph, std::size_t at) {
  const auto& inputs = graph.layers[at].inputs;
  if (inputs.empty() || !inputs[0] || graph.tensors[*inputs[0]].consumers.size() < 2) return std::nullopt;
  const auto first = SharedInput::of(graph, graph.layers[at]);
  if (!first || !is_read_from_joint(graph, graph.layers[at], first->columns)) return std::nullopt;
  struct Part {
    std::size_t layer = 0;
    std::int64_t columns = 0;
    bool has_bias = false;
  };
  std::vector<Part> parts;
  for (const std::size_t reader : graph.tensors[*inputs[0]].consumers) {
    const Occurrence& other = graph.layers[reader];
    if (reader < at || (!parts.empty() && parts.back().layer == reader) || other.inputs[0] != inputs[0]) continue;
    const auto shared = SharedInput::of(graph, other);
    if (shared && shared->common == first->common && is_read_from_joint(graph, other, shared->columns))
      parts.push_back({reader, shared->columns, shared->has_bias});
  }
  if (parts.size() < 2) return std::nullopt;
  Match match;
  std::int64_t columns = 0;
  bool has_bias = false;
  for (const Part& part : parts) {
    match.members.push_back(part.layer);
    columns += part.columns;
    has_bias = has_bias || part.has_bias;
  }
  match.kept.assign(match.members.begin(), match.members.end() - 1);
  match.pieces = {{0, match.members.size(), SharedInput::joined(first->common, columns, has_bias)}};
  return match;
}

}  // namespace benanza::detail
