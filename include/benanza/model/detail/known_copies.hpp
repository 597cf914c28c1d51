// SPDX-License-Identifier: Apache-2.0
// Positions of a result that have equal elements, along each axis and in the parts that a Concat joins.
#pragma once

#include <benanza/model/detail/known_few.hpp>
#include <benanza/model/detail/live_choices.hpp>
#include <benanza/model/detail/live_rules.hpp>
#include <benanza/model/detail/live_windows.hpp>
#include <benanza/model/detail/moved_copies.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace benanza::detail {

/// Whether attention computes every position of an axis in the same way. True for batches, for heads if they have an
/// axis of their own, and for tokens, whose results are equal only if tokens of an operand are. False if there is a
/// cache: the rule does not say what each position needs of it.
[[nodiscard]] inline bool is_alike_attention(const SizedNode& at, std::size_t axis) {
  const bool described = at.node.domain.empty() || at.node.op_type == "MultiHeadAttention";
  if (!std::holds_alternative<op::Attention>(at.layer) || !described) return false;
  for (std::size_t k = 4; k < at.node.inputs.size(); ++k)
    if (at.node.inputs[k]) return false;
  if (axis + 2 != at.y().size()) return axis + 2 < at.y().size();
  return at.known_x(0).copies_along(axis) || at.known_x(1).copies_along(axis) || at.known_x(2).copies_along(axis);
}

/// Whether a result at one position of an axis follows only from what it needs at that position, in the same way
/// everywhere.
[[nodiscard]] inline bool is_alike_along(const SizedNode& at, const std::string& type, std::size_t axis) {
  static const std::set<std::string_view> everywhere{
      "Transpose", "Cast",  "Slice", "Split", "QuantizeLinear", "DequantizeLinear", "MeanVarianceNormalization",
      "ArgMax",    "ArgMin"};
  static const std::set<std::string_view> batches{"DepthToSpace", "SpaceToDepth", "Resize", "Upsample"};
  const auto* resize = std::get_if<op::Resize>(&at.layer);  // between two positions, results differ by their weights
  const auto is_any_of = [&at]<class... Ops>(const std::variant<Ops...>*) {
    return (std::holds_alternative<Ops>(at.layer) || ...);
  };
  using Everywhere = std::variant<op::View, op::Unary, op::Binary, op::Nary, op::Where, op::BatchNorm, op::MatMul,
                                  op::Einsum, op::Softmax, op::AxisNorm, op::LayerNorm>;
  return everywhere.contains(type) || type.starts_with("Reduce") ||
         is_any_of(static_cast<const Everywhere*>(nullptr)) || (type == "LRN" && axis != 1) ||
         (axis < 2 && is_any_of(static_cast<const std::variant<op::Conv, op::Pool>*>(nullptr))) ||
         (axis == 0 && ((batches.contains(type) && !(resize && at.x(0)[0] != at.y()[0])) ||
                        is_any_of(static_cast<const std::variant<op::ConvTranspose, op::GroupNorm>*>(nullptr)))) ||
         is_alike_attention(at, axis);
}

/// The positions that a Gather's constant indices refer to, in order; equal positions are replaced by the first of
/// them. Empty if they are not known.
[[nodiscard]] inline std::vector<std::int64_t> distinct_places(const SizedNode& at, std::size_t axis) {
  const FirstEqual along = at.known_x(0).copies_along(axis);
  std::vector<std::int64_t> places = known_places(at, axis);
  for (auto& place : places)
    if (along) place = (*along)[static_cast<std::size_t>(place)];
  return places;
}

/// The positions of a Gather's result that have equal elements: those of its operand along the other axes, and
/// positions whose indices refer to the same positions, or to positions with equal elements, in the same order.
[[nodiscard]] inline std::vector<FirstEqual> gathered_copies(const SizedNode& at) {
  constexpr std::int64_t most_positions = 1 << 20;
  const auto axis = to_axis(at.node.attribute<std::int64_t>("axis", 0), at.x(0).size());
  const Dims &indices = at.x(1), &y = at.y();
  const std::size_t rank = indices.size();
  if (!axis || y.size() + 1 != at.x(0).size() + rank) return {};
  const KnownElements& x = at.known_x(0);
  const FirstEqual along = x.copies_along(*axis);
  const std::vector<std::int64_t> places = distinct_places(at, *axis);
  const bool all_equal = along && std::all_of(along->begin(), along->end(), [](auto p) { return p == 0; });
  std::vector<FirstEqual> result(y.size());
  for (std::size_t i = 0; i < y.size(); ++i) {
    if (y[i] < 2) continue;
    if (i < *axis || i >= *axis + rank) {
      result[i] = x.copies_along(i < *axis ? i : i + 1 - rank);
      continue;
    }
    if (places.empty() && (!all_equal || y[i] > most_positions)) continue;
    result[i] = equal_positions(places, y[i], product(indices, i - *axis + 1, rank));
  }
  return std::any_of(result.begin(), result.end(), [](const FirstEqual& first) { return first != nullptr; })
             ? result
             : std::vector<FirstEqual>{};
}

