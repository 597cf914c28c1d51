// SPDX-License-Identifier: Apache-2.0
#include "support/catch.hpp"
#include "support/fusion_support.hpp"
#include <benanza/fusion/default_patterns.hpp>
#include <benanza/fusion/fuse.hpp>
#include <benanza/fusion/model_layers.hpp>
#include <benanza/model/layer_signature.hpp>

#include <algorithm>
#include <map>

namespace {

using namespace benanza;
using namespace benanza::testing;
using Dims = GraphBuilder::Dims;

const std::string conv = "Conv/f32/x=1x8x16x16/w=8x8x3x3/pads=1x1x1x1";

}  // namespace

TEST_CASE("convolution, batch norm, residual add and activation are one call in the orders that exporters write") {
  GraphBuilder g;
  const auto x = g.input({1, 8, 16, 16}), residual = g.input({1, 8, 16, 16});
  SECTION("conv bn relu") {
    CHECK(only_group(g, g.map("Relu", {g.batch_norm(g.conv(x, 8))})) == named(conv + "/post=bias,relu"));
  }
  SECTION("conv with bias, bn, relu") {
    CHECK(only_group(g, g.map("Relu", {g.batch_norm(g.conv(x, 8, true))})) == named(conv + "/post=bias,relu"));
  }
  SECTION("conv bn add relu") {
    CHECK(only_group(g, g.map("Relu", {g.map("Add", {g.batch_norm(g.conv(x, 8)), residual})})) ==
          named(conv + "/post=bias,add,relu"));
  }
  SECTION("the residual first") {
    CHECK(only_group(g, g.map("Relu", {g.map("Add", {residual, g.batch_norm(g.conv(x, 8))})})) ==
          named(conv + "/post=bias,add,relu"));
  }
  SECTION("conv relu add") {
    CHECK(only_group(g, g.map("Add", {g.map("Relu", {g.conv(x, 8)}), residual})) == named(conv + "/post=relu,add"));
  }
  SECTION("bias as a node") {
    CHECK(only_group(g, g.map("Add", {g.conv(x, 8), g.weight({8, 1, 1})})) == named(conv + "/post=bias"));
  }
  SECTION("scale and shift as nodes") {
    CHECK(only_group(g, g.map("Add", {g.map("Mul", {g.conv(x, 8), g.weight({1, 8, 1, 1})}), g.weight({8, 1, 1})})) ==
          named(conv + "/post=mul:channel,bias"));
  }
  SECTION("a gate") {
    CHECK(only_group(g, g.map("Mul", {g.conv(x, 8), g.input({1, 8, 1, 1})})) == named(conv + "/post=mul:1x8x1x1"));
  }
  SECTION("a difference the other way round") {
    CHECK(only_group(g, g.map("Sub", {residual, g.conv(x, 8)})) == named(conv + "/post=sub:swapped"));
  }
  SECTION("clip") {
    CHECK(only_group(g, g.node("Clip", {g.conv(x, 8), g.number(0), g.number(6)}, {1, 8, 16, 16})) ==
          named(conv + "/post=clip:0:6"));
  }
}

TEST_CASE("a group knows its shorter beginnings, so that the cheapest partition can be taken") {
  GraphBuilder g;
  g.output(g.map("Relu", {g.map("Add", {g.batch_norm(g.conv(g.input({1, 8, 16, 16}), 8)), g.input({1, 8, 16, 16})})}));
  const LayerGraph graph = fused(g);
  REQUIRE(graph.layers.size() == 1);
  std::vector<std::pair<std::size_t, std::string>> pieces;
  for (const auto& piece : graph.layers[0].pieces) {
    CHECK(piece.first == 0);
    pieces.emplace_back(piece.count, LayerSignature(piece.layer).text());
  }
  using Pieces = std::vector<std::pair<std::size_t, std::string>>;
  CHECK(pieces == Pieces{{4, named(conv + "/post=bias,add,relu")},
                         {3, named(conv + "/post=bias,add")},
                         {2, named(conv + "/post=bias")}});
  CHECK(graph.layers[0].nodes == Signatures{"Conv_0", "BatchNormalization_1", "Add_2", "Relu_3"});
}

TEST_CASE("where two convolutions meet, one takes the add and the other keeps its batch norm") {
  GraphBuilder g;
  const auto x = g.input({1, 8, 16, 16});
  const auto left = g.batch_norm(g.conv(x, 8)), right = g.batch_norm(g.conv(x, 8));
  g.output(g.map("Relu", {g.map("Add", {left, right})}));
  const LayerGraph graph = fused(g);
  CHECK(signatures(graph) == Signatures{named(conv + "/post=bias"), named(conv + "/post=bias,add,relu")});
  CHECK(graph.layers[1].predecessors == std::vector<Predecessor>{{0, true}});  // the other branch enters at the end
}

