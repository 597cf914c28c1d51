// SPDX-License-Identifier: Apache-2.0
// Plans are chosen by their rows, and by the time that they took in the sequence once they were executed.
#include "execution/plan_choice.hpp"

#include "support/catch.hpp"
#include "support/onnx_text.hpp"
#include <benanza/model/layer_signature.hpp>
#include <benanza/session/backends.hpp>

#include <string>
#include <variant>
#include <vector>

using namespace benanza;
using namespace benanza::execution;

namespace {

CallPlan plan_of(Seconds row) {
  CallPlan plan{.backend = "test", .alone = row};
  plan.inputs.resize(1);
  plan.outputs.resize(1);
  return plan;
}

ModelCall call_of(const Graph& graph, std::size_t node, std::vector<Seconds> rows) {
  ModelCall call;
  call.group.nodes = {node};
  call.group.operands = {{.value = *graph.nodes[node].inputs[0]}};
  call.group.outputs = {*graph.nodes[node].outputs[0]};
  for (const auto row : rows) call.plans.push_back(plan_of(row));
  return call;
}

}  // namespace

TEST_CASE("a plan that takes longer in its place than another's row lets expect gives way, and comes back") {
  const Graph graph = testing::import_text(R"(m (float[64] x) => (float[64] z) {
    y = Relu(x)
    z = Sigmoid(y)
  })");
  ModelCalls model;
  model.calls = {call_of(graph, 0, {{1e-3}, {1.2e-3}}), call_of(graph, 1, {{10e-3}})};
  CallPlans plans({}, {}, 1);
  LayoutChanges changes(plans);
  PlanSearch search(graph, model, changes);
  const PlanChoice by_rows = search.run([](const CallPlan&) { return true; });
  CHECK(by_rows == PlanChoice{0, 0});
  CHECK(search.cost(by_rows).value == Approx(11e-3));

  const std::vector<StepOwner> owners{{.call = 0}, {.call = 1}};
  search.observe(by_rows, owners, std::vector<Seconds>{{3e-3}, {10e-3}});
  CHECK(search.cost(by_rows).value == Approx(13e-3));
  // Calls take 13 / 11 of the time of their rows: 1.2 ms become 1.42 ms, less than 3 ms.
  const PlanChoice other = search.improve(by_rows);
  CHECK(other == PlanChoice{1, 0});
  CHECK(search.cost(other).value == Approx(1.2e-3 * 13 / 11 + 10e-3));

  search.observe(other, owners, std::vector<Seconds>{{4e-3}, {11e-3}});
  CHECK(search.improve(other) == by_rows);
  CHECK(search.cost(by_rows).value == Approx(13e-3));  // the shorter of two times of the second call
}

TEST_CASE("a change of layout takes the plan and the time of the fastest row, where it has rows") {
  const std::vector<std::string> names{"native"};
  const auto backends = usable_backends(names);
  const execution::Arrangement blocked =
      arrangement_of(ElementOrder(std::vector<OrderDigit>{{2, 480}, {30, 1}, {16, 30}}));
  const Layer layer = parse_layer("Transpose/f32/x=2x16x30/perm=0x2x1");
  const auto plan = std::get<Plans>(backends.front()->plans(layer, 1)).front()->algorithm();
  const auto row = [&](const std::string& algorithm, double time) {
    return Measurement{
        .backend = "native", .algorithm = algorithm, .samples = 1, .times = MeasuredTimes{.p10 = {time}}};
  };
  CallPlans with_rows({{LayerSignature(layer).text(), {row(plan, 5e-3), row("of_another_build,threads=1", 4e-3)}}},
                      backends, 1);
  LayoutChanges changes(with_rows);
  CHECK(changes.row_time(DataType::f32, 960, {}, blocked)->value ==
        Approx(5e-3));  // the 4 ms row names an unknown plan
  const LayoutChange* const change = changes.find(DataType::f32, 960, {}, blocked);
  REQUIRE(change);
  CHECK(change->layer == layer);
  CHECK(change->call.plan->algorithm() == plan);
  CHECK(change->call.alone.value == Approx(5e-3));

  CallPlans without({}, backends, 1);
  LayoutChanges timed(without);
  CHECK_FALSE(timed.row_time(DataType::f32, 960, {}, blocked));
  REQUIRE(timed.find(DataType::f32, 960, {}, blocked));
  CHECK(timed.find(DataType::f32, 960, {}, blocked)->call.alone.value > 0);
  CHECK(timed.find(DataType::f32, 960, {}, {.key = "hidden", .order = std::nullopt}) == nullptr);
}

TEST_CASE("what a change of layout took in its place counts") {
  const Graph graph = testing::import_text(R"(m (float[64] x) => (float[64] z) {
    y = Relu(x)
    z = Sigmoid(y)
  })");
  const Arrangement other{.key = "other", .order = std::nullopt};
  ModelCalls model;
  model.calls = {call_of(graph, 0, {{10e-3}, {11e-3}}), call_of(graph, 1, {{10e-3}})};
  model.calls[0].plans[0].outputs[0] = other;
  CallPlans plans({}, {}, 1);
  LayoutChanges changes(plans);
  PlanSearch search(graph, model, changes);
  const PlanChoice choice{0, 0};
  CHECK(search.run([](const CallPlan&) { return true; }) == choice);  // a change of 64 numbers is expected to be short
  const ValueId y = *graph.nodes[0].outputs[0];
  const std::vector<StepOwner> owners{
      {.call = 0}, {.call = 1, .change = StepOwner::Change{.root = y, .from = other, .to = {}}}, {.call = 1}};
  search.observe(choice, owners, std::vector<Seconds>{{10e-3}, {2e-3}, {10e-3}});
  CHECK(search.cost(choice).value == Approx(22e-3));
  CHECK(search.improve(choice) == PlanChoice{1, 0});
}
