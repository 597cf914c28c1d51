// SPDX-License-Identifier: Apache-2.0
#include "check.hpp"

#include "inline_functions.hpp"
#include "proto.hpp"
#include "rules.hpp"
#include <benanza/error.hpp>
#include <benanza/operators/lookup.hpp>

#include <onnx/checker.h>
#include <onnx/defs/schema.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace benanza::importer {
namespace {

std::string described(const onnx::NodeProto& node) {
  const std::string& name = node.name().empty() && node.output_size() > 0 ? node.output(0) : node.name();
  return "node '" + name + "' (" + node.op_type() + ")";
}

using Names = std::vector<std::string_view>;

/// Adds what a node reads: its inputs, and what its bodies capture from the enclosing graphs.
void add_inputs(onnx::NodeProto& node, Names& names) {
  for (const auto& input : node.input()) names.push_back(input);
  for_each_body(node, [&](onnx::GraphProto& body) {
    Names read;
    std::unordered_set<std::string_view> own;
    for (const auto& input : body.input()) own.insert(input.name());
    for (const auto& initializer : body.initializer()) own.insert(initializer.name());
    for (auto& inner : *body.mutable_node()) {
      add_inputs(inner, read);
      for (const auto& output : inner.output()) own.insert(output);
    }
    for (const auto& output : body.output()) read.push_back(output.name());
    for (const auto name : read)
      if (!own.contains(name)) names.push_back(name);
  });
}

/// The node that makes each value.
using Makers = std::unordered_map<std::string_view, int>;

bool in_order(onnx::GraphProto& graph, const Makers& makers) {
  Names names;
  for (int i = 0; i < graph.node_size(); ++i) {
    names.clear();
    add_inputs(*graph.mutable_node(i), names);
    for (const auto name : names)
      if (const auto maker = makers.find(name); maker != makers.end() && maker->second >= i) return false;
  }
  return true;
}

/// Sorts the nodes of a graph and of its bodies; sorted files, as the standard requires, are not changed.
void sort_nodes(onnx::GraphProto& graph) {
  Makers makers;
  makers.reserve(static_cast<std::size_t>(graph.node_size()));
  for (int i = 0; i < graph.node_size(); ++i)
    for (const auto& output : graph.node(i).output())
      if (!output.empty()) makers.emplace(output, i);
  for (auto& node : *graph.mutable_node()) for_each_body(node, sort_nodes);
  if (in_order(graph, makers)) return;

  enum class State : std::uint8_t { unseen, open, done };
  std::vector<State> states(static_cast<std::size_t>(graph.node_size()), State::unseen);
  std::vector<int> order;
  struct Visit {
    int node = 0;
    std::vector<int> needs{};
    std::size_t next = 0;
  };
  const auto visit = [&](int i) {
    Visit result{.node = i};
    Names names;
    add_inputs(*graph.mutable_node(i), names);
    for (const auto name : names)
      if (const auto maker = makers.find(name); maker != makers.end()) result.needs.push_back(maker->second);
    states[static_cast<std::size_t>(i)] = State::open;
    return result;
  };
  for (int root = 0; root < graph.node_size(); ++root) {
    if (states[static_cast<std::size_t>(root)] != State::unseen) continue;
    std::vector<Visit> path{visit(root)};
    while (!path.empty()) {
      Visit& top = path.back();
      if (top.next == top.needs.size()) {
        states[static_cast<std::size_t>(top.node)] = State::done;
        order.push_back(top.node);
        path.pop_back();
        continue;
      }
      const int need = top.needs[top.next++];
      if (states[static_cast<std::size_t>(need)] == State::open)
        throw InputError(described(graph.node(top.node)) + " is on a cycle: it needs the result of " +
                         described(graph.node(need)) + ", which needs its own");
      if (states[static_cast<std::size_t>(need)] == State::unseen) path.push_back(visit(need));
    }
  }
  google::protobuf::RepeatedPtrField<onnx::NodeProto> sorted;
  for (const int i : order) *sorted.Add() = std::move(*graph.mutable_node(i));
  graph.mutable_node()->Swap(&sorted);
}

/// Finds nodes of ONNX's domain that its operator set does not have, or that are deprecated in it, and for which there
/// is a rule here. ONNX Runtime's optimisations write LayerNormalization into files of any operator set, its training
/// graphs have MaxPoolGrad in ONNX's domain, and old exporters wrote operators that have been removed.
class AddedNodes {
 public:
  explicit AddedNodes(int opset) : opset_(opset) {}
  void find(onnx::GraphProto& graph, std::vector<onnx::NodeProto*>& added) {
    for (auto& node : *graph.mutable_node()) {
      const bool standard = node.domain().empty() || node.domain() == "ai.onnx";
      if (standard && is_added(node.op_type())) added.push_back(&node);
      for_each_body(node, [&](onnx::GraphProto& body) { find(body, added); });
    }
  }

