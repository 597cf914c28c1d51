// SPDX-License-Identifier: Apache-2.0
// Rotary position embeddings as exporters write them. Rows are rotated by pairs, either of one element from each half
// or of neighbours, in one of two forms:
//   x * cos + turned * sin, where turned is the pairs (-second, first) joined again;
//   the pairs (first * cos - second * sin, second * cos + first * sin) joined.
// Halves are taken by Slice or Split and joined by Concat. Neighbours are taken by Slices of step 2 and joined by a
// Concat of columns that are viewed as rows again.
#pragma once

#include <benanza/fusion/detail/epilogue_group.hpp>
#include <benanza/fusion/detail/normalization.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

namespace benanza::detail {

/// Finds the parts, from the result backwards.
class RotaryParts {
 public:
  explicit RotaryParts(const LayerGraph& graph) : graph_(&graph) {}

  /// `at` is the sum, or the layer that joins the pairs.
  [[nodiscard]] std::optional<Match> match(std::size_t at) {
    if (graph_->layers[at].outputs.empty()) return std::nullopt;
    const TensorId result = graph_->layers[at].outputs[0];
    if (is_sum_of_products(result) || is_put_together(result)) return finished();
    return std::nullopt;
  }

 private:
  struct Pairs {
    TensorId first = 0, second = 0;
    bool interleaved = false;
  };
  struct Part {
    TensorId whole = 0;
    std::size_t which = 0;
    bool interleaved = false;
  };

  [[nodiscard]] const std::vector<std::int64_t>& dims(TensorId id) const { return graph_->tensors[id].dims; }
  void add(std::size_t member) {
    if (std::find(members_.begin(), members_.end(), member) == members_.end()) members_.push_back(member);
  }
  /// The layer that computes a tensor, if it is a single node of operator `Op`.
  template <class Op>
  [[nodiscard]] const Op* take_maker(const std::optional<TensorId>& id) {
    const auto maker = only_producer(*graph_, id);
    if (!maker) return nullptr;
    add(*maker);
    return plain<Op>(&graph_->layers[*maker]);
  }
  [[nodiscard]] const Occurrence& maker_of(TensorId id) const { return graph_->layers[*only_producer(*graph_, id)]; }

  /// The operands of an element-wise layer with two operands.
  [[nodiscard]] std::optional<std::array<TensorId, 2>> operands_of(const std::optional<TensorId>& id,
                                                                   ElementwiseFn fn) {
    const auto* binary = take_maker<op::Binary>(id);
    if (binary == nullptr || binary->fn != fn || binary->same) return std::nullopt;
    const auto& inputs = maker_of(*id).inputs;
    if (inputs.size() != 2 || !inputs[0] || !inputs[1]) return std::nullopt;
    return std::array{*inputs[0], *inputs[1]};
  }

  /// x * cos + turned * sin, all operands in either order.
  [[nodiscard]] bool is_sum_of_products(TensorId result) {
    members_.clear();
    const auto sum = operands_of(result, ElementwiseFn::add);
    if (!sum) return false;
    const auto known = members_;
    for (const std::size_t turned : {1U, 0U}) {
      members_ = known;
      const auto product = operands_of((*sum)[turned], ElementwiseFn::mul);
      const auto straight = operands_of((*sum)[1 - turned], ElementwiseFn::mul);
      if (!product || !straight) return false;
      const auto before = members_;
      for (const std::size_t i : {0U, 1U}) {
        members_ = before;
        if (!has_turned((*product)[i])) continue;
        for (const std::size_t k : {0U, 1U}) {
          if ((*straight)[k] != x_ || dims((*sum)[1 - turned]) != dims(x_)) continue;
          sines_ = (*product)[1 - i];
          cosines_ = (*straight)[1 - k];
          ends_ = {{(*sum)[turned], result}};
          return !dims(cosines_).empty() && dims(cosines_).back() == dims(x_).back();
        }
      }
    }
    return false;
  }
  /// The pairs (-second, first) of x.
  [[nodiscard]] bool has_turned(TensorId turned) {
    const auto pairs = pairs_of(turned);
    if (!pairs) return false;
    const auto* negative = take_maker<op::Unary>(pairs->first);
    if (negative == nullptr || negative->fn != ElementwiseFn::neg) return false;
    return are_parts(*maker_of(pairs->first).inputs[0], 1, pairs->second, pairs->interleaved) &&
           dims(turned) == dims(x_);
  }

