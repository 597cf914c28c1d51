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
#include <cmath>
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
  const ValueId x = model.input({2, 2, 2});
  model.output(model.node("Det", {x}, {2}));
  const Layer layer = make_layer(model.graph().nodes[0], model.graph());

  const std::string text = LayerSignature(layer).text();
  check(text == "Det/f32/x=2x2x2", text.c_str());
  check(parse_layer(text) == layer, "the layer comes back from its signature");
  check(cost(layer).flops.value == 8, "one operation an element");
  check(family(layer) == Family::window && !is_product(layer) && !is_movement(layer), "its family");

  check(codegen::initializer(std::get<op::Det>(layer)) == "{.x = {2, 2, 2}}", "its row in a suite");

  const auto kinds = gap::kinds_of(ProfileRecord{.name = "node_7", .op = "aten::det"});
  check(kinds == std::vector<std::string_view>{"Det"}, "an engine's word for it");

  const std::array<float, 8> input{1, 2, 3, 4, 5, 6, 7, 8};
  const std::array<std::int64_t, 2> all{0, 1};
  const reference::Parameters parameters;
  const reference::Query query{
      .inputs = {{input.data(), DataType::f32, {2, 2, 2}}}, .indices = all, .parameters = parameters};
  const auto determinants = reference::compute(std::get<op::Det>(layer), query);
  check(determinants.size() == 2 && std::fabs(determinants[0] + 2) < 1e-12 && std::fabs(determinants[1] + 2) < 1e-12,
        "the reference: 1 * 4 - 2 * 3 and 5 * 8 - 6 * 7");
  return failed ? 1 : 0;
}
