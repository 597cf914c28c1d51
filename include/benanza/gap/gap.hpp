// SPDX-License-Identifier: Apache-2.0
// compare: compares an engine's run (EngineProfile) with a model's bounds (Analysis): how much slower it is, split into
// causes that add up to the difference, and what to do about it. Pure computation.
//
// Why the parts add up: let L be the engine's latency, t the own time of a record (without what is nested in it), and b
// the time of a layer in the rung:
//
//   L   = sum of t  -  side by side  +  waits, calls and host time that no record covers  +  between layers  +  rest
//   B   = sum of b  +  what the rung differs by from that sum
//   gap = L - B, term by term: records and layers are joined into groups that serve each other, whose t - b is split.
//
// What is left over is `unexplained`: it is printed, never spread. A median is not a mean, and profilers cost time. If
// records have no starts, or the latency is from another run, it is not known whether anything ran between layers.
#pragma once

#include <benanza/bounds/analysis.hpp>
#include <benanza/model/phase.hpp>
#include <benanza/profile/engine_profile.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace benanza {

struct ModelLayers;

/// How a record was found to be a layer of the model, from the surest to the least sure.
enum class MatchedBy : std::uint8_t {
  nodes,         ///< the engine says which nodes it is
  name,          ///< its name is that of a node, or of a tensor that a node makes
  part_of_name,  ///< its name begins with such a name, or lists several
  parent,        ///< the record that encloses or launched it was matched
  shape,         ///< operator and shapes, in the model's order
  order,         ///< operator, in the model's order: as many records as layers
  kernel_class,  ///< all kernels of one class serve all layers of one operator
  nothing
};
[[nodiscard]] constexpr std::array<std::string_view, 8> enum_names(MatchedBy) {
  return {"nodes", "name", "part_of_name", "parent", "shape", "order", "kernel_class", "nothing"};
}

/// The causes of a gap; their times add up to it. Negative causes make it smaller.
enum class Cause : std::uint8_t {
  conversions,     ///< layout and type conversions that the model did not ask for
  copies,          ///< bytes copied or set
  waits,           ///< synchronisation while nothing else runs
  calls,           ///< launches, allocations while nothing else runs
  between_calls,   ///< other runtime calls between two library calls (events, waits of streams) while nothing else runs
  host,            ///< the framework's own time: host layers while no kernel runs, framework scopes that enclose layers
  throughout,      ///< what all layers are slower by alike: a busy machine, fewer threads, a lower clock
  slower_layers,   ///< the engine takes longer than the bound's calls for the same nodes
  faster_layers,   ///< negative: it takes less
  modelled,        ///< layers that no library has: their bound is analytic, not a call that could be made
  not_fused,       ///< several records for one call of the bound
  views,           ///< time of what is free in the bound (reshape, identity)
  extra_calls,     ///< records that serve no layer: padding, reshapes, fills
  unmatched,       ///< records that may be a layer but match none, less the layers that match no record
  not_in_profile,  ///< negative: layers that no record serves while every record serves one
  between_layers,  ///< nothing runs, according to the starts of records and the latency of the same run
  side_by_side,    ///< negative: records that ran at the same time
  rung,            ///< the difference between the chosen rung and the sum of its layers' times
  unexplained      ///< the rest
};
inline constexpr std::size_t cause_count = 19;
[[nodiscard]] constexpr std::array<std::string_view, cause_count> enum_names(Cause) {
  return {"conversions",    "copies",         "waits",        "calls",     "between_calls", "host",        "throughout",
          "slower_layers",  "faster_layers",  "modelled",     "not_fused", "views",         "extra_calls", "unmatched",
          "not_in_profile", "between_layers", "side_by_side", "rung",      "unexplained"};
}

/// One record of the profile with what was found about it.
struct MatchedRecord {
  std::size_t record = 0;  ///< index into EngineProfile::records
  Seconds time{};          ///< own time, in a pass of the usual length, without what is nested in it
  bool counted = true;     ///< false for what runs beside something counted (a host layer above its kernels)
  std::optional<Seconds> uncertainty{};  ///< of the mean or median over passes; empty for one pass
  MatchedBy by = MatchedBy::nothing;
  Cause cause = Cause::unmatched;     ///< cause of the time that the bound does not have
  std::vector<std::size_t> layers{};  ///< layers of the single form that it serves
  std::optional<std::size_t> group{};
  std::string doubt{};  ///< why its time is not believed; empty if it is
};

