// SPDX-License-Identifier: Apache-2.0
// Constants that are computed from others before a request arrives: a reader may read what the file stores, as much of
// it as it needs, or the computed constant, whichever is less. A multiply-add is two operations.
#include "least_work.hpp"
#include <benanza/bounds/analyze.hpp>

#include <algorithm>

namespace stored_constants {

using benanza::Form;
using benanza::LayerRow;
using benanza::testing::check_least;
using benanza::testing::Least;
using benanza::testing::least_layers;

constexpr auto f16 = onnx::TensorProto::FLOAT16, f8 = onnx::TensorProto::FLOAT8E4M3FN, i8 = onnx::TensorProto::INT8,
               i4 = onnx::TensorProto::INT4, f32 = onnx::TensorProto::FLOAT, boolean = onnx::TensorProto::BOOL;
// One row of 512 floats times 512 x 256 weights.
constexpr double macs = 512 * 256, x = 512 * 4, y = 256 * 4;
const std::string product = "(float[1, 512] x) => (float[1, 256] y) ";

/// The row of the one layer of a kind.
LayerRow row_of(const benanza::ModelLayers& model, Form form, const std::string& kind) {
  benanza::Run run;
  run.machine = {.device = "declared", .isa = "none", .cores = 1};
  benanza::ResultDatabase results;
  results.add(run);
  const benanza::Analysis analysis = benanza::analyze(model, results);
  const auto row = std::find_if(analysis.rows.begin(), analysis.rows.end(), [&](const LayerRow& each) {
    return each.form == form && each.signature.starts_with(kind + "/");
  });
  REQUIRE(row != analysis.rows.end());
  return *row;
}

TEST_CASE("the row of a layer has what the file stores of its weights, and what plans read", "[floors]") {
  for (const auto form : {Form::single, Form::fused}) {
    SECTION("i4 in blocks of 32 with f16 scales, which plans read as f32: " + std::to_string(form == Form::fused)) {
      const auto row = row_of(least_layers(product + R"({ a = DequantizeLinear<axis = 1, block_size = 32>(w, s)
          b = Cast<to = 1>(a) c = Transpose<perm = [1, 0]>(b) y = MatMul(x, c) })",
                                           {{"w", i4, {256, 512}, 0.5}, {"s", f16, {256, 16}, 2}}),
                              form, "MatMul");
      REQUIRE(row.weights);
      CHECK(row.weights->stored.value == Approx(macs / 2 + 2 * 256 * 16));
      CHECK(row.weights->read.value == Approx(4 * macs));
      CHECK(row.weights->expanded());
    }
    SECTION("a quantised product, which reads them compressed: " + std::to_string(form == Form::fused)) {
      const auto row = row_of(least_layers("(uint8[1, 512] x) => (int32[1, 256] y) { y = MatMulInteger(x, w) }",
                                           {{"w", i8, {512, 256}, 1}}),
                              form, "MatMul");
      REQUIRE(row.weights);
      CHECK(row.weights->stored.value == Approx(macs));
      CHECK(row.weights->read.value == Approx(macs));
      CHECK_FALSE(row.weights->expanded());
    }
    SECTION("f32, which is read as it is stored: " + std::to_string(form == Form::fused)) {
      const auto row = row_of(least_layers(product + "{ y = MatMul(x, w) }", {{"w", f32, {512, 256}}}), form, "MatMul");
      CHECK_FALSE(row.weights);
      CHECK_FALSE(row.lookup);
    }
    SECTION("a table of f16 behind a Cast: " + std::to_string(form == Form::fused)) {
      const auto row = row_of(least_layers(R"((int64[512] i) => (float[512, 64] y) {
          c = Cast<to = 1>(w) y = Gather<axis = 0>(c, i) })",
                                           {{"w", f16, {1000, 64}, 2}}),
                              form, "Gather");
      REQUIRE(row.weights);  // they count one row, which is certain to be read
      CHECK(row.weights->stored.value == Approx(64 * 2));
      CHECK(row.weights->read.value == Approx(64 * 4));
      REQUIRE(row.lookup);
      CHECK(row.lookup->certain.value == Approx(64 * 4));
      CHECK(row.lookup->expected.value == Approx(400.8577145704786 * 64 * 4));  // 1000 * (1 - 0.999**512) rows
    }
  }
}

