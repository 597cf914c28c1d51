// SPDX-License-Identifier: Apache-2.0
// What the subcommands of `benanza db` have in common.
#pragma once

#include <benanza/results/results.hpp>

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace benanza::tool {

/// The places, or the user's database if there are none.
[[nodiscard]] std::vector<std::string> places_or_default(const std::vector<std::string>& places);
/// All results files of these places; the warnings name those that cannot be read. Throws InputError for a place that
/// does not exist.
[[nodiscard]] ResultDatabase read_places(const std::vector<std::string>& places);
/// `--tolerance PERCENT`.
void add_tolerance(CLI::App& command, double& percent);
void add_db_diff(CLI::App& db, int& exit_code);

}  // namespace benanza::tool
