// SPDX-License-Identifier: Apache-2.0
#include "support/catch.hpp"
#include "support/graph_builder.hpp"
#include <benanza/model/layer_graph.hpp>
#include <benanza/model/layer_set.hpp>
#include <benanza/model/layer_signature.hpp>

#include <algorithm>
#include <limits>

namespace {

using namespace benanza;
using benanza::testing::GraphBuilder;
using Dims = GraphBuilder::Dims;

std::vector<std::size_t> from(const Occurrence& at) {
  std::vector<std::size_t> result;
  for (const auto& edge : at.predecessors) result.push_back(edge.from);
  return result;
}

std::vector<std::int64_t> serial_repeats(const LayerGraph& graph) {
  std::vector<std::int64_t> result;
  for (const auto& at : graph.layers) result.push_back(at.serial_repeat);
  return result;
}

/// A Loop over `body`: the inputs are the trip count, the condition and the initial values.
void add_loop(GraphBuilder& outer, Graph body, std::vector<ValueId> initial, std::vector<Dims> results,
              std::optional<std::int64_t> trips) {
  std::vector<ValueId> inputs{outer.ints({trips.value_or(0)}), outer.ints({1})};
  inputs.insert(inputs.end(), initial.begin(), initial.end());
  const auto outputs = outer.node_of("Loop", inputs, std::move(results));
  outer.last().bodies.push_back({"body", std::move(body)});
  outer.last().trip_count = trips;
  for (auto id : outputs) outer.output(id);
}

/// A body with the formal inputs with which every Loop body begins, and the condition with which it ends.
GraphBuilder loop_body() {
  GraphBuilder body("body");
  body.input({}, DataType::i64);
  body.output(body.input({}, DataType::boolean));
  return body;
}

}  // namespace

TEST_CASE("a layer has its node, its edges and its compulsory bytes") {
  GraphBuilder g;
  const auto x = g.input({1, 3, 8, 8});
  const auto y = g.conv(x, 4, true);
  g.output(g.map("Relu", {y}));
  const LayerGraph graph = make_layer_graph(g.graph());
  REQUIRE(graph.layers.size() == 2);
  const Occurrence& conv = graph.layers[0];
  CHECK(conv.nodes == std::vector<std::string>{"Conv_0"});
  CHECK(conv.members == std::vector<std::size_t>{0});
  CHECK(conv.predecessors.empty());
  CHECK(conv.read_activations.value == 1 * 3 * 8 * 8 * 4);
  CHECK(conv.read_weights.value == (4 * 3 * 3 * 3 + 4) * 4);
  CHECK(conv.written.value == 1 * 4 * 8 * 8 * 4);
  CHECK(from(graph.layers[1]) == std::vector<std::size_t>{0});
  CHECK(graph.model_reads.value == conv.read_activations.value + conv.read_weights.value);
  CHECK(graph.weights == conv.read_weights);
  CHECK(graph.model_writes.value == 1 * 4 * 8 * 8 * 4);
  CHECK(graph.form == Form::single);
}

TEST_CASE("a tensor that a layer reads twice costs its bytes once") {
  GraphBuilder g;
  const auto x = g.input({16, 16});
  const auto flat = g.node("Reshape", {x, g.ints({256})}, {256});
  const auto square = g.node("Reshape", {flat, g.ints({16, 16})}, {16, 16});
  g.output(g.map("Add", {x, square}));
  const LayerGraph graph = make_layer_graph(g.graph());
  CHECK(graph.layers.back().read_activations.value == 256 * 4);  // a view of x is x
  CHECK(graph.model_reads.value == 256 * 4);
}

TEST_CASE("what reads through slices fetches only what was taken, halves make a whole") {
  GraphBuilder g;
  const auto x = g.input({4, 64});
  const auto half = [&](std::int64_t begin) {
    return g.node("Slice", {x, g.ints({begin}), g.ints({begin + 32}), g.ints({1})}, {4, 32});
  };
  const auto left = half(0), right = half(32);
  g.output(g.map("Relu", {left}));
  g.output(g.map("Add", {left, right}));
  const LayerGraph graph = make_layer_graph(g.graph());
  CHECK(graph.layers[0].read_activations.value == 4 * 32 * 4);
  CHECK(graph.layers[2].read_activations.value == 4 * 32 * 4);
  CHECK(graph.layers[3].read_activations.value == 4 * 64 * 4);
}

