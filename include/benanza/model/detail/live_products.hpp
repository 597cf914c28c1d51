// SPDX-License-Identifier: Apache-2.0
// What matrix products and Einsum need of their operands for a part of their results.
#pragma once

#include <benanza/base/detail/einsum_labels.hpp>
#include <benanza/model/detail/known_zeros.hpp>
#include <benanza/model/detail/live_rules.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace benanza::detail {

/// Operands of a product that are partly known to be 0.
class ProductZeros {
 public:
  /// `of_a`, `of_b`: the axes of the result that the operands 0 and `b` follow. The last two axes of each operand are
  /// examined, if one of them is a summed axis.
  ProductZeros(const SizedNode& at, std::size_t b, const FollowedAxes& of_a, const FollowedAxes& of_b) : b_(b) {
    const std::size_t inputs[2] = {0, b};
    const FollowedAxes* axes[2] = {&of_a, &of_b};
    for (std::size_t i = 0; i < 2; ++i) {
      const KnownElements& x = at.known_x(inputs[i]);
      const std::size_t rank = axes[i]->size();
      if (rank < 2 || x.outside != 0) continue;
      const std::size_t depth = (*axes[i])[rank - 1] == whole_axis ? rank - 1 : rank - 2, free = 2 * rank - 3 - depth;
      if ((*axes[i])[depth] != whole_axis) continue;
      const Dims& dims = at.x(inputs[i]);
      const bool has_few = x.few && x.few->rest == 0 && x.few->inner == 1 && x.few->size == dims[x.few->axis];
      picks_[i] = has_few && x.few->axis == depth && x.few->count == 1;
      if (has_few && x.few->axis == depth && x.few->count > 1) {  // the first rows stand for those that data choose
        few_[i] = Positions::run(0, x.few->count);
        added_ *= static_cast<double>(x.few->count) / static_cast<double>(dims[depth]);
      }
      depth_axis_[i] = depth;
      const std::size_t result = (*axes[i])[free];
      if (result == whole_axis || dims[free] != at.y()[result]) continue;
      // At each depth, few numbers are not 0: what is multiplied by one of them is added to one row.
      if (has_few && x.few->axis == free)
        added_ *= static_cast<double>(x.few->count) / (2.0 * static_cast<double>(dims[free]));
      if (!x.band || std::min(x.band->row, x.band->column) + 2 != rank || x.band->row + x.band->column != 2 * rank - 3)
        continue;
      bands_[i] = x.band->row == free ? x.band->band : x.band->band.transposed();  // its rows are rows of the result
      axis_[i] = result;
      depths_[i] = dims[depth];
    }
  }

  /// For an Einsum: a table must have the label that picks, and bands of both operands count only if they have one
  /// summed label in common, and each has another label of the result.
  void heed(const EinsumLabels& labels) {
    const std::int64_t depths[2] = {depth_label(labels.a, 0), depth_label(labels.b, 1)};
    picks_[0] = picks_[0] && contains(labels.b, depths[0]);
    picks_[1] = picks_[1] && contains(labels.a, depths[1]);
    for (std::size_t i = 0; i < 2; ++i)
      if (depths[0] != depths[1]) few_[i].reset();
    if (bands_[0] && bands_[1] && (depths[0] != depths[1] || depths_[0] != depths_[1] || axis_[0] == axis_[1]))
      bands_[1].reset();
  }

  /// Whether input `k` is a table from which the other operand picks: then no read of it is certain.
  [[nodiscard]] bool picks_of(std::size_t k) const { return (k == b_ && picks_[0]) || (k == 0 && picks_[1]); }

  /// The same for rows that the other operand of an Einsum multiplies by 0.
  void limit(std::size_t k, Box& box) const {
    if (few_[1 - k] && depth_axis_[k] < box.size()) box[depth_axis_[k]] = common(box[depth_axis_[k]], *few_[1 - k]);
  }

  /// Keeps only the positions of the summed axis at which the other operand of input `k` may differ from 0, for a part
  /// of the result.
  void limit(std::size_t k, const Box& y, Positions& depth) const {
    const std::size_t other = k == 0 ? 1 : 0;
    if (few_[other]) depth = common(depth, *few_[other]);
    if (!bands_[other] || y[axis_[other]].empty()) return;
    depth = common(depth, reached(y[axis_[other]], *bands_[other]));
  }

