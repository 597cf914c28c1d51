// SPDX-License-Identifier: Apache-2.0
// What a node needs of its operands for parts of its results, whatever its operator.
#pragma once

#include <benanza/model/detail/known_elements.hpp>
#include <benanza/model/detail/live_products.hpp>
#include <benanza/model/detail/live_recurrent.hpp>
#include <benanza/model/detail/live_resize.hpp>
#include <benanza/model/detail/live_rules.hpp>
#include <benanza/model/detail/live_windows.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace benanza::detail {

/// The rule of a node; nothing where it needs all of its operands.
[[nodiscard]] inline std::optional<LiveRule> live_rule(const SizedNode& at) {
  const std::string type = onnx_type(at.node);
  const Layer& layer = at.layer;
  if (std::holds_alternative<op::Recurrent>(layer)) return recurrence(at);
  if (!at.node.has_output(0)) return std::nullopt;
  if (type == "Reshape" || type == "Flatten" || type == "Squeeze" || type == "Unsqueeze") return reshape(at);
  if (type == "Transpose") return transposition(at);
  if (type == "DepthToSpace" || type == "SpaceToDepth") return blocks(at);
  if (type == "Slice") return slice(at);
  if (type == "Split" || type == "Concat") return joined(at, type == "Split");
  if (type == "Gather") return gather(at);
  if (type == "Pad" || type == "CenterCropPad") return padding(at);
  if (type == "Einsum") return einsum(at);
  if (type == "CumSum") return cumulation(at);
  if (type == "LRN")
    return along_axes(
        at, [](std::size_t i) { return i == 1; }, 1);
  if (type == "Trilu") {
    LiveRule rule = elementwise(at);
    rule.reads = [band = known_band({at.node, at.graph, layer}).band](std::size_t k) {
      return k == 0 ? band : std::nullopt;
    };
    return rule;
  }
  if (type == "Identity" || type == "Dropout" || type == "Expand" || type == "Cast") return elementwise(at);
  if (type == "Resize" || type == "Upsample") return resize(at);
  if (type == "Tile" || type.starts_with("Scatter")) return same_axes(at);
  if (type.starts_with("Reduce") || type == "ArgMax" || type == "ArgMin") return reduction(at);
  if (type == "QuantizeLinear" || type == "DequantizeLinear") {
    if (at.node.attribute<std::int64_t>("block_size", 0) != 0) return std::nullopt;
    return elementwise(at, to_axis(at.node.attribute<std::int64_t>("axis", 1), at.y().size()));
  }
  if (std::holds_alternative<op::View>(layer) && at.x(0) == at.y()) return elementwise(at);
  if (std::holds_alternative<op::Rotary>(layer)) return rotation(at);
  if (std::holds_alternative<op::Unary>(layer) || std::holds_alternative<op::Binary>(layer) ||
      std::holds_alternative<op::Nary>(layer) || std::holds_alternative<op::Where>(layer))
    return elementwise(at);
  if (std::holds_alternative<op::BatchNorm>(layer)) return elementwise(at, 1);
  if (std::holds_alternative<op::Conv>(layer)) return convolution(at);
  if (std::holds_alternative<op::ConvTranspose>(layer)) return transposed_convolution(at);
  if (std::holds_alternative<op::Pool>(layer)) return pool(at);
  if (std::holds_alternative<op::MatMul>(layer)) return product(at);
  if (std::holds_alternative<op::Attention>(layer)) return attention(at);
  return normalization(at);
}

