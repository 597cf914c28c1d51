// SPDX-License-Identifier: Apache-2.0
// Rungs that no measurement enters: the model floor and the rooflines.
#pragma once

#include <benanza/bounds/detail/branches.hpp>
#include <benanza/bounds/detail/ladder_input.hpp>
#include <benanza/bounds/detail/occurrence_floors.hpp>
#include <benanza/model/model_layers.hpp>

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace benanza::detail {

/// The memory floor of the model's bytes: inputs and weights touched once, outputs. Behind each level, a recurrence
/// reads again what exceeds the caches.
inline Seconds model_memory_floor(const LayerGraph& single, const Ceilings& ceilings) {
  Seconds floor{};
  for (const auto& level : ceilings.levels) {
    Bytes reads = single.model_reads;
    for (const auto& [weights, times] : single.rereads)
      reads += Bytes{std::max(0.0, weights.value - level.in_front.value)} * times;
    floor = std::max(floor, Ceilings{.levels = {level}}.memory_floor(reads, single.model_writes));
  }
  return floor;
}

/// max over arithmetic types of (FLOPs in it / its peak), and the memory floor of the model.
inline Seconds model_floor(const LadderInput& in, double OccurrenceFloors::*flops = &OccurrenceFloors::flops) {
  const LayerGraph& fused = in.model.fused;
  std::map<DataType, std::vector<double>> by_type;
  for (std::size_t i = 0; i < fused.layers.size(); ++i) {
    auto& amounts = by_type[arithmetic_type(fused.layers[i].layer)];
    amounts.resize(fused.layers.size(), 0.0);
    amounts[i] = in.bound.fused.floors[i].*flops;
  }
  Seconds floor = model_memory_floor(in.model.single, in.ceilings);
  for (const auto& [type, amounts] : by_type)
    floor = std::max(floor, in.ceilings.arithmetic_floor(type, {total_of(fused, amounts).value}));
  return floor;
}

/// Whether ceilings are known, and peaks for all arithmetic except a hundredth; otherwise floors would cover only the
/// rest.
inline bool has_floors(const LadderInput& in) {
  constexpr double most_unknown = 0.01;
  double all = 0, unknown = 0;
  for (std::size_t i = 0; i < in.model.fused.layers.size(); ++i) {
    const Occurrence& at = in.model.fused.layers[i];
    const double flops = in.bound.fused.floors[i].flops * static_cast<double>(at.repeat);
    all += flops;
    if (!has_arithmetic_floor(at.layer, in.ceilings)) unknown += flops;
  }
  return unknown <= most_unknown * all && !in.ceilings.peaks.empty() && !in.ceilings.levels.empty();
}

/// The model floor if only direct algorithms existed; empty if there is no model floor.
inline std::optional<Seconds> direct_floor(const LadderInput& in) {
  return has_floors(in) ? std::optional(model_floor(in, &OccurrenceFloors::direct_flops)) : std::nullopt;
}

inline std::vector<double> times_of(const std::vector<OccurrenceFloors>& floors, Seconds OccurrenceFloors::*which) {
  std::vector<double> result;
  for (const auto& each : floors) result.push_back((each.*which).value);
  return result;
}

/// All bytes of all groups from memory.
inline std::optional<Seconds> roofline_memory(const LadderInput& in) {
  std::vector<double> moved;
  for (const auto& at : in.model.fused.layers)
    moved.push_back(is_movement(at.layer) ? 0 : (at.read_weights + at.read_activations + at.written).value);
  const auto bandwidth = in.ceilings.memory_bandwidth();
  if (!(bandwidth.value > 0)) return std::nullopt;
  return Bytes{total_of(in.model.fused, std::move(moved)).value} / bandwidth;
}

inline void add_rooflines(Rungs& rungs, const LadderInput& in) {
  const LayerGraph& fused = in.model.fused;
  const auto bound = [&](RungName name) -> auto& { return rungs[static_cast<std::size_t>(name)].bound; };
  const std::vector<OccurrenceFloors>& floors = in.bound.fused.floors;
  bound(RungName::roofline) = total_of(fused, times_of(floors, &OccurrenceFloors::needed));
  bound(RungName::roofline_parallel) = longest(fused, times_of(floors, &OccurrenceFloors::without_weights)).length;
  bound(RungName::roofline_memory) = roofline_memory(in);
}

}  // namespace benanza::detail
