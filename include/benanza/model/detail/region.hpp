// SPDX-License-Identifier: Apache-2.0
// Region: a part of a tensor, as a union of a few boxes. A box has a set of positions along each axis. A region may be
// limited to the elements near the diagonal of two axes. In place of many boxes, it stores one box around them and
// their number of elements.
#pragma once

#include <benanza/base/detail/collapse.hpp>
#include <benanza/model/detail/band.hpp>
#include <benanza/model/detail/positions.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace benanza {

/// A set of positions for each axis.
using Box = std::vector<Positions>;

[[nodiscard]] inline Box whole_box(std::span<const std::int64_t> dims) {
  Box box;
  box.reserve(dims.size());
  for (const auto dim : dims) box.push_back(Positions::whole(dim));
  return box;
}

/// A band of the matrices that two axes of a tensor form.
struct AxesBand {
  std::size_t row = 0, column = 1;
  Band band{};
  bool operator==(const AxesBand&) const = default;
  [[nodiscard]] bool has_axes_of(const AxesBand& other) const { return row == other.row && column == other.column; }
};

/// Number of elements of rows and columns that lie within a band. All elements count if there are too many rows to
/// examine.
[[nodiscard]] inline double banded_count(const Positions& rows, const Positions& columns, const Band& band) {
  if (rows.count() > 1 << 20) return static_cast<double>(rows.count()) * static_cast<double>(columns.count());
  double total = 0;
  for (const auto& run : rows.runs())
    for (auto row = run.begin; row < run.end; ++row)
      for (const auto& part : columns.runs())
        total += static_cast<double>(std::max<std::int64_t>(
            0, std::min(part.end, row + band.most + 1) - std::max(part.begin, row + band.least)));
  return total;
}

/// From the first to the last column that a band reaches from `rows`, which must not be empty.
[[nodiscard]] inline Positions reached(const Positions& rows, const Band& band) {
  return Positions::run(rows.runs().front().begin + band.least, rows.runs().back().end + band.most);
}
/// The box without rows and columns that the band does not reach.
[[nodiscard]] inline Box narrowed(Box box, const AxesBand& to) {
  Positions &rows = box[to.row], &columns = box[to.column];
  if (!rows.empty()) columns = common(columns, reached(rows, to.band));
  if (!columns.empty()) rows = common(rows, reached(columns, to.band.transposed()));
  return box;
}

/// Boxes may overlap. More than `most_boxes` become the one box around them; no more of its elements count than the
/// boxes have.
class Region {
 public:
  static constexpr std::size_t most_boxes = 8;

  Region() = default;
  /// No element of a tensor of these dimensions.
  explicit Region(std::span<const std::int64_t> dims) : dims_(dims.begin(), dims.end()) {}
  [[nodiscard]] static Region whole(std::span<const std::int64_t> dims) {
    Region region(dims);
    region.boxes_.push_back(whole_box(dims));
    return region;
  }

  [[nodiscard]] const detail::Dims& dims() const { return dims_; }
  [[nodiscard]] std::span<const Box> boxes() const { return boxes_; }
  [[nodiscard]] bool empty() const { return boxes_.empty(); }
  [[nodiscard]] bool is_whole() const {
    const auto is_all = [](const Positions& positions, std::int64_t dim) {
      const auto runs = positions.runs();
      return dim > 0 ? runs.size() == 1 && runs[0] == Positions::Run{0, dim} : runs.empty();
    };
    return !band_ && !most_ && boxes_.size() == 1 &&
           std::equal(boxes_[0].begin(), boxes_[0].end(), dims_.begin(), dims_.end(), is_all);
  }
  /// Elements of the boxes outside of this band are not in the region.
  [[nodiscard]] const std::optional<AxesBand>& band() const { return band_; }
  bool operator==(const Region&) const = default;

