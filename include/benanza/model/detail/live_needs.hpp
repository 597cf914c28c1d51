// SPDX-License-Identifier: Apache-2.0
// What a node with any operator needs of its operands for parts of its results.
#pragma once

#include <benanza/model/detail/known_bands.hpp>
#include <benanza/model/detail/known_few.hpp>
#include <benanza/model/detail/known_zeros.hpp>
#include <benanza/model/detail/live_attention.hpp>
#include <benanza/model/detail/live_choices.hpp>
#include <benanza/model/detail/live_experts.hpp>
#include <benanza/model/detail/live_items.hpp>
#include <benanza/model/detail/live_movement.hpp>
#include <benanza/model/detail/live_products.hpp>
#include <benanza/model/detail/live_recurrent.hpp>
#include <benanza/model/detail/live_resize.hpp>
#include <benanza/model/detail/live_rules.hpp>
#include <benanza/model/detail/live_samples.hpp>
#include <benanza/model/detail/live_windows.hpp>
#include <benanza/model/detail/moved_copies.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
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

/// The rule of a node that changes a few rows of an operand. The other operands are needed for these rows.
[[nodiscard]] inline LiveRule updated_rows(const Update& update, LiveRule rule) {
  rule.operand = [update, of_all = rule.operand](std::size_t k, std::size_t j, const Box& y) -> std::vector<Box> {
    if (k == update.kept) return of_all(k, j, y);
    Box rows = y;
    rows[update.rows.axis] = few_of(update.rows, y[update.rows.axis]);
    return of_all(k, j, rows);
  };
  rule.flops = [update](std::span<const Region> y, const Region&) {
    return update.replaces ? 0.0 : y[0].share() * update.share();
  };
  return rule;
}

/// The rule of a sum of several tensors, some of which are zeros.
[[nodiscard]] inline LiveRule sum_of_some(const SizedNode& at) {
  LiveRule rule = elementwise(at);
  double added = -1;
  for (std::size_t k = 0; k < at.node.inputs.size(); ++k) {
    const auto few = at.known_x(k).few;
    if (!few || few->count > 0 || few->rest != 0) ++added;
  }
  rule.flops = [share = std::max(0.0, added) / static_cast<double>(at.node.inputs.size() - 1)](
                   std::span<const Region> y, const Region&) { return y[0].share() * share; };
  return rule;
}