TEST_CASE("an expanded tensor is read once") {
  GraphBuilder g;
  const auto wide = g.node("Expand", {g.input({1, 64}), g.ints({128, 64})}, {128, 64});
  g.output(g.map("Relu", {wide}));
  const LayerGraph graph = make_layer_graph(g.graph());
  CHECK(graph.layers[1].read_activations.value == 64 * 4);
  CHECK(graph.layers[1].written.value == 128 * 64 * 4);
}

TEST_CASE("a stride that steps over elements does not read them") {
  GraphBuilder g;
  const auto x = g.input({1, 8, 56, 56});
  g.output(g.node("Conv", {x, g.weight({16, 8, 1, 1})}, {1, 16, 28, 28}, {{"strides", Dims{2, 2}}}));
  const LayerGraph graph = make_layer_graph(g.graph());
  CHECK(graph.layers[0].read_activations.value == 8 * 28 * 28 * 4);
}

TEST_CASE("an embedding table counts the one row that is certain to be gathered") {
  GraphBuilder g;
  const auto table = g.weight({50257, 768});
  const auto tokens = g.input({1, 128}, DataType::i64);
  g.output(g.node("Gather", {table, tokens}, {1, 128, 768}));
  const LayerGraph graph = make_layer_graph(g.graph());
  CHECK(graph.weights.value == 768 * 4);
  CHECK(graph.model_reads.value == 768 * 4 + 128 * 8);
}

TEST_CASE("only one of two outputs that are views of each other is written") {
  GraphBuilder g;
  const auto y = g.map("Relu", {g.input({4, 4})});
  g.output(y).output(g.node("Flatten", {y}, {1, 16}));
  CHECK(make_layer_graph(g.graph()).model_writes.value == 16 * 4);
}

TEST_CASE("an output that only shows an input writes nothing") {
  GraphBuilder g;
  g.output(g.node("Flatten", {g.input({4, 4})}, {1, 16}));
  CHECK(make_layer_graph(g.graph()).model_writes.value == 0);
}

TEST_CASE("a value used twice has two consumers, an output is marked") {
  GraphBuilder g;
  const auto y = g.map("Relu", {g.input({4})});
  g.output(g.map("Mul", {y, y})).output(y);
  const LayerGraph graph = make_layer_graph(g.graph());
  const LayerTensor& tensor = graph.tensors[graph.layers[0].outputs[0]];
  CHECK(tensor.consumers.size() == 2);
  CHECK(tensor.output);
}

TEST_CASE("a loop's trip count multiplies, and what carries a value runs in sequence") {
  GraphBuilder g;
  const auto x = g.input({1, 64});
  const auto w = g.weight({64, 64});
  GraphBuilder body = loop_body();
  const auto state = body.input({1, 64});
  const auto product = body.node("MatMul", {state, body.capture(g.graph(), w)}, {1, 64});
  body.output(body.map("Tanh", {product}));
  body.output(body.map("Exp", {product}));  // collected, never passed on
  add_loop(g, body.graph(), {x}, {{1, 64}, {12, 1, 64}}, 12);
  const LayerGraph graph = make_layer_graph(g.graph());
  REQUIRE(graph.layers.size() == 3);
  for (const auto& at : graph.layers) CHECK(at.repeat == 12);
  CHECK(serial_repeats(graph) == std::vector<std::int64_t>{12, 12, 1});
  CHECK(graph.unknown.empty());
  CHECK(graph.weights.value == 64 * 64 * 4);  // touched in every pass, counted once
}

TEST_CASE("stacked states overlap like a wavefront: one of them runs in sequence") {
  // h1 <- f(h1), h2 <- g(h2, h1): pass n of f and pass n - 1 of g run side by side, so only one of them takes all
  // passes in sequence.
  GraphBuilder g;
  const auto zeros = g.input({1, 64});
  GraphBuilder body = loop_body();
  const auto h1 = body.input({1, 64}), h2 = body.input({1, 64});
  const auto f = body.map("Tanh", {h1});
  body.output(f).output(body.map("Add", {h2, f}));
  add_loop(g, body.graph(), {zeros, zeros}, {{1, 64}, {1, 64}}, 10);  // both begin with the same tensor
  const LayerGraph graph = make_layer_graph(g.graph());
  CHECK(serial_repeats(graph) == std::vector<std::int64_t>{10, 1});
}

