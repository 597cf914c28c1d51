// SPDX-License-Identifier: Apache-2.0
#include "advice.hpp"
#include "assumptions.hpp"
#include "causes.hpp"
#include "engine_library.hpp"
#include "gap_questions.hpp"
#include "joint.hpp"
#include "match.hpp"
#include "phases.hpp"
#include "record_times.hpp"
#include <benanza/gap/gap.hpp>
#include <benanza/model/model_layers.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace benanza {

namespace {

using namespace gap;

std::string ms_text(Seconds time) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g ms", time.value * 1e3);
  return text;
}

std::optional<Seconds> expected(const Rung& rung) { return rung.median ? rung.median : rung.bound; }

std::string disturbed_text(const Gap& gap) {
  char spread[16];
  std::snprintf(spread, sizeof spread, "%.2f", *gap.p90 / *gap.p10);
  return "the passes differ (p90 is " + std::string(spread) +
         " times p10): a busy machine, or an engine whose time varies; " +
         (gap.quiet_passes < gap.passes
              ? "only the " + std::to_string(gap.quiet_passes) + " passes within 10 % of p10 count"
              : "too few of them are quiet, so that all count");
}

Gap begin_gap(const Analysis& analysis, const EngineProfile& profile, const GapOptions& options,
              const RecordTimes& times) {
  const RungName chosen = options.rung.value_or(analysis.headline());
  const Rung& rung = analysis[chosen];
  Gap gap{.model = analysis.model,
          .file = analysis.file,
          .engine = profile.engine,
          .version = profile.version,
          .format = profile.format,
          .device = profile.device,
          .threads = profile.threads,
          .passes = times.passes.size(),
          .quiet_passes = times.quiet.size(),
          .warm_ups = profile.warm_ups,
          .latency = times.latency,
          .latency_uncertainty = uncertainty_of_median(times.quiet),
          .latency_of_records = times.of_records,
          .rung = chosen,
          .bound = expected(rung),
          .floor_share = rung.floor_share,
          .partial = analysis.partial(),
          .doubt = rung.doubt,
          .warnings = profile.warnings};
  if (rung.median) gap.bound_uncertainty = rung.uncertainty;
  if (times.passes.size() > 1) {
    gap.p10 = quantile_of(times.passes, 0.1);
    gap.p90 = quantile_of(times.passes, 0.9);
    if (*gap.p90 > *gap.p10 * disturbed_spread) gap.warnings.push_back(disturbed_text(gap));
  }
  if (gap.passes == 0)
    for (const auto& record : profile.records) gap.passes = std::max(gap.passes, record.times.size());
  return gap;
}

/// Times in a wrong unit show up in their sum.
void warn_of_times(Gap& gap) {
  std::size_t doubtful = 0, with_floor = 0;
  Seconds engine{}, roofline{};
  for (const auto& group : gap.groups) {
    if (group.roofline.value <= 0) continue;
    ++with_floor;
    if (!group.doubtful) continue;
    ++doubtful;
    engine += group.engine;
    roofline += group.roofline;
  }
  if (doubtful == 0) return;
  std::string text = std::to_string(doubtful) + " of " + std::to_string(with_floor) +
                     " groups of layers take less than their roofline (" + ms_text(engine) + " instead of " +
                     ms_text(roofline) + ")";
  constexpr double far_off = 5;
  text += 2 * doubtful > with_floor && engine * far_off < roofline
              ? ": their times are in another unit, or of another model"
              : ": other arithmetic, or matched wrongly";
  gap.warnings.push_back(text);
}

void warn_of_kind(Gap& gap, const Analysis& analysis, const EngineProfile& profile) {
  if (gap.latency_of_records)
    gap.warnings.push_back(
        "the profile has no latency of whole passes: it is the sum of its records, so that idle "
        "time is not known");
  if (profile.threads && *profile.threads != analysis.threads)
    gap.warnings.push_back("the engine ran on " + std::to_string(*profile.threads) + " threads, the bound is for " +
                           std::to_string(analysis.threads));
  constexpr double far_above = 300;
  if (gap.latency && gap.bound && gap.bound->value > 0 && *gap.latency > *gap.bound * far_above)
    gap.warnings.push_back("the latency is " + ms_text(*gap.latency) +
                           ", more than 300 times the bound: another unit?");
}