/// The rule of a node. Empty if it needs all of its operands.
[[nodiscard]] inline std::optional<LiveRule> live_rule(const SizedNode& at) {
  if (const auto update = known_update(at)) return updated_rows(*update, elementwise(at));
  const bool computes = std::holds_alternative<op::Binary>(at.layer) || std::holds_alternative<op::Unary>(at.layer) ||
                        std::holds_alternative<op::Cast>(at.layer) || std::holds_alternative<op::Where>(at.layer);
  if (computes && chooses_numbers(at)) {
    LiveRule rule = elementwise(at);
    rule.flops = [](std::span<const Region>, const Region&) { return 0.0; };
    return rule;
  }
  const std::string type = onnx_type(at.node);
  const Layer& layer = at.layer;
  if (std::holds_alternative<op::Recurrent>(layer)) return recurrence(at);
  if (type == "LSTM" || type == "GRU" || type == "RNN") return other_recurrence(at);
  if (at.node.op_type == "EmbedLayerNormalization" || at.node.op_type == "GatherBlockQuantized" ||
      at.node.op_type == "TorchEmbedding" ||
      ((at.node.op_type == "MoE" || at.node.op_type == "QMoE") && at.node.has_input(1) && !at.x(1).empty()))
    return certain_rows(at);
  if (!at.node.has_output(0)) return std::nullopt;
  if (is_reshape(type)) return reshape(at);
  if (type == "Transpose") return transposition(at);
  if (type == "DepthToSpace" || type == "SpaceToDepth") return blocks(at);
  if (type == "Slice") return slice(at);
  if (type == "Split" || type == "Concat" || type == "com.microsoft.QLinearConcat") return joined(at, type == "Split");
  if (type.starts_with("Gather"))
    if (auto rule = chosen_results(at)) return rule;
  if (type == "Gather") return gather(at);
  if (type == "GatherND" || type == "GatherElements") return gather_places(at);
  if (type == "Tile") return tiling(at);
  if (type == "Pad" || type == "CenterCropPad") return padding(at);
  if (type == "Einsum") return einsum(at);
  if (type == "CumSum" || type == "CumProd") return cumulation(at);
  if (type == "LRN") return channel_window(at);
  if (type == "MeanVarianceNormalization") return mean_variance(at);
  if (type == "ReverseSequence") return reversal(at);
  if (type == "RandomNormalLike" || type == "RandomUniformLike" || type == "EyeLike")  // only the shape is read
    return leaving_out(elementwise(at), [](std::size_t, std::size_t) { return true; });
  if (type == "CastLike") return leaving_out(elementwise(at), [](std::size_t k, std::size_t) { return k == 1; });
  if (type == "Dropout")  // what it drops does not depend on its operand
    return leaving_out(elementwise(at), [](std::size_t, std::size_t j) { return j > 0; });
  if (type == "Trilu") {
    LiveRule rule = elementwise(at);
    rule.reads = [band = known_band({at.node, at.graph, layer}).band](std::size_t k) {
      return k == 0 ? band : std::nullopt;
    };
    return rule;
  }
  if (type == "Identity" || type == "Expand" || type == "Cast" || type == "com.microsoft.QLinearWhere")
    return elementwise(at);
  if (type == "com.microsoft.QLinearSoftmax")
    return along_axis(at, at.node.attribute<std::int64_t>("opset", 0) < 13, 1, -1);
  if (type == "Resize" || type == "Upsample") return resize(at);
  if (type.starts_with("Scatter")) return scatter(at);
  if (type.starts_with("Reduce") || type == "ArgMax" || type == "ArgMin" || type == "com.microsoft.QLinearReduceMean")
    return reduction(at);
  if (type == "DynamicQuantizeLinear") return dynamic_quantization(at);
  if (type == "QuantizeLinear" || type == "DequantizeLinear") {
    if (at.node.attribute<std::int64_t>("block_size", 0) != 0) return blocked_quantization(at);
    return elementwise(at, to_axis(at.node.attribute<std::int64_t>("axis", 1), at.y().size()));
  }
  if (type == "STFT")
    if (auto rule = frames(at)) return rule;
  if (auto axes = followed_items(at, type)) {
    if (type == "GridSample") return grid_samples(at, std::move(*axes));
    return type == "RoiAlign" ? box_samples(at, std::move(*axes)) : items(at, std::move(*axes));
  }
  if (std::holds_alternative<op::View>(layer) && at.x(0) == at.y()) return elementwise(at);
  if (repeats_operand(at.node)) return repeated_operand(at);
  if (decides(at.node)) return decision(at);
  if (std::holds_alternative<op::Rotary>(layer)) return rotation(at);
  if (std::holds_alternative<op::Where>(layer)) return choice(at);
  if (type == "Sum" && std::holds_alternative<op::Nary>(layer)) return sum_of_some(at);
  if (std::holds_alternative<op::Unary>(layer) || std::holds_alternative<op::Binary>(layer) ||
      std::holds_alternative<op::Nary>(layer))
    return elementwise(at);
  if (std::holds_alternative<op::BatchNorm>(layer)) return elementwise(at, 1);
  if (std::holds_alternative<op::Conv>(layer)) return convolution(at);
  if (std::holds_alternative<op::ConvTranspose>(layer)) return transposed_convolution(at);
  if (std::holds_alternative<op::Pool>(layer)) return pool(at);
  if (std::holds_alternative<op::MatMul>(layer)) return product(at);
  if (std::holds_alternative<op::Attention>(layer)) return attention(at);
  if (std::holds_alternative<op::Loss>(layer)) return loss(at);
  if (type == "Softmax" && known_few(at)) return elementwise(at);  // hidden scores are not read
  return normalization(at);
}

/// Operators whose results are partly known, whatever their operands are.
[[nodiscard]] inline bool makes_known(const Graph& graph, const Node& node) {
  static const std::set<std::string, std::less<>> makers{
      "Trilu",    "OneHot", "Expand", "Tile", "EyeLike",         "Transpose", "Pad",    "Resize",
      "Upsample", "And",    "Equal",  "TopK", "ScatterElements", "ArgMax",    "ArgMin", "Hardmax"};
  if (node.op_type == "Where") return repeats_operand(node);  // the condition may have more rows
  if (node.op_type == "Gather" || node.op_type == "GatherND")
    return node.has_input(1) && graph.input(node, 1).literal.has_value();
  if (node.op_type == "Concat") return std::set(node.inputs.begin(), node.inputs.end()).size() < node.inputs.size();
  return makers.contains(node.op_type);
}

