// SPDX-License-Identifier: Apache-2.0
// KnownElements: what is known of a tensor's elements before a request comes: zeros of a triangle or around what a Pad
// pads, scores that a constant mask hides, rows that an Expand repeats. What is known need not be computed or read.
#pragma once

#include <benanza/detail/einsum_labels.hpp>
#include <benanza/detail/node.hpp>
#include <benanza/model/graph.hpp>
#include <benanza/model/layer.hpp>
#include <benanza/model/region.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace benanza::detail {

/// A part of a tensor along an axis, with the copies that it has by itself.
struct KnownPart {
  std::size_t axis = 0;
  std::int64_t begin = 0, end = 0;
  std::vector<FirstEqual> copies{};  ///< for each axis of the tensor; empty at `axis`
};

struct KnownElements {
  std::optional<AxesBand> band{};          ///< each element outside of it is `outside`
  double outside = 0;                      ///< 0, or so low that a softmax makes it 0
  std::optional<std::size_t> one_hot{};    ///< along this axis one element at most is not 0
  std::optional<Box> filled{};             ///< each element outside of it is 0
  std::vector<Box> rows{};                 ///< as `filled`, where that takes several boxes
  std::vector<FirstEqual> copies{};        ///< for each axis the positions that have equal elements; empty: none
  std::vector<KnownPart> parts{};          ///< in order; what lies between them has no copies
  bool expanded = false;                   ///< they are stored once: who reads one reads what is behind all
  std::optional<ValueId> transposed_of{};  ///< the value whose rows and columns are exchanged here

  [[nodiscard]] bool any() const {
    return band || one_hot || filled || !rows.empty() || !copies.empty() || !parts.empty();
  }
  [[nodiscard]] FirstEqual copies_along(std::size_t axis) const {
    return axis < copies.size() ? copies[axis] : nullptr;
  }
};

/// A score from here on downwards leaves nothing after a softmax.
inline constexpr double masked_score = -1000;

/// A node with the sizes of its operands, and what is known of their elements.
struct SizedNode {
  const Node& node;
  const Graph& graph;
  const Layer& layer;
  std::span<const KnownElements> known{};  ///< what is known of each value; empty: nothing
  [[nodiscard]] const Dims& x(std::size_t k) const { return graph.value(*node.inputs[k]).dims; }
  [[nodiscard]] const Dims& y(std::size_t j = 0) const { return graph.value(*node.outputs[j]).dims; }
  [[nodiscard]] KnownElements known_x(std::size_t k) const {
    return known.empty() || !node.has_input(k) ? KnownElements{} : known[*node.inputs[k]];
  }
};

/// Where a constant is 0, or hides a score.
[[nodiscard]] inline KnownElements known_constant(const Value& value) {
  KnownElements result;
  const std::size_t rank = value.dims.size();
  if (!value.banded || rank < 2) return result;
  BandedNumbers numbers = *value.banded;
  if (numbers.inside == numbers.outside && !numbers.differ) return result;
  const auto matters = [](double number) { return number == 0 || number <= masked_score; };
  if (!numbers.differ && (!matters(numbers.outside) || (numbers.outside == 0 && numbers.inside <= masked_score))) {
    const auto rest = numbers.band.complement();
    if (!rest) return result;
    numbers = {*rest, numbers.outside, numbers.inside};
  }
  if (!matters(numbers.outside)) return result;
  result.band = AxesBand{rank - 2, rank - 1, numbers.band};
  result.outside = numbers.outside;
  return result;
}

/// A band of a tensor as one of a tensor that it broadcasts to, or whose last axes are the same.
[[nodiscard]] inline std::optional<AxesBand> from_last(const std::optional<AxesBand>& band, const Dims& x,
                                                       const Dims& y) {
  if (!band) return std::nullopt;
  const std::size_t row = x.size() - band->row, column = x.size() - band->column;  // from the end
  if (row > y.size() || column > y.size() || y[y.size() - row] != x[band->row] ||
      y[y.size() - column] != x[band->column])
    return std::nullopt;
  return AxesBand{y.size() - row, y.size() - column, band->band};
}

