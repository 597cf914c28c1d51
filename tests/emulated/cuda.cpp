// SPDX-License-Identifier: Apache-2.0
#include "emulated/cuda.hpp"

#include "support/fake_device.hpp"
#include <benanza/backend/cuda.hpp>

#include <ucontext.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

uint3 threadIdx, blockIdx;
dim3 blockDim, gridDim;

namespace {

constexpr unsigned warp_size = 32, most_threads = 1024;
constexpr std::size_t stack_bytes = std::size_t{256} << 10;

[[noreturn]] void give_up(const char* why) {
  std::fprintf(stderr, "block (%u, %u, %u), thread (%u, %u, %u): %s\n", blockIdx.x, blockIdx.y, blockIdx.z, threadIdx.x,
               threadIdx.y, threadIdx.z, why);
  std::abort();
}

/// A barrier for threads that wait for each other. It opens when all threads that have not ended have arrived.
struct Barrier {
  unsigned live = 0, arrived = 0;
  std::uint64_t passed = 0;

  void release_if_all() {
    if (arrived == 0 || arrived != live) return;
    arrived = 0;
    ++passed;
  }
};

/// A block of threads while it runs; there is one at a time.
class Block {
 public:
  void run(const std::function<void()>& thread) {
    const unsigned threads = blockDim.x * blockDim.y * blockDim.z;
    if (threads == 0 || threads > most_threads) give_up("a block has 1 to 1024 threads");
    thread_ = &thread;
    all_ = {.live = threads};
    warps_.assign((threads + warp_size - 1) / warp_size, {});
    for (unsigned i = 0; i < threads; ++i) ++warps_[i / warp_size].live;
    values_.assign(threads, 0);
    if (fibers_.size() < threads) fibers_.resize(threads);
    for (unsigned i = 0; i < threads; ++i) begin(fibers_[i]);
    for (unsigned left = threads; left > 0;) {
      const std::uint64_t before = progress_;
      for (current_ = 0; current_ < threads; ++current_) {
        Fiber& fiber = fibers_[current_];
        if (fiber.ended) continue;
        threadIdx = {current_ % blockDim.x, current_ / blockDim.x % blockDim.y, current_ / blockDim.x / blockDim.y};
        swapcontext(&scheduler_, &fiber.context);
        if (fiber.ended) --left;
      }
      if (before == progress_) give_up("all threads of the block wait");
    }
  }

  void wait_for_block() { wait(all_); }

  [[nodiscard]] float exchange(float value, unsigned bits) {
    const unsigned lane = current_ % warp_size, first = current_ - lane, other = first + (lane ^ bits);
    Barrier& warp = warps_[current_ / warp_size];
    if (warp.live != warp_size || (lane ^ bits) >= warp_size) give_up("a shuffle of a warp that is not whole");
    values_[current_] = value;
    wait(warp);
    const float result = values_[other];
    wait(warp);
    return result;
  }

 private:
  struct Fiber {
    ucontext_t context{};
    std::unique_ptr<std::byte[]> stack{};
    bool ended = false;
  };

  void begin(Fiber& fiber);

  void wait(Barrier& barrier) {
    const std::uint64_t passed = barrier.passed;
    ++barrier.arrived;
    ++progress_;
    barrier.release_if_all();
    while (barrier.passed == passed) swapcontext(&fibers_[current_].context, &scheduler_);
  }

  void call() {
    (*thread_)();
    fibers_[current_].ended = true;
    ++progress_;
    for (Barrier* barrier : {&all_, &warps_[current_ / warp_size]}) {
      --barrier->live;
      barrier->release_if_all();
    }
  }

  static void enter();

  const std::function<void()>* thread_ = nullptr;
  std::vector<Fiber> fibers_{};
  std::vector<Barrier> warps_{};
  std::vector<float> values_{};  ///< exchanged by shuffles
  Barrier all_{};
  ucontext_t scheduler_{};
  unsigned current_ = 0;
  std::uint64_t progress_ = 0;
};

Block& block() {
  static Block instance;
  return instance;
}

void Block::enter() { block().call(); }

void Block::begin(Fiber& fiber) {
  if (!fiber.stack) fiber.stack.reset(new std::byte[stack_bytes]);
  fiber.ended = false;
  getcontext(&fiber.context);
  fiber.context.uc_stack.ss_sp = fiber.stack.get();
  fiber.context.uc_stack.ss_size = stack_bytes;
  fiber.context.uc_link = &scheduler_;  // continues there when the thread ends
  makecontext(&fiber.context, enter, 0);
}

int launched = 0;
cudaError_t next_error = cudaSuccess;

}  // namespace

void __syncthreads() { block().wait_for_block(); }

float __shfl_xor_sync(unsigned mask, float value, int bits) {
  if (mask != 0xFFFFFFFFU) give_up("a shuffle of a part of a warp");
  return block().exchange(value, static_cast<unsigned>(bits));
}

// The functions of the runtime that the kernels' host code calls.
const char* CUDARTAPI cudaGetErrorString(cudaError_t) { return "an error of the emulated runtime"; }
cudaError_t CUDARTAPI cudaGetLastError() { return std::exchange(next_error, cudaSuccess); }
cudaError_t CUDARTAPI cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }
cudaError_t CUDARTAPI cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind, cudaStream_t) {
  std::memcpy(to, from, bytes);
  return cudaSuccess;
}
cudaError_t CUDARTAPI cudaMemsetAsync(void* to, int byte, std::size_t bytes, cudaStream_t) {
  std::memset(to, byte, bytes);
  return cudaSuccess;
}

namespace benanza::cuda {

std::variant<std::monostate, Unsupported> availability() { return {}; }

std::shared_ptr<Device> device() {
  static const auto instance = std::make_shared<test::FakeDevice>();
  return instance;
}

}  // namespace benanza::cuda

namespace benanza::test {

int launches() { return launched; }
void fail_launch(cudaError_t error) { next_error = error; }

void check_bounds(unsigned most_threads) {
  if (blockDim.x * blockDim.y * blockDim.z > most_threads) give_up("more threads than __launch_bounds__ allows");
}

void run_threads(const Launch& launch, const std::function<void()>& thread) {
  ++launched;
  gridDim = launch.blocks;
  blockDim = launch.threads;
  for (unsigned z = 0; z < gridDim.z; ++z)
    for (unsigned y = 0; y < gridDim.y; ++y)
      for (unsigned x = 0; x < gridDim.x; ++x) {
        blockIdx = {x, y, z};
        block().run(thread);
      }
}

}  // namespace benanza::test