  /// The pairs (first * cos - second * sin, second * cos + first * sin).
  [[nodiscard]] bool is_put_together(TensorId result) {
    members_.clear();
    const auto pairs = pairs_of(result);
    if (!pairs) return false;
    const auto difference = operands_of(pairs->first, ElementwiseFn::sub),
               sum = operands_of(pairs->second, ElementwiseFn::add);
    if (!difference || !sum) return false;
    std::array<std::array<TensorId, 2>, 4> factors{};
    for (std::size_t i = 0; i < 4; ++i) {
      const TensorId product = i < 2 ? (*difference)[i] : (*sum)[i - 2];
      const auto of_product = operands_of(product, ElementwiseFn::mul);
      if (!of_product || dims(product) != dims(pairs->first)) return false;
      factors[i] = *of_product;
    }
    const auto multiplies = [&](std::size_t product, TensorId a, TensorId b) {
      return factors[product] == std::array{a, b} || factors[product] == std::array{b, a};
    };
    const auto known = members_;
    for (const std::size_t i : {0U, 1U})
      for (const std::size_t k : {0U, 1U}) {
        const TensorId first = factors[0][i], cosine = factors[0][1 - i], second = factors[1][k],
                       sine = factors[1][1 - k];
        members_ = known;
        const bool turns = (multiplies(2, second, cosine) && multiplies(3, first, sine)) ||
                           (multiplies(3, second, cosine) && multiplies(2, first, sine));
        if (!turns || !are_parts(second, 1, first, pairs->interleaved) || dims(result) != dims(x_)) continue;
        cosines_ = cosine;
        sines_ = sine;
        ends_ = {{(*difference)[1], pairs->first}, {(*sum)[1], pairs->second}};
        return !dims(cosine).empty() && 2 * dims(cosine).back() == dims(x_).back();
      }
    return false;
  }

  /// Two tensors that are joined along the last axis, one half after the other or element by element.
  [[nodiscard]] std::optional<Pairs> pairs_of(TensorId id) {
    const auto known = members_;
    const bool is_view = take_maker<op::View>(id) != nullptr;
    if (!is_view) members_ = known;
    const TensorId together = is_view ? *maker_of(id).inputs[0] : id;
    if (take_maker<op::Concat>(together) == nullptr) return std::nullopt;
    const auto& inputs = maker_of(together).inputs;
    if (inputs.size() != 2 || !inputs[0] || !inputs[1] || dims(*inputs[0]) != dims(*inputs[1])) return std::nullopt;
    auto expected = dims(*inputs[0]);
    if (expected.empty() || expected.back() * 2 != dims(together).back()) return std::nullopt;
    expected.back() *= 2;
    if (dims(together) != expected) return std::nullopt;
    if (!is_view) return Pairs{*inputs[0], *inputs[1], false};
    if (expected.back() != 2) return std::nullopt;
    Pairs pairs{.interleaved = true};
    for (const std::size_t i : {0U, 1U}) {  // a row as a column
      if (take_maker<op::View>(inputs[i]) == nullptr) return std::nullopt;
      const TensorId row = *maker_of(*inputs[i]).inputs[0];
      auto column = dims(row);
      column.push_back(1);
      if (dims(*inputs[i]) != column) return std::nullopt;
      (i == 0 ? pairs.first : pairs.second) = row;
    }
    auto whole = dims(pairs.first);
    whole.back() *= 2;
    return dims(id) == whole ? std::optional(pairs) : std::nullopt;
  }

