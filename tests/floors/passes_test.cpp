// SPDX-License-Identifier: Apache-2.0
// Passes of loops and steps of recurrent layers whose results no output needs, and work that is the same in each of
// them.
#include "least_work.hpp"

namespace needed_passes {

using benanza::testing::check_least;
using benanza::testing::Least;
using benanza::testing::least_layers;
using benanza::testing::Stored;

constexpr auto f32 = onnx::TensorProto::FLOAT;
constexpr double row = 64 * 4, square = 64 * 64 * 4, macs = 64 * 64;

TEST_CASE("what each pass hands on as it is does not change", "[floors]") {
  // v v is a product of 64 x 64 x 64, once; then 50 products of one row.
  check_least(least_layers(R"((float[1, 64] x, float[64, 64] w) => (float[1, 64] y) <int64 n = {50}> {
      y, z = Loop (n, "", x, w) <body = b (int64 i, bool go, float[1, 64] h, float[64, 64] v) =>
        (bool on, float[1, 64] h2, float[64, 64] v2) {
          on = Identity(go) s = MatMul(v, v) h2 = MatMul(h, s) v2 = Identity(v) }> })"),
              {2 * 64 * macs + 50 * 2 * macs, row + square, row});
}

TEST_CASE("only the passes whose results are read count in what a loop collects", "[floors]") {
  const std::string loop = R"( h, s = Loop (n, "", x) <body = b (int64 i, bool go, float[1, 64] h) =>
      (bool on, float[1, 64] h2, float[1, 1000] e) { on = Identity(go) h2 = Relu(h) e = MatMul(h2, w) }> )";
  SECTION("the last one: 50 maxima, one product") {
    check_least(least_layers("(float[1, 64] x) => (float[1, 1000] y) <int64 n = {50}, int64 l = {49}> {" + loop +
                                 "y = Gather<axis = 0>(s, l) }",
                             {{"w", f32, {64, 1000}}}),
                {50 * 64 + 2 * 64 * 1000, row + 64 * 1000 * 4, 4000});
  }
  SECTION("the tenth: ten maxima") {
    check_least(least_layers("(float[1, 64] x) => (float[1, 1000] y) <int64 n = {50}, int64 l = {9}> {" + loop +
                                 "y = Gather<axis = 0>(s, l) }",
                             {{"w", f32, {64, 1000}}}),
                {10 * 64 + 2 * 64 * 1000, row + 64 * 1000 * 4, 4000});
  }
  SECTION("none of them, but what the last pass hands on") {
    check_least(least_layers("(float[1, 64] x) => (float[1, 64] y) <int64 n = {50}> {" + loop + "y = Identity(h) }",
                             {{"w", f32, {64, 1000}}}),
                {50 * 64, row, row});
  }
  SECTION("all of them") {
    check_least(
        least_layers("(float[1, 64] x) => (float[50, 1, 1000] y) <int64 n = {50}> {" + loop + "y = Identity(s) }",
                     {{"w", f32, {64, 1000}}}),
        {50 * 64 + 50 * 2 * 64 * 1000, row + 64 * 1000 * 4, 50 * 4000});
  }
}

