// SPDX-License-Identifier: Apache-2.0
#include "host.hpp"

#include "work.hpp"

namespace benanza::sampling {

Window Host::window(Work& work, std::int64_t calls) {
  work.announce(calls);
  const Seconds start = now();
  for (std::int64_t i = 0; i < calls; ++i) work.call();
  return {.time = (now() - start) / static_cast<double>(calls)};
}

std::optional<KernelTime> Host::kernel_time(Work&) { return std::nullopt; }

KernelRecords Host::kernels(Work&, std::span<const KernelMetric>) {
  return {.missing = "plans of the processor launch none"};
}

}  // namespace benanza::sampling
