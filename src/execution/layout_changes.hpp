// SPDX-License-Identifier: Apache-2.0
// LayoutChanges: the fastest plan that brings a tensor from one form into another. A change of layout is a layer, the
// transposition of a tensor's digits (plan/element_order.hpp), so that it has rows like any other.
#pragma once

#include "arrangement.hpp"
#include "call_plans.hpp"

#include <map>
#include <optional>
#include <string>

namespace benanza::execution {

struct LayoutChange {
  Layer layer{};
  /// `alone` is the time in its row; where it has none, that of a call repeated by itself, everything in the caches.
  CallPlan call{};
};

/// The layer that brings `elements` elements from one form into another. Nothing where one of the forms has no order,
/// where both are the same memory, or where a layer has too few dimensions for it.
[[nodiscard]] std::optional<Layer> layout_change_layer(DataType type, std::int64_t elements, const Arrangement& from,
                                                       const Arrangement& to);

class LayoutChanges {
 public:
  /// Both outlive it. `device`: the one that plans work on; null: the processor.
  explicit LayoutChanges(const CallPlans& plans, Device* device = nullptr) : plans_(plans), device_(device) {}

  /// The plan of the fastest row. Where no plan of a row can be built, all plans are timed, once. Null where no layer
  /// or no plan does it.
  [[nodiscard]] const LayoutChange* find(DataType type, std::int64_t elements, const Arrangement& from,
                                         const Arrangement& to);
  /// The time of that plan; nothing where the layer has no rows, so that nothing is timed.
  [[nodiscard]] std::optional<Seconds> row_time(DataType type, std::int64_t elements, const Arrangement& from,
                                                const Arrangement& to);

 private:
  [[nodiscard]] std::optional<LayoutChange> fastest(DataType type, std::int64_t elements, const Arrangement& from,
                                                    const Arrangement& to) const;

  const CallPlans& plans_;
  Device* device_;
  std::map<std::string, std::optional<LayoutChange>> known_{};
};

}  // namespace benanza::execution