 private:
  [[nodiscard]] bool is_added(const std::string& type) {
    const auto [known, is_new] = known_.try_emplace(type, false);
    if (is_new) {
      const OperatorFacts& facts = facts_of("", type);
      const auto* schema = onnx::OpSchemaRegistry::Schema(type, opset_, "");
      known->second = (schema == nullptr || schema->Deprecated()) &&
                      (function_of(facts.absent_shape) != nullptr || function_of(facts.shape) != nullptr);
    }
    return known->second;
  }
  int opset_;
  std::unordered_map<std::string_view, bool> known_{};  // types, of which a model has few
};

/// Sorts the axes of Squeeze, up to operator set 10: the library's shape inference skips those out of order.
void sort_squeezed_axes(onnx::GraphProto& graph) {
  for (auto& node : *graph.mutable_node()) {
    for_each_body(node, sort_squeezed_axes);
    if (node.op_type() != "Squeeze") continue;
    for (auto& attribute : *node.mutable_attribute())
      if (attribute.name() == "axes") std::sort(attribute.mutable_ints()->begin(), attribute.mutable_ints()->end());
  }
}

/// The checker ignores domains other than ONNX's.
constexpr const char* other_domain = "benanza";

/// Adds what real files leave out and the checker requires, then checks. This is a name of the graph, types and shapes
/// of its outputs and, before IR version 4, inputs with the names of initializers.
void check_with_formalities(onnx::ModelProto& model) {
  auto& graph = *model.mutable_graph();
  std::vector<onnx::NodeProto*> added;
  for (const auto& import : model.opset_import())
    if (import.domain().empty() || import.domain() == "ai.onnx") {
      AddedNodes(static_cast<int>(import.version())).find(graph, added);
      if (import.version() <= 10) sort_squeezed_axes(graph);
    }
  for (auto* node : added) node->set_domain(other_domain);
  auto& import = *model.add_opset_import();
  import.set_domain(other_domain);
  import.set_version(1);
  if (graph.name().empty()) graph.set_name("graph");
  std::vector<onnx::ValueInfoProto*> untyped, unshaped;
  for (auto& info : *graph.mutable_output()) {
    auto& type = *info.mutable_type();
    if (type.value_case() == onnx::TypeProto::VALUE_NOT_SET) {
      type.mutable_tensor_type()->set_elem_type(onnx::TensorProto::FLOAT);
      untyped.push_back(&info);
    }
    if (!type.has_tensor_type() || type.tensor_type().has_shape()) continue;
    type.mutable_tensor_type()->mutable_shape();
    unshaped.push_back(&info);
  }
  constexpr std::int64_t free_initializers = 4;
  const std::int64_t version = model.ir_version();
  model.set_ir_version(std::max(version, free_initializers));
  onnx::checker::check_model(model, false, true);
  model.set_ir_version(version);
  model.mutable_opset_import()->RemoveLast();
  for (auto* node : added) node->clear_domain();
  // An output without a shape is not a scalar.
  for (auto* info : unshaped) info->mutable_type()->mutable_tensor_type()->clear_shape();
  for (auto* info : untyped) info->clear_type();
}

/// Lowers versions that are newer than those that the library knows to the newest known ones. Most operators do not
/// change from one version to the next. Returns what was changed.
std::vector<std::string> lower_versions(onnx::ModelProto& model) {
  std::vector<std::string> warnings;
  const auto& known = onnx::OpSchemaRegistry::DomainToVersionRange::Instance().Map();
  const auto lower = [&](onnx::OperatorSetIdProto& import) {
    const auto range = known.find(import.domain() == "ai.onnx" ? "" : import.domain());
    if (range == known.end()) return;
    const std::string domain = range->first.empty() ? "ai.onnx" : range->first;
    const auto newest = range->second.second;
    if (import.version() < 1)
      throw InputError("operator set " + std::to_string(import.version()) + " of domain '" + domain +
                       "', expected 1 or more");
    if (import.version() <= newest) return;
    std::string warning = "operator set " + std::to_string(import.version()) + " of domain '" + domain +
                          "' is newer than the newest known one; it is read as operator set " + std::to_string(newest);
    if (std::find(warnings.begin(), warnings.end(), warning) == warnings.end()) warnings.push_back(std::move(warning));
    import.set_version(newest);
  };
  for (auto& import : *model.mutable_opset_import()) lower(import);
  for (auto& function : *model.mutable_functions())
    for (auto& import : *function.mutable_opset_import()) lower(import);
  if (model.ir_version() > onnx::Version::IR_VERSION) {
    warnings.push_back("IR version " + std::to_string(model.ir_version()) +
                       " is newer than the newest that is known, read as IR version " +
                       std::to_string(static_cast<int>(onnx::Version::IR_VERSION)));
    model.set_ir_version(onnx::Version::IR_VERSION);
  }
  return warnings;
}

}  // namespace

std::vector<std::string> check_and_inline(onnx::ModelProto& model) {
  if (!model.has_graph() || (model.graph().node_size() == 0 && model.graph().output_size() == 0))
    throw InputError("the graph is empty, expected at least one node");
  if (model.graph().node_size() == 0) throw InputError("the graph has no nodes, expected at least one");
  std::vector<std::string> warnings = lower_versions(model);
  sort_nodes(*model.mutable_graph());
  try {
    check_functions(model);
    check_with_formalities(model);
    inline_functions(model);
  } catch (const InputError&) {
    throw;
  } catch (const std::exception& error) {
    throw InputError(one_line(error.what()));
  }
  return warnings;
}

}  // namespace benanza::importer
