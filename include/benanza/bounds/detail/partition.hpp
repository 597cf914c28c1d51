// SPDX-License-Identifier: Apache-2.0
// The cheapest partition of a form into calls. In single form each layer is one call. In fused form each group is one
// call, or is split into smaller groups and single layers if that is faster.
#pragma once

#include <benanza/bounds/analysis.hpp>
#include <benanza/bounds/detail/row_times.hpp>
#include <benanza/bounds/layer_floor.hpp>
#include <benanza/detail/quantile.hpp>
#include <benanza/model/group_flops.hpp>
#include <benanza/model/layer_signature.hpp>
#include <benanza/model/model_layers.hpp>
#include <benanza/results/expected_time.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace benanza::detail {

/// One call.
struct Part {
  Layer layer{};
  std::string signature{};
  Status status = Status::missing;
  const BestRows* best = nullptr;  ///< if measured
  Seconds floor{};                 ///< analytic, with the distinct bytes of this occurrence; its time if modelled
  std::size_t node = 0;            ///< the first of the occurrence's nodes that it covers
  std::size_t first = 0;           ///< index of the first member that it covers
  std::size_t count = 1;           ///< members that it covers

  [[nodiscard]] Seconds time(Figure figure) const { return best ? time_of(*best->of(figure).fastest, figure) : floor; }
  /// With its weights out of the caches, if it has any.
  [[nodiscard]] Seconds cold_time(Figure figure) const {
    const bool has_cold = best && best->of(figure).cold;
    return has_cold ? std::max(time(figure), time_of(*best->of(figure).cold, figure)) : time(figure);
  }
};
/// Which time of a part the cheapest partition minimises.
enum class Weights : std::uint8_t { cached, cold };

struct FormPlan {
  std::vector<std::vector<Part>> parts{};  ///< for each occurrence; empty for a free one
  std::vector<Status> status{};            ///< worst of the parts
  std::vector<Seconds> whole_floors{};     ///< analytic time of the whole occurrence: the least over its partitions
  // The same for the part of the occurrence that is needed:
  std::vector<Seconds> floors{}, floors_without_weights{};
  std::vector<double> flops{}, direct_flops{};  ///< that any algorithm and that the direct algorithm has to compute
  std::vector<std::string> untried{};           ///< signatures of calls for a group that have no time yet
};

/// p10 of one call for a bound: over common rounds or samples, without launches.
[[nodiscard]] Seconds p10(const Measurement& row);
/// Whether the peak of its arithmetic is known. Integers of more than 8 bits have none: they compute addresses, which
/// do not count.
[[nodiscard]] bool has_arithmetic_floor(const Layer& layer, const Ceilings& ceilings);
/// The key of a layer in results.
[[nodiscard]] std::string text_of(const Layer& layer);

/// What the floors of a plan are computed with.
struct FloorInput {
  const Ceilings& ceilings;
  bool direct = false;  ///< direct algorithms alone count (AnalysisOptions::direct)
};

[[nodiscard]] FormPlan plan_single(const LayerGraph& graph, const RowTimes& times, const FloorInput& floors);
[[nodiscard]] FormPlan plan_fused(const LayerGraph& fused, const LayerGraph& single, const FormPlan& single_plan,
                                  const RowTimes& times, const FloorInput& floors, Figure figure, Weights weights);

/// The cheapest partitions of both forms for one figure.
struct FormPlans {
  FormPlan single{}, fused{};
  FormPlan resident{};  ///< fused, if no weights are in the caches
};
[[nodiscard]] FormPlans plan_forms(const ModelLayers& model, const RowTimes& times, const FloorInput& floors,
                                   Figure figure);

/// Analytic time of an occurrence with that work: movement is free, since a consumer could have read through it.
inline Seconds occurrence_floor(const Occurrence& at, const Work& work, const Ceilings& ceilings) {
  if (is_movement(at.layer)) return {};
  return std::max(ceilings.arithmetic_floor(arithmetic_type(at.layer), work.flops),
                  ceilings.memory_floor(work.weights + work.activations, work.written));
}
inline Seconds whole_floor(const Occurrence& at, Flops flops, const Ceilings& ceilings) {
  return occurrence_floor(at, {flops, at.read_weights, at.read_activations, at.written}, ceilings);
}
/// The part of `flops`, which count the direct algorithm without what products absorb, that every known algorithm
/// needs.
inline Flops least_of(Flops flops, const Layer& layer, Flops absorbed, bool direct_alone) {
  if (direct_alone) return flops;
  const Cost c = cost(layer);
  const Flops direct = c.flops - absorbed, least = std::max(Flops{}, c.least_flops - absorbed);
  return direct.value > 0 ? flops * (least / direct) : flops;
}
inline Seconds needed_floor(const Occurrence& at, const FloorInput& floors, bool with_weights) {
  Work work = at.needed;
  work.flops = least_of(work.flops, at.layer, at.absorbed, floors.direct);
  if (!with_weights) work.weights = {};
  return occurrence_floor(at, work, floors.ceilings);
}

