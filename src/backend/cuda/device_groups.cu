// SPDX-License-Identifier: Apache-2.0
// Products of warp groups (wgmma), compiled only for sm_90a: no other architecture has the instruction, not even later
// ones. Both operands stay in shared memory and the sums in registers, so only the matrix units are busy.
#include "device_kernels.hpp"

#include <cstdint>
#include <type_traits>

namespace benanza::cuda {

namespace {

using namespace group_work;

/// Rows of 128 bytes in shared memory, swizzled by 128 bytes: address, distance between groups of eight rows, swizzle
/// (PTX ISA, "Asynchronous warpgroup-level matrix instructions", matrix descriptor). Addresses are in units of 16
/// bytes.
__device__ std::uint64_t descriptor(const void* tile) {
  constexpr std::uint64_t eight_rows = 8 * row_bytes, swizzle_128 = 1;
  return __cvta_generic_to_shared(tile) >> 4 | (eight_rows >> 4) << 32 | swizzle_128 << 62;
}

#define BENANZA_TEN(tens)                                                                                   \
  "%" #tens "0,%" #tens "1,%" #tens "2,%" #tens "3,%" #tens "4,%" #tens "5,%" #tens "6,%" #tens "7,%" #tens \
  "8,%" #tens "9,"
#define BENANZA_EIGHT(c, i) \
  c(d[i]), c(d[i + 1]), c(d[i + 2]), c(d[i + 3]), c(d[i + 4]), c(d[i + 5]), c(d[i + 6]), c(d[i + 7])
#define BENANZA_THIRTY_TWO(c, i) \
  BENANZA_EIGHT(c, i), BENANZA_EIGHT(c, i + 8), BENANZA_EIGHT(c, i + 16), BENANZA_EIGHT(c, i + 24)
/// d = a * b + d, with d in registers 0 to 127 of the statement, followed by the descriptors; `scales` ends the
/// operands.
#define BENANZA_WGMMA(instruction, c, scales)                                                                       \
  asm volatile(                                                                                                     \
      "wgmma.mma_async.sync.aligned." instruction " {" BENANZA_TEN() BENANZA_TEN(1) BENANZA_TEN(2) BENANZA_TEN(3)   \
          BENANZA_TEN(4) BENANZA_TEN(5) BENANZA_TEN(6) BENANZA_TEN(7) BENANZA_TEN(8) BENANZA_TEN(9) BENANZA_TEN(10) \
              BENANZA_TEN(11) "%120,%121,%122,%123,%124,%125,%126,%127}, %128, %129, 1" scales ";"                  \
      : BENANZA_THIRTY_TWO(c, 0), BENANZA_THIRTY_TWO(c, 32), BENANZA_THIRTY_TWO(c, 64), BENANZA_THIRTY_TWO(c, 96)   \
      : "l"(a), "l"(b))

template <PeakKind kind, class T>
__device__ void multiply_add(T (&d)[128], std::uint64_t a, std::uint64_t b) {
  if constexpr (kind == PeakKind::f16) BENANZA_WGMMA("m64n256k16.f32.f16.f16", "+f", ", 1, 1, 0, 0");
  if constexpr (kind == PeakKind::bf16) BENANZA_WGMMA("m64n256k16.f32.bf16.bf16", "+f", ", 1, 1, 0, 0");
  if constexpr (kind == PeakKind::tf32) BENANZA_WGMMA("m64n256k8.f32.tf32.tf32", "+f", ", 1, 1");
  if constexpr (kind == PeakKind::i8) BENANZA_WGMMA("m64n256k32.s32.s8.s8", "+r", "");
  if constexpr (kind == PeakKind::f8e4m3) BENANZA_WGMMA("m64n256k32.f32.e4m3.e4m3", "+f", ", 1, 1");
  if constexpr (kind == PeakKind::f8e5m2) BENANZA_WGMMA("m64n256k32.f32.e5m2.e5m2", "+f", ", 1, 1");
}

/// Products of the next round start while those of this round run; two groups per multiprocessor hide the rest.
template <PeakKind kind>
__global__ void __launch_bounds__(threads) group_kernel(int repeats, long long* cycles) {
  constexpr int row_cells = row_bytes / sizeof(uint4), cells = (rows + columns) * row_cells;
  __shared__ __align__(1024) uint4 tiles[cells];
  for (int i = static_cast<int>(threadIdx.x); i < cells; i += threads) tiles[i] = {};
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");  // wgmma reads by a different path than these stores use
  __syncthreads();
  const std::uint64_t a = descriptor(tiles), b = descriptor(tiles + rows * row_cells);
  std::conditional_t<kind == PeakKind::i8, int, float> d[128] = {};
  const long long start = clock64();
#pragma unroll 1
  for (int r = 0; r < repeats; ++r) {
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int step = 0; step < steps; ++step)
      multiply_add<kind>(d, a + step * (step_bytes >> 4), b + step * (step_bytes >> 4));
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
  }
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  __syncthreads();
  if (blockIdx.x == 0 && threadIdx.x == 0) *cycles = clock64() - start;
#pragma unroll
  for (const auto sum : d)  // without a read, the sums would be optimised away; they are all 0
    if (sum == 12345) *cycles = 0;
}

using GroupKernel = void (*)(int repeats, long long* cycles);

/// Null for types that the instruction does not multiply.
GroupKernel group_kernel_of(PeakKind kind) {
  switch (kind) {
    case PeakKind::f16: return group_kernel<PeakKind::f16>;
    case PeakKind::bf16: return group_kernel<PeakKind::bf16>;
    case PeakKind::tf32: return group_kernel<PeakKind::tf32>;
    case PeakKind::i8: return group_kernel<PeakKind::i8>;
    case PeakKind::f8e4m3: return group_kernel<PeakKind::f8e4m3>;
    case PeakKind::f8e5m2: return group_kernel<PeakKind::f8e5m2>;
    default: return nullptr;
  }
}

}  // namespace

bool has_group_peak(PeakKind kind) {
  int device = 0, major = 0, minor = 0;
  if (group_kernel_of(kind) == nullptr || cudaGetDevice(&device) != cudaSuccess ||
      cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) != cudaSuccess ||
      cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device) != cudaSuccess)
    return false;
  return major == 9 && minor == 0;
}

double launch_group_peak(PeakKind kind, int processors, int repeats, long long* cycles, cudaStream_t stream) {
  group_kernel_of(kind)<<<processors, threads, 0, stream>>>(repeats, cycles);
  return static_cast<double>(processors) * repeats * flops(kind);
}

}  // namespace benanza::cuda
