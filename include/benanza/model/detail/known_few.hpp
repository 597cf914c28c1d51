// SPDX-License-Identifier: Apache-2.0
// Tensors in which a few elements along an axis differ from one number, although data choose which: one-hot vectors,
// gates of the best k experts. And indices that differ from each other, as those of a TopK do.
#pragma once

#include <benanza/base/detail/node.hpp>
#include <benanza/model/detail/known_bands.hpp>
#include <benanza/model/detail/known_elements.hpp>
#include <benanza/model/detail/live_movement.hpp>
#include <benanza/model/graph.hpp>
#include <benanza/model/layer.hpp>
#include <benanza/model/ramp.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace benanza::detail {

/// The number of a constant whose elements are all equal. Empty for other constants, and for weights.
[[nodiscard]] inline std::optional<double> uniform_number(const Value& value) {
  if (const auto number = scalar(value)) return number;
  if (value.constant && value.literal) {
    const auto are_equal = [](const auto& numbers) {
      return !numbers.empty() && std::count(numbers.begin(), numbers.end(), numbers[0]) == std::ssize(numbers);
    };
    if (are_equal(value.literal->floats)) return value.literal->floats[0];
    if (are_equal(value.literal->ints)) return static_cast<double>(value.literal->ints[0]);
  }
  const auto& banded = value.banded;
  return banded && !banded->differ && banded->inside == banded->outside ? std::optional(banded->inside) : std::nullopt;
}

/// The same, also of a number that is expanded to a size in the file.
[[nodiscard]] inline std::optional<double> uniform_number(const Graph& graph, ValueId id) {
  if (const auto number = uniform_number(graph.value(id))) return number;
  for (const Node& node : graph.constant_nodes)
    if (node.domain.empty() && node.op_type == "Expand" && node.has_output(0) && *node.outputs[0] == id)
      return uniform_number(graph.input(node, 0));
  return std::nullopt;
}

/// All elements of a tensor with dimensions `y` are `rest`.
[[nodiscard]] inline std::optional<FewElements> few_nowhere(const FewElements& few, const Dims& y) {
  if (y.empty()) return std::nullopt;
  return FewElements{.count = 0, .different = 0, .rest = few.rest, .chosen = few.chosen};
}

/// The elements of `few`, of a tensor with dimensions `x`, in a tensor `y` to which it broadcasts.
[[nodiscard]] inline std::optional<FewElements> broadcast_few(FewElements few, const Dims& x, const Dims& y) {
  if (few.count == 0) return few_nowhere(few, y);
  if (x.size() > y.size()) return std::nullopt;
  const std::size_t axis = few.axis + y.size() - x.size();
  if (x[few.axis] != y[axis]) return std::nullopt;
  few.axis = axis;
  return few;
}

/// The same elements after a reshape. Empty if the axis is divided.
[[nodiscard]] inline std::optional<FewElements> reshaped_few(FewElements few, const Dims& x, const Dims& y) {
  if (few.count == 0) return few_nowhere(few, y);
  const std::int64_t inner = few.inner * product(x, few.axis + 1, x.size());  // in elements
  std::size_t axis = y.size();
  std::int64_t behind = 1;  // elements for each position of the axis
  while (axis > 0 && behind * y[axis - 1] <= inner) behind *= y[--axis];
  if (axis-- == 0 || inner % behind != 0 || behind * y[axis] % (inner * few.size) != 0) return std::nullopt;
  few.axis = axis;
  few.inner = inner / behind;
  return few;
}

/// The same elements in a part of the axis, at coordinates in increasing order. If ranks of scores choose, requests in
/// which the first coordinates are chosen stand for all: of experts, each of which is taken out and computed, as many
/// count as each token chooses.
[[nodiscard]] inline std::optional<FewElements> narrowed_few(FewElements few, const Positions& taken, const Dims& y) {
  const bool ranked = few.different > 0;
  const std::int64_t chosen = ranked ? common(taken, Positions::whole(few.different)).count() : taken.count();
  few.size = taken.count();
  few.count = std::min(few.count, chosen);
  few.different = ranked ? chosen : 0;
  if (few.count == 0) return few_nowhere(few, y);
  return few.count < few.size && y.size() > few.axis && y[few.axis] == few.size ? std::optional(few) : std::nullopt;
}

