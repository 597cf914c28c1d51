// SPDX-License-Identifier: Apache-2.0
// Models in which some elements are known before a request arrives, or are never read: crops, diagonals, triangles,
// repeated rows, hidden scores. The rest is counted by hand: a multiply-add is two operations, floats have 4 bytes.
#include "support/catch.hpp"
#include "support/onnx_text.hpp"
#include <benanza/fusion/model_layers.hpp>

#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

namespace {

using namespace benanza;

/// A matrix of floats in the file; with `leading` dimensions, one matrix for each batch and head.
struct Matrix {
  std::string name{};
  std::int64_t rows = 1, columns = 1;
  std::function<float(std::int64_t, std::int64_t)> number{};
  std::vector<std::int64_t> leading{};
};

ModelLayers known_layers(const std::string& text, const std::vector<Matrix>& matrices = {}, int opset = 21) {
  auto model = testing::parse_model(
      "g " + text, "<ir_version: 10, opset_import: [\"\" : " + std::to_string(opset) + ", \"com.microsoft\" : 1]>");
  for (const auto& matrix : matrices) {
    auto& tensor = *model.mutable_graph()->add_initializer();
    tensor.set_name(matrix.name);
    tensor.set_data_type(onnx::TensorProto::FLOAT);
    std::int64_t count = 1;
    for (const auto dim : matrix.leading) {
      tensor.add_dims(dim);
      count *= dim;
    }
    tensor.add_dims(matrix.rows);
    tensor.add_dims(matrix.columns);
    std::vector<float> numbers;
    for (std::int64_t i = 0; i < count; ++i)
      for (std::int64_t r = 0; r < matrix.rows; ++r)
        for (std::int64_t c = 0; c < matrix.columns; ++c) numbers.push_back(matrix.number(r, c));
    tensor.set_raw_data(std::string(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(float)));
  }
  return make_model_layers(testing::import_model(model));
}

void check_known(const ModelLayers& model, double flops, double reads) {
  for (const auto* graph : {&model.single, &model.fused})
    CHECK(std::accumulate(graph->layers.begin(), graph->layers.end(), 0.0, [](double sum, const Occurrence& at) {
            return sum + at.needed.flops.value * static_cast<double>(at.repeat);
          }) == Approx(flops));
  CHECK(model.single.model_reads.value == Approx(reads));
}

constexpr float hidden = -std::numeric_limits<float>::infinity();
float causal(std::int64_t r, std::int64_t c) { return c > r ? hidden : 0.0F; }

}  // namespace

TEST_CASE("a crop counts what it keeps", "[floors]") {
  // 32 x 32 of 64 x 64 positions, 4 channels.
  const std::string crop = "<int64[8] p = {0, 0, -16, -16, 0, 0, -16, -16}> { ";
  SECTION("of an input") {
    check_known(
        known_layers("(float[1, 4, 64, 64] x) => (float[1, 4, 32, 32] y) " + crop + "c = Pad(x, p) y = Relu(c) }"),
        4 * 32 * 32, 4 * 32 * 32 * 4);
  }
  SECTION("of a result, with axes") {
    check_known(known_layers(R"((float[1, 4, 64, 64] x) => (float[1, 4, 32, 64] y)
        <int64[2] p = {-16, -16}, int64[1] a = {2}> { r = Relu(x) y = Pad(r, p, , a) })"),
                4 * 32 * 64, 4 * 32 * 64 * 4);
  }
  SECTION("to the centre") {
    check_known(known_layers(R"((float[1, 4, 64, 64] x) => (float[1, 4, 32, 32] y)
        <int64[2] s = {32, 32}> { r = Relu(x) y = CenterCropPad<axes = [2, 3]>(r, s) })"),
                4 * 32 * 32, 4 * 32 * 32 * 4);
  }
  SECTION("cut off in front and padded behind: 48 of 64 columns") {
    check_known(known_layers(R"((float[8, 64] x) => (float[8, 80] y)
        <int64[4] p = {0, -16, 0, 32}> { r = Relu(x) y = Pad(r, p) })"),
                8 * 48, 8 * 48 * 4);
  }
}

TEST_CASE("phases of a dilated convolution count only taps inside the image", "[floors]") {
  // 3 x 3 taps with 4 places between two of them, 14 x 14 places, 4 channels to 8. The first 4 and the last 4 places
  // lack a tap: 14 + 10 + 10 = 34 along each axis. The phases are padded to 6 x 6 places and computed at 4 x 4; some of
  // these lie outside of the result.
  const double taps = 34 * 34, places = 14 * 14;
  const auto phases = [](const std::string& x, const std::string& before, const std::string& behind,
                         const std::string& y) {
    return known_layers("(float[" + x + "] x, float[8, 4, 3, 3] w, float[8, 1, 1] r) => (float[" + y +
                        "] y) <int64[2] from = {0, 0}, int64[2] to = {14, 14}, int64[4] s2 = {16, 4, 6, 6}, "
                        "int64[4] d2 = {16, 6, 6, 4}, " +
                        before + " c = Conv(b, w) " + behind + " }");
  };
  SECTION("channels first, and an addend") {
    check_known(
        phases("1, 4, 14, 14",
               "int64[8] p = {0, 0, 4, 4, 0, 0, 6, 6}, int64[6] s1 = {1, 4, 6, 4, 6, 4}, int64[6] s3 = {4, 4, 1, "
               "8, 4, 4}, int64[4] s4 = {1, 8, 16, 16}, int64[2] axes = {2, 3}> { q = Pad(x, p) "
               "f = Reshape(q, s1) g = Transpose<perm = [3, 5, 0, 1, 2, 4]>(f) b = Reshape(g, s2)",
               "h = Reshape(c, s3) i = Transpose<perm = [2, 3, 4, 0, 5, 1]>(h) k = Reshape(i, s4) "
               "u = Slice(k, from, to, axes) y = Add(u, r)",
               "1, 8, 14, 14"),
        2 * 4 * 8 * taps, (4 * places + 8 * 4 * 9 + 8) * 4);
  }
  SECTION("channels last") {
    check_known(
        phases("1, 14, 14, 4",
               "int64[8] p = {0, 4, 4, 0, 0, 6, 6, 0}, int64[6] s1 = {1, 6, 4, 6, 4, 4}, int64[6] s3 = {4, 4, 1, "
               "4, 4, 8}, int64[4] s4 = {1, 16, 16, 8}, int64[2] axes = {1, 2}> { q = Pad(x, p) "
               "f = Reshape(q, s1) g = Transpose<perm = [2, 4, 0, 1, 3, 5]>(f) t = Reshape(g, d2) "
               "b = Transpose<perm = [0, 3, 1, 2]>(t)",
               "h = Transpose<perm = [0, 2, 3, 1]>(c) j = Reshape(h, s3) "
               "i = Transpose<perm = [2, 3, 0, 4, 1, 5]>(j) k = Reshape(i, s4) y = Slice(k, from, to, axes)",
               "1, 14, 14, 8"),
        2 * 4 * 8 * taps, (4 * places + 8 * 4 * 9) * 4);
  }
}

