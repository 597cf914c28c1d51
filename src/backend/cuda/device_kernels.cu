// SPDX-License-Identifier: Apache-2.0
#include "device_kernels.hpp"

namespace benanza::cuda {

namespace {

__device__ unsigned long long global_ns() {
  unsigned long long time;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
  return time;
}

__device__ void take(ClockSample& sample) {
  const unsigned long long ns = global_ns();
  const long long cycles = clock64();
  unsigned processor;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(processor));
  sample.cycles = cycles;
  sample.processor = processor;
  sample.ns = ns;
}

__global__ void __launch_bounds__(1) block_kernel(BlockState* state, unsigned long long time_out_ns) {
  const unsigned long long start = global_ns();
  while (state->go == 0) {
    if (global_ns() - start > time_out_ns) {
      state->timed_out = 1;
      break;
    }
  }
  take(state->released);
  __threadfence_system();
}

__global__ void __launch_bounds__(1) clock_kernel(ClockSample* sample) {
  take(*sample);
  __threadfence_system();
}

__global__ void __launch_bounds__(1) empty_kernel() {}

/// The compiler must not remove results that are never read: they are stored under a condition that never holds.
template <class T>
__device__ void keep(T value, long long* cycles) {
  if (value == static_cast<T>(0x7FFFFF00)) *cycles = 1LL << 40;
}

template <class T>
__global__ void __launch_bounds__(fma_work::threads) fma_kernel(int repeats, T factor, long long* cycles) {
  constexpr int chains = fma_work::chains;
  T sums[chains];
  for (int i = 0; i < chains; ++i) sums[i] = static_cast<T>(threadIdx.x + i);
  const long long start = clock64();
  for (int r = 0; r < repeats; ++r) {
#pragma unroll
    for (int i = 0; i < chains; ++i) sums[i] = sums[i] * factor + factor;
  }
  T sum = 0;
  for (int i = 0; i < chains; ++i) sum += sums[i];
  __syncthreads();
  if (blockIdx.x == 0 && threadIdx.x == 0) *cycles = clock64() - start;
  keep(sum, cycles);
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
#define BENANZA_HAS_MMA 1
#else
#define BENANZA_HAS_MMA 0
#endif
#define BENANZA_TOOLKIT_HAS_MMA_F8 \
  (__CUDACC_VER_MAJOR__ > 12 || (__CUDACC_VER_MAJOR__ == 12 && __CUDACC_VER_MINOR__ >= 4))
#if BENANZA_TOOLKIT_HAS_MMA_F8 && (!defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 890)
#define BENANZA_HAS_MMA_F8 1
#else
#define BENANZA_HAS_MMA_F8 0
#endif

/// One mma.sync on registers (PTX ISA, "Warp-level matrix instructions"): m16n8k16 of f16 and bf16, m16n8k8 of tf32,
/// m16n8k32 of i8 and f8.
template <PeakKind kind>
__device__ void multiply_add(unsigned (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
#if BENANZA_HAS_MMA
#define BENANZA_MMA(shape, types)                                                                                   \
  asm volatile("mma.sync.aligned." shape ".row.col." types " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};" \
               : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])                                                     \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))
#define BENANZA_MMA_F(shape, types)                                                                                 \
  asm volatile("mma.sync.aligned." shape ".row.col." types " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};" \
               : "+f"(f[0]), "+f"(f[1]), "+f"(f[2]), "+f"(f[3])                                                     \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))
  if constexpr (kind == PeakKind::i8) {
    BENANZA_MMA("m16n8k32", "s32.s8.s8.s32");
  } else {
    float(&f)[4] = reinterpret_cast<float(&)[4]>(d);
    if constexpr (kind == PeakKind::f16) BENANZA_MMA_F("m16n8k16", "f32.f16.f16.f32");
    if constexpr (kind == PeakKind::bf16) BENANZA_MMA_F("m16n8k16", "f32.bf16.bf16.f32");
    if constexpr (kind == PeakKind::tf32) BENANZA_MMA_F("m16n8k8", "f32.tf32.tf32.f32");
#if BENANZA_HAS_MMA_F8
    if constexpr (kind == PeakKind::f8e4m3) BENANZA_MMA_F("m16n8k32", "f32.e4m3.e4m3.f32");
    if constexpr (kind == PeakKind::f8e5m2) BENANZA_MMA_F("m16n8k32", "f32.e5m2.e5m2.f32");
#endif
  }
#undef BENANZA_MMA
#undef BENANZA_MMA_F
#else
  d[0] += a[0] * b[0];
#endif
}

template <PeakKind kind>
__global__ void __launch_bounds__(mma_work::threads) mma_kernel(int repeats, long long* cycles) {
  constexpr int chains = mma_work::chains;
  unsigned d[chains][4] = {}, a[4], b[2];
  for (int i = 0; i < 4; ++i) a[i] = threadIdx.x * 4 + i;
  for (int i = 0; i < 2; ++i) b[i] = threadIdx.x * 2 + i;
  const long long start = clock64();
  for (int r = 0; r < repeats; ++r) {
#pragma unroll
    for (int i = 0; i < chains; ++i) multiply_add<kind>(d[i], a, b);
  }
  unsigned sum = 0;
  for (int i = 0; i < chains; ++i) sum += d[i][0] ^ d[i][1] ^ d[i][2] ^ d[i][3];
  __syncthreads();
  if (blockIdx.x == 0 && threadIdx.x == 0) *cycles = clock64() - start;
  keep(sum, cycles);
}

