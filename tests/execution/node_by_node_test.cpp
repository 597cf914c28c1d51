// SPDX-License-Identifier: Apache-2.0
// Witnesses of models in which data decides which nodes are called or how large their results are.
#include "support/catch.hpp"
#include "support/fake_host.hpp"
#include "support/onnx_text.hpp"
#include "support/witness_of.hpp"
#include <benanza/model/layer_signature.hpp>
#include <benanza/model/make_layer.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace benanza;
using testing::witness_of;

namespace {

constexpr Seconds budget{0.01};

std::size_t by_reference(const Witness& witness) {
  return static_cast<std::size_t>(std::count_if(witness.calls.begin(), witness.calls.end(),
                                                [](const WitnessCall& call) { return call.plan == "reference"; }));
}

/// Random booleans are true: the first branch runs.
Graph branches() {
  return testing::import_text(R"(m (float[8] x, bool c) => (float[8] y) {
      y = If (c) <then_branch = t () => (float[8] a) { a = Relu (x) },
                  else_branch = e () => (float[8] b) { b = Neg (x) }> })",
                              {.executable = true});
}

}  // namespace

TEST_CASE("a Loop whose trip count is an input is executed node by node") {
  // Random integers are 0 or 1: two or three passes.
  const Witness witness = witness_of(R"(m (int64 n, float[4,8] x) => (float[4,8] y) <bool go = {1}, int64 two = {2}> {
      trips = Add (n, two)
      y = Loop (trips, go, x) <body = b (int64 i, bool before, float[4,8] v) => (bool more, float[4,8] w)
        { w = Sigmoid (v)  more = Identity (before) }> })");
  CAPTURE(witness.refused);
  REQUIRE(witness.given());
  CHECK(witness.node_by_node);
  CHECK(witness.executions >= 5);
  CHECK(witness.p10.value > 0);
  CHECK(witness.calls.size() == 2);  // the sum, and all passes of the sigmoid; Identity computes nothing
  CHECK(witness.checked >= 2);       // the sigmoid of each pass
  CHECK(witness.in_calls().value > 0);
  CHECK(witness.chained({}).value == 0);  // nothing is known of what lies between calls
}

TEST_CASE("elements that data picks are computed with, and what picks them is the reference's") {
  const Witness witness = witness_of(R"(m (float[64] x) => (float[k] y) <float one = {1}, float least = {-100}> {
      above = Greater (x, least)  kept = Compress (x, above)  y = Sub (kept, one) })");
  CAPTURE(witness.refused);
  REQUIRE(witness.given());
  CHECK(witness.node_by_node);
  CHECK(witness.calls.size() == 3);
  CHECK(by_reference(witness) >= 1);  // Compress
  CHECK(witness.checked >= 1);        // Sub
}

TEST_CASE("a model that the reference alone runs has a witness that is not representative") {
  const Witness witness = witness_of(R"(m (float[4] x) => (int64[N] y) {
    z = NonZero(x)
    k = Constant<value = int64[1] {-1}>()
    y = Reshape(z, k)
  })");
  CAPTURE(witness.refused);
  REQUIRE(witness.given());
  CHECK(witness.node_by_node);
  CHECK(witness.calls.size() == 1);  // a Reshape computes nothing
  CHECK(by_reference(witness) == 1);
  CHECK(witness.checked == 0);
  CHECK_FALSE(witness.representative());
}

TEST_CASE("a node of a body runs by the plan of its fastest row") {
  test::FakeHost host;
  const auto backend =
      std::make_shared<const test::FakeBackend>(host, std::vector<test::FakePlan>{{.name = "slow"}, {.name = "fast"}});
  const Graph graph = branches(), &taken = graph.nodes.at(0).bodies.at(0).graph;
  const std::string signature = LayerSignature(make_layer(taken.nodes.at(0), taken)).text();
  Run run;
  for (const auto& [name, seconds] : {std::pair{"slow", 2e-3}, std::pair{"fast", 1e-3}})
    run.rows.push_back({.backend = "fake",
                        .algorithm = std::string(name) + ",threads=1",
                        .signature = signature,
                        .samples = 1,
                        .times = MeasuredTimes{.p10 = {seconds}, .median = {seconds}}});
  ResultDatabase rows;
  rows.add(std::move(run));
  const Witness witness = make_witness(graph, rows, {.backends = {backend}, .budget = budget});
  CAPTURE(witness.refused);
  REQUIRE(witness.given());
  REQUIRE(witness.calls.size() == 1);  // the other branch is not called
  CHECK(witness.calls[0].plan == "fake fast,threads=1");
  CHECK(witness.checked == 1);
  CHECK(witness.threads == 1);
  CHECK(witness.representative());
}

TEST_CASE("a model with a plan that computes something else has no witness") {
  test::FakeHost host;
  const auto backend =
      std::make_shared<const test::FakeBackend>(host, std::vector<test::FakePlan>{{.name = "relu", .wrong = true}});
  const Witness witness = make_witness(branches(), {}, {.backends = {backend}, .budget = budget});
  CHECK_FALSE(witness.given());
  CHECK(witness.refused.find("the result of fake relu,threads=1 differs") != std::string::npos);
}
