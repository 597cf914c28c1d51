// SPDX-License-Identifier: Apache-2.0
// Peaks by matrix products of the backends: where a product runs on units that no loop here knows (AMX, Hopper's
// wgmma), or no loop does the type at all.
#pragma once

#include "candidate_finder.hpp"
#include <benanza/measure/measure.hpp>

#include <cstdint>
#include <set>
#include <span>
#include <vector>

namespace benanza::bench {

/// The types that the layers multiply in and that products tell more of than loops: all but f32. On a device also f16,
/// bf16 and tf32, whatever the layers are: other sessions take its ceilings over.
[[nodiscard]] std::set<DataType> product_types(std::span<const Wanted> wanted, bool device);
/// Rows of the products of `side` x `side` matrices in each type whose peak by a product is not known yet; those that
/// no backend has, and those that went wrong, have none. On a device a peak is the best FLOPs per cycle times the
/// highest clock: a product that ran at a lower clock, as a power limit makes it, is scaled to `highest_clock_hz`; 0
/// leaves it as it ran.
[[nodiscard]] std::vector<CeilingRow> product_peaks(Host& host, const std::set<DataType>& types, std::int64_t side,
                                                    Backends backends, const MeasureOptions& options, int threads,
                                                    double highest_clock_hz = 0);

}  // namespace benanza::bench
