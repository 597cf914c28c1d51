// SPDX-License-Identifier: Apache-2.0
// Where tensors may differ from 0: within the operand of a Pad, and in what is computed from a padded tensor.
#pragma once

#include <benanza/base/detail/einsum_labels.hpp>
#include <benanza/base/detail/node.hpp>
#include <benanza/model/detail/known_bands.hpp>
#include <benanza/model/detail/live_gradients.hpp>
#include <benanza/model/detail/live_movement.hpp>
#include <benanza/model/detail/region.hpp>
#include <benanza/model/graph.hpp>
#include <benanza/model/layer.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace benanza::detail {

/// The numbers of positions that a Pad adds or removes, if it fills in one number. Empty if they depend on data.
[[nodiscard]] inline std::optional<op::Pad::Cells> known_padding(const SizedNode& at) {
  const auto* pad = std::get_if<op::Pad>(&at.layer);
  const bool known = given_ints(at.node, at.graph, at.node.opset < 2 ? "paddings" : "pads", 1).known &&
                     given_ints(at.node, at.graph, "axes", 3).known;
  return pad != nullptr && pad->mode == op::PadMode::constant && known ? op::Pad::padding(at.node, at.graph)
                                                                       : std::nullopt;
}

/// Where a boolean constant may be true, as positions of a tensor that it broadcasts to.
[[nodiscard]] inline Box true_places(const Value& constant, const Dims& y) {
  const auto& literal = constant.literal;
  const Dims& dims = constant.dims;
  Box box = whole_box(y);
  if (!literal || static_cast<std::int64_t>(literal->ints.size()) != constant.elements() || dims.size() > y.size())
    return box;
  std::vector<std::vector<Positions::Run>> runs(dims.size());
  bool any = false;
  for (std::size_t n = 0; n < literal->ints.size(); ++n) {
    if (literal->ints[n] == 0) continue;
    any = true;
    auto rest = static_cast<std::int64_t>(n);
    for (std::size_t i = dims.size(); i-- > 0; rest /= dims[i]) runs[i].push_back({rest % dims[i], rest % dims[i] + 1});
  }
  for (std::size_t i = 0; i < dims.size(); ++i)
    if (const std::size_t axis = y.size() - dims.size() + i; dims[i] == y[axis])
      box[axis] = Positions(std::move(runs[i]));
  return any ? box : Box(y.size());
}

/// Where a tensor may differ from 0, as positions of a tensor that it broadcasts to.
[[nodiscard]] inline Box broadcast_box(const Box& box, const Dims& x, const Dims& y) {
  Box result = whole_box(y);
  for (std::size_t i = 0; i < x.size() && x.size() <= y.size(); ++i) {
    const std::size_t axis = y.size() - x.size() + i;
    if (x[i] == y[axis] || box[i].empty()) result[axis] = box[i];
  }
  return result;
}

/// The boxes of a Gather's result that show a box of its operand. Empty if the indices are not known.
[[nodiscard]] inline std::vector<Box> gathered_boxes(const SizedNode& at, const Box& box) {
  const auto axis = to_axis(at.node.attribute<std::int64_t>("axis", 0), at.x(0).size());
  const Dims& indices = at.x(1);
  if (!axis || at.y().size() + 1 != at.x(0).size() + indices.size()) return {};
  const std::vector<std::int64_t> places = known_places(at, *axis);
  std::vector<Positions::Run> inside;
  for (std::size_t n = 0; n < places.size(); ++n)
    if (contains(box[*axis], Positions::run(places[n], places[n] + 1)))
      inside.push_back({static_cast<std::int64_t>(n), static_cast<std::int64_t>(n) + 1});
  if (places.empty() || inside.size() > Positions::most_runs) return {};
  std::vector<Box> boxes = unfolded(Positions(std::move(inside)), indices);
  for (Box& each : boxes) {
    each.insert(each.begin(), box.begin(), box.begin() + static_cast<std::ptrdiff_t>(*axis));
    each.insert(each.end(), box.begin() + static_cast<std::ptrdiff_t>(*axis) + 1, box.end());
  }
  return boxes;
}