/// Element-wise operators that make 0 of 0 in their first operand.
[[nodiscard]] inline bool keeps_zero(std::string_view type) {
  static constexpr std::array<std::string_view, 14> names{"Relu", "Neg",      "Abs",   "Sqrt",    "Tanh",
                                                          "Sign", "Identity", "Cast",  "Dropout", "LeakyRelu",
                                                          "Erf",  "Gelu",     "Round", "Floor"};
  return type == "Div" || std::find(names.begin(), names.end(), type) != names.end();
}

/// What is known of a result of an element-wise operator from one operand, whatever the others are.
class KnownElementwise {
 public:
  explicit KnownElementwise(const SizedNode& at) : at_(at), type_(onnx_type(at.node)) {}

  [[nodiscard]] KnownElements result() const {
    if (type_ == "Where") return choice();
    if (type_ == "Softmax") return softmax();
    if (type_ == "Trilu") return triangle();
    if (type_ == "Sub")
      if (const auto y = hidden_by_constant(); y.band) return y;
    if (type_ == "Add" || type_ == "Sub")
      if (const auto y = sum(); y.band) return y;
    static constexpr std::array<std::string_view, 3> keeping{"Identity", "Cast", "Dropout"};
    const auto lists = [this](const auto& names) {
      return std::find(names.begin(), names.end(), type_) != names.end();
    };
    const bool either = type_ == "Mul" || type_ == "And", first = keeps_zero(type_);
    for (std::size_t k = 0; k < std::min<std::size_t>(2, at_.node.inputs.size()); ++k) {
      const KnownElements x = at_.known_x(k);
      if (!x.band && !x.one_hot) continue;
      const bool zero = x.outside == 0;
      if (zero && (either || (first && k == 0))) return moved(k, 0);
      if (!zero && (type_ == "Add" || type_ == "Min" || (k == 0 && (type_ == "Sub" || lists(keeping)))))
        return moved(k, x.outside);
      if (!zero && (type_ == "Mul" || (type_ == "Div" && k == 0)))
        if (const auto factor = scalar(at_.graph.input(at_.node, 1 - k)); factor && *factor > 0)
          return moved(k, type_ == "Mul" ? x.outside * *factor : x.outside / *factor);
    }
    return {};
  }

 private:
  [[nodiscard]] KnownElements moved(std::size_t k, double outside) const {
    KnownElements y;
    if (outside != 0 && (outside > masked_score || !is_float(at_.graph.output(at_.node, 0).type))) return y;
    y.band = from_last(at_.known_x(k).band, at_.x(k), at_.y());
    y.outside = outside;
    if (type_ == "Identity" || type_ == "Cast") y.one_hot = at_.known_x(k).one_hot;
    return y;
  }

  /// Zeros of both operands.
  [[nodiscard]] KnownElements sum() const {
    const KnownElements a = at_.known_x(0), b = at_.known_x(1);
    if (!a.band || !b.band || a.outside != 0 || b.outside != 0 || !a.band->has_axes_of(*b.band) ||
        at_.x(0) != at_.y() || at_.x(1) != at_.y())
      return {};
    return {.band = AxesBand{a.band->row, a.band->column, around(a.band->band, b.band->band)}};
  }

  /// Where a constant that is taken away hides a score.
  [[nodiscard]] KnownElements hidden_by_constant() const {
    if (!at_.node.has_input(1) || !is_float(at_.graph.output(at_.node, 0).type)) return {};
    const auto& numbers = at_.graph.input(at_.node, 1).banded;
    if (!numbers || numbers->differ || numbers->inside == numbers->outside || at_.x(1).size() < 2) return {};
    const std::size_t rank = at_.x(1).size();
    const auto hidden = [&](const Band& band, double outside) -> KnownElements {
      if (!(-outside <= masked_score)) return {};
      return {.band = from_last(AxesBand{rank - 2, rank - 1, band}, at_.x(1), at_.y()), .outside = -outside};
    };
    const auto rest = numbers->band.complement();
    if (const auto y = hidden(numbers->band, numbers->outside); y.band || !rest) return y;
    return hidden(*rest, numbers->inside);
  }