TEST_CASE("chains behind a weight read what the file stores", "[floors]") {
  SECTION("f16: Cast, Transpose, Reshape") {
    check_least(least_layers(product + R"(<int64[2] s = {512, 256}> {
        a = Cast<to = 1>(w) b = Transpose<perm = [1, 0]>(a) c = Reshape(b, s) y = MatMul(x, c) })",
                             {{"w", f16, {256, 512}, 2}}),
                {2 * macs, x + 2 * macs, y});
  }
  SECTION("i4 in blocks of 32 with f16 scales: DequantizeLinear, Cast, Transpose") {
    check_least(least_layers(product + R"({ a = DequantizeLinear<axis = 1, block_size = 32>(w, s)
        b = Cast<to = 1>(a) c = Transpose<perm = [1, 0]>(b) y = MatMul(x, c) })",
                             {{"w", i4, {256, 512}, 0.5}, {"s", f16, {256, 16}, 2}}),
                {2 * macs, x + macs / 2 + 2 * 256 * 16, y});
  }
  SECTION("f8: Cast, Mul by a scale of each column") {
    check_least(least_layers(product + "{ a = Cast<to = 1>(w) b = Mul(a, s) y = MatMul(x, b) }",
                             {{"w", f8, {512, 256}, 1}, {"s", f32, {1, 256}}}),
                {2 * macs, x + macs + 256 * 4, y});
  }
  SECTION("f16 and i8 joined") {
    check_least(least_layers(product + R"(<float s = {0.5}> { a = Cast<to = 1>(w) b = DequantizeLinear(v, s)
        c = Concat<axis = 1>(a, b) y = MatMul(x, c) })",
                             {{"w", f16, {512, 128}, 2}, {"v", i8, {512, 128}, 1}}),
                {2 * macs, x + macs + macs / 2 + 4, y});
  }
  SECTION("f16 weights that a mask of the file chooses") {
    check_least(least_layers(product + "<float z = {0}> { a = Cast<to = 1>(w) b = Where(m, a, z) y = MatMul(x, b) }",
                             {{"w", f16, {512, 256}, 2}, {"m", boolean, {512, 256}, 1}}),
                {2 * macs, x + 2 * macs + macs + 4, y});
  }
}

TEST_CASE("a weight that two nodes unpack is read once", "[floors]") {
  // Two numbers of 4 bits in each of 64 x 32 bytes, and a scale for each of 64 columns.
  check_least(least_layers(R"((float[16, 64] x) => (float[16, 64] y) {
      low = BitwiseAnd(q, mask) high = BitShift<direction = "RIGHT">(q, four) c = Concat<axis = 1>(low, high)
      f = Cast<to = 1>(c) w = Mul(f, scale) y = MatMul(x, w) })",
                           {{"q", onnx::TensorProto::UINT8, {64, 32}, 1},
                            {"mask", onnx::TensorProto::UINT8, {}, 1},
                            {"four", onnx::TensorProto::UINT8, {}, 1},
                            {"scale", onnx::TensorProto::FLOAT, {64}}}),
              {2 * 16 * 64 * 64, 16 * 64 * 4 + 64 * 32 + 64 * 4, 16 * 64 * 4});
}

