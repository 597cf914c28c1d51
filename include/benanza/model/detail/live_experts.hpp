// SPDX-License-Identifier: Apache-2.0
// What a Gather needs of the results of several experts, if ranks of scores choose among them: a model that computes
// all experts, stacks their results and picks those of the best ones for each token.
#pragma once

#include <benanza/base/detail/einsum_labels.hpp>
#include <benanza/base/detail/node.hpp>
#include <benanza/model/detail/known_elements.hpp>
#include <benanza/model/detail/live_rules.hpp>
#include <benanza/model/graph.hpp>
#include <benanza/operators/lookup.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace benanza::detail {

/// The axis of `x`, of which `y` is another form, that has the positions of axis `axis` of `y`, alone or with others.
[[nodiscard]] inline std::optional<std::size_t> axis_before_reshape(const Dims& x, const Dims& y, std::size_t axis) {
  const std::int64_t outer = product(y, 0, axis);
  for (std::size_t i = 0; i < x.size(); ++i)
    if (product(x, 0, i) <= outer && outer < product(x, 0, i + 1)) return i;
  return std::nullopt;
}

/// Follows an axis of a value to the nodes that make it.
class ExpertAxis {
 public:
  ExpertAxis(const Graph& graph, ValueId id, std::size_t axis) : graph_(graph), id_(id), axis_(axis) {}

  /// Whether each position along the axis is computed with weights of its own: a Concat joins results there, or a
  /// product or a convolution has constant matrices, columns or channels of its own for each of them. `before`: a node
  /// that reads the value.
  [[nodiscard]] bool has_own_weights(const Node& before) {
    constexpr std::ptrdiff_t farthest = 8192;  // nodes
    const auto& nodes = graph_.nodes;
    auto node = std::find_if(nodes.rbegin(), nodes.rend(), [&](const Node& each) { return &each == &before; });
    const auto end = nodes.rend() - node > farthest ? node + farthest : nodes.rend();
    for (; node != end; ++node) {
      if (node->outputs.empty() || node->outputs[0] != id_ || !node->has_input(0)) continue;
      const std::optional<bool> found = look_at(*node);
      if (found) return *found;
    }
    return false;
  }

 private:
  [[nodiscard]] const Dims& dims(ValueId id) const { return graph_.value(id).dims; }

  /// Empty: the axis goes on in an operand.
  std::optional<bool> look_at(const Node& node) {
    const std::string type = onnx_type(node);
    const Dims &x = dims(*node.inputs[0]), &y = dims(id_);
    if (axis_ >= y.size()) return false;
    if (type == "Concat") return joins(node, y);
    if (type == "MatMul" || type == "Gemm") return product_of(node, y);
    if (type == "Conv") return axis_ == 1 && graph_.input(node, 1).constant;
    if (type == "Einsum") return einsum_of(node);
    std::optional<std::size_t> axis = axis_;
    if (type == "Transpose") {
      const auto perm = node.attribute<Dims>("perm", {});
      axis = perm.empty() ? y.size() - 1 - axis_ : static_cast<std::size_t>(perm[axis_]);
    } else if (facts_of(node).moves == Moves::shape) {
      axis = axis_before_reshape(x, y, axis_);
    } else {
      return follow_elements(node, y);
    }
    if (!axis) return false;
    go_on(*node.inputs[0], *axis);
    return std::nullopt;
  }
  void go_on(ValueId id, std::size_t axis) {
    id_ = id;
    axis_ = axis;
  }

  [[nodiscard]] std::optional<bool> joins(const Node& node, const Dims& y) const {
    const auto along = to_axis(node.attribute<std::int64_t>("axis", 0), y.size());
    const auto is_one = [&](const auto& input) {
      return input && !graph_.value(*input).constant && axis_ < dims(*input).size() && dims(*input)[axis_] == 1;
    };
    return along == axis_ && node.inputs.size() > 1 && std::all_of(node.inputs.begin(), node.inputs.end(), is_one);
  }

  std::optional<bool> product_of(const Node& node, const Dims& y) {
    const std::size_t from_end = y.size() - axis_;
    if (from_end == 1) return graph_.input(node, 1).constant;  // columns
    for (const std::size_t k : {0U, 1U}) {
      const Dims& x = dims(*node.inputs[k]);
      if (from_end > 2 && from_end <= x.size() && x[x.size() - from_end] == y[axis_] && graph_.input(node, k).constant)
        return true;
    }
    return follow_elements(node, y);
  }

  std::optional<bool> einsum_of(const Node& node) {
    std::vector<std::size_t> ranks;
    for (const auto& input : node.inputs) ranks.push_back(input ? dims(*input).size() : 0);
    const auto terms = EinsumTerms::parse(node.attribute<std::string>("equation", ""), ranks);
    if (!terms || axis_ >= terms->result.size()) return false;
    const char label = terms->result[axis_];
    std::optional<bool> found = false;
    for (std::size_t k = 0; k < ranks.size(); ++k) {
      const std::size_t axis = terms->operands[k].find(label);
      if (axis == std::string::npos || !node.inputs[k]) continue;
      if (graph_.input(node, k).constant) return true;
      go_on(*node.inputs[k], axis);
      found.reset();
    }
    return found;
  }