/// Whether attention treats all batches, and all heads that have an axis of their own, alike: its rule says what each
/// of them needs, except of a cache.
[[nodiscard]] inline bool is_alike_attention(const SizedNode& at, std::size_t axis) {
  if (!std::holds_alternative<op::Attention>(at.layer) || !at.node.domain.empty()) return false;
  for (std::size_t k = 4; k < at.node.inputs.size(); ++k)
    if (at.node.inputs[k]) return false;
  return axis == 0 || (axis == 1 && at.y().size() == 4);
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
  const bool rows = type == "GatherND" && at.x(1).size() == 2 && at.x(1)[0] <= most_named &&
                    at.node.attribute<std::int64_t>("batch_dims", 0) == 0;
  const bool copies = type == "Expand" || type == "Tile" || type == "Concat" || pad || rows ||
                      (resize && resize->mode == op::ResizeMode::nearest);
  std::vector<FirstEqual> result =
      is_reshape(type) ? reshaped_copies(at.known_x(0).copies, at.x(0), y) : std::vector<FirstEqual>(y.size());
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
    if (at_first.empty() || at_first != needed_at(axis, y[axis] - 1, false)) return false;
    Box box = whole_box(y);
    box[axis] = Positions::run(0, 1);
    const bool may_ignore = std::holds_alternative<op::LayerNorm>(at.layer) || repeats_operand(at.node);
    return !(may_ignore && rule->operand(0, j, box).empty());
  };
  // Whether samples of a long axis cannot show that all of its positions are equal.
  const auto varies = [&](std::size_t axis) {
    for (std::size_t k = 0; k < at.node.inputs.size(); ++k) {
      const std::vector<FirstEqual> of_input = at.known_x(k).copies;
      for (std::size_t i = 0; i < of_input.size(); ++i)
        if (of_input[i] && (i == axis || static_cast<std::int64_t>(of_input[i]->size()) > most_positions) &&
            std::any_of(of_input[i]->begin(), of_input[i]->end(), [](auto p) { return p != 0; }))
          return true;
    }
    return is_reshape(type);
  };
  // Whether each position needs another position of an operand, along an axis without copies. False if the first and
  // the last position cannot show this.
  const bool even = (!copies || type == "Expand") && !std::holds_alternative<op::Where>(at.layer) &&
                    !decides(at.node) && needs_evenly(at);
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
  if (is_reshape(type)) return reshaped_parts(at);
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

/// The axes of a reshaped form `y` that have the same positions as some adjacent axes of `x`. Empty if there are none.
[[nodiscard]] inline std::optional<DistinctPositions> reshaped_positions(DistinctPositions of, const Dims& x,
                                                                         const Dims& y) {
  const std::int64_t outer = product(x, 0, of.first), inside = product(x, of.first, of.first + of.axes);
  std::size_t first = 0;
  while (first < y.size() && product(y, 0, first + 1) <= outer) ++first;
  std::size_t end = first;
  while (end < y.size() && product(y, first, end) < inside) ++end;
  if (product(y, 0, first) != outer || product(y, first, end) != inside) return std::nullopt;
  of.first = first;
  of.axes = end - first;
  return of;
}