TEST_CASE("what no pass reads counts in the last one", "[floors]") {
  SECTION("64 products, and the product with w; the number of the last pass is known") {
    check_least(least_layers(R"((float[1, 64] c, float[1, 64] x) => (float[1, 64] y) <int64 n = {1000}> {
        y = Loop (n, "", x) <body = b (int64 i, bool go, float[1, 64] h) => (bool on, float[1, 64] h2) {
          on = Identity(go) f = Cast<to = 1>(i) s = Mul(c, f) h2 = MatMul(s, w) }> })",
                             {{"w", f32, {64, 64}}}),
                {64 + 2 * macs, row + square, row});
  }
  SECTION("the last pass reads what 49 have made") {
    check_least(least_layers(R"((float[1, 64] x, float[1, 64] z) => (float[1, 64] y) <int64 n = {50}> {
        p, y = Loop (n, "", x, z) <body = b (int64 i, bool go, float[1, 64] g, float[1, 64] h) =>
          (bool on, float[1, 64] g2, float[1, 64] h2) { on = Identity(go) g2 = MatMul(g, w) h2 = Relu(g) }> })",
                             {{"w", f32, {64, 64}}}),
                {64 + 49 * 2 * macs, row + square, row});
  }
  SECTION("a product that is the same in all passes") {
    check_least(least_layers(R"((float[1, 64] c, float[1, 64] x) => (float[1, 64] y) <int64 n = {50}> {
        y = Loop (n, "", x) <body = b (int64 i, bool go, float[1, 64] h) => (bool on, float[1, 64] h2) {
          on = Identity(go) h2 = MatMul(c, w) }> })",
                             {{"w", f32, {64, 64}}}),
                {2 * macs, row + square, row});
  }
  SECTION("what a part of the passes collects: 3 maxima and 5 products, of which the fourth pass has both") {
    check_least(least_layers(R"((float[1, 64] x, float[10, 1, 64] xs) => (float[3, 1, 64] y, float[5, 1, 64] z)
        <int64[1] a = {1}, int64[1] b = {4}, int64[1] c = {3}, int64[1] d = {8}> {
          p, s, t = Scan<num_scan_inputs = 1, body = b (float[1, 64] g, float[1, 64] v) =>
            (float[1, 64] g2, float[1, 64] r, float[1, 64] m) { g2 = Identity(g) r = Relu(v) m = MatMul(v, w) }>(x, xs)
          y = Slice(s, a, b) z = Slice(t, c, d) })",
                             {{"w", f32, {64, 64}}}),
                {3 * 64 + 5 * 2 * macs, 7 * row + square, 8 * row});
  }
}

TEST_CASE("loops that are alike count once", "[floors]") {
  // Each of them is followed by one operation for each of 64 numbers.
  const auto two = [](const std::string& second) {
    return least_layers(R"((float[1, 64] x) => (float[1, 64] y, float[1, 64] z) <int64 n = {50}> {
        a = Loop (n, "", x) <body = b (int64 i, bool go, float[1, 64] h) => (bool on, float[1, 64] h2) {
          on = Identity(go) h2 = MatMul(h, w) }>
        d = Loop (n, "", x) <body = e (int64 j, bool goes, float[1, 64] g) => (bool more, float[1, 64] g2) {
          more = Identity(goes) g2 = MatMul(g, )" +
                            second + ") }> y = Relu(a) z = Sigmoid(d) }",
                        {{"w", f32, {64, 64}}, {"v", f32, {64, 64}}});
  };
  SECTION("with the same weights: 50 products of one row") {
    check_least(two("w"), {50 * 2 * macs + 2 * 64, row + square, 2 * row});
  }
  SECTION("with other weights: twice as many") {
    check_least(two("v"), {2 * 50 * 2 * macs + 2 * 64, row + 2 * square, 2 * row});
  }
}

TEST_CASE("what a body does like the graph around it counts once", "[floors]") {
  const auto model = [](const std::string& outside, const std::string& inside) {
    return least_layers("(float[1, 64] x) => (float[1, 64] y) <int64 n = {50}, int64[1] a = {1}> { " + outside +
                            R"( l = Loop (n, "", x) <body = b (int64 i, bool go, float[1, 64] h) =>
          (bool on, float[1, 64] h2) { on = Identity(go) )" +
                            inside + " }> y = Add(l, p) }",
                        {{"w", f32, {64, 64}}, {"v", f32, {64, 64}}});
  };
  SECTION("a product: 50 sums inside, one outside") {
    check_least(model("p = MatMul(x, w)", "q = MatMul(x, w) h2 = Add(h, q)"), {2 * macs + 51 * 64, row + square, row});
  }
  SECTION("a product in a body of the body") {
    check_least(model("p = MatMul(x, w)", R"(h2 = Loop (n, "", h) <body = c (int64 j, bool goes, float[1, 64] g) =>
        (bool more, float[1, 64] g2) { more = Identity(goes) q = MatMul(x, w) g2 = Add(g, q) }>)"),
                {2 * macs + 2501 * 64, row + square, row});
  }
  SECTION("a sum along the same axis, which each has of its own") {
    check_least(model("p = ReduceSum(x, a)", "c = Constant<value_ints = [1]>() q = ReduceSum(x, c) h2 = Add(h, q)"),
                {64 + 51 * 64, row, row});
  }
  SECTION("of other weights or of what changes it does something else") {
    check_least(model("p = MatMul(x, w)", "q = MatMul(x, v) h2 = Add(h, q)"),
                {2 * 2 * macs + 50 * 64, row + 2 * square, row});  // the product outside starts with the result
    check_least(model("p = MatMul(x, w)", "q = MatMul(h, w) h2 = Add(h, q)"),
                {51 * 2 * macs, row + square, row});  // each product starts with what is added
  }
}

TEST_CASE("what no pass that counts reads is not read", "[floors]") {
  // The first pass collects a maximum with 0 of each element; only later passes need its product.
  check_least(
      least_layers(R"((float[1, 64] x) => (float[1, 1, 64] y) <int64 n = {50}, int64[1] a = {0}, int64[1] b = {1}> {
      h, s = Loop (n, "", x) <body = b (int64 i, bool go, float[1, 64] g) =>
        (bool on, float[1, 64] g2, float[1, 64] r) { on = Identity(go) g2 = MatMul(g, w) r = Relu(g) }>
      y = Slice(s, a, b) })",
                   {{"w", f32, {64, 64}}}),
      {64, row, row});
}

