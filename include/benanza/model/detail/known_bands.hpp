// SPDX-License-Identifier: Apache-2.0
// Bands of tensors outside of which every element is the same number: triangles, and scores that a constant mask hides.
#pragma once

#include <benanza/base/detail/node.hpp>
#include <benanza/model/detail/known_elements.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace benanza::detail {

/// Where a constant is 0 or hides a score, and how much of it is 0.
[[nodiscard]] inline KnownElements known_constant(const Value& value) {
  KnownElements result;
  const std::size_t rank = value.dims.size();
  if (value.sparse && value.elements() > 0)
    result.nonzero = std::min(1.0, static_cast<double>(value.sparse->numbers) / static_cast<double>(value.elements()));
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

/// Converts a band of a tensor to a band of a tensor that it broadcasts to, or that has the same last axes.
[[nodiscard]] inline std::optional<AxesBand> from_last(const std::optional<AxesBand>& band, const Dims& x,
                                                       const Dims& y) {
  if (!band) return std::nullopt;
  const std::size_t row = x.size() - band->row, column = x.size() - band->column;  // from the end
  if (row > y.size() || column > y.size() || y[y.size() - row] != x[band->row] ||
      y[y.size() - column] != x[band->column])
    return std::nullopt;
  return AxesBand{y.size() - row, y.size() - column, band->band};
}

/// Whether readers need not distinguish two numbers: they are equal, or both hide a score.
[[nodiscard]] inline bool is_alike(double a, double b) { return a == b || std::max(a, b) <= masked_score; }

/// What is known of the result of an element-wise operator or a softmax outside of a band.
class KnownElementwise {
 public:
  explicit KnownElementwise(const SizedNode& at) : at_(at), type_(onnx_type(at.node)) {}

  [[nodiscard]] KnownElements result() const {
    KnownElements y;
    if (type_ == "Trilu") return triangle();
    if (type_ == "Softmax" || type_ == "LogSoftmax") return softmax();
    const std::vector<Outside> results = type_ == "Where" ? choices() : combinations();
    const auto is_worse = [this](const Outside& a, const Outside& b) {
      return std::pair(matters(a), -unknown(a)) < std::pair(matters(b), -unknown(b));
    };
    const auto best = std::max_element(results.begin(), results.end(), is_worse);
    if (best == results.end()) return y;
    Outside taken = *best;
    for (const Outside& part : results)
      if (is_alike(part.number, taken.number)) taken = either(taken, part);
    y.band = taken.band;
    y.outside = taken.number;
    return y;
  }

  /// The result for one number, or for two. Empty if it is not known.
  [[nodiscard]] std::optional<double> number_of(double x) const {
    static const std::map<std::string_view, double (*)(double)> functions{
        {"Identity", [](double n) { return n; }},
        {"Dropout", [](double n) { return n; }},
        {"Neg", [](double n) { return -n; }},
        {"Abs", [](double n) { return std::abs(n); }},
        {"Relu", [](double n) { return std::max(n, 0.0); }},
        {"Exp", [](double n) { return std::exp(n); }},
        {"Log", [](double n) { return std::log(n); }},
        {"Sigmoid", [](double n) { return 1 / (1 + std::exp(-n)); }},
        {"Not", [](double n) { return n == 0 ? 1.0 : 0.0; }},
        {"IsNaN", [](double n) { return std::isnan(n) ? 1.0 : 0.0; }},
    };
    if (type_ == "Cast") {
      const DataType to = at_.graph.output(at_.node, 0).type;
      if (to == DataType::boolean) return x != 0 ? 1 : 0;
      const bool small = x >= 0 && x < 8 && x == std::trunc(x);  // the same in every type
      return small || (is_float(to) && bits(to) >= 16) ? std::optional(x) : std::nullopt;
    }
    if (x == 0 && (at_.facts.is(Trait::keeps_zero) || at_.node.op_type == "Dropout")) return 0;
    const auto found = functions.find(type_);
    return found == functions.end() ? std::nullopt : std::optional(found->second(x));
  }
  [[nodiscard]] std::optional<double> number_of(double a, double b) const {
    static const std::map<std::string_view, double (*)(double, double)> functions{
        {"Add", [](double x, double y) { return x + y; }},
        {"Sum", [](double x, double y) { return x + y; }},
        {"Sub", [](double x, double y) { return x - y; }},
        {"Mul", [](double x, double y) { return x * y; }},
        {"Min", [](double x, double y) { return std::min(x, y); }},
        {"Max", [](double x, double y) { return std::max(x, y); }},
        {"And", [](double x, double y) { return x != 0 && y != 0 ? 1.0 : 0.0; }},
        {"Or", [](double x, double y) { return x != 0 || y != 0 ? 1.0 : 0.0; }},
        {"Xor", [](double x, double y) { return (x != 0) != (y != 0) ? 1.0 : 0.0; }},
        {"Equal", [](double x, double y) { return x == y ? 1.0 : 0.0; }},
        {"Less", [](double x, double y) { return x < y ? 1.0 : 0.0; }},
        {"LessOrEqual", [](double x, double y) { return x <= y ? 1.0 : 0.0; }},
        {"Greater", [](double x, double y) { return x > y ? 1.0 : 0.0; }},
        {"GreaterOrEqual", [](double x, double y) { return x >= y ? 1.0 : 0.0; }},
    };
    if (type_ == "Div")
      return is_float(at_.graph.output(at_.node, 0).type) && b != 0 ? std::optional(a / b) : std::nullopt;
    const auto found = functions.find(type_);
    return found == functions.end() ? std::nullopt : std::optional(found->second(a, b));
  }

 private:
  /// All elements outside of a band have this number; if there is no band, all elements have it.
  struct Outside {
    std::optional<AxesBand> band{};
    double number = 0;
  };

  [[nodiscard]] bool hides(const Outside& part) const {
    return part.number <= masked_score && is_float(at_.graph.output(at_.node, 0).type);
  }
  [[nodiscard]] bool matters(const Outside& part) const { return part.number == 0 || hides(part); }
  /// The number of unknown elements in a matrix.
  [[nodiscard]] double unknown(const Outside& part) const {
    if (!part.band) return 0;
    const auto& [row, column, band] = *part.band;
    return banded_count(Positions::whole(at_.y()[row]), Positions::whole(at_.y()[column]), band);
  }

  /// What is known of an operand. A constant with two numbers has one outside of a band and the other within it.
  [[nodiscard]] std::vector<Outside> known(std::size_t k) const {
    const Value& value = at_.graph.input(at_.node, k);
    if (const auto number = scalar(value)) return {{std::nullopt, *number}};
    std::vector<Outside> parts;
    const auto add = [&](const AxesBand& band, double number) {
      if (auto moved = from_last(band, at_.x(k), at_.y())) parts.push_back({std::move(moved), number});
    };
    if (value.constant && value.banded && value.dims.size() >= 2) {
      const BandedNumbers& numbers = *value.banded;
      if (numbers.inside == numbers.outside && !numbers.differ) return {{std::nullopt, numbers.inside}};
      AxesBand band{value.dims.size() - 2, value.dims.size() - 1, numbers.band};
      add(band, numbers.outside);
      const auto rest = numbers.differ ? std::nullopt : numbers.band.complement();
      if (rest) add({band.row, band.column, *rest}, numbers.inside);
    } else if (const KnownElements& x = at_.known_x(k); x.band) {
      add(*x.band, x.outside);
    }
    return parts;
  }

  /// The elements at which both operands are known.
  [[nodiscard]] static std::optional<Outside> both(const Outside& a, const Outside& b, double number) {
    if (!a.band || !b.band) return Outside{a.band ? a.band : b.band, number};
    if (!a.band->has_axes_of(*b.band)) return std::nullopt;
    return Outside{AxesBand{a.band->row, a.band->column, around(a.band->band, b.band->band)}, number};
  }
  /// The elements for which at least one of two statements holds. Their numbers must be alike.
  [[nodiscard]] static Outside either(const Outside& a, const Outside& b) {
    if (!a.band || !b.band) return a.band ? b : a;
    if (!a.band->has_axes_of(*b.band)) return a;
    return {AxesBand{a.band->row, a.band->column, common(a.band->band, b.band->band)}, std::max(a.number, b.number)};
  }

  /// The elements that a known condition chooses, and those that do not depend on it because both operands are alike.
  [[nodiscard]] std::vector<Outside> choices() const {
    std::vector<Outside> results;
    const auto add = [&results](const std::optional<Outside>& part) {
      if (part) results.push_back(*part);
    };
    for (const Outside& condition : known(0))
      for (const Outside& taken : known(condition.number != 0 ? 1 : 2)) add(both(condition, taken, taken.number));
    for (const Outside& a : known(1))
      for (const Outside& b : known(2))
        if (a.number == b.number || (hides(a) && hides(b))) add(both(a, b, std::max(a.number, b.number)));
    return results;
  }

  [[nodiscard]] std::vector<Outside> combinations() const {
    const std::size_t count = at_.node.inputs.size();
    std::vector<Outside> parts = known(0);
    if (std::holds_alternative<op::UnaryGradient>(at_.layer)) {  // dy times the derivative
      std::erase_if(parts, [](const Outside& part) { return part.number != 0; });
      return parts;
    }
    if (count == 1 || type_ == "Cast" || at_.node.op_type == "Dropout") {
      std::erase_if(parts, [this](Outside& part) {
        const auto number = number_of(part.number);
        part.number = number.value_or(0);
        return !number;
      });
      return parts;
    }
    for (std::size_t k = 1; k < count && at_.node.has_input(k); ++k) parts = combined(parts, known(k), k == 1);
    return parts;
  }
  [[nodiscard]] std::vector<Outside> combined(const std::vector<Outside>& first, const std::vector<Outside>& second,
                                              bool is_first) const {
    std::vector<Outside> results;
    std::optional<Outside> deciding;
    const auto decide = [&](const std::optional<double>& number, const Outside& part) {
      if (!number) return;
      const Outside decided{part.band, *number};
      deciding = deciding ? either(*deciding, decided) : decided;
    };
    for (const Outside& a : first) decide(decided_by(a.number, is_first), a);
    for (const Outside& b : second) decide(decided_by(b.number, false), b);
    if (deciding) results.push_back(*deciding);
    for (const Outside& a : first)
      for (const Outside& b : second)
        if (const auto number = number_of(a.number, b.number))
          if (auto part = both(a, b, *number)) results.push_back(std::move(*part));
    return results;
  }

  /// The result if one operand is this number and the other is unknown. Empty if it depends on the other.
  [[nodiscard]] std::optional<double> decided_by(double x, bool is_first) const {
    if (x == 0 && (type_ == "Mul" || type_ == "And" || (type_ == "Div" && is_first))) return 0;
    if (x != 0 && type_ == "Or") return 1;
    const bool takes = type_ == "Add" || type_ == "Sum" || type_ == "Min" || (type_ == "Sub" && is_first);
    const bool hidden = (takes && hides({.number = x})) || (type_ == "Sub" && !is_first && hides({.number = -x}));
    return hidden ? std::optional(-std::numeric_limits<double>::infinity()) : std::nullopt;  // less than any score
  }
  /// A softmax is 0 at hidden scores, unless a row has only hidden scores. A LogSoftmax hides the same scores.
  [[nodiscard]] KnownElements softmax() const {
    const KnownElements& x = at_.known_x(0);
    const Dims& y = at_.y();
    const auto axis = to_axis(at_.node.attribute<std::int64_t>("axis", at_.node.opset < 13 ? 1 : -1), y.size());
    if (!x.band || x.outside > masked_score || !axis || (at_.node.opset < 13 && *axis + 1 != y.size())) return {};
    AxesBand along = *x.band;
    if (along.row == *axis) along = {along.column, along.row, along.band.transposed()};
    if (along.column != *axis || !along.band.reaches_each_row(y[along.row], y[along.column])) return {};
    return {.band = x.band, .outside = type_ == "Softmax" ? 0 : x.outside};
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
    const KnownElements& x = at_.known_x(0);
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

/// The band of a tensor to which a slice is assigned: it contains the band of the slice and that of the tensor.
[[nodiscard]] inline KnownElements known_assignment(const SizedNode& at, const Dims& first) {
  const KnownElements &x = at.known_x(0), &updates = at.known_x(2);
  if (!updates.band || at.x(2) == at.x(0)) return {.band = updates.band, .outside = updates.outside};
  if (!x.band || !x.band->has_axes_of(*updates.band) || !is_alike(x.outside, updates.outside)) return {};
  const auto begin = [&first](std::size_t axis) { return axis < first.size() ? -first[axis] : 0; };
  const Band moved = updates.band->band.from(begin(x.band->row), begin(x.band->column));
  return {.band = AxesBand{x.band->row, x.band->column, around(x.band->band, moved)},
          .outside = std::max(x.outside, updates.outside)};
}

/// The band of part `j` of a Split.
[[nodiscard]] inline KnownElements known_part_band(const SizedNode& at, std::size_t j) {
  const KnownElements& x = at.known_x(0);
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

/// The box that a Slice takes. Empty if its bounds depend on data.
[[nodiscard]] inline std::optional<op::Slice::Box> known_slice(const SizedNode& at) {
  for (std::size_t k = 1; k < at.node.inputs.size(); ++k)
    if (at.node.has_input(k) && !at.graph.input(at.node, k).literal) return std::nullopt;
  auto box = op::Slice::taken_box(at.node, at.graph);
  return box && box->taken == at.y() ? std::move(box) : std::nullopt;
}

/// The smallest band that contains the bands of all operands of a Concat.
[[nodiscard]] inline KnownElements known_joined(const SizedNode& at) {
  const auto axis = to_axis(at.node.attribute<std::int64_t>("axis", 1), at.y().size());
  std::optional<AxesBand> like;
  std::optional<double> outside;
  for (std::size_t k = 0; k < at.node.inputs.size(); ++k)
    if (const KnownElements& x = at.known_x(k); x.band && !like) {
      like = x.band;
      outside = x.outside;
    }
  if (!axis || !like) return {};
  Band whole{1, 0};
  std::int64_t begin = 0;
  for (std::size_t k = 0; k < at.node.inputs.size(); ++k) {
    const KnownElements& x = at.known_x(k);
    const Dims& dims = at.x(k);
    const auto& numbers = at.graph.input(at.node, k).banded;
    Band band{1 - dims[like->row], dims[like->column] - 1};
    if (x.band && x.band->has_axes_of(*like) && is_alike(x.outside, *outside)) band = common(band, x.band->band);
    else if (numbers && !numbers->differ && numbers->inside == numbers->outside && is_alike(numbers->inside, *outside))
      band = {1, 0};
    if (!band.empty())
      whole = around(whole, band.from(like->row == *axis ? -begin : 0, like->column == *axis ? -begin : 0));
    begin += dims[*axis];
  }
  return {.band = AxesBand{like->row, like->column, whole}, .outside = *outside};
}

/// The band of the result of a movement or an element-wise operator.
[[nodiscard]] inline KnownElements known_band(const SizedNode& at) {
  const std::string type = onnx_type(at.node);
  if (type == "EyeLike") {
    const std::int64_t k = at.node.attribute<std::int64_t>("k", 0);
    return {.band = AxesBand{0, 1, Band{k, k}}};
  }
  if (!at.node.has_input(0)) return {};
  if (const auto first = assigned_slice(at)) return known_assignment(at, *first);
  if (type == "Concat") return known_joined(at);
  if (type == "benanza.SoftmaxGrad") {  // a factor of each element is the result of the softmax
    const KnownElements& y = at.known_x(1);
    return {.band = y.outside == 0 ? y.band : std::nullopt};
  }
  const KnownElements& x = at.known_x(0);
  if (type == "Slice" && x.band) {
    const auto box = known_slice(at);
    KnownElements y{.outside = x.outside};
    const std::size_t row = x.band->row, column = x.band->column;
    if (box && box->step[row] == 1 && box->step[column] == 1)
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
    bool exchanges = rank >= 2;
    for (std::size_t i = 0; exchanges && i < rank; ++i)
      exchanges = moved_to(i) == (i + 2 < rank ? i : 2 * rank - 3 - i);
    if (exchanges) y.transposed_of = at.node.inputs[0];
    return y;
  }
  if (at.facts.moves == Moves::shape || type == "Expand") {
    const Dims& dims = at.x(0);
    const bool last = x.band && at.y().size() >= 2 && std::max(x.band->row, x.band->column) + 1 == dims.size();
    return {.band = last ? from_last(x.band, dims, at.y()) : std::nullopt, .outside = x.outside};
  }
  return KnownElementwise(at).result();
}

}  // namespace benanza::detail