TEST_CASE("a value that has another use is not absorbed") {
  GraphBuilder g;
  const auto y = g.conv(g.input({1, 8, 16, 16}), 8);
  g.output(g.map("Relu", {y})).output(g.map("Softmax", {y}, {{"axis", std::int64_t{1}}}));
  CHECK(fused(g).layers.size() == 3);
}

TEST_CASE("a value that one layer uses twice is not absorbed") {
  GraphBuilder g;
  const auto y = g.conv(g.input({1, 8, 16, 16}), 8);
  g.output(g.map("Mul", {y, y}));
  CHECK(fused(g).layers.size() == 2);
}

TEST_CASE("an output of the graph is not absorbed") {
  GraphBuilder g;
  const auto y = g.conv(g.input({1, 8, 16, 16}), 8);
  g.output(y).output(g.map("Relu", {y}));
  CHECK(fused(g).layers.size() == 2);
}

TEST_CASE("a beginning is still one call where the end has another use") {
  GraphBuilder g;
  const auto y = g.batch_norm(g.conv(g.input({1, 8, 16, 16}), 8));
  g.output(y).output(g.map("Relu", {y}));
  CHECK(signatures(fused(g)) == Signatures{named(conv + "/post=bias"), named("Unary/f32/fn=relu/x=2048")});
}

TEST_CASE("a matrix product takes bias, view, residual and activation") {
  GraphBuilder g;
  const auto x = g.input({2, 16, 32});
  const auto product = g.node("MatMul", {x, g.weight({32, 64})}, {2, 16, 64});
  SECTION("bias, relu") {
    CHECK(only_group(g, g.map("Relu", {g.node("Add", {g.weight({64}), product}, {2, 16, 64})})) ==
          named("MatMul/f32/a=32x32/b=32x64/b_constant=1/post=bias,relu"));
  }
  SECTION("the bias of a single row") {
    GraphBuilder r;
    CHECK(only_group(r, r.map("Add", {r.node("MatMul", {r.input({1, 256}), r.weight({256, 10})}, {1, 10}),
                                      r.weight({1, 10})})) ==
          named("MatMul/f32/a=1x256/b=256x10/b_constant=1/post=bias"));
  }
  SECTION("bias, reshape, residual of the new shape") {
    const auto view = g.node("Reshape", {g.map("Add", {product, g.weight({64})}), g.ints({32, 64})}, {32, 64});
    CHECK(only_group(g, g.map("Add", {view, g.input({32, 64})})) ==
          named("MatMul/f32/a=32x32/b=32x64/b_constant=1/post=bias,add"));
  }
  SECTION("a mask of scores") {
    GraphBuilder s;
    const auto scores = s.node("MatMul", {s.input({1, 4, 16, 8}), s.input({1, 4, 8, 16})}, {1, 4, 16, 16});
    const auto scaled = s.map("Mul", {scores, s.number(0.35)});
    CHECK(only_group(s, s.map("Add", {scaled, s.input({1, 1, 16, 16})})) ==
          named("MatMul/f32/a=4x16x8/b=4x8x16/post=mul:1x1x1,add:1x16x16"));
  }
  SECTION("a row of one batch entry only does not fit") {
    g.output(g.map("Add", {product, g.input({1, 16, 64})}));
    CHECK(fused(g).layers.size() == 2);
  }
}

TEST_CASE("batch norm folds into weights only where its channels are the product's") {
  GraphBuilder g;
  SECTION("columns of a 2-D product") {
    const auto y = g.node("MatMul", {g.input({16, 32}), g.weight({32, 64})}, {16, 64});
    CHECK(only_group(g, g.batch_norm(y)) == named("MatMul/f32/a=16x32/b=32x64/b_constant=1/post=bias"));
  }
  SECTION("the second dimension of a 3-D product is not a column") {
    g.output(g.batch_norm(g.node("MatMul", {g.input({2, 16, 32}), g.weight({32, 64})}, {2, 16, 64})));
    CHECK(fused(g).layers.size() == 2);
  }
  SECTION("a view gave the convolution's result other channels") {
    const auto view = g.node("Reshape", {g.conv(g.input({1, 8, 16, 16}), 8), g.ints({1, 16, 128})}, {1, 16, 128});
    g.output(g.batch_norm(view));
    CHECK(fused(g).layers.size() == 3);
  }
}

TEST_CASE("chains of element-wise layers are one call, named alike whatever the order of operands") {
  // x times a gate per channel, then relu: as 8x256 and 8x1, with the larger operand first.
  const std::string name = named("Binary/f32/fn=mul/a=8x256/b=8x1/post=relu");
  GraphBuilder one;
  CHECK(only_group(one, one.map("Relu", {one.map("Mul", {one.input({1, 8, 16, 16}), one.input({1, 8, 1, 1})})})) ==
        name);
  GraphBuilder other;
  const auto gate = other.input({1, 8, 1, 1}), x = other.input({1, 8, 16, 16});
  CHECK(only_group(other, other.map("Relu", {other.node("Mul", {gate, x}, {1, 8, 16, 16})})) == name);
}

