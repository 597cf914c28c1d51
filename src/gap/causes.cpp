// SPDX-License-Identifier: Apache-2.0
#include "causes.hpp"

#include "engine_words.hpp"
#include <benanza/model/layer.hpp>
#include <benanza/model/model_layers.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

namespace benanza::gap {

namespace {

constexpr double rounding = 1e-12;  // seconds; a different order of summation may change the sum by this much

/// Disjoint sets of layers.
class Sets {
 public:
  explicit Sets(std::size_t count) : parent_(count) { std::iota(parent_.begin(), parent_.end(), std::size_t{0}); }
  std::size_t root(std::size_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  void join(std::size_t a, std::size_t b) { parent_[std::max(root(a), root(b))] = std::min(root(a), root(b)); }

 private:
  std::vector<std::size_t> parent_;
};

/// Shares of records, and the bound's time that a difference takes from them.
struct Difference {
  std::map<std::size_t, double> records{};
  Seconds bound{};
};

/// Sums up a part of the gap.
class PartSum {
 public:
  void add(const std::string& name, Seconds time, const Difference& from, const std::string& detail) {
    if (time.value == 0) return;
    part_.time += time;
    part_.items.push_back({name, time, detail});
    for (const auto& [record, share] : from.records) from_.records[record] += share;
    from_.bound += from.bound;
  }
  void add(const std::string& name, Seconds time, const std::optional<Seconds>& uncertainty) {
    if (time.value == 0) return;
    part_.time += time;
    part_.items.push_back({name, time, ""});
    part_.uncertainty = uncertainty;
    given_ = true;
  }
  [[nodiscard]] GapPart part(Cause cause, const RecordTimes& times, double bound_uncertainty) {
    part_.cause = cause;
    if (!given_) part_.uncertainty = uncertainty_of(times, from_.records, from_.bound * bound_uncertainty);
    std::stable_sort(part_.items.begin(), part_.items.end(), [](const GapItem& a, const GapItem& b) {
      return std::fabs(a.time.value) != std::fabs(b.time.value) ? std::fabs(a.time.value) > std::fabs(b.time.value)
                                                                : a.name < b.name;
    });
    return part_;
  }

 private:
  GapPart part_{};
  Difference from_{};
  bool given_ = false;
};

class Splitter {
 public:
  Splitter(Gap& gap, const Analysis& analysis, const ModelLayers& model, const EngineProfile& profile,
           const RecordTimes& times, const std::vector<RecordMatch>& matches)
      : gap_(gap),
        analysis_(analysis),
        model_(model),
        profile_(profile),
        times_(times),
        matches_(matches),
        form_(form_of(gap.rung)),
        layers_(form_ == Form::single ? model.single : model.fused),
        timed_(*timed_graph_of(analysis, form_)),
        single_(*timed_graph_of(analysis, Form::single)) {
    layer_of_.resize(model.single.layers.size());
    for (std::size_t i = 0; i < layers_.layers.size(); ++i)
      for (const auto member : layers_.layers[i].members) layer_of_[member] = i;
  }

  void run() {
    make_records();
    make_groups();
    find_unmatched();
    for (auto& group : gap_.groups) settle(group);
    find_slowdown();
    std::stable_sort(gap_.groups.begin(), gap_.groups.end(), [](const GapGroup& a, const GapGroup& b) {
      return a.excess().value != b.excess().value ? a.excess() > b.excess() : a.name < b.name;
    });
    for (std::size_t g = 0; g < gap_.groups.size(); ++g)
      for (const auto record : gap_.groups[g].records) {
        gap_.records[record].group = g;
        gap_.records[record].cause = gap_.groups[g].cause;
        if (gap_.groups[g].doubtful) gap_.records[record].doubt = "faster than the roofline of what it computes";
      }
    make_parts();
  }

 private:
  void make_records() {
    for (std::size_t r = 0; r < profile_.records.size(); ++r) {
      gap_.records.push_back({.record = r,
                              .time = times_.own[r],
                              .counted = times_.counted[r],
                              .uncertainty = times_.uncertainty[r],
                              .by = matches_[r].by,
                              .layers = matches_[r].layers});
      gap_.records.back().cause = cause_beside(r).value_or(Cause::unmatched);
    }
  }

