// SPDX-License-Identifier: Apache-2.0
// The edges and bytes of a LayerGraph, counted after all of its layers are present.
#pragma once

#include <benanza/impl/inline.hpp>
#include <benanza/model/detail/absorbed_steps.hpp>
#include <benanza/model/detail/ask.hpp>
#include <benanza/model/detail/layer_graph_builder.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <variant>
#include <vector>

namespace benanza::detail {

BENANZA_INLINE void LayerGraphBuilder::connect() {
  for (std::size_t i = 0; i < result_.layers.size(); ++i)
    for (const auto& input : result_.layers[i].inputs)
      if (input) result_.tensors[*input].consumers.push_back(i);
  const std::vector<Flops> absorbed = absorb_steps(result_);
  std::vector<std::size_t> waiting(result_.layers.size(), 0);  // the last layer with an edge from this one
  for (std::size_t i = 0; i < result_.layers.size(); ++i) {
    Occurrence& at = result_.layers[i];
    DistinctBytes reads(result_), part(result_);
    const bool needs_all =
        std::all_of(at.live.inputs.begin(), at.live.inputs.end(), [](double share) { return share == 1; });
    for (std::size_t k = 0; k < at.inputs.size(); ++k) {
      if (!at.inputs[k]) continue;
      settle(*at.inputs[k]);  // the outputs of a layer are settled below, before they are read
      const LayerTensor& tensor = result_.tensors[*at.inputs[k]];
      if (!is_movement(at.layer) || is_moved(at, k)) {
        const Bytes touched = certain_input(i, k);
        reads.add(*at.inputs[k], touched);
        if (!needs_all) part.add(*at.inputs[k], touched, at.live.input(k));
      }
      for (auto producer : tensor.producers)
        if (producer < i && std::exchange(waiting[producer], i) != i) at.predecessors.push_back({producer, false});
    }
    const DistinctBytes& needed = needs_all ? reads : part;
    at.read_weights = reads.weights();
    at.read_activations = reads.activations();
    at.needed = {.flops = std::max(Flops{}, cost(at.layer).flops * at.live.flops - absorbed[i]),
                 .weights = needed.weights(),
                 .activations = needed.activations()};
    for (std::size_t k = 0; k < at.outputs.size(); ++k) {
      const TensorId id = at.outputs[k];
      LayerTensor& tensor = result_.tensors[id];
      if (const auto cached = cached_.find(id); cached != cached_.end()) {
        DistinctBytes held(result_);
        Bytes rest = tensor.bytes();
        for (const TensorId part : cached->second) {
          const Bytes some = std::min(rest, result_.tensors[part].bytes());
          held.add(part, some);
          rest = rest - some;
        }
        for (const auto& share : held.by_base()) tensor.behind.push_back({share.first, share.second});
        continue;
      }
      const Bytes written = certain_output(i, k);
      at.written += written;
      at.needed.written += (updates_[i] ? tensor.bytes() : written) * at.live.output(k);  // its share has fewer rows
      if (!is_movement(at.layer)) {
        tensor.behind = {{id, written}};
        if (written < tensor.bytes())  // the rest belongs to the operand that is updated
          for (const auto& share : result_.tensors[*at.inputs[updates_[i] ? updates_[i]->kept : 0]].behind)
            if (!is_written_again(i, share.base))
              tensor.behind.push_back({share.base, share.bytes * (1 - written / tensor.bytes())});
      } else if (std::holds_alternative<op::Slice>(*at.layer) || std::holds_alternative<op::Split>(*at.layer)) {
        Bytes whole{};
        for (const auto& [base, bytes] : reads.by_base()) whole += bytes;
        for (const auto& [base, bytes] : reads.by_base())
          tensor.behind.push_back({base, whole.value > 0 ? bytes * std::min(1.0, tensor.bytes() / whole) : Bytes{}});
      } else {
        for (const auto& [base, bytes] : reads.by_base()) tensor.behind.push_back({base, bytes});
      }
    }
  }
  for (std::size_t id = 0; id < result_.tensors.size(); ++id) settle(id);
  for (auto& at : result_.layers) note_in_place(at);
}

BENANZA_INLINE void LayerGraphBuilder::note_in_place(Occurrence& at) {
  const bool in_place = detail::ask<bool>(at.layer, [&](const auto& op) {
    if constexpr (requires { op.in_place; }) return may_be_in_place(op, at) != op.in_place;
    else return false;
  });
  if (!in_place) return;
  Layer changed = *at.layer;
  std::visit(
      [](auto& op) {
        if constexpr (requires { op.in_place; }) op.in_place = !op.in_place;
      },
      changed);
  at.layer = live_->pool().shared(changed);
}

BENANZA_INLINE void LayerGraphBuilder::totals(const Graph& graph, Scope& scope) {
  // The most that any one layer touches, as two gathers may pick the same rows. If all layers are certain to read what
  // they need, it is what they need together.
  std::map<TensorId, Bytes> weights, inputs, weights_that_may_run;
  std::set<TensorId> doubtful = doubtful_;
  for (std::size_t i = 0; i < result_.layers.size(); ++i) {
    const Occurrence& layer = result_.layers[i];
    const bool certain = layer.branches.empty() && layer.repeat > 0;
    for (std::size_t k = 0; k < layer.inputs.size(); ++k) {
      if (!layer.inputs[k] || is_movement(layer.layer)) continue;
      const LayerTensor& tensor = result_.tensors[*layer.inputs[k]];
      DistinctBytes reads(result_);
      const Bytes touched = certain_input(i, k);
      reads.add(*layer.inputs[k], touched);
      const bool by_pass = k == 0 && by_pass_[i];
      for (const auto& [read, bytes] : reads.by_base())
        for (const auto& share : behind_sequence(read, bytes)) {
          const LayerTensor& base = result_.tensors[share.base];
          if (!base.producers.empty() || counters_.contains(share.base)) continue;
          const bool in_part = touched.value < tensor.bytes().value || (updates_[i] && updates_[i]->kept == k);
          if (!certain || (in_part && !by_pass)) doubtful.insert(share.base);
          if (layer.repeat == 0) continue;
          const auto raise = [&](std::map<TensorId, Bytes>& most, Bytes to) {
            Bytes& known = most[share.base];
            known = std::max(known, to);
          };
          const double passes = by_pass || share.base != read ? static_cast<double>(layer.repeat) : 1;
          if (base.constant || base.trained)
            raise(weights_that_may_run, std::min(share.bytes * passes, std::max(share.bytes, base.bytes())));
          // A layer's share of a tensor behind a movement may differ from its share of the moved tensor that it reads.
          const Bytes live = share.bytes * layer.live.input(k);
          const bool moved = share.base != *layer.inputs[k] && !base.stored;
          if (certain)
            raise(base.constant ? weights : inputs, moved ? std::min(live, base.bytes() * base.needed) : live);
        }
    }
  }
  for (const auto& [id, bytes] : weights_that_may_run) result_.weights += bytes;
  for (const auto* most : {&weights, &inputs})
    for (const auto& [id, bytes] : *most) {
      const LayerTensor& tensor = result_.tensors[id];
      const bool known = bytes.value > 0 && !doubtful.contains(id) && !tensor.stored;
      result_.model_reads += known ? std::max(bytes, tensor.bytes() * tensor.needed) : bytes;
    }
  DistinctBytes writes(result_);  // one of two outputs may be a view of the other
  for (ValueId output : graph.outputs)
    writes.add(tensor(graph, scope, output), result_.tensors[tensor(graph, scope, output)].bytes());
  for (const auto& [id, bytes] : writes.by_base())
    if (!result_.tensors[id].producers.empty()) result_.model_writes += bytes;
}

}  // namespace benanza::detail