TEST_CASE("an operand of before opset 7 that stands for an axis is not taken for another") {
  GraphBuilder g("old", 6);
  const auto x = g.input({1, 8, 8, 8});
  const auto shifted = g.map("Add", {x, g.input({8})}, {{"broadcast", std::int64_t{1}}, {"axis", std::int64_t{1}}});
  g.output(g.map("Relu", {shifted}));
  const LayerGraph graph = fused(g);
  REQUIRE(graph.layers.size() == 1);
  CHECK(LayerSignature(graph.layers[0].layer).text() == named("Binary/f32/a=8x64/b=8x1/post=relu"));
}

TEST_CASE("batch norm and relu of a pre-activation network are one call") {
  GraphBuilder g;
  CHECK(only_group(g, g.map("Relu", {g.batch_norm(g.input({1, 8, 16, 16}))})) ==
        named("BatchNorm/f32/x=1x8x256/post=relu"));
}

// Activations written out. The functions are those of the papers: SiLU x s(x) (Elfwing et al.), GELU x Phi(x) and its
// tanh form (Hendrycks and Gimpel), hard swish x relu6(x + 3) / 6 (Howard et al.), mish x tanh(softplus(x)) (Misra).

TEST_CASE("SiLU is recognised in parts") {
  GraphBuilder g;
  const auto x = g.input({4, 32});
  const std::string silu = named("Unary/f32/fn=swish/x=128/alpha=1");
  SECTION("x * sigmoid(x)") { CHECK(only_group(g, g.map("Mul", {x, g.map("Sigmoid", {x})})) == silu); }
  SECTION("sigmoid(x) * x") { CHECK(only_group(g, g.map("Mul", {g.map("Sigmoid", {x}), x})) == silu); }
  SECTION("x / (1 + exp(-x))") {
    CHECK(only_group(g, g.map("Div", {x, g.map("Add", {g.map("Exp", {g.map("Neg", {x})}), g.number(1)})})) == silu);
  }
}

TEST_CASE("GELU is recognised in parts, its erf and tanh forms apart") {
  GraphBuilder g;
  const auto x = g.input({4, 32});
  const auto mul = [&](ValueId a, ValueId b) { return g.node("Mul", {a, b}, {4, 32}); };
  const auto add = [&](ValueId a, ValueId b) { return g.node("Add", {a, b}, {4, 32}); };
  SECTION("x (1 + erf(x / sqrt 2)) 0.5, as PyTorch writes it") {
    const auto e = add(g.map("Erf", {g.map("Div", {x, g.number(1.41421356)})}), g.number(1));
    CHECK(only_group(g, mul(mul(x, e), g.number(0.5))) == named("Unary/f32/fn=gelu/x=128"));
  }
  SECTION("(0.5 x) (erf(0.7071 x) + 1)") {
    const auto half = mul(g.number(0.5), x);
    const auto e = add(g.number(1), g.map("Erf", {mul(x, g.number(0.70710678))}));
    CHECK(only_group(g, mul(e, half)) == named("Unary/f32/fn=gelu/x=128"));
  }
  SECTION("0.5 x + 0.5 x erf(x / sqrt 2)") {
    const auto half = mul(x, g.number(0.5));
    CHECK(only_group(g, add(half, mul(half, g.map("Erf", {mul(x, g.number(0.70710678))})))) ==
          named("Unary/f32/fn=gelu/x=128"));
  }
  SECTION("tanh form with Pow, as GPT-2 writes it") {
    const auto cube = g.map("Pow", {x, g.number(3)});
    const auto inner = mul(add(x, mul(cube, g.number(0.044715))), g.number(0.79788456));
    CHECK(only_group(g, mul(mul(x, g.number(0.5)), add(g.map("Tanh", {inner}), g.number(1)))) ==
          named("Unary/f32/fn=gelu_tanh/x=128"));
  }
  SECTION("tanh form with products") {
    const auto cube = mul(x, mul(x, x));
    const auto inner = mul(g.number(0.79788456), add(mul(g.number(0.044715), cube), x));
    CHECK(only_group(g, mul(g.number(0.5), mul(x, add(g.number(1), g.map("Tanh", {inner}))))) ==
          named("Unary/f32/fn=gelu_tanh/x=128"));
  }
}

