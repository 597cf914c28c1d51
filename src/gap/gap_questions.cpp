// SPDX-License-Identifier: Apache-2.0
#include "gap_questions.hpp"

#include "candidates_of_row.hpp"
#include "causes.hpp"
#include "engine_library.hpp"
#include <benanza/model/model_layers.hpp>
#include <benanza/results/expected_time.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace benanza::gap {

namespace {

/// The figure that an engine's median is compared with.
std::optional<Seconds> expected(const Rung& rung) { return rung.median ? rung.median : rung.bound; }

}  // namespace

std::vector<RungRatio> ratios_of(const Analysis& analysis, const Gap& gap) {
  std::vector<RungRatio> result;
  for (std::size_t i = 0; i < rung_count; ++i) {
    const Rung& rung = analysis.rungs[i];
    RungRatio ratio{.rung = static_cast<RungName>(i), .bound = expected(rung)};
    if (ratio.bound && gap.latency && gap.latency->value > 0) {
      ratio.ratio = *ratio.bound / *gap.latency;
      ratio.gap = *gap.latency - *ratio.bound;
      const double of_latency = gap.latency_uncertainty ? *gap.latency_uncertainty / *gap.latency : 0;
      ratio.uncertainty = std::hypot(of_latency, rung.median ? rung.uncertainty : 0);
    }
    result.push_back(ratio);
  }
  return result;
}

ParallelGain parallel_gain(const Analysis& analysis, const Gap& gap) {
  ParallelGain result;
  const auto one = expected(analysis[RungName::library_fused]);
  const auto many = expected(analysis[RungName::library_fused_parallel]);
  if (one && many) result.gain = std::max(Seconds{}, *one - *many);
  if (const auto* part = gap.part(Cause::side_by_side)) result.side_by_side = part->time * -1;
  if (const auto* graph = timed_graph_of(analysis, Form::fused))
    for (const auto& layer : graph->layers) {
      if (time_of(layer).value <= 0) continue;
      if (layer.critical) result.path.push_back(layer.name);
      else ++result.groups_off_path;
    }
  return result;
}

std::vector<FusionGain> fusion_gains(const Analysis& analysis, const ModelLayers& model, const Gap& gap) {
  const TimedGraph* fused = timed_graph_of(analysis, Form::fused);
  const TimedGraph* single = timed_graph_of(analysis, Form::single);
  if (!fused || !single) return {};
  std::map<std::size_t, std::set<std::size_t>> records_of;  // layer of the single form -> records
  for (const auto& record : gap.records)
    if (record.group)
      for (const auto layer : record.layers) records_of[layer].insert(record.record);
  std::map<std::string, FusionGain> by_pattern;
  for (std::size_t i = 0; i < model.fused.layers.size(); ++i) {
    const auto& members = model.fused.layers[i].members;
    Seconds apart{};
    std::size_t with_time = 0;
    std::set<std::size_t> records;
    for (const auto member : members) {
      const Seconds time = time_of(single->layers[member]);
      apart += time;
      if (time.value <= 0) continue;
      ++with_time;
      if (const auto found = records_of.find(member); found != records_of.end())
        records.insert(found->second.begin(), found->second.end());
    }
    const Seconds gain = apart - time_of(fused->layers[i]);
    if (with_time < 2 || fused->layers[i].calls.size() >= with_time || model.fused.layers[i].replaces_any()) continue;
    FusionGain& entry = by_pattern[pattern_of(model.single, members)];
    ++entry.count;
    entry.gain += gain;
    if (records.empty()) ++entry.unknown;
    else if (records.size() == 1) ++entry.done;
    else {
      entry.open += gain;
      entry.nodes.push_back(fused->layers[i].name);
    }
  }
  std::vector<FusionGain> result;
  for (auto& [pattern, entry] : by_pattern) {
    entry.pattern = pattern;
    result.push_back(std::move(entry));
  }
  std::stable_sort(result.begin(), result.end(), [](const FusionGain& a, const FusionGain& b) {
    return a.open.value != b.open.value ? a.open > b.open : a.gain > b.gain;
  });
  return result;
}

