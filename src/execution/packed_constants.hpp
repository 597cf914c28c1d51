// SPDX-License-Identifier: Apache-2.0
// PackedConstants: the constants of a model as plans take them: in huge pages, as the memory has that rows are measured
// in, or in a device's memory.
#pragma once

#include <benanza/execution/tensor.hpp>
#include <benanza/plan/backend.hpp>
#include <benanza/plan/memory_block.hpp>

#include <cstddef>
#include <map>
#include <tuple>
#include <vector>

namespace benanza::execution {

class PackedConstants {
 public:
  /// In the processor's memory where `where` is null.
  explicit PackedConstants(Memory* where = nullptr) : where_(where) {}

  /// A constant in the layout of a plan's input; made once. Valid as long as this lives.
  [[nodiscard]] const void* of(const Plan& plan, std::size_t input, const Tensor& constant);
  /// The same row-major.
  [[nodiscard]] const void* row_major(const Tensor& constant);

  /// The size of all that were made.
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  [[nodiscard]] std::byte* allocate(std::size_t bytes);
  [[nodiscard]] const std::byte* keep(const void* data, std::size_t bytes);

  Memory* where_;
  /// By plan, number of the input, and where the constant's own numbers are and how many bytes they have: in a file,
  /// one constant may begin where another does. Row-major ones serve all plans.
  std::map<std::tuple<const Plan*, std::size_t, const void*, std::size_t>, const std::byte*> packed_{};
  std::vector<Tensor> sources_{};  ///< their addresses are keys
  std::vector<detail::MemoryBlock> blocks_{};
  std::size_t used_ = 0;  ///< bytes of the last block
  std::size_t bytes_ = 0;
};

}  // namespace benanza::execution