/// Where a convolution, pool or reduction may differ from 0. An image or a channel that is made of zeros only is 0.
[[nodiscard]] inline std::optional<Box> filled_by_sums(const SizedNode& at, std::string_view type, const Box& x) {
  static const std::set<std::string_view> pools{"AveragePool",       "MaxPool",       "LpPool",
                                                "GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"};
  const Dims& y = at.y();
  Box box = whole_box(y);
  const bool pool = pools.contains(type), biased = at.node.has_input(2) || at.node.has_input(3);
  if (pool || ((type == "Conv" || type == "ConvTranspose" || type == "ConvInteger") && !biased)) {
    if (y.size() != x.size()) return std::nullopt;
    box[0] = x[0];
    if (pool) box[1] = x[1];
    return box;
  }
  if (!reduces_to_zero(at)) return std::nullopt;
  const auto axes = kept_axes(at);
  for (std::size_t i = 0; axes && i < axes->size(); ++i)
    if ((*axes)[i] != whole_axis && y[(*axes)[i]] == at.x(0)[i]) box[(*axes)[i]] = x[i];
  return axes ? std::optional(box) : std::nullopt;
}

/// Where the gradient of a Gather's operand may differ from 0: at the places in the file from which it took elements.
[[nodiscard]] inline std::optional<Box> filled_by_places(const SizedNode& at, const std::optional<Box>& dy) {
  const auto axis = to_axis(at.node.attribute<std::int64_t>("axis", 0), at.y().size());
  const std::vector<std::int64_t> places = axis ? places_along(at, at.y()[*axis]) : std::vector<std::int64_t>{};
  Box box = whole_box(at.y());
  for (std::size_t i = 0; dy && axis && i < box.size(); ++i)
    if (i != *axis) box[i] = (*dy)[i < *axis ? i : i + at.x(0).size() - box.size()];
  if (!places.empty()) {
    std::vector<Positions::Run> runs;
    for (const std::int64_t place : places) runs.push_back({place, place + 1});
    box[*axis] = Positions(std::move(runs));
  }
  return box == whole_box(at.y()) ? std::nullopt : std::optional(box);
}

/// Where the gradient of the operand of a norm or softmax may differ from 0.
[[nodiscard]] inline std::optional<Box> filled_gradient(const SizedNode& at, const Box& dy) {
  const auto independent = independent_axes(at);
  if (!independent) return std::nullopt;
  Box box = whole_box(at.y());
  for (std::size_t i = 0; i < box.size(); ++i)
    if ((*independent)[i]) box[i] = dy[i];
  return box == whole_box(at.y()) ? std::nullopt : std::optional(box);
}