  /// Where a condition is known, one number that it chooses; where both operands are 0, or hide a score, either.
  [[nodiscard]] KnownElements choice() const {
    if (const KnownElements y = chosen(); y.band) return y;
    for (const std::size_t k : {1U, 2U}) {
      const KnownElements x = at_.known_x(k);
      const auto other = scalar(at_.graph.input(at_.node, 3 - k));
      if (x.band && other && (x.outside == 0 ? *other == 0 : *other <= masked_score))
        return moved(k, std::max(x.outside, *other));
    }
    return {};
  }
  [[nodiscard]] KnownElements chosen() const {
    const auto band = at_.known_x(0).band;
    if (!band) return {};
    for (const std::size_t taken : {1U, 2U}) {  // outside of the band it is false
      const auto number = scalar(at_.graph.input(at_.node, taken));
      if (!number || (*number != 0 && *number > masked_score)) continue;
      if (taken == 2) return {.band = from_last(band, at_.x(0), at_.y()), .outside = *number};
      const auto rest = band->band.complement();  // inside it is true, if it is a constant
      if (!rest || !at_.graph.input(at_.node, 0).banded) continue;
      return {.band = from_last(AxesBand{band->row, band->column, *rest}, at_.x(0), at_.y()), .outside = *number};
    }
    return {};
  }

  /// Zeros where scores are hidden, but in a row of which all are.
  [[nodiscard]] KnownElements softmax() const {
    const KnownElements x = at_.known_x(0);
    const auto axis = to_axis(at_.node.attribute<std::int64_t>("axis", at_.node.opset < 13 ? 1 : -1), at_.y().size());
    if (!x.band || x.outside > masked_score || !axis || *axis + 1 != at_.y().size() || x.band->column != *axis ||
        !x.band->band.reaches_each_row(at_.y()[x.band->row], at_.y()[*axis]))
      return {};
    return {.band = x.band, .outside = 0};
  }

  [[nodiscard]] KnownElements triangle() const {
    const std::size_t rank = at_.y().size();
    const Value* given = optional_input(at_.node, at_.graph, 1);
    const auto diagonal = given ? scalar(*given) : 0;
    if (rank < 2 || !diagonal) return {};
    const auto k = static_cast<std::int64_t>(std::clamp(*diagonal, -1e15, 1e15));
    const bool upper = at_.node.attribute<std::int64_t>("upper", 1) != 0;
    const Band kept = upper ? Band{.least = k} : Band{.most = k};
    KnownElements y{.band = AxesBand{rank - 2, rank - 1, kept}};
    const KnownElements x = at_.known_x(0);
    if (x.band && x.outside == 0 && x.band->has_axes_of(*y.band)) y.band->band = common(kept, x.band->band);
    return y;
  }

  const SizedNode& at_;
  std::string type_;
};

/// For a ScatterND that replaces a slice by its updates: where the slice begins along each axis. Empty if the indices
/// form another pattern or depend on data, or if elements are combined.
[[nodiscard]] inline std::optional<Dims> assigned_slice(const SizedNode& at) {
  if (at.node.op_type != "ScatterND" || at.node.attribute<std::string>("reduction", "none") != "none")
    return std::nullopt;
  const Value& indices = at.graph.input(at.node, 1);
  const Dims &x = at.x(0), &updates = at.x(2);
  if (indices.dims.empty() || indices.elements() == 0 || updates.size() != x.size() ||
      indices.dims.back() + 1 != static_cast<std::int64_t>(indices.dims.size()))
    return std::nullopt;
  std::vector<Ramp> ramps = indices.ramps;
  if (indices.literal && static_cast<std::int64_t>(indices.literal->ints.size()) == indices.elements())
    ramps =
        find_ramps(indices.dims, [&](std::int64_t i) { return indices.literal->ints[static_cast<std::size_t>(i)]; });
  if (ramps.empty() || static_cast<std::int64_t>(ramps.size()) != indices.dims.back()) return std::nullopt;
  Dims first;
  for (std::size_t i = 0; i < ramps.size(); ++i) {
    for (std::size_t axis = 0; axis < ramps.size(); ++axis)
      if (indices.dims[axis] > 1 && ramps[i].steps[axis] != (axis == i ? 1 : 0)) return std::nullopt;
    first.push_back(ramps[i].first < 0 ? ramps[i].first + x[i] : ramps[i].first);
    if (first[i] < 0 || first[i] + indices.dims[i] > x[i] || updates[i] != indices.dims[i]) return std::nullopt;
  }
  return first;
}