__device__ float4 plus(float4 x, float4 y) { return {x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w}; }

constexpr int walk_threads = 256;

/// Four independent accesses per thread are in flight at a time.
template <Traffic traffic>
__global__ void __launch_bounds__(walk_threads) walk_kernel(const float4* __restrict__ a, const float4* __restrict__ b,
                                                            float4* __restrict__ result, std::size_t count) {
  constexpr std::size_t unroll = 4;
  const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
  [[maybe_unused]] float4 sum{};
  std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  for (; i + (unroll - 1) * step < count; i += unroll * step) {
    float4 values[unroll] = {};
#pragma unroll
    for (std::size_t k = 0; k < unroll; ++k) {
      if constexpr (traffic != Traffic::write) values[k] = a[i + k * step];
      if constexpr (traffic == Traffic::triad) values[k] = plus(values[k], b[i + k * step]);
    }
#pragma unroll
    for (std::size_t k = 0; k < unroll; ++k) {
      if constexpr (traffic == Traffic::read) sum = plus(sum, values[k]);
      else result[i + k * step] = values[k];
    }
  }
  if constexpr (traffic == Traffic::read)
    if (sum.x + sum.y + sum.z + sum.w == -12345.0F) result[0] = sum;
}

}  // namespace

void launch_block(BlockState* state, unsigned long long time_out_ns, cudaStream_t stream) {
  block_kernel<<<1, 1, 0, stream>>>(state, time_out_ns);
}

void launch_clock(ClockSample* sample, cudaStream_t stream) { clock_kernel<<<1, 1, 0, stream>>>(sample); }

void launch_empty(cudaStream_t stream) { empty_kernel<<<1, 1, 0, stream>>>(); }

namespace {

using MmaKernel = void (*)(int repeats, long long* cycles);

/// Null for kinds that do not use tensor cores.
MmaKernel mma_kernel_of(PeakKind kind) {
  switch (kind) {
    case PeakKind::f16: return mma_kernel<PeakKind::f16>;
    case PeakKind::bf16: return mma_kernel<PeakKind::bf16>;
    case PeakKind::tf32: return mma_kernel<PeakKind::tf32>;
    case PeakKind::i8: return mma_kernel<PeakKind::i8>;
    case PeakKind::f8e4m3: return mma_kernel<PeakKind::f8e4m3>;
    case PeakKind::f8e5m2: return mma_kernel<PeakKind::f8e5m2>;
    default: return nullptr;
  }
}
bool is_f8(PeakKind kind) { return kind == PeakKind::f8e4m3 || kind == PeakKind::f8e5m2; }

}  // namespace

bool has_peak(PeakKind kind) {
  const MmaKernel kernel = mma_kernel_of(kind);
  if (kernel == nullptr) return true;
  if (is_f8(kind) && !BENANZA_TOOLKIT_HAS_MMA_F8) return false;
  // Depends on the code that is loaded: a newer device may run an older device's code, which lacks the instruction.
  cudaFuncAttributes code{};
  return cudaFuncGetAttributes(&code, kernel) == cudaSuccess && code.ptxVersion >= (is_f8(kind) ? 89 : 80);
}

double launch_peak(PeakKind kind, int processors, int repeats, long long* cycles, cudaStream_t stream) {
  const double calls = static_cast<double>(processors) * repeats;
  if (kind == PeakKind::f32 || kind == PeakKind::f64) {
    constexpr int threads = fma_work::threads;
    if (kind == PeakKind::f32) fma_kernel<float><<<processors, threads, 0, stream>>>(repeats, 0.999F, cycles);
    else fma_kernel<double><<<processors, threads, 0, stream>>>(repeats, 0.999, cycles);
    return calls * fma_work::flops();
  }
  mma_kernel_of(kind)<<<processors, mma_work::threads, 0, stream>>>(repeats, cycles);
  return calls * mma_work::flops(kind);
}

double launch_walk(Traffic traffic, const void* a, const void* b, void* result, std::size_t bytes, int blocks,
                   cudaStream_t stream) {
  constexpr int threads = walk_threads, unroll = 4;
  const auto* x = static_cast<const float4*>(a);
  const auto* y = static_cast<const float4*>(b);
  auto* z = static_cast<float4*>(result);
  const std::size_t whole = static_cast<std::size_t>(blocks) * threads * unroll;  // every thread handles an equal share
  const std::size_t count = bytes / sizeof(float4) / whole * whole;
  switch (traffic) {
    case Traffic::read: walk_kernel<Traffic::read><<<blocks, threads, 0, stream>>>(x, y, z, count); break;
    case Traffic::write: walk_kernel<Traffic::write><<<blocks, threads, 0, stream>>>(x, y, z, count); break;
    case Traffic::copy: walk_kernel<Traffic::copy><<<blocks, threads, 0, stream>>>(x, y, z, count); break;
    case Traffic::triad: walk_kernel<Traffic::triad><<<blocks, threads, 0, stream>>>(x, y, z, count); break;
  }
  const double areas = traffic == Traffic::triad ? 3 : traffic == Traffic::copy ? 2 : 1;
  return areas * static_cast<double>(count * sizeof(float4));
}

}  // namespace benanza::cuda
