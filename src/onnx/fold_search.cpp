// SPDX-License-Identifier: Apache-2.0
// The part of the folding table that looks for the greatest and the least elements of each line along an axis.
#include "fold.hpp"
#include <benanza/error.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

namespace benanza::importer {
namespace {

using Ints = std::vector<std::int64_t>;
using Indices = std::vector<std::size_t>;

/// The lines of `x` along an axis.
struct Lines {
  std::size_t axis = 0, length = 0, stride = 1;

  Lines(const Tensor& x, std::int64_t of_axis)
      : axis(normal_axis(of_axis, x.dims.size())),
        length(to_size(x.dims[axis])),
        stride(to_size(element_count(std::span(x.dims).subspan(axis + 1)))) {}
  /// The position of element `i` of a line.
  [[nodiscard]] std::size_t at(std::size_t line, std::size_t i) const {
    return (line / stride * length + i) * stride + line % stride;
  }
};

/// The positions along the axis of the first `count` elements of a line, in order: the greatest or the least first, and
/// the first of equal ones first.
Indices best_of_line(const Tensor& x, const Lines& lines, std::size_t line, std::size_t count, bool greatest) {
  Indices order(lines.length);
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto sort = [&](const auto& numbers) {
    std::stable_sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) {
      const auto a = numbers[lines.at(line, i)], b = numbers[lines.at(line, j)];
      return greatest ? a > b : a < b;
    });
  };
  if (x.floating()) sort(x.data.floats);
  else sort(x.data.ints);
  order.resize(count);
  return order;
}

/// Whether the elements have an order.
bool is_ordered(const Tensor& x) {
  return std::none_of(x.data.floats.begin(), x.data.floats.end(), [](double v) { return std::isnan(v); });
}

template <bool greatest>
FoldResult arg_best(const FoldArguments& a) {
  const Tensor& x = a.in(0);
  const Lines lines(x, a.node.attribute<std::int64_t>("axis", 0));
  if (lines.length == 0 || !is_ordered(x) || a.node.attribute<std::int64_t>("select_last_index", 0) != 0)
    return std::nullopt;
  Tensor result{.type = DataType::i64, .dims = x.dims, .data = {}};
  if (a.node.attribute<std::int64_t>("keepdims", 1) != 0) result.dims[lines.axis] = 1;
  else result.dims.erase(result.dims.begin() + static_cast<std::ptrdiff_t>(lines.axis));
  for (std::size_t line = 0; line < x.size() / lines.length; ++line)
    result.data.ints.push_back(static_cast<std::int64_t>(best_of_line(x, lines, line, 1, greatest)[0]));
  return std::vector{std::move(result)};
}

FoldResult top_k(const FoldArguments& a) {
  const Tensor& x = a.in(0);
  const Lines lines(x, a.node.attribute<std::int64_t>("axis", -1));
  const Ints counts = a.has(1) ? a.in(1).data.ints : Ints{a.node.attribute<std::int64_t>("k", -1)};
  if (counts.size() != 1 || counts[0] < 0 || to_size(counts[0]) > lines.length)
    throw InputError("k must be one number, at most " + std::to_string(lines.length));
  if (lines.length == 0 || !is_ordered(x) || a.node.attribute<std::int64_t>("sorted", 1) == 0) return std::nullopt;
  const bool greatest = a.node.attribute<std::int64_t>("largest", 1) != 0;
  const std::size_t count = to_size(counts[0]);
  Tensor values{.type = x.type, .dims = x.dims, .data = {}};
  values.dims[lines.axis] = counts[0];
  Tensor positions{.type = DataType::i64, .dims = values.dims, .data = {}};
  const std::size_t size = to_size(element_count(values.dims));
  positions.data.ints.resize(size);
  (x.floating() ? values.data.floats.resize(size) : values.data.ints.resize(size));
  for (std::size_t line = 0; line < x.size() / lines.length; ++line) {
    const Indices best = best_of_line(x, lines, line, count, greatest);
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t to = (line / lines.stride * count + i) * lines.stride + line % lines.stride,
                        from = lines.at(line, best[i]);
      positions.data.ints[to] = static_cast<std::int64_t>(best[i]);
      if (x.floating()) values.data.floats[to] = x.data.floats[from];
      else values.data.ints[to] = x.data.ints[from];
    }
  }
  return std::vector{std::move(values), std::move(positions)};
}

constexpr FoldEntry search_table[] = {
    {"ArgMax", arg_best<true>},
    {"ArgMin", arg_best<false>},
    {"TopK", top_k},
};

}  // namespace

std::span<const FoldEntry> search_folds() { return search_table; }

}  // namespace benanza::importer
