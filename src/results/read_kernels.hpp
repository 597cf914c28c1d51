// SPDX-License-Identifier: Apache-2.0
// Reads the kernels of a row in a results file.
#pragma once

#include <benanza/results/kernel_launch.hpp>

#include <simdjson.h>

#include <string>
#include <vector>

namespace benanza::results {

/// The array under `kernels`. `wrong` gets a message if a kernel lacks a field or has a value that cannot be true.
[[nodiscard]] std::vector<KernelLaunch> read_kernels(simdjson::ondemand::value& value, std::string& wrong);

}  // namespace benanza::results
