// SPDX-License-Identifier: Apache-2.0
// Which of a chip's hardware metrics tell what a kernel moved and computed. Their names differ from chip to chip, so
// that they are chosen among those that the chip offers.
#pragma once

#include <benanza/plan/kernel_metric.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace benanza::cuda {

/// A metric, and what its value is added to.
struct Counter {
  enum class Kind : std::uint8_t { dram_read, dram_written, flops, occupancy };

  Kind kind = Kind::flops;
  std::string metric{};  ///< with its roll-up: `dram__bytes_read.sum`
  KernelFlops each{};    ///< used by `flops`: the type, and the operations that a count of 1 stands for
};

/// The counters of the wanted metrics, of those that the chip offers (names without roll-up).
///
/// Instructions of ordinary arithmetic count as Nsight Compute's rooflines count them: 1 for an addition or a
/// multiplication, 2 for a multiply-add, both twice in half precision, whose instructions hold pairs of numbers (the
/// few that hold a single one are counted twice). Tensor cores count their operations themselves.
[[nodiscard]] std::vector<Counter> counters_among(std::span<const std::string> offered,
                                                  std::span<const KernelMetric> wanted);

/// Notes the values of a kernel, one for each counter. A value that is not a number leaves what it belongs to absent.
void add_counters(KernelLaunch& kernel, std::span<const Counter> counters, std::span<const double> values);

/// What was counted.
struct CountedKernels {
  std::vector<Counter> counters{};
  std::vector<std::vector<double>> values{};  ///< rows: kernels in the order of launches; columns: counters
};

/// Adds what was counted to records of the same calls. One line if they are not of the same kernels, in which case
/// nothing is added; empty otherwise.
[[nodiscard]] std::string add_counted(std::span<KernelLaunch> launches, const CountedKernels& counted);

}  // namespace benanza::cuda
