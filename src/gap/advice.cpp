// SPDX-License-Identifier: Apache-2.0
#include "advice.hpp"

#include "causes.hpp"
#include "engine_options.hpp"
#include <benanza/base/detail/saturated.hpp>
#include <benanza/base/detail/shell_word.hpp>
#include <benanza/model/data_type.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace benanza::gap {

namespace {

constexpr double least_share = 5e-4;  // share of the latency; advice that gains less is noise

/// `1 layer`, `2 layers`; `1 copy of data`, `2 copies of data`.
std::string counted(std::size_t count, const std::string& one, const std::string& many = {}) {
  return std::to_string(count) + " " + (count == 1 ? one : many.empty() ? one + "s" : many);
}

class Adviser {
 public:
  Adviser(const Analysis& analysis, const EngineProfile& profile, const Gap& gap, const RecordTimes& times,
          const Commands& commands)
      : analysis_(analysis),
        gap_(gap),
        times_(times),
        commands_(commands),
        profile_(profile),
        timed_(timed_graph_of(analysis, form_of(gap.rung))) {}

  std::vector<Advice> run() {
    from_part(Cause::conversions, Change::layout, "one layout throughout instead of ", "conversion", "conversions");
    from_part(Cause::copies, Change::copy, "no ", "copy of data", "copies of data");
    from_part(Cause::waits, Change::wait, "no ", "wait", "waits");
    from_part(Cause::views, Change::view, "views instead of copies for ", "reshape", "reshapes");
    from_part(Cause::extra_calls, Change::extra, "without ", "call that the model does not ask for",
              "calls that the model does not ask for");
    between_calls();
    overhead();
    conditions();
    slower_layers();
    fusions();
    parallel();
    types();
    layouts();
    algorithms();
    dead_work();
    const double least = least_share * (gap_.latency ? gap_.latency->value : 0);
    std::erase_if(result_, [&](const Advice& advice) { return advice.gain.value <= least; });
    std::stable_sort(result_.begin(), result_.end(), [](const Advice& a, const Advice& b) {
      const bool first = a.change == Change::conditions, second = b.change == Change::conditions;
      if (first != second) return first;
      return a.gain.value != b.gain.value ? a.gain > b.gain : a.text < b.text;
    });
    return std::move(result_);
  }

 private:
  Advice& add(Change change, std::string text, Seconds gain, const std::optional<Seconds>& uncertainty,
              std::optional<DataType> type = {}) {
    result_.push_back({.change = change,
                       .text = std::move(text),
                       .gain = gain,
                       .uncertainty = uncertainty,
                       .how = std::string(engine_option(profile_, change, type)),
                       .type = type});
    return result_.back();
  }

  /// The command that shows the records of a cause.
  [[nodiscard]] std::string records() const { return commands_.gap.empty() ? "" : commands_.gap + " --all"; }

  void from_part(Cause cause, Change change, const std::string& text, const std::string& one, const std::string& many) {
    const GapPart* part = gap_.part(cause);
    if (!part || part->time.value <= 0) return;
    Advice& advice = add(change, text + counted(part->items.size(), one, many), part->time, part->uncertainty);
    for (const auto& item : part->items) advice.layers.push_back(item.name);
    advice.reproduce = records();
  }

  void between_calls() {
    const GapPart* part = gap_.part(Cause::between_calls);
    if (!part || part->time.value <= 0) return;
    std::string said;
    bool events = false;
    std::set<std::string> names;
    for (const auto& [name, count] : counts_by_name(*part)) {
      names.insert(name);
      said += (said.empty() ? "" : ", ") + std::to_string(count) + " x " + name;
      events = events || name.find("Event") != std::string::npos;
    }
    Advice& advice = add(Change::call,
                         "no runtime calls between library calls: " + said +
                             (events ? "; events are needed only where two streams meet" : ""),
                         part->time, part->uncertainty);
    for (const auto& between : profile_.between)
      if (between.activity == Activity::call && names.contains(between.name))
        advice.layers.push_back(between.name + " between " + between.after + " and " + between.before);
    advice.reproduce = records();
  }