/// Where a result may differ from 0: within the operand of a Pad, and in what is computed from it element by element.
[[nodiscard]] inline std::optional<Box> known_filled(const SizedNode& at) {
  const std::string type = onnx_type(at.node);
  const Dims& y = at.y();
  const auto x_of = [&](std::size_t k) { return at.known_x(k).filled; };
  if (type == "Pad") {
    const auto cells = known_padding(at);
    if (!cells || std::get<op::Pad>(at.layer).nonzero) return std::nullopt;
    Box box = x_of(0).value_or(whole_box(at.x(0)));
    for (std::size_t i = 0; i < box.size(); ++i) box[i] = stepped(box[i], cells->before[i], 1, y[i]);
    return box;
  }
  if (type == "And" && at.node.opset >= 7) {  // And broadcasts from the last axis
    Box box = whole_box(y);
    for (const std::size_t k : {0U, 1U}) {
      const auto x = x_of(k);
      const Box own = x ? broadcast_box(*x, at.x(k), y) : true_places(at.graph.input(at.node, k), y);
      for (std::size_t i = 0; i < box.size(); ++i) box[i] = common(box[i], own[i]);
    }
    return box == whole_box(y) ? std::nullopt : std::optional(box);
  }
  if (type == "Mul") {
    Box box = whole_box(y);
    for (const std::size_t k : {0U, 1U})
      if (const auto x = x_of(k)) {
        const Box own = broadcast_box(*x, at.x(k), y);
        for (std::size_t i = 0; i < box.size(); ++i) box[i] = common(box[i], own[i]);
      }
    return box == whole_box(y) ? std::nullopt : std::optional(box);
  }
  if (std::holds_alternative<op::GatherGradient>(at.layer)) return filled_by_places(at, x_of(0));
  if (type == "Einsum") {
    const std::size_t count = at.node.inputs.size();
    const auto labels = count > 2 ? std::nullopt
                                  : EinsumLabels::parse(at.node.attribute<std::string>("equation", ""), at.x(0).size(),
                                                        count == 2 ? std::optional(at.x(1).size()) : std::nullopt);
    if (!labels || labels->y.size() != y.size()) return std::nullopt;
    Box box = whole_box(y);
    for (std::size_t k = 0; k < count; ++k) {
      const TensorShape& own = k == 0 ? labels->a : labels->b;
      const auto x = x_of(k);
      for (std::size_t i = 0; x && i < own.size(); ++i)
        for (std::size_t j = 0; j < y.size(); ++j)
          if (labels->y[j] == own[i] && at.x(k)[i] == y[j]) box[j] = common(box[j], (*x)[i]);
    }
    return box == whole_box(y) ? std::nullopt : std::optional(box);
  }
  if (type == "Gemm" && !at.node.has_input(2)) {
    Box box = whole_box(y);
    for (std::size_t k = 0; k < 2; ++k)
      if (const auto x = x_of(k)) {
        const bool turned = at.node.attribute<std::int64_t>(k == 0 ? "transA" : "transB", 0) != 0;
        box[k] = (*x)[turned ? 1 - k : k];
      }
    return box == whole_box(y) ? std::nullopt : std::optional(box);
  }
  const bool without_zero_points = !at.node.has_input(2) && !at.node.has_input(3);
  const bool fused = type == "com.microsoft.FusedMatMul" && at.node.attribute<std::int64_t>("transBatchA", 0) == 0 &&
                     at.node.attribute<std::int64_t>("transBatchB", 0) == 0;
  if (type == "MatMul" || fused || (type == "MatMulInteger" && without_zero_points)) {  // rows and columns of zeros
    Box box = whole_box(y);
    const bool are_matrices = at.x(0).size() >= 2 && at.x(1).size() >= 2;
    for (const std::size_t k : {0U, 1U})
      if (const auto x = x_of(k); x && are_matrices) {
        const std::size_t rank = at.x(k).size(), first = y.size() - rank, own = rank - 2 + k;
        const bool turned = fused && at.node.attribute<std::int64_t>(k == 0 ? "transA" : "transB", 0) != 0;
        box[first + own] = common(box[first + own], (*x)[turned ? 2 * rank - 3 - own : own]);
        for (std::size_t i = 0; i + 2 < rank; ++i)
          if (at.x(k)[i] == y[first + i]) box[first + i] = common(box[first + i], (*x)[i]);
      }
    return box == whole_box(y) ? std::nullopt : std::optional(box);
  }
  if (type == "Add" || type == "Sub" || type == "Sum") {  // 0 where all addends are
    Box box(y.size());
    for (std::size_t k = 0; k < at.node.inputs.size(); ++k) {
      const auto x = x_of(k);
      if (!x || at.x(k) != y) return std::nullopt;
      for (std::size_t i = 0; i < box.size(); ++i) box[i] = unite(box[i], (*x)[i]);
    }
    return box == whole_box(y) ? std::nullopt : std::optional(box);
  }
  const auto x = x_of(0);
  if (!x) return std::nullopt;
  if (type == "Expand") return broadcast_box(*x, at.x(0), y);
  if (auto box = filled_gradient(at, *x)) return box;
  if (auto box = filled_by_sums(at, type, *x)) return box;
  if (type == "Slice") {
    const auto taken = known_slice(at);
    if (!taken || std::any_of(taken->step.begin(), taken->step.end(), [](auto step) { return step != 1; }))
      return std::nullopt;
    Box box;
    for (std::size_t i = 0; i < x->size(); ++i) box.push_back(stepped((*x)[i], -taken->first[i], 1, y[i]));
    return box;
  }
  if (type == "Gather") {
    auto boxes = gathered_boxes(at, *x);
    return boxes.size() == 1 ? std::optional(std::move(boxes[0])) : std::nullopt;
  }
  if (type == "Transpose") {
    auto perm = at.node.attribute<Dims>("perm", {});
    Box box;
    for (std::size_t i = 0; i < x->size(); ++i)
      box.push_back((*x)[perm.empty() ? x->size() - 1 - i : static_cast<std::size_t>(perm[i])]);
    return box;
  }
  if (std::holds_alternative<op::View>(at.layer) && type != "Identity" && type != "Cast") {
    auto boxes = reshaped(*x, at.x(0), y);
    return boxes.size() == 1 ? std::optional(std::move(boxes[0])) : std::nullopt;
  }
  return at.facts.is(Trait::keeps_zero) && at.x(0) == y ? x : std::nullopt;
}

