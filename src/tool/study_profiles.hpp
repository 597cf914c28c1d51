// SPDX-License-Identifier: Apache-2.0
// The profiles, API logs and printed tables of a study's folder.
#pragma once

#include "stored.hpp"
#include <benanza/bounds/analysis.hpp>
#include <benanza/study/profile_folder.hpp>
#include <benanza/study/study.hpp>
#include <benanza/study/study2019.hpp>

#include <set>
#include <string>
#include <vector>

namespace benanza {
struct ModelLayers;
}

namespace benanza::tool {

/// A model's analysis on a device, with what it is of.
struct Analyzed {
  const ModelLayers* model = nullptr;
  Analysis analysis{};   ///< with candidates
  std::string device{};  ///< of the study
};

/// The runs of a folder against own results: latencies, and what the choice of algorithms costs where a log tells it.
/// What cannot be read is a line of `notes`.
[[nodiscard]] std::vector<StudyLatency> latencies_of(const ProfileFolder& folder, const std::vector<Analyzed>& analyzed,
                                                     std::vector<std::string>& notes);

/// The same against databases of 2019.
[[nodiscard]] std::vector<StudyLatency> latencies_2019(const ProfileFolder& folder, const Data2019& data,
                                                       std::vector<std::string>& notes);

/// Adds the printed tables of a folder. `devices`: those of the study, of which the only one is that of a table whose
/// device nobody says.
void add_printed_tables(const ProfileFolder& folder, const std::set<std::string>& devices, Data2019& data,
                        std::vector<std::string>& notes);

}  // namespace benanza::tool