  /// The names of the items of a part and how many items have each, sorted by time, largest first.
  [[nodiscard]] static std::vector<std::pair<std::string, std::size_t>> counts_by_name(const GapPart& part) {
    std::map<std::string, std::pair<Seconds, std::size_t>> sums;
    for (const auto& item : part.items) {
      auto& [time, count] = sums[item.name];
      time += item.time;
      ++count;
    }
    std::vector<std::pair<std::string, std::pair<Seconds, std::size_t>>> ordered(sums.begin(), sums.end());
    std::stable_sort(ordered.begin(), ordered.end(),
                     [](const auto& a, const auto& b) { return a.second.first > b.second.first; });
    std::vector<std::pair<std::string, std::size_t>> result;
    for (const auto& [name, sum] : ordered) result.emplace_back(name, sum.second);
    return result;
  }

  void overhead() {
    Seconds gain{}, uncertainty{};
    bool known = true;
    for (const Cause cause : {Cause::between_layers, Cause::calls, Cause::host})
      if (const GapPart* part = gap_.part(cause)) {
        gain += part->time;
        known = known && part->uncertainty;
        uncertainty += part->uncertainty.value_or(Seconds{});  // of the same passes
      }
    if (gain.value <= 0) return;
    Advice& advice = add(Change::overhead, "less work of the host between the layers", gain,
                         known ? std::optional(uncertainty) : std::nullopt);
    advice.reproduce = records();
  }

  /// What makes all layers slower alike.
  void conditions() {
    const GapPart* part = gap_.part(Cause::throughout);
    if (!part) return;
    char slowdown[16];
    std::snprintf(slowdown, sizeof slowdown, "%.2g", gap_.slowdown);
    Advice& advice = add(Change::conditions,
                         "all layers are slower alike, by a factor of " + std::string(slowdown) +
                             " at least: run on an idle machine, with " +
                             counted(static_cast<std::size_t>(analysis_.threads), "thread") +
                             " and at full clock, before you change kernels",
                         part->time, part->uncertainty);
    for (const auto& item : part->items) advice.layers.push_back(item.name);
    advice.reproduce = records();
  }

  /// The bound's calls for some groups; equal calls are merged.
  [[nodiscard]] std::vector<AdvisedCall> calls_of(const std::vector<const GapGroup*>& groups) const {
    std::map<std::string, AdvisedCall> calls;
    for (const auto* group : groups)
      for (const auto layer : group->layers)
        for (const auto& call : timed_->layers[layer].calls) {
          const LayerRow& row = analysis_.rows[call.row];
          const auto [at, added] = calls.try_emplace(row.signature);
          AdvisedCall& made = at->second;
          if (added) {
            made = {.signature = row.signature, .count = 0, .time = call.fastest.time};
            if (row.chosen) made.plan = row.chosen->backend + "/" + row.chosen->algorithm;
          }
          detail::add_saturated(made.count, timed_->layers[layer].repeat);
        }
    std::vector<AdvisedCall> result;
    for (auto& [signature, call] : calls) result.push_back(std::move(call));
    std::stable_sort(result.begin(), result.end(), [](const AdvisedCall& a, const AdvisedCall& b) {
      return a.time * static_cast<double>(a.count) > b.time * static_cast<double>(b.count);
    });
    return result;
  }

  [[nodiscard]] std::string how_to_reproduce(const std::vector<AdvisedCall>& calls) const {
    if (calls.empty()) return "";
    const AdvisedCall& call = calls.front();
    const std::string signature = detail::shell_word(call.signature);
    if (commands_.has_reproducer != nullptr && commands_.has_reproducer(call.signature, call.plan))
      return "benanza generate --reproducer " + signature + " --plan " + detail::shell_word(call.plan) +
             " -o reproducer.cpp";
    return commands_.measure.empty() ? "" : commands_.measure + " " + signature;
  }

