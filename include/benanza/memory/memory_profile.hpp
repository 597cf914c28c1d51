// SPDX-License-Identifier: Apache-2.0
// MemoryProfile: the bytes of one run of a model, or of one iteration of its training, over time.
#pragma once

#include <benanza/training/kept_tensor.hpp>
#include <benanza/training/training_graph.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace benanza {

enum class MemoryCategory : std::uint8_t {
  weights,          ///< parameters; for inference all constants
  buffers,          ///< running statistics, and constants that training does not change
  gradients,        ///< gradients of parameters
  optimizer_state,  ///< moments, and the weights in f32 of mixed precision
  feature_maps,     ///< tensors that forward keeps for backward
  inputs_outputs,   ///< inputs and outputs of the model
  temporaries,      ///< tensors that are freed within their phase
  workspace,        ///< workspace of the chosen plans, if there are rows for them
};
[[nodiscard]] constexpr std::array<std::string_view, 8> enum_names(MemoryCategory) {
  return {"weights",      "buffers",         "gradients",   "optimizer state",
          "feature maps", "inputs, outputs", "temporaries", "workspace"};
}
inline constexpr std::size_t memory_categories = enum_names(MemoryCategory{}).size();

using MemoryBytes = std::array<double, memory_categories>;
[[nodiscard]] constexpr double total(const MemoryBytes& bytes) {
  double sum = 0;
  for (const double one : bytes) sum += one;
  return sum;
}

/// Memory that lives from step `first` to step `last`, both inclusive.
struct MemoryBlock {
  std::string name{};   ///< name of the tensor
  std::string layer{};  ///< the node of forward that it belongs to; empty: it belongs to the model
  MemoryCategory category{};
  double bytes = 0;
  std::size_t first = 0, last = 0;
};

/// Memory in use while one node runs.
struct MemoryStep {
  std::string node{};
  Phase phase{};
  MemoryBytes bytes{};
};

/// A node of forward, and its memory.
struct MemoryLayer {
  std::string node{}, op_type{};
  MemoryBytes bytes{};  ///< weights, gradients and states of its parameters, its feature maps, its workspace
};

struct MemoryProfile {
  std::string model{}, file{};
  std::int64_t batch = 1;
  bool training = false;
  std::vector<MemoryStep> steps{};
  std::vector<MemoryBlock> blocks{};
  std::vector<MemoryLayer> layers{};  ///< those with any bytes, largest first
  std::size_t peak = 0;               ///< index of the step
  MemoryBytes totals{};               ///< the maximum of each category over all steps
  std::vector<KeptTensor> kept{};     ///< from forward to backward, including inputs of the model
  /// Recurrent nodes with a gradient: what eager mode keeps for them is not known and not in `kept`.
  std::vector<std::string> recurrent{};
  bool has_workspace = false;  ///< there were rows of plans

  [[nodiscard]] double kept_bytes() const {
    double sum = 0;
    for (const KeptTensor& one : kept) sum += one.bytes;
    return sum;
  }
  [[nodiscard]] double peak_bytes() const { return steps.empty() ? total(totals) : total(steps[peak].bytes); }
  [[nodiscard]] double of(MemoryCategory category) const { return totals[static_cast<std::size_t>(category)]; }
};

}  // namespace benanza
