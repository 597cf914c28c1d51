// SPDX-License-Identifier: Apache-2.0
// The ladder (docs/measuring.md, "The ladder"): all rungs, in their order.
#pragma once

#include <benanza/bounds/detail/analytic_rungs.hpp>
#include <benanza/bounds/detail/ladder_input.hpp>
#include <benanza/bounds/detail/measured_rungs.hpp>
#include <benanza/bounds/detail/rung_relations.hpp>

#include <algorithm>
#include <cstddef>
#include <string>

namespace benanza::detail {

inline Rungs ladder(const LadderInput& in) {
  const Seconds floor = model_floor(in);
  Rungs rungs;
  if (!in.times.analytic()) rungs = measured_ladder(in, floor, in.times.doubt());
  const auto in_doubt = std::find_if(rungs.begin(), rungs.end(), [](const Rung& rung) { return rung.provisional(); });
  if (in_doubt != rungs.end() && in.times.doubt().empty())  // all are from the same rounds
    rungs = measured_ladder(in, floor, std::string(in_doubt->doubt));
  const auto at = [&](RungName name) -> Rung& { return rungs[static_cast<std::size_t>(name)]; };
  at(RungName::model_floor).bound = floor;
  const bool has_analytic = has_floors(in);
  if (has_analytic) add_rooflines(rungs, in);
  for (const auto& [low, high, kept] : relations) establish(kept, at(low), at(high), in.device);
  if (!has_analytic) at(RungName::model_floor) = {};
  return rungs;
}

}  // namespace benanza::detail