TEST_CASE("only the part of a weight that is taken is read", "[floors]") {
  SECTION("a half of f16 behind a Cast") {
    check_least(least_layers(R"((float[1, 512] x) => (float[1, 128] y)
        <int64[1] a = {0}, int64[1] b = {128}, int64[1] axis = {1}> {
          c = Cast<to = 1>(w) d = Slice(c, a, b, axis) y = MatMul(x, d) })",
                             {{"w", f16, {512, 256}, 2}}),
                {macs, x + macs, 128 * 4});
  }
  SECTION("both halves, for two products") {
    check_least(least_layers(R"((float[1, 512] x) => (float[1, 128] y, float[1, 128] z) {
        c = Cast<to = 1>(w) d, e = Split<axis = 1, num_outputs = 2>(c) y = MatMul(x, d) r = Relu(x) z = MatMul(r, e) })",
                             {{"w", f16, {512, 256}, 2}}),
                {2 * macs + 512, x + 2 * macs, 256 * 4});
  }
  SECTION("four rows of an i8 table") {
    // 4 rows of 64 bytes, one scale.
    check_least(least_layers(R"((float[1, 64] x) => (float[1, 4] y) <int64[4] i = {3, 100, 5, 999}, float s = {0.5}> {
        c = DequantizeLinear(w, s) d = Gather<axis = 0>(c, i) e = Transpose<perm = [1, 0]>(d) y = MatMul(x, e) })",
                             {{"w", i8, {1000, 64}, 1}}),
                {2 * 4 * 64, 64 * 4 + 4 * 64 + 4, 4 * 4});
  }
  SECTION("what is smaller once computed") {
    check_least(least_layers(R"((float[1, 1000] x) => (float[1, 1000] y) <int64[1] axis = {0}> {
        a = ReduceSum<keepdims = 1>(w, axis) y = Add(x, a) })",
                             {{"w", f32, {1000, 1000}}}),
                {1000, 2 * 4000, 4000});
  }
  SECTION("and the rows that another layer reads of it") {
    check_least(least_layers(R"((float[1, 1000] x) => (float[1, 1000] y, float[2, 1000] z)
        <int64[1] axis = {0}, int64[1] b = {2}> {
          a = ReduceSum<keepdims = 1>(w, axis) y = Add(x, a) s = Slice(w, axis, b, axis) z = Add(s, x) })",
                             {{"w", f32, {1000, 1000}}}),
                {3000, 4000 + 4000 + 8000, 4000 + 8000});
  }
  SECTION("a product of two thin ones") {
    check_least(least_layers("(float[1, 256] x) => (float[1, 256] y) { a = MatMul(u, v) y = MatMul(x, a) }",
                             {{"u", f32, {256, 8}}, {"v", f32, {8, 256}}}),
                {2 * 256 * 256, 1024 + 2 * 256 * 8 * 4, 1024});
  }
}

TEST_CASE("constants that are made of sizes alone are not read", "[floors]") {
  SECTION("ones of the shape of an input") {
    check_least(least_layers(R"((float[4096, 64] x) => (float[4096, 64] y) {
        s = Shape(x) o = ConstantOfShape<value = float[1] {1}>(s) y = Add(x, o) })"),
                {4096 * 64, 4096 * 64 * 4, 4096 * 64 * 4});
  }
  SECTION("what fills a stored shape may be a weight that was left out") {
    check_least(least_layers(R"((float[1, 64] x) => (float[1, 64] y) <int64[2] s = {64, 64}> {
        w = ConstantOfShape<value = float[1] {0.5}>(s) y = MatMul(x, w) })"),
                {2 * 64 * 64, 64 * 4 + 64 * 64 * 4, 64 * 4});
  }
}

