// SPDX-License-Identifier: Apache-2.0
// What the driver's management library (NVML) tells of a device while it runs.
#pragma once

#include <map>
#include <string>

namespace benanza::cuda {

/// Clocks, power, temperature, throttle reasons, ECC, MIG, other processes: what is known of them, by the device's
/// UUID. Empty without NVML.
[[nodiscard]] std::map<std::string, std::string> nvml_state(const std::string& uuid);
/// `580.82.07`; empty without NVML.
[[nodiscard]] std::string driver_version();

}  // namespace benanza::cuda
