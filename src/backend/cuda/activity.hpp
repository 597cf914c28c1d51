// SPDX-License-Identifier: Apache-2.0
// Activity records of CUPTI: what each kernel, copy and fill took by the device's own clock.
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

/// Records of some calls' work.
struct Activities {
  struct Kind {
    std::int64_t records = 0;
    Seconds time{};
  };
  std::array<Kind, 3> kinds{};  ///< kernels, copies, fills
};

/// The device's records of these calls, which have to be finished when `calls` returns. Nothing where CUPTI is missing,
/// the driver allows it to administrators only, or another profiler is at work. The first call of a process loads
/// CUPTI, which then stays: cuptiFinalize races with calls that are under way. So nothing is asked before the last
/// session of a process has its times (`MeasureOptions::referee`).
[[nodiscard]] std::optional<Activities> activities_of(const std::function<void()>& calls);

/// The kernels among these records, in the order of their starts, copies and fills left out; or why there are none. As
/// `activities_of` otherwise.
[[nodiscard]] std::variant<std::vector<KernelLaunch>, Unsupported> launches_of(const std::function<void()>& calls);

/// What these records tell beside those of empty kernels, copies and fills: kind by kind, since a record of an empty
/// kernel lasts a microsecond.
[[nodiscard]] KernelTime kernel_time_of(const Activities& activities, const Activities& empty);

}  // namespace benanza::cuda
