// SPDX-License-Identifier: Apache-2.0
// Which of a chip's hardware metrics report what a kernel moved and computed. Their names differ from chip to chip, so
// they are chosen from those that the chip offers.
#pragma once

#include <benanza/plan/kernel_metric.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace benanza::cuda {

/// A metric and the quantity that its value is added to.
struct Counter {
  enum class Kind : std::uint8_t { dram_read, dram_written, flops, occupancy };

  Kind kind = Kind::flops;
  std::string metric{};  ///< with its roll-up: `dram__bytes_read.sum`
  KernelFlops each{};    ///< used by `flops`: the type, and the number of operations that a count of 1 represents
};

/// The counters for the wanted metrics, chosen from those that the chip offers (names without roll-up).
///
/// Instructions of ordinary arithmetic count as in Nsight Compute's rooflines: 1 for an addition or a multiplication, 2
/// for a multiply-add, and twice as much in half precision, whose instructions hold pairs of numbers (the few that hold
/// a single one are counted twice). Tensor cores count their operations themselves.
[[nodiscard]] std::vector<Counter> counters_among(std::span<const std::string> offered,
                                                  std::span<const KernelMetric> wanted);

/// Stores the values of a kernel, one for each counter. If a value is not a number, its quantity stays absent.
void add_counters(KernelLaunch& kernel, std::span<const Counter> counters, std::span<const double> values);

/// The result of a count.
struct CountedKernels {
  std::vector<Counter> counters{};
  std::vector<std::vector<double>> values{};  ///< rows: kernels in the order of launches; columns: counters
};

/// Adds the counts to records of the same calls. Returns one line if the kernels differ, in which case nothing is
/// added; empty otherwise.
[[nodiscard]] std::string add_counted(std::span<KernelLaunch> launches, const CountedKernels& counted);

}  // namespace benanza::cuda
