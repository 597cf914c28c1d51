// SPDX-License-Identifier: Apache-2.0
// The arithmetic of the kernels that measure peaks, defined once for the kernels, for the count of their FLOPs and for
// its test.
#pragma once

namespace benanza::cuda {

/// The kinds of multiply-adds that peaks are measured with.
enum class PeakKind { f32, f64, f16, bf16, tf32, i8, f8e4m3, f8e5m2 };

/// Depth of the product of one instruction of the matrix units: 32 bytes of each row.
constexpr int product_depth(PeakKind kind) {
  return kind == PeakKind::tf32 ? 8 : kind == PeakKind::f16 || kind == PeakKind::bf16 ? 16 : 32;
}

/// Multiply-adds of single threads.
namespace fma_work {
inline constexpr int threads = 1024, chains = 16;
/// FLOPs of one multiprocessor for each iteration of the kernel's loop.
constexpr double flops() { return 2.0 * threads * chains; }
}  // namespace fma_work

/// Products of warps: m16n8k16 of f16 and bf16, m16n8k8 of tf32, m16n8k32 of i8 and f8 (PTX ISA, "mma").
namespace mma_work {
inline constexpr int threads = 1024, warps = threads / 32, chains = 8, rows = 16, columns = 8;
constexpr double flops(PeakKind kind) { return 2.0 * rows * columns * product_depth(kind) * chains * warps; }
}  // namespace mma_work

/// Products of warp groups, 128 threads each: m64n256k16 of f16 and bf16, m64n256k8 of tf32, m64n256k32 of i8 and f8
/// (PTX ISA, "wgmma.mma_async"). Operands are rows of 128 bytes in shared memory; an instruction takes 32 bytes of each
/// row.
namespace group_work {
inline constexpr int threads = 256, groups = threads / 128, rows = 64, columns = 256;
inline constexpr int row_bytes = 128, step_bytes = 32, steps = row_bytes / step_bytes;
constexpr double flops(PeakKind kind) { return 2.0 * rows * columns * product_depth(kind) * steps * groups; }
}  // namespace group_work

}  // namespace benanza::cuda