std::vector<TypeGain> type_gains(const Analysis& analysis, const std::vector<Analysis>& others) {
  std::vector<TypeGain> result;
  for (const auto& other : others) {
    if (other.type == analysis.type) continue;  // most of the work is the same: recurrent layers have no other type
    TypeGain gain{.type = other.type};
    const auto modelled = [](const Analysis& a) { return a.coverage_fused[Status::modelled]; };
    gain.measured = !other.partial() && modelled(other) <= modelled(analysis) && !other.analytic;
    gain.rung = gain.measured ? common_headline(analysis, other) : RungName::roofline;
    if (!gain.measured && !analysis.ceilings.peaks.contains(other.type)) continue;  // no peak, no claim
    gain.bound = expected(other[gain.rung]);
    gain.compared = expected(analysis[gain.rung]);
    if (gain.measured && gain.bound && gain.compared)
      gain.uncertainty = Seconds{std::hypot(other[gain.rung].uncertainty * gain.bound->value,
                                            analysis[gain.rung].uncertainty * gain.compared->value)};
    result.push_back(gain);
  }
  return result;
}

std::vector<LayoutGain> layout_gains(const Analysis& analysis) {
  std::map<std::string, LayoutGain> by_layout;
  for (const auto& row : analysis.rows) {
    if (row.form != Form::fused) continue;
    const auto is_hot = [](const Measurement& candidate) { return candidate.cache == CacheState::hot; };
    const Measurement* plain = fastest(row, [&](const Measurement& candidate) {
      return is_hot(candidate) && value_of(candidate.algorithm, "src").empty() &&
             value_of(candidate.algorithm, "dst").empty();
    });
    if (!plain) continue;
    std::set<std::string> layouts;
    for (const auto& candidate : row.candidates)
      if (const auto layout = value_of(candidate.algorithm, "src"); !layout.empty()) layouts.emplace(layout);
    for (const auto& layout : layouts) {
      const Measurement* best = fastest(row, [&](const Measurement& candidate) {
        return is_hot(candidate) && value_of(candidate.algorithm, "src") == layout;
      });
      if (!best) continue;
      LayoutGain& gain = by_layout[layout];
      gain.layout = layout;
      ++gain.layers;
      gain.gain += (expected_time(*plain) - expected_time(*best)) * static_cast<double>(row.count);
      if (expected_time(*best) < expected_time(*plain))
        gain.calls.push_back({.signature = row.signature,
                              .plan = best->backend + "/" + best->algorithm,
                              .time = expected_time(*best),
                              .plain = expected_time(*plain)});
    }
  }
  std::vector<LayoutGain> result;
  for (auto& [layout, gain] : by_layout) result.push_back(std::move(gain));
  std::stable_sort(result.begin(), result.end(),
                   [](const LayoutGain& a, const LayoutGain& b) { return a.gain > b.gain; });
  return result;
}

std::vector<LibraryGap> library_gaps(const Analysis& analysis) {
  std::vector<LibraryGap> result;
  for (const auto& row : analysis.rows) {
    if (row.form != Form::fused || !row.chosen || row.floor().value <= 0 || row.median <= row.floor()) continue;
    result.push_back({.signature = row.signature,
                      .backend = row.chosen->backend,
                      .algorithm = row.chosen->algorithm,
                      .count = row.count,
                      .time = row.median,
                      .floor = row.floor()});
  }
  std::stable_sort(result.begin(), result.end(),
                   [](const LibraryGap& a, const LibraryGap& b) { return a.gain() > b.gain(); });
  return result;
}

std::vector<BackendGain> backend_gains(const Analysis& analysis, const EngineProfile& profile, const Gap& gap) {
  std::set<std::string, std::less<>> everywhere{profile.engine};  // libraries of the engine, some of which are backends
  for (const auto& call : profile.calls) everywhere.insert(call.library);
  std::map<std::string, std::set<std::string, std::less<>>> used;  // by signature
  for (const auto& group : gap.groups)
    for (const auto r : group.records) {
      const ProfileRecord& record = profile.records[gap.records[r].record];
      for (const auto& signature : group.signatures) {
        used[signature].emplace(library_of(record));
        used[signature].insert(record.provider);
      }
    }
  std::vector<BackendGain> result;
  for (const auto& row : analysis.rows) {
    if (row.form != Form::fused || !row.chosen) continue;
    const auto is_used = [&](const Measurement& candidate) {
      const auto here = used.find(row.signature);
      return everywhere.contains(candidate.backend) || (here != used.end() && here->second.contains(candidate.backend));
    };
    if (is_used(*row.chosen)) continue;
    const Measurement* own = fastest(row, is_used);
    if (own)
      result.push_back({.signature = row.signature,
                        .from = own->backend,
                        .to = row.chosen->backend,
                        .count = row.count,
                        .from_time = expected_time(*own),
                        .to_time = row.median});
  }
  std::stable_sort(result.begin(), result.end(),
                   [](const BackendGain& a, const BackendGain& b) { return a.gain() > b.gain(); });
  return result;
}

}  // namespace benanza::gap
