// SPDX-License-Identifier: Apache-2.0
// The latencies of the runs in a study's folder of profiles and API logs, and what their choice of algorithms costs.
#pragma once

#include "profile_folder.hpp"
#include <benanza/bounds/analysis.hpp>
#include <benanza/profile/engine_profile.hpp>
#include <benanza/study/study.hpp>

#include <functional>
#include <string>
#include <vector>

namespace benanza {

struct ModelLayers;

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

/// Adds the cost of the choice of algorithms to a latency.
using AddChoices = std::function<void(const EngineProfile&, StudyLatency&)>;

/// The same with another source of that cost.
[[nodiscard]] std::vector<StudyLatency> read_runs(const ProfileFolder& folder, const AddChoices& add_choices,
                                                  std::vector<std::string>& notes);

/// Whether two names may be of one device; an empty name may be of any.
[[nodiscard]] bool same_device(const std::string& a, const std::string& b);

}  // namespace benanza
