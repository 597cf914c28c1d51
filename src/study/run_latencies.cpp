// SPDX-License-Identifier: Apache-2.0
#include "run_latencies.hpp"

#include <benanza/error.hpp>
#include <benanza/gap/gap.hpp>
#include <benanza/model/model_layers.hpp>
#include <benanza/profile/engine_profile.hpp>
#include <benanza/study/make_study.hpp>

#include <algorithm>
#include <cmath>

namespace benanza {

namespace {

/// What a profile says about its run in addition to algorithms.
StudyLatency latency_of_run(const ProfiledRun& run, const EngineProfile& profile, std::vector<std::string>& notes) {
  StudyLatency made{.model = run.model,
                    .device = !run.device.empty() ? run.device : profile.device,
                    .framework = !run.framework.empty() ? run.framework : profile.engine,
                    .batch = run.batch,
                    .type = run.type,
                    .time = latency_of(profile),
                    .file = run.files.front().string()};
  if (!profile.latencies.empty()) {
    made.lowest = *std::min_element(profile.latencies.begin(), profile.latencies.end());
    made.highest = *std::max_element(profile.latencies.begin(), profile.latencies.end());
  } else if (profile.unreadable > 0) {
    made.time.reset();
    notes.push_back(made.file + ": no latency of whole passes, and records that cannot be read: their sum is not one");
  } else if (made.time) {
    notes.push_back(made.file + ": no latency of whole passes: the sum of its records stands for it");
  }
  if (made.framework.empty()) made.framework = profile.format;
  return made;
}

}  // namespace

bool same_device(const std::string& a, const std::string& b) {
  return a.empty() || b.empty() || device_name(a) == device_name(b);
}

std::vector<StudyLatency> read_runs(const ProfileFolder& folder, const AddChoices& add_choices,
                                    std::vector<std::string>& notes) {
  std::vector<StudyLatency> latencies;
  for (const auto& run : folder.runs) {
    try {
      const EngineProfile profile = read_profile(run.files);
      StudyLatency latency = latency_of_run(run, profile, notes);
      add_choices(profile, latency);
      notes.insert(notes.end(), profile.warnings.begin(), profile.warnings.end());
      if (latency.time || latency.chosen_over_best) latencies.push_back(std::move(latency));
      else notes.push_back(latency.file + ": has neither a time nor a call that the results know");
    } catch (const InputError& error) {
      notes.push_back("not read: " + std::string(error.what()));
    }
  }
  return latencies;
}

std::vector<StudyLatency> latencies_of(const ProfileFolder& folder, const std::vector<Analyzed>& analyzed,
                                       std::vector<std::string>& notes) {
  std::set<std::string> devices;
  for (const auto& one : analyzed) devices.insert(one.device);
  const auto add_choices = [&](const EngineProfile& profile, StudyLatency& latency) {
    if (latency.type || profile.calls.empty()) return;
    if (devices.size() > 1 && latency.device.empty()) {
      notes.push_back(latency.file + ": which device? The results are of several; a manifest.csv can say it");
      return;
    }
    for (const auto& one : analyzed) {
      const Analysis& analysis = one.analysis;
      if (analysis.model != latency.model || analysis.batch != latency.batch ||
          !same_device(latency.device, one.device))
        continue;
      Seconds chosen{}, best{};
      for (const auto& choice : compare(analysis, *one.model, profile).algorithms) {
        if (!choice.chosen_time || !choice.best_time) continue;
        chosen += *choice.chosen_time * static_cast<double>(choice.count);
        best += *choice.best_time * static_cast<double>(choice.count);
      }
      if (best.value <= 0) continue;
      latency.chosen_over_best = chosen / best;
      latency.device = one.device;
      return;
    }
  };
  return read_runs(folder, add_choices, notes);
}

}  // namespace benanza
