// SPDX-License-Identifier: Apache-2.0
// Models so small that the least work of an engine can be counted by hand: the bytes that it has to read and write, and
// the operations. A floor above that is wrong.
#include "support/catch.hpp"
#include "support/onnx_text.hpp"
#include <benanza/fusion/model_layers.hpp>
#include <benanza/model/layer.hpp>

#include <numeric>
#include <string>
#include <vector>

namespace {

using namespace benanza;

struct Weight {
  std::string name{};
  onnx::TensorProto::DataType type{};
  std::vector<std::int64_t> dims{};
  double bytes_each = 4;
};

/// A model whose weights are zeros.
ModelLayers layers_of(const std::string& text, const std::vector<Weight>& weights, int opset = 21) {
  auto model = testing::parse_model(
      text, "<ir_version: 10, opset_import: [\"\" : " + std::to_string(opset) + ", \"com.microsoft\" : 1]>");
  for (const auto& weight : weights) {
    auto& tensor = *model.mutable_graph()->add_initializer();
    tensor.set_name(weight.name);
    tensor.set_data_type(weight.type);
    double bytes = weight.bytes_each;
    for (const auto dim : weight.dims) {
      tensor.add_dims(dim);
      bytes *= static_cast<double>(dim);
    }
    tensor.set_raw_data(std::string(static_cast<std::size_t>(bytes), '\0'));
  }
  return make_model_layers(testing::import_model(model));
}

double flops(const ModelLayers& model) {
  return std::accumulate(model.fused.layers.begin(), model.fused.layers.end(), 0.0,
                         [](double sum, const Occurrence& at) {
                           return sum + cost(at.layer).flops.value * static_cast<double>(at.repeat);
                         });
}

constexpr auto f32 = onnx::TensorProto::FLOAT, f16 = onnx::TensorProto::FLOAT16, i8 = onnx::TensorProto::INT8,
               i4 = onnx::TensorProto::INT4;

}  // namespace

TEST_CASE("weights count the bytes that the file stores", "[floors]") {
  const double x = 512 * 4, y = 256 * 4;  // one row of floats each
  const double macs = 512 * 256;
  SECTION("f16 behind a Cast") {
    const auto model = layers_of("g (float[1, 512] x) => (float[1, 256] y) { v = Cast<to = 1>(w) y = MatMul(x, v) }",
                                 {{"w", f16, {512, 256}, 2}});
    CHECK(model.single.model_reads.value == x + 2 * macs);
    CHECK(model.single.model_writes.value == y);
    CHECK(model.fused.layers[0].read_weights.value == 2 * macs);
    CHECK(flops(model) == 2 * macs);
  }
  SECTION("f16 behind a Cast and a Transpose, for two readers") {
    const auto model = layers_of(R"(g (float[1, 512] x) => (float[1, 256] y, float[1, 256] z) {
        v = Cast<to = 1>(w) t = Transpose<perm = [1, 0]>(v) y = MatMul(x, t) r = Relu(x) z = MatMul(r, t) })",
                                 {{"w", f16, {256, 512}, 2}});
    CHECK(model.single.model_reads.value == x + 2 * macs);
  }
  SECTION("i8 with a scale and a zero point for each column") {
    const auto model = layers_of(
        "g (float[1, 512] x) => (float[1, 256] y) { v = DequantizeLinear<axis = 1>(w, s, z) y = MatMul(x, v) }",
        {{"w", i8, {512, 256}, 1}, {"s", f32, {256}}, {"z", i8, {256}, 1}});
    CHECK(model.single.model_reads.value == x + macs + 256 * 4 + 256);
  }
  SECTION("i4 in blocks of 32") {
    const auto model = layers_of(R"(g (float[1, 512] x) => (float[1, 256] y) {
        v = DequantizeLinear<axis = 0, block_size = 32>(w, s) y = MatMul(x, v) })",
                                 {{"w", i4, {512, 256}, 0.5}, {"s", f32, {16, 256}}});
    CHECK(model.single.model_reads.value == x + macs / 2 + 16 * 256 * 4);
  }
  SECTION("a half of f16 rows that a Gather may pick from") {
    const auto model =
        layers_of("g (int64[2] i) => (float[2, 256] y) { v = Cast<to = 1>(w) y = Gather<axis = 0>(v, i) }",
                  {{"w", f16, {512, 256}, 2}});
    CHECK(model.single.model_reads.value == 2 * 8 + 256 * 2);  // both may pick the same row
  }
}

TEST_CASE("an embedding reads one row for certain", "[floors]") {
  const auto model =
      layers_of("g (int64[512] i) => (float[512, 64] y) { y = Gather<axis = 0>(w, i) }", {{"w", f32, {1000, 64}}});
  CHECK(model.single.model_reads.value == 512 * 8 + 64 * 4);
  CHECK(model.single.model_writes.value == 512 * 64 * 4);
}