TEST_CASE("a constant that is expanded is stored once and makes equal results", "[floors]") {
  SECTION("columns") {
    // 8 x 64 multiply-adds.
    check_least(least_layers(R"((float[8, 64] x) => (float[8, 512] y) <int64[2] s = {64, 512}> {
        a = Expand(w, s) y = MatMul(x, a) })",
                             {{"w", f32, {64, 1}}}),
                {2 * 8 * 64, 8 * 64 * 4 + 64 * 4, 8 * 512 * 4});
  }
  SECTION("64 columns 8 times") {
    check_least(least_layers(R"((float[8, 64] x) => (float[8, 512] y) <int64[2] r = {1, 8}> {
        a = Tile(w, r) y = MatMul(x, a) })",
                             {{"w", f32, {64, 64}}}),
                {2 * 8 * 64 * 64, 8 * 64 * 4 + 64 * 64 * 4, 8 * 512 * 4});
  }
  SECTION("one filter 64 times") {
    check_least(least_layers(R"((float[1, 4, 32, 32] x) => (float[1, 64, 30, 30] y) <int64[4] s = {64, 4, 3, 3}> {
        a = Expand(w, s) y = Conv(x, a) })",
                             {{"w", f32, {1, 4, 3, 3}}}),
                {2 * 900 * 36, 4 * 1024 * 4 + 36 * 4, 64 * 900 * 4});
  }
}

TEST_CASE("sizes, axes, places and limits of the file are in the code of a program", "[floors]") {
  SECTION("widths of a Pad: 16 floats become 36") {
    check_least(least_layers(R"((float[4, 4] x) => (float[6, 6] y) <int64[4] p = {1, 1, 1, 1}> { y = Pad(x, p) })"),
                {0, 16 * 4, 36 * 4});
  }
  SECTION("scales of a Resize") {
    check_least(least_layers(R"((float[1, 1, 4, 4] x) => (float[1, 1, 8, 8] y) <float[4] s = {1, 1, 2, 2}> {
        y = Resize<mode = "nearest">(x, , s) })"),
                {0, 16 * 4, 64 * 4});
  }
  SECTION("axes of a sum: an addition for each element") {
    check_least(least_layers(R"((float[4, 4] x) => (float[4] y) <int64[1] a = {1}> {
        y = ReduceSum<keepdims = 0>(x, a) })"),
                {16, 16 * 4, 4 * 4});
  }
  SECTION("limits of a Clip") {
    check_least(least_layers(R"((float[16] x) => (float[16] y) <float a = {0}, float b = {6}> { y = Clip(x, a, b) })"),
                {16, 16 * 4, 16 * 4});
  }
  SECTION("an axis of a tensor of one element, which has as many elements") {
    // An angle for each of 32 frequencies.
    check_least(least_layers(R"((float[1] x) => (float[1, 32] y) <int64[1] a = {1}> {
        u = Unsqueeze(x, a) y = Mul(u, w) })",
                             {{"w", f32, {32}}}),
                {32, 4 + 32 * 4, 32 * 4});
    check_least(least_layers(R"((int64 x) => (float[1] y) <int64[1] a = {0}> {
        u = Unsqueeze(x, a) c = Cast<to = 1>(u) y = Sin(c) })"),
                {2, 8, 4});  // a conversion counts, too
    check_least(least_layers(R"((float[1, 1] x) => (float[1, 1] y) <int64[1] a = {1}> {
        s = ReduceSum(x, a) y = Sin(s) })"),
                {1, 4, 4});
  }
  SECTION("the number of a TopK: values and i64 places of the first two") {
    check_least(least_layers(R"((float[16] x) => (float[2] v, int64[2] q) <int64[1] k = {2}> { v, q = TopK(x, k) })"),
                {16, 16 * 4, 2 * 4 + 2 * 8});
  }
}