/// Records and layers of the bound's form that serve each other: neither side can be split further.
struct GapGroup {
  std::string name{};                     ///< the first of its nodes
  std::string pattern{};                  ///< its operators: `Conv + BatchNorm + relu`
  std::vector<std::size_t> records{};     ///< indices into Gap::records
  std::vector<std::size_t> layers{};      ///< indices into the rung's TimedGraph
  std::vector<std::string> signatures{};  ///< signatures of the bound's calls
  Seconds engine{};                       ///< sum of its records
  Seconds bound{};                        ///< sum of its layers
  Seconds separate{};  ///< bound of the same nodes in as many calls as the engine made; at least `bound`
  Seconds roofline{};  ///< analytic floor
  std::optional<Seconds> uncertainty{};  ///< uncertainty of engine - bound
  Seconds not_fused{};                   ///< the part of engine - bound that fusion would save
  Seconds throughout{};                  ///< the part by which all layers are slower alike (Gap::slowdown)
  Cause cause = Cause::slower_layers;    ///< cause of the rest
  bool doubtful = false;                 ///< faster than its roofline
  [[nodiscard]] Seconds excess() const { return engine - bound; }
  /// The part of the excess that `cause` names.
  [[nodiscard]] Seconds rest() const { return excess() - not_fused - throughout; }
  /// Whether it is small enough to show where time is lost.
  static constexpr std::size_t most_explained_calls = 16;
  [[nodiscard]] bool explains() const { return signatures.size() <= most_explained_calls; }
};

struct GapItem {
  std::string name{};
  Seconds time{};
  std::string detail{};
};

/// One cause with its part of the gap.
struct GapPart {
  Cause cause = Cause::unexplained;
  Seconds time{};
  std::optional<Seconds> uncertainty{};  ///< empty if the profile has no spread
  std::vector<GapItem> items{};          ///< largest first; they add up to `time` unless there are none
};

/// The engine and the rung in one phase of a training iteration. What belongs to no phase, such as time between
/// records, is not in any.
struct PhaseGap {
  Phase phase{};                                    ///< the loss counts as forward
  Seconds engine{};                                 ///< sum of its records
  Seconds bound{};                                  ///< sum of its layers in the rung
  std::vector<std::pair<Cause, Seconds>> causes{};  ///< they add up to engine - bound; largest first
};

/// The engine compared with one rung.
struct RungRatio {
  RungName rung{};
  std::optional<Seconds> bound{};  ///< expected: the median of a measured rung
  std::optional<double> ratio{};   ///< rung / measured: the Benanza ratio
  std::optional<Seconds> gap{};    ///< measured - rung
  double uncertainty = 0;          ///< of the ratio, relative
};

/// The time of the records of one library.
struct LibraryTime {
  std::string library{};    ///< cudnn, cublas, onednn ...; `other`: no library, or not known
  Seconds time{};           ///< own time, in a pass; records that ran side by side each count
  std::size_t records = 0;  ///< records with a time
};

/// What running branches in parallel would gain.
struct ParallelGain {
  std::optional<Seconds> gain{};     ///< library_fused - library_fused_parallel
  Seconds side_by_side{};            ///< what the engine already gains from it
  std::vector<std::string> path{};   ///< first nodes of the groups on the critical path
  std::int64_t groups_off_path = 0;  ///< with a time
};

/// An algorithm that the engine chose, and the best one known.
struct AlgorithmChoice {
  std::string layer{};  ///< first node, or empty
  std::string signature{};
  std::string library{}, chosen{}, math{};
  std::string best{};                                 ///< `backend algorithm`; empty if no row of the layer is known
  std::optional<Seconds> chosen_time{}, best_time{};  ///< one call each
  std::optional<Seconds> uncertainty{};               ///< of the difference; empty: a spread is not known
  std::int64_t count = 1;
  [[nodiscard]] std::optional<Seconds> gain() const {
    if (!chosen_time || !best_time) return std::nullopt;
    return (*chosen_time - *best_time) * static_cast<double>(count);
  }
};

/// A fusion pattern, over the whole model.
struct FusionGain {
  std::string pattern{};
  std::int64_t count = 0;            ///< groups
  std::int64_t done = 0;             ///< groups that the engine ran as one record
  std::int64_t unknown = 0;          ///< groups that match no record
  Seconds gain{};                    ///< layer by layer - fused, over all groups, from the bounds
  Seconds open{};                    ///< the part of it in groups that the engine did not fuse
  std::vector<std::string> nodes{};  ///< the first of each group that is not fused
};

/// The model in another arithmetic type.
struct TypeGain {
  DataType type = DataType::f32;
  bool measured = false;  ///< all layers have rows in that type; else the figures are the roofline's
  RungName rung{};        ///< of the figures: the headline, or roofline
  std::optional<Seconds> bound{};
  std::optional<Seconds> compared{};     ///< the same rung in the model's own type
  std::optional<Seconds> uncertainty{};  ///< of the gain; measured rungs only
  [[nodiscard]] std::optional<Seconds> gain() const {
    if (!bound || !compared) return std::nullopt;
    return *compared - *bound;
  }
};

