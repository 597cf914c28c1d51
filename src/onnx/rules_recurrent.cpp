// SPDX-License-Identifier: Apache-2.0
// Shape rules of recurrent layers: ONNX's, of which the library does not know the first versions, and ONNX Runtime's.
#include "rule_tables.hpp"

namespace benanza::importer {
namespace {

// X [steps, batch, features], or with layout 1 the batch first: all hidden states, the last one, the last cell state
RuleResult recurrent_states(const RuleArguments& a) {
  const Ints& x = of_rank(a, 0, 3);
  const std::int64_t hidden =
      a.node.attribute<std::int64_t>("hidden_size", a.node.domain.empty() ? of_rank(a, 2, 3)[2] : unknown_dim);
  const std::int64_t directions = a.node.attribute<std::string>("direction", "forward") == "bidirectional" ? 2 : 1;
  const DataType type = a.in(0).type;
  if (a.node.attribute<std::int64_t>("layout", 0) != 0) {
    const TypedShape last{type, {x[0], directions, hidden}};
    return {TypedShape{type, {x[0], x[1], directions, hidden}}, last, last};
  }
  const TypedShape last{type, {directions, x[1], hidden}};
  return {TypedShape{type, {x[0], directions, x[1], hidden}}, last, last};
}

constexpr RuleEntry recurrent_table[] = {
    {ShapeRule::recurrent_states, recurrent_states},
};

}  // namespace

RuleTable recurrent_rules() { return recurrent_table; }

}  // namespace benanza::importer