  /// The share of the products behind a part of the result in which no factor is known to be 0.
  [[nodiscard]] double products_left(const Region& y) const {
    if (picks_[0] || picks_[1]) return 0;
    if ((!bands_[0] && !bands_[1]) || y.boxes().size() != 1) return added_;
    double left = 0, all = 0;
    const std::int64_t depth = depths_[bands_[0] ? 0 : 1];
    for (std::int64_t at = 0; at < depth; ++at) {
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
    return all > 0 ? added_ * left / all : added_;
  }

 private:
  [[nodiscard]] std::int64_t depth_label(const TensorShape& labels, std::size_t operand) const {
    return labels.empty() ? -1 : labels[depth_axis_[operand]];
  }

  std::size_t b_;
  std::optional<Band> bands_[2]{};
  std::size_t axis_[2]{};        ///< axis of the result
  std::size_t depth_axis_[2]{};  ///< summed axis of the operand
  std::int64_t depths_[2]{};
  bool picks_[2]{};
  std::optional<Positions> few_[2]{};  ///< the depths at which an operand is not 0
  double added_ = 1;                   ///< the share of work left for rows with one number other than 0
};

/// A summed axis of a product, or a summed label of an Einsum.
struct SummedAxis {
  struct Operand {
    std::size_t input = 0, axis = 0;
    Positions needed{};
  };
  std::vector<Operand> operands{};
  double share = 1;  ///< share of the products that are left

  void limit(std::size_t input, Box& box) const {
    for (const auto& each : operands)
      if (each.input == input && each.axis < box.size()) box[each.axis] = each.needed;
  }
};
/// `where`: the inputs that have the axis, and which of their axes it is. Factors known to be 0 are left out. Factors
/// of equal elements can be added up first; constants are added up beforehand.
[[nodiscard]] inline SummedAxis summed_axis(const SizedNode& at, std::int64_t size,
                                            const std::vector<std::pair<std::size_t, std::size_t>>& where) {
  Positions left = Positions::whole(size);
  for (const auto& [k, axis] : where)
    if (const auto& filled = at.known_x(k).filled) left = common(left, (*filled)[axis]);
  SummedAxis result;
  for (const auto& [k, axis] : where) result.operands.push_back({k, axis, left});
  std::int64_t least = left.count();
  for (const auto& [k, axis] : where) {
    const auto is_own = [own = k](const auto& each) { return each.first == own; };
    const FirstEqual first = at.known_x(k).copies_along(axis);
    if (!first || std::count_if(where.begin(), where.end(), is_own) != 1) continue;  // not along a diagonal
    const Positions distinct = firsts(left, first);
    least = std::min(least, distinct.count());
    for (auto& other : result.operands)
      if (other.input != k && at.graph.input(at.node, other.input).constant) other.needed = distinct;
  }
  if (size > 0) result.share = static_cast<double>(least) / static_cast<double>(size);
  return result;
}

/// The share of all multiplications that are left for a part of the result, if each part of input `k` that a Concat
/// joins along `summed` multiplies only one of its equal rows. `own`, `other`: the axes of the result that this operand
/// and the other operand follow.
[[nodiscard]] inline double joined_share(const SizedNode& at, std::size_t k, std::size_t summed,
                                         const FollowedAxes& own, const FollowedAxes& other, const Region& y) {
  double share = y.share(), left = share;
  for (const KnownPart& part : at.known_x(k).parts) {
    if (part.axis != summed) continue;
    Region rows = y;
    for (std::size_t i = 0; i < own.size(); ++i)
      if (own[i] != whole_axis && part.copies[i] && at.x(k)[i] == at.y()[own[i]] &&
          std::count(own.begin(), own.end(), own[i]) == 1 &&
          std::find(other.begin(), other.end(), own[i]) == other.end())
        rows.fold(own[i], part.copies[i]);
    left -= (share - rows.share()) * static_cast<double>(part.end - part.begin) / static_cast<double>(at.x(k)[summed]);
  }
  return std::min(share, left);
}

/// Two axes of a result that can be exchanged without changing it: a matrix times its own transposition.
struct EqualAxes {
  std::size_t row = 0, column = 0;

