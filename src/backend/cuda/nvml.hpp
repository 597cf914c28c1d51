// SPDX-License-Identifier: Apache-2.0
// What the driver's management library (NVML) reports about a device while it runs.
#pragma once

#include <map>
#include <string>

namespace benanza::cuda {

/// Clocks, power, temperature, throttle reasons, ECC, MIG, other processes, if known, for the device with this
/// UUID. Empty without NVML.
[[nodiscard]] std::map<std::string, std::string> nvml_state(const std::string& uuid);
/// `580.82.07`; empty without NVML.
[[nodiscard]] std::string driver_version();

}  // namespace benanza::cuda
