// SPDX-License-Identifier: Apache-2.0
#include "layout_changes.hpp"

#include "arena.hpp"
#include "time_of_calls.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

namespace benanza::execution {

namespace {

/// The least time of several calls, in an arena of their own.
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

std::optional<Layer> layout_change_layer(DataType type, std::int64_t elements, const Arrangement& from,
                                         const Arrangement& to) {
  if (!from.order || !to.order) return std::nullopt;
  auto dimensions = order_change(*from.order, *to.order, elements);
  if (!dimensions || dimensions->size() < 2 || dimensions->size() > TensorShape::capacity) return std::nullopt;
  std::sort(dimensions->begin(), dimensions->end(),
            [](const auto& a, const auto& b) { return a.x_stride > b.x_stride; });
  std::vector<std::size_t> order(dimensions->size());  // axes of the result, the slowest first
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return (*dimensions)[a].y_stride > (*dimensions)[b].y_stride; });
  op::Transpose transpose{.type = type};
  for (const auto& dimension : *dimensions) transpose.x.push_back(dimension.size);
  for (const auto axis : order) transpose.perm.push_back(static_cast<std::int64_t>(axis));
  return transpose;
}

std::optional<LayoutChange> LayoutChanges::fastest(DataType type, std::int64_t elements, const Arrangement& from,
                                                   const Arrangement& to) const {
  const auto layer = layout_change_layer(type, elements, from, to);
  if (!layer) return std::nullopt;
  if (auto call = plans_.fastest_plan(*layer)) return LayoutChange{.layer = *layer, .call = *std::move(call)};
  constexpr std::int64_t of_one_thread = 1 << 15;  // bytes; waking another thread takes longer than copying them
  std::optional<LayoutChange> best;
  for (auto& call : plans_.offered(*layer, elements * bits(type) / 8 <= of_one_thread)) {
    call.alone = time_of(*call.plan, device_);
    if (!best || call.alone < best->call.alone) best = {.layer = *layer, .call = std::move(call)};
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

std::optional<Seconds> LayoutChanges::row_time(DataType type, std::int64_t elements, const Arrangement& from,
                                               const Arrangement& to) {
  const auto layer = layout_change_layer(type, elements, from, to);
  if (!layer || !plans_.best_time(*layer)) return std::nullopt;
  const LayoutChange* const change = find(type, elements, from, to);
  return change ? std::optional(change->call.alone) : std::nullopt;
}

}  // namespace benanza::execution