TEST_CASE("a value that is handed on unchanged, or anew in every pass, forces no sequence") {
  GraphBuilder g;
  const auto x = g.input({1, 64}), y = g.input({1, 64});
  GraphBuilder body = loop_body();
  const auto fixed = body.input({1, 64});
  body.input({1, 64});  // overwritten without being read
  body.output(fixed).output(body.map("Exp", {fixed}));
  add_loop(g, body.graph(), {x, y}, {{1, 64}, {1, 64}}, 10);
  CHECK(serial_repeats(make_layer_graph(g.graph())) == std::vector<std::int64_t>{1});
}

TEST_CASE("a captured tensor is not the carried value that began with it") {
  GraphBuilder g;
  const auto x = g.input({1, 64});
  GraphBuilder body = loop_body();
  body.input({1, 64});
  body.output(body.map("Exp", {body.capture(g.graph(), x)}));  // reads the captured x, which is the same in each pass
  add_loop(g, body.graph(), {x}, {{1, 64}}, 10);
  const LayerGraph graph = make_layer_graph(g.graph());
  CHECK(serial_repeats(graph) == std::vector<std::int64_t>{1});
  CHECK(graph.model_reads.value == 64 * 4);
}

TEST_CASE("nested loops multiply") {
  GraphBuilder g;
  const auto x = g.input({8});
  GraphBuilder middle = loop_body();
  const auto m = middle.input({8});
  GraphBuilder inner = loop_body();
  inner.output(inner.map("Tanh", {inner.input({8})}));
  add_loop(middle, inner.graph(), {m}, {{8}}, 3);
  add_loop(g, middle.graph(), {x}, {{8}}, 5);
  const LayerGraph graph = make_layer_graph(g.graph());
  REQUIRE(graph.layers.size() == 1);
  CHECK(graph.layers[0].repeat == 15);
  CHECK(graph.layers[0].serial_repeat == 15);
}

TEST_CASE("passes that do not fit 64 bits count as the largest number") {
  GraphBuilder g;
  const auto x = g.input({8});
  GraphBuilder middle = loop_body();
  const auto m = middle.input({8});
  GraphBuilder inner = loop_body();
  inner.output(inner.map("Tanh", {inner.input({8})}));
  add_loop(middle, inner.graph(), {m}, {{8}}, std::int64_t{1} << 40);
  add_loop(g, middle.graph(), {x}, {{8}}, std::int64_t{1} << 40);
  const LayerGraph graph = make_layer_graph(g.graph());
  constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
  REQUIRE(graph.layers.size() == 1);
  CHECK(graph.layers[0].repeat == largest);
  CHECK(graph.layers[0].serial_repeat == largest);
  LayerSet layers;
  for (const auto* model : {"one", "two", "two"})
    layers.add(graph.layers[0].layer, model, graph.layers[0].nodes[0], graph.layers[0].repeat);
  CHECK(layers.layers().begin()->second.count() == largest);
}

TEST_CASE("a layer without a kind may have any number of bytes") {
  GraphBuilder g;
  g.output(g.map("Unknown", {g.input({std::int64_t{1} << 46})}));
  const LayerGraph graph = make_layer_graph(g.graph());
  REQUIRE(graph.layers.size() == 1);
  const std::string text = LayerSignature(graph.layers[0].layer).text();
  CHECK_THAT(text, Catch::Contains("read_bytes=281474976710656"));  // 2^46 floats
  CHECK(LayerSignature::parse(text).text() == text);
}

TEST_CASE("a loop of unknown trip count is said to be one and counted once") {
  GraphBuilder g;
  GraphBuilder body = loop_body();
  body.output(body.map("Tanh", {body.input({8})}));
  add_loop(g, body.graph(), {g.input({8})}, {{8}}, std::nullopt);
  const LayerGraph graph = make_layer_graph(g.graph());
  REQUIRE(graph.unknown.size() == 1);
  CHECK_THAT(graph.unknown[0], Catch::Contains("'Loop_0' (Loop)"));
  CHECK(graph.layers[0].repeat == 1);
}