  Advice& from_groups(Change change, const std::string& text, const std::vector<const GapGroup*>& groups,
                      const std::function<Seconds(const GapGroup&)>& gain_of) {
    Seconds gain{}, bound{};
    std::map<std::size_t, double> records;
    for (const auto* group : groups) {
      gain += gain_of(*group);
      bound += group->bound;
      for (const auto record : group->records) records.emplace(record, 1.0);
    }
    Advice& advice = add(change, text, gain, uncertainty_of(times_, records, bound * gap_.bound_uncertainty));
    for (const auto* group : groups) advice.layers.push_back(group->name);
    advice.calls = calls_of(groups);
    advice.replaced = bound + gain;
    advice.reproduce = how_to_reproduce(advice.calls);
    return advice;
  }

  /// Grouped by the operator that the groups begin with: one kernel or plan is the cause for all of them.
  void slower_layers() {
    std::map<std::string, std::vector<const GapGroup*>> by_operator;
    for (const auto& group : gap_.groups)
      if (group.cause == Cause::slower_layers && group.rest().value > 0 && !group.doubtful)
        by_operator[group.pattern.substr(0, group.pattern.find(" + "))].push_back(&group);
    for (const auto& [name, groups] : by_operator)
      from_groups(Change::algorithm, name + ": another kernel for " + counted(groups.size(), "layer") + plan_of(groups),
                  groups, [](const GapGroup& group) { return group.rest(); });
  }

  /// `, e.g. onednn brgconv:avx2`: the plan of the call that takes the most time.
  [[nodiscard]] std::string plan_of(const std::vector<const GapGroup*>& groups) const {
    const auto calls = calls_of(groups);
    if (calls.empty() || calls.front().plan.empty()) return "";
    std::string plan = calls.front().plan.substr(0, calls.front().plan.find(','));
    if (const auto slash = plan.find('/'); slash != std::string::npos) plan[slash] = ' ';
    return ", e.g. " + plan;
  }

  void fusions() {
    std::map<std::string, std::vector<const GapGroup*>> by_pattern;
    for (const auto& group : gap_.groups)
      if (group.not_fused.value > 0) by_pattern[group.pattern].push_back(&group);
    for (const auto& [pattern, groups] : by_pattern)
      from_groups(Change::fusion, "fuse " + pattern + " in " + counted(groups.size(), "place"), groups,
                  [](const GapGroup& group) { return group.not_fused; });
  }

  void parallel() {
    if (!gap_.parallel.gain || analysis_.threads < 2) return;
    const Seconds gain = *gap_.parallel.gain - gap_.parallel.side_by_side;
    if (gain.value <= 0) return;
    const Rung &one = analysis_[RungName::library_fused], &many = analysis_[RungName::library_fused_parallel];
    std::optional<Seconds> uncertainty;
    if (one.median && many.median)
      uncertainty = Seconds{std::hypot(one.uncertainty * one.median->value, many.uncertainty * many.median->value)};
    Advice& advice = add(Change::parallel, "run independent branches side by side", gain, uncertainty);
    advice.layers = gap_.parallel.path;
    advice.reproduce = commands_.bound;
  }

  void types() {
    for (const auto& type : gap_.types) {
      const auto gain = type.gain();
      if (!gain || gain->value <= 0) continue;
      Advice& advice = add(Change::type,
                           "compute in " + std::string(name(type.type)) +
                               (type.measured ? ", by measured rows" : ", by the roofline alone: not measured"),
                           *gain, type.uncertainty, type.type);
      if (!commands_.in_type.empty()) advice.reproduce = commands_.in_type + " " + std::string(name(type.type));
    }
  }