TEST_CASE("a Scan may collect passes along any axis, and the last one first", "[floors]") {
  // One step of 16 is read.
  const auto one_of = [](const std::string& attributes, const std::string& of_pass, const std::string& sizes,
                         const std::string& axis) {
    return least_layers("(float[1, 64] x, float[16, 1, 64] xs) => (float[" + sizes + "] y) <int64[1] a = {0}, " +
                            "int64[1] b = {1}, int64[1] axis = {" + axis + "}> { p, s = Scan<num_scan_inputs = 1, " +
                            attributes + ", body = b (float[1, 64] g, float[1, 64] v) => (float[1, 64] g2, float[" +
                            of_pass + "] e) { g2 = Add(g, v) e = MatMul(v, w) }>(x, xs) y = Slice(s, a, b, axis) }",
                        {{"w", f32, {64, 64}}});
  };
  const Least least{2 * macs, row + square, row};
  check_least(one_of("scan_output_directions = [1]", "1, 64", "1, 1, 64", "0"), least);
  check_least(one_of("scan_output_axes = [1]", "1, 64", "1, 1, 64", "1"), least);
  check_least(one_of("scan_output_axes = [-1], scan_output_directions = [1]", "1, 64", "1, 64, 1", "2"), least);
}

TEST_CASE("a Scan's defaults may be written out", "[floors]") {
  // One step of 1,000 is read.
  check_least(least_layers(R"((float[1, 64] x, float[1000, 1, 64] xs) => (float[1, 1000] y) <int64 i = {0}> {
      p, s = Scan<num_scan_inputs = 1, scan_input_axes = [0], scan_input_directions = [0], scan_output_axes = [0],
                  scan_output_directions = [0], body = b (float[1, 64] g, float[1, 64] v) =>
        (float[1, 64] g2, float[1, 1000] e) { g2 = Identity(g) e = MatMul(v, w) }>(x, xs)
      y = Gather<axis = 0>(s, i) })",
                           {{"w", f32, {64, 1000}}}),
              {2 * 64 * 1000, row + 64 * 1000 * 4, 4000});
}

TEST_CASE("what a Scan computes of nothing that changes counts once", "[floors]") {
  check_least(least_layers(R"((float[1, 64] h0, float[20, 64] xs, float[64, 64] w, float[1, 64] c) => (float[1, 64] y) {
      y = Scan<num_scan_inputs = 1, body = b (float[1, 64] h, float[64] x) => (float[1, 64] h2) {
        p = MatMul(c, w) q = Add(p, x) h2 = Add(h, q) }>(h0, xs) })"),
              {2 * macs + 20 * 2 * 64, row + 20 * row + square + row, row});
}

TEST_CASE("the first step of a recurrent layer has no state to multiply", "[floors]") {
  const auto lstm = [](const std::string& steps) {
    return least_layers(
        "(float[" + steps + ", 1, 64] x) => (float[1, 1, 64] y) { s, y, c = LSTM<hidden_size = 64>(x, w, r) }",
        {{"w", f32, {1, 256, 64}}, {"r", f32, {1, 256, 64}}});
  };
  // Four gates; 9 element-wise operations per unit. Without a cell state the forget gate has no effect: no product, no
  // sigmoid, and no product and sum after it.
  const double product = 2 * 256 * 64, weights = 256 * 64 * 4;
  check_least(lstm("100"),
              {100 * (product + 9 * 64) + 99 * product - (product / 4 + 3 * 64), 100 * row + 2 * weights, row});
  check_least(lstm("1"), {product * 3 / 4 + 6 * 64, row + weights * 3 / 4, row});
}