  /// Keeps only the elements in a band. If the bands have different axes, the first band stays.
  void clip(const AxesBand& to) {
    if (band_ && !band_->has_axes_of(to)) return;
    const Band left = band_ ? common(band_->band, to.band) : to.band;
    if (left.empty()) boxes_.clear();
    band_.reset();
    if (left.empty() || left.covers(dims_[to.row], dims_[to.column])) return;
    band_ = {to.row, to.column, left};
    for (auto& box : boxes_) box = narrowed(std::move(box), *band_);
    if (!certain_.empty()) certain_ = narrowed(std::move(certain_), *band_);
    std::erase_if(boxes_, [&](const Box& box) {
      return (box[to.row].empty() && dims_[to.row] > 0) || (box[to.column].empty() && dims_[to.column] > 0);
    });
    if (boxes_.empty()) band_.reset();
  }
  /// Keeps only the elements in a box.
  void clip(const Box& to) {
    const auto band = band_;
    const auto most = std::exchange(most_, std::nullopt);
    for (auto& box : std::exchange(boxes_, {})) {
      for (std::size_t i = 0; i < box.size(); ++i) box[i] = common(box[i], to[i]);
      add(std::move(box));
    }
    band_ = boxes_.empty() ? std::nullopt : band;
    most_ = boxes_.empty() ? std::nullopt : most;
    for (std::size_t i = 0; i < certain_.size(); ++i) certain_[i] = common(certain_[i], to[i]);
  }
  /// Replaces equal positions of an axis by the first of them.
  void fold(std::size_t axis, const FirstEqual& first) {
    const auto band = band_ && band_->row != axis && band_->column != axis ? band_ : std::nullopt;
    const auto most = std::exchange(most_, std::nullopt);
    for (auto& box : std::exchange(boxes_, {})) {
      box[axis] = firsts(box[axis], first);
      add(std::move(box));
    }
    band_ = band;
    most_ = most;
    if (!certain_.empty()) certain_[axis] = firsts(certain_[axis], first);
  }
  /// At most this many elements count, and those of `certain` do. Has no effect on a region that is empty or has fewer
  /// elements.
  void limit(double elements, Box certain) {
    if (elements >= count()) return;
    most_ = elements;
    certain_ = std::move(certain);
  }
  [[nodiscard]] const std::optional<double>& limited() const { return most_; }
  /// Boxes all of whose elements are in the region.
  [[nodiscard]] std::span<const Box> certain() const {
    return most_ && !certain_.empty() ? std::span<const Box>(&certain_, 1) : std::span<const Box>(boxes_);
  }

  /// A box without a position along some axis adds nothing, unless that axis of the tensor has size 0.
  void add(Box box) {
    for (std::size_t i = 0; i < box.size(); ++i)
      if (box[i].empty() && dims_[i] > 0) return;
    band_.reset();
    if (most_) *most_ += count_of(box);
    for (std::size_t e = 0; e < boxes_.size();) {
      std::size_t different = 0, axis = 0, inside = 0, around = 0;
      for (std::size_t i = 0; i < box.size(); ++i) {
        if (!(box[i] == boxes_[e][i])) ++different, axis = i;
        inside += contains(boxes_[e][i], box[i]) ? 1 : 0;
        around += contains(box[i], boxes_[e][i]) ? 1 : 0;
      }
      if (inside == box.size()) return;
      if (around != box.size() && different != 1) {
        ++e;
        continue;
      }
      if (different == 1) box[axis] = unite(box[axis], boxes_[e][axis]);
      boxes_.erase(boxes_.begin() + static_cast<std::ptrdiff_t>(e));
      e = 0;
    }
    boxes_.push_back(std::move(box));
    if (boxes_.size() <= most_boxes) return;
    if (!most_) {
      most_ = 0;
      for (const auto& each : boxes_) *most_ += count_of(each);
      const auto fewer = [](const Box& a, const Box& b) { return count_of(a) < count_of(b); };
      certain_ = *std::max_element(boxes_.begin(), boxes_.end(), fewer);
    }
    Box hull = std::move(boxes_.back());
    for (const auto& each : boxes_)
      for (std::size_t i = 0; i < each.size(); ++i) hull[i] = unite(hull[i], each[i]);
    boxes_ = {std::move(hull)};
  }
  void add(const Region& other) {
    if (other.empty()) return;
    std::optional<AxesBand> both = other.band_;
    if (!empty()) {
      if (band_ && both && band_->has_axes_of(*both)) both->band = around(band_->band, both->band);
      else both.reset();
    }
    const bool limited = most_ || other.most_;
    const double most = limited ? count() + other.count() : 0;
    most_.reset();
    for (const auto& box : other.boxes_) add(box);
    band_ = both;
    if (limited) limit(most, !other.certain_.empty() ? other.certain_ : certain_.empty() ? boxes_.front() : certain_);
  }

