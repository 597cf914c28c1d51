// SPDX-License-Identifier: Apache-2.0
// A Compress whose condition is known before a request.
#include "build.hpp"
#include "proto.hpp"

namespace benanza::importer {

/// Visits a Gather of the elements that the condition chooses instead. Its sizes do not depend on data. Returns false
/// if the node is not such a Compress.
bool Builder::visit_compress(Step& step) {
  if (!step.node.domain.empty() || step.node.op_type != "Compress" || step.inputs.size() != 2) return false;
  if (!step.inputs[0] || !step.inputs[1] || step.proto.output_size() != 1) return false;
  const auto& values = step.scope.frame.graph.values;
  const Value& condition = values[*step.inputs[1]];
  if (!condition.constant || !condition.literal || is_float(condition.type)) return false;

  std::vector<std::int64_t> chosen;
  for (std::size_t i = 0; i < condition.literal->ints.size(); ++i)
    if (condition.literal->ints[i] != 0) chosen.push_back(static_cast<std::int64_t>(i));

  // Scopes refer to the names in a node, so nodes that are made here live as long as those of the model.
  const std::string& y = step.proto.output(0);
  const auto add_node = [&](const char* op_type, const std::string& x, std::vector<std::int64_t> ints,
                            const std::string& output) -> onnx::NodeProto& {
    auto& node = made_nodes_.emplace_back();
    node.set_op_type(op_type);
    node.add_input(x);
    node.add_input(output + "/" + op_type);
    node.add_output(output);
    const Dims dims{static_cast<std::int64_t>(ints.size())};
    define_value(step, node.input(1),
                 {.name = node.input(1),
                  .type = DataType::i64,
                  .dims = dims,
                  .constant = true,
                  .literal = Literal{.ints = std::move(ints), .floats = {}}});
    return node;
  };
  std::string x = step.proto.input(0);
  const auto* axis = find_attribute(step.proto, "axis");
  if (axis == nullptr && values[*step.inputs[0]].dims.size() != 1) {  // the elements of all axes
    visit(step.scope, add_node("Reshape", x, {-1}, y + "/elements"));
    x = y + "/elements";
  }
  auto& gather = add_node("Gather", x, std::move(chosen), y);
  gather.set_name(step.proto.name());
  if (axis != nullptr) *gather.add_attribute() = *axis;
  visit(step.scope, gather);
  return true;
}

}  // namespace benanza::importer
