// SPDX-License-Identifier: Apache-2.0
// kept_tensors: the tensors that the forward pass keeps for the backward pass, according to one of two policies.
#pragma once

#include <benanza/training/kept_tensor.hpp>
#include <benanza/training/training_graph.hpp>

#include <vector>

namespace benanza {

/// The results of forward and the loss, and the inputs, that backward reads, each storage once. If backward reads only
/// a sign, a mask or a position, only these bits of each element count.
[[nodiscard]] std::vector<KeptTensor> least_kept(const TrainingGraph& iteration);

/// The tensors that PyTorch's autograd saves in eager mode on a CPU (derivatives.yaml of PyTorch 2.x), each storage
/// once.
[[nodiscard]] std::vector<KeptTensor> eager_kept(const TrainingGraph& iteration);

[[nodiscard]] std::vector<KeptTensor> kept_tensors(const TrainingGraph& iteration, Saved saved);

}  // namespace benanza

#ifndef BENANZA_COMPILED
#include <benanza/impl/training/kept_tensors_inl.hpp>
#endif