TEST_CASE("an Einsum with a label twice reads the diagonal", "[floors]") {
  const auto model = [](const std::string& sizes, const std::string& result, const std::string& equation) {
    return known_layers("(float[" + sizes + "] x) => (float[" + result + "] y) { r = Relu(x) y = Einsum<equation = \"" +
                        equation + "\">(r) }");
  };
  check_known(model("100, 100", "100", "ii->i"), 100, 100 * 4);
  check_known(model("100, 100", "", "ii->"), 100 + 100, 100 * 4);  // a maximum and an addition each
  check_known(model("5, 100, 100", "5, 100", "bii->bi"), 500, 500 * 4);
  check_known(model("5, 100, 100", "5", "bii->b"), 500 + 500, 500 * 4);
  // The trace of a product: 100 sums of 8 products; both operands are read whole.
  check_known(known_layers("(float[100, 8] x, float[8, 100] w) => (float[100] y) "
                           "{ p = MatMul(x, w) y = Einsum<equation = \"ii->i\">(p) }"),
              2 * 100 * 8, 2 * 800 * 4);
}

TEST_CASE("a Resize of which a part is read needs the cells of that part", "[floors]") {
  const auto cropped = [](const std::string& attributes, const std::string& scale, std::int64_t y, std::int64_t first,
                          std::int64_t kept, const std::string& region = "") {
    const std::string side = std::to_string(y), part = std::to_string(kept);
    return known_layers("(float[1, 2, 256, 256] x) => (float[1, 2, " + part + ", " + part +
                        "] y) <float[4] s = {1, 1, " + scale + ", " + scale + "}, int64[2] a = {" +
                        std::to_string(first) + ", " + std::to_string(first) + "}, int64[2] b = {" +
                        std::to_string(first + kept) + ", " + std::to_string(first + kept) +
                        "}, int64[2] axes = {2, 3}, float[0] none = {}> { m = Relu(x) r = Resize<" + attributes +
                        ">(m, " + region + ", s) y = Slice(r, a, b, axes) }");
  };
  const auto needed_of_x = [](const ModelLayers& model) { return model.single.layers[0].needed.flops.value / 2; };
  // Twice as large: results 0 to 7 lie at -0.25 to 3.25, that is, between cells 0 and 4.
  CHECK(needed_of_x(cropped("mode = \"linear\"", "2", 512, 0, 8)) == Approx(5 * 5));
  CHECK(needed_of_x(cropped("mode = \"linear\"", "2", 512, 0, 8, "none")) == Approx(5 * 5));  // as exporters write it
  // The nearest of these are cells 0 to 3; cubic functions need two on each side, -2 to 5.
  CHECK(needed_of_x(cropped("mode = \"nearest\"", "2", 512, 0, 8)) == Approx(4 * 4));
  CHECK(needed_of_x(cropped("mode = \"cubic\"", "2", 512, 0, 8)) == Approx(6 * 6));
  // A quarter of the size, asymmetric: results 3 and 4 are cells 12 and 16.
  CHECK(needed_of_x(cropped("mode = \"linear\", coordinate_transformation_mode = \"asymmetric\"", "0.25", 64, 3, 2)) ==
        Approx(2 * 2));
  // A mean over windows: result 3 lies at 13.5; the cells that are less than 4 away are 10 to 17.
  CHECK(needed_of_x(cropped("mode = \"linear\", antialias = 1", "0.25", 64, 3, 1)) == Approx(8 * 8));
}

TEST_CASE("a Resize to the same size reads what is read of its result", "[floors]") {
  check_known(known_layers(R"((float[1,2,8,8] x) => (float[1,2,1,8] z)
      <float[4] s = {1,1,1,1}, int64[1] b = {0}, int64[1] e = {1}, int64[1] a = {2}> {
        r = Relu(x) y = Resize<mode = "linear">(r, , s) z = Slice(y, b, e, a) })"),
              16, 64);
}

TEST_CASE("images, rows and columns of zeros that a Pad adds take no arithmetic", "[floors]") {
  const std::string pad = "<int64[8] p = {0,0,0,0,3,0,0,0}> { y = Pad(x, p) z = ";
  const auto conv = known_layers("(float[1,8,4,4] x, float[8,8,1,1] w) => (float[4,8,4,4] z)" + pad + "Conv(y, w) }");
  check_known(conv, 2.0 * 8 * 8 * 16, 4.0 * (8 * 16 + 64));
  const auto flops = [](const ModelLayers& model) {
    double sum = 0;
    for (const auto& at : model.single.layers) sum += at.needed.flops.value;
    return sum;
  };
  for (const std::string pool : {"AveragePool<kernel_shape = [2, 2]>", "MaxPool<kernel_shape = [2, 2]>"})
    CHECK(flops(known_layers("(float[1,8,4,4] x) => (float[4,8,3,3] z)" + pad + pool + "(y) }")) ==
          flops(known_layers("(float[1,8,4,4] x) => (float[1,8,3,3] z) { z = " + pool + "(x) }")));
  const std::string rows = "<int64[4] p = {0,0,7,0}> { y = Pad(x, p) z = ";
  check_known(known_layers("(float[1,8] x, float[8,8] w) => (float[8,8] z)" + rows + "Gemm(y, w) }"), 128, 32 + 256);
  check_known(known_layers("(float[1,8] x, float[8,8] w) => (float[8,8] z)" + rows + "Gemm<transB = 1>(y, w) }"), 128,
              32 + 256);
  // One row of 8: seven additions or comparisons at most.
  for (const std::string type : {"ReduceSum", "ReduceMax"}) {
    const double least =
        flops(known_layers("(float[1,8] x) => (float[8,1] z)<int64[4] p = {0,0,7,0}, int64[1] a = {1}>"
                           "{ y = Pad(x, p) z = " +
                           type + "(y, a) }"));
    CHECK(least > 0);
    CHECK(least <= 8);
  }
}