TEST_CASE("where sizes become unknown is said, and what follows costs at its least nothing") {
  GraphBuilder g;
  const auto x = g.input({4, 6});
  const auto places = g.node("NonZero", {x}, {2, 0}, {}, DataType::i64);
  const auto flat = g.node("Reshape", {places, g.ints({-1})}, {0}, {}, DataType::i64);
  const auto rows = g.node("Gather", {x, flat}, {0, 6});
  const auto y = g.node("MatMul", {rows, g.weight({6, 8})}, {0, 8});
  for (const auto id : {places, flat, rows, y}) g.graph().values[id].data_dependent = true;
  g.graph().values[places].unknown_size = true;
  g.output(y);
  const LayerGraph graph = make_layer_graph(g.graph());
  CHECK(graph.unknown ==
        std::vector<std::string>{"the size of 'NonZero_0' (NonZero) depends on data: counted at its least"});
  std::vector<std::string> layers;
  for (const auto& at : graph.layers) layers.push_back(LayerSignature(at.layer).text());
  CHECK(layers == std::vector<std::string>{"Opaque/i64/op=NonZero/read_bytes=96",  // 4 x 6 floats
                                           "View/i64/x=0", "Opaque/f32/op=Gather", "Opaque/f32/op=MatMul"});
  CHECK(graph.layers[0].read_activations.value == 96);
  CHECK(graph.layers[2].read_activations.value == 0);
  CHECK(graph.layers[3].read_weights.value == 0);
  CHECK(graph.weights.value == 0);
  CHECK(graph.model_reads.value == 96);
}

TEST_CASE("operators of which the bytes alone are known are named with their number, unless they move bytes") {
  GraphBuilder g;
  const auto x = g.input({64, 64});
  for (int i = 0; i < 3; ++i) {
    g.output(g.map("Experts", {x, g.weight({4, 64, 64})}));
    g.last().domain = "com.microsoft";
  }
  g.output(g.map("Conv", {x, g.weight({64, 64})}));                                           // not a valid convolution
  g.output(g.map("Unique", {x})).output(g.map("Softmax", {x}, {{"axis", std::int64_t{7}}}));  // no such axis
  const LayerGraph graph = make_layer_graph(g.graph());
  for (const auto& at : graph.layers) CHECK(is_opaque(at.layer));
  CHECK(graph.unknown ==
        std::vector<std::string>{
            "'Conv_3' (Conv): known by bytes alone, the arithmetic is not counted",
            "'Experts_0' and 2 more (com.microsoft.Experts): known by bytes alone, the arithmetic is not counted"});
}

TEST_CASE("an operator without a kind is complete by its bytes only if it does little on each element") {
  const auto unknown = [](const std::string& domain, const std::string& type, DataType data = DataType::f32) {
    GraphBuilder g;
    const auto x = g.input({64, 64}, data);
    g.output(g.map(type, std::vector<ValueId>(9, x)));  // sizes that fit no operator
    g.last().domain = domain;
    const LayerGraph graph = make_layer_graph(g.graph());
    CHECK(is_opaque(graph.layers.at(0).layer));
    return graph.unknown.size();
  };
  // Products in each step, and taps of each window or sample.
  for (const auto* gradient : {"LSTMGrad", "GRUGrad", "RNNGrad", "ConvGradData", "ConvGradWeights", "AveragePoolGrad",
                               "GridSampleGrad", "RoiAlignGrad"})
    CHECK(unknown("benanza", gradient) == 1);
  // The same, and transforms, trees, images and text searches.
  for (const auto* type : {"LpPool", "GridSample", "RoiAlign", "DFT", "STFT", "ImageDecoder", "TfIdfVectorizer"})
    CHECK(unknown("", type) == 1);
  CHECK(unknown("ai.onnx.ml", "TreeEnsembleClassifier") == 1);
  CHECK(unknown("", "RegexFullMatch", DataType::string) == 1);
  CHECK(unknown("com.microsoft", "Tokenizer", DataType::string) == 1);
  // Copies, random numbers, a few operations.
  for (const auto* gradient : {"Dropout", "GatherNDGrad", "ClipGrad"}) CHECK(unknown("benanza", gradient) == 0);
  for (const auto* type : {"StringConcat", "ReverseSequence"}) CHECK(unknown("", type, DataType::string) == 0);
}

