// SPDX-License-Identifier: Apache-2.0
// Buffers: the memory that layers are measured in. All plans share it: a model's chosen plans together may need more
// than there is, and random data is as good for one layer as for the next. Inputs come from one region for each kind of
// contents, filled once; outputs and workspace from a region that the largest layer sizes; only constants in a
// library's own layout are kept from layer to layer, as long as they fit under a limit. Each buffer of a layer starts
// in another place of its page (64-byte aligned, a workspace 256), the same for all candidates: equal places make loads
// wait for unrelated stores (4 KiB aliasing), which an engine may or may not suffer. On a device every buffer is
// aligned to 256 bytes, as cudaMalloc aligns the buffers of engines: other accesses would cross lines of its caches.
#pragma once

#include "memory_block.hpp"
#include "work.hpp"
#include <benanza/plan/backend.hpp>
#include <benanza/results/measurement.hpp>

#include <cstdint>
#include <list>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <vector>

namespace benanza::bench {

/// Where a workspace may begin: libraries refuse others (cuBLAS documentation, cublasSetWorkspace: 256 bytes).
inline constexpr std::size_t workspace_alignment = 256;

[[nodiscard]] constexpr std::size_t rounded_up(std::size_t bytes, std::size_t to) { return (bytes + to - 1) / to * to; }

/// Where in its page buffer `number` of a layer begins.
[[nodiscard]] constexpr std::size_t place_in_page(std::size_t number, bool on_device) {
  return on_device ? number % 3 * 5 * 256 : number % 12 * 5 * 64;
}

/// Places buffers one after the other.
class Placement {
 public:
  explicit Placement(bool on_device) : on_device_(on_device) {}
  /// Offset of a buffer of this many bytes, at a multiple of `alignment`.
  std::size_t add(std::size_t bytes, std::size_t number, std::size_t alignment = 64) {
    constexpr std::size_t page = 4096;
    const std::size_t offset = rounded_up(rounded_up(end_, page) + place_in_page(number, on_device_), alignment);
    end_ = offset + bytes;
    return offset;
  }
  /// A little more than the last buffer's end: kernels may load whole vectors.
  [[nodiscard]] std::size_t size() const { return end_ + 256; }

 private:
  bool on_device_;
  std::size_t end_ = 0;
};

/// Operands of equal regions are filled alike, and share memory.
using Region = std::tuple<DataType, Contents, std::int64_t, int>;
[[nodiscard]] inline Region region_of(const Operand& operand) {
  return {operand.type, operand.contents, operand.limit, operand.exponent};
}

class Buffers {
 public:
  /// `limit`: bytes of packed operands that may be kept. `cold_distance`: what was touched this many bytes ago is in no
  /// cache. `memory`: where calls' buffers lie, null for the processor's.
  Buffers(std::size_t limit, std::size_t cold_distance, Memory* memory = nullptr)
      : limit_(limit), cold_distance_(cold_distance), memory_(memory) {}

  /// Row-major inputs of a layer in the processor's memory, filled as its operands ask. Valid until the next layer's.
  [[nodiscard]] std::vector<const void*> plain_inputs(const std::vector<Operand>& inputs);
  /// Inputs in a plan's layouts, constants packed. With `exact` activations are packed as well and their values are
  /// those of `plain_inputs`; otherwise they are random numbers of their type, which is all that timing needs. An
  /// operand is packed once for all plans of a backend that take it in the same layout: a constant while there is room,
  /// an activation until another layer comes. `layer` names the layer's operands.
  [[nodiscard]] std::vector<const void*> inputs(const std::string& layer, const std::string& backend,
                                                const std::vector<Operand>& inputs, const Plan& plan, bool exact);
  /// Outputs and, after them, the workspace of a plan.
  [[nodiscard]] std::pair<std::vector<void*>, void*> outputs(const Plan& plan);
  /// Gives a work its inputs, and moves its buffers into regions that its calls walk through (work.hpp): weights, and
  /// in the cold state activations, outputs and workspace as well. What moves is random numbers, packed or not.
  void rotate(const std::string& layer, const std::string& backend, const std::vector<Operand>& inputs,
              CacheState cache, Work& work);
  /// Fills outputs with bytes 0xFF, which are NaN in floats.
  void spoil(const Plan& plan, const std::vector<void*>& outputs);
  /// Elements `indices` (flat, row-major) of an output. Only these leave the device where the plan says where they lie.
  [[nodiscard]] std::vector<double> sampled(const Operand& operand, const Plan& plan, std::size_t i, const void* output,
                                            std::span<const std::int64_t> indices);

  /// What a plan needs in addition to what is already there, at most.
  [[nodiscard]] std::size_t needed(const std::vector<Operand>& inputs, const Plan& plan, CacheState cache) const;

 private:
  struct Packed {
    std::string key{};
    bool constant = false;
    MemoryBlock block{};
    std::byte* data = nullptr;
    std::uint64_t used = 0;  ///< by which call of `inputs`
  };
  [[nodiscard]] std::byte* filled(const Operand& operand, std::size_t bytes);
  /// The same where calls read it.
  [[nodiscard]] std::byte* filled_for_calls(const Operand& operand, std::size_t bytes);
  /// Packs where calls read it.
  void pack(const Plan& plan, std::size_t i, const void* plain, std::byte* packed);
  [[nodiscard]] const void* packed(const std::string& key, bool constant, const Plan& plan, std::size_t i,
                                   const void* plain);
  void forget(std::list<Packed>::iterator entry);
  /// A row-major copy of an output in the processor's memory; valid until the next.
  [[nodiscard]] const void* plain_output(const Operand& operand, const Plan& plan, std::size_t i, const void* output);
  static std::byte* grown(MemoryBlock& block, std::size_t bytes, Memory* memory);

  std::size_t limit_, cold_distance_, position_ = 0;
  Memory* memory_;
  std::map<Region, MemoryBlock> filled_{}, on_device_{};
  MemoryBlock results_{}, rotated_results_{}, plain_output_{}, staging_{};
  std::string layer_{};
  std::uint64_t calls_ = 0;     // of `inputs`
  std::list<Packed> packed_{};  // the one used last in front
  std::map<std::string, std::list<Packed>::iterator> index_{};
  std::size_t kept_ = 0;
};

}  // namespace benanza::bench