/// Axes along which all elements of the first result are equal: what Expand and Tile repeat, and what is computed from
/// it in the same way at each position.
[[nodiscard]] inline std::vector<bool> known_repeats(const SizedNode& at, const std::optional<LiveRule>& rule) {
  const std::string type = onnx_type(at.node);
  const Dims& y = at.y();
  std::vector<bool> repeated(y.size(), false);
  const bool copies = type == "Expand" || type == "Tile";
  const bool same = copies || type == "Transpose" || type == "Cast" || type.starts_with("Reduce") ||
                    std::holds_alternative<op::View>(at.layer) || std::holds_alternative<op::Unary>(at.layer) ||
                    std::holds_alternative<op::Binary>(at.layer) || std::holds_alternative<op::Nary>(at.layer) ||
                    std::holds_alternative<op::Where>(at.layer) || std::holds_alternative<op::BatchNorm>(at.layer) ||
                    std::holds_alternative<op::MatMul>(at.layer) || std::holds_alternative<op::Softmax>(at.layer) ||
                    std::holds_alternative<op::LayerNorm>(at.layer);
  for (std::size_t i = 0; same && i < y.size(); ++i) {
    if (y[i] < 2) continue;
    if (copies) {
      const std::size_t from_end = y.size() - i, rank = at.x(0).size();
      if (from_end > rank || at.x(0)[rank - from_end] == 1 || at.known_x(0).is_repeated(rank - from_end))
        repeated[i] = true;
      continue;
    }
    bool follows = false, equal = rule.has_value();
    for (std::size_t k = 0; equal && k < at.node.inputs.size(); ++k) {
      if (!at.node.inputs[k]) continue;
      const auto needed_at = [&](std::int64_t position) {
        Box box = whole_box(y);
        box[i] = Positions::run(position, position + 1);
        Region region(at.x(k));
        for (auto& part : rule->operand(k, 0, box)) region.add(std::move(part));
        return region;
      };
      Region first = needed_at(0), last = needed_at(y[i] - 1);
      follows = follows || !(first == last);
      for (std::size_t axis = 0; axis < at.x(k).size(); ++axis) {
        if (!at.known_x(k).is_repeated(axis)) continue;
        first.fold(axis);
        last.fold(axis);
      }
      equal = first == last;
    }
    repeated[i] = follows && equal;
  }
  if (std::find(repeated.begin(), repeated.end(), true) == repeated.end()) repeated.clear();
  return repeated;
}

/// What a node needs of its operands, and the share of its arithmetic that this takes.
struct Needs {
  std::vector<Region> inputs{};
  double flops = 1;
};

/// A band of a result as one of input `k`.
[[nodiscard]] inline std::optional<AxesBand> followed_band(const SizedNode& at, const LiveRule& rule, std::size_t k,
                                                           const std::vector<Region>& outputs) {
  if (!rule.follows || outputs.size() != 1 || !outputs[0].band()) return std::nullopt;
  const AxesBand& band = *outputs[0].band();
  const FollowedAxes axes = rule.follows(k);
  const auto axis_of = [&](std::size_t axis) {
    const auto found = static_cast<std::size_t>(std::find(axes.begin(), axes.end(), axis) - axes.begin());
    return found < axes.size() && at.x(k)[found] == at.y()[axis] ? std::optional(found) : std::nullopt;
  };
  const auto row = axis_of(band.row), column = axis_of(band.column);
  return row && column ? std::optional(AxesBand{*row, *column, band.band}) : std::nullopt;
}

[[nodiscard]] inline Needs needs_of(const SizedNode& at, const std::optional<LiveRule>& rule,
                                    const std::vector<Region>& outputs) {
  Needs result;
  for (std::size_t k = 0; k < at.node.inputs.size(); ++k) {
    result.inputs.emplace_back();
    if (!at.node.inputs[k]) continue;
    const Dims& x = at.x(k);
    Region region(x);
    for (std::size_t j = 0; rule && j < outputs.size(); ++j)
      for (const auto& y : outputs[j].boxes())
        for (auto& box : rule->operand(k, j, y)) region.add(std::move(box));
    if (!rule) region = Region::whole(x);
    if (const auto band = rule ? followed_band(at, *rule, k, outputs) : std::nullopt) region.clip(*band);
    if (const auto band = rule && rule->reads ? rule->reads(k) : std::nullopt) region.clip(*band);
    if (const auto known = at.known_x(k).band) {
      if (at.graph.input(at.node, k).constant) region = Region(x);  // both numbers are known
      else region.clip(*known);
    }
    result.inputs[k] = std::move(region);
  }
  if (!rule || outputs.empty()) return result;
  result.flops =
      rule->flops ? rule->flops(outputs, result.inputs.empty() ? Region{} : result.inputs[0]) : outputs[0].share();
  return result;
}

}  // namespace benanza::detail
