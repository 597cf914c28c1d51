// SPDX-License-Identifier: Apache-2.0
// Models whose structure shows that an engine may do less than the floor counts. What it saves at most is counted by
// hand: a multiply-add is two operations, floats have 4 bytes.
#include "least_work.hpp"

#include <string>

namespace floor_exceptions {

using namespace benanza;
using benanza::testing::least_layers;
using benanza::testing::Stored;

constexpr auto f32 = onnx::TensorProto::FLOAT;

/// The only exception of a model.
FloorException only_exception(const ModelLayers& model) {
  REQUIRE(model.single.exceptions.size() == 1);
  return model.single.exceptions[0];
}

TEST_CASE("two linear layers without a function between them are named", "[floors]") {
  SECTION("32 x 64 by 64 x 8 are 32 x 8 for 16 rows") {
    const std::vector<Stored> weights{{"a", f32, {32, 64}}, {"b", f32, {64, 8}}, {"c", f32, {64}}};
    const auto model = [&](const std::string& between) {
      return least_layers("(float[16, 32] x) => (float[16, 8] y) { p = MatMul(x, a) " + between + " y = MatMul(q, b) }",
                          weights);
    };
    for (const std::string linear : {"q = Identity(p)", "q = Add(p, c)"}) {
      const auto found = only_exception(model(linear));
      CHECK(found.flops.value == 2 * 16 * (32 * 64 + 64 * 8 - 32 * 8));
      CHECK(found.node.starts_with("MatMul"));
    }
    CHECK(model("q = Relu(p)").single.exceptions.empty());
  }
  SECTION("a narrow layer in between saves work as it is") {
    CHECK(least_layers("(float[16, 64] x) => (float[16, 64] y) { p = MatMul(x, a) y = MatMul(p, b) }",
                       {{"a", f32, {64, 4}}, {"b", f32, {4, 64}}})
              .single.exceptions.empty());
  }
  SECTION("a convolution of 3 x 3 and one of 1 x 1: the second is left out") {
    const auto found =
        only_exception(least_layers("(float[1, 4, 8, 8] x) => (float[1, 4, 6, 6] y) { p = Conv(x, a) y = Conv(p, b) }",
                                    {{"a", f32, {4, 4, 3, 3}}, {"b", f32, {4, 4, 1, 1}}}));
    CHECK(found.flops.value == 2 * 36 * 4 * 4);
  }
}

TEST_CASE("latent attention is named, with the work that another order saves", "[floors]") {
  // 4 heads of depth 16; 1 query and 256 latent vectors of 32 numbers. As it is written, the keys take 256 x 32 x 64
  // multiply-adds and the scores 4 x 16 x 256. An engine multiplies the query by the weights, 4 x 16 x 32, and the
  // result by the latent vectors, 4 x 32 x 256.
  const auto model = least_layers(
      "(float[1, 4, 1, 16] q, float[1, 256, 32] l) => (float[1, 4, 1, 256] y) "
      "<int64[4] s = {1, 256, 4, 16}> { k = MatMul(l, w) v = Reshape(k, s) "
      "t = Transpose<perm = [0, 2, 3, 1]>(v) y = MatMul(q, t) }",
      {{"w", f32, {32, 64}}});
  CHECK(only_exception(model).flops.value == 2 * (256 * 32 * 64 + 4 * 16 * 256 - 4 * 16 * 32 - 4 * 32 * 256));
}

TEST_CASE("branches whose weights can be added are named", "[floors]") {
  const auto found = only_exception(
      least_layers("(float[16, 32] x) => (float[16, 8] y) { p = MatMul(x, a) q = MatMul(x, b) y = Add(p, q) }",
                   {{"a", f32, {32, 8}}, {"b", f32, {32, 8}}}));
  CHECK(found.flops.value == 2 * 16 * 32 * 8);
  CHECK(least_layers("(float[16, 32] x, float[16, 32] z) => (float[16, 8] y) { p = MatMul(x, a) q = MatMul(z, b) "
                     "y = Add(p, q) }",
                     {{"a", f32, {32, 8}}, {"b", f32, {32, 8}}})
            .single.exceptions.empty());
}

TEST_CASE("a Gather with more indices than are followed is named", "[floors]") {
  // 10,000 of 20,000 results of a function.
  const auto found =
      only_exception(least_layers("(float[20000] x) => (float[10000] y) { r = Relu(x) y = Gather(r, i) }",
                                  {{"i", onnx::TensorProto::INT64, {10000}, 8}}));
  CHECK(found.flops.value == 20000);
  CHECK(found.bytes.value == 10000 * 4);
}

/// Numbers that differ, as those of weights do.
std::string numbers(std::size_t bytes, std::size_t seed = 1) {
  std::string made;
  while (made.size() < bytes) made.push_back(static_cast<char>(seed = seed * 75 % 65537));
  return made;
}

TEST_CASE("weights that the file has twice are named", "[floors]") {
  // 128 x 128 floats are 64 KiB.
  constexpr std::size_t bytes = 128 * 128 * 4;
  const auto model = [](const std::string& nodes, const std::string& a, const std::string& b) {
    return least_layers("(float[16, 128] x) => (float[16, 128] y) { " + nodes + " }",
                        {{"a", f32, {128, 128}, 4, a}, {"b", f32, {128, 128}, 4, b}});
  };
  const std::string in_a_row = "p = MatMul(x, a) q = Relu(p) y = MatMul(q, b)";
  SECTION("of two layers in a row") {
    const auto found = only_exception(model(in_a_row, numbers(bytes), numbers(bytes)));
    CHECK(found.bytes.value == bytes);
    CHECK(found.flops.value == 0);
    CHECK(found.kind == "its weights have the numbers of 'a'");
  }
  SECTION("with the work that they do twice") {
    const auto found =
        only_exception(model("p = MatMul(x, a) q = MatMul(x, b) y = Mul(p, q)", numbers(bytes), numbers(bytes)));
    CHECK(found.flops.value == 2 * 16 * 128 * 128);
  }
  SECTION("behind a Transpose, as an exporter writes tied embeddings") {
    const auto found = only_exception(least_layers(
        "(int64[16] i) => (float[16, 256] y) { h = Gather(a, i) r = Relu(h) t = Transpose(b) y = MatMul(r, t) }",
        {{"a", f32, {256, 64}, 4, numbers(bytes)}, {"b", f32, {256, 64}, 4, numbers(bytes)}}));
    CHECK(found.bytes.value == bytes);
  }
  SECTION("in a file of their own") {
    const benanza::testing::TemporaryFile data(numbers(bytes) + numbers(100) + numbers(bytes), ".data");
    auto proto = benanza::testing::parse_model("g (float[16, 128] x) => (float[16, 128] y) { " + in_a_row + " }");
    for (const auto& [name, offset] : {std::pair("a", std::size_t{0}), std::pair("b", bytes + 100)}) {
      auto& tensor = *proto.mutable_graph()->add_initializer();
      tensor.set_name(name);
      tensor.set_data_type(f32);
      for (int axis = 0; axis < 2; ++axis) tensor.add_dims(128);
      tensor.set_data_location(onnx::TensorProto::EXTERNAL);
      for (const auto& [key, value] :
           {std::pair("location", data.path().filename().string()), std::pair("offset", std::to_string(offset))}) {
        auto& entry = *tensor.add_external_data();
        entry.set_key(key);
        entry.set_value(value);
      }
    }
    CHECK(only_exception(make_model_layers(benanza::testing::import_model(proto))).bytes.value == bytes);
  }
  SECTION("not if one byte differs") {
    for (const std::size_t at : {bytes / 3, bytes - 1}) {
      std::string other = numbers(bytes);
      other[at] ^= 1;
      CHECK(model(in_a_row, numbers(bytes), other).single.exceptions.empty());
    }
  }
  SECTION("not if they are filled with one number") {
    CHECK(model(in_a_row, std::string(bytes, 'w'), std::string(bytes, 'w')).single.exceptions.empty());
  }
}

TEST_CASE("a mask in front of a softmax is named if it is no band", "[floors]") {
  // 2 heads of 64 queries and keys of depth 8; blocks of 16 see each other.
  constexpr double products = 2 * 2.0 * 2 * 64 * 64 * 8, pairs = 2 * 64 * 64, softmax = 4 * pairs;
  const auto model = [](const std::string& nodes, const std::string& mask) {
    return least_layers(
        "(float[1, 2, 64, 8] q, float[1, 2, 8, 64] k, float[1, 2, 64, 8] v) => (float[1, 2, 64, 8] y) "
        "<float hidden = {-inf}> { s = MatMul(q, k) " +
            nodes + " p = Softmax(a) y = MatMul(p, v) }",
        {{"m", f32, {64, 64}, 4, mask}});
  };
  const auto mask_of = [](const auto& sees) {
    std::string raw;
    for (int q = 0; q < 64; ++q)
      for (int k = 0; k < 64; ++k) {
        const float number = sees(q, k) ? 0.0F : -1e9F;
        raw.append(reinterpret_cast<const char*>(&number), sizeof number);
      }
    return raw;
  };
  const std::string blocks = mask_of([](int q, int k) { return q / 16 == k / 16; });
  SECTION("as an addend") {
    const auto found = only_exception(model("a = Add(s, m)", blocks));
    CHECK(found.flops.value == products + softmax);
    CHECK(found.kind.find("may hide blocks of scores") != std::string::npos);
  }
  SECTION("as a condition: a choice for each pair, too") {
    const auto found = only_exception(model("e = Cast<to = 9>(m) a = Where(e, hidden, s)", blocks));
    CHECK(found.flops.value == products + softmax + pairs);
  }
  SECTION("not if it hides later keys, or is a bias") {
    CHECK(model("a = Add(s, m)", mask_of([](int q, int k) { return k <= q; })).single.exceptions.empty());
    CHECK(model("a = Add(s, m)", numbers(64 * 64 * 4)).single.exceptions.empty());
  }
}

TEST_CASE("a constant mask that is no band is named", "[floors]") {
  // 2 heads, 16 queries and keys of depth 8. The mask is not a band.
  const auto model = least_layers(
      "(float[1, 2, 16, 8] q, float[1, 2, 16, 8] k, float[1, 2, 16, 8] v) => "
      "(float[1, 2, 16, 8] y) { y = Attention(q, k, v, m) }",
      {{"m", f32, {16, 16}}}, 23);
  CHECK(only_exception(model).flops.value == model.single.layers[0].needed.flops.value);
}

}  // namespace floor_exceptions
