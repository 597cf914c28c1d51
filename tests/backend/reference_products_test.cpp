// SPDX-License-Identifier: Apache-2.0
// Convolution, products, attention and recurrence against arithmetic done by hand.
#include "backend/reference_support.hpp"
#include "support/catch.hpp"

#include <cmath>

using namespace benanza;
using test::run;
using Values = std::vector<double>;

TEST_CASE("a convolution sums over channels and in-range taps") {
  // 1 2 3 / 4 5 6 / 7 8 9 with a kernel of ones and a padding of one: the corner sums 1+2+4+5, the middle all nine.
  const Values x{1, 2, 3, 4, 5, 6, 7, 8, 9};
  const op::Conv conv{.x = {1, 1, 3, 3}, .w = {1, 1, 3, 3}, .pads = {1, 1, 1, 1}};
  CHECK(run(conv, {x, Values(9, 1)}) == Values{12, 21, 16, 27, 45, 33, 24, 39, 28});
  // Every second position: the four corners.
  const op::Conv strided{.x = {1, 1, 3, 3}, .w = {1, 1, 3, 3}, .pads = {1, 1, 1, 1}, .strides = {2, 2}};
  CHECK(run(strided, {x, Values(9, 1)}) == Values{12, 16, 24, 28});
  // Taps two elements apart: 1 + 3 + 7 + 9.
  const op::Conv dilated{.x = {1, 1, 3, 3}, .w = {1, 1, 2, 2}, .dilations = {2, 2}};
  CHECK(run(dilated, {x, Values(4, 1)}) == Values{20});
  // Asymmetric: one row above, one column behind. Row 0: 0*1 + x -> columns (1,2),(2,3),(3,_).
  const op::Conv uneven{.x = {1, 1, 3, 3}, .w = {1, 1, 2, 2}, .pads = {1, 0, 0, 1}};
  CHECK(run(uneven, {x, {1, 0, 0, 1}}) == Values{2, 3, 0, 1 + 5, 2 + 6, 3, 4 + 8, 5 + 9, 6});
}

TEST_CASE("the groups of a convolution see their own channels, and the epilogue follows in order") {
  // Two groups of one channel and two outputs each; 1 x 2 planes, 1 x 1 kernels.
  const op::Conv conv{.x = {1, 2, 1, 2},
                      .w = {4, 1, 1, 1},
                      .group = 2,
                      .post = {bias, ElementwiseFn::relu, {ElementwiseFn::sub, TensorShape{}, true}}};
  // Products: 1*(1,2), 2*(1,2), 3*(3,4), -4*(3,4); plus biases 10, 20, 30, 14; relu; then the operand minus that.
  CHECK(run(conv, {{1, 2, 3, 4}, {1, 2, 3, -4}, {10, 20, 30, 14}, Values(8, 100)}) ==
        Values{100 - 11, 100 - 12, 100 - 22, 100 - 24, 100 - 39, 100 - 42, 100 - 2, 100});
}

TEST_CASE("a 3-D convolution sums over three axes") {
  const op::Conv conv{.x = {1, 1, 2, 2, 2}, .w = {1, 1, 2, 2, 2}};
  CHECK(run(conv, {{1, 2, 3, 4, 5, 6, 7, 8}, {1, 0, 0, 0, 0, 0, 0, 10}}) == Values{81});
}

TEST_CASE("a quantised convolution keeps 32-bit sums or saturates") {
  op::Conv conv{
      .type = DataType::u8, .x = {1, 1, 1, 2}, .w = {2, 1, 1, 2}, .w_type = DataType::i8, .y_type = DataType::i32};
  const std::vector<Values> inputs{{200, 100}, {2, -1, -2, 1}};
  CHECK(run(conv, inputs) == Values{300, -300});
  conv.y_type = DataType::u8;
  CHECK(run(conv, inputs) == Values{255, 0});
  // (200 - 10) * 2 - (100 - 10) = 290, halved 145, and 3 more.
  CHECK(run(conv, inputs, 0, {.zero_point_a = 10, .zero_point_y = 3, .rescale = 0.5}) == Values{148, 0});
}

