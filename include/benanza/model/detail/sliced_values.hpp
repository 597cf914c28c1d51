// SPDX-License-Identifier: Apache-2.0
// SlicedValue: a tensor from which each pass of a loop reads the slice at one position.
#pragma once

#include <benanza/detail/node.hpp>
#include <benanza/model/graph.hpp>
#include <benanza/model/region.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <utility>
#include <vector>

namespace benanza::detail {

/// The position `scale * pass + offset`.
struct PassPlace {
  std::int64_t scale = 0, offset = 0;
};
/// The position that a value of a Loop's body contains. Empty if it may be anything else.
[[nodiscard]] inline std::optional<PassPlace> pass_place(const Graph& body, ValueId id, int depth = 0) {
  constexpr int deepest = 6;
  constexpr std::int64_t largest = 1 << 30;
  const Value& value = body.value(id);
  if (value.elements() != 1 || (value.type != DataType::i64 && value.type != DataType::i32)) return std::nullopt;
  if (id == body.inputs[0]) return PassPlace{1, 0};
  if (const auto number = scalar(value); number && std::abs(*number) < largest)
    return PassPlace{0, static_cast<std::int64_t>(*number)};
  const auto maker = std::find_if(body.nodes.begin(), body.nodes.end(),
                                  [id](const Node& node) { return node.has_output(0) && *node.outputs[0] == id; });
  if (depth > deepest || maker == body.nodes.end() || !maker->domain.empty() || !maker->has_input(0))
    return std::nullopt;
  const std::string& type = maker->op_type;
  const auto first = pass_place(body, *maker->inputs[0], depth + 1);
  if (type == "Identity" || type == "Cast" || type == "Unsqueeze" || type == "Squeeze" || type == "Reshape")
    return first;
  if (!first || !maker->has_input(1)) return std::nullopt;
  const auto second = pass_place(body, *maker->inputs[1], depth + 1);
  if (!second) return std::nullopt;
  std::optional<PassPlace> result;
  if (type == "Add") result = {first->scale + second->scale, first->offset + second->offset};
  if (type == "Sub") result = {first->scale - second->scale, first->offset - second->offset};
  if (type == "Mul" && first->scale == 0) result = {first->offset * second->scale, first->offset * second->offset};
  if (type == "Mul" && second->scale == 0) result = {first->scale * second->offset, first->offset * second->offset};
  if (result && std::max(std::abs(result->scale), std::abs(result->offset)) >= largest) return std::nullopt;
  return result;
}

/// A sequence of a Scan, or what a Loop's body gathers at a position that follows from the number of the pass.
struct SlicedValue {
  ValueId slice = 0;        ///< value in the body
  ValueId source = 0;       ///< value around the loop
  std::size_t axis = 0;     ///< axis of the source
  PassPlace place{};        ///< negative positions count from the end
  bool keeps_axis = false;  ///< the slice has this axis as well

  /// Adds what is needed of the source if some passes need `part` of their slices.
  void add(Region& all, const Region& part, const Positions::Run& passes) const {
    const std::int64_t size = all.dims()[axis];
    const Positions run = Positions::run(passes.begin, passes.end);
    const Positions places =
        unite(stepped(run, place.offset, place.scale, size), stepped(run, place.offset + size, place.scale, size));
    for (Box box : part.boxes()) {
      if (keeps_axis) box[axis] = places;
      else box.insert(box.begin() + static_cast<std::ptrdiff_t>(axis), places);
      all.add(std::move(box));
    }
  }
};

/// Whether the dimensions of a slice are those of its source without the axis, or with one position along it.
[[nodiscard]] inline bool has_dims_of_slice(Dims source, const Dims& slice, std::size_t axis, bool keeps_axis) {
  if (keeps_axis) source[axis] = 1;
  else source.erase(source.begin() + static_cast<std::ptrdiff_t>(axis));
  return source == slice;
}

[[nodiscard]] inline std::vector<SlicedValue> sequences_of_scan(const Graph& graph, const Node& node) {
  std::vector<SlicedValue> result;
  const Graph& body = node.bodies[0].graph;
  const auto count = static_cast<std::size_t>(node.attribute<std::int64_t>("num_scan_inputs", 0));
  const std::size_t states = body.inputs.size() - std::min(body.inputs.size(), count);
  const Dims axes = node.attribute<Dims>("scan_input_axes", Dims(count, 0)),
             directions = node.attribute<Dims>("scan_input_directions", Dims(count, 0));
  for (std::size_t k = states; node.opset >= 9 && k < body.inputs.size(); ++k) {
    if (!node.has_input(k) || k - states >= std::min(axes.size(), directions.size())) continue;
    const Value& source = graph.input(node, k);
    const auto axis = to_axis(axes[k - states], source.dims.size());
    if (!axis || source.data_dependent || source.dims[*axis] != node.trip_count ||
        !has_dims_of_slice(source.dims, body.value(body.inputs[k]).dims, *axis, false))
      continue;
    const bool reversed = directions[k - states] != 0;
    result.push_back({.slice = body.inputs[k],
                      .source = *node.inputs[k],
                      .axis = *axis,
                      .place = reversed ? PassPlace{-1, *node.trip_count - 1} : PassPlace{1, 0}});
  }
  return result;
}

[[nodiscard]] inline std::vector<SlicedValue> gathered_by_pass(const Graph& graph, const Node& node) {
  std::vector<SlicedValue> result;
  const Graph& body = node.bodies[0].graph;
  for (const Node& each : body.nodes) {
    if (each.op_type != "Gather" || !each.domain.empty() || !each.has_input(0) || !each.has_input(1)) continue;
    const auto captured = std::find_if(body.captures.begin(), body.captures.end(),
                                       [&each](const auto& capture) { return capture.first == *each.inputs[0]; });
    const auto place = pass_place(body, *each.inputs[1]);
    if (captured == body.captures.end() || !place) continue;
    const Value& source = graph.value(captured->second);
    const std::size_t rank = body.input(each, 1).dims.size();
    const auto axis = to_axis(each.attribute<std::int64_t>("axis", 0), source.dims.size());
    if (axis && rank < 2 && !source.data_dependent && source.dims == body.input(each, 0).dims &&
        has_dims_of_slice(source.dims, body.output(each, 0).dims, *axis, rank == 1))
      result.push_back({.slice = *each.outputs[0],
                        .source = captured->second,
                        .axis = *axis,
                        .place = *place,
                        .keeps_axis = rank == 1});
  }
  return result;
}

/// The sliced values of a Loop or Scan with a known number of passes.
[[nodiscard]] inline std::vector<SlicedValue> sliced_values(const Graph& graph, const Node& node) {
  constexpr std::int64_t most_passes = std::int64_t{1} << 32;
  if (!node.trip_count || *node.trip_count < 1 || *node.trip_count > most_passes) return {};
  return node.op_type == "Scan" ? sequences_of_scan(graph, node) : gathered_by_pass(graph, node);
}

}  // namespace benanza::detail