TEST_CASE("a maximum over a triangle compares its elements alone", "[floors]") {
  // 10 of 16 elements are in the lower triangle; the operand takes no arithmetic.
  const auto model = known_layers(
      "(float[4,4] x) => (float[4,1] z) <int64[1] a = {1}> "
      "{ y = Trilu<upper = 0>(x) z = ReduceMax(y, a) }");
  check_known(model, 10, 4.0 * 10);
}

TEST_CASE("a norm of one number is its bias, and one in training needs no mean", "[floors]") {
  check_known(known_layers("(float[1,4,1,1] x, float[4] s, float[4] b) => (float[1,4,1,1] z)"
                           "{ z = InstanceNormalization(x, s, b) }"),
              0, 16);
  CHECK(known_layers("(float[4,8] x, float[8] s, float[8] b, float[8] m, float[8] v) => (float[4,8] z)"
                     "{ z, rm, rv = BatchNormalization<training_mode = 1>(x, s, b, m, v) }")
            .single.model_reads.value == 4.0 * (32 + 8 + 8));
  CHECK(known_layers("(float[4,8] x, float[8] s, float[8] b, float[8] m, float[8] v) => (float[4,8] z, float[8] rm)"
                     "{ z, rm, rv = BatchNormalization<training_mode = 1>(x, s, b, m, v) }")
            .single.model_reads.value == 4.0 * (32 + 8 + 8 + 8));
}

TEST_CASE("settings that the file contains are not read, whatever the operator", "[floors]") {
  CHECK(known_layers("(float[1,1,2,2] x, int64[1,1,2,2] i) => (float[1,1,4,4] z) <int64[4] s = {1,1,4,4}> "
                     "{ z = MaxUnpool<kernel_shape = [2, 2], strides = [2, 2]>(x, i, s) }")
            .single.model_reads.value ==
        known_layers("(float[1,1,2,2] x, int64[1,1,2,2] i) => (float[1,1,4,4] z) "
                     "{ z = MaxUnpool<kernel_shape = [2, 2], strides = [2, 2]>(x, i) }")
            .single.model_reads.value);
}

TEST_CASE("a Resize reads the region that it cuts out", "[floors]") {
  // Cells 0 to 127.5 of 255 along each axis in 8 steps: at 0, 18.2, ..., 127.5, two cells each except for the first.
  const auto model = known_layers(R"((float[1, 1, 256, 256] x) => (float[1, 1, 8, 8] y)
      <float[8] roi = {0, 0, 0, 0, 1, 1, 0.5, 0.5}, int64[4] s = {1, 1, 8, 8}> {
        r = Relu(x) y = Resize<mode = "linear", coordinate_transformation_mode = "tf_crop_and_resize">(r, roi, , s) })");
  CHECK(model.single.layers[0].needed.flops.value == Approx(15 * 15));
}

TEST_CASE("products of a OneHot pick rows", "[floors]") {
  // An index may lie outside of the table: then the row is zeros, and nothing of the table is read.
  const auto model = known_layers(R"((int64[16] i, float[1000, 64] w) => (float[16, 64] y)
      <int64 depth = {1000}, float[2] values = {0, 1}> { h = OneHot(i, depth, values) y = MatMul(h, w) })");
  check_known(model, 0, 16 * 8);
}

