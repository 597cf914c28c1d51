// SPDX-License-Identifier: Apache-2.0
// The cheapest partition of a form into calls. In single form each layer is one call. In fused form each group is one
// call, or is split into smaller groups and single layers if that is faster.
#pragma once

#include <benanza/base/detail/quantile.hpp>
#include <benanza/bounds/analysis.hpp>
#include <benanza/bounds/detail/best_rows.hpp>
#include <benanza/bounds/detail/occurrence_floors.hpp>
#include <benanza/bounds/detail/row_times.hpp>
#include <benanza/bounds/layer_floor.hpp>
#include <benanza/model/group_flops.hpp>
#include <benanza/model/layer_signature.hpp>
#include <benanza/model/model_layers.hpp>
#include <benanza/op/elementwise_expression.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace benanza::detail {

/// One call.
struct Part {
  SharedLayer layer{};
  Status status = Status::missing;
  const BestRows* best = nullptr;  ///< if measured
  Seconds floor{};                 ///< analytic, with the distinct bytes of this occurrence; its time if modelled
  std::size_t node = 0;            ///< the first of the occurrence's nodes that it covers
  std::size_t first = 0;           ///< index of the first member that it covers
  std::size_t count = 1;           ///< members that it covers

  /// The key of the layer in results.
  [[nodiscard]] const std::string& signature() const { return layer.signature().text(); }
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
  std::vector<OccurrenceFloors> floors{};  ///< the least over the partitions of the occurrence
  std::vector<std::string> untried{};      ///< signatures of calls for a group that have no time yet

  void reserve(std::size_t occurrences) {
    parts.reserve(occurrences);
    status.reserve(occurrences);
    floors.reserve(occurrences);
  }
};

/// The cheapest partitions of both forms for one figure.
struct FormPlans {
  FormPlan single{}, fused{};
  FormPlan resident{};  ///< fused, if no weights are in the caches; empty if nothing is measured
};
[[nodiscard]] FormPlans plan_forms(const ModelLayers& model, const RowTimes& times, const FloorInput& floors,
                                   Figure figure);

/// p10 of one call for a bound: over common rounds or samples, without launches.
[[nodiscard]] inline Seconds p10(const Measurement& row) {
  const double low = detail::quantile(row.rounds_s, 0.1);
  return without_launch(row, std::isfinite(low) ? Seconds{low} : row.times->p10);
}

