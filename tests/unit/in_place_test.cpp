// SPDX-License-Identifier: Apache-2.0
// Updates in place: their cost, where they are allowed, and how they are checked.
#include "measure/tuning_session.hpp"
#include "support/catch.hpp"
#include "support/fake_host.hpp"
#include "support/graph_builder.hpp"
#include <benanza/model/layer_graph.hpp>

#include <cstring>

namespace {

using namespace benanza;
using benanza::testing::GraphBuilder;
using test::FakeHost;

/// Overwrites one row of a table in place, or leaves it unchanged.
class UpdateBackend final : public Backend {
 public:
  UpdateBackend(FakeHost& host, bool updates) : host_(host), updates_(updates) {}
  [[nodiscard]] std::string_view name() const override { return updates_ ? "updates" : "idles"; }
  [[nodiscard]] std::string version() const override { return "1"; }
  [[nodiscard]] std::variant<Plans, Unsupported> plans(const Layer& layer, int) const override {
    Plans result;
    result.push_back(std::make_unique<Update>(*this, operands(layer)));
    return result;
  }

 private:
  class Update final : public Plan {
   public:
    Update(const UpdateBackend& backend, const Operands& operands)
        : Plan({.algorithm = "update,threads=1",
                .inputs = plain_layouts(operands.inputs),
                .outputs = plain_layouts(operands.outputs)}),
          backend_(backend) {}

   private:
    void do_execute(const Arguments& arguments) const override {
      backend_.host_.spend(1e-4);
      if (!backend_.updates_) return;
      const std::int64_t row = *static_cast<const std::int64_t*>(arguments.inputs[1]);
      std::memcpy(static_cast<float*>(arguments.outputs[0]) + 4 * row, arguments.inputs[2], 4 * sizeof(float));
    }
    const UpdateBackend& backend_;
  };
  FakeHost& host_;
  bool updates_;
};

}  // namespace

TEST_CASE("an update costs what it writes, and what reads its result fetches the rest from where it was") {
  GraphBuilder g;
  const auto cache = g.input({4096, 64}), place = g.input({1, 1}, DataType::i64), row = g.input({1, 64});
  const auto updated = g.node("ScatterND", {cache, place, row}, {4096, 64});
  const double row_bytes = 64 * 4, index_bytes = 8, cache_bytes = 4096 * row_bytes;
  SECTION("alone") {
    g.output(updated);
    const LayerGraph graph = make_layer_graph(g.graph());
    CHECK(graph.layers[0].read_activations.value == row_bytes + index_bytes);
    CHECK(graph.layers[0].written.value == row_bytes);
    CHECK(graph.model_reads.value == row_bytes + index_bytes);
    CHECK(graph.model_writes.value == row_bytes);
  }
  SECTION("with a reader") {
    g.output(updated).output(g.map("Softmax", {updated}));
    const LayerGraph graph = make_layer_graph(g.graph());
    CHECK(graph.layers[1].read_activations.value == cache_bytes);
    CHECK(graph.model_reads.value == row_bytes + index_bytes + cache_bytes - row_bytes);
    CHECK(graph.model_writes.value == row_bytes + cache_bytes);
  }
}

TEST_CASE("rows of a cache are written in place where nothing else needs it") {
  for (const bool leaves : {true, false}) {
    GraphBuilder g;
    const auto cache = g.input({1, 8, 4096, 64}), rows = g.input({1, 8, 1, 64}), place = g.input({1}, DataType::i64);
    const auto updated = g.node("TensorScatter", {cache, rows, place}, {1, 8, 4096, 64});
    g.output(leaves ? updated : g.map("Softmax", {updated}));
    const LayerGraph graph = make_layer_graph(g.graph());
    CHECK(std::get<op::TensorScatter>(*graph.layers[0].layer).in_place == leaves);
    CHECK(graph.layers[0].written.value == 8 * 64 * 4);
    CHECK(graph.layers[0].read_activations.value == 8 * 64 * 4 + 8);
  }
}

