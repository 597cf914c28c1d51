// SPDX-License-Identifier: Apache-2.0
// Buffers: the memory that layers are measured in. All plans share it: a model's chosen plans together may need more
// than there is. Inputs come from the regions of `FilledRegions`, or in packed form from `PackedOperands`. Outputs and
// workspace come from a region that is as large as the largest layer needs.
#pragma once

#include "filled_regions.hpp"
#include "packed_operands.hpp"
#include "plan/memory_block.hpp"
#include "work.hpp"
#include <benanza/plan/backend.hpp>
#include <benanza/results/measurement.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace benanza::sampling {

class Buffers {
 public:
  /// `limit`: bytes of packed operands that may be kept. `cold_distance`: data that was touched this many bytes ago is
  /// in no cache. `memory`: where calls' buffers lie; null means the processor's memory.
  Buffers(std::size_t limit, std::size_t cold_distance, Memory* memory = nullptr)
      : cold_distance_(cold_distance), memory_(memory), regions_(memory), packed_(limit, memory) {}

  /// Row-major inputs of a layer in the processor's memory, filled as its operands ask. Valid until the inputs of the
  /// next layer are requested.
  [[nodiscard]] std::vector<const void*> plain_inputs(const std::vector<Operand>& inputs) {
    return regions_.plain(inputs);
  }
  /// Inputs in a plan's layouts, with constants packed. With `exact`, activations are packed as well and have the
  /// values of `plain_inputs`; otherwise they are random numbers of their type, which is all that timing needs. An
  /// operand is packed once for all plans of a backend that take it in the same layout. A constant is kept while there
  /// is space, an activation until another layer comes. `layer` names the layer's operands.
  [[nodiscard]] std::vector<const void*> inputs(const std::string& layer, const std::string& backend,
                                                const std::vector<Operand>& inputs, const Plan& plan, bool exact);
  /// Outputs and, after them, the workspace of a plan.
  [[nodiscard]] std::pair<std::vector<void*>, void*> outputs(const Plan& plan);
  /// Gives a work its inputs, and moves its buffers into regions that its calls traverse (work.hpp): weights, and in
  /// the cold state activations, outputs and workspace as well. Buffers that move contain random numbers, packed or
  /// not.
  void rotate(const std::string& layer, const std::string& backend, const std::vector<Operand>& inputs,
              CacheState cache, Work& work);
  /// Fills outputs with bytes 0xFF, which are NaN in floats; outputs that are updated in place get their initial
  /// values.
  void spoil(const Operands& operands, const Plan& plan, const std::vector<void*>& outputs);
  /// Elements `indices` (flat, row-major) of an output. Only these are copied from the device if the plan says where
  /// they lie.
  [[nodiscard]] std::vector<double> sampled(const Operand& operand, const Plan& plan, std::size_t i, const void* output,
                                            std::span<const std::int64_t> indices);

  /// The most memory that a plan needs in addition to what is already there.
  [[nodiscard]] std::size_t needed(const std::vector<Operand>& inputs, const Plan& plan, CacheState cache) const;

 private:
  /// A row-major copy of an output in the processor's memory; valid until the next call.
  [[nodiscard]] const void* plain_output(const Operand& operand, const Plan& plan, std::size_t i, const void* output);

  std::size_t cold_distance_, position_ = 0;
  Memory* memory_;
  FilledRegions regions_;
  PackedOperands packed_;
  detail::MemoryBlock results_{}, rotated_results_{}, plain_output_{}, staging_{};
};

}  // namespace benanza::sampling
