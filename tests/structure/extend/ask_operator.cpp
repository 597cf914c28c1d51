// SPDX-License-Identifier: Apache-2.0
// Asks the model, the suites, the words of engines and the reference about the added operator.
#include "codegen/writer.hpp"
#include "evaluate.hpp"
#include "src/gap/engine_words.hpp"
#include "support/graph_builder.hpp"
#include <benanza/model/layer.hpp>
#include <benanza/model/layer_signature.hpp>
#include <benanza/model/make_layer.hpp>

#include <array>
#include <cstdio>

using namespace benanza;

namespace {

bool failed = false;
void check(bool holds, const char* what) {
  if (!holds) std::printf("not so: %s\n", what);
  failed = failed || !holds;
}

}  // namespace

int main() {
  testing::GraphBuilder model;
  const ValueId x = model.input({2, 3});
  model.output(model.node("CumSum", {x, model.ints({1})}, {2, 3}));
  const Layer layer = make_layer(model.graph().nodes[0], model.graph());

  const std::string text = LayerSignature(layer).text();
  check(text == "CumSum/f32/x=2x3x1", text.c_str());
  check(parse_layer(text) == layer, "the layer comes back from its signature");
  check(cost(layer).flops.value == 6, "one addition an element");
  check(family(layer) == Family::window && !is_product(layer) && !is_movement(layer), "its family");

  check(codegen::initializer(std::get<op::CumSum>(layer)) == "{.x = {2, 3, 1}}", "its row in a suite");

  const auto kinds = analysis::kinds_of(ProfileRecord{.name = "node_7", .op = "aten::cumsum"});
  check(kinds == std::vector<std::string_view>{"CumSum"}, "an engine's word for it");

  const std::array<float, 6> input{1, 2, 3, 4, 5, 6};
  const std::array<std::int64_t, 6> all{0, 1, 2, 3, 4, 5};
  const reference::Parameters parameters;
  const reference::Query query{
      .inputs = {{input.data(), DataType::f32, {2, 3, 1}}}, .indices = all, .parameters = parameters};
  const auto sums = reference::compute(std::get<op::CumSum>(layer), query);
  check(sums == reference::Elements{1, 3, 6, 4, 9, 15}, "the reference sums along the axis");
  return failed ? 1 : 0;
}
