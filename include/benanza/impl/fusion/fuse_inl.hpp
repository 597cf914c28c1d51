// SPDX-License-Identifier: Apache-2.0
// What `fuse` computes.
#pragma once

#include <benanza/fusion/detail/moved_in_place.hpp>
#include <benanza/fusion/fuse.hpp>
#include <benanza/impl/inline.hpp>
#include <benanza/model/detail/distinct_bytes.hpp>
#include <benanza/model/group_flops.hpp>

#include <algorithm>
#include <span>
#include <utility>
#include <variant>
#include <vector>

namespace benanza {

namespace detail {

/// Computes from the nodes that groups cover their compulsory bytes, and which of them are needed.
inline void count_bytes(LayerGraph& fused, const LayerGraph& single) {
  for (auto& group : fused.layers) {
    if (group.members.size() < 2) continue;
    DistinctBytes reads(single), needed(single);
    std::vector<std::size_t> members = group.members;
    std::vector<TensorId> outputs = group.outputs;
    std::sort(members.begin(), members.end());
    std::sort(outputs.begin(), outputs.end());
    const auto inside = [&](std::size_t layer) { return std::binary_search(members.begin(), members.end(), layer); };
    const auto leaves = [&](TensorId id) { return std::binary_search(outputs.begin(), outputs.end(), id); };
    group.written = {};
    group.needed = {};
    group.absorbed = free_flops(group.layer);
    const bool is_expression = std::holds_alternative<op::Expression>(*group.layer);
    Flops all{};
    for (auto member : group.members) {
      const auto& part = single.layers[member];
      if (!is_expression || stored_type(type(part.layer)) == type(group.layer)) {  // as the expression counts
        all += cost(part.layer).flops - part.absorbed;
        group.needed.flops += part.needed.flops;
      }
      for (std::size_t k = 0; k < part.outputs.size(); ++k)
        if (leaves(part.outputs[k]))
          group.needed.written += single.tensors[part.outputs[k]].bytes() * part.live.output(k);
      for (std::size_t k = 0; k < part.inputs.size(); ++k) {
        if (!part.inputs[k]) continue;
        const auto& tensor = single.tensors[*part.inputs[k]];
        if (!tensor.producers.empty() && std::all_of(tensor.producers.begin(), tensor.producers.end(), inside))
          continue;
        const Bytes touched = touched_input(tensor, part.layer, k);
        reads.add(*part.inputs[k], touched);
        needed.add(*part.inputs[k], touched, part.live.input(k));
      }
    }
    for (auto output : group.outputs) group.written += single.tensors[output].bytes();
    group.read_activations = reads.activations();
    group.read_weights = reads.weights();
    group.needed.activations = needed.activations();
    group.needed.weights = needed.weights();
    Cost whole = cost(group.layer);  // a folded batch norm is one vector, not four
    whole.flops = group_flops(group, single);
    const Bytes excess = reads.weights() + reads.activations() - whole.weights - whole.activations;
    if (excess.value > 0) {
      group.read_weights = std::max(Bytes{}, group.read_weights - excess);
      group.needed.weights = std::max(Bytes{}, group.needed.weights - excess);
    }
    group.live = {.flops = all.value > 0 ? group.needed.flops / all : 1};
    for (const auto member : group.members) {
      const LiveShare& live = single.layers[member].live;
      group.live.readers.insert(group.live.readers.end(), live.readers.begin(), live.readers.end());
      group.live.conditional = group.live.conditional || live.conditional;
    }
    // Zeros that a Pad adds are not multiplied. The needed operations of the convolution and those of the whole reflect
    // that.
    const bool padded = std::any_of(group.members.begin(), group.members.end(), [&](std::size_t member) {
      return std::holds_alternative<op::Pad>(*single.layers[member].layer);
    });
    // Adding zeros does not count either, if one of several products has no bias.
    group.needed.flops =
        std::min(group.needed.flops, padded || is_expression ? whole.flops : whole.flops * group.live.flops);
    if (padded && whole.flops.value > 0) group.live.flops = group.needed.flops / whole.flops;
  }
}

}  // namespace detail

BENANZA_INLINE LayerGraph fuse(const LayerGraph& single, std::span<const Pattern> patterns) {
  LayerGraph result = single;
  result.form = Form::fused;
  for (const auto& pattern : patterns) result = detail::apply(std::move(result), pattern, single);
  detail::move_in_place(result);
  detail::count_bytes(result, single);
  return result;
}

}  // namespace benanza
