// SPDX-License-Identifier: Apache-2.0
// make_iteration: converts a training graph and the times of its layers to an Iteration.
#pragma once

#include <benanza/bounds/timed_graph.hpp>
#include <benanza/model/model_layers.hpp>
#include <benanza/scale/iteration.hpp>
#include <benanza/training/training_graph.hpp>

namespace benanza {

/// `layers` and `timed` are the same form of `training.graph`: layer i of one is layer i of the other. A layer becomes
/// a step at the position of its last node, with the expected time of all its passes. Free layers become no step.
/// Branches that do not run take no time.
[[nodiscard]] Iteration make_iteration(const TrainingGraph& training, const LayerGraph& layers,
                                       const TimedGraph& timed);

}  // namespace benanza

#ifndef BENANZA_COMPILED
#include <benanza/impl/scale/make_iteration_inl.hpp>
#endif