TEST_CASE("zeros of a triangle are not multiplied", "[floors]") {
  // 64 * 65 / 2 elements on and below the diagonal.
  const double half = 64 * 65 / 2;
  SECTION("computed") {
    const auto model = known_layers(
        "(float[64, 64] x, float[64, 16] z) => (float[64, 16] y) { t = Trilu<upper = 0>(x) y = MatMul(t, z) }");
    check_known(model, 2 * 16 * half, half * 4 + 64 * 16 * 4);
  }
  SECTION("the second operand, upper") {
    const auto model =
        known_layers("(float[16, 64] x, float[64, 64] z) => (float[16, 64] y) { t = Trilu(z) y = MatMul(x, t) }");
    check_known(model, 2 * 16 * half, half * 4 + 64 * 16 * 4);
  }
  SECTION("transposed and scaled") {
    const auto model = known_layers(R"((float[64, 64] x, float[64, 16] z, float[1] s) => (float[64, 16] y) {
        t = Trilu(x) u = Transpose(t) v = Mul(u, s) y = MatMul(v, z) })");
    check_known(model, half + 2 * 16 * half, half * 4 + 64 * 16 * 4 + 4);
  }
  SECTION("both operands: the rows and columns that meet in element k are 64 - k and k + 1") {
    const auto model = known_layers(R"((float[64, 64] x, float[64, 64] z) => (float[64, 64] y) {
        t = Trilu<upper = 0>(x) u = Trilu<upper = 0>(z) y = MatMul(t, u) })");
    double products = 0;
    for (int k = 0; k < 64; ++k) products += (64 - k) * (k + 1);
    check_known(model, 2 * products, 2 * half * 4);
  }
  SECTION("a constant of the file, whose numbers are known") {
    const auto model = known_layers("(float[64, 16] z) => (float[64, 16] y) { y = MatMul(t, z) }",
                                    {{"t", 64, 64, [](auto r, auto c) { return c > r ? 0.0F : 1.0F; }}});
    check_known(model, 2 * 16 * half, 64 * 16 * 4);
  }
  SECTION("weights of the file that are a triangle: half of them are read") {
    const auto model =
        known_layers("(float[64, 16] z) => (float[64, 16] y) { y = MatMul(t, z) }",
                     {{"t", 64, 64, [](auto r, auto c) { return c > r ? 0.0F : static_cast<float>(r * 64 + c + 1); }}});
    check_known(model, 2 * 16 * half, half * 4 + 64 * 16 * 4);
  }
  SECTION("zeros of a triangle may have a sign") {
    const auto model = known_layers(
        "(float[64, 16] z) => (float[64, 16] y) { y = MatMul(t, z) }",
        {{"t", 64, 64, [](auto r, auto c) { return c > r ? -0.0F : static_cast<float>(r * 64 + c + 1); }}});
    check_known(model, 2 * 16 * half, half * 4 + 64 * 16 * 4);
  }
  SECTION("a diagonal of the file") {
    const auto model =
        known_layers("(float[64, 16] z) => (float[64, 16] y) { y = MatMul(t, z) }",
                     {{"t", 64, 64, [](auto r, auto c) { return c == r ? static_cast<float>(r + 1) : 0.0F; }}});
    check_known(model, 2 * 16 * 64, 64 * 4 + 64 * 16 * 4);
  }
  SECTION("nor added up") {
    check_known(known_layers("(float[64, 64] x) => (float[64] y) <int64[1] a = {1}> { t = Trilu<upper = 0>(x) "
                             "y = ReduceSum<keepdims = 0>(t, a) }"),
                half, half * 4);
  }
  SECTION("of a product: what lies above the diagonal is not computed") {
    const auto model = known_layers(
        "(float[64, 8] x, float[8, 64] z) => (float[64, 64] y) { p = MatMul(x, z) y = Trilu<upper = 0>(p) }");
    check_known(model, 2 * 8 * half, 2 * 8 * 64 * 4);
    check_known(known_layers(R"((float[64, 8] x, float[8, 80] z) => (float[64, 64] y)
        <int64[1] a = {16}, int64[1] b = {80}, int64[1] axis = {1}> {
          p = MatMul(x, z) s = Slice(p, a, b, axis) y = Trilu<upper = 0>(s) })"),
                2 * 8 * half, 2 * 8 * 64 * 4);
  }
  SECTION("two matrices of the file: the numbers beside their diagonals") {
    // Three numbers in each row, two in the first and the last.
    const auto model = known_layers(
        "(float[2, 64, 16] z) => (float[2, 64, 16] y) { y = MatMul(t, z) }",
        {{"t",
          64,
          64,
          [](auto r, auto c) { return c > r + 1 || r > c + 1 ? 0.0F : static_cast<float>(r * 64 + c + 1); },
          {2}}});
    check_known(model, 2 * 2 * 16 * 190, 2 * 190 * 4 + 2 * 64 * 16 * 4);
  }
  SECTION("in blocks of 32: a triangle on the diagonal, zeros above it") {
    const auto block = [](const std::string& rows, const std::string& columns) {
      return known_layers("(float[64, 64] x, float[32, 16] z) => (float[32, 16] y) { t = Trilu<upper = 0>(x) " + rows +
                          " = Split<num_outputs = 2>(t) " + columns +
                          " = Split<axis = 1, num_outputs = 2>(r) y = MatMul(c, z) }");
    };
    check_known(block("r, s", "c, d"), 2 * 16 * 528, 528 * 4 + 32 * 16 * 4);
    check_known(block("s, r", "d, c"), 2 * 16 * 528, 528 * 4 + 32 * 16 * 4);
    check_known(block("s, r", "c, d"), 2 * 16 * 32 * 32, 32 * 32 * 4 + 32 * 16 * 4);
    check_known(block("r, s", "d, c"), 0, 0);
  }
  SECTION("of both addends, but not of one of them") {
    const auto sum = [](const std::string& second) {
      return known_layers(
          "(float[64, 64] x, float[64, 64] v, float[64, 16] z) => (float[64, 16] y) { "
          "t = Trilu<upper = 0>(x) u = Trilu<upper = " +
          second + ">(v) s = Add(t, u) y = MatMul(s, z) }");
    };
    check_known(sum("0"), half + 2 * 16 * half, 2 * half * 4 + 64 * 16 * 4);
    check_known(sum("1"), 64 * 64 + 2 * 16 * 64 * 64, 2 * half * 4 + 64 * 16 * 4);
  }
  SECTION("some rows or columns of the result: 1 + 2 + ... + 8 products, and 8 positions of the other operand") {
    const std::string part = "<int64[1] a = {0}, int64[1] b = {8}, int64[1] axes = {";
    check_known(known_layers("(float[64, 64] x, float[64, 16] z) => (float[8, 16] y) " + part +
                             "0}> { t = Trilu<upper = 0>(x) p = MatMul(t, z) y = Slice(p, a, b, axes) }"),
                2 * 16 * 36, 36 * 4 + 8 * 16 * 4);
    check_known(known_layers("(float[16, 64] x, float[64, 64] z) => (float[16, 8] y) " + part +
                             "1}> { t = Trilu(z) p = MatMul(x, t) y = Slice(p, a, b, axes) }"),
                2 * 16 * 36, 36 * 4 + 8 * 16 * 4);
  }
  SECTION("weights of other numbers are looked at no further") {
    const auto model = known_layers("(float[64, 16] z) => (float[64, 16] y) { y = MatMul(t, z) }",
                                    {{"t", 64, 64, [](auto r, auto c) { return static_cast<float>(r * 64 + c); }}});
    check_known(model, 2 * 16 * 64 * 64, 64 * 64 * 4 + 64 * 16 * 4);
  }
}

TEST_CASE("products of repeated rows are one product", "[floors]") {
  SECTION("rows") {
    // 64 x 32 multiply-adds and 32 maxima.
    const auto model = known_layers(R"((float[1, 64] x, float[64, 32] w) => (float[128, 32] y)
        <int64[2] s = {128, 64}> { e = Expand(x, s) p = MatMul(e, w) y = Relu(p) })");
    check_known(model, 2 * 64 * 32 + 32, 64 * 4 + 64 * 32 * 4);
    CHECK(model.single.model_writes.value == 128 * 32 * 4);
  }
  SECTION("a batch behind a reshape, a norm and a bias") {
    // One of 8 images: 4 rows of 16; mean 1, variance 2, norm 2, scale 1; sums with a bias; 16 x 8 multiply-adds.
    const auto model = known_layers(R"((float[1, 64] x, float[16, 8] w, float[16] b, float[16] s) => (float[8, 4, 8] y)
        <int64[2] t = {8, 1}, int64[3] r = {8, 4, 16}> {
          e = Tile(x, t) f = Reshape(e, r) n = LayerNormalization(f, s) a = Add(n, b) y = MatMul(a, w) })");
    check_known(model, 64 * 6 + 64 + 2 * 4 * 16 * 8, 64 * 4 + 16 * 8 * 4 + 2 * 16 * 4);
  }
  SECTION("an addend that differs ends it") {
    const auto model = known_layers(R"((float[1, 64] x, float[128, 64] z, float[64, 32] w) => (float[128, 32] y)
        <int64[2] s = {128, 64}> { e = Expand(x, s) a = Add(e, z) y = MatMul(a, w) })");
    check_known(model, 128 * 64 + 2 * 128 * 64 * 32, 64 * 4 + 128 * 64 * 4 + 64 * 32 * 4);
  }
  SECTION("along the axis of a sum of what is before it, nothing is equal") {
    const auto model = known_layers(R"((float[1, 64] x) => (float[128, 64] y) <int64[2] s = {128, 64}, int64 a = {0}> {
        e = Expand(x, s) y = CumSum(e, a) })");
    CHECK(model.single.layers.back().needed.flops.value == cost(model.single.layers.back().layer).flops.value);
  }
}