  /// Whether `a` and `b` are the two parts of one tensor, with `a` as part `which`. That tensor then is x.
  [[nodiscard]] bool are_parts(TensorId a, std::size_t which, TensorId b, bool interleaved) {
    const auto one = part_of(a), other = part_of(b);
    if (!one || !other || one->whole != other->whole || one->which != which || other->which != 1 - which) return false;
    if (one->interleaved != interleaved || other->interleaved != interleaved) return false;
    x_ = one->whole;
    interleaved_ = interleaved;
    return true;
  }
  /// The tensor of which `id` is the lower (0) or upper (1) half of the last axis, or the even (0) or odd (1) elements.
  [[nodiscard]] std::optional<Part> part_of(TensorId id) {
    const auto maker = only_producer(*graph_, id);
    if (!maker || graph_->layers[*maker].inputs.empty() || !graph_->layers[*maker].inputs[0]) return std::nullopt;
    const Occurrence& at = graph_->layers[*maker];
    Part part{.whole = *at.inputs[0]};
    auto expected = dims(part.whole);
    if (expected.empty() || expected.back() % 2 != 0) return std::nullopt;
    const std::int64_t size = expected.back() /= 2;
    if (dims(id) != expected) return std::nullopt;
    if (const auto* slice = plain<op::Slice>(&at)) {
      const std::int64_t start = slice->starts.back();
      part.interleaved = !slice->steps.empty() && slice->steps.back() == 2;
      part.which = start == 0 ? 0 : 1;
      const bool is_inner = slice->x.back() == 2 * size && slice->y.back() == size &&
                            (part.interleaved || slice->steps.empty() || slice->steps.back() == 1);
      if (!is_inner || (start != 0 && start != (part.interleaved ? 1 : size))) return std::nullopt;
    } else if (plain<op::Split>(&at) != nullptr && at.outputs.size() == 2) {
      part.which = at.outputs[0] == id ? 0 : 1;
    } else {
      return std::nullopt;
    }
    add(*maker);
    return part;
  }

  [[nodiscard]] std::optional<Match> finished() {
    const auto& x = dims(x_);
    const auto angles = padded(dims(cosines_), x.size());
    if (angles != padded(dims(sines_), x.size())) return std::nullopt;
    const DataType type = benanza::type(graph_->layers[*only_producer(*graph_, ends_[0].first)].layer);
    const auto rotary = op::Rotary::of(type, x, angles, interleaved_);
    if (!rotary || !is_float(type)) return std::nullopt;
    std::sort(members_.begin(), members_.end());
    Match match{.members = members_};
    match.pieces = {{0, members_.size(), *rotary}};
    for (const auto& [product, sum] : ends_) add_product_with_sum(match, product, sum);
    return match;
  }

  /// A product and the sum after it are also one element-wise call.
  void add_product_with_sum(Match& match, TensorId product, TensorId sum) const {
    const std::size_t first = *only_producer(*graph_, product), second = *only_producer(*graph_, sum);
    const auto at = std::find(match.members.begin(), match.members.end(), first);
    if (at + 1 == match.members.end() || *(at + 1) != second) return;
    const auto tail = EpilogueGroup(*graph_, first).match();
    if (!tail) return;
    for (const auto& piece : tail->pieces)
      if (piece.count == 2 && tail->members[1] == second)
        match.pieces.push_back({static_cast<std::size_t>(at - match.members.begin()), 2, piece.layer});
  }

  const LayerGraph* graph_;
  std::vector<std::size_t> members_{};
  std::vector<std::pair<TensorId, TensorId>> ends_{};  ///< the later product of a sum, and the sum
  TensorId x_ = 0, cosines_ = 0, sines_ = 0;
  bool interleaved_ = false;
};

/// `at` computes the result.
[[nodiscard]] inline std::optional<Match> match_rotary(const LayerGraph& graph, std::size_t at) {
  return RotaryParts(graph).match(at);
}

}  // namespace benanza::detail