class KnownFew {
 public:
  explicit KnownFew(const SizedNode& at, std::size_t j = 0) : at_(at), type_(onnx_type(at.node)), j_(j) {}

  [[nodiscard]] std::optional<FewElements> result() const {
    if (type_ == "Split") return part();
    if (type_ == "OneHot") return one_hot();
    if (type_ == "Hardmax") return hardmax();
    if (type_ == "Equal") return comparison();
    if (type_ == "ScatterElements") return scattered();
    if (type_ == "benanza.GatherGrad") return looked_up();
    if (type_ == "Where") return choice();
    if (type_ == "ReduceSum") return sum();
    if (type_ == "MatMul") return matrices();
    if (type_ == "Concat") return joined();
    if (at_.node.inputs.size() == 2 && std::holds_alternative<op::Binary>(at_.layer)) return combination();
    const auto few = at_.known_x(0).few;
    if (!few) return std::nullopt;
    const Dims &x = at_.x(0), &y = at_.y();
    if (type_ == "Transpose") return transposed(*few);
    if (type_ == "Expand") return broadcast_few(*few, x, y);
    if (at_.facts.moves == Moves::shape)
      return element_count(x) == element_count(y) ? reshaped_few(*few, x, y) : std::nullopt;
    if (type_ == "Slice") return sliced(*few);
    if (type_ == "Gather") return gathered(*few);
    if (type_ == "Softmax") return shown(*few);
    if (few->count == 0 && (type_ == "ReduceMax" || type_ == "ReduceMin")) return few_nowhere(*few, y);
    if (x == y && (at_.node.inputs.size() == 1 || type_ == "Cast" || type_ == "Dropout"))
      return mapped(*few, [results = KnownElementwise(at_)](double n) { return results.number_of(n); });
    return std::nullopt;
  }

 private:
  /// Empty if the function of the other elements is not known.
  template <class Function>
  [[nodiscard]] static std::optional<FewElements> mapped(FewElements few, const Function& function) {
    const std::optional<double> rest = function(few.rest);
    if (!rest) return std::nullopt;
    few.rest = *rest;
    if (few.chosen) few.chosen = function(*few.chosen);
    return few;
  }
  [[nodiscard]] std::optional<FewElements> along(std::size_t axis, std::int64_t count, double rest,
                                                 std::optional<double> chosen = {}, std::int64_t different = 0) const {
    return FewElements{
        .axis = axis, .size = at_.y()[axis], .count = count, .different = different, .rest = rest, .chosen = chosen};
  }
  /// How many different places the indices in an operand name at least. 0 if ranks of scores do not choose them.
  [[nodiscard]] std::int64_t ranked(std::size_t k) const {
    const KnownElements x = at_.known_x(k);
    return x.chosen_below > 0 ? x.different : 0;
  }
  /// The number of all elements of an operand.
  [[nodiscard]] std::optional<double> number_of(std::size_t k) const {
    const auto few = at_.known_x(k).few;
    return few && few->count == 0 ? std::optional(few->rest) : uniform_number(at_.graph.input(at_.node, k));
  }

