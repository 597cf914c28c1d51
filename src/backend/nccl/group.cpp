// SPDX-License-Identifier: Apache-2.0
#include "group.hpp"

#include <benanza/error.hpp>

#include <new>
#include <string>
#include <string_view>
#include <utility>

namespace benanza::nccl {

namespace {

/// Makes a GPU the current device for calls, and the first GPU again at the end: all other code uses only that one.
class OnGpu {
 public:
  explicit OnGpu(int gpu) { check(cudaSetDevice(gpu), "cudaSetDevice"); }
  OnGpu(const OnGpu&) = delete;
  OnGpu& operator=(const OnGpu&) = delete;
  ~OnGpu() { static_cast<void>(cudaSetDevice(0)); }
};

}  // namespace

int visible_gpus() {
  int count = 0;
  if (cudaGetDeviceCount(&count) == cudaSuccess) return count;
  static_cast<void>(cudaGetLastError());
  return 0;
}

void check(cudaError_t status, const char* call, const char* file, int line) {
  if (status == cudaSuccess) return;
  static_cast<void>(cudaGetLastError());
  if (status == cudaErrorMemoryAllocation) throw std::bad_alloc();
  const std::string_view path(file);
  throw EnvironmentError(std::string(call) + " failed at " + std::string(path.substr(path.rfind('/') + 1)) + ":" +
                         std::to_string(line) + ": " + cudaGetErrorString(status));
}

Group::Group(std::shared_ptr<Device> first) : first_(std::move(first)) {
  const int gpus = visible_gpus();
  communicators_.resize(static_cast<std::size_t>(gpus));
  check(calls().ncclCommInitAll(communicators_.data(), gpus, nullptr), "ncclCommInitAll");
  streams_.push_back(static_cast<cudaStream_t>(first_->stream()));
  for (int gpu = 1; gpu < gpus; ++gpu) {
    const OnGpu here(gpu);
    check(cudaStreamCreateWithFlags(&streams_.emplace_back(), cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  }
}

Group::~Group() {
  for (std::size_t i = 1; i < streams_.size(); ++i) {
    static_cast<void>(cudaSetDevice(static_cast<int>(i)));
    static_cast<void>(cudaStreamSynchronize(streams_[i]));
    static_cast<void>(cudaStreamDestroy(streams_[i]));
  }
  static_cast<void>(cudaSetDevice(0));
  for (const ncclComm_t each : communicators_) static_cast<void>(calls().ncclCommDestroy(each));
}

Buffer::Buffer(int gpu, std::size_t bytes) : gpu_(gpu) {
  const OnGpu here(gpu);
  check(cudaMalloc(&data_, bytes), "cudaMalloc");
}

Buffer::~Buffer() {
  if (data_ == nullptr) return;
  static_cast<void>(cudaSetDevice(gpu_));
  static_cast<void>(cudaFree(data_));
  static_cast<void>(cudaSetDevice(0));
}

}  // namespace benanza::nccl