  /// The cause of a record that is not work on a layer, whatever it was matched to.
  [[nodiscard]] std::optional<Cause> cause_beside(std::size_t r) const {
    const ProfileRecord& record = profile_.records[r];
    if (record.activity == Activity::wait) return Cause::waits;
    if (record.activity == Activity::call) return record.between_libraries ? Cause::between_calls : Cause::calls;
    if (!times_.counted[r]) return Cause::host;
    if (is_conversion(record)) return Cause::conversions;
    if (is_copy(record)) return Cause::copies;
    const auto kinds = kinds_of(record);
    const bool pads = kinds.size() == 1 && kinds[0] == "Pad";
    const auto is_pad = [&](std::size_t layer) { return kind(model_.single.layers[layer].layer) == "Pad"; };
    const auto& layers = matches_[r].layers;
    if (pads && !layers.empty() && std::none_of(layers.begin(), layers.end(), is_pad)) return Cause::extra_calls;
    return std::nullopt;
  }

  void make_groups() {
    Sets sets(layers_.layers.size());
    std::set<std::size_t> served;
    const auto serves = [&](std::size_t r) { return !matches_[r].layers.empty() && !cause_beside(r); };
    for (std::size_t r = 0; r < matches_.size(); ++r) {
      if (!serves(r)) continue;
      for (const auto layer : matches_[r].layers) {
        sets.join(layer_of_[matches_[r].layers.front()], layer_of_[layer]);
        served.insert(layer_of_[layer]);
      }
    }
    for (std::size_t i = layers_.layers.size(); i-- > 0;) {  // a layer without nodes serves the layer that reads it
      if (!layers_.layers[i].members.empty()) continue;
      const auto& readers = layers_.tensors[layers_.layers[i].outputs[0]].consumers;
      const auto reader =
          std::find_if(readers.begin(), readers.end(), [&](auto each) { return served.contains(each); });
      if (reader == readers.end()) continue;
      sets.join(*reader, i);
      served.insert(i);
    }
    std::map<std::size_t, std::size_t> group_of;  // root -> group
    for (const auto layer : served) {
      const auto [at, added] = group_of.try_emplace(sets.root(layer), gap_.groups.size());
      if (added) gap_.groups.emplace_back();
      gap_.groups[at->second].layers.push_back(layer);
    }
    for (auto& group : gap_.groups)  // a group has the name of its first node
      std::stable_partition(group.layers.begin(), group.layers.end(),
                            [&](std::size_t layer) { return !layers_.layers[layer].members.empty(); });
    for (std::size_t r = 0; r < matches_.size(); ++r)
      if (serves(r)) gap_.groups[group_of.at(sets.root(layer_of_[matches_[r].layers.front()]))].records.push_back(r);
    for (std::size_t i = 0; i < layers_.layers.size(); ++i)
      if (!served.contains(i) && !timed_.layers[i].calls.empty() && timed_.layers[i].runs) missed_.push_back(i);
    for (const auto layer : missed_) {
      if (!layers_.layers[layer].members.empty()) gap_.not_found.push_back(timed_.layers[layer].name);
      gap_.incomplete = gap_.incomplete || (gap_.latency_of_records && time_of(timed_.layers[layer]).value > 0);
    }
  }

  /// A record that serves no layer is extra, unless it may belong to a layer that no record serves.
  void find_unmatched() {
    std::set<std::string_view> left;
    for (const auto layer : missed_)
      for (const auto member : layers_.layers[layer].members) left.insert(kind(model_.single.layers[member].layer));
    std::set<std::size_t> around;  // framework scopes that only enclose layers
    for (std::size_t r = 0; r < profile_.records.size(); ++r)
      if (const auto above = profile_.records[r].parent; above && !matches_[r].layers.empty()) around.insert(*above);
    for (auto& record : gap_.records) {
      if (cause_beside(record.record) || !record.layers.empty()) continue;
      const auto kinds = kinds_of(profile_.records[record.record]);
      // The operator of attention computes in its own time, even if operators inside it are layers.
      const bool attends = std::find(kinds.begin(), kinds.end(), op::Attention::kind) != kinds.end();
      if (is_scope(profile_.records[record.record]) || (around.contains(record.record) && !attends)) {
        record.cause = Cause::host;
        continue;
      }
      const bool may_be = kinds.empty()
                              ? !left.empty()
                              : std::any_of(kinds.begin(), kinds.end(), [&](auto each) { return left.contains(each); });
      const bool converts = kinds.size() == 1 && (kinds[0] == "Transpose" || kinds[0] == "Cast");
      record.cause = may_be ? Cause::unmatched : converts ? Cause::conversions : Cause::extra_calls;
    }
  }

