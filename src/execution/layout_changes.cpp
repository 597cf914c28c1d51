// SPDX-License-Identifier: Apache-2.0
#include "layout_changes.hpp"

#include "arena.hpp"
#include "time_of_calls.hpp"

#include <algorithm>
#include <array>

namespace benanza::execution {

namespace {

/// Least of some calls on memory of its own.
Seconds time_of(const Plan& plan, Device* device) {
  constexpr int least = 2, most = 20;
  constexpr double enough = 2e-4;
  const std::array needs{MemoryNeed{plan.inputs()[0].bytes, 0, 0}, MemoryNeed{plan.outputs()[0].bytes, 0, 0},
                         MemoryNeed{plan.workspace_bytes(), 0, 0}};
  const Arena arena(needs, device);
  const std::array<const void*, 1> inputs{arena.at(0)};
  const std::array<void*, 1> outputs{arena.at(1)};
  const Arguments arguments{.inputs = inputs, .outputs = outputs, .workspace = arena.at(2)};
  plan.execute(arguments);
  double fastest = 1, sum = 0;
  for (int i = 0; i < least || (i < most && sum < enough); ++i) {
    const double took = time_of_calls(device, [&] { plan.execute(arguments); }).value;
    fastest = std::min(fastest, took);
    sum += took;
  }
  return {fastest};
}

}  // namespace

std::optional<LayoutChange> LayoutChanges::fastest(DataType type, std::int64_t elements, const Arrangement& from,
                                                   const Arrangement& to) const {
  if (!from.order || !to.order) return std::nullopt;
  const auto dimensions = order_change(*from.order, *to.order, elements);
  if (!dimensions) return std::nullopt;
  constexpr std::int64_t of_one_thread = 1 << 15;  // bytes: waking another thread takes longer than to copy them
  const int threads = elements * bits(type) / 8 <= of_one_thread ? 1 : threads_;  // a device's plans have one
  std::optional<LayoutChange> best;
  for (const auto& backend : backends_)
    for (auto& plan : backend->copies(type, *dimensions, threads)) {
      const Seconds time = time_of(*plan, device_);
      if (best && best->alone <= time) continue;
      best = {.plan = std::move(plan),
              .backend = std::string(backend->name()),
              .uses_openmp = backend->uses_openmp(),
              .alone = time};
    }
  return best;
}

const LayoutChange* LayoutChanges::find(DataType type, std::int64_t elements, const Arrangement& from,
                                        const Arrangement& to) {
  const std::string key =
      std::to_string(static_cast<int>(type)) + "/" + std::to_string(elements) + "/" + from.key + "/" + to.key;
  const auto [found, added] = known_.try_emplace(key);
  if (added) found->second = fastest(type, elements, from, to);
  return found->second ? &*found->second : nullptr;
}

}  // namespace benanza::execution
