// SPDX-License-Identifier: Apache-2.0
// Arrangement: how a tensor lies in memory between two calls.
#pragma once

#include <benanza/plan/backend.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace benanza::execution {

struct Arrangement {
  std::string key{};  ///< empty: row-major; the text of an order; or what only plans of one backend understand
  std::optional<ElementOrder> order = ElementOrder();  ///< nothing: padding, or a hidden format

  [[nodiscard]] bool is_plain() const { return key.empty(); }
  bool operator==(const Arrangement& other) const { return key == other.key; }
  bool operator<(const Arrangement& other) const { return key < other.key; }
};

[[nodiscard]] inline Arrangement arrangement_of(const ElementOrder& order) { return {order.text(), order}; }

/// In what form a plan of a backend takes an operand, or gives a result.
[[nodiscard]] inline Arrangement arrangement_of(std::string_view backend, const Layout& layout,
                                                const Operand& operand) {
  if (layout.name == "plain") return {};
  if (layout.order) return arrangement_of(*layout.order);
  Arrangement form{std::string(backend) + " " + layout.name, std::nullopt};
  for (const auto size : operand.shape) form.key += " " + std::to_string(size);
  return form;
}

}  // namespace benanza::execution