/// A layer is modelled if no library runs it and it has an arithmetic floor: without a peak it would be a bound of
/// nothing.
inline Part make_part(const Layer& layer, const RowTimes& times, const Ceilings& ceilings, Seconds floor) {
  Part part{.layer = layer, .signature = text_of(layer), .floor = floor};
  part.best = times.find(part.signature);
  if (part.best) part.status = Status::measured;
  else if ((is_opaque(layer) || times.unsupported(part.signature)) && has_arithmetic_floor(layer, ceilings))
    part.status = Status::modelled;
  return part;
}

inline Status worst(const std::vector<Part>& parts) {
  if (parts.empty()) return Status::free;
  Status status = Status::measured;
  for (const auto& part : parts) {
    if (part.status == Status::missing) return Status::missing;
    if (part.status == Status::modelled) status = Status::modelled;
  }
  return status;
}

/// A partial solution for the members [0, i) of a group: a shorter one, and the parts behind it.
struct Prefix {
  bool reachable = false;
  Seconds time{};
  std::size_t shorter = 0;  ///< members of the shorter one
  std::vector<Part> parts{};
};

/// Layers that were never measured count with their floor, so that a partial bound is still a bound.
inline bool better(const Prefix& a, const Prefix& b) { return !b.reachable || a.time < b.time; }

/// A solution with these parts behind that for the first `members`.
template <class TimeOf>
Prefix extend(const std::vector<Prefix>& prefixes, std::size_t members, std::vector<Part> parts,
              const TimeOf& time_of_part) {
  Prefix next{.reachable = true, .time = prefixes[members].time, .shorter = members, .parts = std::move(parts)};
  for (const auto& part : next.parts) next.time += time_of_part(part);
  return next;
}

/// All parts of the longest one, in order.
inline std::vector<Part> parts_of(std::vector<Prefix> prefixes) {
  std::vector<std::size_t> ends;
  for (std::size_t end = prefixes.size() - 1; end > 0; end = prefixes[end].shorter) ends.push_back(end);
  std::vector<Part> all;
  for (std::size_t i = ends.size(); i-- > 0;)
    for (Part& part : prefixes[ends[i]].parts) all.push_back(std::move(part));
  return all;
}

inline bool has_arithmetic_floor(const Layer& layer, const Ceilings& ceilings) {
  const DataType type = arithmetic_type(layer);
  const auto peak = ceilings.peaks.find(type);
  return cost(layer).flops.value <= 0 || (!is_float(type) && !is_8_bit(type)) ||
         (peak != ceilings.peaks.end() && peak->second.value > 0);
}

inline std::string text_of(const Layer& layer) { return signature(layer).text(); }

inline Seconds p10(const Measurement& row) {
  const double low = detail::quantile(row.rounds_s, 0.1);
  return without_launch(row, std::isfinite(low) ? Seconds{low} : row.p10);
}

/// An occurrence as one call.
inline void plan_call(FormPlan& plan, const Occurrence& at, const RowTimes& times, const FloorInput& floors) {
  const Seconds floor = whole_floor(
      at, least_of(cost(at.layer).flops - at.absorbed, at.layer, at.absorbed, floors.direct), floors.ceilings);
  plan.parts.emplace_back();
  if (!is_free(at.layer)) plan.parts.back().push_back(make_part(at.layer, times, floors.ceilings, floor));
  plan.status.push_back(worst(plan.parts.back()));
  plan.whole_floors.push_back(floor);
  plan.floors.push_back(needed_floor(at, floors, true));
  plan.floors_without_weights.push_back(needed_floor(at, floors, false));
  plan.flops.push_back(least_of(at.needed.flops, at.layer, at.absorbed, floors.direct).value);
  plan.direct_flops.push_back(at.needed.flops.value);
}