  /// The axis of an operand that broadcasts to the result.
  std::optional<bool> follow_elements(const Node& node, const Dims& y) {
    const std::size_t from_end = y.size() - axis_;
    for (const auto& input : node.inputs) {
      if (!input || graph_.value(*input).constant) continue;
      const Dims& x = dims(*input);
      if (from_end > x.size() || x[x.size() - from_end] != y[axis_]) continue;
      go_on(*input, x.size() - from_end);
      return std::nullopt;
    }
    return false;
  }

  const Graph& graph_;
  ValueId id_;
  std::size_t axis_;
};

/// The positions along an axis with `size` positions that stand for those that ranks of scores choose: the first ones,
/// as many as differ for certain. Empty if anything else makes the indices.
[[nodiscard]] inline std::optional<Positions> ranked_positions(const SizedNode& at, ValueId indices,
                                                               std::int64_t size) {
  const KnownElements& known = at.known[indices];
  if (known.chosen_below == 0) return std::nullopt;
  return Positions::run(0, std::min(size, std::max<std::int64_t>(1, known.different)));
}

/// Whether a node joins columns of indices, some of which ranks of scores choose.
[[nodiscard]] inline bool joins_chosen_columns(const SizedNode& at) {
  if (onnx_type(at.node) != "Concat" || at.known.empty()) return false;
  return std::any_of(at.node.inputs.begin(), at.node.inputs.end(),
                     [&](const auto& input) { return input && at.known[*input].chosen_below > 0; });
}

/// The columns of the indices of a GatherND, if a Concat joins them.
[[nodiscard]] inline std::vector<ValueId> index_columns(const SizedNode& at) {
  std::vector<ValueId> columns;
  if (!at.known_x(1).chosen_columns) return columns;
  for (const Node& node : at.graph.nodes) {
    if (&node == &at.node) break;
    if (onnx_type(node) != "Concat" || !node.has_output(0) || node.outputs[0] != at.node.inputs[1]) continue;
    for (const auto& input : node.inputs)
      if (const Dims* dims = input ? &at.graph.value(*input).dims : nullptr;
          dims && !dims->empty() && dims->back() == 1)
        columns.push_back(*input);
  }
  return columns;
}

/// The rule of a Gather, GatherElements or GatherND with indices that ranks of scores choose, along an axis of experts.
/// Requests in which the first experts are chosen stand for all, and those that no token takes are not needed.
[[nodiscard]] inline std::optional<LiveRule> chosen_results(const SizedNode& at) {
  if (at.known.empty() || !at.node.has_input(1) || at.graph.input(at.node, 1).constant) return std::nullopt;
  const std::string type = onnx_type(at.node);
  const Dims &x = at.x(0), &indices = at.x(1), &y = at.y();
  FollowedAxes follows(x.size(), whole_axis);
  std::vector<std::optional<Positions>> chosen(x.size());
  const auto axis = to_axis(at.node.attribute<std::int64_t>("axis", 0), x.size());
  if (type == "Gather" || type == "GatherElements") {
    const bool takes_rows = type == "Gather";
    const std::size_t more = takes_rows ? indices.size() : 1;  // axes of the result in place of one
    if (!axis || y.size() + 1 != x.size() + more) return std::nullopt;
    for (std::size_t i = 0; i < x.size(); ++i)
      if (i != *axis) follows[i] = i < *axis ? i : i + more - 1;
    chosen[*axis] = ranked_positions(at, *at.node.inputs[1], x[*axis]);
  } else {
    const auto shared =
        static_cast<std::size_t>(std::max<std::int64_t>(0, at.node.attribute<std::int64_t>("batch_dims", 0)));
    const auto named = indices.empty() ? std::size_t{0} : static_cast<std::size_t>(indices.back());
    const std::size_t depth = shared + named, outer = indices.size() - 1;
    if (named == 0 || depth > x.size() || outer + x.size() - depth != y.size()) return std::nullopt;
    for (std::size_t i = 0; i < shared; ++i) follows[i] = i;
    for (std::size_t i = depth; i < x.size(); ++i) follows[i] = outer + i - depth;
    const std::vector<ValueId> columns = named == 1 ? std::vector{*at.node.inputs[1]} : index_columns(at);
    for (std::size_t i = 0; columns.size() == named && i < named; ++i)
      chosen[shared + i] = ranked_positions(at, columns[i], x[shared + i]);
  }
  for (std::size_t i = 0; i < x.size(); ++i)
    if (chosen[i] && !ExpertAxis(at.graph, *at.node.inputs[0], i).has_own_weights(at.node)) chosen[i].reset();
  if (std::none_of(chosen.begin(), chosen.end(), [](const auto& each) { return each.has_value(); }))
    return std::nullopt;
  return LiveRule{.operand = [at, follows, chosen](std::size_t k, std::size_t j, const Box& y) -> std::vector<Box> {
    if (k > 0) return {whole_box(at.x(k))};
    Box box = follow(follows, at.x(0), at.y(j), y);
    for (std::size_t i = 0; i < box.size(); ++i)
      if (chosen[i]) box[i] = *chosen[i];
    return {box};
  }};
}

}  // namespace benanza::detail
