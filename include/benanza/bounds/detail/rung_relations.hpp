// SPDX-License-Identifier: Apache-2.0
// The relations between rungs, and how each is kept (docs/measuring.md, "The order of the rungs").
#pragma once

#include <benanza/bounds/analysis.hpp>

#include <algorithm>
#include <array>
#include <cstdint>

namespace benanza::detail {

enum class Kept : std::uint8_t {
  raised,   ///< a bound for more engines also bounds fewer: the higher rung is raised
  lowered,  ///< every schedule of the higher rung is also one of the lower rung: the lower rung is lowered
  checked,  ///< only scripts/check-measurements checks it
};
/// `low` is at most `high`.
struct Relation {
  RungName low, high;
  Kept kept;
};
/// In the order in which they are established.
inline constexpr std::array relations{
    Relation{RungName::model_floor, RungName::roofline_parallel, Kept::raised},
    Relation{RungName::model_floor, RungName::roofline, Kept::raised},
    Relation{RungName::model_floor, RungName::library_fused_parallel, Kept::raised},
    Relation{RungName::model_floor, RungName::library_parallel, Kept::raised},
    Relation{RungName::model_floor, RungName::library_fused, Kept::raised},
    Relation{RungName::model_floor, RungName::library, Kept::raised},
    Relation{RungName::model_floor, RungName::library_fused_resident, Kept::raised},
    Relation{RungName::model_floor, RungName::library_resident, Kept::raised},
    Relation{RungName::library_fused, RungName::library, Kept::lowered},
    Relation{RungName::library_fused_parallel, RungName::library_parallel, Kept::lowered},
    Relation{RungName::library_parallel, RungName::library, Kept::lowered},
    Relation{RungName::library_fused_parallel, RungName::library_fused, Kept::lowered},
    Relation{RungName::library_fused_resident, RungName::library_resident, Kept::lowered},
    Relation{RungName::library_fused, RungName::library_fused_resident, Kept::raised},
    Relation{RungName::library, RungName::library_resident, Kept::raised},
    Relation{RungName::roofline_parallel, RungName::roofline, Kept::checked},
    Relation{RungName::roofline, RungName::library_fused, Kept::checked},
};

/// On a device the expected figure has another partition than the bound, and the other rung may have the lower one.
inline Rung lower(const Rung& a, const Rung& b, bool device) {
  Rung result = b.bound && (!a.bound || *b.bound < *a.bound) ? b : a;
  if (device && a.median && b.median) result.median = std::min(*a.median, *b.median);
  return result;
}

inline void establish(Kept kept, Rung& low, Rung& high, bool device) {
  if (kept == Kept::lowered) low = lower(low, high, device);
  if (kept != Kept::raised || !low.bound || !high.bound || *high.bound >= *low.bound) return;
  constexpr double rounding = 1e-9;  // the same floors summed in another order
  if (low.median) {                  // in single rounds another partition may have been faster
    high = low;
    return;
  }
  if (high.median && *high.bound < *low.bound * (1 - rounding)) {
    high.raised = *low.bound - *high.bound;
    high.floor_share = 1 - *high.bound * (1 - high.floor_share) / *low.bound;
  }
  high.bound = low.bound;
  if (high.median) high.median = std::max(*high.median, *low.bound);
}

}  // namespace benanza::detail
