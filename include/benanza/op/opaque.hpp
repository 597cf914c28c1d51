// SPDX-License-Identifier: Apache-2.0
// An operator that no header describes. Only its bytes are known, so it is modelled by the roofline and never measured.
#pragma once

#include <benanza/base/detail/inline_text.hpp>
#include <benanza/op/operator.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace benanza::op {

struct Opaque {
  static constexpr std::string_view kind = "Opaque";
  static constexpr Family family = Family::other;
  static constexpr std::array<std::string_view, 0> onnx_types{};  // what no other operator has taken
  DataType type = DataType::f32;
  InlineText op{};  ///< ONNX operator type, with its domain unless that is ai.onnx
  std::int64_t read_bytes = 0;
  std::int64_t written_bytes = 0;
  std::int64_t constant_bytes = 0;  ///< the part of read_bytes that is constant
  /// More count as so many. Their bits fit 64 bits.
  static constexpr std::int64_t most_bytes = std::int64_t{1} << 59;

  template <class Self, class Visit>
  static constexpr void fields(Self& self, Visit&& visit) {
    visit("type", self.type);
    visit("op", self.op);
    visit("read_bytes", self.read_bytes);
    visit("written_bytes", self.written_bytes);
    visit("constant_bytes", self.constant_bytes);
  }
  constexpr bool operator==(const Opaque&) const = default;

  /// Reads every node.
  [[nodiscard]] static std::optional<Opaque> from(const Node& node, const Graph& graph);

  [[nodiscard]] Operands operands() const;
  /// Unknown, so it claims none: a bound may be too low, but never too high.
  [[nodiscard]] Arithmetic arithmetic() const;

  [[nodiscard]] bool consistent() const;
};

}  // namespace benanza::op

#ifndef BENANZA_COMPILED
#include <benanza/impl/op/opaque_inl.hpp>
#endif
