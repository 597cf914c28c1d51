// SPDX-License-Identifier: Apache-2.0
// Activity records of CUPTI: what each kernel, copy and fill took by the device's own clock.
#pragma once

#include <benanza/model/units.hpp>

#include <functional>
#include <optional>

namespace benanza::cuda {

/// Sum over the work of these calls, which have to be finished when `calls` returns. Nothing where CUPTI is missing,
/// the driver allows it to administrators only, or another profiler is at work.
[[nodiscard]] std::optional<Seconds> activity_time(const std::function<void()>& calls);

}  // namespace benanza::cuda
