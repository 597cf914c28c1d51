// SPDX-License-Identifier: Apache-2.0
// Activity records of CUPTI: the time of each kernel, copy and fill by the device's own clock.
#pragma once

#include <benanza/plan/backend.hpp>
#include <benanza/plan/device.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <variant>
#include <vector>

namespace benanza::cuda {

/// Records of the work of some calls.
struct Activities {
  struct Kind {
    std::int64_t records = 0;
    Seconds time{};
  };
  std::array<Kind, 3> kinds{};  ///< kernels, copies, fills
};

/// The device's records of these calls, which must be finished when `calls` returns. Empty if CUPTI is missing, if the
/// driver allows it to administrators only, or if another profiler is active. The first call of a process loads CUPTI,
/// which then stays loaded: cuptiFinalize races with calls in progress. So CUPTI is not used before the last session of
/// a process has its times (`MeasureOptions::activity_check`).
[[nodiscard]] std::optional<Activities> activities_of(const std::function<void()>& calls);

/// The kernels among these records, ordered by start time, without copies and fills; or the reason why there are none.
/// The conditions are the same as for `activities_of`.
[[nodiscard]] std::variant<std::vector<KernelLaunch>, Unsupported> launches_of(const std::function<void()>& calls);

/// The time in these records, and how much of it records of empty kernels, copies and fills would take: separately for
/// each kind, since a record of an empty kernel lasts a microsecond.
[[nodiscard]] KernelTime kernel_time_of(const Activities& activities, const Activities& empty);

}  // namespace benanza::cuda