/// The band of a tensor of which a slice is assigned: that of the slice, and what is around it.
[[nodiscard]] inline KnownElements known_assignment(const SizedNode& at, const Dims& first) {
  const KnownElements x = at.known_x(0), updates = at.known_x(2);
  if (!updates.band || at.x(2) == at.x(0)) return {.band = updates.band, .outside = updates.outside};
  if (!x.band || !x.band->has_axes_of(*updates.band) || (x.outside == 0) != (updates.outside == 0)) return {};
  const auto begin = [&first](std::size_t axis) { return axis < first.size() ? -first[axis] : 0; };
  const Band moved = updates.band->band.from(begin(x.band->row), begin(x.band->column));
  return {.band = AxesBand{x.band->row, x.band->column, around(x.band->band, moved)},
          .outside = std::max(x.outside, updates.outside)};
}

/// The band of part `j` of a Split.
[[nodiscard]] inline KnownElements known_part_band(const SizedNode& at, std::size_t j) {
  const KnownElements x = at.known_x(0);
  const auto axis = to_axis(at.node.attribute<std::int64_t>("axis", 0), at.x(0).size());
  if (!x.band || !axis) return {};
  std::int64_t begin = 0;
  for (std::size_t i = 0; i < j; ++i) {
    if (!at.node.outputs[i]) return {};
    begin += at.y(i)[*axis];
  }
  const auto [row, column, band] = *x.band;
  return {.band = AxesBand{row, column, band.from(row == *axis ? begin : 0, column == *axis ? begin : 0)},
          .outside = x.outside};
}

/// Bands of movements, and of what is element-wise.
[[nodiscard]] inline KnownElements known_band(const SizedNode& at) {
  const std::string type = onnx_type(at.node);
  if (type == "OneHot") {
    const auto axis = to_axis(at.node.attribute<std::int64_t>("axis", -1), at.y().size());
    const auto& values = at.graph.input(at.node, 2).literal;  // off, on
    const bool zero =
        values && (values->floats.empty() ? !values->ints.empty() && values->ints[0] == 0 : values->floats[0] == 0);
    return {.one_hot = zero ? axis : std::nullopt};
  }
  if (type == "EyeLike") {
    const std::int64_t k = at.node.attribute<std::int64_t>("k", 0);
    return {.band = AxesBand{0, 1, Band{k, k}}};
  }
  if (!at.node.has_input(0)) return {};
  if (const auto first = assigned_slice(at)) return known_assignment(at, *first);
  const KnownElements x = at.known_x(0);
  if (type == "Slice" && x.band) {
    const auto is_known = [&at](std::size_t k) { return !at.node.has_input(k) || at.graph.input(at.node, k).literal; };
    const auto box = is_known(1) && is_known(2) && is_known(3) && is_known(4) ? op::Slice::taken_box(at.node, at.graph)
                                                                              : std::nullopt;
    KnownElements y{.outside = x.outside};
    const std::size_t row = x.band->row, column = x.band->column;
    if (box && box->taken == at.y() && box->step[row] == 1 && box->step[column] == 1)
      y.band = AxesBand{row, column, x.band->band.from(box->first[row], box->first[column])};
    return y;
  }
  if (type == "Transpose") {
    const std::size_t rank = at.y().size();
    const auto perm = at.node.attribute<Dims>("perm", {});
    const auto moved_to = [&](std::size_t axis) {
      const auto found = std::find(perm.begin(), perm.end(), static_cast<std::int64_t>(axis));
      return perm.empty() ? rank - 1 - axis : static_cast<std::size_t>(found - perm.begin());
    };
    KnownElements y{.outside = x.outside};
    if (x.band) y.band = AxesBand{moved_to(x.band->row), moved_to(x.band->column), x.band->band};
    if (x.one_hot) y.one_hot = moved_to(*x.one_hot);
    bool exchanges = rank >= 2;
    for (std::size_t i = 0; exchanges && i < rank; ++i)
      exchanges = moved_to(i) == (i + 2 < rank ? i : 2 * rank - 3 - i);
    if (exchanges) y.transposed_of = at.node.inputs[0];
    return y;
  }
  if (type == "Reshape" || type == "Unsqueeze" || type == "Squeeze" || type == "Expand") {
    const Dims& dims = at.x(0);
    const bool last = x.band && at.y().size() >= 2 && std::max(x.band->row, x.band->column) + 1 == dims.size();
    KnownElements y{.band = last ? from_last(x.band, dims, at.y()) : std::nullopt, .outside = x.outside};
    if (x.one_hot && *x.one_hot + 1 == dims.size() && !at.y().empty() && at.y().back() == dims.back())
      y.one_hot = at.y().size() - 1;
    return y;
  }
  return KnownElementwise(at).result();
}

