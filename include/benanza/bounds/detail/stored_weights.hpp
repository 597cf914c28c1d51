// SPDX-License-Identifier: Apache-2.0
// What a call reads of weights that the file stores compressed, and of a table in which it looks up rows.
#pragma once

#include <benanza/bounds/analysis.hpp>
#include <benanza/bounds/detail/partition.hpp>
#include <benanza/model/distinct_bytes.hpp>
#include <benanza/model/layer.hpp>
#include <benanza/model/model_layers.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <variant>

namespace benanza::detail {

/// A weight with numbers of at most 8 bits.
[[nodiscard]] inline bool is_compressed(const Operand& operand) {
  return operand.is_weight() && operand.elements() > 1 && bits(operand.type) <= 8;
}

/// Whether reading a constant takes fewer bytes of the file than the constant has: it is computed from others, as by
/// Cast, DequantizeLinear or Expand, or is sparse. False for what is computed from sizes alone.
[[nodiscard]] inline bool is_expanded(const LayerTensor& constant) {
  constexpr double rounding = 1e-6;  // the sum of the shares is not exact
  Bytes stored{};
  for (const auto& share : constant.behind) stored += share.bytes;
  return stored.value > 0 && stored < constant.bytes() * (1 - rounding);
}

/// False for single numbers, sizes, indices and masks.
[[nodiscard]] inline bool is_weight(const LayerTensor& tensor) {
  return tensor.constant && element_count(tensor.dims) > 1 && tensor.type != DataType::i64 &&
         tensor.type != DataType::boolean;
}

/// The weights of a call that covers a part of an occurrence; empty if the file does not store them compressed. Members
/// of `at` are occurrences of `single`.
[[nodiscard]] inline std::optional<WeightBytes> stored_weights(const LayerGraph& single, const Occurrence& at,
                                                               const Part& part) {
  DistinctBytes stored(single);
  bool expanded = false;
  for (std::size_t m = part.first; m < std::min(part.first + part.count, at.members.size()); ++m) {
    const Occurrence& member = single.layers[at.members[m]];
    if (is_movement(member.layer)) continue;
    for (std::size_t k = 0; k < member.inputs.size(); ++k) {
      if (!member.inputs[k] || !is_weight(single.tensors[*member.inputs[k]])) continue;
      const LayerTensor& tensor = single.tensors[*member.inputs[k]];
      const Bytes touched = touched_input(tensor, member.layer, k);
      stored.add(*member.inputs[k], touched);
      expanded = expanded || (touched.value > 0 && is_expanded(tensor));
    }
  }
  const WeightBytes result{.stored = stored.weights(), .read = weight_bytes(part.layer)};
  const Operands all = operands(part.layer);
  const bool compressed = std::any_of(all.inputs.begin(), all.inputs.end(), is_compressed);
  return compressed || (expanded && result.expanded()) ? std::optional(result) : std::nullopt;
}

/// Empty if a call can read only one row, and for layers without a lookup.
[[nodiscard]] inline std::optional<LookupBytes> lookup_bytes(const Layer& layer) {
  const auto* gather = std::get_if<op::Gather>(&layer);
  if (gather == nullptr || gather->indices <= 1 || gather->x[1] <= 1) return std::nullopt;
  return LookupBytes{.certain = gather->certain_bytes(), .expected = gather->expected_bytes()};
}

}  // namespace benanza::detail
