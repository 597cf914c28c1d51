// SPDX-License-Identifier: Apache-2.0
// OccurrenceFloors: the analytic times of one occurrence, which no implementation can beat.
#pragma once

#include <benanza/model/cost.hpp>
#include <benanza/model/layer.hpp>
#include <benanza/model/model_layers.hpp>
#include <benanza/results/machine.hpp>

#include <algorithm>

namespace benanza::detail {

/// What floors are computed with.
struct FloorInput {
  const Ceilings& ceilings;
  bool direct = false;  ///< direct algorithms alone count (AnalysisOptions::direct)
};

struct OccurrenceFloors {
  Seconds whole{};  ///< of the whole occurrence
  // Of the part of it that is needed:
  Seconds needed{}, without_weights{};
  double flops = 0, direct_flops = 0;  ///< that any algorithm and that the direct algorithm has to compute

  OccurrenceFloors& operator+=(const OccurrenceFloors& other) {
    whole += other.whole;
    needed += other.needed;
    without_weights += other.without_weights;
    flops += other.flops;
    direct_flops += other.direct_flops;
    return *this;
  }
};

/// The lower figure of each kind.
[[nodiscard]] inline OccurrenceFloors least(const OccurrenceFloors& a, const OccurrenceFloors& b) {
  return {.whole = std::min(a.whole, b.whole),
          .needed = std::min(a.needed, b.needed),
          .without_weights = std::min(a.without_weights, b.without_weights),
          .flops = std::min(a.flops, b.flops),
          .direct_flops = std::min(a.direct_flops, b.direct_flops)};
}

/// Movement is free, since a consumer could have read through it.
[[nodiscard]] inline Seconds time_of_work(const Occurrence& at, const Work& work, const Ceilings& ceilings) {
  if (is_movement(at.layer)) return {};
  return std::max(ceilings.arithmetic_floor(arithmetic_type(at.layer), work.flops),
                  ceilings.memory_floor(work.weights + work.activations, work.written));
}

/// The part of `flops`, which count the direct algorithm without what products absorb, that every known algorithm
/// needs.
[[nodiscard]] inline Flops least_of(Flops flops, const Occurrence& at) {
  const Cost c = cost(at.layer);
  const Flops direct = c.flops - at.absorbed, least = std::max(Flops{}, c.least_flops - at.absorbed);
  return direct.value > 0 ? flops * (least / direct) : flops;
}

/// Of an occurrence whose direct algorithm takes `flops`.
[[nodiscard]] inline OccurrenceFloors floors_of(const Occurrence& at, Flops flops, const FloorInput& in) {
  const auto counted = [&](Flops direct) { return in.direct ? direct : least_of(direct, at); };
  Work needed = at.needed;
  needed.flops = counted(at.needed.flops);
  OccurrenceFloors floors{
      .whole = time_of_work(at, {counted(flops), at.read_weights, at.read_activations, at.written}, in.ceilings),
      .needed = time_of_work(at, needed, in.ceilings),
      .flops = needed.flops.value,
      .direct_flops = at.needed.flops.value};
  needed.weights = {};
  floors.without_weights = time_of_work(at, needed, in.ceilings);
  return floors;
}

/// Whether the peak of its arithmetic is known. Integers of more than 8 bits have none: they compute addresses, which
/// do not count.
[[nodiscard]] inline bool has_arithmetic_floor(const Layer& layer, const Ceilings& ceilings) {
  const DataType type = arithmetic_type(layer);
  const auto peak = ceilings.peaks.find(type);
  return cost(layer).flops.value <= 0 || (!is_float(type) && !is_8_bit(type)) ||
         (peak != ceilings.peaks.end() && peak->second.value > 0);
}

}  // namespace benanza::detail