TEST_CASE("a sparse weight is its numbers and their places", "[floors]") {
  // 1000 numbers of 4 bytes with indices of 8 bytes, or the tensor with its zeros if it has fewer bytes.
  const auto model = [](const std::string& text, const std::vector<std::int64_t>& dims) {
    auto result = benanza::testing::parse_model("g " + text, "<ir_version: 10, opset_import: [\"\" : 21]>");
    auto& sparse = *result.mutable_graph()->add_sparse_initializer();
    for (const auto dim : dims) sparse.add_dims(dim);
    sparse.mutable_values()->set_name("w");
    sparse.mutable_values()->set_data_type(f32);
    sparse.mutable_values()->add_dims(1000);
    sparse.mutable_values()->set_raw_data(std::string(4000, '\1'));
    sparse.mutable_indices()->set_data_type(onnx::TensorProto::INT64);
    sparse.mutable_indices()->add_dims(1000);
    sparse.mutable_indices()->set_raw_data(std::string(8000, '\0'));
    return benanza::make_model_layers(benanza::testing::import_model(result));
  };
  constexpr double stored = 1000 * 12;
  SECTION("each number is a multiply-add for each of 8 rows") {
    const Least least{2 * 8 * 1000, 8 * 512 * 4 + stored, 8 * 256 * 4};
    check_least(model("(float[8, 512] x) => (float[8, 256] y) { y = MatMul(x, w) }", {512, 256}), least);
    check_least(model("(float[8, 512] x) => (float[8, 256] y) { t = Transpose(w) y = MatMul(x, t) }", {256, 512}),
                least);
    check_least(model("(float[8, 512] x) => (float[8, 256] y) { y = Gemm<transB = 1>(x, w) }", {256, 512}), least);
    check_least(model("(float[8, 512] x) => (float[4, 8, 64] y) <int64[3] s = {4, 64, 512}> { v = Reshape(w, s) "
                      "y = Einsum<equation = \"bk,hdk->hbd\">(x, v) }",
                      {256, 512}),
                least);
  }
  SECTION("of a convolution: each number at 26 x 26 places") {
    const Least least{2 * 26 * 26 * 1000, 16 * 28 * 28 * 4 + 16 * 16 * 9 * 4, 16 * 26 * 26 * 4};
    const std::string image = "(float[1, 16, 28, 28] x) => (float[1, 16, 26, 26] y) ";
    check_least(model(image + "{ y = Conv(x, w) }", {16, 16, 3, 3}), least);
    check_least(model(image + "<int64[4] s = {16, 16, 3, 3}> { v = Reshape(w, s) y = Conv(x, v) }", {16, 144}), least);
  }
  SECTION("with padding: at 27 x 27 places or more") {
    const auto padded = model(
        "(float[1, 16, 28, 28] x) => (float[1, 16, 28, 28] y) { y = Conv<pads = [1, 1, 1, 1]>(x, w) }", {16, 16, 3, 3});
    CHECK(padded.single.layers[0].needed.flops.value == Approx(2 * 27 * 27 * 1000));
  }
  SECTION("of a transposed convolution: each number at each of 14 x 14 places") {
    check_least(
        model("(float[1, 16, 14, 14] x) => (float[1, 16, 28, 28] y) { y = ConvTranspose<strides = [2, 2]>(x, w) }",
              {16, 16, 2, 2}),
        {2 * 14 * 14 * 1000, 16 * 14 * 14 * 4 + 16 * 16 * 4 * 4, 16 * 28 * 28 * 4});
  }
}

TEST_CASE("a table that is an attribute tells a node from another", "[floors]") {
  // 64 results of one encoder, or of two.
  const auto table = [](const std::string& name, int first) {
    std::string text = name + " = float[100] {";
    for (int i = 0; i < 100; ++i) text += (i > 0 ? ", " : "") + std::to_string(first + i);
    return text + "}";
  };
  const auto encoders = [&](int first, int second) {
    const auto encoder = [&](int values) {
      return "ai.onnx.ml.LabelEncoder<" + table("keys_tensor", 0) + ", " + table("values_tensor", values) + ">(x) ";
    };
    return least_layers("(float[64] x) => (float[64] y, float[64] z) { y = " + encoder(first) +
                        "z = " + encoder(second) + "}");
  };
  CHECK(encoders(7, 7).single.model_writes.value == 64 * 4);
  CHECK(encoders(7, 8).single.model_writes.value == 2 * 64 * 4);
}

}  // namespace stored_constants
