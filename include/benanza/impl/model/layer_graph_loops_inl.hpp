// SPDX-License-Identifier: Apache-2.0
// Loop and Scan in a LayerGraph: the layers of the body, and which of its passes follow each other.
#pragma once

#include <benanza/impl/inline.hpp>
#include <benanza/model/detail/layer_graph_builder.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace benanza::detail {

/// Inputs of a body that may differ between passes. Excludes those that each pass hands on unchanged.
[[nodiscard]] inline std::vector<ValueId> changing_inputs(const Graph& body, std::size_t carried, std::size_t body_skip,
                                                          std::size_t out_skip) {
  std::vector<ValueId> inputs;
  for (std::size_t i = 0; i < body.inputs.size(); ++i) {
    const bool is_carried = i >= body_skip && i - body_skip < carried;
    const std::size_t result = i - body_skip + out_skip;
    if (!is_carried || result >= body.outputs.size() || body.outputs[result] != body.inputs[i])
      inputs.push_back(body.inputs[i]);
  }
  return inputs;
}

BENANZA_INLINE void LayerGraphBuilder::loop(const Graph& graph, Scope& scope, const Node& node,
                                            const Context& context) {
  const Graph& body = node.bodies[0].graph;
  const bool scan = node.op_type == "Scan";
  const auto scanned = scan ? static_cast<std::size_t>(node.attribute<std::int64_t>("num_scan_inputs", 0)) : 0;
  const std::size_t skip = scan ? (node.opset < 9 ? 1 : 0) : 2;  // lengths; trip count and condition
  const std::size_t body_skip = scan ? 0 : 2;                    // iteration number and condition
  const std::size_t carried = body.inputs.size() - body_skip - std::min(scanned, body.inputs.size() - body_skip);
  Scope inner = enter(graph, scope, body);
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    if (!node.inputs[i]) continue;
    const TensorId from = tensor(graph, scope, *node.inputs[i]);
    keep(from);
    if (i < skip || i - skip + body_skip >= body.inputs.size()) continue;
    const TensorId to =
        tensor(body, inner, body.inputs[i - skip + body_skip]);  // a tensor of its own: `from` may be captured too
    result_.tensors[to].producers = result_.tensors[from].producers;
    const bool is_carried = i - skip < carried;
    received_[to] = {from, is_carried, !is_carried && live_->is_slice(body, body.inputs[i - skip + body_skip])};
  }
  Context here = context;
  if (node.trip_count) here.repeat = saturated_product(context.repeat, *node.trip_count);
  const std::string title = "'" + node.name + "' (" + node.op_type + ")";
  if (node.attributes.contains("changes_sizes"))
    result_.unknown.push_back("the sizes in " + title + " change from pass to pass: " +
                              (node.trip_count ? "the remaining passes count like the first of them"
                                               : "only one of the remaining passes counts"));
  else if (!node.trip_count)
    result_.unknown.push_back(
        "trip count of " + title +
        " is not known: one pass is counted, by floors if it is certain (--value sets an input that it depends on)");
  const std::size_t begin = result_.layers.size();
  walk(body, inner, here);

  const std::size_t out_skip = scan ? 0 : 1;  // Loop's body ends each pass with a condition
  if (!scan && !body.outputs.empty()) keep(tensor(body, inner, body.outputs[0]));
  std::vector<Carried> values;
  for (std::size_t i = 0; i < carried && i + out_skip < body.outputs.size(); ++i)
    values.push_back(
        {tensor(body, inner, body.inputs[i + body_skip]), tensor(body, inner, body.outputs[i + out_skip])});
  serialize(begin, values, node.trip_count.value_or(1));
  recurrences_.push_back(
      {.begin = begin, .end = result_.layers.size(), .values = values, .passes = node.trip_count.value_or(1)});
  hoist(body, inner, changing_inputs(body, carried, body_skip, out_skip), begin, node.trip_count.value_or(1));
  for (std::size_t i = 0; i < std::min(body_skip, body.inputs.size()); ++i)
    if (inner[body.inputs[i]]) counters_.insert(*inner[body.inputs[i]]);
  const PassNumbers numbers(graph, scan ? std::span<const std::optional<ValueId>>{} : node.inputs, body);
  for (const auto& [formal, place] : numbers.counters())
    if (const auto& id = inner[formal]) counters_.insert({*id, received_.at(*id).from});
  for (std::size_t i = 0; i < node.outputs.size() && i + out_skip < body.outputs.size(); ++i) {
    const TensorId from = tensor(body, inner, body.outputs[i + out_skip]);
    keep(from);  // read by the next pass, or collected
    if (!node.outputs[i]) continue;
    if (i < carried) {
      scope[*node.outputs[i]] =  // the value of the last pass; the initial value if there is none
          node.trip_count == 0 ? tensor(graph, scope, node.inputs.at(i + skip).value()) : from;
      continue;
    }
    const TensorId collected = tensor(graph, scope, *node.outputs[i]);
    result_.tensors[collected].producers = result_.tensors[from].producers;
  }
}

BENANZA_INLINE void LayerGraphBuilder::serialize(std::size_t begin, const std::vector<Carried>& values,
                                                 std::int64_t trips) {
  const std::size_t end = result_.layers.size();
  std::vector<bool> serial(end, false);
  double most = 0;
  for (const auto& value : values) {
    std::vector<bool> reached(end, false), needed(end, false);
    for (std::size_t i = begin; i < end; ++i)
      for (const auto& input : result_.layers[i].inputs) {
        if (!input) continue;
        reached[i] = reached[i] || comes_from(*input, value.in);
        for (auto producer : result_.tensors[*input].producers)
          reached[i] = reached[i] || (producer >= begin && reached[producer]);
      }
    for (auto producer : result_.tensors[value.out].producers)
      if (producer >= begin) needed[producer] = true;
    double work = 0;
    for (std::size_t i = end; i-- > begin;) {
      needed[i] = needed[i] && reached[i];
      if (!needed[i]) continue;
      work += 1 + cost(result_.layers[i].layer).flops.value * static_cast<double>(result_.layers[i].repeat);
      for (const auto& input : result_.layers[i].inputs)
        if (input)
          for (auto producer : result_.tensors[*input].producers)
            if (producer >= begin) needed[producer] = true;
    }
    if (work > most) {
      most = work;
      serial = needed;
    }
  }
  for (std::size_t i = begin; i < end; ++i)
    if (serial[i]) result_.layers[i].serial_repeat = saturated_product(result_.layers[i].serial_repeat, trips);
}

BENANZA_INLINE void LayerGraphBuilder::hoist(const Graph& body, const Scope& inner,
                                             const std::vector<ValueId>& changing, std::size_t begin,
                                             std::int64_t trips) {
  if (trips < 2) return;
  std::vector<bool> changes(result_.layers.size(), false);
  for (std::size_t i = begin; i < result_.layers.size(); ++i) {
    Occurrence& at = result_.layers[i];
    changes[i] = is_opaque(at.layer);
    for (const auto& input : at.inputs) {
      if (!input) continue;
      for (const ValueId formal : changing)
        changes[i] = changes[i] || (inner[formal] && comes_from(*input, *inner[formal]));
      for (const auto producer : result_.tensors[*input].producers)
        changes[i] = changes[i] || (producer >= begin && changes[producer]);
    }
    if (changes[i]) continue;
    at.repeat /= trips;
    at.live = live_->once(*nodes_[i], body, at.live);
  }
}

}  // namespace benanza::detail
