// SPDX-License-Identifier: Apache-2.0
// PackedConstants: the constants of a model in the form that plans take. They are in huge pages, as is the memory in
// which rows are measured, or in the memory of a device.
#pragma once

#include "plan/memory_block.hpp"
#include <benanza/execution/tensor.hpp>
#include <benanza/plan/backend.hpp>

#include <cstddef>
#include <map>
#include <tuple>
#include <vector>

namespace benanza::execution {

class PackedConstants {
 public:
  /// Uses the processor's memory if `where` is null.
  explicit PackedConstants(Memory* where = nullptr) : where_(where) {}

  /// A constant in the layout of a plan's input, made once. Valid as long as this lives.
  [[nodiscard]] const void* of(const Plan& plan, std::size_t input, const Tensor& constant);
  /// The same in row-major order.
  [[nodiscard]] const void* row_major(const Tensor& constant);

  /// The size of all constants that were made.
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  [[nodiscard]] std::byte* allocate(std::size_t bytes);
  [[nodiscard]] const std::byte* keep(const void* data, std::size_t bytes);

  Memory* where_;
  /// By plan, number of the input, and the address and size in bytes of the constant's own numbers. In a file, one
  /// constant may begin at the same address as another. Row-major ones serve all plans.
  std::map<std::tuple<const Plan*, std::size_t, const void*, std::size_t>, const std::byte*> packed_{};
  std::vector<Tensor> sources_{};  ///< their addresses are keys
  std::vector<detail::MemoryBlock> blocks_{};
  std::size_t used_ = 0;  ///< bytes used in the last block
  std::size_t bytes_ = 0;
};

}  // namespace benanza::execution