  /// The share of a part's elements that are left if only one of each two equal ones is computed. One half if it is not
  /// simple to compute.
  [[nodiscard]] double share(const Region& y) const {
    if (y.boxes().size() != 1 || y.band() || y.limited()) return 0.5;
    const Positions &rows = y.boxes()[0][row], &columns = y.boxes()[0][column];
    const double all = static_cast<double>(rows.count()) * static_cast<double>(columns.count());
    const auto both = static_cast<double>(common(rows, columns).count());
    return all > 0 ? 1 - both * (both - 1) / 2 / all : 1;
  }
};
[[nodiscard]] inline std::optional<EqualAxes> equal_axes(const SizedNode& at) {
  const auto& node = at.node;
  const bool einsum = node.op_type == "Einsum";
  if ((!einsum && node.op_type != "MatMul" && node.op_type != "Gemm") || at.known.empty() || !node.has_input(0) ||
      !node.has_input(1) || (einsum && node.inputs.size() > 2))
    return std::nullopt;
  const auto a_of = at.known_x(0).transposed_of, b_of = at.known_x(1).transposed_of;
  const std::size_t rank = at.x(0).size();
  if (a_of.value_or(*node.inputs[0]) != b_of.value_or(*node.inputs[1]) || rank < 2 || at.x(1).size() != rank)
    return std::nullopt;
  bool turned = a_of.has_value() != b_of.has_value();
  if (!einsum) {
    for (const auto* key : {"transA", "transB"}) turned = turned != (node.attribute<std::int64_t>(key, 0) != 0);
    return turned ? std::optional(EqualAxes{at.y().size() - 2, at.y().size() - 1}) : std::nullopt;
  }
  auto labels = EinsumLabels::parse(node.attribute<std::string>("equation", ""), rank, rank);
  if (!labels) return std::nullopt;
  auto& [a, b, y] = *labels;
  if (turned) std::swap(b[rank - 1], b[rank - 2]);
  std::vector<std::size_t> different;
  for (std::size_t i = 0; i < rank; ++i)
    if (a[i] != b[i]) different.push_back(i);
  if (different.size() != 1) return std::nullopt;
  const auto row = a[different[0]], column = b[different[0]];
  if (contains(b, row) || contains(a, column) || !contains(y, row) || !contains(y, column)) return std::nullopt;
  const auto axis_of = [&y = y](std::int64_t label) {
    return static_cast<std::size_t>(std::find(y.begin(), y.end(), label) - y.begin());
  };
  return EqualAxes{axis_of(row), axis_of(column)};
}

/// The scales, zero points or biases of a MatMulNBits that belong to some columns: each column has equally many.
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

/// Matrix products: rows of the first operand follow the rows of the result, columns of the second its columns.
[[nodiscard]] inline std::optional<LiveRule> product(const SizedNode& at) {
  const auto& node = at.node;
  if (at.facts.demand != Demand::product || node.attribute<std::int64_t>("transBatchA", 0) != 0 ||
      node.attribute<std::int64_t>("transBatchB", 0) != 0)
    return std::nullopt;
  const std::size_t b = node.op_type == "QLinearMatMul" || node.op_type == "QGemm" ? 3 : 1;
  const bool packed = node.op_type == "MatMulNBits";            // columns first, then blocks
  const bool scales = node.op_type == "DynamicQuantizeMatMul";  // computed from all of its first operand
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
  const auto axis_of_sum = [](const FollowedAxes& axes) {
    return static_cast<std::size_t>(
        std::find(axes.end() - static_cast<std::ptrdiff_t>(std::min<std::size_t>(2, axes.size())), axes.end(),
                  whole_axis) -
        axes.begin());
  };
  const std::size_t depth_a = axis_of_sum(of_a), depth_b = packed ? of_b.size() : axis_of_sum(of_b);
  if (depth_a >= a_rank) return std::nullopt;
  std::vector<std::pair<std::size_t, std::size_t>> where{{0, depth_a}};
  if (depth_b < b_rank) where.emplace_back(b, depth_b);
  const SummedAxis summed = summed_axis(at, at.x(0)[depth_a], where);
  double some = summed.share;
  some *= at.known_x(0).nonzero * at.known_x(b).nonzero;  // the file omits zeros
  // Each element of an operand takes part in equally many products. Rows of zeros are not in the result that is needed.
  const double zero_rows =
      std::max(0.0, 1 + share_of_rows({.rows = known_rows(at)}, at.y()) - share_of_rows(at.known_x(0), at.x(0)) -
                        share_of_rows(at.known_x(b), at.x(b)));
  return LiveRule{.operand = [at, b, of_a, of_b, zeros, packed, scales, summed, where](
                                 std::size_t k, std::size_t j, const Box& y) -> std::vector<Box> {
                    if (zeros.picks_of(k)) return {};
                    const Dims& x = at.x(k);
                    if (scales && k == 0) return {whole_box(x)};
                    if (packed && k > 1) return {columns_of(x, k, y, at.y(j).back())};
                    Box box = follow(k == 0 ? of_a : k == b ? of_b : last_axes(x.size(), y.size()), x, at.y(j), y);
                    summed.limit(k, box);
                    for (const auto& [input, depth] : where)
                      if (input == k) zeros.limit(k, y, box[depth]);
                    return only(std::move(box));
                  },
                  .flops =
                      [at, zeros, some, zero_rows, of_a, of_b, b, where, equal = equal_axes(at)](
                          std::span<const Region> y, const Region&) {
                        double share = std::max(0.0, y[0].share() - zero_rows);
                        for (const auto& [k, depth] : where)
                          share = std::min(share, k == b ? joined_share(at, k, depth, of_b, of_a, y[0])
                                                         : joined_share(at, k, depth, of_a, of_b, y[0]));
                        return share * zeros.products_left(y[0]) * some * (equal ? equal->share(y[0]) : 1);
                      }};
}

[[nodiscard]] inline std::optional<LiveRule> einsum(const SizedNode& at) {
  const std::size_t count = at.node.inputs.size();
  if (count > 2) return std::nullopt;
  const auto labels = EinsumLabels::parse(at.node.attribute<std::string>("equation", ""), at.x(0).size(),
                                          count == 2 ? std::optional(at.x(1).size()) : std::nullopt);
  if (!labels || labels->y.size() != at.y().size()) return std::nullopt;
  FollowedAxes followed[2];
  std::map<std::int64_t, std::vector<std::pair<std::size_t, std::size_t>>> where;  // by label
  for (std::size_t k = 0; k < count; ++k) {
    const TensorShape& own = k == 0 ? labels->a : labels->b;
    for (std::size_t i = 0; i < own.size(); ++i) {
      const auto found = std::find(labels->y.begin(), labels->y.end(), own[i]);
      followed[k].push_back(found == labels->y.end() ? whole_axis
                                                     : static_cast<std::size_t>(found - labels->y.begin()));
      if (found == labels->y.end() && at.x(k)[i] != 1) where[own[i]].emplace_back(k, i);
    }
  }
  ProductZeros zeros(at, 1, followed[0], followed[1]);
  zeros.heed(*labels);
  std::vector<SummedAxis> summed;
  double some = 1;
  for (const auto& [label, axes] : where) {
    summed.push_back(summed_axis(at, at.x(axes[0].first)[axes[0].second], axes));
    some *= summed.back().share;
  }
  for (std::size_t k = 0; k < count; ++k) some *= at.known_x(k).nonzero;
  return LiveRule{.operand = [at, of_a = followed[0], of_b = followed[1], zeros, summed](
                                 std::size_t k, std::size_t j, const Box& y) -> std::vector<Box> {
                    if (zeros.picks_of(k)) return {};
                    Box box = follow(k == 0 ? of_a : of_b, at.x(k), at.y(j), y);
                    for (const auto& axis : summed) axis.limit(k, box);
                    zeros.limit(k, box);
                    return only(std::move(box));
                  },
                  .flops =
                      [at, zeros, some, of_a = followed[0], of_b = followed[1], where, equal = equal_axes(at)](
                          std::span<const Region> y, const Region&) {
                        double share = y[0].share();
                        for (const auto& [label, axes] : where)
                          for (const auto& [k, axis] : axes)
                            share = std::min(
                                share, joined_share(at, k, axis, k == 0 ? of_a : of_b, k == 0 ? of_b : of_a, y[0]));
                        return share * zeros.products_left(y[0]) * some * (equal ? equal->share(y[0]) : 1);
                      },
                  .reads = [labels](std::size_t k) -> std::optional<AxesBand> {  // a repeated label: the diagonal
                    const TensorShape& own = k == 0 ? labels->a : labels->b;
                    for (std::size_t i = 0; i < own.size(); ++i)
                      for (std::size_t j = i + 1; j < own.size(); ++j)
                        if (own[i] == own[j]) return AxesBand{i, j, Band{0, 0}};
                    return std::nullopt;
                  }};
}

}  // namespace benanza::detail
