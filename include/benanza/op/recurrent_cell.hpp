// SPDX-License-Identifier: Apache-2.0
// Cell: the three kinds of recurrent layers, for the layer and its gradient.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace benanza::op {

enum class Cell : std::uint8_t { rnn, gru, lstm };
[[nodiscard]] constexpr auto enum_names(Cell) { return std::array<std::string_view, 3>{"rnn", "gru", "lstm"}; }

[[nodiscard]] constexpr std::int64_t gates_of(Cell cell) { return cell == Cell::lstm ? 4 : cell == Cell::gru ? 3 : 1; }

}  // namespace benanza::op
