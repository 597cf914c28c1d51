// SPDX-License-Identifier: Apache-2.0
// Steps of optimizers.
#pragma once

#include <benanza/base/detail/field_text.hpp>
#include <benanza/base/detail/node.hpp>
#include <benanza/impl/inline.hpp>
#include <benanza/model/graph.hpp>
#include <benanza/op/detail/consistent.hpp>
#include <benanza/op/operator.hpp>
#include <benanza/op/optimizer.hpp>

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace benanza::op {

BENANZA_INLINE std::optional<OptimizerStep> OptimizerStep::from(const Node& node, const Graph& graph) {
  const auto rule = detail::enum_from_name<OptimizerRule>(node.attribute<std::string>("optimizer", ""));
  if (!rule || !node.has_input(0)) return std::nullopt;
  OptimizerStep step{.type = graph.input(node, 0).type, .rule = *rule, .x = {0}};
  std::size_t count = 0;
  for (const auto& output : node.outputs)
    if (output) ++count;
  const std::size_t inputs = node.inputs.size();
  if (count == 0 || inputs <= count) return std::nullopt;  // gradients are read, and not written
  const std::size_t parameters = inputs - count;
  if (count % parameters != 0) return std::nullopt;
  const std::size_t each = count / parameters + 1;
  if (each < 2 + step.states()) return std::nullopt;
  step.master = each == 3 + step.states();
  for (std::size_t i = 0; i < inputs; i += each) {
    const Value& weight = graph.input(node, i);
    if (weight.type != step.type || graph.input(node, i + 1).type != step.type) return std::nullopt;
    for (std::size_t k = 2; k < each; ++k)
      if (graph.input(node, i + k).type != step.state_type()) return std::nullopt;
    step.x[0] += weight.elements();
  }
  if (!step.consistent()) return std::nullopt;
  return step;
}

BENANZA_INLINE Operands OptimizerStep::operands() const {
  Operands result{.inputs = {{.name = "w", .type = type, .shape = x}, {.name = "dw", .type = type, .shape = x}},
                  .outputs = {{.name = "w", .type = type, .shape = x, .starts_as = 0}}};
  const auto add = [&](std::string_view name, Contents contents) {
    result.inputs.push_back({.name = name, .type = state_type(), .shape = x, .contents = contents});
    result.outputs.push_back({.name = name, .type = state_type(), .shape = x, .starts_as = result.inputs.size() - 1});
  };
  if (master) {
    result.inputs[0].touched = 0;  // it is rounded from the one in f32
    add("master", Contents::uniform);
  }
  if (rule == OptimizerRule::momentum) add("velocity", Contents::uniform);
  if (states() == 2) {
    add("moment", Contents::uniform);
    add("variance", Contents::positive);
  }
  return result;
}

BENANZA_INLINE Arithmetic OptimizerStep::arithmetic() const {
  constexpr std::array<double, 4> steps{2, 4, 12, 13};
  return {.flops = steps[static_cast<std::size_t>(rule)] * static_cast<double>(element_count(x))};
}

BENANZA_INLINE bool OptimizerStep::consistent() const {
  return detail::are_sizes(x, 1) && is_float(type) && (!master || bits(type) == 16);
}

}  // namespace benanza::op
