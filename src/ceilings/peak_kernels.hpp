// SPDX-License-Identifier: Apache-2.0
// PeakKernels: the loops behind the ceilings, compiled once for each vector extension (peak_*.cpp) and chosen at run
// time.
#pragma once

#include <benanza/model/data_type.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace benanza::ceilings {

/// How a stream of memory is traversed. `source` and `target` areas are cut into `streams` parts that are traversed
/// side by side.
enum class Traffic { read, write, copy, triad };

struct PeakKernels {
  const char* isa = "";
  /// Independent multiply-adds on registers only, `repeats` times; returns the number of FLOPs.
  double (*multiply_add)(std::int64_t repeats) = nullptr;
  double (*multiply_add_double)(std::int64_t repeats) = nullptr;
  /// Traverses `bytes` of each area once (a multiple of 16 x 256): reads a, writes y, y = a, or y = a + s b. Returns a
  /// value that depends on what was read.
  float (*walk)(Traffic traffic, int streams, bool prefetch, bool non_temporal, const std::byte* a, const std::byte* b,
                std::byte* y, std::size_t bytes) = nullptr;
};

extern const PeakKernels peak_kernels_baseline;
#if defined(__x86_64__)
extern const PeakKernels peak_kernels_avx2;
extern const PeakKernels peak_kernels_avx512;
#endif

/// Independent multiply-adds in one element type, on registers only.
struct MultiplyAdd {
  DataType type = DataType::f32;
  std::string name{};  ///< instruction and extension: `fma:avx2`
  /// Returns the number of FLOPs; 0 if the system does not let the process use the registers.
  double (*run)(std::int64_t repeats) = nullptr;
};
/// The loops for a processor with this instruction set (Machine::isa): f32 and f64 first, then the other types that it
/// multiplies. With AMX, a type may have two loops, one on vectors and one on tiles. On x86, 16-bit types for which it
/// has no instructions have the loop of f32.
[[nodiscard]] std::vector<MultiplyAdd> multiply_adds(std::string_view isa);
/// The multiply-adds on AMX's tiles: i8 and bf16.
[[nodiscard]] std::vector<MultiplyAdd> tile_multiply_adds();

/// The widest kernels that this processor supports.
[[nodiscard]] const PeakKernels& peak_kernels();

/// Dependent integer additions, one per cycle on every processor of the last decades; returns the cycles.
[[nodiscard]] double count_cycles(std::int64_t repeats);

}  // namespace benanza::ceilings