/// The same for windows that a Reshape or a Gather takes from a padded image, for their transpositions, and for
/// products of their rows. The boxes have no element in common.
[[nodiscard]] inline std::vector<Box> known_rows(const SizedNode& at) {
  constexpr std::size_t most_boxes = 64;  // a window of 7 x 7 with a different part in the padding for each tap
  const std::string type = onnx_type(at.node);
  if (!at.node.has_input(0)) return {};
  const KnownElements& x = at.known_x(0);
  std::vector<Box> boxes = x.rows, result;
  if (x.filled) boxes.push_back(*x.filled);
  for (const Box& box : boxes) {
    std::vector<Box> some;
    if (std::holds_alternative<op::View>(at.layer) && element_count(at.x(0)) == element_count(at.y())) {
      some = reshaped(box, at.x(0), at.y());
    } else if (type == "Gather") {
      some = gathered_boxes(at, box);
      if (some.empty()) return {};
    } else if (x.rows.empty()) {
      return {};  // a single box remains one
    } else if (type == "Transpose") {
      const auto perm = at.node.attribute<Dims>("perm", {});
      Box turned;
      for (std::size_t i = 0; i < box.size(); ++i)
        turned.push_back(box[perm.empty() ? box.size() - 1 - i : static_cast<std::size_t>(perm[i])]);
      some = {std::move(turned)};
    } else if (type == "MatMul" && at.x(1).size() == 2 && box.size() == at.y().size()) {
      some = {box};
      some[0].back() = Positions::whole(at.y().back());
    } else {
      return {};
    }
    result.insert(result.end(), some.begin(), some.end());
  }
  return result.size() > 1 && result.size() <= most_boxes ? result : std::vector<Box>{};
}

/// The share of a result that differs from 0, if the numbers of a sparse tensor are moved or multiplied.
[[nodiscard]] inline double known_nonzero(const SizedNode& at) {
  if (at.facts.keeps_each() && at.node.has_input(0)) return at.known_x(0).nonzero;
  const std::string type = onnx_type(at.node);
  double least = 1;
  for (std::size_t k = 0; type == "Mul" && k < 2; ++k)
    if (at.x(k) == at.y()) least = std::min(least, at.known_x(k).nonzero);
  return least;
}

/// The share of a tensor's elements that may differ from 0, as far as several boxes tell.
[[nodiscard]] inline double share_of_rows(const KnownElements& known, const Dims& dims) {
  if (known.rows.empty()) return 1;
  Region all(dims);
  for (const Box& box : known.rows) all.add(box);
  return all.share();
}

}  // namespace benanza::detail