TEST_CASE("hard swish and mish are recognised in parts") {
  GraphBuilder g;
  const auto x = g.input({4, 32});
  const auto relu6 = [&] { return g.map("Clip", {g.map("Add", {x, g.number(3)}), g.number(0), g.number(6)}); };
  SECTION("x relu6(x + 3) / 6") {
    CHECK(only_group(g, g.map("Div", {g.map("Mul", {x, relu6()}), g.number(6)})) ==
          named("Unary/f32/fn=hard_swish/x=128"));
  }
  SECTION("x (relu6(x + 3) / 6)") {
    CHECK(only_group(g, g.map("Mul", {x, g.map("Div", {relu6(), g.number(6)})})) ==
          named("Unary/f32/fn=hard_swish/x=128"));
  }
  SECTION("x hard_sigmoid(x)") {
    const auto gate = g.map("HardSigmoid", {x}, {{"alpha", 0.1666666716337204}, {"beta", 0.5}});
    CHECK(only_group(g, g.map("Mul", {gate, x})) == named("Unary/f32/fn=hard_swish/x=128"));
  }
  SECTION("mish") {
    CHECK(only_group(g, g.map("Mul", {x, g.map("Tanh", {g.map("Softplus", {x})})})) ==
          named("Unary/f32/fn=mish/x=128"));
  }
}

TEST_CASE("an activation joins the product before it") {
  GraphBuilder g;
  const auto y = g.conv(g.input({1, 8, 16, 16}), 8, true);
  CHECK(only_group(g, g.map("Mul", {y, g.map("Sigmoid", {y})})) == named(conv + "/post=bias,swish:1"));
}

TEST_CASE("what only looks like an activation is not one") {
  GraphBuilder g;
  const auto x = g.input({4, 32});
  SECTION("another function") { g.output(g.map("Mul", {x, g.map("Tanh", {x})})); }
  SECTION("a gate of another value") { g.output(g.map("Mul", {g.input({4, 32}), g.map("Sigmoid", {x})})); }
  SECTION("SiLU whose sigmoid has another use") {
    const auto gate = g.map("Sigmoid", {x});
    g.output(gate).output(g.map("Mul", {x, gate}));
  }
  for (const auto& text : signatures(fused(g))) CHECK(text.find("swish") == std::string::npos);
}

// Norms written out. RMS norm: x / sqrt(mean(x^2) + e) * w (Zhang and Sennrich); layer norm: (x - mean) / sqrt(var + e)
// * w + b (Ba et al.).

TEST_CASE("RMS norm is recognised in parts") {
  GraphBuilder g;
  const auto x = g.input({1, 16, 64}), w = g.weight({64});
  const auto mean_of = [&](ValueId squares) { return g.node("ReduceMean", {squares, g.ints({-1})}, {1, 16, 1}); };
  const auto shifted = [&](ValueId mean) { return g.map("Add", {mean, g.number(1e-6)}); };
  const std::string rms = "LayerNorm/f32/x=16x64/rms=1";
  SECTION("Pow, Sqrt, Reciprocal, as torch.onnx's exporters write Llama") {
    const auto root = g.map("Reciprocal", {g.map("Sqrt", {shifted(mean_of(g.map("Pow", {x, g.number(2)})))})});
    CHECK(only_group(g, g.node("Mul", {w, g.map("Mul", {x, root})}, {1, 16, 64})) == named(rms));
  }
  SECTION("Mul, Sqrt, 1 / root") {
    const auto root = g.node("Div", {g.number(1), g.map("Sqrt", {shifted(mean_of(g.map("Mul", {x, x})))})}, {1, 16, 1});
    CHECK(only_group(g, g.map("Mul", {g.map("Mul", {x, root}), w})) == named(rms));
  }
  SECTION("the power -1/2") {
    const auto root = g.map("Pow", {shifted(mean_of(g.map("Mul", {x, x}))), g.number(-0.5)});
    CHECK(only_group(g, g.map("Mul", {g.node("Mul", {root, x}, {1, 16, 64}), w})) == named(rms));
  }
  SECTION("x / root, without scale") {
    const auto root = g.map("Sqrt", {shifted(mean_of(g.map("Pow", {x, g.number(2)})))});
    CHECK(only_group(g, g.map("Div", {x, root})) == named("LayerNorm/f32/x=16x64/rms=1/scale=0"));
  }
  SECTION("root / x is not one") {
    const auto root = g.map("Sqrt", {shifted(mean_of(g.map("Pow", {x, g.number(2)})))});
    g.output(g.node("Div", {root, x}, {1, 16, 64}));
    for (const auto& text : signatures(fused(g))) CHECK_FALSE(text.starts_with("LayerNorm"));
  }
}

