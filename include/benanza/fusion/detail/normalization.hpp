// SPDX-License-Identifier: Apache-2.0
// RMS norm and layer norm written out in parts: x (or x - mean x) times the reciprocal square root of the mean of its
// squares plus epsilon, then scale and bias.
#pragma once

#include <benanza/fusion/pattern.hpp>

namespace benanza::detail {

/// Follows sole consumers and collects members.
class Chain {
 public:
  Chain(const LayerGraph& graph, std::size_t first) : graph_(&graph) { take(first); }
  /// The layer after the chain if it is the only one that reads the chain's result.
  [[nodiscard]] const Occurrence* next() const {
    const auto consumer = only_consumer(*graph_, result());
    return consumer ? &graph_->layers[*consumer] : nullptr;
  }
  void take_next() { take(*only_consumer(*graph_, result())); }
  void take(std::size_t layer) { members_.push_back(layer); }
  [[nodiscard]] TensorId result() const { return graph_->layers[members_.back()].outputs[0]; }
  [[nodiscard]] std::vector<std::size_t> sorted() const {
    auto result = members_;
    std::sort(result.begin(), result.end());
    return result;
  }

 private:
  const LayerGraph* graph_;
  std::vector<std::size_t> members_{};
};

template <class Op>
[[nodiscard]] const Op* plain(const Occurrence* at) {
  const Op* op = at && at->members.size() == 1 ? std::get_if<Op>(&*at->layer) : nullptr;
  if constexpr (requires { op->post; }) return op && op->post.empty() ? op : nullptr;
  else return op;
}
/// The operand other than `id` of a layer with two operands.
[[nodiscard]] inline std::optional<TensorId> other_input(const Occurrence& at, TensorId id) {
  if (at.inputs.size() != 2 || !at.inputs[0] || !at.inputs[1] || *at.inputs[0] == *at.inputs[1]) return std::nullopt;
  if (*at.inputs[0] == id) return *at.inputs[1];
  return *at.inputs[1] == id ? at.inputs[0] : std::nullopt;
}
/// How many elements are averaged if a layer is the mean over the innermost dimensions. Nothing for other layers.
[[nodiscard]] inline std::optional<std::int64_t> inner_mean(const Occurrence* at) {
  const auto* reduce = plain<op::Reduce>(at);
  if (!reduce || reduce->fn != op::ReduceFn::mean || reduce->axes.size() != 1 ||
      reduce->axes[0] + 1 != static_cast<std::int64_t>(reduce->x.size()))
    return std::nullopt;
  return reduce->x.back();
}

/// `at` is the mean of squares.
[[nodiscard]] inline std::optional<Match> match_norm(const LayerGraph& graph, std::size_t at) {
  using enum ElementwiseFn;
  const Occurrence& mean_of_squares = graph.layers[at];
  const auto inner = inner_mean(&mean_of_squares);
  if (!inner) return std::nullopt;
  const auto square_at = only_producer(graph, mean_of_squares.inputs[0]);
  if (!square_at) return std::nullopt;
  const Occurrence& squared = graph.layers[*square_at];
  const auto* square_op = plain<op::Unary>(&squared);
  const auto* product = plain<op::Binary>(&squared);
  if (!(square_op && square_op->fn == square) && !(product && product->fn == mul && product->same)) return std::nullopt;
  const TensorId centered = *squared.inputs[0];  // x of RMS norm, x - mean(x) of layer norm
  TensorId x = centered;

  Chain chain(graph, *square_at);
  chain.take(at);
  bool rms = true;
  if (const auto minus_at = only_producer(graph, centered)) {
    const auto* minus = plain<op::Binary>(&graph.layers[*minus_at]);
    const auto mean_at =
        minus && minus->fn == sub ? only_producer(graph, graph.layers[*minus_at].inputs[1]) : std::nullopt;
    if (mean_at && inner_mean(&graph.layers[*mean_at]) == inner &&
        graph.layers[*mean_at].inputs[0] == graph.layers[*minus_at].inputs[0]) {
      rms = false;
      x = *graph.layers[*mean_at].inputs[0];
      chain = Chain(graph, *mean_at);
      chain.take(*minus_at);
      chain.take(*square_at);
      chain.take(at);
    }
  }
  const auto binary_next = [&](ElementwiseFn fn) {
    const auto* binary = plain<op::Binary>(chain.next());
    return binary && binary->fn == fn;
  };
  const auto unary_next = [&](ElementwiseFn fn) {
    const auto* unary = plain<op::Unary>(chain.next());
    return unary && unary->fn == fn;
  };
  if (binary_next(add)) {
    const auto epsilon = other_input(*chain.next(), chain.result());
    if (!epsilon || !graph.tensors[*epsilon].scalar) return std::nullopt;
    chain.take_next();
  }
  // The reciprocal square root: a root that is inverted or that divides, or the power -1/2.
  const auto number = [&](std::size_t i) { return graph.tensors[*chain.next()->inputs[i]].scalar; };
  bool inverted = binary_next(pow) && chain.next()->inputs[0] == chain.result() && number(1) == -0.5;
  if (!inverted) {
    if (!unary_next(sqrt)) return std::nullopt;
    chain.take_next();
    inverted =
        unary_next(reciprocal) || (binary_next(div) && chain.next()->inputs[1] == chain.result() && number(0) == 1.0);
  }
  if (inverted) chain.take_next();
  const ElementwiseFn scaling = inverted ? mul : div;
  if (!binary_next(scaling) || other_input(*chain.next(), chain.result()) != centered) return std::nullopt;
  if (scaling == div && chain.next()->inputs[0] != centered) return std::nullopt;
  chain.take_next();

  const auto& dims = graph.tensors[x].dims;
  const auto vector_next = [&](ElementwiseFn fn) {  // scale or bias: a constant over the normalised dimensions
    if (!binary_next(fn)) return false;
    const auto operand = other_input(*chain.next(), chain.result());
    return operand && graph.tensors[*operand].constant && !graph.tensors[*operand].dims.empty() &&
           graph.tensors[*operand].dims.back() == *inner && element_count(graph.tensors[*operand].dims) == *inner &&
           graph.tensors[chain.next()->outputs[0]].dims == dims;
  };
  op::LayerNorm norm{
      .type = type(mean_of_squares.layer), .x = {element_count(dims) / *inner, *inner}, .rms = rms, .scale = false};
  std::vector<Piece> parts;
  if (vector_next(mul)) {
    parts.push_back({0, chain.sorted().size(), norm});
    chain.take_next();
    norm.scale = true;
    if (vector_next(add)) {
      parts.push_back({0, chain.sorted().size(), norm});
      chain.take_next();
      norm.bias = true;
    }
  }
  Match match{.members = chain.sorted()};
  match.pieces = {{0, match.members.size(), norm}};
  match.pieces.insert(match.pieces.end(), parts.begin(), parts.end());
  return match;
}

}  // namespace benanza::detail
