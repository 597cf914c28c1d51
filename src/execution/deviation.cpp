// SPDX-License-Identifier: Apache-2.0
#include "deviation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

namespace benanza::execution {

Deviation deviation(const Tensor& expected, const Tensor& got, bool rounded) {
  Deviation result;
  const bool is_integer = !is_float(expected.type());
  const double step = rounded ? 1 : 0;
  double absolute = 0;
  std::int64_t unequal = 0;
  for (std::int64_t i = 0; i < expected.elements(); ++i) {
    const double want = expected[i], have = got[i];
    if (std::isfinite(want)) result.largest = std::max(result.largest, std::abs(want));
    if (want == have || (std::isnan(want) && std::isnan(have))) continue;
    const double distance = std::abs(want - have);  // not finite if one of the two is not
    if (is_integer) unequal += distance <= step ? 0 : 1;
    else absolute = std::max(absolute, std::isfinite(distance) ? distance : std::numeric_limits<double>::infinity());
  }
  result.relative = result.largest > 0 ? absolute / result.largest : absolute;
  if (unequal > 0) result.unequal = static_cast<double>(unequal) / static_cast<double>(expected.elements());
  return result;
}

bool is_rounded(const Graph& graph, ValueId id) {
  const DataType type = graph.value(id).type;
  if (is_float(type) || type == DataType::boolean || bits(type) > 8) return false;
  const auto maker_of = [&](ValueId value) {
    return std::find_if(graph.nodes.begin(), graph.nodes.end(), [&](const Node& node) {
      return std::find(node.outputs.begin(), node.outputs.end(), std::optional(value)) != node.outputs.end();
    });
  };
  for (auto at = maker_of(id); at != graph.nodes.end(); at = maker_of(*at->inputs[0])) {
    // Quantised operators: QuantizeLinear, QLinearConv, QGemm, DynamicQuantizeLinear ...
    if (at->op_type.starts_with('Q') || at->op_type.find("Quantize") != std::string::npos) return true;
    if (!at->has_input(0) || graph.input(*at, 0).type != type) return false;
  }
  return false;
}

}  // namespace benanza::execution