  [[nodiscard]] std::optional<FewElements> sliced(const FewElements& few) const {
    const Dims &x = at_.x(0), &y = at_.y();
    if (few.count == 0) return few_nowhere(few, y);
    if (x.size() != y.size()) return std::nullopt;
    if (x[few.axis] == y[few.axis]) return few;
    const auto box = few.inner == 1 && few.size == x[few.axis] ? known_slice(at_) : std::nullopt;
    if (!box || box->step[few.axis] < 1) return std::nullopt;
    return narrowed_few(few,
                        stepped(Positions::whole(y[few.axis]), box->first[few.axis], box->step[few.axis], few.size), y);
  }
  [[nodiscard]] std::optional<FewElements> gathered(FewElements few) const {
    const Dims &x = at_.x(0), &y = at_.y();
    const std::size_t rank = at_.x(1).size();
    const auto axis = to_axis(at_.node.attribute<std::int64_t>("axis", 0), x.size());
    if (few.count == 0) return few_nowhere(few, y);
    if (!axis || y.size() + 1 != x.size() + rank) return std::nullopt;
    if (*axis != few.axis) {
      if (*axis < few.axis) few.axis = few.axis + rank - 1;
      return few;
    }
    const std::vector<std::int64_t> places = known_places(at_, *axis);
    if (places.empty() || few.inner != 1 || few.size != x[few.axis] || rank > 1) return std::nullopt;
    if (std::adjacent_find(places.begin(), places.end(), std::greater_equal()) != places.end()) return std::nullopt;
    std::vector<Positions::Run> runs;
    for (const std::int64_t place : places) runs.push_back({place, place + 1});
    return narrowed_few(few, Positions(std::move(runs)), y);
  }
  [[nodiscard]] std::optional<FewElements> part() const {
    const auto few = at_.known_x(0).few;
    const Dims &x = at_.x(0), &y = at_.y(j_);
    const auto axis = to_axis(at_.node.attribute<std::int64_t>("axis", 0), x.size());
    if (!few || few->count == 0) return few ? few_nowhere(*few, y) : std::nullopt;
    if (axis != few->axis) return few;
    if (few->inner != 1 || few->size != x[few->axis]) return std::nullopt;
    std::int64_t begin = 0;
    for (std::size_t j = 0; j < j_; ++j) {
      if (!at_.node.has_output(j)) return std::nullopt;
      begin += at_.y(j)[*axis];
    }
    return narrowed_few(*few, Positions::run(begin, begin + y[*axis]), y);
  }

  /// A softmax along the axis, in which hidden scores become 0.
  [[nodiscard]] std::optional<FewElements> shown(FewElements few) const {
    const std::size_t last = at_.y().size() - 1;
    const auto axis = to_axis(at_.node.attribute<std::int64_t>("axis", at_.node.opset < 13 ? 1 : -1), at_.y().size());
    if (few.count == 0 || few.inner != 1 || few.axis != last || axis != last || few.rest > masked_score)
      return std::nullopt;
    few.rest = 0;
    few.chosen.reset();
    return few;
  }

  /// A Concat of parts, all of which are zeros behind the first ones.
  [[nodiscard]] std::optional<FewElements> joined() const {
    const auto axis = to_axis(at_.node.attribute<std::int64_t>("axis", 0), at_.y().size());
    if (!axis) return std::nullopt;
    const auto is_zero = [this](std::size_t k) {
      const auto few = at_.known_x(k).few;
      return few && few->count == 0 && few->rest == 0;
    };
    FewElements few{.axis = *axis, .size = at_.y()[*axis], .count = 0};
    std::size_t k = 0;
    for (; k < at_.node.inputs.size() && !is_zero(k); ++k) few.count += at_.x(k)[*axis];
    for (; k < at_.node.inputs.size(); ++k)
      if (!is_zero(k)) return std::nullopt;
    few.different = few.count;
    if (few.count == 0) return few_nowhere(few, at_.y());
    return few.count < few.size ? std::optional(few) : std::nullopt;
  }

  [[nodiscard]] std::optional<FewElements> one_hot() const {
    const auto axis = to_axis(at_.node.attribute<std::int64_t>("axis", -1), at_.y().size());
    const auto& values = at_.graph.input(at_.node, 2).literal;  // off, on
    if (!axis || !values || values->floats.size() + values->ints.size() != 2) return std::nullopt;
    const auto number = [&](std::size_t i) {
      return values->floats.empty() ? static_cast<double>(values->ints[i]) : values->floats[i];
    };
    return along(*axis, 1, number(0), number(1), ranked(0));
  }

