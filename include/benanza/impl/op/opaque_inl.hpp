// SPDX-License-Identifier: Apache-2.0
// An operator that no header describes. Only its bytes are known, so it is modelled by the roofline and never measured.
#pragma once

#include <benanza/base/detail/inline_text.hpp>
#include <benanza/base/detail/node.hpp>
#include <benanza/impl/inline.hpp>
#include <benanza/model/graph.hpp>
#include <benanza/op/opaque.hpp>
#include <benanza/op/operator.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace benanza::op {

BENANZA_INLINE std::optional<Opaque> Opaque::from(const Node& node, const Graph& graph) {
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

BENANZA_INLINE Operands Opaque::operands() const {
  Operands result{.outputs = {{.name = "outputs", .type = DataType::u8, .shape = {written_bytes}}}};
  if (read_bytes > constant_bytes)
    result.inputs.push_back({.name = "inputs", .type = DataType::u8, .shape = {read_bytes - constant_bytes}});
  if (constant_bytes > 0)
    result.inputs.push_back({.name = "constants", .type = DataType::u8, .shape = {constant_bytes}, .constant = true});
  return result;
}

BENANZA_INLINE Arithmetic Opaque::arithmetic() const { return {}; }

BENANZA_INLINE bool Opaque::consistent() const {
  for (auto bytes : {read_bytes, written_bytes})
    if (bytes < 0 || bytes > most_bytes) return false;
  return constant_bytes >= 0 && constant_bytes <= read_bytes;
}

}  // namespace benanza::op
