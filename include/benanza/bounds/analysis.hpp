// SPDX-License-Identifier: Apache-2.0
// Analysis: the ladder of a model, its layers with their best rows, and what is missing. `analyze` (analyze.hpp) makes
// it.
#pragma once

#include <benanza/base/detail/boxed.hpp>
#include <benanza/bounds/bound.hpp>
#include <benanza/bounds/timed_graph.hpp>
#include <benanza/model/cost.hpp>
#include <benanza/model/detail/dead_work.hpp>
#include <benanza/model/floor_exception.hpp>
#include <benanza/results/machine.hpp>
#include <benanza/results/measurement.hpp>

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace benanza {

/// The largest share of a measured rung that may be floors before its interval and its expected figure are unknown.
inline constexpr double most_floor_share = 0.05;

/// One lower bound. All are latencies of one request with nothing else in flight.
struct Rung {
  std::optional<Seconds> bound{};   ///< p10 of rounds; empty if it cannot be given
  std::optional<Seconds> median{};  ///< median of rounds: the expected figure; measured rungs only
  double uncertainty = 0;     ///< the bound's, relative: half of its 95 % interval over groups of rounds, plus the
                              ///< timer's resolution and the wander of the processor's speed
  Seconds raised{};           ///< how much the rung was raised to the model floor
  bool common_rounds = true;  ///< false: a sum of per-row p10 of a database without rounds
  bool saves_multiplications = false;  ///< one of its plans does (Winograd, FFT): it may lie below `direct_floor`
  /// Why a measured rung is provisional: a sum of each row's least disturbed times, since no rounds in which all of
  /// them were quiet together show it. Empty if rounds show it.
  std::string doubt{};
  [[nodiscard]] bool provisional() const { return !doubt.empty(); }
  /// Share of the bound that is floors: of layers without a measured time, and what the rung was raised by. 0 for an
  /// analytic rung.
  double floor_share = 0;
  /// Whether it is mostly floors: `uncertainty` says nothing then, since it is that of the measured part.
  [[nodiscard]] bool mostly_floor() const { return floor_share > most_floor_share; }
  /// What to expect: `median`, or the bound of an analytic rung. Empty if it is mostly floors, which no engine reaches.
  [[nodiscard]] std::optional<Seconds> expected() const {
    if (mostly_floor()) return std::nullopt;
    return median ? median : bound;
  }
};

enum class Status : std::uint8_t { measured, modelled, free, missing };
[[nodiscard]] constexpr std::array<std::string_view, 4> enum_names(Status) {
  return {"measured", "modelled", "free", "missing"};
}

/// Occurrences by status, with their share of the total time.
struct Coverage {
  std::array<std::int64_t, 4> count{};
  std::array<double, 4> time_share{};
  std::array<double, 4> flops_share{};
  [[nodiscard]] std::int64_t operator[](Status status) const { return count[static_cast<std::size_t>(status)]; }
};

/// Weights that one call reads, for a layer whose weights the file stores compressed.
struct WeightBytes {
  Bytes stored{};  ///< in the file
  Bytes read{};    ///< by a plan of the layer, in the types of its operands
  /// Whether plans read the numbers in a wider type, or in more copies, than the file has.
  [[nodiscard]] bool expanded() const { return read > stored; }
};

/// What one call of a Gather reads from its table.
struct LookupBytes {
  Bytes certain{};   ///< for any indices; floors count them
  Bytes expected{};  ///< for uniform indices
};

/// A unique layer of the model in one form.
struct LayerRow {
  std::string signature{};  ///< canonical text of the layer's signature; `parse_layer` reads it
  Form form = Form::single;
  std::int64_t count = 0;            ///< occurrences, times the passes of enclosing loops
  std::int64_t not_taken = 0;        ///< of these, those in branches of an If that the bound does not take
  std::vector<std::string> nodes{};  ///< the first node of each occurrence
  Status status = Status::missing;
  std::string reason{};                   ///< why it is modelled or missing
  detail::Boxed<Measurement> chosen{};    ///< the fastest row, with its launches: what to expect and advise
  detail::Boxed<Measurement> bounding{};  ///< the row that a bound counts, if it is another one: without its launches
  detail::Boxed<Measurement> cold{};      ///< the fastest row with its weights out of the caches, if there is one
  int most_threads = 0;                   ///< the most that a plan of it was tried with; 0: none was tried
  std::int64_t untried = 0;               ///< rows that a budget left no time for; one of their plans may be faster
  std::vector<Measurement> candidates{};  ///< every row, fastest first, excluded ones last; only if requested
  Seconds p10{}, median{};                ///< one call, as bounded and as expected; the floor if modelled
  /// Analytic: max(FLOPs / peak, memory floor), of direct algorithms and of any known algorithm.
  Seconds direct_floor{}, least_floor{};
  Cost cost{};
  std::optional<WeightBytes> weights{};  ///< if the file stores its weights compressed; not for modelled layers
  std::optional<LookupBytes> lookup{};   ///< if it is a Gather of several rows
  bool critical = false;                 ///< on the critical path of the form's parallel rung
  /// Time of the occurrences that are in the bound.
  [[nodiscard]] Seconds total() const { return p10 * static_cast<double>(count - not_taken); }
  /// Whether its times are those of direct algorithms.
  [[nodiscard]] bool is_direct() const {
    return chosen && !chosen->saves_multiplications && !(bounding && bounding->saves_multiplications);
  }
  /// The roofline of its plan.
  [[nodiscard]] Seconds floor() const { return is_direct() ? direct_floor : least_floor; }
  /// Share of the roofline reached; empty if the floor is zero (all data may be in cache).
  [[nodiscard]] std::optional<double> of_roofline() const {
    return floor().value > 0 && p10.value > 0 ? std::optional(floor() / p10) : std::nullopt;
  }
};

struct AnalysisOptions {
  int threads = 0;                      ///< the most that an engine would use; 0: as many as the machine has cores
  std::vector<std::string> backends{};  ///< empty: all
  bool candidates = false;              ///< fill in every row of each layer, not only the best
  bool analytic = false;                ///< only the model floor and the roofline rungs: every layer is modelled
  bool direct = false;  ///< times of modelled layers and the rooflines count direct algorithms: for estimates of times
};

struct Analysis {
  std::string model{}, file{};
  std::int64_t batch = 1;
  std::map<std::string, std::int64_t> dims{};
  std::map<std::string, std::int64_t> assumed{};  ///< those of `dims` that were not bound
  DataType type = DataType::f32;  ///< type of most multiplications; quantised: type of what is multiplied with weights
  int threads = 1;
  Machine machine{};      ///< whose results they are; without a name if there are none
  bool analytic = false;  ///< as in AnalysisOptions: analytic rungs only
  std::int64_t layers = 0, unique_layers = 0, groups = 0;
  std::int64_t macs = 0;
  Flops flops{};
  std::vector<DeadWork>
      dead{};  ///< the part of `flops` that no output needs; not in the floors, but in the rungs of libraries
  std::vector<FloorException> floor_exceptions{};  ///< work in the floors that an engine can avoid, largest first
  Bytes bytes{}, weights{};
  Coverage coverage{}, coverage_fused{};
  std::vector<std::string> missing{};  ///< signatures, and why if plans failed; what is unknown about loops and sizes
  std::vector<std::string> choices{};  ///< for each If: its branches and what they cost
  /// Plans that ended the process that tried them last, and that may be the fastest of their layer; later sessions try
  /// them again, twice.
  std::vector<Measurement> ended{};
  /// The quietest session of all layers, if it is older than the newest one by a week or more; ISO 8601, UTC.
  struct QuietestSession {
    std::string started{}, newest{};
    bool in_doubt = false;  ///< its rounds count, but the only session since then differs: another one decides
    bool replaced = false;  ///< its rounds no longer count: the last two sessions agree, and are slower
  };
  std::optional<QuietestSession> quietest{};
  std::array<Rung, rung_count> rungs{};
  /// What the model floor would be if only direct algorithms existed. Not a rung: plans that save multiplications go
  /// below it. Empty if there is no model floor.
  std::optional<Seconds> direct_floor{};
  /// Totals by other accounting, for comparison with published ones (original2019/rules.hpp); none of them is a bound.
  std::map<std::string, Seconds> reference{};
  std::vector<LayerRow> rows{};  ///< by form, then by share of time: the partition of the expected figure
  /// Rows of the fused form that the bound counts, if the expected figure counts other calls.
  std::vector<LayerRow> bound_rows{};
  std::vector<TimedGraph> graphs{};  ///< single, fused
  Ceilings ceilings{};

  /// Share of `flops` that no output needs.
  [[nodiscard]] double dead_share() const {
    Flops total{};
    for (const auto& work : dead) total += work.flops;
    return flops.value > 0 ? total / flops : 0;
  }
  [[nodiscard]] bool partial() const { return !missing.empty(); }
  /// Whether the measured rungs are provisional.
  [[nodiscard]] bool provisional() const { return (*this)[RungName::library].provisional(); }
  [[nodiscard]] const Rung& operator[](RungName name) const { return rungs[static_cast<std::size_t>(name)]; }
  [[nodiscard]] Rung& operator[](RungName name) { return rungs[static_cast<std::size_t>(name)]; }
  /// The rung that stands for the whole ladder wherever one is enough: `library_fused_resident`, that is, one library
  /// call after the other, fused, with as many weights in the caches as they hold. If it is not known: `library_fused`,
  /// else `library`. Of an analytic ladder: `model_floor`.
  [[nodiscard]] RungName headline() const {
    if (analytic) return RungName::model_floor;
    for (const auto name : {RungName::library_fused_resident, RungName::library_fused, RungName::library})
      if ((*this)[name].bound) return name;
    return RungName::library_fused_resident;
  }
  /// The headline, with everything that a latency assertion needs.
  [[nodiscard]] Bound bound() const { return bound(headline()); }
  /// The same of another rung.
  [[nodiscard]] Bound bound(RungName name) const {
    return {
        .model = model, .rung = name, .latency = (*this)[name].bound, .missing = missing, .doubt = (*this)[name].doubt};
  }
};

/// The headline of both, or `library_fused` if their headlines differ.
[[nodiscard]] inline RungName common_headline(const Analysis& a, const Analysis& b) {
  return a.headline() == b.headline() ? a.headline() : RungName::library_fused;
}

}  // namespace benanza
