// SPDX-License-Identifier: Apache-2.0
// How a worker reports with and on what it would measure: a run without rows, and one line per backend.
#pragma once

#include "worker.hpp"

#include <filesystem>

namespace benanza::isolation {

/// Throws EnvironmentError if the folder cannot be written to.
void write_surroundings(const Surroundings& surroundings, const std::filesystem::path& folder);
/// Throws InputError for a folder without surroundings.
[[nodiscard]] Surroundings read_surroundings(const std::filesystem::path& folder);

}  // namespace benanza::isolation
