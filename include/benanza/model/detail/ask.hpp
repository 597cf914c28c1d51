// SPDX-License-Identifier: Apache-2.0
// ask: what the operator in a layer answers.
#pragma once

#include <benanza/op/ops.hpp>

#include <cstddef>
#include <utility>
#include <variant>

namespace benanza::detail {

/// Returns what `of` returns for the operator in a layer. For so many operators `std::visit` takes several times as
/// long to compile.
template <class Result, class Ask>
[[nodiscard]] Result ask(const Layer& layer, Ask of) {
  Result result{};
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    static_cast<void>(((layer.index() == I && (result = of(*std::get_if<I>(&layer)), true)) || ...));
  }
  (std::make_index_sequence<std::variant_size_v<Layer>>{});
  return result;
}

}  // namespace benanza::detail
