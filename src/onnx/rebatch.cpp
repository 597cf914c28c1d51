// SPDX-License-Identifier: Apache-2.0
#include "rebatch.hpp"

#include "rules.hpp"
#include <benanza/error.hpp>

#include <algorithm>

namespace benanza::importer {
namespace {

std::int64_t product(std::span<const std::int64_t> dims) { return element_count(dims); }

}  // namespace

Dims resolved_target(const Dims& x, const Dims& target, bool allow_zero) {
  Dims y = target;
  std::optional<std::size_t> inferred;
  for (std::size_t i = 0; i < y.size(); ++i) {
    if (y[i] == -1) {
      if (inferred) throw InputError("target " + shape_text(target) + " has more than one -1");
      inferred = i;
      y[i] = 1;
    } else if (y[i] == 0 && !allow_zero) {
      if (i >= x.size())
        throw InputError("target " + shape_text(target) + " copies dimension " + std::to_string(i) +
                         " of an input of rank " + std::to_string(x.size()));
      y[i] = x[i];
    } else if (y[i] < 0) {
      throw InputError("target " + shape_text(target) + " holds " + std::to_string(y[i]) + ", expected sizes, 0 or -1");
    }
  }
  const std::int64_t elements = product(x), known = product(y);
  if (inferred && known != 0 && elements % known == 0) y[*inferred] = elements / known;
  else if (inferred && known == 0 && elements == 0) y[*inferred] = 0;
  else if (inferred || known != elements)
    throw InputError("cannot reshape " + shape_text(x) + " (" + std::to_string(elements) + " elements) to " +
                     shape_text(target) + ", expected " + std::to_string(known) + (inferred ? " or a multiple" : ""));
  return y;
}

std::optional<std::size_t> changed_axis(const Dims& old_dims, const Dims& dims) {
  if (old_dims.size() != dims.size()) return std::nullopt;
  std::optional<std::size_t> axis;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == old_dims[i]) continue;
    if (axis) return std::nullopt;
    axis = i;
  }
  return axis;
}

std::vector<Rebatched> rebatched_targets(const Dims& old_x, const Dims& x, Within within, std::int64_t old_batch,
                                         const Dims& old_y, const Dims& target) {
  const auto axis = changed_axis(old_x, x);
  const std::int64_t old_elements = product(old_x);
  if (!axis || target.size() != old_y.size() || old_elements == 0 || old_batch <= 0) return {};
  if (*axis < target.size() && target[*axis] == 0)  // copied: the file itself says where the batch goes
    return {{.dims = resolved_target(x, target, false), .within = within}};
  // In row-major order, `before` elements are outside of the batch, `after` inside.
  const std::int64_t before = checked_product(product(std::span(old_x).first(*axis)), within);
  if (old_elements % checked_product(before, old_batch) != 0) return {};
  const std::int64_t after = old_elements / (before * old_batch);

  std::vector<std::size_t> axes;
  const auto propose = [&](std::size_t i) {
    if (i < old_y.size() && std::find(axes.begin(), axes.end(), i) == axes.end()) axes.push_back(i);
  };
  // A leading batch stays leading: [1, -1, 768] means [batch, -1, 768] and [128, 768] means [batch * 128, 768].
  if (before == 1) propose(0);
  // An explicit -1 takes the batch when the file is run with another one.
  for (std::size_t i = 0; i < target.size(); ++i)
    if (target[i] == -1) propose(i);
  // Axes before `left` hold what precedes the batch; axes from `right` on hold what follows it.
  std::size_t left = 0, right = old_y.size();
  std::int64_t through = 1;
  while (left < old_y.size() && through < before) through *= old_y[left++];
  const bool left_ends = through == before;
  through = 1;
  while (right > 0 && through < after) through *= old_y[--right];
  if (left_ends && through == after && left < right) {
    for (std::size_t i = left; i < right; ++i) propose(i);  // the batch has its own axis
  } else {
    // The batch shares an axis. Splitting what follows (768 into 12 heads of 64) joins it to the heads; merging heads
    // back joins it to the rows.
    const bool splits = old_y.size() - right > x.size() - 1 - *axis;
    if (left_ends && (splits || left == 0)) propose(left);
    if (left > 0) propose(left - 1);
    propose(left);
  }

  std::vector<Rebatched> candidates;
  for (const auto i : axes) {
    const std::int64_t outside = product(std::span(old_y).first(i));
    if (outside == 0 || before % outside != 0 || old_y[i] % checked_product(before / outside, old_batch) != 0) continue;
    Dims y = old_y;
    const std::int64_t scaled = checked_product(old_y[i], x[*axis]);
    if (scaled % old_x[*axis] != 0) continue;
    y[i] = scaled / old_x[*axis];
    candidates.push_back({.dims = std::move(y), .within = before / outside});
  }
  return candidates;
}

}  // namespace benanza::importer
