// SPDX-License-Identifier: Apache-2.0
// Groups of element-wise layers, and of reductions over rows, that compilers turn into one loop: connected by tensors
// that then need not be written or are read once, with any number of results.
#pragma once

#include <benanza/fusion/detail/expression.hpp>
#include <benanza/fusion/pattern.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

namespace benanza::detail {

/// The pieces of a group's members, counted in occurrences of the single form.
[[nodiscard]] inline std::vector<Piece> pieces_within(const LayerGraph& graph, std::span<const std::size_t> members) {
  std::vector<Piece> pieces;
  std::size_t offset = 0;
  for (const auto member : members) {
    const Occurrence& part = graph.layers[member];
    for (const auto& piece : part.pieces) pieces.push_back({piece.first + offset, piece.count, piece.layer});
    offset += part.members.size();
  }
  return pieces;
}

/// The expression of a group of the fused form. Nothing if it is none.
[[nodiscard]] inline std::optional<DraftedExpression> draft_expression(const LayerGraph& single,
                                                                       const Occurrence& group) {
  return ExpressionDraft(single).of(group.members, group.pieces, group.outputs);
}

/// Grows groups in the order of the graph. Layers are added by the bytes that this saves, the most first.
class ExpressionGroups {
 public:
  explicit ExpressionGroups(const LayerGraph& single) : single_(&single) {}

  [[nodiscard]] std::optional<Match> match(const LayerGraph& graph, std::size_t at) {
    graph_ = &graph;
    members_.clear();
    added_.clear();
    space_ = {};
    if (used_.contains(at) || is_view(at) || !take(at)) return std::nullopt;
    while (const auto next = best_neighbor()) {
      if (take(*next)) refused_.clear();
      else refused_.insert(*next);
    }
    refused_.clear();
    // If the layers that were added last do not fit the others' dimensions, the first ones may.
    while (members_.size() > 1) {
      drop_loose_views();
      if (auto match = members_.size() > 1 && has_place() ? drafted() : std::nullopt) {
        used_.insert(members_.begin(), members_.end());
        return match;
      }
      const std::size_t fewer = std::min(members_.size(), added_.size()) / 2;
      added_.resize(fewer);
      members_ = added_;
      std::sort(members_.begin(), members_.end());
    }
    return std::nullopt;
  }

 private:
  static constexpr std::size_t most_steps = 48, most_inputs = 20;  // below the limits of op::Expression
  static constexpr std::size_t most_readers = 8;                   // readers of a shared tensor that are considered

  struct Space {
    std::int64_t elements = 0;
    std::optional<std::int64_t> row{};
    std::size_t steps = 0;
  };

  [[nodiscard]] bool is_view(std::size_t k) const { return std::holds_alternative<op::View>(*graph_->layers[k].layer); }
  [[nodiscard]] bool is_member(std::size_t k) const { return std::binary_search(members_.begin(), members_.end(), k); }
  [[nodiscard]] std::int64_t elements(TensorId id) const { return element_count(graph_->tensors[id].dims); }

  /// The group of all members. Nothing if they are no expression, or only one layer.
  [[nodiscard]] std::optional<Match> drafted() const {
    const auto works = std::count_if(members_.begin(), members_.end(), [&](std::size_t k) { return !is_view(k); });
    if (works < 2) return std::nullopt;
    Match match{.members = members_};
    std::vector<std::size_t> covered;
    std::vector<TensorId> results = graph_->layers[members_.back()].outputs;
    for (const auto member : members_) {
      const auto& nodes = graph_->layers[member].members;
      covered.insert(covered.end(), nodes.begin(), nodes.end());
      if (member == members_.back() || !is_read_outside(member)) continue;
      match.kept.push_back(member);
      results.push_back(graph_->layers[member].outputs[0]);
    }
    const auto draft = ExpressionDraft(*single_).of(covered, pieces_within(*graph_, members_), results);
    if (!draft) return std::nullopt;
    match.pieces = {{0, match.members.size(), Layer(draft->layer)}};
    return match;
  }

  /// The space with the steps of layer `k`. Nothing if they do not fit.
  [[nodiscard]] std::optional<Space> with(std::size_t k) const {
    const Occurrence& at = graph_->layers[k];
    if (at.outputs.size() != 1 || at.members.empty() || graph_->tensors[at.outputs[0]].producers.size() != 1)
      return std::nullopt;
    const auto has_size = [](const Space& space, std::int64_t size) {
      return size == space.elements || (space.row && size == space.elements / *space.row);
    };
    if (is_view(k)) {
      const bool fits = !at.inputs.empty() && at.inputs[0] && elements(*at.inputs[0]) == elements(at.outputs[0]) &&
                        has_size(space_, elements(at.outputs[0]));
      return fits ? std::optional(space_) : std::nullopt;
    }
    Space space = space_;
    std::vector<std::int64_t> sizes;
    for (const auto member : at.members) {
      const Occurrence& part = single_->layers[member];
      if (std::holds_alternative<op::View>(*part.layer)) continue;
      const auto step = part.outputs.size() == 1 ? step_space(*part.layer) : std::nullopt;
      if (!step) return std::nullopt;
      if (step->row) {
        if ((space.row && *space.row != *step->row) || (space.elements != 0 && space.elements != step->elements))
          return std::nullopt;
        space.row = step->row;
        space.elements = step->elements;
      }
      sizes.push_back(step->elements);
      space.steps += step->steps;
    }
    if (sizes.empty() || space.steps > most_steps) return std::nullopt;
    if (space.elements == 0) space.elements = *std::max_element(sizes.begin(), sizes.end());
    const bool fits = std::all_of(sizes.begin(), sizes.end(), [&](std::int64_t size) { return has_size(space, size); });
    return fits ? std::optional(space) : std::nullopt;
  }

