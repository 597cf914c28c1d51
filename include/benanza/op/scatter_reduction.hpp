// SPDX-License-Identifier: Apache-2.0
// ScatterReduction: how a scatter combines updates with its data, and the resulting operands for data and output.
#pragma once

#include <benanza/op/operator.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace benanza::op {

enum class ScatterReduction : std::uint8_t { none, add, mul, max, min };
[[nodiscard]] constexpr auto enum_names(ScatterReduction) {
  return std::array<std::string_view, 5>{"none", "add", "mul", "max", "min"};
}

/// The data. A reduction reads the elements that it writes.
[[nodiscard]] inline Operand data_operand(DataType type, const TensorShape& x, ScatterReduction reduction,
                                          std::int64_t written) {
  return {.name = "data", .type = type, .shape = x, .touched = reduction == ScatterReduction::none ? 0 : written};
}
/// The output, of which `written` elements change. In place it starts as the data, the first input.
[[nodiscard]] inline Operand updated_operand(DataType type, const TensorShape& x, std::int64_t written, bool in_place) {
  Operand output{.name = "output", .type = type, .shape = x, .touched = written};
  if (in_place) output.starts_as = 0;
  return output;
}

}  // namespace benanza::op
