// SPDX-License-Identifier: Apache-2.0
// device_names: which of the measured machines are one device of a study.
#pragma once

#include <benanza/results/machine.hpp>

#include <span>
#include <string>
#include <vector>

namespace benanza {

/// The device of each machine. Machines have the same name if they differ only in the processors used, or in which of
/// several equal GPUs they are. If machines of one device name differ in anything else of their identity, the
/// difference follows the name: `AMD EPYC, 4 cores`.
[[nodiscard]] std::vector<std::string> device_names(std::span<const Machine> machines);

}  // namespace benanza
