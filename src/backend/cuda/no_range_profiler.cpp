// SPDX-License-Identifier: Apache-2.0
// Stands in for the Range Profiler API with a toolkit before CUDA 12.6: no counters.
#include "range_profiler.hpp"

namespace benanza::cuda {

std::variant<CountedKernels, Unsupported> count_kernels(const std::function<void()>&, std::size_t,
                                                        std::span<const KernelMetric>) {
  return Unsupported{"this program was built with a CUDA toolkit before 12.6, which has no Range Profiler"};
}

}  // namespace benanza::cuda
