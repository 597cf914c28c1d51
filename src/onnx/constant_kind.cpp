// SPDX-License-Identifier: Apache-2.0
#include "constant_kind.hpp"

#include <benanza/model/tensor_shape.hpp>

#include <algorithm>
#include <cmath>

namespace benanza::importer {
namespace {

using Number = std::function<double(std::int64_t)>;

constexpr std::int64_t least_places = 8;

/// Whether the last two axes hold zeros and ones, divided by a diagonal that meets only two sides.
bool is_triangle(std::int64_t rows, std::int64_t columns, std::int64_t count, const Number& number) {
  if (rows < 2 || columns < 2) return false;
  bool row_is_uniform = true, column_is_uniform = true;
  for (std::int64_t at = 0; at < count; ++at) {
    const std::int64_t row = at / columns % rows, column = at % columns;
    const double one = number(at);
    if (one != 0 && one != 1) return false;
    const std::int64_t first = at - row * columns - column;
    if (row > 0 && column > 0 && one != number(at - columns - 1)) return false;
    if (row == 0) row_is_uniform = row_is_uniform && one == number(first);
    if (column == 0) column_is_uniform = column_is_uniform && one == number(first);
    // Along the first row and the first column, the number changes at most once.
    if (row == 0 && column > 1 && one != number(at - 1) && number(at - 1) != number(first)) return false;
    if (column == 0 && row > 1 && one != number(at - columns) && number(at - columns) != number(first)) return false;
  }
  return row_is_uniform != column_is_uniform;
}

/// The numbers of one line along an axis.
struct Line {
  const Number* number = nullptr;
  std::int64_t begin = 0, step = 1, size = 0;

  [[nodiscard]] double at(std::int64_t k) const { return (*number)(begin + k * step); }
  /// Whether the first `count` numbers satisfy x[k + 1] + x[k - 1] = c x[k]. Ramps (c = 2), sinusoids (c = twice the
  /// cosine of the step) and powers satisfy it. The tolerance is wide enough for f16, and for sines of large positions.
  [[nodiscard]] bool follows_positions(std::int64_t count) const {
    constexpr double tolerance = 4e-3;
    double products = 0, squares = 0, largest = std::max(std::fabs(at(0)), std::fabs(at(count - 1)));
    for (std::int64_t k = 1; k + 1 < count; ++k) {
      products += at(k) * (at(k - 1) + at(k + 1));
      squares += at(k) * at(k);
      largest = std::max(largest, std::fabs(at(k)));
    }
    const double factor = squares > 0 ? products / squares : 0;
    for (std::int64_t k = 1; k + 1 < count; ++k)
      if (!(std::fabs(at(k - 1) + at(k + 1) - factor * at(k)) <= tolerance * largest)) return false;
    return true;
  }
  /// Whether x[k] = x[size - 1 - k] for all k, or x[k] = x[size - k] for all but the first, as in a periodic window.
  /// The tolerance is that of cosines in f32.
  [[nodiscard]] bool is_symmetric() const {
    constexpr double tolerance = 1e-5;
    const double middle = std::fabs(at(size / 2));
    const auto from = [&](std::int64_t first) {
      for (std::int64_t k = first, end = size - 1; k < end; ++k, --end)
        if (!(std::fabs(at(k) - at(end)) <= tolerance * std::max(middle, std::fabs(at(k))))) return false;
      return true;
    };
    return from(0) || from(1);
  }
  [[nodiscard]] bool varies() const {
    constexpr double least_range = 0.1;
    double low = at(0), high = at(0);
    for (std::int64_t k = 1; k < size; ++k) low = std::min(low, at(k)), high = std::max(high, at(k));
    return high - low > least_range * std::max(-low, high);
  }
};

/// Whether the numbers of all lines along an axis follow their positions, or are all symmetric, and those of some line
/// differ.
bool is_table(std::int64_t size, std::int64_t step, std::int64_t count, const Number& number) {
  const auto all_lines = [&](const auto& follow) {
    bool any = false;
    for (std::int64_t i = 0; i < count / size; ++i) {
      const Line line{&number, i / step * step * size + i % step, step, size};
      if (!follow(line)) return false;
      any = any || line.varies();
    }
    return any;
  };
  // The first numbers alone show that most weights are no table: the others need not be read from the file.
  return all_lines(
             [&](const Line& line) { return line.follows_positions(least_places) && line.follows_positions(size); }) ||
         all_lines([](const Line& line) { return line.is_symmetric(); });
}

}  // namespace

ConstantKind constant_kind(std::span<const std::int64_t> dims, const Number& number) {
  const std::int64_t count = element_count(dims);
  if (count < 2) return ConstantKind::numbers;
  const double first = number(0);
  const auto all = [&](const auto& test) {
    for (std::int64_t at = 0; at < count; ++at)
      if (!test(number(at))) return false;
    return true;
  };
  if (all([&](double one) { return one == first; }))
    return first == 0 ? ConstantKind::zeros : first == 1 ? ConstantKind::ones : ConstantKind::equal;
  if (all([](double one) { return one == 0 || one <= hidden_score; })) return ConstantKind::mask;
  const std::size_t rank = dims.size();
  if (rank > 1 && is_triangle(dims[rank - 2], dims[rank - 1], count, number)) return ConstantKind::mask;
  std::int64_t step = 1;
  for (std::size_t axis = rank; axis-- > 0; step *= dims[axis])
    if (dims[axis] >= least_places && is_table(dims[axis], step, count, number)) return ConstantKind::table;
  return ConstantKind::numbers;
}

}  // namespace benanza::importer