TEST_CASE("gates that change nothing are not computed", "[floors]") {
  const auto layer = [](const std::string& node, const std::string& inputs, const std::vector<Stored>& tensors) {
    return least_layers(
        "(float[1, 1, 64] x" + inputs + ") => (float[1, 1, 64] y) <int64[3] q = {1, 1, 64}> { " + node + " }", tensors);
  };
  const Stored w{"w", f32, {1, 256, 64}}, r{"r", f32, {1, 256, 64}}, state{"h0", f32, {1, 1, 64}};
  const Stored w3{"w", f32, {1, 192, 64}}, r3{"r", f32, {1, 192, 64}};
  const double gate = 2 * macs;  // for one operand
  SECTION("the reset gate of a GRU's first step: a sigmoid, a tanh, a difference and a product are left") {
    check_least(layer("s, y = GRU<hidden_size = 64>(x, w, r)", "", {w3, r3}),
                {2 * gate + 4 * 64, row + 2 * square, row});
  }
  SECTION("unless it scales a bias: four vectors of biases") {
    check_least(
        layer("s, y = GRU<hidden_size = 64, linear_before_reset = 1>(x, w, r, b)", "", {w3, r3, {"b", f32, {1, 384}}}),
        {3 * gate + 6 * 64, row + 3 * square + 4 * row, row});
  }
  SECTION("the output gate where only the cell state is read: a sigmoid, a tanh and a product are left") {
    check_least(layer("s, h, y = LSTM<hidden_size = 64>(x, w, r)", "", {w, r}),
                {2 * gate + 3 * 64, row + 2 * square, row});
  }
  SECTION("after two steps too: 3 and 3 gates of inputs, 3 of states; 12 of 18 operations a unit") {
    check_least(least_layers("(float[2, 1, 64] x) => (float[1, 1, 64] y) { s, h, y = LSTM<hidden_size = 64>(x, w, r) }",
                             {w, r}),
                {9 * gate + 12 * 64, 2 * row + 4 * square + 3 * square, row});
  }
  SECTION("a state that is a constant joins the bias") {
    const Least least{3 * gate + 6 * 64, row + 3 * square, row};
    check_least(layer("s, y, c = LSTM<hidden_size = 64>(x, w, r, , , h0, h0)", "", {w, r, state}), least);
    check_least(layer("h = ConstantOfShape(q) s, y, c = LSTM<hidden_size = 64>(x, w, r, , , h, h)", "", {w, r}), least);
  }
  SECTION("a hidden state that is given is multiplied by three gates") {
    check_least(layer("s, y, c = LSTM<hidden_size = 64>(x, w, r, , , h, h0)", ", float[1, 1, 64] h", {w, r, state}),
                {6 * gate + 6 * 64, 2 * row + 6 * square, row});
  }
  SECTION("both biases are one vector") {
    check_least(layer("s, y, c = LSTM<hidden_size = 64>(x, w, r, b)", "", {w, r, {"b", f32, {1, 512}}}),
                {3 * gate + 6 * 64, row + 3 * square + 3 * row, row});
    check_least(layer("s, y = RNN<hidden_size = 64>(x, w, r, b)", "",
                      {{"w", f32, {1, 64, 64}}, {"r", f32, {1, 64, 64}}, {"b", f32, {1, 128}}}),
                {gate + 2 * 64, row + square + row, row});
  }
  SECTION("of coupled gates one: three of inputs, their two biases, and two peepholes; there is no state") {
    check_least(layer("s, y, c = LSTM<hidden_size = 64, input_forget = 1>(x, w, r, b, , , , p)", "",
                      {w, r, {"b", f32, {1, 512}}, {"p", f32, {1, 192}}}),
                {0, row + 3 * square + 6 * row + 2 * row, row});  // its arithmetic is not known
  }
  SECTION("one sequence of two, the batch first") {
    check_least(least_layers(R"((float[2, 4, 64] x) => (float[1, 1, 64] y) <int64[1] a = {0}, int64[1] b = {1}> {
        s, h, c = LSTM<hidden_size = 64, layout = 1>(x, w, r) y = Slice(h, a, b) })",
                             {w, r}),
                {7 * 4 * gate + 4 * 9 * 64 - (gate + 3 * 64), 4 * row + 8 * square, row});
  }
}

