// SPDX-License-Identifier: Apache-2.0
// Folds leading dimensions that all tensors of a problem broadcast alike: with fewer dimensions, faster kernels apply.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace benanza::detail {

/// Folds adjacent dimensions of all tensors, which have the same rank; the first tensor is the result. The last `keep`
/// dimensions stay. At least one dimension before them stays too if any of these is not 1.
inline void fold_leading(const std::vector<std::vector<std::int64_t>*>& tensors, std::size_t keep) {
  const auto& y = *tensors.front();
  const auto foldable = [&](std::size_t i) {  // dimensions i and i + 1
    if (y[i] == 1 || y[i + 1] == 1) return true;
    for (const auto* t : tensors)
      if (((*t)[i] == y[i]) != ((*t)[i + 1] == y[i + 1])) return false;
    return true;
  };
  for (std::size_t i = 0; i + keep + 1 < y.size();) {
    if (!foldable(i)) {
      ++i;
      continue;
    }
    for (auto* t : tensors) {
      (*t)[i + 1] *= (*t)[i];
      t->erase(t->begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
  if (y.size() == keep + 1 && y.front() == 1)
    for (auto* t : tensors) t->erase(t->begin());
}

}  // namespace benanza::detail