  [[nodiscard]] std::optional<FewElements> hardmax() const {
    const auto axis = to_axis(at_.node.attribute<std::int64_t>("axis", at_.node.opset < 13 ? 1 : -1), at_.y().size());
    const bool one_axis = axis && (at_.node.opset >= 13 || *axis + 1 == at_.y().size());
    return one_axis ? along(*axis, 1, 0, 1, 1) : std::nullopt;
  }

  /// A comparison with numbers that all differ: one of them may be equal. Or one of indices that data choose with a
  /// number that is none of them.
  [[nodiscard]] std::optional<FewElements> comparison() const {
    for (const std::size_t k : {0U, 1U}) {
      const std::int64_t below = at_.known_x(1 - k).chosen_below;
      if (const auto number = scalar(at_.graph.input(at_.node, k)); number && below > 0)
        return *number < 0 || *number >= static_cast<double>(below) ? few_nowhere({.rest = 0, .chosen = 1}, at_.y())
                                                                    : std::nullopt;
      const auto axis = different_along(at_.graph.input(at_.node, k));
      const Dims &own = at_.x(k), &other = at_.x(1 - k), &y = at_.y();
      if (!axis) continue;
      const std::size_t from_end = own.size() - *axis;
      const bool one = other.size() < from_end || other[other.size() - from_end] == 1;
      if (one && from_end <= y.size()) return along(y.size() - from_end, 1, 0, 1, ranked(1 - k));
    }
    return std::nullopt;
  }
  /// The only axis of a constant with more than one position, if its numbers all differ.
  [[nodiscard]] static std::optional<std::size_t> different_along(const Value& value) {
    std::size_t axis = 0;
    while (axis < value.dims.size() && value.dims[axis] == 1) ++axis;
    if (!value.constant || axis == value.dims.size() || value.dims[axis] != value.elements()) return std::nullopt;
    if (value.ramps.size() == 1) return value.ramps[0].steps[axis] != 0 ? std::optional(axis) : std::nullopt;
    if (!value.literal) return std::nullopt;
    const auto& [ints, floats] = *value.literal;
    const std::set<double> floats_seen(floats.begin(), floats.end());
    const std::set<std::int64_t> ints_seen(ints.begin(), ints.end());
    const auto seen = static_cast<std::int64_t>(floats.empty() ? ints_seen.size() : floats_seen.size());
    return seen == value.elements() ? std::optional(axis) : std::nullopt;
  }

  /// Elements that are written into a constant that has one number in all places.
  [[nodiscard]] std::optional<FewElements> scattered() const {
    const auto axis = to_axis(at_.node.attribute<std::int64_t>("axis", 0), at_.y().size());
    const auto rest =
        at_.graph.input(at_.node, 0).constant ? uniform_number(at_.graph, *at_.node.inputs[0]) : std::nullopt;
    if (!axis || !rest || at_.x(1).size() != at_.y().size() || at_.x(1)[*axis] >= at_.y()[*axis]) return std::nullopt;
    // Without a reduction, no two indices may be the same (ScatterElements: "indices must be unique").
    const bool unique = at_.node.attribute<std::string>("reduction", "none") == "none";
    const std::int64_t different = unique ? at_.x(1)[*axis] : ranked(1);
    return along(*axis, std::max<std::int64_t>(1, different), *rest, {}, different);
  }

  /// The gradient of a table: rows that were not looked up are 0.
  [[nodiscard]] std::optional<FewElements> looked_up() const {
    const auto axis = to_axis(at_.node.attribute<std::int64_t>("axis", 0), at_.y().size());
    if (!axis || element_count(at_.x(1)) >= at_.y()[*axis]) return std::nullopt;
    return along(*axis, std::max<std::int64_t>(1, ranked(1)), 0, {}, ranked(1));
  }

  [[nodiscard]] std::optional<FewElements> choice() const {
    const auto condition = at_.known_x(0).few;
    const auto few = condition ? broadcast_few(*condition, at_.x(0), at_.y()) : std::nullopt;
    const auto taken = [this](double number) { return number_of(number != 0 ? 1 : 2); };
    return few ? mapped(*few, taken) : std::nullopt;
  }

