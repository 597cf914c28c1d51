// SPDX-License-Identifier: Apache-2.0
// Rotary position embeddings as exporters write them: x * cos + concat(-second half of x, first half of x) * sin.
#pragma once

#include <benanza/fusion/epilogue_group.hpp>
#include <benanza/fusion/normalization.hpp>

namespace benanza::detail {

/// Finds the parts backwards from their sum.
class RotaryParts {
 public:
  explicit RotaryParts(const LayerGraph& graph) : graph_(&graph) {}

  /// `at` is the sum.
  [[nodiscard]] std::optional<Match> match(std::size_t at) {
    const auto* sum = take<op::Binary>(at);
    if (sum == nullptr || sum->fn != ElementwiseFn::add || sum->same) return std::nullopt;
    for (const std::size_t turned : {1U, 0U}) {
      members_ = {at};
      const auto& inputs = graph_->layers[at].inputs;
      if (has_turned_product(inputs[turned]) && has_plain_product(inputs[1 - turned])) return finished();
    }
    return std::nullopt;
  }

 private:
  [[nodiscard]] const std::vector<std::int64_t>& dims(TensorId id) const { return graph_->tensors[id].dims; }

  /// The layer as a single node of that operator.
  template <class Op>
  [[nodiscard]] const Op* take(std::size_t at) {
    members_.push_back(at);
    return plain<Op>(&graph_->layers[at]);
  }
  template <class Op>
  [[nodiscard]] const Op* take_maker(const std::optional<TensorId>& id) {
    const auto maker = only_producer(*graph_, id);
    return maker ? take<Op>(*maker) : nullptr;
  }

  /// concat(-x[half:], x[:half]) * sin, its operands in either order.
  [[nodiscard]] bool has_turned_product(const std::optional<TensorId>& product) {
    const auto* times = take_maker<op::Binary>(product);
    if (times == nullptr || times->fn != ElementwiseFn::mul || times->same) return false;
    product_ = members_.back();
    const Occurrence& at = graph_->layers[product_];
    const auto known = members_;
    for (const std::size_t i : {0U, 1U}) {
      members_ = known;
      sines_ = *at.inputs[1 - i];
      if (has_turned(at.inputs[i])) return true;
    }
    return false;
  }

  [[nodiscard]] bool has_turned(const std::optional<TensorId>& turned) {
    if (take_maker<op::Concat>(turned) == nullptr) return false;
    const Occurrence& concat = graph_->layers[members_.back()];
    if (concat.inputs.size() != 2) return false;
    const auto* negative = take_maker<op::Unary>(concat.inputs[0]);
    if (negative == nullptr || negative->fn != ElementwiseFn::neg) return false;
    const auto second = graph_->layers[members_.back()].inputs[0];
    const auto from_second = half_of(second, 1), from_first = half_of(concat.inputs[1], 0);
    if (!from_second || from_second != from_first) return false;
    x_ = *from_first;
    // Both halves of the result as of the operand: the concatenation is along the last axis.
    return dims(*turned) == dims(x_);
  }

  /// The tensor whose lower (0) or upper (1) half of the last axis this is, by Slice or by Split.
  [[nodiscard]] std::optional<TensorId> half_of(const std::optional<TensorId>& half, std::size_t which) {
    const auto maker = only_producer(*graph_, half);
    if (!maker || graph_->layers[*maker].inputs.empty() || !graph_->layers[*maker].inputs[0]) return std::nullopt;
    const Occurrence& at = graph_->layers[*maker];
    const TensorId whole = *at.inputs[0];
    auto expected = dims(whole);
    if (expected.empty() || expected.back() % 2 != 0) return std::nullopt;
    const std::int64_t size = expected.back() /= 2;
    if (dims(*half) != expected) return std::nullopt;
    if (const auto* slice = plain<op::Slice>(&at)) {
      const bool is_inner = slice->x.back() == 2 * size && slice->y.back() == size && slice->steps.empty();
      if (!is_inner || slice->starts.back() != static_cast<std::int64_t>(which) * size) return std::nullopt;
    } else if (plain<op::Split>(&at) == nullptr || at.outputs.size() != 2 || at.outputs[which] != *half) {
      return std::nullopt;
    }
    if (std::find(members_.begin(), members_.end(), *maker) == members_.end()) members_.push_back(*maker);
    return whole;
  }

  /// x * cos.
  [[nodiscard]] bool has_plain_product(const std::optional<TensorId>& product) {
    const auto* times = take_maker<op::Binary>(product);
    if (times == nullptr || times->fn != ElementwiseFn::mul || times->same) return false;
    const auto cosines = other_input(graph_->layers[members_.back()], x_);
    if (!cosines) return false;
    cosines_ = *cosines;
    return dims(*product) == dims(x_);
  }

  [[nodiscard]] std::optional<Match> finished() {
    const auto& x = dims(x_);
    auto angles = dims(cosines_);
    const bool alike = padded(angles, x.size()) == padded(dims(sines_), x.size());
    if (!alike || angles.empty() || angles.back() != x.back()) return std::nullopt;
    const DataType type = benanza::type(graph_->layers[product_].layer);
    const auto rotary = op::Rotary::of(type, x, padded(angles, x.size()), false);
    if (!rotary || !is_float(type)) return std::nullopt;
    std::sort(members_.begin(), members_.end());
    Match match{.members = members_};
    match.pieces = {{0, members_.size(), *rotary}};
    add_product_with_sum(match);
    return match;
  }

  /// The last two nodes are one element-wise call too.
  void add_product_with_sum(Match& match) const {
    if (match.members[match.members.size() - 2] != product_) return;
    const auto tail = EpilogueGroup(*graph_, product_).match();
    if (!tail) return;
    for (const auto& piece : tail->pieces)
      if (piece.count == 2 && tail->members[1] == match.members.back())
        match.pieces.push_back({match.members.size() - 2, 2, piece.layer});
  }

  const LayerGraph* graph_;
  std::vector<std::size_t> members_{};
  std::size_t product_ = 0;  ///< of what is turned and the sines
  TensorId x_ = 0, cosines_ = 0, sines_ = 0;
};

/// `at` is the sum that ends it.
[[nodiscard]] inline std::optional<Match> match_rotary(const LayerGraph& graph, std::size_t at) {
  return RotaryParts(graph).match(at);
}

}  // namespace benanza::detail