/// The positions of a GatherElements' result that have equal elements: with equal indices, of equal positions of the
/// operand.
[[nodiscard]] inline std::vector<FirstEqual> gathered_element_copies(const SizedNode& at) {
  const Dims& y = at.y();
  const auto axis = to_axis(at.node.attribute<std::int64_t>("axis", 0), at.x(0).size());
  if (!axis || at.x(1) != y || at.x(0).size() != y.size()) return {};
  const std::vector<std::int64_t> places = distinct_places(at, *axis);
  std::vector<FirstEqual> result(y.size());
  bool any = false;
  for (std::size_t i = 0; i < y.size() && !places.empty(); ++i) {
    const FirstEqual named = y[i] < 2 ? nullptr : equal_positions(places, y[i], product(y, i + 1, y.size())),
                     own = at.known_x(0).copies_along(i);
    if (!named || (i != *axis && !own)) continue;
    result[i] = named;
    if (i != *axis) {
      auto both = std::make_shared<std::vector<std::int64_t>>();
      std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> seen;
      for (std::int64_t p = 0; p < y[i]; ++p) {
        const auto at_p = static_cast<std::size_t>(p);
        both->push_back(seen.try_emplace({(*named)[at_p], (*own)[at_p]}, p).first->second);
      }
      result[i] = std::move(both);
    }
    any = true;
  }
  return any ? result : std::vector<FirstEqual>{};
}

/// Whether the rule of a node reads the same at each position of its result but for where that is, whatever is known of
/// the operands: zeros of one factor limit a product along its summed axis only, and each row and column in the same
/// way.
[[nodiscard]] inline bool reads_evenly(const SizedNode& at) {
  const bool is_even = std::holds_alternative<op::Unary>(at.layer) || std::holds_alternative<op::Binary>(at.layer) ||
                       std::holds_alternative<op::Transpose>(at.layer) ||
                       std::holds_alternative<op::Softmax>(at.layer) || std::holds_alternative<op::MatMul>(at.layer);
  return is_even && !known_update(at);
}

/// Whether no operand is known to be 0 or hidden at some positions, which are then not needed.
[[nodiscard]] inline bool needs_evenly(const SizedNode& at) {
  for (std::size_t k = 0; k < at.node.inputs.size(); ++k) {
    const KnownElements& x = at.known_x(k);
    if (x.band || x.few || x.nonzero < 1 || x.filled || !x.rows.empty()) return false;
  }
  return true;
}

