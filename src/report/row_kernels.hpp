// SPDX-License-Identifier: Apache-2.0
// The kernels of a row, for people and programs:
//
//   volta_scudnn_128x64_relu_interior_nn_v1
//     643 us, 3136x1x1 blocks of 128x1x1, 128 registers, 16.4 kB shared
//     DRAM 131 MB read, 103 MB written; f32 4.62 GFLOP; occupancy 24 %
#pragma once

#include "json.hpp"
#include <benanza/results/kernel_launch.hpp>

#include <iosfwd>
#include <string>
#include <vector>

namespace benanza::report {

/// The second line of this form.
[[nodiscard]] std::string launch_text(const KernelLaunch& kernel);
/// The third line; empty if no counter was read.
[[nodiscard]] std::string counters_text(const KernelLaunch& kernel);
/// Consecutive launches that differ only in their times are one entry, with the mean of these times.
void write_kernels(std::ostream& out, const std::vector<KernelLaunch>& kernels);
[[nodiscard]] format::Json kernels_json(const std::vector<KernelLaunch>& kernels);

}  // namespace benanza::report
