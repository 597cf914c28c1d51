// SPDX-License-Identifier: Apache-2.0
// SlicedValue: a tensor from which each pass of a loop reads the slice at one position.
#pragma once

#include <benanza/base/detail/node.hpp>
#include <benanza/model/detail/pass_numbers.hpp>
#include <benanza/model/detail/region.hpp>
#include <benanza/model/graph.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace benanza::detail {

/// A sequence of a Scan, or what a Loop's body gathers at a position that follows from the number of the pass.
struct SlicedValue {
  ValueId slice = 0;        ///< value in the body
  ValueId source = 0;       ///< value around the loop
  std::size_t axis = 0;     ///< axis of the source
  PassPlace place{};        ///< its position along the axis; negative ones count from the end
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
  const PassNumbers numbers(graph, node.inputs, body);
  for (const Node& each : body.nodes) {
    if (each.op_type != "Gather" || !each.domain.empty() || !each.has_input(0) || !each.has_input(1)) continue;
    const auto captured = std::find_if(body.captures.begin(), body.captures.end(),
                                       [&each](const auto& capture) { return capture.first == *each.inputs[0]; });
    const auto place = numbers.of(*each.inputs[1]);
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