TEST_CASE("an update is in place where nothing else needs what was there") {
  GraphBuilder g;
  const auto place = g.input({1, 1}, DataType::i64), row = g.input({1, 64});
  const auto updated = [&](ValueId data, GraphBuilder::Attributes attributes = {}) {
    return g.node("ScatterND", {data, place, row}, {4096, 64}, std::move(attributes));
  };
  const auto is_in_place = [&] {
    for (const auto& at : make_layer_graph(g.graph()).layers)
      if (const auto* scatter = std::get_if<op::ScatterNd>(&*at.layer)) return scatter->in_place;
    return false;
  };
  const auto cache = g.input({4096, 64});
  SECTION("an input whose update is an output: a cache") {
    g.output(updated(cache));
    CHECK(is_in_place());
  }
  SECTION("an input whose update stays inside") {
    g.output(g.map("Softmax", {updated(cache)}));
    CHECK_FALSE(is_in_place());
  }
  SECTION("an input that has another reader") {
    g.output(updated(cache)).output(g.map("Softmax", {cache}));
    CHECK_FALSE(is_in_place());
  }
  SECTION("a result of a layer") {
    g.output(g.map("Softmax", {updated(g.map("Exp", {cache}))}));
    CHECK(is_in_place());
  }
  SECTION("a result that leaves the graph") {
    const auto made = g.map("Exp", {cache});
    g.output(made).output(updated(made));
    CHECK_FALSE(is_in_place());
  }
  SECTION("a view of a result") {
    const auto made = g.node("Exp", {g.input({64, 4096})}, {64, 4096});
    g.output(updated(g.node("Reshape", {made, g.ints({4096, 64})}, {4096, 64})));
    CHECK(is_in_place());
  }
  SECTION("a view of what has another reader") {
    const auto made = g.node("Exp", {g.input({64, 4096})}, {64, 4096});
    g.output(updated(g.node("Reshape", {made, g.ints({4096, 64})}, {4096, 64}))).output(g.map("Softmax", {made}));
    CHECK_FALSE(is_in_place());
  }
  SECTION("a constant") {
    g.output(updated(g.weight({4096, 64})));
    CHECK_FALSE(is_in_place());
  }
  SECTION("a reduction, which would not repeat") {
    g.output(updated(cache, {{"reduction", std::string("add")}}));
    CHECK_FALSE(is_in_place());
  }
}

TEST_CASE("a cache grows in place where the caller keeps it") {
  GraphBuilder g;
  const auto row = g.input({8, 1, 64});
  const auto appended = [&](ValueId cache) { return g.node("Concat", {cache, row}, {8, 128, 64}, {{"axis", 1}}); };
  const auto the_concat = [&] {
    for (const auto& at : make_layer_graph(g.graph()).layers)
      if (const auto* concat = std::get_if<op::Concat>(&*at.layer)) return *concat;
    return op::Concat{};
  };
  const auto cache = g.input({8, 127, 64});
  SECTION("an input, and an output that a layer reads, too") {
    const auto grown = appended(cache);
    g.output(grown).output(g.map("Softmax", {grown}));
    const op::Concat concat = the_concat();
    CHECK(concat.in_place);
    const double row_bytes = 8 * 64 * 4;  // one row of all heads
    CHECK(cost(concat).activations.value == row_bytes);
    CHECK(cost(concat).written.value == row_bytes);
  }
  SECTION("a result that stays inside") {
    g.output(g.map("Softmax", {appended(cache)}));
    CHECK_FALSE(the_concat().in_place);
  }
  SECTION("a result of a layer, which has no room behind it") {
    g.output(appended(g.map("Exp", {cache})));
    CHECK_FALSE(the_concat().in_place);
  }
  SECTION("a cache that has another reader") {
    g.output(appended(cache)).output(g.map("Softmax", {cache}));
    CHECK_FALSE(the_concat().in_place);
  }
  SECTION("in front of the cache") {
    g.output(g.node("Concat", {row, cache}, {8, 128, 64}, {{"axis", 1}}));
    CHECK_FALSE(the_concat().in_place);
  }
}

TEST_CASE("an update in place begins with its data, and one that writes nothing is wrong") {
  FakeHost host;
  const measure::Wanted wanted{.layer = op::ScatterNd{.x = {4096, 4}, .indices = {1, 1}, .in_place = true}};
  for (const bool updates : {true, false}) {
    const std::vector<std::shared_ptr<const Backend>> backends{std::make_shared<UpdateBackend>(host, updates)};
    const auto rows = measure::run_tuning_session(host, std::vector{wanted}, backends, {}, 1);
    REQUIRE(rows.size() == 1);
    CHECK(rows[0].status == (updates ? RowStatus::measured : RowStatus::wrong));
  }
}