TEST_CASE("steps behind the end of each sequence are neither read nor computed", "[floors]") {
  // 5 and 3 of 8 steps. The first step of each has no state.
  const std::vector<Stored> tensors{{"w", f32, {1, 64, 64}}, {"r", f32, {1, 64, 64}}};
  const Least least{2 * (8 + 6) * macs + 8 * 2 * 64, (5 + 3) * row + 2 * square, 2 * row};
  check_least(least_layers("(float[8, 2, 64] x) => (float[1, 2, 64] y) <int32[2] l = {5, 3}> { "
                           "s, y = RNN<hidden_size = 64>(x, w, r, , l) }",
                           tensors),
              least);
  check_least(least_layers("(float[2, 8, 64] x) => (float[2, 1, 64] y) <int32[2] l = {5, 3}> { "
                           "s, y = RNN<hidden_size = 64, layout = 1, direction = \"reverse\">(x, w, r, , l) }",
                           tensors),
              least);
  check_least(least_layers("(float[8, 2, 64] x, int32[2] l) => (float[1, 2, 64] y) { "
                           "s, y = RNN<hidden_size = 64>(x, w, r, , l) }",
                           tensors),
              {0, 2 * 8 * row + 2 * square + 2 * 4, 2 * row});
  SECTION("an empty sequence: neither its steps nor its state") {
    check_least(least_layers("(float[8, 2, 64] x, float[1, 2, 64] h) => (float[1, 2, 64] y) <int32[2] l = {0, 3}> { "
                             "s, y = RNN<hidden_size = 64>(x, w, r, , l, h) }",
                             tensors),
                {2 * (3 + 3) * macs + 3 * 2 * 64, 3 * row + row + 2 * square, 2 * row});
  }
  SECTION("lengths that are data: the steps, the length and the weights of one item and one direction") {
    const auto layer = [](const std::string& cell, std::int64_t gates, const std::string& readers) {
      return least_layers(
                 "(float[8, 2, 64] x, int32[2] l, float[2, 2, 64] h) => (float[1, 64] y) <int64 one = {1}> { "
                 "s, last = " +
                     cell + "<hidden_size = 64, direction = \"bidirectional\">(x, w, r, , l, h) " + readers + " }",
                 {{"w", f32, {2, gates * 64, 64}}, {"r", f32, {2, gates * 64, 64}}})
          .single.model_reads.value;
    };
    const std::string of_last = "d = Gather<axis = 0>(last, one) y = Gather<axis = 0>(d, place)";
    for (const auto& [cell, gates] : {std::pair("RNN", 1), std::pair("GRU", 3), std::pair("LSTM", 4)}) {
      CAPTURE(cell);
      CHECK(layer(cell, gates, "place = Constant<value = int64[1] {0}>() " + of_last) ==
            8 * row + row + 4 + 2 * gates * square);
    }
    // The backward direction comes to step 1 last but one.
    CHECK(layer("LSTM", 4,
                "a = Gather<axis = 0>(s, one) d = Gather<axis = 0>(a, one) place = Constant<value = "
                "int64[1] {0}>() y = Gather<axis = 0>(d, place)") == 7 * row + row + 4 + 8 * square);
  }
  SECTION("lengths that are data: a forward direction reads the steps up to the last one that is needed") {
    const auto first_steps = [](const std::string& count) {
      return least_layers("(float[8, 2, 64] x, int32[2] l) => (float[" + count +
                              ", 1, 2, 64] y) <int64[1] a = {0}, int64[1] b = {" + count +
                              "}> { s = LSTM<hidden_size = 64>(x, w, r, , l) y = Slice(s, a, b, a) }",
                          {{"w", f32, {1, 256, 64}}, {"r", f32, {1, 256, 64}}})
          .single.model_reads.value;
    };
    CHECK(first_steps("1") == 2 * row + 2 * 4 + 4 * square);  // nothing multiplies a state
    CHECK(first_steps("3") == 3 * 2 * row + 2 * 4 + 8 * square);
  }
  SECTION("all states of an LSTM, from the end") {
    // The lengths come from a node. Of 8 steps, 8 + 4 are computed, and zeros are written for the others.
    check_least(least_layers("(float[8, 2, 64] x) => (float[8, 1, 2, 64] y) { l = Constant<value = int32[2] {8, 4}>() "
                             "y = LSTM<hidden_size = 64, direction = \"reverse\">(x, w, r, , l) }",
                             {{"w", f32, {1, 256, 64}}, {"r", f32, {1, 256, 64}}}),
                {12 * 4 * 2 * macs + 10 * 4 * 2 * macs + 12 * 9 * 64 - 2 * (2 * macs + 3 * 64), 12 * row + 8 * square,
                 16 * row});
  }
  SECTION("the state after the third step of each sequence") {
    check_least(least_layers("(float[8, 2, 64] x) => (float[1, 1, 2, 64] y) <int32[2] l = {5, 2}, int64[1] a = {2}, "
                             "int64[1] b = {3}> { s = RNN<hidden_size = 64>(x, w, r, , l) y = Slice(s, a, b) }",
                             tensors),
                {2 * (3 + 2) * macs + 3 * 2 * 64, 3 * row + 2 * square, 2 * row});
  }
}

