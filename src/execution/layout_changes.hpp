// SPDX-License-Identifier: Apache-2.0
// LayoutChanges: the fastest plan that converts a tensor from one form to another. A layout change is a layer, the
// transposition of a tensor's digits (plan/element_order.hpp), so it has rows like any other layer.
#pragma once

#include "arrangement.hpp"
#include "call_plans.hpp"

#include <map>
#include <optional>
#include <string>

namespace benanza::execution {

struct LayoutChange {
  Layer layer{};
  /// `alone` is the time of its row. Without a row, it is the time of a call that is repeated by itself, with
  /// everything in the caches.
  CallPlan call{};
};

/// The layer that converts `elements` elements from one form to another. Empty if one of the forms has no order, if
/// both are the same in memory, or if a layer has too few dimensions for it.
[[nodiscard]] std::optional<Layer> layout_change_layer(DataType type, std::int64_t elements, const Arrangement& from,
                                                       const Arrangement& to);

class LayoutChanges {
 public:
  /// Both must outlive it. `device`: the device on which plans run, or null for the processor.
  explicit LayoutChanges(const CallPlans& plans, Device* device = nullptr) : plans_(plans), device_(device) {}

  /// The plan of the fastest row. If no row's plan can be built, all plans are timed, once. Null if there is no layer
  /// or no plan for it.
  [[nodiscard]] const LayoutChange* find(DataType type, std::int64_t elements, const Arrangement& from,
                                         const Arrangement& to);
  /// The time of that plan. Empty if the layer has no rows; no plan is timed.
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