  /// Only the best layout, because layouts exclude each other. The gain is at most what the engine loses in these
  /// layers, because it may already use that layout there.
  void layouts() {
    if (gap_.layouts.empty()) return;
    const LayoutGain& layout = gap_.layouts.front();
    const auto call_of = [&](const std::string& signature) {
      return std::find_if(layout.calls.begin(), layout.calls.end(),
                          [&](const LayoutCall& call) { return call.signature == signature; });
    };
    const auto gain_of = [&](const GapGroup& group) {
      Seconds saved{};
      for (const auto layer : group.layers)
        for (const auto& call : timed_->layers[layer].calls)
          if (const auto found = call_of(analysis_.rows[call.row].signature); found != layout.calls.end())
            saved += (found->plain - found->time) * static_cast<double>(timed_->layers[layer].repeat);
      return std::min(saved, group.rest());
    };
    std::vector<const GapGroup*> groups;
    for (const auto& group : gap_.groups)
      if (group.cause == Cause::slower_layers && !group.doubtful && gain_of(group).value > 0) groups.push_back(&group);
    if (groups.empty()) return;
    Advice& advice = from_groups(Change::layout, "layout " + layout.layout + " for " + counted(groups.size(), "layer"),
                                 groups, gain_of);
    advice.replaced = advice.gain;
    for (auto& call : advice.calls) {
      if (const auto found = call_of(call.signature); found != layout.calls.end()) {
        call.plan = found->plan;
        call.time = found->time;
      }
      advice.replaced += call.time * static_cast<double>(call.count);
    }
    advice.reproduce = how_to_reproduce(advice.calls);
  }

  /// Advice from API logs, which name a library's algorithm.
  void algorithms() {
    for (const auto& choice : gap_.algorithms) {
      const auto gain = choice.gain();
      if (!gain || gain->value <= 0 || choice.library.empty()) continue;
      const auto count = static_cast<double>(choice.count);
      Advice& advice = add(Change::algorithm, choice.library + " " + choice.chosen + ": " + choice.best + " is faster",
                           *gain, choice.uncertainty ? std::optional(*choice.uncertainty * count) : std::nullopt);
      if (!choice.layer.empty()) advice.layers = {choice.layer};
      std::string plan = choice.best;  // `backend algorithm`
      if (const auto space = plan.find(' '); space != std::string::npos) plan[space] = '/';
      advice.calls.push_back(
          {.signature = choice.signature, .count = choice.count, .plan = std::move(plan), .time = *choice.best_time});
      advice.replaced = *choice.chosen_time * count;
      advice.reproduce = how_to_reproduce(advice.calls);
    }
  }

  /// The part of a group's time in the engine that no output of the model needs; at most what the group takes above the
  /// floor of the rest.
  [[nodiscard]] Seconds dead_time(const GapGroup& group) const {
    Seconds all{}, dead{}, floor{};
    for (const auto index : group.layers) {
      const TimedLayer& layer = timed_->layers[index];
      const Seconds time = layer.time() * static_cast<double>(layer.repeat);
      all += time;
      dead += time * layer.dead;
      floor += layer.needed_floor * static_cast<double>(layer.repeat);
    }
    if (dead.value <= 0) return {};
    return std::min(group.engine * (dead / all), group.engine - floor);
  }

  void dead_work() {
    std::vector<const GapGroup*> groups;
    for (const auto& group : gap_.groups)
      if (!group.doubtful && dead_time(group).value > 0) groups.push_back(&group);
    if (groups.empty() || analysis_.dead.empty()) return;
    const DeadWork& most = analysis_.dead.front();
    std::string proof;
    for (const auto& reader : most.readers) proof += (proof.empty() ? ": " : "; ") + reader;
    Seconds gain{};
    for (const auto* group : groups) gain += dead_time(*group);
    Advice& advice =
        add(Change::dead_work, "compute in " + counted(groups.size(), "layer") + " what is read" + proof, gain, {});
    for (const auto* group : groups) advice.layers.push_back(group->name);
    advice.reproduce = commands_.bound;
  }

  const Analysis& analysis_;
  const Gap& gap_;
  const RecordTimes& times_;
  const Commands& commands_;
  const EngineProfile& profile_;
  const TimedGraph* timed_;
  std::vector<Advice> result_{};
};

}  // namespace

std::vector<Advice> advise(const Analysis& analysis, const EngineProfile& profile, const Gap& gap,
                           const RecordTimes& times, const Commands& commands) {
  return Adviser(analysis, profile, gap, times, commands).run();
}

}  // namespace benanza::gap