/// The number of different contents of positions that a Gather makes, and of what is computed from them in the same way
/// at each of these positions.
[[nodiscard]] inline std::vector<DistinctPositions> known_distinct(const SizedNode& at,
                                                                   const std::vector<FirstEqual>& copies) {
  const std::string type = onnx_type(at.node);
  const Dims& y = at.y();
  std::vector<DistinctPositions> result;
  std::optional<std::size_t> from;  // the operand that has such positions
  for (std::size_t k = 0; k < at.node.inputs.size(); ++k)
    if (!at.known_x(k).distinct.empty()) {
      if (from) return {};
      from = k;
    }
  if (type == "Gather") {
    const auto axis = to_axis(at.node.attribute<std::int64_t>("axis", 0), at.x(0).size());
    const std::size_t rank = at.x(1).size();
    if (!axis || from.value_or(0) != 0 || y.size() + 1 != at.x(0).size() + rank) return {};
    for (DistinctPositions each : at.known_x(0).distinct) {
      if (each.first <= *axis && *axis < each.first + each.axes) continue;
      if (each.first > *axis) each.first += rank - 1;
      result.push_back(each);
    }
    const std::vector<std::int64_t> places = distinct_places(at, *axis);
    double classes = 1;  // that the copies along each axis leave
    for (std::size_t i = *axis; i < *axis + rank; ++i)
      classes *= static_cast<double>(firsts(Positions::whole(y[i]), i < copies.size() ? copies[i] : nullptr).count());
    const auto distinct = static_cast<double>(std::set<std::int64_t>(places.begin(), places.end()).size());
    if (!places.empty() && classes > distinct) result.push_back({*axis, rank, distinct / classes});
    return result;
  }
  if (!from) return {};
  const Dims& x = at.x(*from);
  const bool product_of_rows = std::holds_alternative<op::MatMul>(at.layer) && *from == 0 && at.x(1).size() == 2;
  const bool single = type == "Cast" || std::holds_alternative<op::Unary>(at.layer);
  for (const DistinctPositions& each : at.known_x(*from).distinct) {
    const std::size_t end = each.first + each.axes;
    if (is_reshape(type)) {
      if (const auto moved = reshaped_positions(each, x, y)) result.push_back(*moved);
      continue;
    }
    if (type == "Transpose") {
      const auto rule = transposition(at);
      DistinctPositions moved = each;
      bool adjacent = rule.has_value();
      for (std::size_t i = each.first; adjacent && i < end; ++i) {
        const std::size_t axis = rule->follows(0)[i];
        if (i == each.first) moved.first = axis;
        adjacent = axis == moved.first + i - each.first;
      }
      if (adjacent) result.push_back(moved);
      continue;
    }
    bool alike = single && x == y;
    if (product_of_rows) alike = end < x.size() && at.node.attribute<std::int64_t>("transA", 0) == 0;
    if (std::holds_alternative<op::Binary>(at.layer) && x == y) {  // the other operand has one number for all of them
      const Dims& other = at.x(1 - *from);
      alike = true;
      for (std::size_t i = each.first; i < end; ++i)
        alike = alike && (i + other.size() < y.size() || other[i + other.size() - y.size()] == 1);
    }
    if (alike) result.push_back(each);
  }
  return result;
}

/// The share of the arithmetic of a node that is left if it computes each different content of such positions once.
/// `part`: what is needed of its result.
[[nodiscard]] inline double distinct_share(const std::vector<DistinctPositions>& distinct, double share,
                                           const Region& part) {
  for (const DistinctPositions& each : distinct) {
    bool whole = true;  // otherwise, it is not known how many of the needed ones are equal
    for (std::size_t i = each.first; i < each.first + each.axes; ++i)
      for (const Box& box : part.boxes()) whole = whole && box[i] == Positions::whole(part.dims()[i]);
    share = whole ? share * each.share : std::max(0.0, share - (1 - each.share));
  }
  return share;
}

/// Whether a factor of 0 makes the operands of a product irrelevant.
[[nodiscard]] inline bool multiplies_by_zero(const Node& node) {
  static const std::set<std::string_view> scaled{"Gemm", "FusedGemm", "FusedMatMul"};
  return scaled.contains(node.op_type) && node.attribute<double>("alpha", 1) == 0;
}

/// Whether input `k` need not be read although the layer has it: factors of 0, positions that are in the code of the
/// program, and two of the four vectors of a batch norm, which are combined into two before a request arrives.
[[nodiscard]] inline bool is_left_out(const SizedNode& at, std::size_t k) {
  const auto is_constant = [&at](std::size_t i) { return at.node.has_input(i) && at.graph.input(at.node, i).constant; };
  if (at.node.op_type == "MatMulNBits") return k == 4 && is_constant(4);  // which group a row belongs to
  if (k == 1 && read_positions(at) == 0) return true;
  if (!at.known.empty() && is_constant(k) && at.node.op_type == "Concat" &&
      at.known[*at.node.outputs[0]].chosen_columns)
    return true;
  if (at.node.op_type == "ScatterElements" && k == 0) return known_few(at).has_value();  // one number in all places
  if (is_constant(k) && chooses_numbers(at)) return true;                                // numbers in the code
  if (onnx_type(at.node) == "GridSample" || onnx_type(at.node) == "RoiAlign") return k > 0 && is_constant(k);
  if (std::holds_alternative<op::MatMul>(at.layer)) {
    const bool adds = at.node.op_type == "Gemm" || at.node.op_type == "FusedGemm";
    return (k < 2 && multiplies_by_zero(at.node)) || (k == 2 && adds && at.node.attribute<double>("beta", 1) == 0);
  }
  if (!std::holds_alternative<op::BatchNorm>(at.layer) || k == 0) return false;
  for (std::size_t i = 1; i < 5; ++i)
    if (!is_constant(i)) return false;
  const bool narrow = bits(at.graph.input(at.node, 3).type) < bits(at.graph.input(at.node, 1).type);
  return narrow ? k < 3 : k > 2;
}