  /// Sum over the elements of the product of their weights along the axes: `weight(axis, positions)` is the sum over
  /// some positions. A band is ignored. If not all elements count, each one that does has the average weight.
  template <class Weight>
  [[nodiscard]] double measure(const Weight& weight) const {
    const double all = of_union([&](const Box& part) {
      double product = 1;
      for (std::size_t i = 0; i < part.size(); ++i) product *= weight(i, part[i]);
      return product;
    });
    const double within = most_ ? of_union([](const Box& part) { return count_of(part); }) : 0;
    return within > 0 ? all * std::min(1.0, *most_ / within) : all;
  }
  /// Number of elements.
  [[nodiscard]] double count() const {
    const double within = of_union([&](const Box& part) {
      double product = band_ ? banded_count(part[band_->row], part[band_->column], band_->band) : 1;
      for (std::size_t i = 0; i < part.size(); ++i)
        if (!band_ || (i != band_->row && i != band_->column)) product *= static_cast<double>(part[i].count());
      return product;
    });
    return most_ ? std::min(*most_, within) : within;
  }
  /// Number of elements as a share of the tensor. For a tensor without elements, 1 unless the region is empty.
  [[nodiscard]] double share() const {
    if (is_whole()) return 1;
    double all = 1;
    for (const auto dim : dims_) all *= static_cast<double>(dim);
    return all <= 0 ? (empty() ? 0 : 1) : count() / all;
  }

 private:
  [[nodiscard]] static double count_of(const Box& box) {
    double product = 1;
    for (const auto& positions : box) product *= static_cast<double>(positions.count());
    return product;
  }
  /// The measure of a union: for each box, what no later box has.
  template <class Measure>
  [[nodiscard]] double of_union(const Measure& measure, std::size_t from = 0, const Box* within = nullptr) const {
    double total = 0;
    for (std::size_t b = from; b < boxes_.size(); ++b) {
      Box part = boxes_[b];
      for (std::size_t i = 0; within && i < part.size(); ++i) part[i] = common((*within)[i], part[i]);
      if (const double own = measure(part); own != 0) total += own - of_union(measure, b + 1, &part);
    }
    return total;
  }

  detail::Dims dims_{};
  std::vector<Box> boxes_{};
  std::optional<AxesBand> band_{};
  std::optional<double> most_{};  ///< number of elements that count, if the boxes have more
  Box certain_{};                 ///< the largest of the boxes that were merged
};

/// The intersection, or less if not all elements of their boxes count.
[[nodiscard]] inline Region common(const Region& a, const Region& b) {
  Region both(a.dims());
  if (a == b) return a;
  if (a.dims() != b.dims() || (a.band() && b.band() && !a.band()->has_axes_of(*b.band()))) return both;
  for (const Box& x : a.certain())
    for (const Box& y : b.certain()) {
      Box box = x;
      for (std::size_t i = 0; i < box.size(); ++i) box[i] = common(x[i], y[i]);
      both.add(std::move(box));
    }
  for (const Region* each : {&a, &b})
    if (each->band() && !both.empty()) both.clip(*each->band());
  return both;
}

/// The part of a region that lies in some boxes, or less if not all elements of its own boxes count.
[[nodiscard]] inline Region common(const Region& a, const std::vector<Box>& boxes) {
  Region both(a.dims());
  for (const Box& x : a.certain())
    for (const Box& y : boxes) {
      Box box = x;
      for (std::size_t i = 0; i < box.size(); ++i) box[i] = common(x[i], y[i]);
      both.add(std::move(box));
    }
  if (a.band() && !both.empty()) both.clip(*a.band());
  return both;
}