TEST_CASE("a transposed convolution spreads its input") {
  // Stride 2, kernel (1, 10, 100): 1 at 0, 2 at 2: 1 10 100+2 20 200.
  const op::ConvTranspose conv{.x = {1, 1, 1, 2}, .w = {1, 1, 1, 3}, .strides = {1, 2}};
  CHECK(run(conv, {{1, 2}, {1, 10, 100}}) == Values{1, 10, 102, 20, 200});
  // One cell is cut off in front, one is added behind.
  const op::ConvTranspose cut{
      .x = {1, 1, 1, 2}, .w = {1, 1, 1, 3}, .pads = {0, 1, 0, 0}, .strides = {1, 2}, .output_padding = {0, 1}};
  CHECK(run(cut, {{1, 2}, {1, 10, 100}}) == Values{10, 102, 20, 200, 0});
  // Two groups, each with one input and two output channels.
  const op::ConvTranspose grouped{.x = {1, 2, 1, 1}, .w = {2, 2, 1, 1}, .group = 2};
  CHECK(run(grouped, {{5, 7}, {1, 2, 3, 4}}) == Values{5, 10, 21, 28});
}

TEST_CASE("a matrix product takes transposed operands and broadcasts its batch") {
  // (1 2 3; 4 5 6) (1 2; 3 4; 5 6) = (22 28; 49 64)
  const Values y{22, 28, 49, 64};
  CHECK(run(op::MatMul{.a = {2, 3}, .b = {3, 2}}, {{1, 2, 3, 4, 5, 6}, {1, 2, 3, 4, 5, 6}}) == y);
  CHECK(run(op::MatMul{.a = {2, 3}, .b = {3, 2}, .trans_a = true, .trans_b = true},
            {{1, 4, 2, 5, 3, 6}, {1, 3, 5, 2, 4, 6}}) == y);
  const op::MatMul batched{.a = {2, 1, 1, 2}, .b = {3, 2, 1}};  // 2 x 3 products of (1 x 2) (2 x 1)
  CHECK(run(batched, {{1, 2, 3, 4}, {1, 0, 0, 1, 1, 1}}) == Values{1, 2, 3, 3, 4, 7});
  const op::MatMul with_bias{.a = {2, 3}, .b = {3, 2}, .post = {bias}};
  CHECK(run(with_bias, {{1, 2, 3, 4, 5, 6}, {1, 2, 3, 4, 5, 6}, {100, 200}}) == Values{122, 228, 149, 264});
}

TEST_CASE("a product of half-precision operands is computed from their exact values") {
  const op::MatMul product{.type = DataType::f16, .a = {1, 2}, .b = {2, 1}};
  CHECK(run(product, {{2048, 1}, {1, 1}}) == Values{2049});  // not rounded to half precision
  const op::MatMul brain{.type = DataType::bf16, .a = {1, 2}, .b = {2, 1}};
  CHECK(run(brain, {{0.5, 3}, {2, 0.25}}) == Values{1.75});
}

TEST_CASE("an einsum sums over the labels that its result lacks") {
  // ij,jk -> ki: the transposed product.
  const op::Einsum product{.a = {2, 3}, .b = {3, 2}, .a_labels = {0, 1}, .b_labels = {1, 2}, .y_labels = {2, 0}};
  CHECK(run(product, {{1, 2, 3, 4, 5, 6}, {1, 2, 3, 4, 5, 6}}) == Values{22, 49, 28, 64});
  // ii -> i: a diagonal; ii -> : the trace.
  CHECK(run(op::Einsum{.a = {2, 2}, .a_labels = {0, 0}, .y_labels = {0}, .two_operands = false}, {{1, 2, 3, 4}}) ==
        Values{1, 4});
  CHECK(run(op::Einsum{.a = {2, 2}, .a_labels = {0, 0}, .two_operands = false}, {{1, 2, 3, 4}}) == Values{5});
}

TEST_CASE("attention weighs the values by a softmax of the scaled scores") {
  // One query, two keys of depth 4: scores 4/2 and 0, weights e^2 and 1.
  const double e2 = std::exp(2.0), first = e2 / (e2 + 1);
  const op::Attention attention{.q = {1, 1, 1, 4}, .k = {1, 1, 2, 4}, .v = {1, 1, 2, 1}};
  const Values q{1, 1, 1, 1}, k{1, 1, 1, 1, 0, 0, 0, 0}, v{10, 20};
  CHECK(run(attention, {q, k, v})[0] == Approx(10 * first + 20 * (1 - first)).epsilon(1e-12));
  op::Attention changed = attention;
  changed.k_transposed = true;
  CHECK(run(changed, {q, {1, 0, 1, 0, 1, 0, 1, 0}, v}) == run(attention, {q, k, v}));
  changed = attention;
  changed.causal = true;  // the only query is the first position: it sees the first key
  CHECK(run(changed, {q, k, v}) == Values{10});
  changed = attention;
  changed.mask = {1, 1, 1, 2};
  CHECK(run(changed, {q, k, v, {-1000, 0}})[0] == Approx(20));
  // Two query heads share one key and value head.
  const op::Attention grouped{.q = {1, 2, 1, 1}, .k = {1, 1, 1, 1}, .v = {1, 1, 1, 2}};
  CHECK(run(grouped, {{1, 2}, {3}, {5, 7}}) == Values{5, 7, 5, 7});
}

