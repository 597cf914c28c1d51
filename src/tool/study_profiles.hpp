// SPDX-License-Identifier: Apache-2.0
// The profiles, API logs and printed tables of a study's folder.
#pragma once

#include "stored.hpp"
#include "study/profile_folder.hpp"
#include <benanza/bounds/analysis.hpp>
#include <benanza/study/study.hpp>
#include <benanza/study/study2019.hpp>

#include <set>
#include <string>
#include <vector>

namespace benanza {
struct ModelLayers;
}

namespace benanza::tool {

/// A model's analysis on a device, and what it belongs to.
struct Analyzed {
  const ModelLayers* model = nullptr;
  Analysis analysis{};   ///< with candidates
  std::string device{};  ///< as the study names it
};

/// Compares the runs of a folder with own results: latencies, and the cost of the choice of algorithms, if a log shows
/// it. What cannot be read becomes a line of `notes`.
[[nodiscard]] std::vector<StudyLatency> latencies_of(const ProfileFolder& folder, const std::vector<Analyzed>& analyzed,
                                                     std::vector<std::string>& notes);

/// The same with databases of 2019.
[[nodiscard]] std::vector<StudyLatency> latencies_2019(const ProfileFolder& folder, const Data2019& data,
                                                       std::vector<std::string>& notes);

/// Adds the printed tables of a folder. `devices`: those of the study; if there is only one, it is the device of a
/// table that names none.
void add_printed_tables(const ProfileFolder& folder, const std::set<std::string>& devices, Data2019& data,
                        std::vector<std::string>& notes);

}  // namespace benanza::tool
