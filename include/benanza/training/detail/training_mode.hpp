// SPDX-License-Identifier: Apache-2.0
// to_training_mode: forward in training mode, with further results that backward reads in addition to operands.
#pragma once

#include <benanza/model/graph.hpp>
#include <benanza/operators/lookup.hpp>
#include <benanza/training/detail/expand_attention.hpp>
#include <benanza/training/detail/fold_activations.hpp>
#include <benanza/training/detail/fold_slices.hpp>
#include <benanza/training/detail/fold_transposes.hpp>
#include <benanza/training/detail/frozen_normalization.hpp>
#include <benanza/training/gradient_rules.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace benanza::training {

/// Whether a node reads a constant as a setting and not as a parameter: through an input that is not differentiable (a
/// ratio, a bound, a table of angles), as a grid, or as a single number with which an element-wise operator scales,
/// shifts or compares.
[[nodiscard]] inline bool is_setting(const Node& node, const Graph& graph, ValueId id) {
  if (graph.value(id).elements() == 1 && facts_of(node).is(Trait::scalar_settings)) return true;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const bool is_grid = node.op_type == "GridSample" && i == 1;
    if (node.has_input(i) && *node.inputs[i] == id && is_differentiable(node, i) && !is_grid) return false;
  }
  return true;
}

/// Adds output `i` if it is left out.
inline void add_output(Graph& graph, Node& node, std::size_t i, DataType type, std::vector<std::int64_t> dims) {
  if (node.has_output(i)) return;
  if (node.outputs.size() <= i) node.outputs.resize(i + 1);
  graph.values.push_back({.name = node.name + ":" + std::to_string(i), .type = type, .dims = std::move(dims)});
  node.outputs[i] = graph.values.size() - 1;
}

/// A recurrent layer keeps the states and the gates of all steps.
inline void keep_steps(Graph& graph, Node& node) {
  const auto layer = differentiable_recurrence(node, graph);
  if (!layer) return;
  const Dims states{layer->x[0], layer->directions, layer->x[1], layer->hidden};
  add_output(graph, node, 0, layer->type, states);
  Dims gates = states;
  gates[3] *= layer->gates() + (layer->linear_before_reset ? 1 : 0);
  if (layer->cell != op::Cell::rnn) add_output(graph, node, kept_gates, layer->type, gates);
  if (layer->cell == op::Cell::lstm) add_output(graph, node, kept_cells, layer->type, states);
}

/// Batch normalisation uses the statistics of the batch, which are kept together with the running ones. Layer
/// normalisation keeps its statistics, max-pooling its indices, a loss its probabilities, and dropout its mask if it
/// drops anything. Returns the running statistics and the constants of frozen normalisations.
[[nodiscard]] inline std::vector<ValueId> to_training_mode(Graph& graph) {
  expand_attention(graph);
  fold_activations(graph);
  fold_transposes(graph);
  fold_slices(graph);
  std::vector<ValueId> buffers = FrozenNormalizations(graph).constants();
  for (Node& node : graph.nodes) {
    if (!node.domain.empty() || !node.has_input(0)) continue;
    if (facts_of(node).is(Trait::recurrent)) keep_steps(graph, node);
    if (!node.has_output(0)) continue;
    const Value x = graph.value(*node.inputs[0]);
    const Value y = graph.value(*node.outputs[0]);
    const auto statistics = [&](std::size_t first, std::size_t count, const std::vector<std::int64_t>& dims) {
      for (std::size_t i = 0; i < count; ++i) add_output(graph, node, first + i, x.type, dims);
    };
    if (node.op_type == "BatchNormalization" && x.dims.size() > 1) {
      node.attributes["training_mode"] = std::int64_t{1};
      statistics(1, 4, {x.dims[1]});
      for (const std::size_t i : {std::size_t{3}, std::size_t{4}})
        if (node.has_input(i)) buffers.push_back(*node.inputs[i]);
    } else if (node.op_type == "LayerNormalization" || node.op_type == "RMSNormalization" ||
               node.op_type == "SimplifiedLayerNormalization") {
      const auto rank = static_cast<std::int64_t>(x.dims.size());
      const std::int64_t axis = node.attribute<std::int64_t>("axis", -1);
      std::vector<std::int64_t> dims = x.dims;
      for (std::int64_t i = axis < 0 ? axis + rank : axis; i < rank; ++i) dims[static_cast<std::size_t>(i)] = 1;
      statistics(1, node.op_type == "LayerNormalization" ? 2 : 1, dims);
    } else if ((node.op_type == "GroupNormalization" || node.op_type == "InstanceNormalization") && x.dims.size() > 1) {
      statistics(1, 2, {x.dims[0], node.attribute<std::int64_t>("num_groups", x.dims[1])});
    } else if (node.op_type == "MaxPool" || node.op_type == "GlobalMaxPool") {
      if (node.op_type == "GlobalMaxPool" && x.dims.size() > 2)
        node.attributes["kernel_shape"] = std::vector<std::int64_t>(x.dims.begin() + 2, x.dims.end());
      node.op_type = "MaxPool";
      add_output(graph, node, 1, DataType::i64, y.dims);
    } else if (node.op_type == "SoftmaxCrossEntropyLoss") {
      add_output(graph, node, 1, x.type, x.dims);
    } else if (node.op_type == "Dropout") {
      const double ratio = dropout_ratio(node, graph);
      if (ratio > 0) {
        add_output(graph, node, 1, DataType::boolean, x.dims);
        node.domain = gradient_domain;  // no longer the view that it is for inference
      } else {
        node.outputs.resize(1);
      }
    }
  }
  return buffers;
}

}  // namespace benanza::training