  /// The record that serves each layer of the single form; the first if there are several.
  [[nodiscard]] std::map<std::size_t, std::size_t> servers_in(const GapGroup& group) const {
    std::map<std::size_t, std::size_t> servers;
    for (const auto record : group.records)
      for (const auto layer : matches_[record].layers) servers.emplace(layer, record);
    return servers;
  }

  /// The bound of a layer; if several records serve its nodes, the sum over its nodes, each on its own.
  [[nodiscard]] Seconds separate_time(std::size_t layer, const std::map<std::size_t, std::size_t>& servers) const {
    std::set<std::size_t> records;
    Seconds apart{};
    for (const auto member : layers_.layers[layer].members) {
      const Seconds time = time_of(single_.layers[member]);
      if (const auto found = servers.find(member); found != servers.end() && time.value > 0)
        records.insert(found->second);
      apart += time;
    }
    const Seconds together = time_of(timed_.layers[layer]);
    // If strides moved, the nodes on their own are different layers, so the difference is not a gain of fusion.
    return records.size() < 2 || layers_.layers[layer].replaces_any() ? together : std::max(together, apart);
  }

  void settle(GapGroup& group) {
    const auto servers = servers_in(group);
    std::vector<std::size_t> members;
    bool modelled = false, free = true;
    for (const auto record : group.records) group.engine += gap_.records[record].time;
    for (const auto layer : group.layers) {
      const TimedLayer& timed = timed_.layers[layer];
      const auto& own = layers_.layers[layer].members;
      members.insert(members.end(), own.begin(), own.end());
      group.bound += time_of(timed);
      group.separate += separate_time(layer, servers);
      if (timed.runs) group.roofline += timed.floor * static_cast<double>(timed.repeat);
      for (const auto& call : timed.calls) {
        const LayerRow& row = analysis_.rows[call.row];
        free = false;
        modelled = modelled || row.status != Status::measured;
        group.signatures.push_back(row.signature);
      }
    }
    group.uncertainty = uncertainty_of(times_, shares_of(group, 1), group.bound * gap_.bound_uncertainty);
    std::sort(members.begin(), members.end());
    group.pattern = pattern_of(model_.single, members);
    group.name = timed_.layers[group.layers.front()].name;
    const Seconds excess = group.excess();
    if (excess.value > 0) group.not_fused = {std::clamp(group.separate.value - group.bound.value, 0.0, excess.value)};
    group.cause = free                                     ? Cause::views
                  : modelled                               ? Cause::modelled
                  : excess - group.not_fused >= Seconds{0} ? Cause::slower_layers
                  : may_lack_records()                     ? Cause::unexplained
                                                           : Cause::faster_layers;
    constexpr double margin = 0.98;  // a median may be slightly off
    group.doubtful = group.roofline.value > 0 && group.engine.value < margin * group.roofline.value;
  }

