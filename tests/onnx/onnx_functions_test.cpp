// SPDX-License-Identifier: Apache-2.0
// A model's own functions are replaced by their nodes.
#include "support/catch.hpp"
#include "support/onnx_text.hpp"
#include <benanza/onnx.hpp>

#include <string>

namespace {

using namespace benanza;
using testing::import_model;
using testing::op_types;
using testing::parse_model;
using Dims = std::vector<std::int64_t>;

constexpr const char* header = R"(<ir_version: 10, opset_import: ["" : 17, "lib" : 1]>)";

TEST_CASE("An attribute that a call leaves out has the default of the function", "[onnx]") {
  const Graph graph = import_model(parse_model(R"(
      g (float[4] x) => (float[4] y, float[4] z) { y = lib.leaky(x) z = lib.leaky <slope = 0.5> (x) }
      <domain: "lib", opset_import: ["" : 17]> leaky <slope: float = 0.25> (x) => (y)
      { y = LeakyRelu <alpha: float = @slope> (x) })",
                                               header));
  REQUIRE(graph.nodes.size() == 2);
  CHECK(graph.nodes[0].attribute("alpha", 0.01) == 0.25);
  CHECK(graph.nodes[1].attribute("alpha", 0.01) == 0.5);
}

TEST_CASE("A default also reaches a function that is called without a value of the caller's attribute", "[onnx]") {
  // The call of `outer` has no slope, and `outer` has no default for it: that of `inner` holds.
  const Graph graph = import_model(parse_model(R"(
      g (float[4] x) => (float[4] y) { y = lib.outer(x) }
      <domain: "lib", opset_import: ["" : 17, "lib" : 1]> outer <slope> (x) => (y)
      { y = lib.inner <slope: float = @slope> (x) }
      <domain: "lib", opset_import: ["" : 17]> inner <slope: float = 0.25> (x) => (y)
      { y = LeakyRelu <alpha: float = @slope> (x) })",
                                               header));
  REQUIRE(graph.nodes.size() == 1);
  CHECK(graph.nodes[0].attribute("alpha", 0.01) == 0.25);
}

TEST_CASE("The nodes of a function have the operator set that the function imports", "[onnx]") {
  // In operator set 11, the axes of a Squeeze are an attribute, and a Softmax covers all axes from the given one.
  const Graph graph = import_model(parse_model(R"(
      g (float[2,1,6] x) => (float[2,6] y, float[2,1,6] z) { y = lib.old(x) z = Softmax(x) }
      <domain: "lib", opset_import: ["" : 11]> old (x) => (y) { s = Softmax(x) y = Squeeze <axes = [1]> (s) })",
                                               header));
  CHECK(graph.value(graph.outputs.at(0)).dims == Dims{2, 6});
  REQUIRE(op_types(graph) == std::vector<std::string>{"Softmax", "Squeeze", "Softmax"});
  CHECK(graph.nodes[0].opset == 11);
  CHECK(graph.nodes[1].opset == 11);
  CHECK(graph.nodes[2].opset == 17);
}

TEST_CASE("Names in a function do not collide with names of the model", "[onnx]") {
  const Graph graph = import_model(parse_model(R"(
      g (float[4] x, bool c) => (float[4] y, float[4] z, float[4] u)
      { t = Relu(x) y, unused = lib.f(t, c) z, u = lib.f(x, c) }
      <domain: "lib", opset_import: ["" : 17]> f (x, c) => (y, x2)
      { t = Exp(x) x2 = Identity(x)
        y = If <then_branch: graph = a () => (float[4] r) { r = Add(t, x) },
                else_branch: graph = b () => (float[4] r) { r = Sub(t, x) }> (c) })",
                                               header));
  CHECK(op_types(graph) == std::vector<std::string>{"Relu", "Exp", "If", "Exp", "If"});
  CHECK(graph.outputs.at(2) == graph.inputs.at(0));
  CHECK(graph.output_names == std::vector<std::string>{"y", "z", "u"});
  CHECK(graph.nodes[1].inputs[0] == graph.nodes[0].outputs[0]);
  CHECK(graph.nodes[3].inputs[0] == graph.inputs.at(0));
}

TEST_CASE("An output of a function may be one of its inputs, and inputs may be left out", "[onnx]") {
  const Graph graph = import_model(parse_model(R"(
      g (float[4,6] x) => (float[4,6] y, float[4,6] z) { y, z = lib.f(x) }
      <domain: "lib", opset_import: ["" : 17]> f (x, low, high) => (y, x) { y = Clip(x, low, high) })",
                                               header));
  CHECK(graph.outputs.at(1) == graph.inputs.at(0));
  CHECK(graph.value(graph.outputs.at(0)).dims == Dims{4, 6});
}

TEST_CASE("Overloads of a function are told apart, and growth without bound is refused in each", "[onnx]") {
  auto model = parse_model(R"(
      g (float[4] x) => (float[4] y) { y = lib.f(x) }
      <domain: "lib", opset_import: ["" : 17]> f (x) => (y) { y = Relu(x) }
      <domain: "lib", opset_import: ["" : 17, "lib" : 1]> g (x) => (y) { y = Exp(x) })",
                           header);
  model.mutable_functions(1)->set_name("f");
  model.mutable_functions(1)->set_overload("other");
  model.mutable_graph()->mutable_node(0)->set_overload("other");
  CHECK(op_types(import_model(model)) == std::vector<std::string>{"Exp"});

  // Function i calls i + 1 twice: 2^40 nodes.
  auto* base = model.mutable_functions(1);
  base->clear_node();
  const onnx::FunctionProto empty = *base;
  model.clear_functions();
  for (int i = 0; i < 40; ++i) {
    auto& function = *model.add_functions();
    function = empty;
    function.set_overload(std::to_string(i));
    for (int k = 0; k < 2; ++k) {
      auto& call = *function.add_node();
      call.set_domain(i < 39 ? "lib" : "");
      call.set_op_type(i < 39 ? "f" : "Relu");
      if (i < 39) call.set_overload(std::to_string(i + 1));
      call.add_input(k == 0 ? "x" : "t");
      call.add_output(k == 0 ? "t" : "y");
    }
  }
  model.mutable_graph()->mutable_node(0)->set_overload("0");
  CHECK_THAT(testing::message_of<InputError>([&] { (void)import_model(model); }), Catch::Contains("grow to more than"));
}

}  // namespace