TEST_CASE("attention reads what of its cache it sees, and hands the cache on without a copy") {
  GraphBuilder g;
  const auto token = g.map("Relu", {g.input({1, 1, 64})});
  const auto cached_k = g.input({1, 2, 99, 16}), cached_v = g.input({1, 2, 99, 16});
  const auto k = g.map("Exp", {g.input({1, 1, 32})}), v = g.map("Exp", {g.input({1, 1, 32})});
  const auto y =
      g.node_of("Attention", {token, k, v, cached_k, cached_v}, {{1, 1, 64}, {1, 2, 100, 16}, {1, 2, 100, 16}},
                {{"q_num_heads", std::int64_t{4}},
                 {"kv_num_heads", std::int64_t{2}},
                 {"is_causal", std::int64_t{1}},
                 {"left_window_size", std::int64_t{24}}});
  auto& inputs = g.last().inputs;
  inputs.insert(inputs.begin() + 3, std::nullopt);  // no mask
  for (const auto id : y) g.output(id);
  const LayerGraph graph = make_layer_graph(g.graph());
  const Occurrence& at = graph.layers.back();
  CHECK(LayerSignature(at.layer).text() ==
        "Attention/f32/q=1x4x1x16/k=1x2x100x16/v=1x2x100x16/q_tokens_first=1/y_tokens_first=1/past=99/before=24");
  // The token, and the last 25 of 100 keys and values.
  CHECK(at.read_activations.value == Approx((64 + 2 * 100 * 32 * 0.25) * 4));
  CHECK(at.written.value == 64 * 4);
  // The result, the key and the value; the cached elements are already there.
  CHECK(graph.model_writes.value == (64 + 32 + 32) * 4);
}

TEST_CASE("a size that comes from constants alone becomes unknown where it is read") {
  GraphBuilder g;
  const auto places = g.weight({2, 0}, DataType::i64);  // a NonZero of weights: not a node of the graph
  const auto y = g.node("Gather", {g.input({4, 6}), places}, {2, 0, 6});
  for (const auto id : {places, y}) g.graph().values[id].data_dependent = true;
  g.output(y);
  const LayerGraph graph = make_layer_graph(g.graph());
  REQUIRE(graph.unknown.size() == 1);
  CHECK_THAT(graph.unknown[0], Catch::Contains("'Gather_0' (Gather)"));
}

TEST_CASE("a scan's sequence is read slice by slice, its source stays a value of the graph") {
  GraphBuilder g;
  const auto sequence = g.map("Relu", {g.input({5, 8})});
  GraphBuilder body("body");
  const auto element = body.input({8});
  body.output(body.map("Exp", {element}));
  g.output(g.node("Scan", {sequence}, {5, 8}, {{"num_scan_inputs", std::int64_t{1}}}));
  g.last().bodies.push_back({"body", body.graph()});
  g.last().trip_count = 5;
  const LayerGraph graph = make_layer_graph(g.graph());
  REQUIRE(graph.layers.size() == 2);
  CHECK(graph.layers[1].repeat == 5);
  CHECK(graph.layers[1].serial_repeat == 1);
  CHECK(from(graph.layers[1]) == std::vector<std::size_t>{0});
  CHECK(graph.layers[1].read_activations.value == 8 * 4);
  CHECK(graph.tensors[graph.layers[0].outputs[0]].output);
}

TEST_CASE("an If has its branches' layers, whose results meet in one tensor") {
  GraphBuilder g;
  const auto x = g.input({8});
  const auto condition = g.node("Greater", {x, x}, {8}, {}, DataType::boolean);
  GraphBuilder yes("then_branch"), no("else_branch");
  yes.output(yes.map("Exp", {yes.capture(g.graph(), x)}));
  no.output(no.map("Tanh", {no.capture(g.graph(), x)}));
  const auto joined = g.node("If", {condition}, {8});
  g.last().bodies.push_back({"then_branch", yes.graph()});
  g.last().bodies.push_back({"else_branch", no.graph()});
  g.output(g.map("Relu", {joined}));
  const LayerGraph graph = make_layer_graph(g.graph());
  REQUIRE(graph.layers.size() == 4);
  CHECK(graph.layers[1].branches == std::vector<Branch>{{0, 0}});
  CHECK(graph.layers[2].branches == std::vector<Branch>{{0, 1}});
  CHECK(graph.layers[3].branches.empty());
  CHECK(from(graph.layers[3]) == std::vector<std::size_t>{1, 2});
  CHECK(graph.layers[3].read_activations.value == 8 * 4);  // one of the two
  REQUIRE(graph.choices.size() == 1);
  CHECK(graph.choices[0].node == "If_1");
  CHECK(graph.choices[0].labels == std::vector<std::string>{"then_branch", "else_branch"});
  CHECK(graph.tensors[graph.layers[0].outputs[0]].output);  // the If reads it
}