TEST_CASE("the last step counts only the units that are read", "[floors]") {
  const auto first_unit = [](const std::string& steps, const std::string& node, std::int64_t gates,
                             const std::string& inputs = "") {
    return least_layers("(float[" + steps + ", 1, 64] x" + inputs +
                            ") => (float[1, 1, 1] y) <int64[1] a = {0}, int64[1] b = {1}, int64[1] axis = {2}> { " +
                            node + " y = Slice(h, a, b, axis) }",
                        {{"w", f32, {1, gates * 64, 64}}, {"r", f32, {1, gates * 64, 64}}});
  };
  SECTION("one step of an LSTM: a row for each of three gates") {
    check_least(first_unit("1", "s, h, c = LSTM<hidden_size = 64>(x, w, r)", 4), {3 * 128 + 6, row + 3 * row, 4});
  }
  SECTION("two steps: three gates whole, then a row of inputs and states for each of four") {
    check_least(first_unit("2", "s, h, c = LSTM<hidden_size = 64>(x, w, r)", 4),
                {3 * 2 * macs + 6 * 64 + 4 * 2 * 128 + 9, 2 * row + 3 * square + row + 4 * row, 4});
  }
  SECTION("its cell state: the output gate is left out") {
    check_least(first_unit("1", "s, c, h = LSTM<hidden_size = 64>(x, w, r)", 4), {2 * 128 + 3, row + 2 * row, 4});
  }
  SECTION("one step of an RNN") {
    check_least(first_unit("1", "s, h = RNN<hidden_size = 64>(x, w, r)", 1), {128 + 2, row + row, 4});
  }
  SECTION("a GRU whose reset gate scales all of the state before the product") {
    // 64 reset gates of inputs, states, a sigmoid and a product; then the other two gates, of one unit.
    check_least(first_unit("1", "s, h = GRU<hidden_size = 64>(x, w, r, , , h0)", 3, ", float[1, 1, 64] h0"),
                {64 * (2 * 128 + 2) + 2 * 2 * 128 + 6, 2 * row + 2 * square + 4 * row, 4});
  }
}

TEST_CASE("a loop that may end before its first pass is certain of none", "[floors]") {
  // The initial value is the result, or the passes begin with it; no layer has to read the trip count or the condition.
  const std::string body = R"(<body = b (int64 i, bool go, float[1, 64] h) => (bool on, float[1, 64] h2) {
      on = Identity(go) h2 = MatMul(h, w) }> })";
  const std::vector<Stored> weights{{"w", f32, {64, 64}}};
  check_least(least_layers("(float[1, 64] x, int64 n) => (float[1, 64] y) { y = Loop (n, \"\", x) " + body, weights),
              {0, 0, row});
  check_least(least_layers("(float[1, 64] x, bool c) => (float[1, 64] y) <int64 n = {50}> { y = Loop (n, c, x) " + body,
                           weights),
              {0, 0, row});
}