namespace detail {

/// Positions along a box's axes, as positions along the one axis that these fold into.
[[nodiscard]] inline Positions folded(std::span<const Positions> axes, std::span<const std::int64_t> dims) {
  Positions inner = Positions::whole(1);
  std::int64_t size = 1;
  for (std::size_t i = dims.size(); i-- > 0;) {
    std::vector<Positions::Run> runs;
    const bool whole = inner == Positions::whole(size);
    const bool each = axes[i].count() * static_cast<std::int64_t>(inner.runs().size()) <=
                      static_cast<std::int64_t>(Positions::most_runs);
    for (const auto& run : axes[i].runs()) {
      if (whole || !each) {
        runs.push_back({run.begin * size, run.end * size});
        continue;
      }
      for (std::int64_t p = run.begin; p < run.end; ++p)
        for (const auto& in : inner.runs()) runs.push_back({p * size + in.begin, p * size + in.end});
    }
    inner = Positions(std::move(runs));
    size *= dims[i];
  }
  return inner;
}

/// The boxes of the original axes that positions of a folded axis correspond to.
[[nodiscard]] inline std::vector<Box> unfolded(const Positions& flat, std::span<const std::int64_t> dims) {
  if (dims.empty()) return {Box{}};
  const std::int64_t inner = element_count(dims.subspan(1));
  std::map<std::int64_t, std::vector<Positions::Run>> parts;  // by row, for rows that are not complete
  std::vector<Positions::Run> whole_rows;
  for (const auto& run : flat.runs()) {
    std::int64_t at = run.begin;
    while (at < run.end) {
      const std::int64_t row = at / inner;
      if (at == row * inner && run.end - at >= inner) {
        whole_rows.push_back({row, run.end / inner});
        at = run.end / inner * inner;
      } else {
        const std::int64_t end = std::min(run.end, (row + 1) * inner);
        parts[row].push_back({at - row * inner, end - row * inner});
        at = end;
      }
    }
  }
  std::map<std::vector<Positions::Run>, std::vector<Positions::Run>> rows_of;  // rows that contain the same part
  if (!whole_rows.empty()) rows_of[{{0, inner}}] = whole_rows;
  for (const auto& [row, part] : parts) rows_of[part].push_back({row, row + 1});
  if (rows_of.size() > Region::most_boxes) return {whole_box(dims)};
  std::vector<Box> boxes;
  for (const auto& [part, rows] : rows_of)
    for (const auto& rest : unfolded(Positions(part), dims.subspan(1))) {
      boxes.push_back({Positions(rows)});
      boxes.back().insert(boxes.back().end(), rest.begin(), rest.end());
    }
  return boxes;
}

/// Axes of a tensor and of its reshaped form that fold into the same axis: [x, x_end) and [y, y_end).
struct FoldedAxes {
  std::size_t x = 0, x_end = 0, y = 0, y_end = 0;
};
/// In order. Empty if the numbers of elements differ, or if there are no elements.
[[nodiscard]] inline std::vector<FoldedAxes> folded_axes(std::span<const std::int64_t> x,
                                                         std::span<const std::int64_t> y) {
  std::vector<FoldedAxes> result;
  if (element_count(x) != element_count(y) || element_count(x) == 0 || x.empty() || y.empty()) return result;
  for (FoldedAxes axes; axes.x < x.size(); axes.x = axes.x_end, axes.y = axes.y_end) {
    axes.x_end = axes.x + 1;
    axes.y_end = axes.y + 1;
    std::int64_t x_size = x[axes.x], y_size = y[axes.y];
    while (x_size != y_size)
      if (x_size < y_size) x_size *= x[axes.x_end++];
      else y_size *= y[axes.y_end++];
    if (std::all_of(x.begin() + static_cast<std::ptrdiff_t>(axes.x_end), x.end(), [](auto d) { return d == 1; }) ||
        axes.y_end == y.size()) {  // trailing ones belong to the last group
      axes.x_end = x.size();
      axes.y_end = y.size();
    }
    result.push_back(axes);
  }
  return result;
}

/// The boxes of a tensor `x` that correspond to a box of its reshaped form `y`.
[[nodiscard]] inline std::vector<Box> reshaped(const Box& box, std::span<const std::int64_t> y,
                                               std::span<const std::int64_t> x) {
  const std::vector<FoldedAxes> axes = folded_axes(x, y);
  if (axes.empty()) return {whole_box(x)};
  std::vector<Box> result{Box{}};
  for (const auto& [i, x_end, j, y_end] : axes) {
    const auto parts =
        unfolded(folded(std::span(box).subspan(j, y_end - j), y.subspan(j, y_end - j)), x.subspan(i, x_end - i));
    std::vector<Box> longer;
    for (const auto& head : result)
      for (const auto& part : parts) {
        longer.push_back(head);
        longer.back().insert(longer.back().end(), part.begin(), part.end());
      }
    result = std::move(longer);
  }
  return result;
}

}  // namespace detail

}  // namespace benanza
