// SPDX-License-Identifier: Apache-2.0
// What make_iteration computes.
#pragma once

#include <benanza/bounds/timed_graph.hpp>
#include <benanza/impl/inline.hpp>
#include <benanza/model/model_layers.hpp>
#include <benanza/scale/iteration.hpp>
#include <benanza/scale/make_iteration.hpp>
#include <benanza/training/training_graph.hpp>

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace benanza {

BENANZA_INLINE Iteration make_iteration(const TrainingGraph& training, const LayerGraph& layers,
                                        const TimedGraph& timed) {
  const Graph& graph = training.graph;
  std::map<std::string_view, std::size_t> place;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) place[graph.nodes[i].name] = i;

  struct At {
    std::vector<std::size_t> nodes{};
    std::size_t last = 0;
    Seconds time{};
  };
  std::vector<At> order;
  std::size_t before = 0;  // a node in a body has the position of the layer before it
  for (std::size_t i = 0; i < layers.layers.size(); ++i) {
    At at;
    for (const auto& name : layers.layers[i].nodes)
      if (const auto known = place.find(name); known != place.end()) at.nodes.push_back(known->second);
    at.last = before = at.nodes.empty() ? before : *std::max_element(at.nodes.begin(), at.nodes.end());
    if (timed.layers[i].runs) at.time = timed.layers[i].time() * static_cast<double>(timed.layers[i].repeat);
    order.push_back(std::move(at));
  }
  std::stable_sort(order.begin(), order.end(), [](const At& a, const At& b) { return a.last < b.last; });

  Iteration result{.model = graph.name, .file = graph.file, .batch = graph.batch};
  std::vector<std::optional<std::size_t>> step_of(graph.nodes.size());
  for (const auto& at : order) {
    const Phase phase = training.phases[at.last];
    if (phase == Phase::update) result.update += at.time;
    if (phase == Phase::update || at.time.value <= 0) continue;
    auto& steps = phase == Phase::backward ? result.backward : result.forward;
    for (const auto node : at.nodes) step_of[node] = steps.size();
    steps.push_back({.name = graph.nodes[at.last].name, .phase = phase, .time = at.time});
  }
  if (result.backward.empty() && !training.parameters.empty())
    result.backward.push_back({.name = "backward", .phase = Phase::backward});

  /// A free node ends with the last step before it in its phase.
  const auto made_by = [&](std::size_t node) {
    for (std::size_t i = node + 1; i-- > 0 && training.phases[i] == Phase::backward;)
      if (step_of[i]) return *step_of[i];
    return std::size_t{0};
  };
  /// The step that reads it comes after it.
  const auto read_by = [&](std::size_t node) {
    for (std::size_t i = node; i < graph.nodes.size() && training.phases[i] <= Phase::loss; ++i)
      if (step_of[i]) return *step_of[i];
    return result.forward.empty() ? 0 : result.forward.size() - 1;
  };
  std::map<ValueId, std::size_t> reader;
  for (std::size_t i = graph.nodes.size(); i-- > 0;)
    if (training.phases[i] == Phase::forward)
      for (const auto& input : graph.nodes[i].inputs)
        if (input) reader[*input] = i;
  for (const auto& parameter : training.parameters) {
    const auto read = reader.find(parameter.value);
    result.gradients.push_back({.name = parameter.name,
                                .made = made_by(parameter.node),
                                .needed = read == reader.end() ? 0 : read_by(read->second),
                                .bytes = {parameter.bytes}});
    result.type = graph.value(parameter.gradient).type;
  }
  std::stable_sort(result.gradients.begin(), result.gradients.end(),
                   [](const GradientReady& a, const GradientReady& b) { return a.made < b.made; });
  return result;
}

}  // namespace benanza