  /// Adds a layer if the group remains an expression that can be computed at one place. False if it does not.
  [[nodiscard]] bool take(std::size_t k) {
    const auto space = with(k);
    if (!space) return false;
    const auto at = members_.insert(std::lower_bound(members_.begin(), members_.end(), k), k);
    if (inputs() <= most_inputs && has_place()) {
      space_ = *space;
      added_.push_back(k);
      return true;
    }
    members_.erase(at);
    return false;
  }

  [[nodiscard]] std::size_t inputs() const {
    std::set<TensorId> read;
    for (const auto member : members_)
      for (const auto& input : graph_->layers[member].inputs)
        if (input) {
          const auto maker = only_producer(*graph_, input);
          if (!maker || !is_member(*maker)) read.insert(*input);
        }
    return read.size();
  }

  /// Whether all members can be computed where one of them is: behind what they read, before what reads them.
  [[nodiscard]] bool has_place() const {
    std::size_t behind = 0, before = std::numeric_limits<std::size_t>::max();
    const Occurrence& first = graph_->layers[members_.front()];
    for (const auto member : members_) {
      const Occurrence& at = graph_->layers[member];
      if (at.repeat != first.repeat || at.serial_repeat != first.serial_repeat || at.branches != first.branches)
        return false;
      for (const auto& edge : at.predecessors)
        if (!is_member(edge.from)) behind = std::max(behind, edge.from + 1);
      for (const auto reader : graph_->tensors[at.outputs[0]].consumers) {
        if (is_member(reader)) continue;
        before = std::min(before, reader);
        break;  // consumers are in order
      }
    }
    return std::any_of(members_.begin(), members_.end(), [&](std::size_t k) { return k >= behind && k < before; });
  }

  [[nodiscard]] bool is_read_outside(std::size_t member) const {
    const LayerTensor& tensor = graph_->tensors[graph_->layers[member].outputs[0]];
    return tensor.output || std::any_of(tensor.consumers.begin(), tensor.consumers.end(),
                                        [&](std::size_t reader) { return !is_member(reader); });
  }

  /// The layer behind the first one that saves the most bytes as a member. Nothing if none is left.
  [[nodiscard]] std::optional<std::size_t> best_neighbor() const {
    std::optional<std::size_t> best;
    double most = 0;
    const auto offer = [&](std::size_t k, double saved) {
      if (k < members_.front() || is_member(k) || used_.contains(k) || refused_.contains(k)) return;
      if (best && saved <= most) return;
      best = k;
      most = saved;
    };
    for (const auto member : members_) {
      const Occurrence& at = graph_->layers[member];
      const LayerTensor& result = graph_->tensors[at.outputs[0]];
      for (std::size_t i = 0; i < std::min(result.consumers.size(), most_readers); ++i)
        offer(result.consumers[i], 2 * result.bytes().value);
      for (const auto& input : at.inputs) {
        if (!input) continue;
        const LayerTensor& tensor = graph_->tensors[*input];
        if (const auto maker = only_producer(*graph_, input)) offer(*maker, 2 * tensor.bytes().value);
        if (tensor.consumers.size() <= most_readers && elements(*input) == space_.elements)
          for (const auto reader : tensor.consumers) offer(reader, tensor.bytes().value);
      }
    }
    return best;
  }

  /// Removes views at the border: layers outside can do them as well.
  void drop_loose_views() {
    const auto is_loose = [&](std::size_t k) {
      if (!is_view(k)) return false;
      const Occurrence& at = graph_->layers[k];
      const auto maker = only_producer(*graph_, at.inputs.at(0));
      const auto& readers = graph_->tensors[at.outputs[0]].consumers;
      return !maker || !is_member(*maker) ||
             std::none_of(readers.begin(), readers.end(), [&](std::size_t reader) { return is_member(reader); });
    };
    for (bool again = true; again;) {
      const auto loose = std::find_if(members_.begin(), members_.end(), is_loose);
      again = loose != members_.end();
      if (again) members_.erase(loose);
    }
  }

  const LayerGraph* single_;
  const LayerGraph* graph_ = nullptr;
  std::vector<std::size_t> members_{};  ///< in order
  std::vector<std::size_t> added_{};    ///< the same, in the order in which they were added
  Space space_{};
  std::set<std::size_t> refused_{};  ///< layers that the group with its present members cannot take
  std::set<std::size_t> used_{};     ///< members of earlier groups
};

}  // namespace benanza::detail
