// SPDX-License-Identifier: Apache-2.0
// The layers around attention that are not separate work for a library that accepts strides: transposes of its operands
// and of its result, a factor on queries or keys, and heads of keys and values repeated for groups of queries.
// Exporters write these in many ways (one transpose or two with reshapes in between), so that a path is recognised by
// the positions from which it takes elements.
#pragma once

#include <benanza/fusion/pattern.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <vector>

namespace benanza::detail {

/// The memory layout of an operand of batch x heads x tokens x depth.
enum class AttentionLayout : std::uint8_t { plain, tokens_first, transposed };

/// The operand's dimensions, which do not depend on the layout.
struct AttentionOperand {
  std::int64_t batch = 1, heads = 1, tokens = 1, depth = 1;
  [[nodiscard]] std::int64_t elements() const { return batch * heads * tokens * depth; }

  /// The index in layout `to` of the element that has `index` in layout `from`.
  [[nodiscard]] std::int64_t moved(std::int64_t index, AttentionLayout from, AttentionLayout to) const {
    const auto take = [&](std::int64_t size) {
      const std::int64_t at = index % size;
      index /= size;
      return at;
    };
    std::int64_t d = 0, t = 0, h = 0;
    switch (from) {
      case AttentionLayout::plain: d = take(depth), t = take(tokens), h = take(heads); break;
      case AttentionLayout::tokens_first: d = take(depth), h = take(heads), t = take(tokens); break;
      case AttentionLayout::transposed: t = take(tokens), d = take(depth), h = take(heads); break;
    }
    const std::int64_t b = index;
    switch (to) {
      case AttentionLayout::plain: return ((b * heads + h) * tokens + t) * depth + d;
      case AttentionLayout::tokens_first: return ((b * tokens + t) * heads + h) * depth + d;
      default: return ((b * heads + h) * depth + d) * tokens + t;
    }
  }
};

/// The index from which a transpose takes the element that it writes to `index`.
[[nodiscard]] inline std::int64_t source_of(const op::Transpose& transpose, std::int64_t index) {
  TensorShape strides = TensorShape::filled(transpose.x.size(), 1);
  for (std::size_t i = strides.size(); i-- > 1;) strides[i - 1] = strides[i] * transpose.x[i];
  std::int64_t source = 0;
  for (std::size_t i = transpose.perm.size(); i-- > 0;) {
    const auto axis = static_cast<std::size_t>(transpose.perm[i]);
    source += index % transpose.x[axis] * strides[axis];
    index /= transpose.x[axis];
  }
  return source;
}

/// Whether transposes, starting with the one that writes the result, turn layout `from` into layout `to`. Checks sample
/// positions spread over the tensor.
[[nodiscard]] inline bool turns(const std::vector<op::Transpose>& transposes, const AttentionOperand& operand,
                                AttentionLayout from, AttentionLayout to) {
  constexpr int places = 64;
  constexpr std::uint64_t spread = 0x9E3779B97F4A7C15;  // multiples of 2^64 / golden ratio are far from each other
  for (std::uint64_t i = 0; i < places; ++i) {
    const auto result = static_cast<std::int64_t>(i * spread % static_cast<std::uint64_t>(operand.elements()));
    std::int64_t index = result;
    for (const auto& transpose : transposes) index = source_of(transpose, index);
    if (index != operand.moved(result, to, from)) return false;
  }
  return true;
}

/// The layers between an operand of attention and the tensor from which they compute it, and the layout of that tensor.
struct OperandPath {
  std::vector<std::size_t> layers{};
  AttentionLayout layout = AttentionLayout::plain;
  TensorId from = 0;
};

/// The tensor that a layer of such a path reads: the layer is a Transpose, a View or, if `scaled`, a product with or
/// quotient by a number. Nothing for other layers.
[[nodiscard]] inline std::optional<TensorId> turned_tensor(const LayerGraph& graph, const Occurrence& at, bool scaled) {
  if (std::holds_alternative<op::Transpose>(*at.layer) || std::holds_alternative<op::View>(*at.layer))
    return at.inputs.empty() ? std::nullopt : at.inputs[0];
  const auto* binary = std::get_if<op::Binary>(&*at.layer);
  if (!scaled || !binary || binary->same || !binary->post.empty() || at.inputs.size() != 2) return std::nullopt;
  const bool multiplies = binary->fn == ElementwiseFn::mul, divides = binary->fn == ElementwiseFn::div;
  const auto is_number = [&](std::size_t i) { return at.inputs[i] && graph.tensors[*at.inputs[i]].scalar.has_value(); };
  if ((multiplies || divides) && is_number(1)) return at.inputs[0];
  if (multiplies && is_number(0)) return at.inputs[1];
  return std::nullopt;
}

/// The longest such path back from tensor `id`, which has layout `given`. All of its layers come before `end`, and no
/// other layer uses their results. `scaled`: the path may contain a factor.
[[nodiscard]] inline OperandPath operand_path(const LayerGraph& graph, TensorId id, const AttentionOperand& operand,
                                              AttentionLayout given, std::size_t end, bool scaled) {
  using enum AttentionLayout;
  OperandPath best{.layout = given, .from = id};
  std::vector<std::size_t> layers;
  std::vector<op::Transpose> transposes;
  while (only_consumer(graph, id)) {
    const auto maker = only_producer(graph, id);
    if (!maker || *maker >= end || graph.layers[*maker].members.size() != 1) break;
    const Occurrence& at = graph.layers[*maker];
    const std::optional<TensorId> from = turned_tensor(graph, at, scaled);
    if (!from || element_count(graph.tensors[*from].dims) != operand.elements()) break;
    layers.push_back(*maker);
    id = *from;
    if (const auto* transpose = std::get_if<op::Transpose>(&*at.layer)) transposes.push_back(*transpose);
    if (std::holds_alternative<op::View>(*at.layer)) continue;
    for (const AttentionLayout layout : {plain, tokens_first, transposed})
      if ((layout != transposed || given == transposed) && turns(transposes, operand, layout, given)) {
        best = {.layers = layers, .layout = layout, .from = id};
        break;
      }
    if (best.layout == tokens_first) break;  // the layers before this belong to the producer of the operand
  }
  return best;
}

/// An Expand, possibly followed by views, that repeats each head of keys or values: each group of query heads shares
/// one (Ainslie et al. 2023, grouped-query attention).
struct RepeatedHeads {
  std::vector<std::size_t> layers{};
  TensorId of = 0;
  std::int64_t times = 1;
};

/// Finds repeated heads if `operand` is stored row-major in tensor `id`.
[[nodiscard]] inline std::optional<RepeatedHeads> repeated_heads(const LayerGraph& graph, TensorId id,
                                                                 const AttentionOperand& operand, std::size_t end) {
  RepeatedHeads found{.of = id};
  const auto maker = [&]() -> const Occurrence* {
    const auto one = only_consumer(graph, found.of) ? only_producer(graph, found.of) : std::nullopt;
    if (!one || *one >= end || graph.layers[*one].members.size() != 1) return nullptr;
    const auto& inputs = graph.layers[*one].inputs;
    return !inputs.empty() && inputs[0] ? &graph.layers[*one] : nullptr;
  };
  const auto take = [&](const Occurrence& at) {
    found.layers.push_back(*only_producer(graph, found.of));
    found.of = *at.inputs[0];
  };
  const auto take_views = [&] {
    for (const Occurrence* at = maker(); at != nullptr && std::holds_alternative<op::View>(*at->layer); at = maker())
      take(*at);
  };
  take_views();
  const Occurrence* const at = maker();
  const auto* expand = at != nullptr ? std::get_if<op::Expand>(&*at->layer) : nullptr;
  if (expand == nullptr) return std::nullopt;
  std::int64_t outer = 1, inner = 1;
  for (std::size_t i = 0; i < expand->x.size(); ++i) {
    if (expand->x[i] == expand->y[i]) (found.times == 1 ? outer : inner) *= expand->x[i];
    else if (found.times == 1) found.times = expand->y[i];
    else return std::nullopt;
  }
  if (outer * found.times != operand.batch * operand.heads || inner != operand.tokens * operand.depth ||
      operand.heads % found.times != 0)
    return std::nullopt;
  take(*at);
  take_views();
  return found;
}

/// If groups of query heads share a head of keys and values, extends both paths past the layers that repeat those
/// heads.
inline void share_heads(const LayerGraph& graph, op::Attention& whole, OperandPath& k, OperandPath& v,
                        std::size_t first) {
  if (k.layout != AttentionLayout::plain || v.layout != AttentionLayout::plain) return;
  const auto shape = [](const TensorShape& s) { return AttentionOperand{s[0], s[1], s[2], s[3]}; };
  const auto of_k = repeated_heads(graph, k.from, shape(whole.k), first),
             of_v = repeated_heads(graph, v.from, shape(whole.v), first);
  if (!of_k || !of_v || of_k->times != of_v->times || of_k->times < 2) return;
  const auto go_on = [&](OperandPath& path, const RepeatedHeads& repeated, TensorShape& dims, bool scaled) {
    dims[1] /= repeated.times;
    const OperandPath rest = operand_path(graph, repeated.of, shape(dims), AttentionLayout::plain, first, scaled);
    for (const auto* layers : {&repeated.layers, &rest.layers})
      path.layers.insert(path.layers.end(), layers->begin(), layers->end());
    path.layout = rest.layout;
    path.from = rest.from;
  };
  go_on(k, *of_k, whole.k, true);
  go_on(v, *of_v, whole.v, false);
}

/// Extends a match of attention, from its first product to its second, by the layout changes around it. The whole is a
/// further piece.
[[nodiscard]] inline Match with_layouts(const LayerGraph& graph, const Match& core) {
  using enum AttentionLayout;
  op::Attention whole = std::get<op::Attention>(*core.pieces[0].layer);
  const std::size_t first = core.members.front(), last = core.members.back();
  const Occurrence &scores = graph.layers[first], &mixed = graph.layers[last];
  const auto shape = [](const TensorShape& s) { return AttentionOperand{s[0], s[1], s[2], s[3]}; };
  const OperandPath q = operand_path(graph, *scores.inputs[0], shape(whole.q), plain, first, true);
  OperandPath k =
      operand_path(graph, *scores.inputs[1], shape(whole.k), whole.k_transposed ? transposed : plain, first, true);
  OperandPath v = operand_path(graph, *mixed.inputs[1], shape(whole.v), plain, first, false);
  share_heads(graph, whole, k, v, first);
  whole.q_tokens_first = q.layout == tokens_first;
  whole.k_tokens_first = k.layout == tokens_first;
  whole.k_transposed = k.layout == transposed;
  whole.v_tokens_first = v.layout == tokens_first;

  Match match;
  for (const auto* path : std::initializer_list<const OperandPath*>{&q, &k, &v})
    match.members.insert(match.members.end(), path->layers.begin(), path->layers.end());
  std::sort(match.members.begin(), match.members.end());
  const std::size_t before = match.members.size();
  match.members.insert(match.members.end(), core.members.begin(), core.members.end());
  const auto behind = only_consumer(graph, mixed.outputs[0]);
  const auto* transpose = behind ? std::get_if<op::Transpose>(&*graph.layers[*behind].layer) : nullptr;
  if (transpose && turns({*transpose}, shape(whole.y()), plain, tokens_first)) {
    whole.y_tokens_first = true;
    match.members.push_back(*behind);
  }
  if (match.members.size() == core.members.size()) return core;
  match.pieces.push_back({0, match.members.size(), whole});
  for (const auto& piece : core.pieces) match.pieces.push_back({before + piece.first, piece.count, piece.layer});
  return is_legal(graph, match, std::vector<bool>(graph.layers.size(), false)) ? match : core;
}

}  // namespace benanza::detail