/// For each axis of result `j`, the positions that have equal elements: those that Expand and Tile repeat, a Gather
/// picks twice, an upsampling copies or a Pad shows again, and those computed from them in the same way at each
/// position.
[[nodiscard]] inline std::vector<FirstEqual> known_copies(const SizedNode& at, const std::optional<LiveRule>& rule,
                                                          std::size_t j = 0) {
  constexpr std::int64_t most_positions = 8192, most_all_equal = 1 << 20, most_named = 1024;
  const std::string type = onnx_type(at.node);
  const Dims& y = at.y(j);
  const auto* resize = std::get_if<op::Resize>(&at.layer);
  const auto* pad = std::get_if<op::Pad>(&at.layer);
  const bool convolves = std::holds_alternative<op::Conv>(at.layer),
             slides = convolves || std::holds_alternative<op::Pool>(at.layer);
  if (type == "Gather") return gathered_copies(at);
  if (type == "GatherElements" && at.node.has_input(1)) return gathered_element_copies(at);
  const bool rows = type == "GatherND" && at.x(1).size() == 2 && at.x(1)[0] <= most_named &&
                    at.node.attribute<std::int64_t>("batch_dims", 0) == 0;
  const bool copies = type == "Expand" || type == "Tile" || type == "Concat" || pad || rows ||
                      (resize && resize->mode == op::ResizeMode::nearest);
  std::vector<FirstEqual> result = at.facts.moves == Moves::shape ? reshaped_copies(at.known_x(0).copies, at.x(0), y)
                                                                  : std::vector<FirstEqual>(y.size());
  if (!rule || (slides && has_channels_last(at.node))) return {};
  // What is needed at a position; equal positions are replaced by the first of them.
  Box one = whole_box(y);
  std::size_t longest = 0;  // key so far
  const auto needed_at = [&](std::size_t axis, std::int64_t position, bool by_firsts) {
    one[axis] = Positions::run(position, position + 1);
    std::vector<std::int64_t> key;
    key.reserve(longest);
    for (std::size_t k = 0; k < at.node.inputs.size(); ++k) {
      if (!at.node.inputs[k] || (copies && k > 0 && type != "Concat")) continue;  // sizes and positions
      const std::vector<FirstEqual>& equal = at.known_x(k).copies;
      const Dims& x = at.x(k);
      for (const auto& part : rule->operand(k, j, one)) {
        if (std::any_of(part.begin(), part.end(), [](const Positions& p) { return p.empty(); })) continue;
        key.push_back(-1 - static_cast<std::int64_t>(*at.node.inputs[k]));
        for (std::size_t i = 0; i < part.size(); ++i) {
          const auto* first = by_firsts && i < equal.size() ? equal[i].get() : nullptr;
          for (const auto& run : part[i].runs())
            if (first == nullptr || (run.begin == 0 && run.end == x[i])) {
              key.push_back(run.begin);
              key.push_back(run.end);
            } else
              for (auto p = run.begin; p < run.end; ++p) key.push_back((*first)[static_cast<std::size_t>(p)]);
        }
      }
    }
    one[axis] = Positions::whole(y[axis]);
    longest = std::max(longest, key.size());
    return key;
  };
  // Constants around a tensor are equal, but are already known: they matter only in addition to copies. In other modes
  // each position shows one position of the operand, unless the pads are too long to say which.
  const auto repeats = [&](std::size_t axis) {
    if (pad->mode == op::PadMode::constant) return at.known_x(0).copies_along(axis) != nullptr;
    Box box = whole_box(y);
    box[axis] = Positions::run(0, 1);
    const std::vector<Box> shown = rule->operand(0, 0, box);
    return shown.size() == 1 && shown[0][axis].count() == 1;
  };
  // Whether a position needs what others along the axis need, so that differences between them are not visible. A
  // position that needs nothing is constant; a one-hot product takes rows of its other operand, which are not examined
  // here.
  const auto is_mixed = [&](std::size_t axis) {
    const auto at_first = needed_at(axis, 0, false);
    if (at_first != needed_at(axis, y[axis] - 1, false)) return false;
    Box box = whole_box(y);
    if (at_first.empty()) {  // constant, unless it is only not certain what a position needs
      for (std::size_t k = 0; k < at.node.inputs.size(); ++k)
        if (at.node.inputs[k] && !rule->operand(k, j, box).empty()) return true;
      return false;
    }
    box[axis] = Positions::run(0, 1);
    const bool may_ignore = std::holds_alternative<op::LayerNorm>(at.layer) || repeats_operand(at.node) ||
                            std::holds_alternative<op::Attention>(at.layer);
    return !(may_ignore && rule->operand(0, j, box).empty());
  };
  // Whether samples of a long axis cannot show that all of its positions are equal.
  const auto varies = [&](std::size_t axis) {
    for (std::size_t k = 0; k < at.node.inputs.size(); ++k) {
      const std::vector<FirstEqual>& of_input = at.known_x(k).copies;
      for (std::size_t i = 0; i < of_input.size(); ++i)
        if (of_input[i] && (i == axis || static_cast<std::int64_t>(of_input[i]->size()) > most_positions) &&
            std::any_of(of_input[i]->begin(), of_input[i]->end(), [](auto p) { return p != 0; }))
          return true;
    }
    return at.facts.moves == Moves::shape;
  };
  // Whether each position needs another position of an operand, along an axis without copies. False if the first and
  // the last position cannot show this.
  const bool even = (!copies || type == "Expand") && !std::holds_alternative<op::Where>(at.layer) &&
                    !decides(at.node) && (needs_evenly(at) || reads_evenly(at));
  const auto all_differ = [&](std::size_t axis) {
    Box first = whole_box(y), last = first;
    first[axis] = Positions::run(0, 1);
    last[axis] = Positions::run(y[axis] - 1, y[axis]);
    for (std::size_t k = 0; k < (copies ? 1 : at.node.inputs.size()); ++k) {
      if (!at.node.inputs[k]) continue;
      const std::vector<Box> a = rule->operand(k, j, first), b = rule->operand(k, j, last);
      if (a.size() != 1 || b.size() != 1) continue;
      for (std::size_t i = 0; i < a[0].size(); ++i) {
        const auto at_first = a[0][i].runs(), at_last = b[0][i].runs();
        if (at_first.size() == 1 && at_last.size() == 1 && !at.known_x(k).copies_along(i) &&
            std::abs(at_last[0].begin - at_first[0].begin) >= y[axis] - 1)
          return true;
      }
    }
    return false;
  };
  bool any = false;
  for (std::size_t i = 0; i < y.size(); ++i) {
    any = any || result[i];
    if (y[i] < 2 || result[i] || (pad && !repeats(i))) continue;
    if (rows && i > 0) {
      result[i] = at.known_x(0).copies_along(i - 1 + static_cast<std::size_t>(at.x(1)[1]));
      any = any || result[i];
      continue;
    }
    if (type == "Tile" && y[i] <= most_all_equal) {
      result[i] = tiled_copies(at.known_x(0).copies_along(i), at.x(0)[i], y[i]);
      any = any || result[i];
      continue;
    }
    if (i >= 2 && slides) {
      if (const auto windows = convolves ? convolution_windows(at) : pool_windows(at))
        result[i] = equal_windows((*windows)[i - 2], at.known_x(0).copies_along(i));
      any = any || result[i];
      continue;
    }
    const bool from_one = resize && at.x(0)[i] == 1;  // in any mode
    if (!copies && !from_one && (!is_alike_along(at, type, i) || is_mixed(i))) continue;
    if (even && !from_one && all_differ(i)) continue;
    auto first = std::make_shared<std::vector<std::int64_t>>();
    if (y[i] > most_positions) {
      const auto at_first = needed_at(i, 0, true);
      bool equal = y[i] <= most_all_equal && !varies(i);
      std::vector<std::int64_t> looked_at{1, y[i] / 3, y[i] / 2, y[i] - 1};
      if (pad) {  // each element of the operand appears somewhere
        const auto cells = op::Pad::padding(at.node, at.graph);
        if (at.x(0)[i] > most_positions || !cells) continue;
        for (std::int64_t p = 0; p < at.x(0)[i]; ++p)
          if (const auto q = p + cells->before[i]; q >= 0 && q < y[i]) looked_at.push_back(q);
      }
      std::int64_t begin = 0;  // the first position of an operand of a Concat
      for (std::size_t k = 0; type == "Concat" && k < at.node.inputs.size() && begin < y[i]; ++k) {
        looked_at.push_back(begin);
        begin += at.x(k)[i];
      }
      for (const std::int64_t p : looked_at) equal = equal && needed_at(i, p, true) == at_first;
      if (!equal) continue;
      first->assign(static_cast<std::size_t>(y[i]), 0);
    } else {
      std::map<std::vector<std::int64_t>, std::int64_t> seen;
      for (std::int64_t p = 0; p < y[i]; ++p)
        first->push_back(seen.try_emplace(needed_at(i, p, true), p).first->second);
      if (static_cast<std::int64_t>(seen.size()) == y[i]) continue;
    }
    result[i] = std::move(first);
    any = true;
  }
  return any ? result : std::vector<FirstEqual>{};
}

