// SPDX-License-Identifier: Apache-2.0
// The profiles, API logs and printed tables of a study's folder, compared with data of 2019.
#pragma once

#include "study/profile_folder.hpp"
#include <benanza/original2019/study.hpp>

#include <string>
#include <vector>

namespace benanza::original2019 {

/// Latencies of the runs of a folder, and the cost of their choice of algorithms by the databases, if a log shows it.
/// What cannot be read becomes a line of `notes`.
[[nodiscard]] std::vector<StudyLatency> latencies_of(const ProfileFolder& folder, const Data& data,
                                                     std::vector<std::string>& notes);

/// Adds the printed tables of a folder. If all data are of one device, that is the device of a table that names none.
void add_printed_tables(const ProfileFolder& folder, Data& data, std::vector<std::string>& notes);

}  // namespace benanza::original2019
