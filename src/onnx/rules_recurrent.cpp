// SPDX-License-Identifier: Apache-2.0
// Shape rules of recurrent layers that ONNX Runtime adds.
#include "rule_tables.hpp"

namespace benanza::importer {
namespace {

// X [steps, batch, features]: all hidden states, the last one, the last cell state
RuleResult lstm(const RuleArguments& a) {
  const Ints& x = of_rank(a, 0, 3);
  const std::int64_t hidden = a.node.attribute<std::int64_t>("hidden_size", unknown_dim);
  const std::int64_t directions = a.node.attribute<std::string>("direction", "forward") == "bidirectional" ? 2 : 1;
  const DataType type = a.in(0).type;
  const TypedShape last{type, {directions, x[1], hidden}};
  return {TypedShape{type, {x[0], directions, x[1], hidden}}, last, last};
}

constexpr RuleEntry recurrent_table[] = {{"com.microsoft.AttnLSTM", lstm}, {"com.microsoft.DynamicQuantizeLSTM", lstm}};

}  // namespace

RuleTable recurrent_rules() { return recurrent_table; }

}  // namespace benanza::importer