/// A layer that is faster in some layout than in the plain one.
struct LayoutCall {
  std::string signature{};
  std::string plan{};       ///< the best one in that layout: `backend/algorithm`
  Seconds time{}, plain{};  ///< one call: with that plan, and with the best one in plain layout
};

/// The best plans in one data layout compared with the best plans in any.
struct LayoutGain {
  std::string layout{};     ///< the source's: `nhwc`, `aBcd8b`
  std::int64_t layers = 0;  ///< unique layers that have rows in it and in another one
  Seconds gain{};           ///< what the best rows in this layout save over the best in plain layout, over occurrences
  std::vector<LayoutCall> calls{};
};

/// A layer for which the library itself is far from the roofline.
struct LibraryGap {
  std::string signature{};
  std::string backend{}, algorithm{};
  std::int64_t count = 1;
  Seconds time{}, floor{};  ///< one call each
  [[nodiscard]] Seconds gain() const { return (time - floor) * static_cast<double>(count); }
};

/// A layer for which another library beats the one that the engine calls.
struct BackendGain {
  std::string signature{};
  std::string from{}, to{};
  std::int64_t count = 1;
  Seconds from_time{}, to_time{};
  [[nodiscard]] Seconds gain() const { return (from_time - to_time) * static_cast<double>(count); }
};

/// What a piece of advice changes.
enum class Change : std::uint8_t {
  layout,
  copy,
  wait,
  call,
  algorithm,
  fusion,
  overhead,
  parallel,
  type,
  extra,
  view,
  dead_work,
  conditions
};
[[nodiscard]] constexpr std::array<std::string_view, 13> enum_names(Change) {
  return {"layout",   "copy", "wait",  "call", "algorithm", "fusion",    "overhead",
          "parallel", "type", "extra", "view", "dead_work", "conditions"};
}

/// A library call that would replace what the engine does.
struct AdvisedCall {
  std::string signature{};
  std::int64_t count = 1;
  std::string plan{};  ///< `backend/algorithm`
  Seconds time{};      ///< expected, of one call
};

struct Advice {
  Change change{};
  std::string text{};
  std::vector<std::string> layers{};  ///< nodes or records that it concerns
  Seconds gain{};                     ///< predicted reduction of the latency
  std::optional<Seconds> uncertainty{};
  std::string how{};                 ///< how to do it in that engine; empty if not known
  std::string reproduce{};           ///< a command; empty if none is known
  Seconds replaced{};                ///< the engine's time that `calls` would replace
  std::vector<AdvisedCall> calls{};  ///< what can be measured again; empty if nothing can
  std::optional<DataType> type{};    ///< type to change to
};

/// One change of the joint figure, made after the previous ones.
struct JointStep {
  std::string what{};              ///< `fused`
  std::optional<Change> change{};  ///< empty: parts of the gap that none of the changes removes
  Seconds gain{};                  ///< negative if the engine is better than the bound
  Seconds latency{};               ///< after it
};

/// All changes together: from the latency, part by part, down to the fused form of the rung that the gap is to, less
/// what parallel branches save, in the type for which this is lowest. The gains add up to
/// latency - Gap::joint->latency.
struct JointGain {
  DataType type = DataType::f32;         ///< differs from the model's type only if all its layers have rows in it
  Seconds latency{};                     ///< after all steps
  std::optional<Seconds> uncertainty{};  ///< of the latency
  std::vector<JointStep> steps{};        ///< without those that are not known or save nothing
};

/// The beginnings of the commands in advice, as a shell reads them; empty: no such command is given.
struct Commands {
  std::string gap{};                       ///< this comparison again, e.g. `benanza gap m.onnx --profile p.json`
  std::string bound{};                     ///< the model's bounds
  std::string in_type{};                   ///< the bounds in another type, whose name follows
  std::string measure{"benanza measure"};  ///< one layer, whose signature follows
  /// Whether `benanza generate --reproducer` can write the layer of a signature with a plan, `BACKEND/ALGORITHM`; null:
  /// no advice names that command.
  bool (*has_reproducer)(const std::string& signature, const std::string& plan) = nullptr;
};