TEST_CASE("scores that a constant mask hides are not computed", "[floors]") {
  // 2 heads of depth 8, 128 tokens: 128 * 129 / 2 pairs per head. A pair takes 2 * (8 + 8) operations for the products
  // and 4 for the softmax. Queries are scaled, sums of products start with the mask, and results are divided.
  const double pairs = 2 * 128 * 129 / 2, of_pair = 2 * 16 + 4, qkv = 3 * 2 * 128 * 8 * 4;
  const std::string operands =
      "(float[1, 2, 128, 8] q, float[1, 2, 128, 8] k, float[1, 2, 128, 8] v) => "
      "(float[1, 2, 128, 8] y) ";
  const Matrix mask{"m", 128, 128, causal};
  SECTION("in one node") {
    check_known(known_layers(operands + "{ y = Attention(q, k, v, m) }", {mask}, 23), pairs * of_pair, qkv);
  }
  SECTION("the same for each head") {
    check_known(known_layers(operands + "{ y = Attention(q, k, v, m) }", {{"m", 128, 128, causal, {1, 2}}}, 23),
                pairs * of_pair, qkv);
  }
  const auto masked = [&](const std::string& constants, const std::string& masking,
                          const std::vector<Matrix>& masks = {}) {
    return known_layers(
        operands + "<float r = {0.5}, float low = {-10000}, float zero = {0}, float one = {1}, " +
            "int64 start = {0}, int64 end = {128}, int64 step = {1}, int64[1] last = {1}, int64[2] size = "
            "{128, 128}" +
            constants + "> { t = Transpose<perm = [0, 1, 3, 2]>(k) a = MatMul(q, t) c = Mul(a, r) " + masking +
            " p = Softmax<axis = -1>(d) y = MatMul(p, v) }",
        masks);
  };
  const std::string places = "j = Range(start, end, step) i = Unsqueeze(j, last) ";
  SECTION("added") {
    const auto model = masked("", "d = Add(c, m)", {mask});
    check_known(model, pairs * of_pair, qkv + 4);
    CHECK(model.fused.layers.size() == 1);
  }
  SECTION("made of a mask of ones") {
    check_known(masked("", "n = Sub(one, m) o = Mul(n, low) d = Add(c, o)",
                       {{"m", 128, 128, [](auto r, auto c) { return c > r ? 0.0F : 1.0F; }}}),
                pairs * of_pair, qkv + 4);
  }
  SECTION("by a factor of 0 and a large number that is taken away, one operation each") {
    check_known(masked(", float large = {10000}", "e = Mul(c, m) n = Sub(one, m) o = Mul(n, large) d = Sub(e, o)",
                       {{"m", 128, 128, [](auto r, auto c) { return c > r ? 0.0F : 1.0F; }}}),
                pairs * (of_pair + 2), qkv + 4);
  }
  SECTION("chosen by a triangle that is computed; a choice is one operation") {
    check_known(masked("",
                       "o = ConstantOfShape<value = float[1] {1}>(size) l = Trilu<upper = 0>(o) b = Cast<to = 9>(l) "
                       "d = Where(b, c, low)"),
                pairs * (of_pair + 1), qkv + 8);
  }
  SECTION("chosen by places") {
    check_known(masked("", places + "b = Greater(j, i) d = Where(b, low, c)"), pairs * (of_pair + 1), qkv + 8);
  }
  SECTION("a window of 32") {
    // 1 + 2 + ... + 32 pairs, then 96 times 32 pairs.
    check_known(
        masked(", int64 before = {31}", places + "f = Sub(i, before) g = GreaterOrEqual(j, f) h = LessOrEqual(j, i) "
                                                 "b = And(g, h) d = Where(b, c, low)"),
        2 * (32 * 33 / 2 + 96 * 32) * (of_pair + 1), qkv + 8);
  }
  SECTION("a window of 32 by the distance of places") {
    check_known(masked(", int64 width = {32}", places + "f = Sub(i, j) g = Less(f, width) h = LessOrEqual(j, i) "
                                                        "b = And(g, h) d = Where(b, c, low)"),
                2 * (32 * 33 / 2 + 96 * 32) * (of_pair + 1), qkv + 8);
  }
  SECTION("31 tokens on each side: at both ends 31 + 30 + ... + 1 of them are missing") {
    check_known(masked(", int64 width = {32}", places + "f = Sub(i, j) e = Abs(f) b = Less(e, width) "
                                                        "d = Where(b, c, low)"),
                2 * (128 * 63 - 2 * 496) * (of_pair + 1), qkv + 8);
  }
  SECTION("a window of 32 as the difference of two triangles") {
    check_known(masked(", int64 back = {-32}",
                       "o = ConstantOfShape<value = float[1] {1}>(size) l = Trilu<upper = 0>(o) "
                       "e = Trilu<upper = 0>(o, back) f = Sub(l, e) b = Cast<to = 9>(f) d = Where(b, c, low)"),
                2 * (32 * 33 / 2 + 96 * 32) * (of_pair + 1), qkv + 8);
  }
  SECTION("a window of 32, of which the last token is read: 32 keys and values") {
    // Two heads.
    const Matrix window{"m", 128, 128, [](auto r, auto c) { return c > r || r - c > 31 ? hidden : 0.0F; }};
    const std::string last = " <int64[1] a = {127}, int64[1] b = {128}, int64[1] axes = {2}> { ";
    const double reads = (2 * 8 + 2 * 2 * 32 * 8) * 4;
    check_known(known_layers("(float[1, 2, 128, 8] q, float[1, 2, 8, 128] k, float[1, 2, 128, 8] v) => "
                             "(float[1, 2, 1, 8] y)" +
                                 last +
                                 "c = MatMul(q, k) d = Add(c, m) p = Softmax<axis = -1>(d) h = MatMul(p, v) "
                                 "y = Slice(h, a, b, axes) }",
                             {window}),
                2 * 32 * of_pair, reads);
    check_known(known_layers("(float[1, 2, 128, 8] q, float[1, 2, 128, 8] k, float[1, 2, 128, 8] v) => "
                             "(float[1, 2, 1, 8] y)" +
                                 last + "h = Attention(q, k, v, m) y = Slice(h, a, b, axes) }",
                             {window}, 23),
                2 * 32 * of_pair, reads);
  }
  const Matrix ones{"m", 128, 128, [](auto r, auto c) { return c > r ? 0.0F : 1.0F; }};
  SECTION("a window of 32 by a second mask, which is added to the first before a request") {
    check_known(masked("", "e = Add(c, w) d = Add(e, m)",
                       {mask, {"w", 128, 128, [](auto r, auto c) { return r - c > 31 ? hidden : 0.0F; }}}),
                2 * (32 * 33 / 2 + 96 * 32) * of_pair, qkv + 4);
  }
  SECTION("a window of 32 by two choices; each is one operation") {
    check_known(masked(", int64 width = {32}", places + "f = Sub(i, j) g = Less(f, width) h = LessOrEqual(j, i) "
                                                        "e = Where(g, c, low) d = Where(h, e, low)"),
                2 * (32 * 33 / 2 + 96 * 32) * (of_pair + 2), qkv + 8);
  }
  const auto padded = [&](const std::string& masking) {
    return known_layers(
        "(float[1, 2, 128, 8] q, float[1, 2, 128, 8] k, float[1, 2, 128, 8] v, float[128] real) => "
        "(float[1, 2, 128, 8] y) <float r = {0.5}, float low = {-10000}, float half = {0.5}, float one = {1}> { "
        "t = Transpose<perm = [0, 1, 3, 2]>(k) a = MatMul(q, t) c = Mul(a, r) n = Mul(m, real) " +
            masking + " p = Softmax<axis = -1>(d) y = MatMul(p, v) }",
        {ones});
  };
  SECTION("joined with a mask of the request; the heads share three operations for a pair") {
    check_known(padded("o = Sub(one, n) h = Mul(o, low) d = Add(c, h)"), pairs * (of_pair + 1.5),
                qkv + 3 * 4 + 128 * 4);
  }
  SECTION("joined with one, compared and chosen; the heads share two operations for a pair") {
    check_known(padded("b = Less(n, half) d = Where(b, low, c)"), pairs * (of_pair + 2), qkv + 3 * 4 + 128 * 4);
  }
  const auto weighted = [&](const std::string& weights, const std::string& constants = "") {
    return known_layers(operands + "<float r = {0.5}" + constants +
                            "> { t = Transpose<perm = [0, 1, 3, 2]>(k) a = MatMul(q, t) c = Mul(a, r) d = Add(c, m) " +
                            weights + " y = MatMul(p, v) }",
                        {mask});
  };
  SECTION("and a softmax along an axis that is not the last") {
    check_known(
        weighted(
            "u = Transpose<perm = [0, 2, 3, 1]>(d) s = Softmax<axis = 2>(u) p = Transpose<perm = [0, 3, 1, 2]>(s)"),
        pairs * of_pair, qkv + 4);
  }
  SECTION("and exponents, divided by their sum") {
    check_known(weighted("e = Exp(d) s = ReduceSum<keepdims = 1>(e, last) p = Div(e, s)", ", int64[1] last = {3}"),
                pairs * (2 * 16 + 3), qkv + 4);
  }
  SECTION("and a logarithm of the softmax; its exponent is one operation more") {
    check_known(weighted("l = LogSoftmax<axis = -1>(d) p = Exp(l)"), pairs * (2 * 16 + 5 + 1), qkv + 4);
  }
  SECTION("limited by a Max, which is one operation") {
    check_known(masked(", float least = {-3e38}", "e = Add(c, m) d = Max(e, least)", {mask}), pairs * (of_pair + 1),
                qkv + 2 * 4);
  }
  SECTION("with data that an Or adds; the heads share it") {
    check_known(known_layers("(float[1, 2, 128, 8] q, float[1, 2, 128, 8] k, float[1, 2, 128, 8] v, bool[128] given) "
                             "=> (float[1, 2, 128, 8] y) <float r = {0.5}, float low = {-10000}, int64 start = {0}, "
                             "int64 end = {128}, int64 step = {1}, int64[1] last = {1}> { " +
                             places +
                             "t = Transpose<perm = [0, 1, 3, 2]>(k) a = MatMul(q, t) c = Mul(a, r) g = Greater(j, i) "
                             "o = Or(g, given) d = Where(o, low, c) p = Softmax<axis = -1>(d) y = MatMul(p, v) }"),
                pairs * (of_pair + 1.5), qkv + 2 * 4 + 128);
  }
  SECTION("and a Where that replaces NaN behind the softmax: two operations, and the division of each score") {
    check_known(weighted("s = Softmax<axis = -1>(d) n = IsNaN(s) p = Where(n, zero, s)", ", float zero = {0}"),
                pairs * (of_pair + 3), qkv + 2 * 4);
  }
  SECTION("and a softmax that is written out: maximum, difference, exponent, sum and division") {
    check_known(weighted("h = ReduceMax<keepdims = 1>(d, last) s = Sub(d, h) e = Exp(s) u = ReduceSum<keepdims = 1>(e, "
                         "last) p = Div(e, u)",
                         ", int64[1] last = {3}"),
                pairs * (of_pair + 1), qkv + 4);
  }
  SECTION("in two parts, one below the other") {
    const auto part = [](const std::string& name, int first) {
      return Matrix{name, 64, 128, [first](auto r, auto c) { return c > r + first ? hidden : 0.0F; }};
    };
    check_known(masked("", "m = Concat<axis = 0>(above, below) d = Add(c, m)", {part("above", 0), part("below", 64)}),
                pairs * of_pair, qkv + 4);
  }
  SECTION("a score that is taken where a hidden one is not equal to what hides it counts") {
    // All pairs count, with one addition, one comparison and one choice each. A hidden score is taken to be lower than
    // any number, so the 127 * 128 / 2 sums and comparisons of hidden scores are known.
    check_known(masked("", "e = Add(c, m) b = Equal(e, low) d = Where(b, zero, c)",
                       {{"m", 128, 128, [](auto r, auto c) { return c > r ? -10000.0F : 0.0F; }}}),
                2 * (128 * 128 * (of_pair + 3) - 2 * 127 * 128 / 2), qkv + 3 * 4);
  }
  SECTION("numbers that hide nothing") {
    check_known(masked("", "d = Add(c, m)", {{"m", 128, 128, [](auto r, auto c) { return c > r ? -1.0F : 1.0F; }}}),
                2 * 128 * 128 * of_pair, qkv + 4 + 128 * 128 * 4);
  }
}