inline FormPlan plan_single(const LayerGraph& graph, const RowTimes& times, const FloorInput& floors) {
  FormPlan plan;
  for (const auto& at : graph.layers) plan_call(plan, at, times, floors);
  return plan;
}

inline FormPlan plan_fused(const LayerGraph& fused, const LayerGraph& single, const FormPlan& single_plan,
                           const RowTimes& times, const FloorInput& floors, Figure figure, Weights weights) {
  const auto time_of_part = [&](const Part& part) {
    return weights == Weights::cold ? part.cold_time(figure) : part.time(figure);
  };
  FormPlan plan;
  for (const auto& at : fused.layers) {
    if (at.members.empty()) {
      plan_call(plan, at, times, floors);
      continue;
    }
    std::vector<Prefix> done(at.members.size() + 1);
    done[0].reachable = true;
    Seconds whole{}, floor{}, floor_without{};
    double flops = 0, direct_flops = 0;
    for (auto member : at.members) {
      whole += single_plan.whole_floors[member];
      floor += single_plan.floors[member];
      floor_without += single_plan.floors_without_weights[member];
      flops += single_plan.flops[member];
      direct_flops += single_plan.direct_flops[member];
    }
    if (at.members.size() > 1 || !at.pieces.empty()) {
      whole = std::min(whole, whole_floor(at, least_of(group_flops(at, single), at.layer, at.absorbed, floors.direct),
                                          floors.ceilings));
      floor = std::min(floor, needed_floor(at, floors, true));
      floor_without = std::min(floor_without, needed_floor(at, floors, false));
      flops = std::min(flops, least_of(at.needed.flops, at.layer, at.absorbed, floors.direct).value);
      direct_flops = std::min(direct_flops, at.needed.flops.value);
    }
    std::multimap<std::size_t, const Piece*> pieces;  // by their first member
    for (const Piece& piece : at.pieces) pieces.emplace(piece.first, &piece);
    bool untried = false;
    std::size_t node = 0;
    for (std::size_t i = 0; i < at.members.size(); ++i) {
      if (done[i].reachable) {
        bool is_replaced = false;
        for (auto [next_piece, end] = pieces.equal_range(i); next_piece != end; ++next_piece) {
          const Piece& piece = *next_piece->second;
          is_replaced = is_replaced || piece.count == 1;
          Part part = make_part(
              piece.layer, times, floors.ceilings,
              piece.count == at.members.size() ? whole : layer_floor(piece.layer, floors.ceilings, !floors.direct));
          part.node = node;
          part.first = i;
          part.count = piece.count;
          if (part.status == Status::missing) {
            untried = true;
            plan.untried.push_back(part.signature);
          }
          if (part.status == Status::modelled && !times.analytic() && piece.count > 1)
            continue;  // no library runs this group as one call: its parts bound it
          Prefix next = extend(done, i, {std::move(part)}, time_of_part);
          if (better(next, done[i + piece.count])) done[i + piece.count] = std::move(next);
        }
        auto alone = single_plan.parts[at.members[i]];
        for (auto& part : alone) {
          part.node = node;
          part.first = i;
        }
        if (is_free(at.layer)) alone.clear();  // movement that the layers around it do themselves
        if (!is_replaced) {
          Prefix next = extend(done, i, std::move(alone), time_of_part);
          if (better(next, done[i + 1])) done[i + 1] = std::move(next);
        }
      }
      node += single.layers[at.members[i]].nodes.size();
    }
    plan.parts.push_back(parts_of(std::move(done)));
    plan.status.push_back(untried ? Status::missing : worst(plan.parts.back()));
    plan.whole_floors.push_back(whole);
    plan.floors.push_back(floor);
    plan.floors_without_weights.push_back(floor_without);
    plan.flops.push_back(flops);
    plan.direct_flops.push_back(direct_flops);
  }
  return plan;
}

inline FormPlans plan_forms(const ModelLayers& model, const RowTimes& times, const FloorInput& floors, Figure figure) {
  FormPlans plans{.single = plan_single(model.single, times, floors)};
  const auto fused = [&](Weights weights) {
    return plan_fused(model.fused, model.single, plans.single, times, floors, figure, weights);
  };
  plans.fused = fused(Weights::cached);
  plans.resident = fused(Weights::cold);
  return plans;
}

}  // namespace benanza::detail
