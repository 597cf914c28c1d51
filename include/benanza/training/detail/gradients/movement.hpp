// SPDX-License-Identifier: Apache-2.0
// Gradients of operators that move, repeat and pick elements.
#pragma once

#include <benanza/base/detail/node.hpp>
#include <benanza/op/movement_parts.hpp>
#include <benanza/training/gradient_builder.hpp>

#include <algorithm>
#include <numeric>
#include <string>

namespace benanza::training {

inline void reshape_gradient(const Node& node, GradientBuilder& at) {
  at.give_input(node, 0, [&] { return at.reshape(*at.gradient(node), at.value(*node.inputs[0]).dims); });
}
inline void identity_gradient(const Node& node, GradientBuilder& at) {
  at.give_input(node, 0, [&] { return *at.gradient(node); });
}
inline void cast_gradient(const Node& node, GradientBuilder& at) {
  at.give_input(node, 0, [&] {
    const Value& x = at.value(*node.inputs[0]);
    return at.emit({"Cast"}, {*at.gradient(node)}, x.type, x.dims);
  });
}
inline void transpose_gradient(const Node& node, GradientBuilder& at) {
  at.give_input(node, 0, [&] {
    const std::size_t rank = at.value(*node.inputs[0]).dims.size();
    Dims perm(rank), inverse(rank);
    for (std::size_t i = 0; i < rank; ++i) perm[i] = static_cast<std::int64_t>(rank - 1 - i);
    perm = node.attribute<Dims>("perm", perm);
    for (std::size_t i = 0; i < rank; ++i) inverse[static_cast<std::size_t>(perm[i])] = static_cast<std::int64_t>(i);
    return at.transpose(*at.gradient(node), inverse);
  });
}
/// Gives each operand its part of the gradient.
inline void concat_gradient(const Node& node, GradientBuilder& at) {
  const ValueId dy = *at.gradient(node);
  const auto axis = *detail::to_axis(node.attribute<std::int64_t>("axis", 1), at.value(dy).dims.size());
  std::vector<std::pair<DataType, Dims>> parts;
  Dims sizes;
  for (const auto& id : node.inputs) {
    parts.emplace_back(at.value(*id).type, at.value(*id).dims);
    sizes.push_back(at.value(*id).dims[axis]);
  }
  const auto made =
      at.emit_all({"Split"}, {dy, at.integers(sizes)}, parts, {{"axis", static_cast<std::int64_t>(axis)}});
  for (std::size_t i = 0; i < made.size(); ++i) at.give_input(node, i, [&] { return made[i]; });
}
/// Joins the parts again. A part on which nothing depends has a gradient of 0.
inline void split_gradient(const Node& node, GradientBuilder& at) {
  at.give_input(node, 0, [&] {
    const Value& x = at.value(*node.inputs[0]);
    const DataType type = x.type;
    const Dims dims = x.dims;
    const auto axis = *detail::to_axis(node.attribute<std::int64_t>("axis", 0), dims.size());
    std::vector<std::optional<ValueId>> parts;
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      auto part = at.gradient(node, i);
      if (!part && node.outputs[i]) {
        const Dims sizes = at.value(*node.outputs[i]).dims;
        part = at.expand(at.scalar(type, 0), sizes);
      }
      if (part) parts.push_back(part);
    }
    return at.emit({"Concat"}, parts, type, dims, {{"axis", static_cast<std::int64_t>(axis)}});
  });
}
/// The elements of x that were taken get the gradients of the results, the others 0. Gradients are added if an element
/// was taken more than once.
inline void gather_gradient(const Node& node, GradientBuilder& at) {
  at.give_input(node, 0, [&] {
    const ValueId dy = *at.gradient(node), x = *node.inputs[0], indices = *node.inputs[1];
    const DataType type = at.value(x).type;
    const Dims dims = at.value(x).dims;
    const Attributes added{{"reduction", std::string("add")}};
    if (node.op_type == "GatherElements") {
      Attributes attributes = added;
      attributes["axis"] = node.attribute<std::int64_t>("axis", 0);
      return at.emit({"ScatterElements"}, {at.zeros(x), indices, dy}, type, dims, attributes);
    }
    if (node.op_type == "GatherND" && node.attribute<std::int64_t>("batch_dims", 0) == 0)
      return at.emit({"ScatterND"}, {at.zeros(x), indices, dy}, type, dims, added);
    return at.emit(gradient_op(node.op_type + "Grad"), {dy, indices}, type, dims, node.attributes);
  });
}
/// Puts zeros around the part that was taken. With steps, scatters it along one axis after the other.
inline void slice_gradient(const Node& node, GradientBuilder& at) {
  at.give_input(node, 0, [&] {
    const Dims dims = at.value(*node.inputs[0]).dims;
    const auto box = op::Slice::taken_box(node, at.graph());
    ValueId part = *at.gradient(node);
    if (!box) throw InputError("training: node '" + node.name + "' (Slice): what it takes is not known");
    Dims pads(2 * dims.size(), 0);
    bool any = false;
    for (std::size_t i = dims.size(); i-- > 0;) {
      if (box->taken[i] == dims[i] && box->step[i] == 1) continue;
      if (box->step[i] == 1) {
        pads[i] = box->first[i];
        pads[i + dims.size()] = dims[i] - box->first[i] - box->taken[i];
        any = true;
        continue;
      }
      Dims places, reached = at.value(part).dims;
      for (std::int64_t k = 0; k < box->taken[i]; ++k) places.push_back(box->first[i] + k * box->step[i]);
      reached[i] = dims[i];
      part = at.emit(gradient_op("GatherGrad"), {part, at.integers(places)}, at.value(part).type, reached,
                     {{"axis", static_cast<std::int64_t>(i)}});
    }
    if (!any) return part;
    return at.emit({"Pad"}, {part, at.integers(pads)}, at.value(part).type, dims);
  });
}
/// The element of an axis of `size` elements from which a Pad copies to `place`, which may lie outside of the axis.
[[nodiscard]] inline std::int64_t source_of_padding(std::int64_t place, std::int64_t size, const std::string& mode) {
  if (mode == "edge" || size == 1) return std::clamp<std::int64_t>(place, 0, size - 1);
  const std::int64_t period = mode == "wrap" ? size : 2 * (size - 1);  // reflect: there and back, without the ends
  const std::int64_t at = (place % period + period) % period;
  return at < size ? at : period - at;
}
/// Cuts off cells that were added around x, and puts zeros where cells were cut off. Negative numbers of cells are cut.
inline ValueId pad_back(GradientBuilder& at, ValueId dy, const op::Pad::Cells& cells, const Dims& dims) {
  Dims pads;
  for (const auto* list : {&cells.before, &cells.behind})
    for (const std::int64_t count : *list) pads.push_back(-count);
  return at.emit({"Pad"}, {dy, at.integers(pads)}, at.value(dy).type, dims);
}
/// Constant padding is cut off. In the other modes each cell of the padding copies an element, to whose gradient it
/// adds its own, along one axis after the other.
inline void pad_gradient(const Node& node, GradientBuilder& at) {
  at.give_input(node, 0, [&] {
    const Dims dims = at.value(*node.inputs[0]).dims;
    const auto cells = op::Pad::padding(node, at.graph());
    if (!cells || !detail::given_ints(node, at.graph(), node.opset < 2 ? "paddings" : "pads", 1).known)
      throw InputError("training: node '" + node.name + "' (Pad): its pads are not known");
    const std::string mode = node.attribute<std::string>("mode", "constant");
    ValueId part = *at.gradient(node);
    const auto crops = [](const Dims& list) {
      return std::any_of(list.begin(), list.end(), [](std::int64_t count) { return count < 0; });
    };
    if (mode == "constant" && (crops(cells->before) || crops(cells->behind))) return pad_back(at, part, *cells, dims);
    if (mode == "constant") {
      Dims ends, axes(dims.size());
      for (std::size_t i = 0; i < dims.size(); ++i) ends.push_back(cells->before[i] + dims[i]);
      std::iota(axes.begin(), axes.end(), std::int64_t{0});
      return at.emit({"Slice"}, {part, at.integers(cells->before), at.integers(ends), at.integers(axes)},
                     at.value(part).type, dims);
    }
    for (std::size_t i = dims.size(); i-- > 0;) {
      Dims reached = at.value(part).dims, sources;
      if (cells->before[i] == 0 && cells->behind[i] == 0) continue;
      for (std::int64_t k = 0; k < reached[i]; ++k)
        sources.push_back(source_of_padding(k - cells->before[i], dims[i], mode));
      reached[i] = dims[i];
      part = at.emit(gradient_op("GatherGrad"), {part, at.integers(sources)}, at.value(part).type, reached,
                     {{"axis", static_cast<std::int64_t>(i)}});
    }
    return part;
  });
}
inline void center_gradient(const Node& node, GradientBuilder& at) {
  at.give_input(node, 0, [&] {
    const Dims dims = at.value(*node.inputs[0]).dims;
    const auto cells = op::Pad::padding(node, at.graph());
    if (!cells) throw InputError("training: node '" + node.name + "' (CenterCropPad): its sizes are not known");
    return pad_back(at, *at.gradient(node), *cells, dims);
  });
}
inline void expand_gradient(const Node& node, GradientBuilder& at) {
  at.give_input(node, 0, [&] { return at.sum_to(*at.gradient(node), at.value(*node.inputs[0]).dims); });
}

}  // namespace benanza::training
