// SPDX-License-Identifier: Apache-2.0
#include "special_nodes.hpp"

#include "literal_tensor.hpp"
#include "training_nodes.hpp"
#include <benanza/base/detail/node.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <map>
#include <numeric>
#include <optional>

namespace benanza::execution {

namespace {

using Tensors = std::vector<Tensor>;
using Places = std::vector<std::int64_t>;

const Tensor& required(const Node& node, const NodeTensors& inputs, std::size_t i) {
  if (i >= inputs.size() || !inputs[i])
    throw InputError("node '" + node.name + "': input " + std::to_string(i) + " is missing");
  return *inputs[i];
}

double number_or(const NodeTensors& inputs, std::size_t i, double otherwise) {
  return i < inputs.size() && inputs[i] && inputs[i]->elements() > 0 ? (*inputs[i])[0] : otherwise;
}

Tensor integers(Tensor::Dims dims, const Places& numbers) {
  return to_tensor(DataType::i64, dims, {.ints = numbers, .floats = {}});
}

Tensors shape(const Node& node, const NodeTensors& inputs) {
  const auto& dims = required(node, inputs, 0).dims();
  const auto rank = static_cast<std::int64_t>(dims.size());
  const auto bounded = [&](std::int64_t at) { return std::clamp<std::int64_t>(at < 0 ? at + rank : at, 0, rank); };
  const std::int64_t first = bounded(node.attribute("start", std::int64_t{0})),
                     last = std::max(first, bounded(node.attribute("end", rank)));
  return {integers({last - first}, Places(dims.begin() + first, dims.begin() + last))};
}

Tensors size(const Node& node, const NodeTensors& inputs) {
  return {integers({}, {required(node, inputs, 0).elements()})};
}

/// The elements at these places, in one dimension.
Tensors flattened(const Tensor& x, const Places& places) {
  Tensor result(x.type(), {static_cast<std::int64_t>(places.size())});
  if (bits(x.type()) < 8) {  // a byte holds several elements
    for (std::size_t i = 0; i < places.size(); ++i)
      store(result.writable(), x.type(), static_cast<std::int64_t>(i), x[places[i]]);
    return {result};
  }
  const auto width = static_cast<std::size_t>(bits(x.type()) / 8);
  for (std::size_t i = 0; i < places.size(); ++i)
    std::memcpy(static_cast<std::byte*>(result.writable()) + i * width,
                static_cast<const std::byte*>(x.data()) + static_cast<std::size_t>(places[i]) * width, width);
  return {result};
}

/// Coordinates of all nonzero elements: a row for each axis.
Tensors non_zero(const Node& node, const NodeTensors& inputs) {
  const Tensor& x = required(node, inputs, 0);
  Places places;
  for (std::int64_t i = 0; i < x.elements(); ++i)
    if (x[i] != 0) places.push_back(i);
  const auto& dims = x.dims();
  const auto count = static_cast<std::int64_t>(places.size()), rank = static_cast<std::int64_t>(dims.size());
  Places rows(static_cast<std::size_t>(count * rank));
  std::int64_t inner = 1;
  for (std::int64_t axis = rank; axis-- > 0;) {
    const std::int64_t along = dims[static_cast<std::size_t>(axis)];
    for (std::size_t i = 0; i < places.size(); ++i)
      rows[static_cast<std::size_t>(axis * count) + i] = places[i] / inner % along;
    inner *= along;
  }
  return {integers({rank, count}, rows)};
}

/// Slices along an axis, or elements of the flattened tensor, selected by a list of booleans.
Tensors compress(const Node& node, const NodeTensors& inputs) {
  const Tensor &x = required(node, inputs, 0), &condition = required(node, inputs, 1);
  Places wanted;
  for (std::int64_t i = 0; i < condition.elements(); ++i)
    if (condition[i] != 0) wanted.push_back(i);
  const bool by_axis = node.attributes.contains("axis");
  const auto axis = by_axis ? detail::to_axis(node.attribute("axis", std::int64_t{0}), x.dims().size()) : std::nullopt;
  if (by_axis && !axis) throw InputError("node '" + node.name + "': the axis is out of range");
  const std::int64_t along = axis ? x.dims()[*axis] : x.elements();
  if (!wanted.empty() && wanted.back() >= along)
    throw InputError("node '" + node.name + "': the condition is too long");
  if (!axis) return flattened(x, wanted);
  const TensorShape around = detail::around(x.dims(), *axis);
  Places places;
  for (std::int64_t outer = 0; outer < around[0]; ++outer)
    for (const auto at : wanted)
      for (std::int64_t inner = 0; inner < around[2]; ++inner)
        places.push_back((outer * along + at) * around[2] + inner);
  Tensor::Dims dims = x.dims();
  dims[*axis] = static_cast<std::int64_t>(wanted.size());
  return {flattened(x, places)[0].as(x.type(), dims)};
}

/// Corners of a box, the smaller coordinates first.
struct Box {
  double top = 0, left = 0, bottom = 0, right = 0;
  [[nodiscard]] double area() const { return (bottom - top) * (right - left); }
};

Box box_at(const Tensor& boxes, std::int64_t i, bool centered) {
  const double a = boxes[4 * i], b = boxes[4 * i + 1], c = boxes[4 * i + 2], d = boxes[4 * i + 3];
  if (centered) return {b - d / 2, a - c / 2, b + d / 2, a + c / 2};  // x, y, width, height
  return {std::min(a, c), std::min(b, d), std::max(a, c), std::max(b, d)};
}

double overlap(const Box& a, const Box& b) {
  const double height = std::min(a.bottom, b.bottom) - std::max(a.top, b.top),
               width = std::min(a.right, b.right) - std::max(a.left, b.left);
  if (height <= 0 || width <= 0) return 0;
  return height * width / (a.area() + b.area() - height * width);
}

/// ONNX NonMaxSuppression: boxes by descending score, without those that overlap a box that is kept.
Tensors non_max_suppression(const Node& node, const NodeTensors& inputs) {
  const Tensor &boxes = required(node, inputs, 0), &scores = required(node, inputs, 1);
  if (boxes.dims().size() != 3 || scores.dims().size() != 3 || boxes.dims()[2] != 4 ||
      boxes.dims()[1] != scores.dims()[2] || boxes.dims()[0] != scores.dims()[0])
    throw InputError("node '" + node.name + "': boxes and scores do not fit each other");
  const auto most = static_cast<std::int64_t>(number_or(inputs, 2, 0));
  const double most_overlap = number_or(inputs, 3, 0);
  const bool centered = node.attribute("center_point_box", std::int64_t{0}) != 0,
             filters = inputs.size() > 4 && inputs[4];
  const double least_score = number_or(inputs, 4, 0);
  const std::int64_t classes = scores.dims()[1], count = scores.dims()[2];
  Places selected;
  for (std::int64_t batch = 0; batch < scores.dims()[0]; ++batch)
    for (std::int64_t label = 0; label < classes; ++label) {
      const auto score = [&](std::int64_t i) { return scores[(batch * classes + label) * count + i]; };
      Places order;
      for (std::int64_t i = 0; i < count; ++i)
        if (!filters || score(i) > least_score) order.push_back(i);
      std::stable_sort(order.begin(), order.end(), [&](auto i, auto j) { return score(i) > score(j); });
      std::vector<Box> kept;
      for (const auto i : order) {
        if (static_cast<std::int64_t>(kept.size()) >= most) break;
        const Box box = box_at(boxes, batch * count + i, centered);
        if (std::any_of(kept.begin(), kept.end(), [&](const Box& k) { return overlap(k, box) > most_overlap; }))
          continue;
        kept.push_back(box);
        selected.insert(selected.end(), {batch, label, i});
      }
    }
  const auto rows = static_cast<std::int64_t>(selected.size() / 3);
  return {integers({rows, 3}, selected)};
}

/// The distinct slices of a tensor along an axis.
struct Distinct {
  Places first{}, inverse{}, count{};  ///< first index of each; which one each slice is; number of occurrences
};

/// ONNX Unique.
Tensors unique(const Node& node, const NodeTensors& inputs) {
  const Tensor& x = required(node, inputs, 0);
  const bool by_axis = node.attributes.contains("axis");
  const auto axis = by_axis ? detail::to_axis(node.attribute("axis", std::int64_t{0}), x.dims().size()) : std::nullopt;
  const TensorShape around = axis ? detail::around(x.dims(), *axis) : TensorShape{1, x.elements(), 1};
  std::vector<std::vector<double>> slices(static_cast<std::size_t>(around[1]));
  for (std::int64_t i = 0; i < around[1]; ++i)
    for (std::int64_t outer = 0; outer < around[0]; ++outer)
      for (std::int64_t inner = 0; inner < around[2]; ++inner)
        slices[static_cast<std::size_t>(i)].push_back(x[(outer * around[1] + i) * around[2] + inner]);
  std::map<std::vector<double>, std::size_t> known;
  Distinct distinct;
  for (std::size_t i = 0; i < slices.size(); ++i) {
    const auto [found, added] = known.try_emplace(slices[i], distinct.first.size());
    if (added) {
      distinct.first.push_back(static_cast<std::int64_t>(i));
      distinct.count.push_back(0);
    }
    distinct.inverse.push_back(static_cast<std::int64_t>(found->second));
    ++distinct.count[found->second];
  }
  if (node.attribute("sorted", std::int64_t{1}) != 0) {
    Places rank(distinct.first.size());
    Distinct sorted{.inverse = distinct.inverse};
    std::int64_t next = 0;
    for (const auto& [slice, at] : known) {
      rank[at] = next++;
      sorted.first.push_back(distinct.first[at]);
      sorted.count.push_back(distinct.count[at]);
    }
    for (auto& at : sorted.inverse) at = rank[static_cast<std::size_t>(at)];
    distinct = std::move(sorted);
  }
  const auto count = static_cast<std::int64_t>(distinct.first.size());
  Places places;
  for (std::int64_t outer = 0; outer < around[0]; ++outer)
    for (const auto at : distinct.first)
      for (std::int64_t inner = 0; inner < around[2]; ++inner)
        places.push_back((outer * around[1] + at) * around[2] + inner);
  Tensor::Dims dims = x.dims();
  if (axis) dims[*axis] = count;
  else dims = {count};
  return {flattened(x, places)[0].as(x.type(), dims), integers({count}, distinct.first),
          integers({around[1]}, distinct.inverse), integers({count}, distinct.count)};
}

bool detects(const Node& node, const char* sign) { return node.attribute(sign, std::int64_t{1}) != 0; }

/// IsInf for infinities of one sign or of neither; the layer of IsInf has both.
Tensors is_infinite(const Node& node, const NodeTensors& inputs) {
  const Tensor& x = required(node, inputs, 0);
  const bool positive = detects(node, "detect_positive"), negative = detects(node, "detect_negative");
  std::vector<double> found(static_cast<std::size_t>(x.elements()));
  for (std::size_t i = 0; i < found.size(); ++i) {
    const double value = x[static_cast<std::int64_t>(i)];
    found[i] = std::isinf(value) && (value > 0 ? positive : negative) ? 1 : 0;
  }
  return {Tensor::of(DataType::boolean, x.dims(), found)};
}

}  // namespace

const SpecialNode* find_special(const Node& node) {
  static const std::map<std::string_view, SpecialNode> table{
      {"Compress", compress}, {"NonMaxSuppression", non_max_suppression},
      {"NonZero", non_zero},  {"Shape", shape},
      {"Size", size},         {"Unique", unique}};
  static const SpecialNode step = optimizer_step, infinite = is_infinite;
  if (node.domain == "benanza" && node.op_type == "OptimizerStep") return &step;
  if (!node.domain.empty()) return nullptr;
  if (node.op_type == "IsInf" && !(detects(node, "detect_positive") && detects(node, "detect_negative")))
    return &infinite;
  const auto found = table.find(node.op_type);
  return found == table.end() ? nullptr : &found->second;
}

Tensor filled(const Node& node, const NodeTensors& inputs, DataType type) {
  const Tensor& sizes = required(node, inputs, 0);
  const Tensor::Dims dims = to_literal(sizes).ints;
  const auto found = node.attributes.find("value");
  const auto* literal = found == node.attributes.end() ? nullptr : std::get_if<Literal>(&found->second);
  const Tensor one = literal != nullptr ? to_tensor(type, {1}, *literal) : Tensor::of(type, {1}, std::array{0.0});
  Tensor result(type, dims);
  if (bits(type) < 8) {  // a byte holds several elements
    for (std::int64_t i = 0; i < result.elements(); ++i) store(result.writable(), type, i, one[0]);
    return result;
  }
  const std::size_t width = one.bytes(), bytes = result.bytes();
  auto* to = static_cast<std::byte*>(result.writable());
  if (bytes == 0) return result;
  std::memcpy(to, one.data(), width);
  for (std::size_t done = width; done < bytes; done *= 2) std::memcpy(to + done, to, std::min(done, bytes - done));
  return result;
}

}  // namespace benanza::execution