TEST_CASE("layer norm is recognised in parts") {
  GraphBuilder g;
  const auto x = g.input({1, 16, 64}), w = g.weight({64}), b = g.weight({64});
  const auto mean_of = [&](ValueId values) { return g.node("ReduceMean", {values, g.ints({-1})}, {1, 16, 1}); };
  const auto centered = g.map("Sub", {x, mean_of(x)});
  const std::string norm = "LayerNorm/f32/x=16x64/bias=1";
  SECTION("Pow and Div") {
    const auto root = g.map("Sqrt", {g.map("Add", {mean_of(g.map("Pow", {centered, g.number(2)})), g.number(1e-5)})});
    CHECK(only_group(g, g.map("Add", {g.map("Mul", {g.map("Div", {centered, root}), w}), b})) == named(norm));
  }
  SECTION("Mul and Reciprocal, operands exchanged") {
    const auto root = g.map(
        "Reciprocal",
        {g.map("Sqrt", {g.node("Add", {g.number(1e-5), mean_of(g.map("Mul", {centered, centered}))}, {1, 16, 1})})});
    const auto scaled = g.node("Mul", {w, g.node("Mul", {root, centered}, {1, 16, 64})}, {1, 16, 64});
    CHECK(only_group(g, g.node("Add", {b, scaled}, {1, 16, 64})) == named(norm));
  }
  SECTION("the scale alone, where the bias is not a constant") {
    const auto root = g.map("Sqrt", {g.map("Add", {mean_of(g.map("Pow", {centered, g.number(2)})), g.number(1e-5)})});
    g.output(g.map("Add", {g.map("Mul", {g.map("Div", {centered, root}), w}), g.input({64})}));
    const LayerGraph graph = fused(g);
    REQUIRE(graph.layers.size() == 1);  // an expression, or the norm and the sum
    CHECK(kind(graph.layers[0].layer) == "Expression");
    CHECK(std::any_of(graph.layers[0].pieces.begin(), graph.layers[0].pieces.end(), [](const Piece& piece) {
      return LayerSignature(piece.layer).text() == named("LayerNorm/f32/x=16x64");
    }));
  }
}

TEST_CASE("attention is gathered with scale and mask") {
  GraphBuilder g;
  const auto q = g.input({1, 4, 16, 8}), k = g.input({1, 4, 8, 32}),
             v = g.input({1, 4, 32, 8});  // k is already transposed: depth by keys
  const auto scores = g.node("MatMul", {q, k}, {1, 4, 16, 32});
  const std::string attention = "Attention/f32/q=1x4x16x8/k=1x4x32x8/v=1x4x32x8/k_transposed=1";
  const auto mix = [&](ValueId weights) { return g.node("MatMul", {weights, v}, {1, 4, 16, 8}); };
  const auto softmax = [&](ValueId s) { return g.map("Softmax", {s}, {{"axis", std::int64_t{-1}}}); };
  SECTION("scale, mask") {
    const auto masked = g.map("Add", {g.map("Mul", {scores, g.number(0.35)}), g.input({1, 1, 16, 32})});
    CHECK(only_group(g, mix(softmax(masked))) == named(attention + "/mask=1x1x16x32"));
  }
  SECTION("divided, mask first in its sum") {
    const auto masked = g.node("Add", {g.input({16, 32}), g.map("Div", {scores, g.number(2.83)})}, {1, 4, 16, 32});
    CHECK(only_group(g, mix(softmax(masked))) == named(attention + "/mask=1x1x16x32"));
  }
  SECTION("a mask that says what is seen") {
    const auto seen = g.input({1, 1, 16, 32}, DataType::boolean);
    const auto masked = g.node("Where", {seen, g.map("Mul", {scores, g.number(0.35)}), g.number(-1e4)}, {1, 4, 16, 32});
    CHECK(only_group(g, mix(softmax(masked))) == named(attention + "/mask=1x1x16x32/mask_type=bool"));
  }
  SECTION("one that says what is hidden, if it is constant") {
    const bool is_constant = GENERATE(true, false);
    const auto hidden = is_constant ? g.weight({16, 32}, DataType::boolean) : g.input({16, 32}, DataType::boolean);
    g.output(mix(softmax(g.node("Where", {hidden, g.number(-1e9), scores}, {1, 4, 16, 32}))));
    CHECK(fused(g).layers.size() == (is_constant ? 1 : 3));  // Where and softmax are one expression
  }
  SECTION("a number that softmax does not make zero hides nothing") {
    const auto seen = g.input({16, 32}, DataType::boolean);
    g.output(mix(softmax(g.node("Where", {seen, scores, g.number(-1)}, {1, 4, 16, 32}))));
    CHECK(fused(g).layers.size() == 3);
  }
  SECTION("neither") { CHECK(only_group(g, mix(softmax(scores))) == named(attention)); }
  SECTION("the scores' product with scale and mask is one call too") {
    g.output(mix(softmax(g.map("Add", {g.map("Mul", {scores, g.number(0.35)}), g.input({1, 1, 16, 32})}))));
    const auto layers = fused(g).layers;
    REQUIRE(layers.size() == 1);
    REQUIRE(layers[0].pieces.size() == 3);
    CHECK(layers[0].pieces[1].count == 3);
    CHECK(LayerSignature(layers[0].pieces[1].layer).text() ==
          named("MatMul/f32/a=4x16x8/b=4x8x32/post=mul:1x1x1,add:1x16x32"));
  }
  SECTION("a number divided by the scores is not attention") {
    g.output(mix(softmax(g.node("Div", {g.number(2.83), scores}, {1, 4, 16, 32}))));
    for (const auto& layer : fused(g).layers)
      for (const auto& piece : layer.pieces) CHECK_FALSE(LayerSignature(piece.layer).text().starts_with("Attention"));
  }
  SECTION("softmax over another axis is not attention") {
    g.output(mix(g.map("Softmax", {scores}, {{"axis", std::int64_t{-2}}})));
    CHECK(fused(g).layers.size() == 3);
  }
  SECTION("weights that are an output too are not absorbed") {
    const auto weights = softmax(scores);
    g.output(weights).output(mix(weights));
    CHECK(fused(g).layers.size() == 3);
  }
}

