// SPDX-License-Identifier: Apache-2.0
// Machine file: the declared peaks of a machine that is not available, for its analytic rungs. Declared figures come
// from the vendor and are not measured: a report of bounds from them says so, and each figure has its source.
//
//   { "schema": 1,
//     "device": "NVIDIA T4",
//     "peaks":   { "f32": { "flops_per_s": 8.1e12, "source": "NVIDIA T4 datasheet" } },
//     "memory":  { "bytes": 17179869184, "bytes_per_s": 320e9, "source": "..." },
//     "on_chip": { "L2": { "bytes": 4194304, "source": "..." }, "registers": { "bytes": 10485760, "source": "..." } } }
#pragma once

#include <benanza/results/results.hpp>

#include <filesystem>

namespace benanza {

/// A run without rows: its ceilings are the figures that the file declares, each with its source as the algorithm, at
/// one thread. All of `on_chip` together may hold data in front of the memory. Throws InputError with file and key for
/// a file that is not such a document, an unknown key or type, a number that is not positive, or a figure without a
/// source.
[[nodiscard]] Run read_machine_file(const std::filesystem::path& file);

}  // namespace benanza