/// A layer is modelled if no library runs it and it has an arithmetic floor: without a peak it would be a bound of
/// nothing.
inline Part make_part(const SharedLayer& layer, const RowTimes& times, const Ceilings& ceilings, Seconds floor) {
  Part part{.layer = layer, .floor = floor};
  part.best = times.find(part.signature());
  const bool has_no_plan = is_opaque(layer) || times.untimed().unsupported(part.signature());
  if (part.best) part.status = Status::measured;
  else if (has_no_plan && has_arithmetic_floor(layer, ceilings)) part.status = Status::modelled;
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

/// An occurrence as one call.
inline void plan_call(FormPlan& plan, const Occurrence& at, const RowTimes& times, const FloorInput& floors) {
  plan.floors.push_back(floors_of(at, cost(at.layer).flops - at.absorbed, floors));
  plan.parts.emplace_back();
  if (!is_free(at.layer))
    plan.parts.back().push_back(make_part(at.layer, times, floors.ceilings, plan.floors.back().whole));
  plan.status.push_back(worst(plan.parts.back()));
}

/// The cheapest calls for the first members of a group: those for fewer members, and the parts behind them. Layers that
/// were never measured count with their floor, so that a partial bound is still a bound.
struct Prefix {
  bool reachable = false;
  Seconds time{};
  std::size_t shorter = 0;  ///< the fewer members
  std::vector<Part> parts{};
};

/// All parts of the longest one, in order.
inline std::vector<Part> parts_of(std::vector<Prefix> prefixes) {
  std::vector<std::size_t> ends;
  for (std::size_t end = prefixes.size() - 1; end > 0; end = prefixes[end].shorter) ends.push_back(end);
  std::vector<Part> all;
  for (std::size_t i = ends.size(); i-- > 0;)
    for (Part& part : prefixes[ends[i]].parts) all.push_back(std::move(part));
  return all;
}

/// The plan of a fused form.
struct FusedPlan {
  const LayerGraph& single;
  const FormPlan& single_plan;
  const RowTimes& times;
  const FloorInput& floors;
  Figure figure;
  Weights weights;
  FormPlan plan{};

  [[nodiscard]] OccurrenceFloors group_floors(const Occurrence& at) const {
    OccurrenceFloors members{};
    for (const auto member : at.members) members += single_plan.floors[member];
    if (at.members.size() == 1 && at.pieces.empty()) return members;
    OccurrenceFloors result = least(members, floors_of(at, group_flops(at, single), floors));
    if (std::holds_alternative<op::Expression>(*at.layer) && at.outputs.size() > 1)
      result.without_weights = std::min(result.without_weights, shortest_path(at));
    return result;
  }

  /// The least that a path of layers may take through a group with several results, which need not be computed
  /// together: the time of its cheapest layer.
  [[nodiscard]] Seconds shortest_path(const Occurrence& at) const {
    Seconds least = single_plan.floors[at.members.front()].without_weights;
    for (const auto member : at.members)
      if (!is_free(single.layers[member].layer)) least = std::min(least, single_plan.floors[member].without_weights);
    return least;
  }

  /// Replaces the prefix behind `parts`, which cover `count` members from `first`, if this one is cheaper.
  void offer(std::vector<Prefix>& prefixes, std::size_t first, std::size_t count, std::vector<Part> parts) const {
    Prefix next{.reachable = true, .time = prefixes[first].time, .shorter = first, .parts = std::move(parts)};
    for (const auto& part : next.parts)
      next.time += weights == Weights::cold ? part.cold_time(figure) : part.time(figure);
    Prefix& best = prefixes[first + count];
    if (!best.reachable || next.time < best.time) best = std::move(next);
  }

  /// One call for a piece of a group. A group that no library runs as one call is bounded by its parts. In rows that
  /// are older than expressions, no library runs one.
  void offer_piece(std::vector<Prefix>& prefixes, const Occurrence& at, const Piece& piece, std::size_t node,
                   Seconds whole) {
    const bool is_newer = std::holds_alternative<op::Expression>(*piece.layer) && !times.has_expressions();
    if (is_newer && !times.analytic()) return;
    Part part =
        make_part(piece.layer, times, floors.ceilings,
                  piece.count == at.members.size() ? whole : layer_floor(piece.layer, floors.ceilings, !floors.direct));
    part.node = node;
    part.first = piece.first;
    part.count = piece.count;
    if (part.status == Status::missing) plan.untried.push_back(part.signature());
    const bool no_library_has_it = part.status == Status::modelled && !times.analytic() && piece.count > 1;
    if (!no_library_has_it) offer(prefixes, piece.first, piece.count, {std::move(part)});
  }

  /// The call of member `i`, whose first node is `node`.
  [[nodiscard]] std::vector<Part> alone(const Occurrence& at, std::size_t i, std::size_t node) const {
    if (is_free(at.layer)) return {};  // the layers around it do its movement
    std::vector<Part> parts = single_plan.parts[at.members[i]];
    for (auto& part : parts) {
      part.node = node;
      part.first = i;
    }
    return parts;
  }

  void plan_group(const Occurrence& at) {
    plan.floors.push_back(group_floors(at));
    if (at.members.size() == 1 && at.pieces.empty()) {
      plan.parts.push_back(alone(at, 0, 0));
      plan.status.push_back(worst(plan.parts.back()));
      return;
    }
    const std::size_t untried = plan.untried.size();
    std::multimap<std::size_t, const Piece*> pieces;  // by their first member
    for (const Piece& piece : at.pieces) pieces.emplace(piece.first, &piece);
    std::vector<Prefix> prefixes(at.members.size() + 1);
    prefixes[0].reachable = true;
    for (std::size_t i = 0, node = 0; i < at.members.size(); node += single.layers[at.members[i++]].nodes.size()) {
      if (!prefixes[i].reachable) continue;
      bool is_replaced = false;  // a piece takes the place of the layer's own call
      for (auto [next, end] = pieces.equal_range(i); next != end; ++next) {
        is_replaced = is_replaced || next->second->count == 1;
        offer_piece(prefixes, at, *next->second, node, plan.floors.back().whole);
      }
      if (is_replaced) continue;
      offer(prefixes, i, 1, alone(at, i, node));
    }
    plan.parts.push_back(parts_of(std::move(prefixes)));
    plan.status.push_back(plan.untried.size() > untried ? Status::missing : worst(plan.parts.back()));
  }
};

inline FormPlans plan_forms(const ModelLayers& model, const RowTimes& times, const FloorInput& floors, Figure figure) {
  FormPlans plans;
  plans.single.reserve(model.single.layers.size());
  for (const auto& at : model.single.layers) plan_call(plans.single, at, times, floors);
  const auto fused = [&](Weights weights) {
    FusedPlan fused_plan{model.single, plans.single, times, floors, figure, weights};
    fused_plan.plan.reserve(model.fused.layers.size());
    for (const auto& at : model.fused.layers) {
      if (at.members.empty()) plan_call(fused_plan.plan, at, times, floors);
      else fused_plan.plan_group(at);
    }
    return std::move(fused_plan.plan);
  };
  plans.fused = fused(Weights::cached);
  if (!times.analytic()) plans.resident = fused(Weights::cold);
  return plans;
}

}  // namespace benanza::detail