/// The parts of a result that have copies of their own: tensors that a Concat joins, also after a Pad, a movement, or a
/// function of each element.
[[nodiscard]] inline std::vector<KnownPart> known_parts(const SizedNode& at) {
  const std::string type = onnx_type(at.node);
  if (type == "Pad") return padded_parts(at);
  if (at.facts.moves == Moves::shape) return reshaped_parts(at);
  if (type == "Transpose") return transposed_parts(at);
  if (type == "Cast" || std::holds_alternative<op::Unary>(at.layer)) return at.known_x(0).parts;
  if (std::holds_alternative<op::BatchNorm>(at.layer)) {
    std::vector<KnownPart> parts = at.known_x(0).parts;
    for (KnownPart& part : parts)
      if (part.copies.size() > 1) part.copies[1] = nullptr;  // each channel has its own scale
    return parts;
  }
  const auto axis = to_axis(at.node.attribute<std::int64_t>("axis", 0), at.y().size());
  if (type != "Concat" || !axis) return {};
  std::vector<KnownPart> parts;
  std::int64_t begin = 0;
  for (std::size_t k = 0; k < at.node.inputs.size(); ++k) {
    KnownPart part{*axis, begin, begin + at.x(k)[*axis], at.known_x(k).copies};
    begin = part.end;
    if (part.copies.size() != at.y().size()) continue;
    part.copies[*axis] = nullptr;
    if (std::any_of(part.copies.begin(), part.copies.end(), [](const FirstEqual& first) { return first != nullptr; }))
      parts.push_back(std::move(part));
  }
  return parts;
}

}  // namespace benanza::detail
