// SPDX-License-Identifier: Apache-2.0
// How a worker says what it would measure with and on: a run without rows, and a line for each backend.
#pragma once

#include <benanza/isolation/worker.hpp>

#include <filesystem>

namespace benanza::bench {

/// Throws EnvironmentError where the folder cannot be written to.
void write_surroundings(const Surroundings& surroundings, const std::filesystem::path& folder);
/// Throws InputError for a folder without them.
[[nodiscard]] Surroundings read_surroundings(const std::filesystem::path& folder);

}  // namespace benanza::bench