TEST_CASE("attention's operands may lie tokens first") {
  // Two heads, two queries, two keys, depths of 1. In both heads the first key is 1000 and the second 0. The queries of
  // the first head are 1, so that they take the first value; those of the second head are -1, so that they take the
  // second value.
  const op::Attention plain{.q = {1, 2, 2, 1}, .k = {1, 2, 2, 1}, .v = {1, 2, 2, 1}};
  CHECK(run(plain, {{1, 1, -1, -1}, {1000, 0, 1000, 0}, {10, 20, 30, 50}}) == Values{10, 10, 50, 50});
  op::Attention turned = plain;
  turned.q_tokens_first = true;
  CHECK(run(turned, {{1, -1, 1, -1}, {1000, 0, 1000, 0}, {10, 20, 30, 50}}) == Values{10, 10, 50, 50});
  turned.k_tokens_first = true;
  CHECK(run(turned, {{1, -1, 1, -1}, {1000, 1000, 0, 0}, {10, 20, 30, 50}}) == Values{10, 10, 50, 50});
  turned.v_tokens_first = true;
  CHECK(run(turned, {{1, -1, 1, -1}, {1000, 1000, 0, 0}, {10, 30, 20, 50}}) == Values{10, 10, 50, 50});
  turned.y_tokens_first = true;
  CHECK(run(turned, {{1, -1, 1, -1}, {1000, 1000, 0, 0}, {10, 30, 20, 50}}) == Values{10, 50, 10, 50});
}

TEST_CASE("rotary embeddings turn pairs by their angles") {
  const Values x{1, 2, 3, 4};
  // A quarter turn of the first pair, none of the second: (a, b) becomes (-b, a).
  CHECK(run(op::Rotary{.x = {1, 4}, .angles = {1, 2}}, {x, {0, 1}, {1, 0}}) == Values{-3, 2, 1, 4});
  CHECK(run(op::Rotary{.x = {1, 4}, .angles = {1, 2}, .interleaved = true}, {x, {0, 1}, {1, 0}}) ==
        Values{-2, 1, 3, 4});
  // Each element with its own angle: 1 * 1 - 3 * 5, 2 * 2 - 4 * 6, 3 * 3 + 1 * 7, 4 * 4 + 2 * 8; by neighbours 1 * 1 -
  // 2 * 5, 2 * 2 + 1 * 6, 3 * 3 - 4 * 7, 4 * 4 + 3 * 8.
  CHECK(run(op::Rotary{.x = {1, 4}, .angles = {1, 4}}, {x, {1, 2, 3, 4}, {5, 6, 7, 8}}) == Values{-14, -20, 16, 32});
  CHECK(run(op::Rotary{.x = {1, 4}, .angles = {1, 4}, .interleaved = true}, {x, {1, 2, 3, 4}, {5, 6, 7, 8}}) ==
        Values{-9, 10, -19, 40});
  // Two heads, two positions, depth 2: the second position is turned, in both heads.
  CHECK(run(op::Rotary{.x = {2, 2, 2}, .angles = {1, 2, 1}}, {{1, 2, 3, 4, 5, 6, 7, 8}, {1, 0}, {0, 1}}) ==
        Values{1, 2, -4, 3, 5, 6, -8, 7});
}

