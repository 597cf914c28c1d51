// SPDX-License-Identifier: Apache-2.0
// The short cut for nodes that need everything, against the rules of their operators, for every node of ONNX's own
// tests and of the shipped models.
#include "support/catch.hpp"
#include "support/model_files.hpp"
#include <benanza/error.hpp>
#include <benanza/model/detail/needs_everything.hpp>
#include <benanza/model/make_layer.hpp>
#include <benanza/onnx.hpp>
#include <benanza/operators/lookup.hpp>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <set>
#include <string>
#include <variant>
#include <vector>

namespace {

using namespace benanza;

/// Compares the nodes of graphs.
class NeedsOfNodes {
 public:
  void compare(const Graph& graph) {
    const std::vector<detail::KnownElements> nothing(graph.values.size());
    for (const Node& node : graph.nodes) {
      for (const Body& body : node.bodies) compare(body.graph);
      if (!node.bodies.empty() || !facts_of(node).is(Trait::whole_by_whole) || !is_plain(graph, node)) continue;
      const Layer layer = make_layer(node, graph);
      const detail::SizedNode at{node, graph, layer, nothing};
      if (!detail::needs_everything(at)) continue;
      INFO(graph.file << ": " << node.name << " (" << node.op_type << ")");
      check(at);
      compared_.insert(node.op_type);
    }
  }
  /// ONNX types of the nodes.
  [[nodiscard]] const std::set<std::string>& compared() const { return compared_; }

 private:
  /// The sizes of the operands and of the only result are known and not 0.
  [[nodiscard]] static bool is_plain(const Graph& graph, const Node& node) {
    const auto has_elements = [&](const auto& id) {
      return !id || (!graph.value(*id).data_dependent && !graph.value(*id).sparse && graph.value(*id).elements() > 0);
    };
    return node.outputs.size() == 1 && node.has_output(0) && node.has_input(0) &&
           std::all_of(node.inputs.begin(), node.inputs.end(), has_elements) && has_elements(node.outputs[0]);
  }

  static void check(const detail::SizedNode& at) {
    CHECK_FALSE(detail::known_update(at));
    const detail::Needs needs = detail::needs_of(at, detail::live_rule(at), {Region::whole(at.y())});
    CHECK(needs.flops == 1);
    for (std::size_t k = 0; k < at.node.inputs.size(); ++k) {
      CAPTURE(k);
      if (!at.node.inputs[k]) continue;
      const Region& part = needs.inputs[k];
      const bool may_leave_out = std::holds_alternative<op::BatchNorm>(at.layer);
      CHECK((may_leave_out && detail::is_left_out(at, k) ? part.empty() : part.is_whole()));
    }
  }

  std::set<std::string> compared_{};
};

TEST_CASE("A node that the short cut says needs everything needs everything by its operator's rule", "[onnx]") {
  NeedsOfNodes nodes;
  for (const auto& model : testing::model_files()) nodes.compare(import_onnx(model));
  const std::filesystem::path folder = BENANZA_ONNX_CASES;
  if (!std::filesystem::is_directory(folder)) {
    WARN("skipped: no folder " << folder.string() << " with the models of ONNX's own tests");
    return;
  }
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.path().extension() == ".onnx") try {
        nodes.compare(import_onnx(entry.path()));
      } catch (const InputError&) {
        continue;  // onnx_cases_test lists the reasons
      }
  std::set<std::string> all;  // every type for which it may say so
  for_each_operator([&]<class Op>(std::type_identity<Op>) {
    for (const auto type : Op::onnx_types) {
      Node node;
      node.op_type = type;
      if (facts_of(node).is(Trait::whole_by_whole)) all.insert(node.op_type);
    }
  });
  CHECK(nodes.compared() == all);
}

}  // namespace
