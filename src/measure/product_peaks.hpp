// SPDX-License-Identifier: Apache-2.0
// Peaks by matrix products of the backends: for products that run on units that no loop here uses (AMX, Hopper's
// wgmma), or for types that no loop supports.
#pragma once

#include "candidate_finder.hpp"
#include <benanza/measure/measure.hpp>

#include <cstdint>
#include <set>
#include <span>
#include <vector>

namespace benanza::measure {

/// The types in which the layers multiply and for which products say more than loops: all except f32. On a device, also
/// f16, bf16 and tf32, whatever the layers are, since other sessions reuse its ceilings.
[[nodiscard]] std::set<DataType> product_types(std::span<const Wanted> wanted, bool device);
/// Rows of the products of `side` x `side` matrices, one per type whose peak by a product is not known yet. Products
/// that no backend supports, and those that fail, have no row. On a device, a peak is the best FLOPs per cycle times
/// the highest clock: a product that ran at a lower clock, for example because of a power limit, is scaled to
/// `highest_clock_hz`; 0 means no scaling.
[[nodiscard]] std::vector<CeilingRow> product_peaks(sampling::Host& host, const std::set<DataType>& types,
                                                    std::int64_t side, Backends backends, const MeasureOptions& options,
                                                    int threads, double highest_clock_hz = 0);

}  // namespace benanza::measure
