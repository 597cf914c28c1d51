// SPDX-License-Identifier: Apache-2.0
// Attention: product of queries and keys, scale, mask, softmax, product with the values; and the transposes around it.
#pragma once

#include <benanza/fusion/detail/attention_layout.hpp>
#include <benanza/fusion/detail/epilogue_group.hpp>
#include <benanza/fusion/detail/normalization.hpp>

namespace benanza::detail {

/// Dimensions as batch, heads, rows, columns. Nothing for a tensor with fewer than two or more than four dimensions.
[[nodiscard]] inline std::optional<TensorShape> four_dims(const std::vector<std::int64_t>& dims) {
  if (dims.size() < 2 || dims.size() > 4) return std::nullopt;
  TensorShape shape = TensorShape::filled(4 - dims.size(), 1);
  for (auto dim : dims) shape.push_back(dim);
  return shape;
}

/// The shape of the tensor that the next layer of a chain adds to the scores. `scores` may be another factorisation of
/// the chain's result. Nothing if that layer is not an addition.
[[nodiscard]] inline std::optional<TensorShape> added_mask(const LayerGraph& graph, const Chain& chain,
                                                           const TensorShape& scores) {
  const auto* sum = plain<op::Binary>(chain.next());
  if (sum == nullptr || sum->fn != ElementwiseFn::add) return std::nullopt;
  const auto operand = other_input(*chain.next(), chain.result());
  if (!operand) return std::nullopt;
  return fold_operand(graph.tensors[chain.result()].dims, graph.tensors[*operand].dims, scores);
}
/// The shape of the mask that selects the scores that are seen, if the next layer of a chain is a Where that replaces
/// the others by a number that softmax turns into zero. Nothing otherwise. A mask that selects hidden scores has to be
/// constant.
[[nodiscard]] inline std::optional<TensorShape> seen_mask(const LayerGraph& graph, const Chain& chain,
                                                          const TensorShape& scores) {
  constexpr double hidden = -1000;  // its exponential is zero in every type
  if (plain<op::Where>(chain.next()) == nullptr) return std::nullopt;
  const auto& inputs = chain.next()->inputs;
  if (inputs.size() != 3 || !inputs[0] || !inputs[1] || !inputs[2]) return std::nullopt;
  const bool is_seen = inputs[1] == chain.result(), is_hidden = inputs[2] == chain.result();
  if (is_seen == is_hidden || (is_hidden && !graph.tensors[*inputs[0]].constant)) return std::nullopt;
  const auto& number = graph.tensors[*inputs[is_seen ? 2 : 1]].scalar;
  if (!number || *number > hidden) return std::nullopt;
  return fold_operand(graph.tensors[chain.result()].dims, graph.tensors[*inputs[0]].dims, scores);
}
/// Takes all views that come next. Returns whether there were any.
inline bool take_views(Chain& chain) {
  bool found = false;
  for (; plain<op::View>(chain.next()) != nullptr; found = true) chain.take_next();
  return found;
}

/// `at` is the product of queries and keys.
[[nodiscard]] inline std::optional<Match> match_attention(const LayerGraph& graph, std::size_t at) {
  using enum ElementwiseFn;
  const Occurrence& scores = graph.layers[at];
  const auto* product = plain<op::MatMul>(&scores);
  if (!product || product->a_constant || product->b_constant || product->trans_a || scores.inputs.size() < 2)
    return std::nullopt;
  const auto q = four_dims(graph.tensors[*scores.inputs[0]].dims);
  auto k = four_dims(graph.tensors[*scores.inputs[1]].dims);
  if (!q || !k) return std::nullopt;
  if (!product->trans_b) std::swap((*k)[2], (*k)[3]);  // the second operand of a product is depth by keys

  Chain chain(graph, at);
  TensorShape mask;
  const auto binary_next = [&] { return plain<op::Binary>(chain.next()); };
  if (const auto* scale = binary_next(); scale && (scale->fn == mul || scale->fn == div)) {
    const auto factor = other_input(*chain.next(), chain.result());
    if (!factor || !graph.tensors[*factor].scalar) return std::nullopt;
    if (scale->fn == div && chain.next()->inputs[0] != chain.result()) return std::nullopt;  // the scalar is divided
    chain.take_next();
  }
  const TensorShape dims{(*q)[0], (*q)[1], (*q)[2], (*k)[2]};
  std::optional<DataType> mask_type;
  if (const auto seen = seen_mask(graph, chain, dims)) {
    mask = *seen;
    mask_type = DataType::boolean;
    chain.take_next();
  } else if (const auto added = added_mask(graph, chain, dims)) {
    mask = *added;
    const bool is_constant = graph.tensors[*other_input(*chain.next(), chain.result())].constant;
    chain.take_next();
    if (is_constant && take_views(chain)) {  // shifted windows: another mask follows in another shape
      const auto second = added_mask(graph, chain, dims);
      if (second && !graph.tensors[*other_input(*chain.next(), chain.result())].constant) return std::nullopt;
      if (second) {
        mask = broadcast(mask, *second);  // the sum of two constants is constant
        chain.take_next();
        take_views(chain);
      }
    }
  }
  const auto* softmax = plain<op::Softmax>(chain.next());
  if (!softmax || softmax->log || softmax->x[2] != 1 || softmax->x[1] != (*k)[2]) return std::nullopt;
  chain.take_next();
  const auto* mixed = plain<op::MatMul>(chain.next());
  if (!mixed || mixed->trans_a || mixed->trans_b || chain.next()->inputs[0] != chain.result()) return std::nullopt;
  if (four_dims(graph.tensors[chain.result()].dims) != dims) return std::nullopt;
  const auto v = four_dims(graph.tensors[*chain.next()->inputs[1]].dims);
  if (!v || (*v)[2] != (*k)[2]) return std::nullopt;
  for (std::size_t i = 0; i < 2; ++i)
    if ((*k)[i] != (*v)[i] || (*q)[i] % (*k)[i] != 0) return std::nullopt;
  if ((*q)[0] != (*k)[0]) return std::nullopt;
  chain.take_next();

  Match match{.members = chain.sorted()};
  match.pieces = {{0, match.members.size(),
                   op::Attention{.type = product->type,
                                 .q = *q,
                                 .k = *k,
                                 .v = *v,
                                 .mask = mask,
                                 .k_transposed = !product->trans_b,
                                 .mask_type = mask_type}}};
  if (auto first = EpilogueGroup(graph, at).match())  // the product with scale and mask in its epilogue is one call too
    for (const auto& piece : first->pieces)
      if (piece.count < match.members.size() &&
          std::equal(first->members.begin(), first->members.begin() + static_cast<std::ptrdiff_t>(piece.count),
                     match.members.begin()))
        match.pieces.push_back(piece);
  return with_layouts(graph, match);
}

}  // namespace benanza::detail
