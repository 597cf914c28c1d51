// SPDX-License-Identifier: Apache-2.0
// Request: the task of a worker, as files in its folder: one line per option, layer and crashing plan, and rows in the
// form of results.
#pragma once

#include <benanza/measure/measure.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace benanza::isolation {

struct Request {
  bool measures = true;  ///< otherwise, the worker describes its surroundings
  std::vector<std::string> backends{};
  std::vector<measure::Wanted> layers{};
  std::string filter{};
  /// Threads, caches, budget, ceilings, crashing plans and earlier rows; the rest does not leave its process.
  measure::MeasureOptions options{};
};

/// Throws EnvironmentError if the folder cannot be written to.
void write_request(const Request& request, const std::filesystem::path& folder);
/// Throws InputError for a folder without a request, or with a request of another version of Benanza.
[[nodiscard]] Request read_request(const std::filesystem::path& folder);

/// The file to which a worker writes its rows, every few seconds and at its end.
[[nodiscard]] std::filesystem::path run_of(const std::filesystem::path& folder);

}  // namespace benanza::isolation