/// What needs no layers: the runtime calls between two library calls, which serve no layer.
void split_calls(Gap& gap, const EngineProfile& profile, const RecordTimes& times) {
  GapPart part{.cause = Cause::between_calls};
  for (std::size_t r = 0; r < profile.records.size(); ++r) {
    const ProfileRecord& record = profile.records[r];
    if (record.activity != Activity::call || !record.between_libraries || times.own[r].value <= 0) continue;
    part.items.push_back({record.name, times.own[r], record.op});
    part.time += times.own[r];
  }
  if (part.items.empty()) return;
  std::stable_sort(part.items.begin(), part.items.end(),
                   [](const GapItem& a, const GapItem& b) { return a.time > b.time; });
  const Seconds rest = *gap.gap - part.time;
  gap.parts = {std::move(part), {.cause = Cause::unexplained, .time = rest}};
}

/// Whether records have times of their own. Those of a device do, even if nothing else supports a claim about layers.
bool times_known(const EngineProfile& profile) {
  return profile.total_only.empty() ? !profile.records.empty()
                                    : std::any_of(profile.records.begin(), profile.records.end(), [](const auto& r) {
                                        return r.activity == Activity::kernel && !r.times.empty();
                                      });
}

}  // namespace

std::optional<double> Gap::explained() const {
  if (!gap || unclaimed || parts.empty() || gap->value == 0) return std::nullopt;
  double open = 0;
  for (const Cause cause : {Cause::unexplained, Cause::unmatched})
    if (const GapPart* found = part(cause)) open += std::fabs(found->time.value);
  for (const GapGroup& group : groups)
    if (!group.explains()) open += std::fabs(group.excess().value);
  return std::max(0.0, 1 - open / std::fabs(gap->value));
}

std::optional<Seconds> latency_of(const EngineProfile& profile) {
  if (profile.latencies.empty() && (profile.records.empty() || !profile.total_only.empty())) return std::nullopt;
  return make_record_times(profile).latency;
}

Gap compare(const Analysis& analysis, const ModelLayers& model, const EngineProfile& profile,
            const GapOptions& options) {
  if (profile.latencies.empty() && profile.records.empty() && profile.total_only.empty()) {
    const std::string file = profile.files.empty() ? "the profile" : profile.files.front();
    throw InputError(file + ": has neither a latency nor a record that could be compared");
  }
  const bool layers_known = profile.total_only.empty() && !profile.records.empty() &&
                            timed_graph_of(analysis, Form::single) && timed_graph_of(analysis, Form::fused);
  EngineProfile totals;  // what can be said if the records support no claim
  totals.latencies = profile.latencies;
  const RecordTimes times = make_record_times(layers_known ? profile : totals);
  Gap gap = begin_gap(analysis, profile, options, times);
  if (!layers_known) {
    gap.total_only = !profile.total_only.empty() ? profile.total_only : "the profile names no layers";
    gap.latency_of_records = false;
    if (profile.latencies.empty()) gap.latency.reset();
  }
  if (gap.latency_of_records) gap.unreadable = profile.unreadable;
  gap.incomplete = gap.unreadable > 0;
  gap.outside = why_outside(analysis, profile, gap);
  gap.ratios = ratios_of(analysis, gap);
  warn_of_kind(gap, analysis, profile);
  if (gap.latency && gap.bound && gap.outside.empty()) gap.gap = *gap.latency - *gap.bound;
  if (layers_known && gap.gap) {
    split_gap(gap, analysis, model, profile, times, match(model, profile, times.counted, options.phases));
    if (!options.phases.empty()) gap.phases = phase_gaps(gap, analysis, model, profile.records, options.phases);
    warn_of_times(gap);
    gap.deviations = deviations_of(model, profile, gap);
    settle_claims(gap, analysis, profile, times);
  }
  if (times_known(profile)) {
    const RecordTimes of_records = layers_known ? times : make_record_times(profile);
    gap.by_library = time_by_library(profile, of_records);
    if (!layers_known && gap.gap) split_calls(gap, profile, of_records);
  }
  gap.parallel = parallel_gain(analysis, gap);
  gap.algorithms = options.algorithms ? *options.algorithms : algorithm_choices(analysis, profile, gap);
  gap.fusions = fusion_gains(analysis, model, gap);
  gap.types = type_gains(analysis, options.other_types);
  gap.layouts = layout_gains(analysis);
  gap.library = library_gaps(analysis);
  gap.backends = backend_gains(analysis, profile, gap);
  if (!gap.unclaimed) gap.joint = joint_gain(analysis, options.other_types, gap);
  if (gap.gap && !gap.unclaimed) gap.advice = advise(analysis, profile, gap, times, options.commands);
  return gap;
}

}  // namespace benanza
