// SPDX-License-Identifier: Apache-2.0
// What matrix products and Einsum need of their operands for a part of their results.
#pragma once

#include <benanza/detail/einsum_labels.hpp>
#include <benanza/model/detail/live_rules.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace benanza::detail {

/// Operands of a product that are known to be 0 in part.
class ProductZeros {
 public:
  /// `of_a`, `of_b`: the axes of the result that the operands 0 and `b` follow.
  ProductZeros(const SizedNode& at, std::size_t b, const FollowedAxes& of_a, const FollowedAxes& of_b) : b_(b) {
    const std::size_t inputs[2] = {0, b};
    const FollowedAxes* axes[2] = {&of_a, &of_b};
    for (std::size_t i = 0; i < 2; ++i) {
      const KnownElements x = at.known_x(inputs[i]);
      const std::size_t rank = axes[i]->size();
      if (rank < 2 || x.outside != 0) continue;
      const std::size_t depth = (*axes[i])[rank - 1] == whole_axis ? rank - 1 : rank - 2, free = 2 * rank - 3 - depth;
      depth_ = at.x(inputs[i])[depth];
      picks_[i] = x.one_hot == depth;
      if (!x.band || std::min(x.band->row, x.band->column) + 2 != rank) continue;
      if (x.band->row + x.band->column != 2 * rank - 3 || (*axes[i])[free] == whole_axis) continue;
      bands_[i] = x.band->row == free ? x.band->band : x.band->band.transposed();  // rows are those of the result
      axis_[i] = (*axes[i])[free];
    }
  }

  /// Whether the other operand is a table of which input `k` is: nothing of it is certain to be read.
  [[nodiscard]] bool picks_of(std::size_t k) const { return (k == b_ && picks_[0]) || (k == 0 && picks_[1]); }

  /// The share of the products behind a part of the result that have no factor known to be 0.
  [[nodiscard]] double products_left(const Region& y) const {
    if (picks_[0] || picks_[1]) return 0;
    if ((!bands_[0] && !bands_[1]) || y.boxes().size() != 1) return 1;
    double left = 0, all = 0;
    for (std::int64_t at = 0; at < depth_; ++at) {
      double some = 1, each = 1;
      for (std::size_t i = 0; i < 2; ++i) {
        if (!bands_[i]) continue;
        const Positions& positions = y.boxes()[0][axis_[i]];
        each *= static_cast<double>(positions.count());
        some *= banded_count(Positions::run(at, at + 1), positions, bands_[i]->transposed());
      }
      left += some;
      all += each;
    }
    return all > 0 ? left / all : 1;
  }

 private:
  std::size_t b_;
  std::int64_t depth_ = 0;
  std::optional<Band> bands_[2]{};
  std::size_t axis_[2]{};  ///< the result's
  bool picks_[2]{};
};

/// What of the scales, zero points or biases of a MatMulNBits belongs to some columns: each column has as many.
[[nodiscard]] inline Box columns_of(const Dims& x, std::size_t k, const Box& y, std::int64_t columns) {
  constexpr std::size_t group_indices = 4;
  Box box = whole_box(x);
  if (k == group_indices || x.empty() || columns < 1 || x[0] % columns != 0) return box;
  const std::int64_t each = x[0] / columns;
  std::vector<Positions::Run> runs;
  for (const auto& run : y.back().runs()) runs.push_back({run.begin * each, run.end * each});
  box[0] = Positions(std::move(runs));
  return box;
}

