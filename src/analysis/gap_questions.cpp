// SPDX-License-Identifier: Apache-2.0
#include "gap_questions.hpp"

#include "causes.hpp"
#include "engine_library.hpp"
#include <benanza/comparison.hpp>
#include <benanza/data_type.hpp>
#include <benanza/detail/quantile.hpp>
#include <benanza/layer.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <set>

namespace benanza::analysis {

namespace {

constexpr std::size_t most_out_of_order = 20;

/// The figure that an engine's median is compared with.
std::optional<Seconds> expected(const Rung& rung) { return rung.median ? rung.median : rung.bound; }

Seconds expected_time(const Measurement& row) {
  const double median = detail::quantile(row.rounds_s, 0.5);
  return std::isfinite(median) ? Seconds{median} : row.median;
}

/// `brgconv:avx2` of `brgconv:avx2,src=...,threads=2`.
std::string_view without_keys(std::string_view algorithm) { return algorithm.substr(0, algorithm.find(',')); }

/// The value of a key of an algorithm: `aBcd8b` of `jit,src=aBcd8b`; empty without the key.
std::string_view value_of(std::string_view algorithm, std::string_view key) {
  for (std::size_t at = algorithm.find(','); at != std::string_view::npos; at = algorithm.find(',', at + 1)) {
    const std::string_view rest = algorithm.substr(at + 1);
    if (rest.starts_with(key) && rest.size() > key.size() && rest[key.size()] == '=') {
      const std::string_view value = rest.substr(key.size() + 1);
      return value.substr(0, value.find(','));
    }
  }
  return {};
}

const LayerRow* row_of(const Analysis& analysis, const std::string& signature) {
  const LayerRow* found = nullptr;
  for (const auto& row : analysis.rows)
    if (row.signature == signature && (!found || row.form == Form::fused)) found = &row;
  return found;
}

/// The fastest rival that may be chosen and for which `holds`.
template <class Holds>
const Measurement* fastest(const LayerRow& row, Holds holds) {
  const Measurement* best = nullptr;
  for (const auto& rival : row.rivals)
    if (!rival.excluded && holds(rival) && (!best || expected_time(rival) < expected_time(*best))) best = &rival;
  return best;
}

/// Whether the name of an implementation ends in another element type than the layer has: `..._bf16` of an f32 layer.
bool names_other_type(std::string_view implementation, const Layer& layer) {
  const auto said = data_type_from_name(implementation.substr(implementation.rfind('_') + 1));
  const DataType own = type(layer);
  const bool bytes = said && bits(*said) == 8 && bits(own) == 8;  // signed or not
  return said && *said != own && !bytes;
}

/// The fastest plan of that name, of a library or, where that is empty, of any; a oneDNN implementation also as engines
/// write it.
const Measurement* find_rival(const LayerRow& row, std::string_view library, const std::string& algorithm) {
  const std::string_view name = without_keys(algorithm);
  const auto is_of = [&](const Measurement& rival) { return library.empty() || rival.backend == library; };
  const Measurement* exact = fastest(row, [&](const Measurement& rival) {
    return is_of(rival) && (rival.algorithm == algorithm || without_keys(rival.algorithm) == name);
  });
  const std::string kernel = library == "onednn" ? onednn_kernel(name) : "";
  if (exact || kernel.empty() || names_other_type(name, row.layer)) return exact;
  return fastest(row, [&](const Measurement& rival) {
    return is_of(rival) && onednn_kernel(without_keys(rival.algorithm)) == kernel;
  });
}

/// Of the difference of two rows' times; nothing when one of them tells no spread.
std::optional<Seconds> uncertainty_between(const Measurement& a, const Measurement& b) {
  const Timing one = timing_of(a), other = timing_of(b);
  if (!one.noise || !other.noise) return std::nullopt;
  return Seconds{std::hypot(*one.noise * one.median.value, *other.noise * other.median.value)};
}

AlgorithmChoice choice_of(const LayerRow& row, const Measurement* chosen, std::string library,
                          const std::string& algorithm) {
  AlgorithmChoice choice{.layer = row.nodes.empty() ? "" : row.nodes.front(),
                         .signature = row.signature,
                         .library = std::move(library),
                         .chosen = algorithm};
  if (chosen) choice.chosen_time = expected_time(*chosen);
  if (row.chosen) {
    choice.best = row.chosen->backend + " " + row.chosen->algorithm;
    choice.best_time = expected_time(*row.chosen);
    if (chosen) choice.uncertainty = uncertainty_between(*chosen, *row.chosen);
  }
  return choice;
}

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

std::vector<AlgorithmChoice> algorithm_choices(const Analysis& analysis, const EngineProfile& profile, const Gap& gap) {
  std::vector<AlgorithmChoice> result;
  for (const auto& call : profile.calls) {
    if (call.algorithm.empty() && call.signature.empty()) continue;
    const LayerRow* row = call.signature.empty() ? nullptr : row_of(analysis, call.signature);
    AlgorithmChoice choice =
        row ? choice_of(*row, find_rival(*row, call.library, call.algorithm), call.library, call.algorithm)
            : AlgorithmChoice{.signature = call.signature, .library = call.library, .chosen = call.algorithm};
    choice.math = call.math;
    choice.count = std::max<std::int64_t>(1, call.count);
    result.push_back(std::move(choice));
  }
  for (const auto& group : gap.groups) {
    if (group.records.size() != 1 || group.signatures.size() != 1) continue;
    const ProfileRecord& record = profile.records[gap.records[group.records.front()].record];
    const LayerRow* row = record.algorithm.empty() ? nullptr : row_of(analysis, group.signatures.front());
    if (!row) continue;
    const Measurement* chosen = find_rival(*row, library_of(record), record.algorithm);
    if (!chosen) continue;  // no plan of a library at hand
    AlgorithmChoice choice = choice_of(*row, chosen, "", record.algorithm);
    choice.layer = group.name;
    result.push_back(std::move(choice));
  }
  std::stable_sort(result.begin(), result.end(), [](const AlgorithmChoice& a, const AlgorithmChoice& b) {
    return a.gain().value_or(Seconds{-1}) > b.gain().value_or(Seconds{-1});
  });
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
    if (with_time < 2 || fused->layers[i].calls.size() >= with_time) continue;
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
    if (other.type == analysis.type) continue;  // most of the work stays: recurrent layers have no other type
    TypeGain gain{.type = other.type};
    const auto modelled = [](const Analysis& a) { return a.coverage_fused[Status::modelled]; };
    gain.measured = !other.partial() && modelled(other) <= modelled(analysis) && !other.analytic;
    const RungName rung = gain.measured ? RungName::library_fused : RungName::roofline;
    if (!gain.measured && !analysis.ceilings.peaks.contains(other.type)) continue;  // no peak, no claim
    gain.bound = expected(other[rung]);
    gain.compared = expected(analysis[rung]);
    if (gain.measured && gain.bound && gain.compared)
      gain.uncertainty = Seconds{
          std::hypot(other[rung].uncertainty * gain.bound->value, analysis[rung].uncertainty * gain.compared->value)};
    result.push_back(gain);
  }
  return result;
}

std::vector<LayoutGain> layout_gains(const Analysis& analysis) {
  std::map<std::string, LayoutGain> by_layout;
  for (const auto& row : analysis.rows) {
    if (row.form != Form::fused) continue;
    const auto is_hot = [](const Measurement& rival) { return rival.cache == CacheState::hot; };
    const Measurement* plain = fastest(row, [&](const Measurement& rival) {
      return is_hot(rival) && value_of(rival.algorithm, "src").empty() && value_of(rival.algorithm, "dst").empty();
    });
    if (!plain) continue;
    std::set<std::string> layouts;
    for (const auto& rival : row.rivals)
      if (const auto layout = value_of(rival.algorithm, "src"); !layout.empty()) layouts.emplace(layout);
    for (const auto& layout : layouts) {
      const Measurement* best = fastest(
          row, [&](const Measurement& rival) { return is_hot(rival) && value_of(rival.algorithm, "src") == layout; });
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
    if (row.form != Form::fused || !row.chosen || row.floor.value <= 0 || row.median <= row.floor) continue;
    result.push_back({.signature = row.signature,
                      .backend = row.chosen->backend,
                      .algorithm = row.chosen->algorithm,
                      .count = row.count,
                      .time = row.median,
                      .floor = row.floor});
  }
  std::stable_sort(result.begin(), result.end(),
                   [](const LibraryGap& a, const LibraryGap& b) { return a.gain() > b.gain(); });
  return result;
}

std::vector<BackendGain> backend_gains(const Analysis& analysis, const EngineProfile& profile, const Gap& gap) {
  std::set<std::string, std::less<>> everywhere{profile.engine};  // libraries of the engine, of which some are backends
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
    const auto is_used = [&](const Measurement& rival) {
      const auto here = used.find(row.signature);
      return everywhere.contains(rival.backend) || (here != used.end() && here->second.contains(rival.backend));
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

namespace {

std::string dims_text(const std::vector<std::int64_t>& dims) {
  std::string made;
  for (const auto dim : dims) made += (made.empty() ? "" : "x") + std::to_string(dim);
  return made;
}

/// Whether an engine's shape is the model's in some layout: the same extents in another order, the channels maybe in
/// blocks of their own or padded to one.
bool same_in_some_layout(const std::vector<std::int64_t>& model, const std::vector<std::int64_t>& engine) {
  const auto elements = [](const std::vector<std::int64_t>& dims) {
    return std::accumulate(dims.begin(), dims.end(), std::int64_t{1}, std::multiplies<>());
  };
  const bool batch = !model.empty() && model.size() == engine.size() && model[0] != engine[0];
  if (batch && elements(model) != elements(engine)) return false;
  std::vector<std::int64_t> rest = engine;
  std::int64_t channels = 1;
  for (std::size_t i = 0; i < model.size(); ++i) {
    if (i == 1 && model.size() > 2) channels = model[i];
    else if (const auto found = std::find(rest.begin(), rest.end(), model[i]); found != rest.end()) rest.erase(found);
    else if (model[i] != 1) return false;
  }
  const std::int64_t left = elements(rest);
  constexpr std::array<std::int64_t, 5> blocks{1, 4, 8, 16, 32};
  return std::any_of(blocks.begin(), blocks.end(),
                     [&](std::int64_t block) { return left == (channels + block - 1) / block * block; });
}

/// Shapes and types of what records make, by the records that are sure to be a layer: told once where most deviate.
void add_other_tensors(std::vector<std::string>& result, const ModelLayers& model, const EngineProfile& profile,
                       const Gap& gap) {
  std::vector<std::string> shapes, types;
  std::size_t known = 0;
  for (const auto& record : gap.records) {
    const ProfileRecord& said = profile.records[record.record];
    if (!record.group || record.layers.empty() || record.by > MatchedBy::part_of_name) continue;
    const Occurrence& last = model.single.layers[record.layers.back()];
    if (last.outputs.empty() || said.outputs.empty()) continue;
    const ProfiledTensor& there = said.outputs[0];
    const LayerTensor& here = model.single.tensors[last.outputs[0]];
    if (there.dims.empty() || *std::min_element(there.dims.begin(), there.dims.end()) < 1) continue;
    ++known;
    if (!same_in_some_layout(here.dims, there.dims))
      shapes.push_back("'" + said.name + "' makes " + dims_text(there.dims) + ", the model " + dims_text(here.dims));
    const DataType stored = here.type == DataType::tf32 ? DataType::f32 : here.type;
    if (there.type != stored)
      types.push_back("'" + said.name + "' makes " + std::string(name(there.type)) + ", the model " +
                      std::string(name(stored)));
  }
  const auto tell = [&](const std::vector<std::string>& found, const std::string& why) {
    if (2 * found.size() > known)
      result.push_back(std::to_string(found.size()) + " of " + std::to_string(known) +
                       " records with known shapes, as " + found.front() + ": " + why);
  };
  tell(shapes, "another batch or input size?");
  tell(types, "the bound is not in the engine's type");
}

}  // namespace

std::vector<std::string> deviations_of(const ModelLayers& model, const EngineProfile& profile, const Gap& gap) {
  std::vector<std::string> result;
  add_other_tensors(result, model, profile, gap);
  std::size_t out_of_order = 0;
  std::map<std::size_t, const ProfileRecord*> served;  // layer of the single form -> the record that is sure to be it
  for (const auto& record : gap.records)
    if (record.group && record.by <= MatchedBy::name && profile.records[record.record].start)
      for (const auto layer : record.layers) served.emplace(layer, &profile.records[record.record]);
  for (const auto& [layer, record] : served)
    for (const auto& before : model.single.layers[layer].predecessors) {
      const auto found = served.find(before.from);
      if (found == served.end() || *found->second->start <= *record->start) continue;
      result.push_back("'" + record->name + "' starts before '" + found->second->name + "', whose result it needs");
      if (++out_of_order >= most_out_of_order) return result;
    }
  return result;
}

}  // namespace benanza::analysis
