// SPDX-License-Identifier: Apache-2.0
#include "same_bodies.hpp"

#include "scan.hpp"

#include <cstddef>
#include <map>

namespace benanza::importer {
namespace {

bool graphs_written_alike(const onnx::GraphProto& a, const onnx::GraphProto& b) {
  if (a.node_size() != b.node_size()) return false;
  for (int i = 0; i < a.node_size(); ++i)
    if (!written_alike(a.node(i), b.node(i))) return false;
  return true;
}

bool is_control_flow(const onnx::NodeProto& node) {
  return (node.domain().empty() || node.domain() == "ai.onnx") &&
         (node.op_type() == "If" || node.op_type() == "Loop" || node.op_type() == "Scan");
}

/// Whether an attribute holds something that its message does not describe completely, or only together with names.
bool is_more_than_written(const onnx::AttributeProto& attribute) {
  return attribute.has_g() || attribute.graphs_size() > 0 || attribute.tensors_size() > 0 ||
         attribute.has_sparse_tensor() || attribute.sparse_tensors_size() > 0 ||
         attribute.t().doc_string().starts_with(stand_in_mark);
}

/// Two bodies. Each value of one has at most one counterpart in the other.
class BodyPair {
 public:
  BodyPair(const Graph& a, const Graph& b, const SameValues& same_around)
      : a_(a),
        b_(b),
        same_around_(same_around),
        around_a_(a.captures.begin(), a.captures.end()),
        around_b_(b.captures.begin(), b.captures.end()) {}

  [[nodiscard]] bool same() {
    if (a_.inputs.size() != b_.inputs.size() || a_.nodes.size() != b_.nodes.size() ||
        a_.outputs.size() != b_.outputs.size())
      return false;
    for (std::size_t i = 0; i < a_.inputs.size(); ++i)
      if (!paired(a_.inputs[i], b_.inputs[i])) return false;
    for (std::size_t n = 0; n < a_.nodes.size(); ++n)
      if (!same_nodes(a_.nodes[n], b_.nodes[n])) return false;
    for (std::size_t i = 0; i < a_.outputs.size(); ++i)
      if (!same_values(a_.outputs[i], b_.outputs[i])) return false;
    return true;
  }

 private:
  /// Makes counterparts of two inputs or results; false if they differ.
  bool paired(ValueId x, ValueId y) {
    const Value &one = a_.values[x], &other = b_.values[y];
    counterparts_[x] = y;
    return one.type == other.type && one.dims == other.dims && one.constant == other.constant &&
           one.literal == other.literal && one.data_dependent == other.data_dependent &&
           one.unknown_size == other.unknown_size;
  }

  [[nodiscard]] bool same_values(ValueId x, ValueId y) const {
    if (const auto found = counterparts_.find(x); found != counterparts_.end()) return found->second == y;
    const Value &one = a_.values[x], &other = b_.values[y];
    if (!one.trained && !other.trained)
      if (const auto key = constant_key(one); key && key == constant_key(other)) return true;
    const auto from = around_a_.find(x), to = around_b_.find(y);
    return from != around_a_.end() && to != around_b_.end() && same_around_(from->second, to->second);
  }

  bool same_nodes(const Node& x, const Node& y) {
    if (x.domain != y.domain || x.op_type != y.op_type || x.opset != y.opset || x.attributes != y.attributes ||
        x.trip_count != y.trip_count || x.inputs.size() != y.inputs.size() || x.outputs.size() != y.outputs.size())
      return false;
    for (std::size_t k = 0; k < x.inputs.size(); ++k) {
      if (x.has_input(k) != y.has_input(k)) return false;
      if (x.has_input(k) && !same_values(*x.inputs[k], *y.inputs[k])) return false;
    }
    if (!same_bodies(x, y, [this](ValueId from, ValueId to) { return same_values(from, to); })) return false;
    for (std::size_t k = 0; k < x.outputs.size(); ++k) {
      if (x.has_output(k) != y.has_output(k)) return false;
      if (!x.has_output(k)) continue;
      if (a_.values[*x.outputs[k]].constant) return false;  // it may stand for a weight that was left out of the file
      if (!paired(*x.outputs[k], *y.outputs[k])) return false;
    }
    return true;
  }

  const Graph &a_, &b_;
  const SameValues& same_around_;
  std::map<ValueId, ValueId> around_a_, around_b_;  ///< captures
  std::map<ValueId, ValueId> counterparts_{};
};

}  // namespace

bool written_alike(const onnx::NodeProto& a, const onnx::NodeProto& b) {
  if (a.op_type() != b.op_type() || a.domain() != b.domain() || a.attribute_size() != b.attribute_size()) return false;
  for (int i = 0; i < a.attribute_size(); ++i) {
    const auto &one = a.attribute(i), &other = b.attribute(i);
    if (is_control_flow(a) && one.has_g() && other.has_g() && one.name() == other.name()) {
      if (!graphs_written_alike(one.g(), other.g())) return false;
    } else if (is_more_than_written(one) || one.SerializeAsString() != other.SerializeAsString()) {
      return false;
    }
  }
  return true;
}

bool same_bodies(const Node& a, const Node& b, const SameValues& same_around) {
  if (a.bodies.size() != b.bodies.size()) return false;
  for (std::size_t i = 0; i < a.bodies.size(); ++i)
    if (a.bodies[i].label != b.bodies[i].label || !BodyPair(a.bodies[i].graph, b.bodies[i].graph, same_around).same())
      return false;
  return true;
}

}  // namespace benanza::importer