TEST_CASE("a softmax in front of a pointwise convolution: its results are divided", "[floors]") {
  // The distribution of distances in a detector's head: 16 scores for each of 4 sides of 100 boxes, averaged with
  // constant weights. A score takes its maximum, difference, exponent and sum, and 2 operations in the average; each
  // average takes one division.
  const auto model = known_layers(R"((float[1, 16, 4, 100] x) => (float[1, 1, 4, 100] y)
      <float[1, 16, 1, 1] w = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}> {
        p = Softmax<axis = 1>(x) y = Conv(p, w) })");
  check_known(model, 4 * 100 * 16 * (4 + 2), 4 * 100 * 16 * 4 + 16 * 4);
}

TEST_CASE("distances between all pairs of rows are no more than a product", "[floors]") {
  // |a - b|^2 = |a|^2 - 2 a b + |b|^2: 2 operations for each of 8 terms of 32 * 64 pairs.
  const std::string rows = "(float[32, 1, 8] a, float[1, 64, 8] b) => (float[32, 64] y) ";
  const double squares = 2 * 32 * 64 * 8, reads = (32 + 64) * 8 * 4;
  SECTION("as a sum of squares") {
    check_known(
        known_layers(rows + "<int64[1] last = {2}> { d = Sub(a, b) y = ReduceSumSquare<keepdims = 0>(d, last) }"),
        squares, reads);
  }
  SECTION("with the square written out") {
    check_known(known_layers(rows + "<int64[1] last = {2}, float two = {2}> { d = Sub(a, b) s = Pow(d, two) "
                                    "y = ReduceSum<keepdims = 0>(s, last) }"),
                squares, reads);
  }
  SECTION("with the square as a product of the differences with themselves") {
    check_known(known_layers(rows + "<int64[1] last = {2}> { d = Sub(a, b) s = Mul(d, d) "
                                    "y = ReduceSum<keepdims = 0>(s, last) }"),
                squares, reads);
  }
  SECTION("of rows that are expanded first") {
    check_known(known_layers(rows + "<int64[1] last = {2}, int64[3] all = {32, 64, 8}, float two = {2}> { "
                                    "e = Expand(a, all) f = Expand(b, all) d = Sub(e, f) s = Pow(d, two) "
                                    "y = ReduceSum<keepdims = 0>(s, last) }"),
                squares, reads);
  }
  SECTION("not if another node reads the differences") {
    const auto model = known_layers(
        "(float[32, 1, 8] a, float[1, 64, 8] b) => (float[32, 64] y, float[32, 64, 8] d) "
        "<int64[1] last = {2}> { d = Sub(a, b) y = ReduceSumSquare<keepdims = 0>(d, last) }");
    check_known(model, 3 * 32 * 64 * 8, reads);
  }
}

