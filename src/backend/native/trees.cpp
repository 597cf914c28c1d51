// SPDX-License-Identifier: Apache-2.0
// Tree ensembles: the branches of a tree are stored level by level, so that the next branch is computed rather than
// looked up. Each step waits for the one before, so several paths are followed at once: those of several rows down one
// tree or, for a single row, down several trees. Threads share the rows or, if there are fewer rows than threads, the
// trees.
#include "context.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <type_traits>

namespace benanza::native {

namespace {

constexpr Index side_by_side = 16;

/// What the paths through the trees need.
struct Forest {
  op::TreeEnsemble op{};
  const void* x = nullptr;
  const void* features = nullptr;
  const void* splits = nullptr;
  const void* weights = nullptr;
  const void* targets = nullptr;  ///< null if each leaf has a weight for every target
  DataType target_type = DataType::u8;
};

Index choice(const void* choices, DataType type, Index i) {
  if (type == DataType::u8) return static_cast<const std::uint8_t*>(choices)[i];
  if (type == DataType::u16) return static_cast<const std::uint16_t*>(choices)[i];
  return static_cast<const std::int32_t*>(choices)[i];
}

template <class Score>
Score initial(op::TreeAggregate aggregate) {
  constexpr auto infinity = std::numeric_limits<Score>::infinity();
  if (aggregate == op::TreeAggregate::min) return infinity;
  return aggregate == op::TreeAggregate::max ? -infinity : Score{0};
}
template <class Score>
Score combined(op::TreeAggregate aggregate, Score a, Score b) {
  if (aggregate == op::TreeAggregate::min) return std::min(a, b);
  return aggregate == op::TreeAggregate::max ? std::max(a, b) : a + b;
}

/// A path: a row of x and a tree.
struct Way {
  Index row = 0, tree = 0;
};

/// Follows `count` paths down trees of the same depth and adds the weights of their leaves; `scores` starts at row
/// `first_row`.
template <class X, class Score, class Feature>
void walk(const Forest& forest, const std::array<Way, side_by_side>& ways, Index count, Index first_row,
          Score* scores) {
  using Compared = std::conditional_t<std::is_same_v<X, Score>, Score, double>;
  const auto& op = forest.op;
  const Index depth = op.depth(ways[0].tree);
  std::array<Index, side_by_side> at{};
  std::array<const X*, side_by_side> rows{};
  std::array<const Feature*, side_by_side> features{};
  std::array<const Score*, side_by_side> splits{};
  for (Index i = 0; i < count; ++i) {
    const auto lane = static_cast<std::size_t>(i);
    const Index first = op.first_branch(ways[lane].tree);
    rows[lane] = static_cast<const X*>(forest.x) + ways[lane].row * op.x[1];
    features[lane] = static_cast<const Feature*>(forest.features) + first;
    splits[lane] = static_cast<const Score*>(forest.splits) + first;
  }
  for (Index level = 0; level < depth; ++level)
    for (Index i = 0; i < count; ++i) {
      const auto lane = static_cast<std::size_t>(i);
      const auto value = static_cast<Compared>(rows[lane][features[lane][at[lane]]]);
      at[lane] = 2 * at[lane] + (value <= static_cast<Compared>(splits[lane][at[lane]]) ? 1 : 2);
    }
  const Index branches = (Index{1} << depth) - 1;
  for (Index i = 0; i < count; ++i) {
    const auto [row, tree] = ways[static_cast<std::size_t>(i)];
    const Index place = (op.first_leaf(tree) + at[static_cast<std::size_t>(i)] - branches) * op.leaf_weights;
    Score* mine = scores + (row - first_row) * op.targets;
    for (Index w = 0; w < op.leaf_weights; ++w) {
      Score& score = mine[forest.targets == nullptr ? w : choice(forest.targets, forest.target_type, place + w)];
      score = combined(op.aggregate, score, static_cast<const Score*>(forest.weights)[place + w]);
    }
  }
}

/// Adds the weights of some trees to the scores of some rows.
template <class X, class Score, class Feature>
void add_trees(const Forest& forest, Range rows, Range trees, Score* scores) {
  std::array<Way, side_by_side> ways{};
  if (rows.size() < side_by_side / 2) {
    for (Index row = rows.begin; row < rows.end; ++row)
      for (Index tree = trees.begin; tree < trees.end;) {
        const Index same = tree < forest.op.deeper() ? std::min(trees.end, forest.op.deeper()) : trees.end;
        const Index count = std::min(side_by_side, same - tree);
        for (Index i = 0; i < count; ++i) ways[static_cast<std::size_t>(i)] = {row, tree + i};
        walk<X, Score, Feature>(forest, ways, count, rows.begin, scores);
        tree += count;
      }
    return;
  }
  for (Index row = rows.begin; row < rows.end; row += side_by_side) {
    const Index count = std::min(side_by_side, rows.end - row);
    for (Index tree = trees.begin; tree < trees.end; ++tree) {
      for (Index i = 0; i < count; ++i) ways[static_cast<std::size_t>(i)] = {row + i, tree};
      walk<X, Score, Feature>(forest, ways, count, rows.begin, scores);
    }
  }
}

/// The final operations on the aggregated scores of one row.
template <class Score>
void finish_row(const op::TreeEnsemble& op, Score* scores, std::int64_t* label) {
  Score* const end = scores + op.targets;
  if (op.aggregate == op::TreeAggregate::average)
    for (Score* s = scores; s < end; ++s) *s /= static_cast<Score>(op.trees);
  for (Score* s = scores; s < end; ++s)
    if (std::isinf(*s)) *s = 0;  // no tree has a weight for this target
  const Score* const best = std::max_element(scores, end);
  if (label != nullptr) *label = best - scores;
  if (op.transform == op::TreeTransform::logistic)
    for (Score* s = scores; s < end; ++s) *s = 1 / (1 + std::exp(-*s));
  if (op.transform == op::TreeTransform::softmax) {
    const Score largest = *best;
    for (Score* s = scores; s < end; ++s) *s = std::exp(*s - largest);
    const Score sum = std::accumulate(scores, end, Score{0});
    for (Score* s = scores; s < end; ++s) *s /= sum;
  }
}

template <class X, class Score, class Feature>
Plans forest_plan(const op::TreeEnsemble& op, const Context& context) {
  const Index rows = op.x[0];
  const bool names_targets = op.leaf_weights < op.targets;
  const DataType target_type = names_targets ? op.operands().inputs[4].type : DataType::u8;
  const bool shares_rows = rows >= context.threads;
  const std::size_t partial = static_cast<std::size_t>(rows * op.targets) * sizeof(Score);
  return one_plan(
      context, op.operands(), shares_rows ? "forest,share=rows" : "forest,share=trees",
      [=, pool = context.pool, threads = context.threads](const Arguments& arguments) {
        const Forest forest{.op = op,
                            .x = arguments.inputs[0],
                            .features = arguments.inputs[1],
                            .splits = arguments.inputs[2],
                            .weights = arguments.inputs[3],
                            .targets = names_targets ? arguments.inputs[4] : nullptr,
                            .target_type = target_type};
        auto* const labels = op.labels ? output<std::int64_t>(arguments) : nullptr;
        auto* const scores = output<Score>(arguments, op.labels ? 1 : 0);
        const auto start = initial<Score>(op.aggregate);
        const auto finish_rows = [&](Range mine) {
          for (Index row = mine.begin; row < mine.end; ++row)
            finish_row(op, scores + row * op.targets, labels == nullptr ? nullptr : labels + row);
        };
        if (shares_rows) {
          pool->parallel(threads, [&](int thread) {
            const Range mine = share(rows, threads, thread);
            Score* const own = scores + mine.begin * op.targets;
            std::fill_n(own, mine.size() * op.targets, start);
            add_trees<X, Score, Feature>(forest, mine, {0, op.trees}, own);
            finish_rows(mine);
          });
          return;
        }
        auto* const parts = static_cast<Score*>(arguments.workspace);
        const Index size = rows * op.targets;
        pool->parallel(threads, [&](int thread) {
          std::fill_n(parts + thread * size, size, start);
          add_trees<X, Score, Feature>(forest, {0, rows}, share(op.trees, threads, thread), parts + thread * size);
        });
        std::copy_n(parts, size, scores);
        for (Index thread = 1; thread < threads; ++thread)
          for (Index i = 0; i < size; ++i) scores[i] = combined(op.aggregate, scores[i], parts[thread * size + i]);
        finish_rows({0, rows});
      },
      shares_rows ? 0 : partial * static_cast<std::size_t>(context.threads));
}

template <class X, class Score>
Plans plans_of_types(const op::TreeEnsemble& op, const Context& context) {
  switch (op.operands().inputs[1].type) {
    case DataType::u8: return forest_plan<X, Score, std::uint8_t>(op, context);
    case DataType::u16: return forest_plan<X, Score, std::uint16_t>(op, context);
    default: return forest_plan<X, Score, std::int32_t>(op, context);
  }
}

}  // namespace

Result plans(const op::TreeEnsemble& op, const Context& context) {
  if (op.type == DataType::f64 && op.scores() == DataType::f64) return plans_of_types<double, double>(op, context);
  if (op.scores() != DataType::f32) return unsupported(op.kind, op.type);
  switch (op.type) {
    case DataType::f32: return plans_of_types<float, float>(op, context);
    case DataType::f64: return plans_of_types<double, float>(op, context);
    case DataType::i64: return plans_of_types<std::int64_t, float>(op, context);
    case DataType::i32: return plans_of_types<std::int32_t, float>(op, context);
    default: return unsupported(op.kind, op.type);
  }
}

}  // namespace benanza::native
