// SPDX-License-Identifier: Apache-2.0
#include "emulated/cuda.hpp"
#include "support/device_support.hpp"
#include <benanza/backend/cuda.hpp>

#include <algorithm>
#include <numeric>
#include <vector>

using namespace benanza;

namespace {

constexpr int width = 100;  // three warps and a part of one

void reverse_blocks(const int* x, int* y) {
  __shared__ int cells[width];
  cells[threadIdx.x] = x[blockIdx.x * width + threadIdx.x];
  __syncthreads();
  y[blockIdx.x * width + threadIdx.x] = cells[width - 1 - threadIdx.x];
}

/// Threads with an odd rank end; the others still meet.
void sum_of_even(int* sum) {
  __shared__ int total;
  if (threadIdx.x == 0) total = 0;
  __syncthreads();
  if (threadIdx.x % 2 == 1) return;
  total += static_cast<int>(threadIdx.x);
  __syncthreads();
  if (threadIdx.x == 0) *sum = total;
}

void sum_of_warps(const float* x, float* y) {
  float value = x[threadIdx.x];
  for (int bits = 16; bits > 0; bits /= 2) value += __shfl_xor_sync(0xFFFFFFFFU, value, bits);
  y[threadIdx.x] = value;
}

void where(std::vector<uint3>* seen) {
  seen->push_back({threadIdx.x + blockIdx.x * blockDim.x, threadIdx.y + blockIdx.y * blockDim.y, threadIdx.z});
}

}  // namespace

TEST_CASE("threads of a block wait for each other, and share memory") {
  std::vector<int> x(3 * width), y(3 * width, -1);
  std::iota(x.begin(), x.end(), 0);
  std::vector<int> expected = x;
  for (auto block = expected.begin(); block != expected.end(); block += width) std::reverse(block, block + width);
  test::run_grid({3, width, 0, nullptr}, reverse_blocks, x.data(), y.data());
  CHECK(y == expected);
}

TEST_CASE("threads that have ended are not waited for") {
  int sum = -1;
  test::run_grid({1, 10, 0, nullptr}, sum_of_even, &sum);
  CHECK(sum == 0 + 2 + 4 + 6 + 8);
}

TEST_CASE("a warp exchanges values") {
  std::vector<float> x(64, 1), y(64, 0), expected(64, 32);
  x[40] = 5;
  std::fill(expected.begin() + 32, expected.end(), 36.0F);
  test::run_grid({1, 64, 0, nullptr}, sum_of_warps, x.data(), y.data());
  CHECK(y == expected);
}

TEST_CASE("every thread of a grid runs once") {
  std::vector<uint3> seen;
  test::run_grid({dim3(2, 3), dim3(4, 2, 2), 0, nullptr}, where, &seen);
  std::vector<int> times(8 * 6 * 2, 0);
  for (const auto& at : seen) ++times.at((at.z * 6 + at.y) * 8 + at.x);
  CHECK(times == std::vector<int>(8 * 6 * 2, 1));
}

TEST_CASE("plans of backend cuda launch what is emulated") {
  const auto backend = cuda::backend();
  REQUIRE(std::holds_alternative<std::monostate>(backend->availability()));
  const int before = test::launches();
  CHECK(test::check_device_plans(*backend, op::Unary{.fn = ElementwiseFn::relu, .x = {64}}) == 1);
  CHECK(test::launches() == before + 1);
}