  [[nodiscard]] std::optional<FewElements> combination() const {
    for (const std::size_t k : {0U, 1U}) {
      const auto own = at_.known_x(k).few;
      const auto few = own ? broadcast_few(*own, at_.x(k), at_.y()) : std::nullopt;
      if (!few) continue;
      const KnownElementwise results(at_);
      if (const auto other = number_of(1 - k))
        return mapped(*few,
                      [&](double n) { return k == 0 ? results.number_of(n, *other) : results.number_of(*other, n); });
      if (few->rest == 0 && (type_ == "Mul" || type_ == "And" || (type_ == "Div" && k == 0))) {
        FewElements y = *few;
        y.chosen.reset();
        return y;
      }
    }
    return std::nullopt;
  }

  /// Products of matrices of zeros. A product with one-hot vectors whose places differ is a sum over them.
  [[nodiscard]] std::optional<FewElements> matrices() const {
    for (const std::size_t k : {0U, 1U}) {
      auto few = at_.known_x(k).few;
      const std::size_t rank = at_.x(k).size();
      if (!few || few->rest != 0) continue;
      few->chosen.reset();
      if (few->count > 0 && few->axis + 2 >= rank) {
        if (k == 0 || few->axis + 1 != rank || few->different == 0 || rank < 2) continue;
        few->count = count_in_sum(*few, at_.x(k)[rank - 2]);
        if (few->count >= few->size) continue;
      }
      return broadcast_few(*few, at_.x(k), at_.y());
    }
    return std::nullopt;
  }
  [[nodiscard]] static std::int64_t count_in_sum(const FewElements& few, std::int64_t addends) {
    return std::min({few.size, few.count * addends, std::max(few.count, few.different)});
  }

  /// A sum over another axis: all of its addends may have their few elements at different places.
  [[nodiscard]] std::optional<FewElements> sum() const {
    auto few = at_.known_x(0).few;
    const auto axes = given_ints(at_.node, at_.graph, "axes", 1);
    const Dims &x = at_.x(0), &y = at_.y();
    if (few) few->chosen.reset();
    if (few && few->rest == 0 && few->count == 0) return few_nowhere(*few, y);
    if (!few || few->rest != 0 || !axes.known || axes.values.empty()) return std::nullopt;
    std::set<std::size_t> reduced;
    for (const auto each : axes.values)
      if (const auto axis = to_axis(each, x.size())) reduced.insert(*axis);
    if (reduced.contains(few->axis)) return std::nullopt;
    for (const std::size_t axis : reduced) few->count = count_in_sum(*few, x[axis]);
    if (y.size() != x.size())
      few->axis -= static_cast<std::size_t>(std::distance(reduced.begin(), reduced.lower_bound(few->axis)));
    return few->count < few->size ? few : std::nullopt;
  }

  [[nodiscard]] std::optional<FewElements> transposed(FewElements few) const {
    if (few.count == 0) return few_nowhere(few, at_.y());
    const std::size_t rank = at_.y().size();
    const auto perm = at_.node.attribute<Dims>("perm", {});
    for (std::size_t i = 0; i < rank; ++i)
      if ((perm.empty() ? rank - 1 - i : static_cast<std::size_t>(perm[i])) == few.axis) {
        few.axis = i;
        return few;
      }
    return std::nullopt;
  }

  const SizedNode& at_;
  std::string type_;
  std::size_t j_;  // the result of a Split
};
[[nodiscard]] inline std::optional<FewElements> known_few(const SizedNode& at, std::size_t j = 0) {
  return KnownFew(at, j).result();
}

/// Whether the results of a node that is not a movement are numbers that are known, at places that data choose: then
/// there is nothing to compute. The same if it multiplies by 1 at these places.
[[nodiscard]] inline bool chooses_numbers(const SizedNode& at) {
  if (at.known.empty() || !at.node.has_input(0)) return false;
  const auto few = known_few(at);
  if (few && few->chosen) return true;
  if (!few || onnx_type(at.node) != "Mul") return false;
  const auto picks = [&](std::size_t k) { return at.known_x(k).few && at.known_x(k).few->chosen == 1; };
  return picks(0) || picks(1);
}

