// SPDX-License-Identifier: Apache-2.0
// An operator that no header describes. Only its bytes are known, so it is modelled by the roofline and never measured.
#pragma once

#include <benanza/detail/inline_text.hpp>
#include <benanza/detail/node.hpp>
#include <benanza/op/operator.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <vector>

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
  [[nodiscard]] static auto from(const Node& node, const AnyGraph auto& graph) -> Read<Opaque, decltype(graph)> {
    Opaque opaque{.op = InlineText(std::string_view(detail::onnx_type(node)))};
    const auto bytes = [](const Value& value) { return (checked_product(value.elements(), bits(value.type)) + 7) / 8; };
    const auto add = [](std::int64_t& sum, std::int64_t more) { sum = std::min(most_bytes, sum + more); };
    std::vector<ValueId> read;  // a tensor that is read twice counts once
    for (const auto& id : node.inputs)
      if (id) read.push_back(*id);
    std::sort(read.begin(), read.end());
    read.erase(std::unique(read.begin(), read.end()), read.end());
    for (const ValueId id : read) {
      add(opaque.read_bytes, bytes(graph.value(id)));
      if (graph.value(id).constant) add(opaque.constant_bytes, bytes(graph.value(id)));
    }
    for (const auto& id : node.outputs)
      if (id) add(opaque.written_bytes, bytes(graph.value(*id)));
    if (node.has_output(0)) opaque.type = graph.output(node, 0).type;
    return opaque;
  }

  [[nodiscard]] Operands operands() const {
    Operands result{.outputs = {{.name = "outputs", .type = DataType::u8, .shape = {written_bytes}}}};
    if (read_bytes > constant_bytes)
      result.inputs.push_back({.name = "inputs", .type = DataType::u8, .shape = {read_bytes - constant_bytes}});
    if (constant_bytes > 0)
      result.inputs.push_back({.name = "constants", .type = DataType::u8, .shape = {constant_bytes}, .constant = true});
    return result;
  }
  /// Unknown, so it claims none: a bound may be too low, but never too high.
  [[nodiscard]] constexpr Arithmetic arithmetic() const { return {}; }

  [[nodiscard]] constexpr bool consistent() const {
    for (auto bytes : {read_bytes, written_bytes})
      if (bytes < 0 || bytes > most_bytes) return false;
    return constant_bytes >= 0 && constant_bytes <= read_bytes;
  }
};

}  // namespace benanza::op
