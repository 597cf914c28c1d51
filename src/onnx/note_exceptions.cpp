// SPDX-License-Identifier: Apache-2.0
// What the numbers of constants say about work that an engine can avoid although floors count it: masks, and weights
// that are stored twice. Notes at the nodes that read them tell FloorExceptions.
#include "banded.hpp"
#include "build.hpp"
#include "tensor.hpp"
#include <benanza/model/detail/floor_exceptions.hpp>

#include <algorithm>
#include <optional>
#include <vector>

namespace benanza::importer {
namespace {

/// Whether a constant hides scores, by a criterion other than the distance of two positions.
bool hides_scores(const Value& value, ConstantKind kind) {
  const std::size_t rank = value.dims.size();
  if (!value.constant || rank < 2 || value.dims[rank - 1] < 2 || value.dims[rank - 2] < 2) return false;
  if (value.literal && !value.literal->floats.empty())
    kind = constant_kind(value.dims, [&](std::int64_t at) { return value.literal->floats[to_size(at)]; });
  if (value.type != DataType::boolean && kind != ConstantKind::mask) return false;
  return !value.banded && !value.diagonals && !banded_literal(value) && !filled(value);
}

}  // namespace

void Builder::note_exceptions() {
  Graph& graph = root_.graph;
  const auto facts_of = [this](ValueId id) { return id < root_.facts.size() ? &root_.facts[id] : nullptr; };
  std::vector<std::optional<ValueId>> equal(graph.values.size());
  for (ValueId id = 0; id < std::min(equal.size(), root_.facts.size()); ++id) equal[id] = root_.facts[id].equal_to;
  for (const Node& node : graph.constant_nodes)
    for (const auto& input : node.inputs)
      for (const auto& output : node.outputs)
        if (input && output && equal[*input]) equal[*output] = equal[*input];
  for (Node& node : graph.nodes) {
    for (std::size_t k = 0; k < node.inputs.size(); ++k) {
      if (!node.inputs[k]) continue;
      const ValueId id = *node.inputs[k];
      if (equal[id] && !node.attributes.contains(detail::equal_weights)) {
        node.attributes[std::string(detail::equal_weights)] = graph.values[*equal[id]].name;
        node.attributes[std::string(detail::equal_operand)] = static_cast<std::int64_t>(k);
      }
      const bool masks = node.op_type == "Add" || (node.op_type == "Where" && k == 0);
      const TypeFacts* facts = facts_of(id);
      if (masks && node.domain.empty() &&
          hides_scores(graph.values[id], facts != nullptr ? facts->kind : ConstantKind::numbers))
        node.attributes[std::string(detail::hides_scores)] = std::int64_t{1};
    }
  }
}

}  // namespace benanza::importer