/// At least so many elements of result `j` differ from each other.
[[nodiscard]] inline std::int64_t known_different(const SizedNode& at, std::size_t j) {
  const std::string type = onnx_type(at.node);
  if (type == "TopK") {
    const auto axis = to_axis(at.node.attribute<std::int64_t>("axis", -1), at.y(j).size());
    return axis && j == 1 ? std::max<std::int64_t>(1, at.y(j)[*axis]) : 1;
  }
  return at.facts.keeps_all() ? at.known_x(0).different : 1;
}

/// If the data choose the indices: the chosen ones count as those below this number. 0 for other results.
[[nodiscard]] inline std::int64_t known_chosen(const SizedNode& at, std::size_t j) {
  const std::string type = onnx_type(at.node);
  if (type == "ArgMax" || type == "ArgMin") return 1;
  if (type == "TopK") return j == 1 ? known_different(at, j) : 0;
  return at.facts.moves != Moves::nothing ? at.known_x(0).chosen_below : 0;
}

/// The positions for which `few` counts: the first ones that are needed stand for those that data choose. The work is
/// least if the same ones are chosen everywhere.
[[nodiscard]] inline Positions few_of(const FewElements& few, const Positions& needed) {
  constexpr std::int64_t most_positions = 1 << 20;
  if (few.count == 0) return {};
  if (needed.count() > most_positions) return needed;
  std::set<std::int64_t> chosen;  // coordinates
  std::vector<Positions::Run> runs;
  for (const auto& run : needed.runs())
    for (auto p = run.begin; p < run.end; ++p) {
      const std::int64_t coordinate = p / few.inner % few.size;
      if (std::cmp_less(chosen.size(), few.count)) chosen.insert(coordinate);
      if (!chosen.contains(coordinate)) continue;
      if (!runs.empty() && runs.back().end == p) ++runs.back().end;
      else runs.push_back({p, p + 1});
    }
  return Positions(std::move(runs));
}

/// A node that changes a few rows of one of its operands, and so can work in place.
struct Update {
  std::size_t kept = 0;   ///< the operand whose other rows stay
  FewElements rows{};     ///< of the result
  bool replaces = false;  ///< the rows that change are not read
  [[nodiscard]] double share() const { return static_cast<double>(rows.count) / static_cast<double>(rows.size); }
};
[[nodiscard]] inline std::optional<Update> known_update(const SizedNode& at) {
  const std::string type = onnx_type(at.node);
  if (at.known.empty() || at.node.outputs.size() != 1) return std::nullopt;
  const auto made = [&](std::size_t k, std::size_t kept, bool replaces) -> std::optional<Update> {
    const auto own = at.known_x(k).few;
    const auto rows = own ? broadcast_few(*own, at.x(k), at.y()) : std::nullopt;
    if (!rows || at.x(kept) != at.y() || at.graph.input(at.node, kept).constant) return std::nullopt;
    return Update{kept, *rows, replaces};
  };
  if (type == "Where") {
    const auto condition = at.known_x(0).few;
    return condition ? made(0, condition->rest != 0 ? 1 : 2, true) : std::nullopt;
  }
  const auto has_rest = [&](std::size_t k, double rest) {
    return at.known_x(k).few && at.known_x(k).few->rest == rest;
  };
  if (type == "benanza.OptimizerStep" && at.node.inputs.size() == 2 && has_rest(1, 0)) return made(1, 0, false);
  if (type == "Add" || type == "Sub" || type == "Or") {
    if (has_rest(1, 0)) return made(1, 0, false);
    if (type != "Sub" && has_rest(0, 0)) return made(0, 1, false);
  }
  if (type == "Mul" || type == "Div" || type == "And") {
    const auto clears = [&](std::size_t k) { return type != "Div" && at.known_x(k).few->chosen == 0; };
    if (has_rest(1, 1)) return made(1, 0, clears(1));
    if (type != "Div" && has_rest(0, 1)) return made(0, 1, clears(0));
  }
  return std::nullopt;
}

}  // namespace benanza::detail
