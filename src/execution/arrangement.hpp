// SPDX-License-Identifier: Apache-2.0
// Arrangement: the layout of a tensor in memory between two calls.
#pragma once

#include <benanza/plan/backend.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace benanza::execution {

struct Arrangement {
  std::string key{};  ///< empty: row-major; else the text of an order, or a format of one backend
  std::optional<ElementOrder> order = ElementOrder();  ///< empty if there is padding or the format is hidden

  [[nodiscard]] bool is_plain() const { return key.empty(); }
  bool operator==(const Arrangement& other) const { return key == other.key; }
  bool operator<(const Arrangement& other) const { return key < other.key; }
};

/// Kinds of arrangements, as bits. `other` is mostly channels last.
enum class FormKind : std::uint8_t { row_major = 1, in_blocks = 2, other = 4 };

[[nodiscard]] inline FormKind kind_of(const Arrangement& form) {
  constexpr std::int64_t most_in_block = 16;
  if (form.is_plain()) return FormKind::row_major;
  if (form.order) return form.order->digits().back().extent <= most_in_block ? FormKind::in_blocks : FormKind::other;
  const bool has_block = form.key.find("16b") != std::string::npos || form.key.find("8b") != std::string::npos ||
                         form.key.find("blocked") != std::string::npos;
  return has_block ? FormKind::in_blocks : FormKind::other;
}

[[nodiscard]] inline Arrangement arrangement_of(const ElementOrder& order) { return {order.text(), order}; }

/// The form in which a plan of a backend takes an operand or gives a result.
[[nodiscard]] inline Arrangement arrangement_of(std::string_view backend, const Layout& layout,
                                                const Operand& operand) {
  if (layout.name == "plain") return {};
  if (layout.order) return arrangement_of(*layout.order);
  Arrangement form{std::string(backend) + " " + layout.name, std::nullopt};
  for (const auto size : operand.shape) form.key += " " + std::to_string(size);
  return form;
}

}  // namespace benanza::execution
