// SPDX-License-Identifier: Apache-2.0
// KnownElements: what is known of a tensor's elements before a request arrives: zeros of a triangle or in the padding
// of a Pad, scores that a constant mask hides, rows that an Expand repeats. Known elements need not be computed or
// read.
#pragma once

#include <benanza/base/detail/node.hpp>
#include <benanza/model/detail/region.hpp>
#include <benanza/model/graph.hpp>
#include <benanza/model/layer.hpp>
#include <benanza/operators/lookup.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace benanza::detail {

/// A part of a tensor along an axis, with copies that exist only within this part.
struct KnownPart {
  std::size_t axis = 0;
  std::int64_t begin = 0, end = 0;
  std::vector<FirstEqual> copies{};  ///< for each axis of the tensor; empty at `axis`
};

/// Adjacent axes along which a Gather puts elements of one axis. Taken together, their positions have fewer different
/// contents than the copies along each of these axes tell. This is a number: it does not say which positions are equal.
struct DistinctPositions {
  std::size_t first = 0, axes = 1;
  double share = 1;  ///< different contents as a share of the positions that the copies along each axis leave
};

/// Along an axis, all elements but at most `count` are `rest`; data choose which. The axis may be folded with others:
/// position p of it belongs to coordinate p / inner % size. If `count` is 0, all elements of the tensor are `rest`.
struct FewElements {
  std::size_t axis = 0;
  std::int64_t inner = 1, size = 1, count = 1;
  /// At least so many coordinates are chosen in the whole tensor, by ranks of scores. 0: not by ranks.
  std::int64_t different = 0;
  double rest = 0;
  std::optional<double> chosen{};  ///< the number of the others, if it is known
};

struct KnownElements {
  std::optional<AxesBand> band{};  ///< each element outside of it is `outside`
  double outside = 0;              ///< a hidden score stands for all smaller ones
  double nonzero = 1;  ///< the share of its elements that a sparse tensor of the file stores; not known where
  std::optional<FewElements> few{};
  std::int64_t different = 1;  ///< at least so many elements differ from each other, whatever the data are
  /// If the data choose the elements as indices: the chosen ones count as those below this number. Otherwise 0.
  std::int64_t chosen_below = 0;
  bool chosen_columns = false;       ///< columns of indices, some of which data choose
  std::optional<Box> filled{};       ///< each element outside of it is 0
  std::vector<Box> rows{};           ///< the same as `filled`, if several boxes are necessary
  std::vector<FirstEqual> copies{};  ///< for each axis, the first of equal positions; empty: no copies
  std::vector<DistinctPositions> distinct{};
  std::vector<KnownPart> parts{};          ///< in order; elements between them have no copies
  bool expanded = false;                   ///< they are stored once: a reader of one reads the stored elements of all
  std::optional<ValueId> transposed_of{};  ///< the value that this one is with rows and columns exchanged
  double passes = 0;  ///< for loops: if not 0, all elements follow from constants and the number of the pass

  [[nodiscard]] bool any() const {
    return band || few || nonzero < 1 || chosen_below > 0 || chosen_columns || filled || !rows.empty() ||
           !copies.empty() || !distinct.empty() || !parts.empty();
  }
  [[nodiscard]] FirstEqual copies_along(std::size_t axis) const {
    return axis < copies.size() ? copies[axis] : nullptr;
  }
};

/// A score of this value or less contributes nothing after a softmax.
inline constexpr double masked_score = -1000;

/// A node with the sizes of its operands and what is known of their elements.
struct SizedNode {
  const Node& node;
  const Graph& graph;
  const Layer& layer;
  std::span<const KnownElements> known{};  ///< what is known of each value; empty: nothing is known
  const OperatorFacts& facts = facts_of(node);
  [[nodiscard]] const Dims& x(std::size_t k) const { return graph.value(*node.inputs[k]).dims; }
  [[nodiscard]] const Dims& y(std::size_t j = 0) const { return graph.value(*node.outputs[j]).dims; }
  [[nodiscard]] const KnownElements& known_x(std::size_t k) const {
    static const KnownElements nothing;
    return known.empty() || !node.has_input(k) ? nothing : known[*node.inputs[k]];
  }
};

}  // namespace benanza::detail
