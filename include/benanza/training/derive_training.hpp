// SPDX-License-Identifier: Apache-2.0
// derive_training: from a model to one iteration of its training.
#pragma once

#include <benanza/model/graph.hpp>
#include <benanza/training/training_graph.hpp>

namespace benanza {

/// The graph of one iteration: forward in training mode (batch statistics, masks of dropout, indices of max-pooling),
/// the loss, the gradients of every parameter by reverse-mode differentiation, and the optimizer's step. Parameters are
/// the floating-point constants with a dimension, except running statistics, settings and frozen ones. Inputs have no
/// gradient. Throws InputError for a model without parameters or without an output from which a loss can be computed,
/// for an operator without a gradient between a parameter and the loss, and for a frozen name that no parameter has.
[[nodiscard]] TrainingGraph derive_training(Graph graph, const TrainingOptions& options = {});

}  // namespace benanza

#ifndef BENANZA_COMPILED
#include <benanza/impl/training/derive_training_inl.hpp>
#endif
