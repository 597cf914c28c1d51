// The NVIDIA GPU: memory, and how a failed call is reported. How a call is timed, and what the results say of the
// device, is in device.cpp.
#pragma once

#include "suite.hpp"

#include <cuda_runtime.h>
#include <library_types.h>

[[noreturn]] void failed(const char* call, const std::string& reason);
#define CHECK_CUDA(call)                                            \
  do {                                                              \
    if (const cudaError_t status = (call); status != cudaSuccess) { \
      static_cast<void>(cudaGetLastError());                        \
      failed(#call, cudaGetErrorString(status));                    \
    }                                                               \
  } while (false)

/// All calls go to this stream.
cudaStream_t stream();

/// `count` numbers of a type as bytes: in [-1, 1], of integers in [-100, 100]; or between 0.5 and 1.5.
std::vector<char> elements(cudaDataType_t type, std::int64_t count, bool positive = false);

/// Memory of the device.
class Memory {
 public:
  explicit Memory(std::size_t bytes);
  char* get() const { return data_.get(); }

 private:
  std::shared_ptr<char> data_{};
};

/// Operands on the device: each has its contents once, or as many times as copies are walked through.
class Buffers {
 public:
  explicit Buffers(Cache cache) : cache_(cache) {}

  /// Returns the operand's number.
  std::size_t add(std::vector<char> contents, bool weights);
  /// Allocates and fills; to be called once, after all operands were added.
  void spread();
  std::size_t copies() const { return copies_; }
  void* at(std::size_t operand, std::size_t copy) const {
    const Operand& one = operands_[operand];
    return one.memory->get() + (one.cold ? copy * one.stride : 0);
  }

 private:
  struct Operand {
    std::size_t stride = 0;
    bool cold = false;
    std::vector<char> contents{};
    std::shared_ptr<Memory> memory{};
  };
  Cache cache_;
  std::vector<Operand> operands_{};
  std::size_t copies_ = 1;
};
