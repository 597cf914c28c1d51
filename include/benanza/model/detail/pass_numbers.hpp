// SPDX-License-Identifier: Apache-2.0
// PassNumbers: numbers in the body of a Loop that follow from the number of the pass.
#pragma once

#include <benanza/base/detail/node.hpp>
#include <benanza/model/detail/positions.hpp>
#include <benanza/model/graph.hpp>
#include <benanza/operators/lookup.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace benanza::detail {

/// The number `scale * pass + offset`.
struct PassPlace {
  std::int64_t scale = 0, offset = 0;
  bool operator==(const PassPlace&) const = default;
};

/// Counters are carried integers that begin with a constant and gain the same constant in each pass.
class PassNumbers {
 public:
  /// `inputs` are those of a Loop in `graph`, `body` is its body.
  PassNumbers(const Graph& graph, std::span<const std::optional<ValueId>> inputs, const Graph& body) : body_(body) {
    for (std::size_t n = 0; n < body.nodes.size(); ++n)
      if (body.nodes[n].has_output(0)) makers_[*body.nodes[n].outputs[0]] = n;
    if (body.inputs.empty()) return;
    for (std::size_t i = 2; i < std::min(inputs.size(), body.inputs.size()); ++i)
      if (const auto first = inputs[i] ? number(graph.value(*inputs[i])) : std::nullopt)
        if (const auto step = step_of(i)) counters_[body.inputs[i]] = {*step, *first};
    known_ = counters_;
    known_[body.inputs[0]] = {1, 0};
  }

  /// Empty if the value is not such a number.
  [[nodiscard]] std::optional<PassPlace> of(ValueId id) const { return of(id, 0); }

  /// The inputs of the body that are counters.
  [[nodiscard]] const std::map<ValueId, PassPlace>& counters() const { return counters_; }

  /// How many passes a Loop makes that begins and ends each pass with this condition. At most `endless`.
  [[nodiscard]] std::optional<std::int64_t> passes_while(ValueId condition) const {
    const auto holds = passes_of(condition, 0);
    if (!holds) return std::nullopt;
    const bool first = !holds->empty() && holds->runs().front().begin == 0;
    return first ? std::min(endless, holds->runs().front().end + 1) : 1;
  }
  static constexpr std::int64_t endless = std::int64_t{1} << 61;

 private:
  static constexpr int deepest = 16;
  static constexpr std::int64_t largest = 1 << 30;

  /// The number of a constant of one element. Those above `endless` are limits that no loop reaches.
  [[nodiscard]] static std::optional<std::int64_t> number(const Value& value) {
    const auto found = scalar(value);
    if (!found || value.type == DataType::boolean || std::floor(*found) != *found) return std::nullopt;
    const auto bound = static_cast<double>(endless);
    return static_cast<std::int64_t>(std::clamp(*found, -bound, bound));
  }

  [[nodiscard]] const Node* maker(ValueId id) const {
    const auto found = makers_.find(id);
    return found == makers_.end() ? nullptr : &body_.nodes[found->second];
  }

  /// What input `i` of the body gains in each pass: the same, whatever its value is.
  [[nodiscard]] std::optional<std::int64_t> step_of(std::size_t i) {
    if (i - 1 >= body_.outputs.size()) return std::nullopt;
    std::optional<std::int64_t> step;
    for (const std::int64_t before : {0, 1, 5}) {
      known_ = {{body_.inputs[i], {0, before}}};
      const auto after = of(body_.outputs[i - 1], 0);
      if (!after || after->scale != 0 || (step && after->offset - before != *step)) return std::nullopt;
      step = after->offset - before;
    }
    return step;
  }