TEST_CASE("a mask that is small enough to be computed hides scores like a large one", "[floors]") {
  // 2 heads of depth 8, 16 tokens: 16 * 17 / 2 pairs per head. A pair takes 2 * (8 + 8) operations for the products and
  // 4 for the softmax, whose division is left to the results. The sum of a score starts with the mask.
  const auto check_masked = [](const std::string& mask) {
    check_known(known_layers("(float[1, 2, 16, 8] q, float[1, 2, 16, 8] k, float[1, 2, 16, 8] v) => "
                             "(float[1, 2, 16, 8] y) <float low = {-10000}, float zero = {0}, bool yes = {1}, "
                             "int64 start = {0}, int64 end = {16}, int64 one = {1}, int64[1] last = {1}, "
                             "int64[2] size = {16, 16}> { t = Transpose<perm = [0, 1, 3, 2]>(k) a = MatMul(q, t) " +
                             mask + " d = Add(a, m) p = Softmax<axis = -1>(d) y = MatMul(p, v) }"),
                2 * 16 * 17 / 2 * (2 * 16 + 4), 3 * 2 * 16 * 8 * 4);
  };
  SECTION("a triangle of a tensor that has one number in all places") {
    check_masked("f = Expand(low, size) m = Trilu<upper = 1>(f, one)");
  }
  SECTION("times a comparison of places") {
    check_masked(
        "f = Expand(low, size) u = Trilu<upper = 1>(f, one) j = Range(start, end, one) i = Unsqueeze(j, last) "
        "g = Greater(j, i) c = Cast<to = 1>(g) m = Mul(u, c)");
  }
  SECTION("a number or zero, as a triangle chooses") {
    check_masked("f = Expand(yes, size) u = Trilu<upper = 0>(f) m = Where(u, zero, low)");
  }
  SECTION("elements of two tensors that are filled, as a triangle chooses") {
    check_masked(
        "f = Expand(yes, size) u = Trilu<upper = 0>(f) n = Expand(low, size) o = Expand(zero, size) "
        "m = Where(u, o, n)");
  }
}

TEST_CASE("rows of a mask, and masks that are joined, hide scores like the mask itself", "[floors]") {
  // 2 heads of depth 8. A pair takes 2 * (8 + 8) operations for the products and 4 for the softmax, whose division
  // is left to the results. The sum of a score starts with the mask.
  const auto check_masked = [](const std::string& mask, const Matrix& stored, std::int64_t keys, double pairs) {
    const std::string shape = "float[1, 2, " + std::to_string(keys) + ", 8] ";
    check_known(known_layers("(float[1, 2, 128, 8] q, " + shape + "k, " + shape +
                                 "v) => (float[1, 2, 128, 8] y) <int64 begin = {32}, int64 end = {160}, "
                                 "int64 one = {1}, int64[2] size = {128, 32}, int64[2] block = {64, 64}, "
                                 "float low = {-1e9}, int64 origin = {0}, int64 all = {128}, "
                                 "int64[1] rows = {0}, int64[1] columns = {1}> { "
                                 "t = Transpose<perm = [0, 1, 3, 2]>(k) a = MatMul(q, t) " +
                                 mask + " d = Add(a, m) p = Softmax<axis = -1>(d) y = MatMul(p, v) }",
                             {stored}),
                2 * pairs * (2 * 16 + 4), 2 * 8 * 4 * (128 + 2 * static_cast<double>(keys)));
  };
  SECTION("rows 32 to 159: 96 of them see 33 to 128 of 128 keys, and 32 see all") {
    check_masked("r = Range(begin, end, one) m = Gather(stored, r)",
                 {.name = "stored", .rows = 256, .columns = 128, .number = causal}, 128,
                 (33 + 128) * 96 / 2 + 32 * 128);
  }
  SECTION("one matrix of two") {
    check_masked("zero = Constant<value_int = 0>() m = Gather(stored, zero)",
                 {.name = "stored", .rows = 128, .columns = 128, .number = causal, .leading = {2}}, 128, 128 * 129 / 2);
  }
  SECTION("32 keys that all queries see in front of those that causality hides") {
    check_masked("z = ConstantOfShape(size) m = Concat<axis = 1>(z, stored)",
                 {.name = "stored", .rows = 128, .columns = 128, .number = causal}, 160, 128 * 32 + 128 * 129 / 2);
  }
  SECTION("four blocks: two triangles, one that is hidden and one that is not") {
    check_masked(
        "z = ConstantOfShape(block) h = Log(z) u = Concat<axis = 1>(stored, h) "
        "w = Concat<axis = 1>(z, stored) m = Concat<axis = 0>(u, w)",
        {.name = "stored", .rows = 64, .columns = 64, .number = causal}, 128, 128 * 129 / 2);
  }
  SECTION("the positive signs of differences of places") {
    check_masked(
        "r = Range(origin, all, one) i = Unsqueeze(r, columns) j = Unsqueeze(r, rows) e = Sub(j, i) "
        "f = Cast<to = 1>(e) o = Sign(f) w = Relu(o) m = Mul(w, low)",
        {.name = "stored", .rows = 128, .columns = 128, .number = causal}, 128, 128 * 129 / 2);
  }
}

