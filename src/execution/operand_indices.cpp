// SPDX-License-Identifier: Apache-2.0
#include "operand_indices.hpp"

#include <benanza/base/detail/field_text.hpp>
#include <benanza/error.hpp>

#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <variant>

namespace benanza::execution {

namespace {

/// The valid range of an index: [`least`, `end`).
struct IndexRange {
  double least = 0, end = 0;
};

/// The range by the position of the index in its operand. Empty if the operand holds numbers.
using IndexRanges = std::function<IndexRange(std::int64_t place)>;

/// Tuples of `length` coordinates, each on its own axis.
IndexRanges of_tuples(const TensorShape& x, std::int64_t first_axis, std::int64_t length) {
  return [x, first_axis, length](std::int64_t place) {
    const auto size = static_cast<double>(x[static_cast<std::size_t>(first_axis + place % length)]);
    return IndexRange{-size, size};
  };
}

template <class... Ops>
bool is_one_of(const Layer& layer) {
  return (std::holds_alternative<Ops>(layer) || ...);
}

IndexRanges ranges_of(const Layer& layer, const Operand& operand) {
  if (operand.contents != Contents::indices) return {};
  if (const auto* gather = std::get_if<op::GatherNd>(&layer))
    return of_tuples(gather->x, gather->batch_dims, gather->indices.back());
  if (const auto* scatter = std::get_if<op::ScatterNd>(&layer))
    return of_tuples(scatter->x, 0, scatter->indices.back());
  const auto limit = static_cast<double>(operand.limit);
  if (is_one_of<op::Gather, op::GatherElements, op::GatherGradient, op::ScatterElements>(layer))
    return [limit](std::int64_t) { return IndexRange{-limit, limit}; };
  if (is_one_of<op::Loss, op::LossGradient, op::PoolGradient, op::RoiAlign, op::TensorScatter>(layer))
    return [limit](std::int64_t) { return IndexRange{0, limit}; };
  return {};
}

/// An index may be a number that no integer type holds.
std::string index_text(double index) {
  constexpr double most = 9007199254740992;  // 2^53: below it, integers are exact
  std::string text;
  if (std::fabs(index) <= most) benanza::detail::append_text(text, static_cast<std::int64_t>(index));
  else benanza::detail::append_text(text, index);
  return text;
}

}  // namespace

void check_indices(const Node& node, const NodeCall& call, std::size_t i, const Tensor& operand) {
  const IndexRanges ranges = ranges_of(call.layer, call.shapes.inputs[i]);
  if (!ranges) return;
  const auto ignored = call.parameters.ignored_target;
  for (std::int64_t place = 0; place < operand.elements(); ++place) {
    const double index = operand[place];
    const IndexRange range = ranges(place);
    if ((index >= range.least && index < range.end) || (ignored && index == static_cast<double>(*ignored))) continue;
    throw InputError("node '" + node.name + "': index " + index_text(index) + " at element " + std::to_string(place) +
                     ", expected " + "at least " + index_text(range.least) + " and less than " + index_text(range.end));
  }
}

}  // namespace benanza::execution