  [[nodiscard]] std::optional<PassPlace> of(ValueId id, int depth) const {
    const Value& value = body_.value(id);
    if (value.elements() != 1 || value.type == DataType::boolean) return std::nullopt;
    if (const auto found = known_.find(id); found != known_.end()) return found->second;
    if (const auto constant = number(value)) return PassPlace{0, *constant};
    const Node* node = maker(id);
    if (depth > deepest || node == nullptr || !node->domain.empty() || !node->has_input(0)) return std::nullopt;
    const std::string& type = node->op_type;
    const auto first = of(*node->inputs[0], depth + 1);
    if (facts_of(*node).keeps_order()) return first;
    if (!first || !node->has_input(1)) return std::nullopt;
    const auto second = of(*node->inputs[1], depth + 1);
    if (!second || !is_small(*first) || !is_small(*second)) return std::nullopt;
    std::optional<PassPlace> result;
    if (type == "Add") result = {first->scale + second->scale, first->offset + second->offset};
    if (type == "Sub") result = {first->scale - second->scale, first->offset - second->offset};
    if (type == "Mul" && first->scale == 0) result = {first->offset * second->scale, first->offset * second->offset};
    if (type == "Mul" && second->scale == 0) result = {first->scale * second->offset, first->offset * second->offset};
    return result && is_small(*result) ? result : std::nullopt;
  }
  [[nodiscard]] static bool is_small(const PassPlace& place) {
    return std::max(std::abs(place.scale), std::abs(place.offset)) < largest;
  }

  /// The passes in which a condition is true, before `endless`.
  [[nodiscard]] std::optional<Positions> passes_of(ValueId id, int depth) const {
    const Positions all = Positions::whole(endless);
    const Value& value = body_.value(id);
    if (value.elements() != 1 || depth > deepest) return std::nullopt;
    if (id == body_.inputs[1]) return all;  // no pass begins without it
    if (const auto constant = scalar(value)) return *constant != 0 ? all : Positions{};
    const Node* node = maker(id);
    if (node == nullptr || !node->domain.empty() || !node->has_input(0)) return std::nullopt;
    const std::string& type = node->op_type;
    const auto operand = [&](std::size_t k) {
      return node->has_input(k) ? passes_of(*node->inputs[k], depth + 1) : std::nullopt;
    };
    if (const OperatorFacts& facts = facts_of(*node);
        facts.keeps_order() &&
        (facts.moves != Moves::converted || body_.value(*node->inputs[0]).type == DataType::boolean))
      return operand(0);
    if (type == "Not") {
      const auto holds = operand(0);
      return holds ? std::optional(without(all, *holds)) : std::nullopt;
    }
    if (!node->has_input(1)) return std::nullopt;
    if (type == "And" || type == "Or") {
      const auto a = operand(0), b = operand(1);
      if (!a || !b) return std::nullopt;
      return type == "And" ? common(*a, *b) : unite(*a, *b);
    }
    const auto a = of(*node->inputs[0], depth + 1), b = of(*node->inputs[1], depth + 1);
    if (!a || !b) return std::nullopt;
    if (type == "Less") return passes_below(*a, *b, 0);
    if (type == "LessOrEqual") return passes_below(*a, *b, 1);
    if (type == "Greater") return passes_below(*b, *a, 0);
    if (type == "GreaterOrEqual") return passes_below(*b, *a, 1);
    if (type == "Equal") return common(passes_below(*a, *b, 1), passes_below(*b, *a, 1));
    return std::nullopt;
  }

  /// The passes in which a < b + more.
  [[nodiscard]] static Positions passes_below(const PassPlace& a, const PassPlace& b, std::int64_t more) {
    const std::int64_t scale = a.scale - b.scale, room = b.offset - a.offset + more;  // scale * pass < room
    if (scale == 0) return room > 0 ? Positions::whole(endless) : Positions{};
    if (scale > 0) return room > 0 ? Positions::run(0, std::min(endless, (room + scale - 1) / scale)) : Positions{};
    return Positions::run(room > 0 ? 0 : -room / -scale + 1, endless);
  }

  const Graph& body_;
  std::map<ValueId, std::size_t> makers_{};  // value -> index of its node
  std::map<ValueId, PassPlace> counters_{}, known_{};
};

}  // namespace benanza::detail