TEST_CASE("a choice between two numbers that hide a score hides it whatever the condition is", "[floors]") {
  // 2 heads of depth 8, 128 tokens: 128 * 129 / 2 pairs per head, each with 2 * (8 + 8) operations, and 4 for the
  // softmax. The sum of a score starts with the mask. An element of the mask, which both heads share, takes an
  // addition, a comparison and a choice.
  const double places = 128 * 129 / 2;
  check_known(known_layers(R"((float[1, 2, 128, 8] q, float[1, 2, 128, 8] k, float[1, 2, 128, 8] v,
      float[1, 1, 1, 128] given) => (float[1, 2, 128, 8] y) <float low = {-10000}, float zero = {0},
      int64 one = {1}, int64[4] size = {1, 1, 128, 128}> {
        t = Transpose<perm = [0, 1, 3, 2]>(k) a = MatMul(q, t) f = Expand(low, size) u = Trilu<upper = 1>(f, one)
        s = Add(u, given) e = Equal(s, zero) m = Where(e, low, u) d = Add(a, m) p = Softmax<axis = -1>(d)
        y = MatMul(p, v) })"),
              2 * places * (2 * 16 + 4) + 3 * places, 3 * 2 * 128 * 8 * 4 + 128 * 4 + 2 * 4);
}

TEST_CASE("a mask that is assigned to a slice hides scores like the mask itself", "[floors]") {
  // 2 heads of depth 8, 128 tokens: as above.
  const double places = 128 * 129 / 2, reads = 3 * 2 * 128 * 8 * 4 + 128 * 4 + 2 * 4;
  const auto masked = [](const std::string& masking, const std::string& size = "1, 1, 128, 128") {
    return "(float[1, 2, 128, 8] q, float[1, 2, 128, 8] k, float[1, 2, 128, 8] v, float[1, 1, 1, 128] given) => "
           "(float[1, 2, 128, 8] y) <float low = {-10000}, float zero = {0}, int64 one = {1}, int64 start = {0}, "
           "int64 end = {128}, int64[1] last = {-1}, int64[1] half = {64}, int64[1] whole = {128}, int64[1] all = "
           "{256}, "
           "int64[1] none = {0}, int64[1] rows = {-2}, int64[4] row = {1, 1, 1, 128}, int64[4] column = {1, 1, 128, "
           "1}, "
           "int64[4] size = {" +
           size +
           "}> { t = Transpose<perm = [0, 1, 3, 2]>(k) a = MatMul(q, t) f = Expand(low, size) "
           "u = Trilu<upper = 1>(f, one) " +
           masking + " d = Add(a, m) p = Softmax<axis = -1>(d) y = MatMul(p, v) }";
  };
  const std::string padded = "s = Add(u, given) e = Equal(s, zero) w = Where(e, low, u) ";
  const auto check_masked = [&](const ModelLayers& model) {
    check_known(model, 2 * places * (2 * 16 + 4) + 3 * places, reads);
  };
  SECTION("by 16,384 indices that are computed") {
    check_masked(known_layers(masked(padded + R"(j = Range(start, end, one) r = Reshape(j, column) c = Reshape(j, row)
        n = Expand(start, size) o = Expand(r, size) x = Expand(c, size)
        un = Unsqueeze(n, last) uo = Unsqueeze(o, last) ux = Unsqueeze(x, last)
        i = Concat<axis = -1>(un, un, uo, ux) m = ScatterND(u, i, w))")));
  }
  SECTION("by 16,384 indices of the file") {
    auto model = testing::parse_model("g " + masked(padded + "m = ScatterND(u, i, w)"),
                                      "<ir_version: 10, opset_import: [\"\" : 21]>");
    auto& tensor = *model.mutable_graph()->add_initializer();
    tensor.set_name("i");
    tensor.set_data_type(onnx::TensorProto::INT64);
    for (const std::int64_t dim : {1, 1, 128, 128, 4}) tensor.add_dims(dim);
    std::vector<std::int64_t> numbers;
    for (std::int64_t r = 0; r < 128; ++r)
      for (std::int64_t c = 0; c < 128; ++c) numbers.insert(numbers.end(), {0, 0, r, c});
    tensor.set_raw_data(
        std::string(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(std::int64_t)));
    check_masked(make_model_layers(testing::import_model(model)));
  }
  SECTION("of the columns of half of the keys") {
    // The left half of the mask: 64 * 65 / 2 elements of the first 64 rows and 64 * 64 of the others.
    const auto model = known_layers(masked(R"(l = Slice(u, none, half, last) g = Slice(given, none, half, last)
        s = Add(l, g) e = Equal(s, zero) w = Where(e, low, l) j = Range(start, end, one)
        h = Slice(j, none, half, none) o = Transpose<perm = [3, 0, 1, 2]>(u) x = Transpose<perm = [3, 0, 1, 2]>(w)
        i = Unsqueeze(h, last) n = ScatterND(o, i, x) m = Transpose<perm = [1, 2, 3, 0]>(n))"));
    check_known(model, 2 * places * (2 * 16 + 4) + 3 * (64 * 65 / 2 + 64 * 64), reads - 64 * 4);
  }
  SECTION("of which a part is added") {
    check_masked(known_layers(masked(padded + "m = Slice(w, none, whole, last)")));
    // The last 128 queries and keys of 256.
    check_masked(known_layers(
        masked("b = Slice(u, whole, all, rows) g = Concat<axis = -1>(given, given) s = Add(b, g) e = Equal(s, zero) "
               "w = Where(e, low, b) m = Slice(w, whole, all, last)",
               "1, 1, 256, 256")));
  }
}