/// How many places a Pad adds or takes away, if it fills in one number; nothing where data tell.
[[nodiscard]] inline std::optional<op::Pad::Cells> known_padding(const SizedNode& at) {
  const auto* pad = std::get_if<op::Pad>(&at.layer);
  const bool known = given_ints(at.node, at.graph, at.node.opset < 2 ? "paddings" : "pads", 1).known &&
                     given_ints(at.node, at.graph, "axes", 3).known;
  return pad != nullptr && pad->mode == op::PadMode::constant && known ? op::Pad::padding(at.node, at.graph)
                                                                       : std::nullopt;
}

/// Where a constant of truth values may be true, as places of a tensor that it broadcasts to.
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

/// Where a tensor may differ from 0, as places of one that it broadcasts to.
[[nodiscard]] inline Box broadcast_box(const Box& box, const Dims& x, const Dims& y) {
  Box result = whole_box(y);
  for (std::size_t i = 0; i < x.size() && x.size() <= y.size(); ++i) {
    const std::size_t axis = y.size() - x.size() + i;
    if (x[i] == y[axis] || box[i].empty()) result[axis] = box[i];
  }
  return result;
}

/// Where a result may differ from 0: inside of what a Pad pads, and what is computed from it element by element.
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
  if (type == "And" && at.node.opset >= 7) {  // which broadcasts from the last axis on
    Box box = whole_box(y);
    for (const std::size_t k : {0U, 1U}) {
      const auto x = x_of(k);
      const Box own = x ? broadcast_box(*x, at.x(k), y) : true_places(at.graph.input(at.node, k), y);
      for (std::size_t i = 0; i < box.size(); ++i) box[i] = common(box[i], own[i]);
    }
    return box == whole_box(y) ? std::nullopt : std::optional(box);
  }
  if (type == "Mul")
    for (std::size_t k = 0; k < 2; ++k)
      if (const auto x = x_of(k); x && at.x(k) == y) return x;
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
  if (type == "MatMul") {  // rows of zeros, and columns
    Box box = whole_box(y);
    for (std::size_t k = 0; k < 2; ++k)
      if (const auto x = x_of(k); x && y.size() >= 2 && at.x(k).size() == y.size()) {
        const std::size_t own = y.size() - 2 + k;
        for (std::size_t i = 0; i < y.size(); ++i)
          if (i == own || (i + 2 < y.size() && at.x(k)[i] == y[i])) box[i] = common(box[i], (*x)[i]);
      }
    return box == whole_box(y) ? std::nullopt : std::optional(box);
  }
  const auto x = x_of(0);
  if (!x) return std::nullopt;
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
  return keeps_zero(type) && at.x(0) == y ? x : std::nullopt;
}

/// The same for windows that a Reshape cuts out of a padded image, for their transpositions, and for products of their
/// rows.
[[nodiscard]] inline std::vector<Box> known_rows(const SizedNode& at) {
  const std::string type = onnx_type(at.node);
  if (!at.node.has_input(0)) return {};
  const KnownElements x = at.known_x(0);
  std::vector<Box> boxes = x.rows, result;
  if (x.filled) boxes.push_back(*x.filled);
  for (const Box& box : boxes) {
    std::vector<Box> some;
    if (std::holds_alternative<op::View>(at.layer) && element_count(at.x(0)) == element_count(at.y())) {
      some = reshaped(box, at.x(0), at.y());
    } else if (x.rows.empty()) {
      return {};  // one box stays one
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
  return result.size() > 1 && result.size() <= Region::most_boxes ? result : std::vector<Box>{};
}

}  // namespace benanza::detail