struct GapOptions {
  std::optional<RungName> rung{};  ///< that the engine is compared with; empty: `Analysis::headline`
  /// The phase of each layer of the single form, for a training iteration (layer_phases). Empty at inference.
  std::vector<Phase> phases{};
  Commands commands{};
  /// The same model in other types, as returned by `retype` and `analyze`: for Gap::types.
  std::vector<Analysis> other_types{};
  /// For Gap::algorithms, if the rows of the analysis do not give them (original2019/rules.hpp).
  std::optional<std::vector<AlgorithmChoice>> algorithms{};
};

struct Gap {
  std::string model{}, file{};
  std::string engine{}, version{}, format{}, device{};
  std::optional<int> threads{};
  std::size_t passes = 0;
  std::size_t quiet_passes = 0;  ///< those that count; fewer than `passes` if others were disturbed
  std::int64_t warm_ups = 0;

  /// The median over quiet passes. If the profile has no latency, all of these are of the sums of records.
  std::optional<Seconds> latency{};
  std::optional<Seconds> p10{}, p90{};  ///< with at least two passes
  std::optional<Seconds> latency_uncertainty{};
  bool latency_of_records = false;  ///< the profile has no latency: it is the sum of records, without idle time
  RungName rung{};                  ///< that the engine is compared with
  std::optional<Seconds> bound{};   ///< the rung's expected figure
  double bound_uncertainty = 0;     ///< relative
  double floor_share = 0;           ///< as `Rung::floor_share`
  bool partial = false;             ///< the bound lacks layers
  std::string doubt{};              ///< why the bound is provisional (`Rung::doubt`); empty if it is not
  std::optional<Seconds> gap{};     ///< latency - bound; empty if it cannot be given
  std::string outside{};            ///< if not empty, why no gap is given: the engine is below the model floor, it ran
                                    ///< on another device, or its profile holds more than the model
  std::string total_only{};         ///< if not empty, why nothing is said about layers
  std::size_t unreadable = 0;       ///< records that the latency lacks: it is their sum, and they cannot be read
  bool incomplete = false;          ///< the latency is the sum of records, and some layers of the bound are in none,
                                    ///< or records are unreadable
  bool unclaimed = false;           ///< deviations say why nothing counts as explained and nothing is advised
  std::vector<RungRatio> ratios{};  ///< in the ladder's order; rungs that cannot be given have no bound

  std::vector<GapPart> parts{};  ///< in the order of causes, without those that are zero; they add up to `gap`
  /// The factor by which nine tenths of the layers' time is slower than the bound, at least, if the slowdown is much
  /// the same for all layers; otherwise 1. The excess up to this factor is Cause::throughout.
  double slowdown = 1;
  std::vector<PhaseGap> phases{};         ///< forward, backward, update; empty at inference
  std::vector<MatchedRecord> records{};   ///< one for each record of the profile
  std::vector<GapGroup> groups{};         ///< by excess, largest first
  std::vector<std::string> not_found{};   ///< first nodes of the bound's layers that no record serves
  std::vector<std::string> deviations{};  ///< shapes, types and order that differ from the model's
  std::vector<std::string> warnings{};    ///< warnings of the profile and of the comparison

  std::vector<LibraryTime> by_library{};  ///< longest first; empty if no record is known to be a library's
  ParallelGain parallel{};
  std::vector<AlgorithmChoice> algorithms{};
  std::vector<FusionGain> fusions{};
  std::vector<TypeGain> types{};
  std::vector<LayoutGain> layouts{};
  std::vector<LibraryGap> library{};
  std::vector<BackendGain> backends{};
  std::optional<JointGain> joint{};  ///< empty without a gap
  std::vector<Advice> advice{};      ///< by predicted gain, largest first

  [[nodiscard]] const GapPart* part(Cause cause) const {
    for (const auto& each : parts)
      if (each.cause == cause) return &each;
    return nullptr;
  }
  /// Share of the gap that named causes make up: 1 - (|unexplained| + |unmatched| + |groups of more than 16 calls|) /
  /// |gap|, not below 0. Empty without parts, and if the gap is `unclaimed`.
  [[nodiscard]] std::optional<double> explained() const;
  [[nodiscard]] const RungRatio& ratio(RungName name) const { return ratios.at(static_cast<std::size_t>(name)); }
};

/// The engine's latency in a pass: the median of those in the profile, else the sum of its records on their busiest
/// lane. Empty if it has neither.
[[nodiscard]] std::optional<Seconds> latency_of(const EngineProfile& profile);

/// `analysis` must be of `model`; with `AnalysisOptions::candidates` the result also covers algorithms, layouts and
/// other libraries. Throws InputError if the profile has neither a latency nor a record.
[[nodiscard]] Gap compare(const Analysis& analysis, const ModelLayers& model, const EngineProfile& profile,
                          const GapOptions& options = {});

}  // namespace benanza