TEST_CASE("a position bias and the mask of shifted windows are one mask if both are constant") {
  GraphBuilder g;
  const bool is_constant = GENERATE(true, false);
  // Four windows of 16 tokens, three heads of 8. There is one mask per window and one bias per head.
  const auto scores = g.node("MatMul", {g.input({4, 3, 16, 8}), g.input({4, 3, 8, 16})}, {4, 3, 16, 16});
  const auto biased = g.map("Add", {scores, g.weight({1, 3, 16, 16})});
  const auto by_window = g.node("Reshape", {biased, g.ints({1, 4, 3, 16, 16})}, {1, 4, 3, 16, 16});
  const auto mask = is_constant ? g.weight({1, 4, 1, 16, 16}) : g.input({1, 4, 1, 16, 16});
  const auto masked = g.node("Reshape", {g.map("Add", {by_window, mask}), g.ints({4, 3, 16, 16})}, {4, 3, 16, 16});
  const auto weights = g.map("Softmax", {masked}, {{"axis", std::int64_t{-1}}});
  g.output(g.node("MatMul", {weights, g.input({4, 3, 16, 8})}, {4, 3, 16, 8}));
  const auto found = signatures(fused(g));
  const std::string attention = "Attention/f32/q=4x3x16x8/k=4x3x16x8/v=4x3x16x8/mask=4x3x16x16/k_transposed=1";
  CHECK((found.size() == 1) == is_constant);
  CHECK((found[0] == named(attention)) == is_constant);
}

