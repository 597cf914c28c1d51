// SPDX-License-Identifier: Apache-2.0
#include "evaluate.hpp"

namespace benanza::reference {

Elements compute(const op::Det& det, const Query& query) {
  const std::int64_t n = det.x[1];
  return query.map([&](std::int64_t matrix) {
    Elements a(static_cast<std::size_t>(n * n));
    for (std::int64_t i = 0; i < n * n; ++i) a[static_cast<std::size_t>(i)] = query.input(0)[matrix * n * n + i];
    const auto at = [&](std::int64_t row, std::int64_t column) -> double& {
      return a[static_cast<std::size_t>(row * n + column)];
    };
    double product = 1;
    for (std::int64_t pivot = 0; pivot < n; ++pivot) {  // elimination, of matrices that need no exchange of rows
      product *= at(pivot, pivot);
      for (std::int64_t row = pivot + 1; row < n; ++row)
        for (std::int64_t column = n - 1; column >= pivot; --column)
          at(row, column) -= at(row, pivot) / at(pivot, pivot) * at(pivot, column);
    }
    return product;
  });
}

}  // namespace benanza::reference