  /// What all layers are slower by alike is no matter of their kernels. Nine tenths of the layers' time, by their calls
  /// in the bound, is slower by `low` at least, and nine tenths by `high` at most. They are slower alike if `low` is at
  /// least the square root of `high`: most of the slowdown of each layer is then common to all. Of fewer than
  /// eight groups, all have to be slower by the same factor, within a tenth, and three have to be different layers.
  void find_slowdown() {
    constexpr std::size_t different_groups = 3, many_groups = 8;
    constexpr double least_slowdown = 1.2, of_few = 1.1;
    std::vector<std::pair<double, double>> slowdowns;  // with the time of the calls
    double all = 0;
    std::set<std::vector<std::string>> different;
    for (const auto& group : gap_.groups) {
      const bool compared = group.cause == Cause::slower_layers || group.cause == Cause::faster_layers;
      if (!compared || group.separate.value <= 0) continue;
      slowdowns.emplace_back(group.engine / group.separate, group.separate.value);
      all += group.separate.value;
      different.insert(group.signatures);
    }
    if (slowdowns.empty()) return;
    std::sort(slowdowns.begin(), slowdowns.end());
    const auto at_share = [&](double share) {
      double sum = 0;
      for (const auto& [slowdown, time] : slowdowns)
        if ((sum += time) >= share * all) return slowdown;
      return slowdowns.back().first;
    };
    const double low = at_share(0.1), high = at_share(0.9);
    const bool alike = slowdowns.size() >= many_groups ? low * low >= high
                                                       : different.size() >= different_groups &&
                                                             slowdowns.back().first <= of_few * slowdowns.front().first;
    if (low < least_slowdown || !alike) return;
    gap_.slowdown = low;
    for (auto& group : gap_.groups)
      if (group.cause == Cause::slower_layers)
        group.throughout = std::clamp(group.separate * (low - 1), Seconds{0}, group.rest());
  }

  [[nodiscard]] static std::map<std::size_t, double> shares_of(const GapGroup& group, double share) {
    std::map<std::size_t, double> shares;
    for (const auto record : group.records) shares.emplace(record, share);
    return shares;
  }

  void add_group(const GapGroup& group, std::array<PartSum, cause_count>& sums) const {
    const auto of = [&](Cause cause) -> PartSum& { return sums[static_cast<std::size_t>(cause)]; };
    const Seconds of_layers = group.throughout + group.rest();
    const double share = group.throughout.value > 0 ? group.throughout / of_layers : 0;
    of(Cause::not_fused).add(group.name, group.not_fused, {shares_of(group, 1), group.bound}, group.pattern);
    of(Cause::throughout)
        .add(group.name, group.throughout, {shares_of(group, share), group.separate * share}, ratio_text(group));
    of(group.cause)
        .add(group.name, group.rest(), {shares_of(group, 1 - share), group.bound * (1 - share)}, ratio_text(group));
  }

  void make_parts() {
    std::array<PartSum, cause_count> sums;
    const auto of = [&](Cause cause) -> PartSum& { return sums[static_cast<std::size_t>(cause)]; };
    for (const auto& group : gap_.groups) add_group(group, sums);
    for (const auto& record : gap_.records)
      if (!record.group)
        of(record.cause)
            .add(profile_.records[record.record].name, record.time, {{{record.record, 1.0}}, {}},
                 profile_.records[record.record].op);
    const bool any_unmatched = std::any_of(gap_.records.begin(), gap_.records.end(), [](const MatchedRecord& record) {
      return !record.group && record.cause == Cause::unmatched && record.time.value > 0;
    });
    Seconds all{};
    for (const auto& layer : timed_.layers) all += time_of(layer);
    for (const auto layer : missed_) {
      if (gap_.incomplete || may_lack_records()) break;  // their time is not known: unexplained
      const Seconds time = time_of(timed_.layers[layer]);
      of(any_unmatched ? Cause::unmatched : Cause::not_in_profile)
          .add(timed_.layers[layer].name, time * -1, Difference{{}, time}, "in the bound, in no record");
    }
    of(Cause::between_layers).add("nothing runs", times_.between, times_.between_uncertainty);
    of(Cause::side_by_side).add("records at the same time", times_.side_by_side * -1, Seconds{});
    if (const Seconds difference = all - *gap_.bound; std::fabs(difference.value) > rounding)
      of(Cause::rung).add(rung_text(), difference, *gap_.bound * gap_.bound_uncertainty);
    Seconds known{};
    std::vector<GapPart> parts;
    for (std::size_t c = 0; c + 1 < cause_count; ++c) {
      GapPart part = sums[c].part(static_cast<Cause>(c), times_, gap_.bound_uncertainty);
      if (part.items.empty()) continue;
      known += part.time;
      parts.push_back(std::move(part));
    }
    const Seconds rest = *gap_.gap - known;
    if (std::fabs(rest.value) > rounding)
      parts.push_back({.cause = Cause::unexplained, .time = rest, .uncertainty = gap_.latency_uncertainty});
    gap_.parts = std::move(parts);
  }