TEST_CASE("attention takes in the transposes around it, and a factor on queries or keys") {
  GraphBuilder g;
  using Perm = std::vector<std::int64_t>;
  const auto transposed = [&](ValueId x, Perm perm, Perm dims) {
    return g.node("Transpose", {x}, std::move(dims), {{"perm", std::move(perm)}});
  };
  // In the order of projections: two entries of 16 queries (32 keys) by 4 heads of 8.
  const auto q = g.input({2, 16, 4, 8}), k = g.input({2, 32, 4, 8}), v = g.input({2, 32, 4, 8});
  const std::string shapes = "Attention/f32/q=2x4x16x8/k=2x4x32x8/v=2x4x32x8";
  const auto heads = [&](ValueId x, std::int64_t tokens) { return transposed(x, {0, 2, 1, 3}, {2, 4, tokens, 8}); };
  const auto attend = [&](ValueId of_q, ValueId of_k, ValueId of_v) {
    const auto scores = g.node("MatMul", {of_q, of_k}, {2, 4, 16, 32});
    return g.node("MatMul", {g.map("Softmax", {scores}, {{"axis", std::int64_t{-1}}}), of_v}, {2, 4, 16, 8});
  };
  SECTION("one transpose an operand") {
    const auto of_q = heads(q, 16), of_k = transposed(k, {0, 2, 3, 1}, {2, 4, 8, 32}), of_v = heads(v, 32);
    CHECK(only_group(g, transposed(attend(of_q, of_k, of_v), {0, 2, 1, 3}, {2, 16, 4, 8})) ==
          named(shapes + "/q_tokens_first=1/k_tokens_first=1/v_tokens_first=1/y_tokens_first=1"));
  }
  SECTION("the attention without them is one call too") {
    const auto of_q = heads(q, 16), of_k = transposed(k, {0, 2, 3, 1}, {2, 4, 8, 32}), of_v = heads(v, 32);
    g.output(attend(of_q, of_k, of_v));
    const auto layers = fused(g).layers;
    REQUIRE(layers.size() == 1);
    REQUIRE(layers[0].pieces.size() == 2);
    CHECK(layers[0].pieces[0].count == 6);
    CHECK(layers[0].pieces[1].first == 3);
    CHECK(layers[0].pieces[1].count == 3);
    CHECK(LayerSignature(layers[0].pieces[1].layer).text() == named(shapes + "/k_transposed=1"));
  }
  SECTION(
      "two transposes with reshapes in between, and factors") {  // as torch.onnx writes scaled_dot_product_attention
    const auto of_q = g.map("Mul", {heads(q, 16), g.number(0.6)});
    const auto flat = g.node("Reshape", {heads(k, 32), g.ints({-1, 32, 8})}, {8, 32, 8});
    const auto turned =
        g.node("Reshape", {transposed(flat, {0, 2, 1}, {8, 8, 32}), g.ints({2, 4, 8, 32})}, {2, 4, 8, 32});
    const auto of_k = g.map("Mul", {turned, g.number(0.6)}), of_v = heads(v, 32);
    CHECK(only_group(g, attend(of_q, of_k, of_v)) ==
          named(shapes + "/q_tokens_first=1/k_tokens_first=1/v_tokens_first=1"));
  }
  SECTION("heads of keys and values that are repeated for groups of queries") {
    // Two heads of keys and values, each shared by two heads of queries.
    const auto repeated = [&](ValueId x, std::int64_t times) {
      const auto apart = g.node("Unsqueeze", {x, g.ints({2})}, {2, 4 / times, 1, 32, 8});
      const auto more = g.node("Expand", {apart, g.ints({2, 4 / times, times, 32, 8})}, {2, 4 / times, times, 32, 8});
      return g.node("Reshape", {more, g.ints({2, 4, 32, 8})}, {2, 4, 32, 8});
    };
    const auto turned = [&](ValueId x) { return transposed(x, {0, 1, 3, 2}, {2, 4, 8, 32}); };
    SECTION("are read once") {
      const auto cached_k = g.input({2, 2, 32, 8}), cached_v = g.input({2, 2, 32, 8});
      const auto found = only_group(g, attend(heads(q, 16), turned(repeated(cached_k, 2)), repeated(cached_v, 2)));
      CHECK(found == named("Attention/f32/q=2x4x16x8/k=2x2x32x8/v=2x2x32x8/q_tokens_first=1"));
    }
    SECTION("as projections leave them") {
      const auto two_heads = [&](ValueId x) { return transposed(x, {0, 2, 1, 3}, {2, 2, 32, 8}); };
      const auto of_k = two_heads(g.input({2, 32, 2, 8})), of_v = two_heads(g.input({2, 32, 2, 8}));
      CHECK(only_group(g, attend(heads(q, 16), turned(repeated(of_k, 2)), repeated(of_v, 2))) ==
            named("Attention/f32/q=2x4x16x8/k=2x2x32x8/v=2x2x32x8/q_tokens_first=1/k_tokens_first=1/v_tokens_first=1"));
    }
    SECTION("remain where keys and values have different numbers of them") {
      const auto cached_k = g.input({2, 2, 32, 8}), cached_v = g.input({2, 1, 32, 8});
      g.output(attend(heads(q, 16), turned(repeated(cached_k, 2)), repeated(cached_v, 4)));
      CHECK(signatures(fused(g)).back() == named(shapes + "/q_tokens_first=1"));
    }
  }
  SECTION("a transpose that someone else reads, or that is another one, remains") {
    const auto of_q = heads(q, 16), of_k = transposed(k, {0, 2, 3, 1}, {2, 4, 8, 32});
    const auto other = transposed(g.input({2, 8, 4, 32}), {0, 2, 3, 1}, {2, 4, 32, 8});
    g.output(of_q).output(attend(of_q, of_k, other));
    const LayerGraph graph = fused(g);
    REQUIRE(graph.layers.size() == 3);
    CHECK(LayerSignature(graph.layers.back().layer).text() == named(shapes + "/k_tokens_first=1"));
  }
}

TEST_CASE("a gate is one element-wise call in addition to the product's epilogue") {
  GraphBuilder g;
  const auto x = g.input({16, 64});
  const auto gate = g.node("MatMul", {x, g.weight({64, 128})}, {16, 128});
  const auto silu = g.map("Mul", {gate, g.map("Sigmoid", {gate})});
  g.output(g.map("Mul", {silu, g.node("MatMul", {g.input({16, 64}), g.weight({64, 128})}, {16, 128})}));
  const auto layers = fused(g).layers;
  REQUIRE(layers.size() == 2);
  const auto& group = layers[1];  // after the other product
  CHECK(LayerSignature(group.layer).text() == named("MatMul/f32/a=16x64/b=64x128/b_constant=1/post=swish:1,mul"));
  const auto piece = std::find_if(group.pieces.begin(), group.pieces.end(),
                                  [](const Piece& p) { return p.first == 1 && p.count == 3; });
  REQUIRE(piece != group.pieces.end());  // sigmoid, product, product
  CHECK(LayerSignature(piece->layer).text() == named("Unary/f32/fn=swish/x=2048/alpha=1/post=mul"));
}

TEST_CASE("a group's bytes are its own operands and result, a folded batch norm is one vector") {
  GraphBuilder g;
  g.output(g.map("Relu", {g.map("Add", {g.batch_norm(g.conv(g.input({1, 8, 16, 16}), 8)), g.input({1, 8, 16, 16})})}));
  const LayerGraph graph = fused(g);
  REQUIRE(graph.layers.size() == 1);
  CHECK(graph.layers[0].read_activations.value == 2 * 8 * 16 * 16 * 4);  // x and the residual
  CHECK(graph.layers[0].read_weights.value == (8 * 8 * 3 * 3 + 8) * 4);  // weights and bias
  CHECK(graph.layers[0].written.value == 8 * 16 * 16 * 4);
}

