// SPDX-License-Identifier: Apache-2.0
// Values that control flow makes of those in its bodies.
#pragma once

#include "fold.hpp"
#include <benanza/model/graph.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>

namespace benanza::importer {

/// A new value with the type and the sizes of `value`.
inline Value plain(const Value& value) {
  return {.name = {}, .type = value.type, .dims = value.dims, .data_dependent = value.data_dependent};
}

/// Stacks `value` once per iteration, along `axis`.
inline Value stacked(const Value& value, std::optional<std::int64_t> count, std::int64_t axis = 0) {
  Value result = plain(value);
  const std::size_t at = normal_axis(axis, value.dims.size() + 1);
  result.dims.insert(result.dims.begin() + static_cast<std::ptrdiff_t>(at), count.value_or(0));
  result.data_dependent = result.data_dependent || !count;
  return result;
}

}  // namespace benanza::importer