TEST_CASE("a loop without a pass hands on what enters it", "[floors]") {
  const std::string body = R"(<body = b (int64 i, bool go, float[1, 64] h, float[1, 64] g)
      => (bool on, float[1, 64] h2, float[1, 64] g2) { on = Identity(go) h2 = Add(h, m) g2 = MatMul(g, w) }> })";
  const std::string ends = GENERATE("int64 n = {0}, bool c = {1}", "int64 n = {50}, bool c = {0}");
  const std::vector<Stored> weights{{"w", f32, {64, 64}}};
  SECTION("64 maxima; no sum with a product, whether the body captures it or receives it") {
    check_least(least_layers("(float[1, 64] x) => (float[1, 64] y) <" + ends +
                                 "> { m = MatMul(x, w) r = Relu(x) y, z = Loop (n, c, r, m) " + body,
                             weights),
                {64, row, row});
  }
  SECTION("the product, where it is the result") {
    check_least(least_layers("(float[1, 64] x) => (float[1, 64] z) <" + ends +
                                 "> { m = MatMul(x, w) r = Relu(x) y, z = Loop (n, c, r, m) " + body,
                             weights),
                {2 * macs, row + square, row});
  }
  SECTION("an input, which lies where it is") {
    check_least(least_layers("(float[1, 64] x, float[1, 64] m) => (float[1, 64] y) <" + ends +
                                 "> { y, z = Loop (n, c, x, m) " + body,
                             weights),
                {0, 0, 0});
  }
}

TEST_CASE("a Scan of no element hands on its state", "[floors]") {
  check_least(least_layers(R"((float[1, 64] x, float[0, 64] s) => (float[1, 64] y) { r = Relu(x)
      y = Scan<num_scan_inputs = 1, body = b (float[1, 64] h, float[64] e) => (float[1, 64] h2) {
        m = MatMul(h, w) h2 = Add(m, e) }>(r, s) })",
                           {{"w", f32, {64, 64}}}),
              {64, row, row});
}

TEST_CASE("a loop whose condition turns false in the first pass has one", "[floors]") {
  const auto model = least_layers(R"((float[1, 64] x) => (float[1, 64] y) <int64 n = {50}, bool f = {0}> {
      y = Loop (n, "", x) <body = b (int64 i, bool go, float[1, 64] h) => (bool on, float[1, 64] h2) {
        on = Identity(f) h2 = MatMul(h, w) }> })",
                                  {{"w", f32, {64, 64}}});
  CHECK(model.single.unknown.empty());
  check_least(model, {2 * macs, row + square, row});
}

TEST_CASE("only what both branches of an If need counts among the nodes before it", "[floors]") {
  // Both branches are layers here, only one of which runs: 64 maxima each.
  const auto chosen = [](const std::string& other) {
    return least_layers(R"((float[1, 64] x, bool c) => (float[1, 64] y) { m = MatMul(x, w)
        y = If(c) <then_branch = a () => (float[1, 64] p) { p = Relu(m) },
                   else_branch = b () => (float[1, 64] q) { q = Relu()" +
                            other + ") }> }",
                        {{"w", f32, {64, 64}}});
  };
  const auto model = chosen("x");
  check_least(model, {64 + 64, 0, row});
  CHECK(model.single.dead.empty());  // the other branch needs the product
  check_least(chosen("m"), {2 * macs + 64 + 64, row + square, row});
}

TEST_CASE("a branch that a constant leaves out costs nothing", "[floors]") {
  check_least(least_layers(R"((float[1, 64] x, float[64, 64] w) => (float[1, 64] y) <bool c = {1}> {
      y = If(c) <then_branch = a () => (float[1, 64] p) { p = Relu(x) },
                 else_branch = b () => (float[1, 64] q) { q = MatMul(x, w) }> })"),
              {64, row, row});
}

TEST_CASE("an If with results of different sizes has the least of them, and is partial", "[floors]") {
  // The result of either branch; 4 numbers at least. What both need is read: x and the condition.
  const auto model = [](const std::string& longer) {
    return least_layers("(float[4] x, bool c) => (float[N] y) { y = If(c) <then_branch = a () => (float[N] p) { " +
                        longer + " }, else_branch = b () => (float[4] q) { q = Neg(x) }> }");
  };
  const auto different = model("r = Relu(x) p = Concat<axis = 0>(r, r)"), equal = model("p = Relu(x)");
  REQUIRE(different.single.unknown.size() == 1);
  CHECK(different.single.unknown[0].find("(If) depends on data: counted at its least") != std::string::npos);
  CHECK(different.single.model_writes.value == 4 * 4);
  CHECK(equal.single.unknown.empty());
  CHECK(equal.single.model_writes.value == 4 * 4);
}

}  // namespace needed_passes