TEST_CASE("an operand that enters after the head is late, the head's own is not") {
  GraphBuilder g;
  const auto x = g.map("Exp", {g.input({1, 8, 16, 16})}), residual = g.map("Softmax", {x}, {{"axis", std::int64_t{1}}});
  g.output(g.map("Add", {g.conv(x, 8), residual}));
  const LayerGraph graph = fused(g);
  REQUIRE(graph.layers.size() == 3);
  CHECK(graph.layers[2].predecessors == std::vector<Predecessor>{{0, false}, {1, true}});
}

TEST_CASE("layers of a loop are not fused with those outside") {
  GraphBuilder g;
  const auto y = g.conv(g.input({1, 8, 16, 16}), 8);
  GraphBuilder body("body");
  body.input({}, DataType::i64);
  body.output(body.input({}, DataType::boolean));
  const auto state = body.input({1, 8, 16, 16});
  body.output(body.map("Relu", {body.conv(state, 8)}));
  g.output(g.node("Loop", {g.ints({3}), g.ints({1}), y}, {1, 8, 16, 16}));
  g.last().bodies.push_back({"body", body.graph()});
  g.last().trip_count = 3;
  const LayerGraph graph = fused(g);
  CHECK(signatures(graph) == Signatures{named(conv), named(conv + "/post=relu")});
  CHECK(graph.layers[0].repeat == 1);
  CHECK(graph.layers[1].repeat == 3);
}

TEST_CASE("a user's pattern goes before the default ones, an illegal match is ignored") {
  GraphBuilder g;
  const auto y = g.map("Relu", {g.conv(g.input({1, 8, 16, 16}), 8)});
  g.output(g.node("MaxPool", {y}, {1, 8, 8, 8}, {{"kernel_shape", Dims{2, 2}}, {"strides", Dims{2, 2}}}));
  const auto pattern = [](std::vector<std::size_t> members, std::vector<Piece> pieces) {
    return Pattern{"mine", [=](const LayerGraph&, std::size_t at) {
                     return at == 0 ? std::optional(Match{members, pieces}) : std::nullopt;
                   }};
  };
  const LayerGraph single = make_layer_graph(g.graph());
  const Layer layer = single.layers[0].layer;
  const auto count = [&](const Pattern& mine) { return fuse(single, std::vector{mine}).layers.size(); };
  CHECK(count(pattern({0, 1, 2}, {{0, 3, layer}})) == 1);
  CHECK(count(pattern({0, 1, 2}, {})) == 3);               // no plan for it
  CHECK(count(pattern({0, 1, 2}, {{0, 9, layer}})) == 3);  // more layers than there are
  CHECK(count(pattern({0, 1, 7}, {{0, 3, layer}})) == 3);
  CHECK(count(pattern({1, 0, 2}, {{0, 3, layer}})) == 3);  // out of order
  CHECK(count(pattern({0, 0, 1}, {{0, 3, layer}})) == 3);
  CHECK(count(pattern({0, 2}, {{0, 2, layer}})) == 3);  // the layer between them uses the first one's result
  CHECK(count(pattern({0, 1}, {{0, 2, op::Conv{.x = {1, 3, 8, 8}, .w = {4, 9, 3, 3}}}})) ==
        3);  // sizes that do not fit together
}

TEST_CASE("A layer is counted by form, and as a part of groups") {
  // conv + bias, batch norm, relu, softmax. With the batch norm folded into its weights, the convolution is the same
  // layer again, as a part of the group.
  GraphBuilder model("bn");
  model.output(
      model.map("Softmax", {model.map("Relu", {model.batch_norm(model.conv(model.input({1, 3, 8, 8}), 4, true))})}));
  std::map<std::string, std::vector<std::int64_t>> counts;
  const LayerSet layers = measurable_layers(make_model_layers(model.graph()));
  for (const auto& [signature, unique] : layers.layers()) {
    REQUIRE(unique.users.size() == 1);
    const Users& user = unique.users[0];
    counts[signature.text()] = {user.count, user.fused, user.parts};
  }
  const std::string conv = "Conv/f32/x=1x3x8x8/w=4x3x3x3/pads=1x1x1x1/post=";
  CHECK(counts[conv + "bias"] == std::vector<std::int64_t>{1, 0, 1});
  CHECK(counts[conv + "bias,relu"] == std::vector<std::int64_t>{0, 1, 0});
  CHECK(counts["Unary/f32/x=256"] == std::vector<std::int64_t>{1, 0, 0});
  const auto softmax = counts.lower_bound("Softmax");
  REQUIRE(softmax != counts.end());
  CHECK(softmax->second == std::vector<std::int64_t>{1, 1, 0});
}
