// SPDX-License-Identifier: Apache-2.0
// The roofline of one layer.
#pragma once

#include <benanza/model/group_flops.hpp>
#include <benanza/model/layer.hpp>
#include <benanza/results/machine.hpp>

#include <algorithm>

namespace benanza {

/// max(FLOPs / peak, memory floor) of a layer on its own buffers: the ceiling of its measured rows. For plans that save
/// multiplications, what every known algorithm needs counts.
[[nodiscard]] inline Seconds layer_floor(const Layer& layer, const Ceilings& ceilings,
                                         bool saves_multiplications = false) {
  const Cost c = cost(layer);
  const Flops flops = (saves_multiplications ? c.least_flops : c.flops) - free_flops(layer);
  return std::max(ceilings.arithmetic_floor(arithmetic_type(layer), flops),
                  ceilings.memory_floor(c.weights + c.activations, c.written));
}

}  // namespace benanza