TEST_CASE("recurrent cells follow ONNX's equations and order of gates") {
  const auto sigmoid = [](double x) { return 1 / (1 + std::exp(-x)); };
  SECTION("RNN in both directions") {
    const op::Recurrent rnn{.cell = op::Cell::rnn, .x = {2, 1, 1}, .hidden = 1, .directions = 2, .bias = false};
    const std::vector<Values> inputs{{0.5, -0.25}, {1, 2}, {0.5, 0.25}};
    const double h0 = std::tanh(0.5), h1 = std::tanh(-0.25 + 0.5 * h0);
    const double back1 = std::tanh(2 * -0.25), back0 = std::tanh(2 * 0.5 + 0.25 * back1);
    const auto y = run(rnn, inputs);
    REQUIRE(y.size() == 4);
    CHECK(y[0] == Approx(h0));
    CHECK(y[1] == Approx(back0));
    CHECK(y[2] == Approx(h1));
    CHECK(y[3] == Approx(back1));
    const auto last = run(rnn, inputs, 1);
    CHECK(last[0] == Approx(h1));
    CHECK(last[1] == Approx(back0));
  }
  SECTION("LSTM with biases and a state") {
    const op::Recurrent lstm{.x = {1, 1, 1}, .hidden = 1, .initial_state = true};
    const std::vector<Values> inputs{
        {2}, {0.1, 0.2, 0.3, 0.4}, {0.5, 0.6, 0.7, 0.8}, {1, 2, 3, 4, 0.01, 0.02, 0.03, 0.04}, {0.5}, {0.25}};
    const double i = sigmoid(0.2 + 0.25 + 1.01), o = sigmoid(0.4 + 0.3 + 2.02), f = sigmoid(0.6 + 0.35 + 3.03),
                 g = std::tanh(0.8 + 0.4 + 4.04);
    const double c = f * 0.25 + i * g;
    CHECK(run(lstm, inputs, 2)[0] == Approx(c));
    CHECK(run(lstm, inputs, 1)[0] == Approx(o * std::tanh(c)));
  }
  SECTION("GRU in both of its forms") {
    op::Recurrent gru{.cell = op::Cell::gru, .x = {1, 1, 1}, .hidden = 1, .initial_state = true};
    const std::vector<Values> inputs{{2}, {0.1, 0.2, 0.3}, {0.5, 0.6, 0.7}, {1, 2, 3, 0.01, 0.02, 0.03}, {0.5}};
    const double z = sigmoid(0.2 + 0.25 + 1.01), r = sigmoid(0.4 + 0.3 + 2.02);
    const double before = std::tanh(0.6 + 3 + 0.7 * (r * 0.5) + 0.03),
                 after = std::tanh(0.6 + 3 + r * (0.7 * 0.5 + 0.03));
    CHECK(run(gru, inputs)[0] == Approx((1 - z) * before + z * 0.5));
    gru.linear_before_reset = true;
    CHECK(run(gru, inputs)[0] == Approx((1 - z) * after + z * 0.5));
  }
  SECTION("one direction from the end") {
    const op::Recurrent rnn{.cell = op::Cell::rnn, .x = {2, 1, 1}, .hidden = 1, .reverse = true, .bias = false};
    const auto y = run(rnn, {{0.5, -0.25}, {1}, {0.5}});
    CHECK(y[1] == Approx(std::tanh(-0.25)));
    CHECK(y[0] == Approx(std::tanh(0.5 + 0.5 * std::tanh(-0.25))));
  }
}

TEST_CASE("samples of a layer are elements of the whole") {
  const std::vector<Layer> layers{
      op::Conv{.x = {2, 6, 9, 7},
               .w = {4, 3, 3, 3},
               .pads = {1, 1, 1, 1},
               .strides = {2, 1},
               .group = 2,
               .post = {bias, ElementwiseFn::relu}},
      op::Attention{.q = {1, 4, 5, 8}, .k = {1, 2, 6, 8}, .v = {1, 2, 6, 3}, .mask = {5, 6}},
      op::Rotary{.x = {3, 5, 8}, .angles = {1, 5, 4}},
      op::Softmax{.x = {3, 7, 5}},
      op::GroupNorm{.x = {2, 6, 5}, .groups = 3},
      op::LayerNorm{.x = {9, 11}, .bias = true},
      op::TopK{.x = {2, 9, 3}, .k = 4},
      op::ScatterNd{.x = {5, 7}, .indices = {6, 1}, .reduction = op::ScatterReduction::add},
      op::Recurrent{.x = {3, 2, 4}, .hidden = 5, .directions = 2},
  };
  for (const auto& layer : layers) {
    CAPTURE(kind(layer));
    const auto buffers = test::random_inputs(layer);
    const auto pointers = test::pointers(buffers);
    const auto whole = reference::evaluate_all(layer, pointers, 0);
    std::vector<std::int64_t> backwards = reference::sample_indices(static_cast<std::int64_t>(whole.size()), 11);
    std::reverse(backwards.begin(), backwards.end());  // in any order
    backwards.push_back(backwards.front());            // and repeated
    const auto some = reference::evaluate(layer, pointers, 0, backwards);
    REQUIRE(some.size() == backwards.size());
    for (std::size_t i = 0; i < some.size(); ++i) CHECK(some[i] == whole[static_cast<std::size_t>(backwards[i])]);
  }
}