TEST_CASE("what does not change in a loop counts once", "[floors]") {
  // 50 passes of h = h + c W, where c W is the same in each.
  const std::string text = R"(g (float[1, 64] x, float[1, 64] c) => (float[1, 64] y) <int64 n = {50}> {
      y = Loop (n, "", x) <body = b (int64 i, bool go, float[1, 64] h) => (bool on, float[1, 64] h2) {
          on = Identity(go) p = MatMul(c, w) h2 = Add(h, p) }> })";
  const auto model = layers_of(text, {{"w", f32, {64, 64}}});
  CHECK(flops(model) == 2 * 64 * 64 + 50 * 64);
  // A product of what the last pass made is a different one in each pass.
  std::string changing = text;
  changing.replace(changing.find("MatMul(c"), 8, "MatMul(h");
  CHECK(flops(layers_of(changing, {{"w", f32, {64, 64}}})) == 50 * (2 * 64 * 64 + 64));
}

TEST_CASE("zeros that a Pad adds in front of a convolution are not multiplied", "[floors]") {
  const auto padded = [](const std::string& pad) {
    return layers_of(
        "g (float[1, 8, 16, 16] x) => (float[1, 4, 16, 16] y) <int64[8] p = {0, 0, 1, 1, 0, 0, 1, 1}, "
        "float zero = {0}, float one = {1}> { v = " +
            pad + " y = Conv(v, w) }",
        {{"w", f32, {4, 8, 3, 3}}});
  };
  // Taps in range, of 3 taps at 16 positions with a zero at each end: 14 * 3 + 2 * 2 = 46 for each axis.
  const double in_range = 2.0 * 4 * 8 * 46 * 46;
  const auto model = padded(GENERATE("Pad(x, p)", "Pad(x, p, zero)"));
  CHECK(flops(model) == in_range);
  CHECK(model.fused.layers.size() == 1);
  CHECK(model.fused.layers[0].read_activations.value == 8 * 16 * 16 * 4);
  // Values other than zero are multiplied: 16 outputs of 3 taps along each axis.
  CHECK(flops(padded("Pad(x, p, one)")) == 2.0 * 4 * 8 * 48 * 48);
  CHECK(flops(padded("Pad<mode = \"reflect\">(x, p)")) == 2.0 * 4 * 8 * 48 * 48);
}

TEST_CASE("a Resize that shrinks reads the cells that its results are made of", "[floors]") {
  const auto reads = [](const std::string& attributes) {
    const auto model = layers_of(
        "g (float[1, 4, 64, 64] x) => (float[1, 4, 16, 16] y) <float[4] s = {1, 1, 0.25, 0.25}> "
        "{ y = Resize<" +
            attributes + ">(x, , s) }",
        {});
    return model.single.model_reads.value;
  };
  // One cell in four along each axis. Results that lie halfway between two cells need two cells, and with cubic
  // functions four.
  CHECK(reads(R"(mode = "nearest", coordinate_transformation_mode = "asymmetric", nearest_mode = "floor")") ==
        4 * 16 * 16 * 4);
  CHECK(reads(R"(mode = "linear", coordinate_transformation_mode = "asymmetric")") == 4 * 16 * 16 * 4);
  CHECK(reads(R"(mode = "linear")") == 4 * 32 * 32 * 4);
  CHECK(reads(R"(mode = "cubic")") == 4 * 64 * 64 * 4);
  CHECK(reads(R"(mode = "linear", antialias = 1)") == 4 * 64 * 64 * 4);
}

TEST_CASE("pairs that is_causal hides are not computed", "[floors]") {
  // One head of depth 8, 2,048 tokens: a pair of a query and a key takes 2 * (8 + 8) operations for the products and 6
  // for scale and softmax. Causal: 1 + 2 + ... + 2,048 pairs.
  const double pair = 2 * (8 + 8) + 6, tensor = 2048 * 8 * 4;
  const auto attention = [](const std::string& attributes) {
    return layers_of(
        "g (float[1, 1, 2048, 8] q, float[1, 1, 2048, 8] k, float[1, 1, 2048, 8] v) => (float[1, 1, 2048, 8] y) "
        "{ y = Attention" +
            attributes + "(q, k, v) }",
        {}, 23);
  };
  const auto causal = attention("<is_causal = 1>");
  CHECK(flops(causal) == 2048.0 * 2049 / 2 * pair);
  CHECK(causal.single.model_reads.value == 3 * tensor);
  CHECK(causal.single.model_writes.value == tensor);
  CHECK(flops(attention("")) == 2048.0 * 2048 * pair);
}

TEST_CASE("an update in place costs what it writes", "[floors]") {
  // One row of 64 floats in a cache of 4,096 rows, and its index, an i64.
  const auto model = layers_of(
      "g (float[4096, 64] c, int64[1, 1] p, float[1, 64] r) => (float[4096, 64] y) { y = ScatterND(c, p, r) }", {});
  CHECK(flops(model) == 0);
  CHECK(model.single.model_reads.value == 64 * 4 + 8);
  CHECK(model.single.model_writes.value == 64 * 4);
  CHECK(model.single.layers[0].needed.written.value == 64 * 4);
}

TEST_CASE("only the smaller one of the two operands of a Where is certain to be read", "[floors]") {
  const auto model =
      layers_of("g (bool[1] c, float[1] x, float[64000] z) => (float[64000] y) { y = Where(c, x, z) }", {});
  CHECK(model.single.model_reads.value == 1 + 4);
  const auto swapped =
      layers_of("g (bool[1] c, float[1] x, float[64000] z) => (float[64000] y) { y = Where(c, z, x) }", {});
  CHECK(swapped.single.model_reads.value == 1 + 4);
}
