// SPDX-License-Identifier: Apache-2.0
// Group: the GPUs that call collectives together, each with its own communicator and stream. The first one is the
// device that sessions time, on that device's stream.
#pragma once

#include "library.hpp"
#include <benanza/plan/device.hpp>

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace benanza::nccl {

/// The number of GPUs that CUDA_VISIBLE_DEVICES leaves visible; 0 if there is no driver.
[[nodiscard]] int visible_gpus();

/// Throws EnvironmentError, or std::bad_alloc if memory ran out.
void check(cudaError_t status, const char* call, const char* file = __builtin_FILE(), int line = __builtin_LINE());

class Group {
 public:
  /// All visible GPUs; `first` is the first one. Throws EnvironmentError.
  explicit Group(std::shared_ptr<Device> first);
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;
  ~Group();

  [[nodiscard]] int ranks() const { return static_cast<int>(communicators_.size()); }
  [[nodiscard]] ncclComm_t communicator(int rank) const { return communicators_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] cudaStream_t stream(int rank) const { return streams_[static_cast<std::size_t>(rank)]; }

 private:
  std::shared_ptr<Device> first_;
  std::vector<ncclComm_t> communicators_{};
  std::vector<cudaStream_t> streams_{};  // the first one's stream belongs to the device
};

/// Memory of one GPU.
class Buffer {
 public:
  Buffer(int gpu, std::size_t bytes);
  Buffer(Buffer&& other) noexcept : gpu_(other.gpu_), data_(std::exchange(other.data_, nullptr)) {}
  Buffer& operator=(Buffer&&) = delete;
  ~Buffer();
  [[nodiscard]] void* data() const { return data_; }

 private:
  int gpu_;
  void* data_ = nullptr;
};

}  // namespace benanza::nccl
