// SPDX-License-Identifier: Apache-2.0
// Hardware counters of each kernel, by CUPTI's Range Profiler API: CUPTI saves the memory that a kernel writes, runs
// the kernel alone once for each group of counters that can be collected together, and restores the memory in between.
#pragma once

#include "counters.hpp"
#include <benanza/plan/backend.hpp>

#include <cstddef>
#include <functional>
#include <span>
#include <variant>

namespace benanza::cuda {

/// Runs the calls, which must be finished when `calls` returns and launch at most `most_kernels`, and counts what their
/// kernels do on the current context's device. Otherwise returns one line with the reason why nothing can be counted.
[[nodiscard]] std::variant<CountedKernels, Unsupported> count_kernels(const std::function<void()>& calls,
                                                                      std::size_t most_kernels,
                                                                      std::span<const KernelMetric> wanted);

}  // namespace benanza::cuda