  /// Whether so many records cannot be read that all those of a layer may be among them: at least one in each pass.
  [[nodiscard]] bool may_lack_records() const { return profile_.unreadable > 0 && profile_.unreadable >= gap_.passes; }

  [[nodiscard]] std::string ratio_text(const GapGroup& group) const {
    if (group.cause == Cause::views || group.bound.value <= 0) return group.pattern;
    char text[32];
    std::snprintf(text, sizeof text, "%.2gx", group.engine / group.bound);
    return group.pattern + ", " + text;
  }
  [[nodiscard]] std::string rung_text() const {
    switch (gap_.rung) {
      case RungName::library_fused:
      case RungName::library: return "the rung's rounds against the sum of its layers";
      case RungName::library_fused_resident:
      case RungName::library_resident: return "weights beyond what the caches hold";
      case RungName::library_parallel:
      case RungName::library_fused_parallel: return "branches side by side in the bound";
      default: return "the library's calls against the analytic rung";
    }
  }

  Gap& gap_;
  const Analysis& analysis_;
  const ModelLayers& model_;
  const EngineProfile& profile_;
  const RecordTimes& times_;
  const std::vector<RecordMatch>& matches_;
  Form form_;
  const LayerGraph& layers_;
  const TimedGraph& timed_;
  const TimedGraph& single_;
  std::vector<std::size_t> layer_of_{};  // layers of the form, by layer of the single form
  std::vector<std::size_t> missed_{};    // layers of the form that no record serves
};

}  // namespace

Form form_of(RungName rung) {
  return rung == RungName::library || rung == RungName::library_parallel || rung == RungName::library_resident
             ? Form::single
             : Form::fused;
}

const TimedGraph* timed_graph_of(const Analysis& analysis, Form form) {
  for (const auto& graph : analysis.graphs)
    if (graph.form == form) return &graph;
  return nullptr;
}

Seconds time_of(const TimedLayer& layer) {
  return layer.runs ? layer.time() * static_cast<double>(layer.repeat) : Seconds{};
}

std::string word_of(const Layer& layer) {
  const auto of = [](ElementwiseFn fn) { return std::string(enum_names(fn)[static_cast<std::size_t>(fn)]); };
  if (const auto* unary = std::get_if<op::Unary>(&layer)) return of(unary->fn);
  if (const auto* binary = std::get_if<op::Binary>(&layer)) return of(binary->fn);
  return std::string(kind(layer));
}

std::string pattern_of(const LayerGraph& single, const std::vector<std::size_t>& layers) {
  std::string text, last;
  std::size_t repeated = 1, words = 0;
  const auto close = [&] {
    if (repeated > 1) text += " x" + std::to_string(repeated);
    repeated = 1;
  };
  for (const auto layer : layers) {
    if (is_free(single.layers[layer].layer)) continue;
    const std::string word = word_of(single.layers[layer].layer);
    if (word == last) {
      ++repeated;
      continue;
    }
    close();
    constexpr std::size_t most = 12;
    if (++words > most) return text + " + ...";
    text += (text.empty() ? "" : " + ") + word;
    last = word;
  }
  close();
  return text.empty() ? "view" : text;
}

std::optional<Seconds> uncertainty_of(const RecordTimes& times, const std::map<std::size_t, double>& shares,
                                      Seconds of_bound) {
  const auto of_records = times.uncertainty_of(shares);
  if (!of_records) return std::nullopt;
  return Seconds{std::hypot(of_records->value, of_bound.value)};
}

void split_gap(Gap& gap, const Analysis& analysis, const ModelLayers& model, const EngineProfile& profile,
               const RecordTimes& times, const std::vector<RecordMatch>& matches) {
  Splitter(gap, analysis, model, profile, times, matches).run();
}

}  // namespace benanza::gap
