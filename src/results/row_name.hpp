// SPDX-License-Identifier: Apache-2.0
// RowName: the parts of `<backend>/<algorithm>/<cache state>/<what>`. `what` is a layer's signature, or the quantity of
// a ceiling, whose backend is `machine`: `machine/fma:avx2,threads=1/hot/Peak/f32`.
#pragma once

#include <benanza/results/measurement.hpp>

#include <optional>
#include <string_view>

namespace benanza {

struct RowName {
  std::string_view backend{}, algorithm{};
  CacheState cache = CacheState::hot;
  std::string_view what{};

  /// Whether it names a plan; otherwise the row says why the backend has none.
  [[nodiscard]] bool has_plan() const { return algorithm.substr(0, algorithm.find(',')) != "none"; }
};

/// Empty if it is not such a name. What Google Benchmark appends (`/iterations:1/manual_time`) is not a part of it.
[[nodiscard]] std::optional<RowName> parse_row_name(std::string_view name);
/// The value of the key `threads` of an algorithm; 0 if that is not a count.
[[nodiscard]] std::optional<int> threads_of(std::string_view algorithm);

}  // namespace benanza