/// Matrix products: rows of the first operand follow the result's rows, columns of the second its columns.
[[nodiscard]] inline std::optional<LiveRule> product(const SizedNode& at) {
  const auto& node = at.node;
  static const std::set<std::string_view> known{"MatMul",     "Gemm",      "MatMulInteger", "QLinearMatMul",
                                                "QGemm",      "FusedGemm", "FusedMatMul",   "MatMulIntegerToFloat",
                                                "MatMulNBits"};
  if (!known.contains(node.op_type) || node.attribute<std::int64_t>("transBatchA", 0) != 0 ||
      node.attribute<std::int64_t>("transBatchB", 0) != 0)
    return std::nullopt;
  const std::size_t b = node.op_type == "QLinearMatMul" || node.op_type == "QGemm" ? 3 : 1;
  const bool packed = node.op_type == "MatMulNBits";  // columns first, then blocks
  const std::size_t a_rank = at.x(0).size(), b_rank = packed ? 2 : at.x(b).size(), rank = at.y().size();
  const std::size_t rows = a_rank > 1 ? 1 : 0, columns = b_rank > 1 ? 1 : 0;
  if (a_rank == 0 || b_rank == 0 || rank < rows + columns || std::max(a_rank, b_rank) > rank - rows - columns + 2)
    return std::nullopt;
  const auto axes = [&](std::size_t operand_rank, bool first, bool transposed) {
    FollowedAxes result(operand_rank, whole_axis);
    if (operand_rank < 2) return result;
    const std::size_t batches = operand_rank - 2;
    for (std::size_t i = 0; i < batches; ++i) result[i] = rank - rows - columns - batches + i;
    result[first == transposed ? batches + 1 : batches] = first ? rank - columns - 1 : rank - 1;
    return result;
  };
  const FollowedAxes of_a = axes(a_rank, true, node.attribute<std::int64_t>("transA", 0) != 0);
  FollowedAxes of_b = axes(b_rank, false, node.attribute<std::int64_t>("transB", 0) != 0);
  if (packed) {
    of_b.assign(at.x(b).size(), whole_axis);
    of_b[0] = rank - 1;
  }
  const ProductZeros zeros(at, b, of_a, of_b);
  // Where both operands may differ from 0 along the axis that is summed up.
  const auto summed_axis = [](const FollowedAxes& axes) {
    return static_cast<std::size_t>(
        std::find(axes.end() - static_cast<std::ptrdiff_t>(std::min<std::size_t>(2, axes.size())), axes.end(),
                  whole_axis) -
        axes.begin());
  };
  const std::size_t depth_a = summed_axis(of_a), depth_b = packed ? of_b.size() : summed_axis(of_b);
  if (depth_a >= a_rank) return std::nullopt;
  const std::int64_t depth = at.x(0)[depth_a];
  Positions summed = Positions::whole(depth);
  if (const auto filled = at.known_x(0).filled) summed = (*filled)[depth_a];
  if (const auto filled = at.known_x(b).filled; filled && depth_b < b_rank) summed = common(summed, (*filled)[depth_b]);
  double some = depth > 0 ? static_cast<double>(summed.count()) / static_cast<double>(depth) : 1;
  for (const std::size_t k : {std::size_t{0}, b})  // zeros that the file leaves out
    if (const Value& x = at.graph.input(node, k); x.sparse && !at.known.empty())
      some *= std::min(1.0, static_cast<double>(x.sparse->numbers) / static_cast<double>(x.elements()));
  return LiveRule{.operand = [at, b, of_a, of_b, zeros, packed, depth_a, depth_b, summed](
                                 std::size_t k, std::size_t j, const Box& y) -> std::vector<Box> {
                    if (zeros.picks_of(k)) return {};
                    const Dims& x = at.x(k);
                    if (packed && k > 1) return {columns_of(x, k, y, at.y(j).back())};
                    Box box = follow(k == 0 ? of_a : k == b ? of_b : last_axes(x.size(), y.size()), x, at.y(j), y);
                    if (k == 0) box[depth_a] = summed;
                    if (k == b && depth_b < x.size()) box[depth_b] = summed;
                    return {box};
                  },
                  .flops = [zeros, some](std::span<const Region> y,
                                         const Region&) { return y[0].share() * zeros.products_left(y[0]) * some; }};
}

[[nodiscard]] inline std::optional<LiveRule> einsum(const SizedNode& at) {
  const std::size_t count = at.node.inputs.size();
  if (count > 2) return std::nullopt;
  const auto labels = EinsumLabels::parse(at.node.attribute<std::string>("equation", ""), at.x(0).size(),
                                          count == 2 ? std::optional(at.x(1).size()) : std::nullopt);
  if (!labels || labels->y.size() != at.y().size()) return std::nullopt;
  return LiveRule{
      .operand = [at, labels](std::size_t k, std::size_t j, const Box& y) -> std::vector<Box> {
        FollowedAxes axes;
        for (const auto label : k == 0 ? labels->a : labels->b) {
          const auto found = std::find(labels->y.begin(), labels->y.end(), label);
          axes.push_back(found == labels->y.end() ? whole_axis : static_cast<std::size_t>(found - labels->y.begin()));
        }
        return {follow(axes, at.x(k), at.y(j), y)};
      },
      .reads = [labels](std::size_t k) -> std::optional<AxesBand> {  // a label twice: the diagonal
        const TensorShape& own = k == 0 ? labels->a : labels->b;
        for (std::size_t i = 0; i < own.size(); ++i)
          for (std::size_t j = i + 1; j < own.size(); ++j)
            if (own[i] == own[j]) return AxesBand{i, j, Band{0, 0}};
        return std::nullopt;
      }};
}

}  // namespace benanza::detail
