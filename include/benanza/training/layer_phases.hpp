// SPDX-License-Identifier: Apache-2.0
// layer_phases: the phase of an iteration in which each of its layers runs.
#pragma once

#include <benanza/model/model_layers.hpp>
#include <benanza/training/training_graph.hpp>

#include <cstddef>
#include <map>
#include <string_view>
#include <vector>

namespace benanza {

/// The phase of each layer of `layers`, which is the single form of `training.graph`. Layers of a body have the phase
/// of the layer before them.
[[nodiscard]] inline std::vector<Phase> layer_phases(const TrainingGraph& training, const LayerGraph& layers) {
  std::map<std::string_view, Phase> phase_of;
  for (std::size_t i = 0; i < training.graph.nodes.size(); ++i)
    phase_of[training.graph.nodes[i].name] = training.phases[i];
  std::vector<Phase> result;
  for (const auto& layer : layers.layers) {
    const auto known = phase_of.find(layer.nodes.front());
    const Phase before = result.empty() ? Phase::forward : result.back();
    result.push_back(known == phase_of.end() ? before : known->second);
  }
  return result;
}

}  // namespace benanza