/// Whether a floor counts less of a node than its layer does, even if all of its results are needed.
[[nodiscard]] inline bool counts_less(const SizedNode& at) {
  for (std::size_t k = 0; k < at.node.inputs.size(); ++k)
    if (is_left_out(at, k)) return true;
  const auto* resize = std::get_if<op::Resize>(&at.layer);  // at the scales that the node names
  return std::holds_alternative<op::Recurrent>(at.layer) || decides(at.node) ||
         (resize && resize->mode != op::ResizeMode::nearest) ||
         (std::holds_alternative<op::Attention>(at.layer) &&
          (op::Attention::is_filled_by_data(at.node, at.graph) || lengths_are_data(at.node, at.graph)));
}

/// What a node needs of its operands, and the share of its arithmetic that this takes.
struct Needs {
  std::vector<Region> inputs{};
  double flops = 1;
};

/// A band of a result, converted to a band of input `k`.
[[nodiscard]] inline std::optional<AxesBand> followed_band(const SizedNode& at, const LiveRule& rule, std::size_t k,
                                                           const std::vector<Region>& outputs) {
  if (!rule.follows || outputs.size() != 1 || !outputs[0].band()) return std::nullopt;
  const AxesBand& band = *outputs[0].band();
  const FollowedAxes axes = rule.follows(k);
  const auto axis_of = [&](std::size_t axis) {
    const auto found = static_cast<std::size_t>(std::find(axes.begin(), axes.end(), axis) - axes.begin());
    const bool moved = found < axes.size() && (!rule.begins.empty() || at.x(k)[found] == at.y()[axis]);
    return moved ? std::optional(found) : std::nullopt;
  };
  const auto begin = [&](std::size_t axis) { return rule.begins.empty() ? 0 : rule.begins[axis]; };
  const auto row = axis_of(band.row), column = axis_of(band.column);
  if (!row || !column) return std::nullopt;
  return AxesBand{*row, *column, band.band.from(-begin(band.row), -begin(band.column))};
}

[[nodiscard]] inline Needs needs_of(const SizedNode& at, const std::optional<LiveRule>& rule,
                                    const std::vector<Region>& outputs) {
  Needs result;
  result.inputs.reserve(at.node.inputs.size());
  const bool is_product = std::holds_alternative<op::MatMul>(at.layer);
  for (std::size_t k = 0; k < at.node.inputs.size(); ++k) {
    result.inputs.emplace_back();
    if (!at.node.inputs[k]) continue;
    const Dims& x = at.x(k);
    Region region(x);
    for (std::size_t j = 0; rule && j < outputs.size(); ++j)
      // If not all of a box is needed, the elements of each axis are sufficient for products and element-wise layers.
      for (const auto& y : rule->follows || is_product ? outputs[j].boxes() : outputs[j].certain())
        for (auto& box : rule->operand(k, j, y)) region.add(std::move(box));
    if (!rule) region = Region::whole(x);
    if (!at.known.empty() && is_left_out(at, k)) region = Region(x);
    if (const double read = k == 1 ? read_positions(at) : 1; read > 0 && read < 1)
      region.limit(region.count() * read, {});
    if (const auto band = rule ? followed_band(at, *rule, k, outputs) : std::nullopt) region.clip(*band);
    if (const auto band = rule && rule->reads ? rule->reads(k) : std::nullopt) region.clip(*band);
    if (const auto known = at.known_x(k).band) {
      const Value& value = at.graph.input(at.node, k);
      if (value.constant && value.banded && !value.banded->differ) region = Region(x);  // both numbers are known
      else region.clip(*known);
    }
    if (const auto& filled = at.known_x(k).filled) region.clip(*filled);
    if (rule && rule->follows && !outputs.empty() && outputs[0].limited())
      if (auto certain = rule->operand(k, 0, outputs[0].certain()[0]); !certain.empty())
        region.limit(*outputs[0].limited(), std::move(certain[0]));
    result.inputs[k] = std::move(region);
  }
  if (!at.known.empty() && is_product && multiplies_by_zero(at.node)) result.flops = 0;
  if (!rule || outputs.empty() || result.flops == 0) return result;
  result.flops =
      rule->flops ? rule->flops(outputs, result.inputs.empty() ? Region{} : result.inputs[0]) : outputs[0].share();
  if (!at.known.empty() && is_product && at.node.has_input(2) && is_left_out(at, 2)) {  // not added either
    const auto& product = std::get<op::MatMul>(at.layer);
    result.flops *= 1 - static_cast<double>(element_count(product.y())) / product.arithmetic().flops;
  }
  return result;
}

}  // namespace benanza::detail
