// SPDX-License-Identifier: Apache-2.0
// Frame and Scope: a Graph while it is being built. A Frame is one Graph; a Scope is one set of names. They differ if
// the branch of an If with a constant condition replaces the If: it has its own names, and the values of the graph
// around it.
#pragma once

#include "constant_kind.hpp"
#include <benanza/model/graph.hpp>

#include <onnx/onnx_pb.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace benanza::importer {

/// What shape inference needs to know about a value in addition to Value.
struct TypeFacts {
  const onnx::TypeProto* type = nullptr;        ///< of the frame
  std::unique_ptr<onnx::TensorProto> tensor{};  ///< made from the literal when a rule first needs it
  ConstantKind kind = ConstantKind::numbers;    ///< of a constant in the file
  std::optional<double> number{};               ///< of all its elements, if they are equal
  std::optional<ValueId> equal_to{};            ///< an earlier constant of the file with the same numbers
  const onnx::NodeProto* maker = nullptr;       ///< the node that computes it, if it is known
  bool before_weights = false;                  ///< it is computed from the model's inputs without any parameter
};

struct Frame {
  Graph graph{};
  Frame* parent = nullptr;
  bool inside_loop = false;        ///< dimensions that stay unknown are data dependent here
  bool repeatable = true;          ///< no node in it, or in a body in it, may give other results when repeated
  std::vector<TypeFacts> facts{};  ///< parallel to graph.values
  std::map<DataType, std::map<std::vector<std::int64_t>, onnx::TypeProto>> tensor_types{};  ///< by their dimensions
  std::deque<onnx::TypeProto> other_types{};
  std::map<std::pair<Frame*, ValueId>, ValueId> captured{};
  std::unordered_multimap<std::size_t, std::pair<std::size_t, const onnx::NodeProto*>>
      known_nodes{};  ///< for common subexpressions
  std::unordered_map<std::string, ValueId> known_literals{};
  std::unordered_map<ValueId, ValueId> passed_on{};               ///< an unchanged copy -> the original value
  std::unordered_map<ValueId, std::vector<ValueId>> sequences{};  ///< a sequence -> its tensors, if they are known
  std::unordered_map<std::string, std::size_t> node_names{};      ///< a name -> the last number behind it

  /// Makes room for more values and nodes.
  void reserve(std::size_t more_values, std::size_t more_nodes) {
    graph.values.reserve(graph.values.size() + more_values);
    facts.reserve(facts.size() + more_values);
    graph.nodes.reserve(graph.nodes.size() + more_nodes);
    node_names.reserve(node_names.size() + more_nodes);
    known_nodes.reserve(known_nodes.size() + more_nodes);
  }

  /// Adds a tensor.
  ValueId add(Value value);
  /// Adds a value of any type.
  ValueId add(Value value, const onnx::TypeProto& type);
};

struct Scope {
  Frame& frame;
  const Scope* parent = nullptr;
  const onnx::GraphProto& source;
  std::unordered_map<std::string_view, ValueId> ids{};
  std::unordered_map<std::string_view, const onnx::ValueInfoProto*> declared{};  ///< value_info, read when first needed
  std::unordered_map<std::string_view, std::vector<const onnx::NodeProto*>> consumers{};  ///< read when first needed
};

/// The id, in a frame, of a value of the frame or of an enclosing one. A value of an enclosing frame becomes a capture.
[[nodiscard]] ValueId capture(Frame& frame, Frame& owner, ValueId id);

/// The id, in the frame of `scope`, of the value called `name`; a value of an enclosing frame becomes a capture. Empty
/// if no enclosing scope has the name.
[[nodiscard]] std::optional<ValueId> find_value(const Scope& scope, std::string_view name);

/// The nodes of the scope that read the value called `name`, once for each input.
[[nodiscard]] const std::vector<const onnx::NodeProto*>& consumers_of(Scope& scope, std::string_view name);

/// A unique name for a node of the frame: its own, or one made from its type and first output. `is_pass`: a node with
/// the same name is the same node in an earlier pass.
[[nodiscard]] std::string unique_name(Frame& frame, const onnx::NodeProto& node, bool is_pass);

/// Drops nodes that nothing depends on, optional outputs that nothing reads, and unused values. Unless `keep_numbers`
/// is set, it also drops numbers that no layer needs.
void prune(Graph& graph, bool keep_numbers);

}  // namespace benanza::importer
