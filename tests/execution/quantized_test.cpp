// SPDX-License-Identifier: Apache-2.0
// Nodes of com.microsoft whose operands each have a scale. Expected numbers are those of ONNX Runtime 1.32 on a
// processor.
#include "support/catch.hpp"
#include "support/onnx_text.hpp"
#include <benanza/execution/executor.hpp>
#include <benanza/session/backends.hpp>

#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <vector>

using namespace benanza;

namespace {

using Values = std::vector<double>;

/// Runs the model on inputs of these numbers, by name. Returns all outputs, one after the other.
Values run_quantized(const std::string& model, const std::map<std::string, Values>& numbers,
                     const std::vector<std::shared_ptr<const Backend>>& backends = usable_backends()) {
  Executor executor = Executor::load(testing::import_text(model, {.executable = true}), {.backends = backends});
  std::map<std::string, Tensor> inputs;
  for (const auto& info : executor.inputs())
    inputs[info.name] = Tensor::of(info.type, info.dims, numbers.at(info.name));
  const Execution execution = executor.run(inputs);
  Values result;
  for (const auto& info : executor.outputs()) {
    const Values values = execution.outputs.at(info.name).values();
    result.insert(result.end(), values.begin(), values.end());
  }
  return result;
}

const std::string two_scales =
    "<float as = {0.05}, uint8 az = {100}, float bs = {0.02}, uint8 bz = {30}, "
    "float cs = {0.07}, uint8 cz = {90}> { y = com.microsoft.QLinearAdd";
const std::string one_scale =
    "<float xs = {0.05}, uint8 xz = {100}, float ys = {0.03}, uint8 yz = {20}> "
    "{ y = com.microsoft.";

/// What ONNX Runtime was given as floats: element i is sin(0.7 i + n).
Values floats_of(std::size_t count, double n) {
  Values result;
  for (std::size_t i = 0; i < count; ++i) result.push_back(std::sin(0.7 * static_cast<double>(i) + n));
  return result;
}

/// What it was given as weights: element i is 37 i + 11 n modulo 256, plus `least`.
Values weights_of(std::size_t count, std::size_t n, double least) {
  Values result;
  for (std::size_t i = 0; i < count; ++i) result.push_back(static_cast<double>((37 * i + 11 * n) % 256) + least);
  return result;
}

void check_close(const Values& got, const Values& expected) {
  REQUIRE(got.size() == expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    CAPTURE(i);
    CHECK(got[i] == Approx(expected[i]).margin(2e-6));
  }
}

}  // namespace

TEST_CASE("each summand and each factor has its own scale and zero point") {
  const Values six{0, 45, 90, 135, 180, 225}, three{7, 200, 255};
  const std::string sum = two_scales + "(a, as, az, b, bs, bz, cs, cz) }";
  CHECK(run_quantized("m (uint8[2,3] a, uint8[3] b) => (uint8[2,3] y) " + sum, {{"a", six}, {"b", three}}) ==
        Values{12, 99, 147, 108, 196, 244});
  CHECK(run_quantized("m (uint8[3] a, uint8[2,3] b) => (uint8[2,3] y) " + sum, {{"a", three}, {"b", six}}) ==
        Values{15, 166, 218, 54, 204, 255});
  CHECK(run_quantized("m (uint8[4] a) => (uint8[4] y) " + two_scales + "(a, as, az, a, bs, bz, cs, cz) }",
                      {{"a", {0, 99, 150, 255}}}) == Values{10, 109, 160, 255});
  CHECK(run_quantized("m (int8[2,3] a, int8[2,3] b) => (int8[2,3] y) <float as = {0.05}, int8 az = {-10}, "
                      "float bs = {0.02}, int8 bz = {3}, float cs = {0.013}, int8 cz = {5}> "
                      "{ y = com.microsoft.QLinearMul(a, as, az, b, bs, bz, cs, cz) }",
                      {{"a", {-128, -45, 0, 12, 90, 127}}, {"b", {100, -45, 5, 12, -90, 127}}}) ==
        Values{-128, 127, 7, 20, -128, 127});
}

TEST_CASE("functions and averages of quantised tensors round once, with the scale of the result") {
  CHECK(run_quantized(
            "m (uint8[5] x) => (uint8[5] y) " + one_scale + "QLinearLeakyRelu<alpha = 0.1>(x, xs, xz, ys, yz) }",
            {{"x", {0, 50, 100, 150, 255}}}) == Values{3, 12, 20, 103, 255});
  CHECK(run_quantized("m (int8[5] x) => (int8[5] y) <float xs = {0.05}, int8 xz = {10}, float ys = {0.004}, "
                      "int8 yz = {-128}> { y = com.microsoft.QLinearSigmoid(x, xs, xz, ys, yz) }",
                      {{"x", {-128, -50, 0, 50, 127}}}) == Values{-128, -116, -34, 92, 121});
  CHECK(run_quantized("m (uint8[1,1,3,3] x) => (uint8[1,1,2,2] y) " + one_scale +
                          "QLinearAveragePool<kernel_shape = [2, 2]>(x, xs, xz, ys, yz) }",
                      {{"x", {0, 29, 58, 87, 116, 145, 174, 203, 232}}}) == Values{0, 0, 95, 143});
  CHECK(run_quantized(
            "m (uint8[1,2,3,3] x) => (uint8[1,2,1,1] y) " + one_scale + "QLinearGlobalAveragePool(x, xs, xz, ys, yz) }",
            {{"x", {0, 29, 58, 87, 116, 145, 174, 203, 232, 5, 34, 63, 92, 121, 150, 179, 208, 237}}}) ==
        Values{47, 55});
}

namespace {

/// Bytes of A and B: element i is 51 i + 3 and 37 i + 11 modulo 256; for signed types 128 less.
const Values a_bytes{3, 54, 105, 156, 207, 2}, signed_a{-125, -74, -23, 28, 79, -126};
const std::string u8_b = "{11, 48, 85, 122, 159, 196, 233, 14, 51, 88, 125, 162}",
                  i8_b = "{-117, -80, -43, -6, 31, 68, 105, -114, -77, -40, -3, 34}";
const std::string gemm_a = "float as = {0.02}, uint8 az = {100}, ", gemm_y = ", float ys = {0.11}, uint8 yz = {90}";
const std::string gemm_c = ", int32[4] c = {-9000, 400, 0, 2500}";
const std::string one_scale_of_b = "uint8[4,3] b = " + u8_b + ", float bs = {0.05}, uint8 bz = {120}";
const std::string scales_of_columns = ", float[4] bs = {0.01, 0.02, 0.03, 0.05}, int8[4] bz = {0, 3, -4, 10}";

/// Runs the model with the plans of libraries and with the reference alone.
void check_gemm(const std::string& model, const std::map<std::string, Values>& numbers, const Values& expected) {
  INFO(model);
  check_close(run_quantized(model, numbers), expected);
  check_close(run_quantized(model, numbers, {}), expected);
}

}  // namespace

TEST_CASE("a quantised Gemm of one scale adds 32-bit integers before it scales and rounds") {
  SECTION("to bytes without a sign, of weights that are transposed") {
    check_gemm("m (uint8[2,3] a) => (uint8[2,4] y) <" + gemm_a + one_scale_of_b + gemm_c + gemm_y +
                   "> { y = com.microsoft.QGemm<transB = 1>(a, as, az, b, bs, bz, c, ys, yz) }",
               {{"a", a_bytes}}, {133, 79, 32, 141, 0, 65, 106, 64});
  }
  SECTION("to bytes with a sign, of two matrices that are given") {
    check_gemm(
        "m (int8[3,2] a, int8[3,4] b) => (int8[2,4] y) <float as = {0.02}, int8 az = {-7}, float bs = {0.05}, "
        "int8 bz = {5}, float ys = {0.11}, int8 yz = {-20}> "
        "{ y = com.microsoft.QGemm<transA = 1, alpha = 0.5>(a, as, az, b, bs, bz, , ys, yz) }",
        {{"a", signed_a}, {"b", {-117, -80, -43, -6, 31, 68, 105, -114, -77, -40, -3, 34}}},
        {11, 3, -5, 6, 66, 40, 15, -51});
  }
  SECTION("to floats; the factor scales C, too") {
    check_gemm("m (uint8[2,3] a) => (float[2,4] y) <" + gemm_a + "int8[4,3] b = " + i8_b +
                   ", float bs = {0.05}, int8 bz = {-3}" + gemm_c +
                   "> { y = com.microsoft.QGemm<transB = 1, alpha = 0.25>(a, as, az, b, bs, bz, c) }",
               {{"a", a_bytes}}, {1.35, -0.1295, -1.435, 1.5685, -4.92575, -0.772, 0.35575, -0.7995});
  }
  SECTION("to floats that are divided by the scale of the result, where that has no zero point") {
    check_gemm("m (uint8[2,3] a) => (float[2,4] y) <" + gemm_a + one_scale_of_b +
                   ", float ys = {0.11}> { y = com.microsoft.QGemm<transB = 1>(a, as, az, b, bs, bz, , ys) }",
               {{"a", a_bytes}}, {124.6364, -14.61818, -58.45455, 28.03636, -94.34545, -28.75455, 15.89091, -48.84545});
  }
  SECTION("whose scale and zero point of A the call gives") {
    check_gemm("m (uint8[2,3] a, float as, uint8 az) => (uint8[2,4] y) <" + one_scale_of_b + gemm_c + gemm_y +
                   "> { y = com.microsoft.QGemm<transB = 1>(a, as, az, b, bs, bz, c, ys, yz) }",
               {{"a", a_bytes}, {"as", {0.02}}, {"az", {100}}}, {133, 79, 32, 141, 0, 65, 106, 64});
  }
}

TEST_CASE("a quantised Gemm has a scale and a zero point for each column") {
  for (const bool transposed : {false, true})
    check_gemm("m (uint8[2,3] a) => (uint8[2,4] y) <" + gemm_a + (transposed ? "int8[4,3] b = " : "int8[3,4] b = ") +
                   i8_b + scales_of_columns + gemm_c + gemm_y + "> { y = com.microsoft.QGemm<transB = " +
                   (transposed ? "1" : "0") + ">(a, as, az, b, bs, bz, c, ys, yz) }",
               {{"a", a_bytes}},
               transposed ? Values{101, 91, 58, 163, 54, 77, 98, 53} : Values{91, 109, 83, 180, 81, 115, 141, 0});
  check_gemm(
      "m (int8[3,2] a, int32[2,1] c) => (float[2,4] y) <float as = {0.02}, int8 az = {-7}, int8[3,4] b = " + i8_b +
          scales_of_columns + "> { y = com.microsoft.QGemm<transA = 1, alpha = 0.5>(a, as, az, b, bs, bz, c) }",
      {{"a", signed_a}, {"c", {1000, -2000}}}, {0.7688, 1.2112, 1.1832, 3.468, 1.6087, 2.1906, 1.2927, -4.062});
}

TEST_CASE("the addend of a quantised Gemm is broadcast") {
  struct Case {
    std::string shape;
    Values c, expected;
  };
  const Values of_row{133, 79, 32, 141, 0, 65, 106, 64}, of_one{221, 82, 38, 124, 2, 68, 112, 48};
  for (const auto& [shape, c, expected] :
       {Case{"", {700}, of_one}, Case{"[1]", {700}, of_one}, Case{"[4]", {-9000, 400, 0, 2500}, of_row},
        Case{"[1,4]", {-9000, 400, 0, 2500}, of_row}, Case{"[2,1]", {1000, -2000}, {224, 84, 41, 127, 0, 43, 88, 23}},
        Case{"[2,4]", {-9000, 400, 0, 2500, 2500, 0, 400, -9000}, {133, 79, 32, 141, 18, 61, 110, 0}}})
    check_gemm("m (uint8[2,3] a, int32" + shape + " c) => (uint8[2,4] y) <" + gemm_a + one_scale_of_b + gemm_y +
                   "> { y = com.microsoft.QGemm<transB = 1>(a, as, az, b, bs, bz, c, ys, yz) }",
               {{"a", a_bytes}, {"c", c}}, expected);
}

TEST_CASE("a quantised Gemm rounds halves to even, and saturates") {
  // Halves of -128, -90, -5, -3, -1, 1, 3, 5, 90, 127, and five times as much.
  const std::string halves = "int8[1,10] b = {-128, -90, -5, -3, -1, 1, 3, 5, 90, 127}, ";
  const std::string one = "float bs = {0.5}, int8 bz = {0}",
                    ten =
                        "float[10] bs = {0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5}, "
                        "int8[10] bz = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0}";
  for (const auto& scales : {one, ten}) {
    check_gemm("m (uint8[2,1] a) => (uint8[2,10] y) <float s = {1}, uint8 az = {0}, uint8 yz = {10}, " + halves +
                   scales + "> { y = com.microsoft.QGemm(a, s, az, b, bs, bz, , s, yz) }",
               {{"a", {1, 5}}}, {0, 0, 8, 8, 10, 10, 12, 12, 55, 74, 0, 0, 0, 2, 8, 12, 18, 22, 235, 255});
    check_gemm("m (int8[2,1] a) => (int8[2,10] y) <float s = {1}, int8 az = {0}, int8 yz = {100}, " + halves + scales +
                   "> { y = com.microsoft.QGemm(a, s, az, b, bs, bz, , s, yz) }",
               {{"a", {1, 5}}},
               {36, 55, 98, 98, 100, 100, 102, 102, 127, 127, -128, -125, 88, 92, 98, 102, 108, 112, 127, 127});
  }
}

TEST_CASE("weights and rows of a quantised product may have a scale and a zero point each") {
  const auto check = [](const std::string& model, const std::map<std::string, Values>& numbers,
                        const Values& expected) {
    CHECK(run_quantized(model, numbers) == expected);
    CHECK(run_quantized(model, numbers, {}) == expected);
  };
  // x - 1: 2 4. Times 2 and -3 - 1, plus the addends: 8 12, -10 -18. Times 0.5 * 1, 0.5 * 0.5: 4 6, -2.5 -4.5, which
  // are rounded to even numbers. Then 10 is added.
  check(
      "m (uint8[1,1,1,2] x) => (uint8[1,2,1,2] y) <float xs = {0.5}, uint8 xz = {1}, int8[2,1,1,1] w = {2, -3}, "
      "float[2] ws = {1, 0.5}, int8[2] wz = {0, 1}, float ys = {1}, uint8 yz = {10}, int32[2] b = {4, -2}> "
      "{ y = QLinearConv(x, xs, xz, w, ws, wz, ys, yz, b) }",
      {{"x", {3, 5}}}, {14, 16, 8, 6});
  // x - 1: 2 4. Times 2 - 0, and 1 - 2.
  check(
      "m (uint8[1,1,1,2] x) => (int32[1,2,1,2] y) <uint8 xz = {1}, uint8[2,1,1,1] w = {2, 1}, uint8[2] wz = {0, 2}> "
      "{ y = ConvInteger(x, w, xz, wz) }",
      {{"x", {3, 5}}}, {4, 8, -2, -4});
  // a minus the zero points of its rows: 1 2, 2 3. b minus those of its columns: 0 2, 2 4. Products: 4 10, 6 16. Scales
  // 1 0.5 of rows, 1 2 of columns, over 2: 2 10, 1.5 8; 1.5 is rounded to 2.
  check(
      "m (uint8[2,2] a) => (uint8[2,2] y) <float[2] as = {1, 0.5}, uint8[2] az = {0, 1}, "
      "uint8[2,2] b = {1, 2, 3, 4}, float[2] bs = {1, 2}, uint8[2] bz = {1, 0}, float ys = {2}, uint8 yz = {0}> "
      "{ y = QLinearMatMul(a, as, az, b, bs, bz, ys, yz) }",
      {{"a", {1, 2, 3, 4}}}, {2, 10, 2, 8});
  // 2 3 times (1 - 1, 2 - 2), (3 - 1, 4 - 2).
  check(
      "m (uint8[1,2] a) => (int32[1,2] y) <uint8 az = {1}, uint8[2,2] b = {1, 2, 3, 4}, uint8[2] bz = {1, 2}> "
      "{ y = MatMulInteger(a, b, az, bz) }",
      {{"a", {3, 4}}}, {6, 6});
}

TEST_CASE("several scales of one quantised tensor, and channels that are last, are refused") {
  const auto refused = [](const std::string& model) {
    return testing::message_of<NotExecutable>(
        [&] { (void)Executor::load(testing::import_text(model, {.executable = true})); });
  };
  CHECK(refused("m (uint8[2] a, uint8[2] b) => (uint8[2] y) <float[2] as = {1, 2}, uint8 az = {0}, float s = {1}> "
                "{ y = com.microsoft.QLinearAdd(a, as, az, b, s, az, s, az) }")
            .find("several scales") != std::string::npos);
  CHECK(refused("m (uint8[1,3,3,1] x) => (uint8[1,1,1,1] y) " + one_scale +
                "QLinearGlobalAveragePool<channels_last = 1>(x, xs, xz, ys, yz) }")
            .find("channels are last") != std::string::npos);
  CHECK(refused("m (uint8[1,2] a) => (uint8[1,2] y) <float[2] as = {1, 2}, float[2] s = {1, 2}, uint8[2] z = {0, 0}, "
                "float ys = {1}, uint8 yz = {0}, uint8[2,2] b = {1, 2, 3, 4}> "
                "{ y = com.microsoft.QGemm(a, as, yz, b, s, z, , ys, yz) }")
            .find("several scales") != std::string::npos);
  CHECK(refused("m (uint8[2,2] a) => (uint8[2,2] y) <float s = {1}, uint8 z = {0}, uint8[2,2] b = {1, 2, 3, 4}, "
                "float[2] ys = {1, 2}> { y = QLinearMatMul(a, s, z, b, s, z, ys, z) }")
            .find("not of channels, rows or columns") != std::string::npos);
}

TEST_CASE("an LSTM with quantised weights rounds its input as a whole and its states in each step") {
  check_close(
      run_quantized(R"(m (float[3,2,2] x, uint8[2,2,8] w, uint8[2,2,8] r, float[2,16] b, float[2,2,2] h, float[2,2,2] c,
                         float[2,6] p, float[2] ws, uint8[2] wz, float[2] rs, uint8[2] rz)
                        => (float[3,2,2,2] y, float[2,2,2] yh, float[2,2,2] yc)
                      { y, yh, yc = com.microsoft.DynamicQuantizeLSTM<hidden_size = 2, direction = "bidirectional">
                                    (x, w, r, b, , h, c, p, ws, wz, rs, rz) })",
                    {{"x", floats_of(12, 0)},
                     {"w", weights_of(32, 0, 0)},
                     {"r", weights_of(32, 1, 0)},
                     {"b", floats_of(32, 1)},
                     {"h", floats_of(8, 2)},
                     {"c", floats_of(8, 3)},
                     {"p", floats_of(12, 4)},
                     {"ws", {0.01, 0.02}},
                     {"wz", {128, 120}},
                     {"rs", {0.015, 0.005}},
                     {"rz", {130, 128}}}),
      {-0.044436, -0.553002, -0.574133, -0.459796, -0.253346, -0.636207, 0.175668,  -0.542014, -0.193629, -0.313675,
       -0.729463, 0.428703,  -0.162258, -0.40054,  0.095149,  -0.166321, -0.712855, 0.125337,  -0.761308, 0.028189,
       -0.069747, -0.107121, 0.081054,  -0.612965, -0.712855, 0.125337,  -0.761308, 0.028189,  -0.253346, -0.636207,
       0.175668,  -0.542014, -0.976405, 0.192883,  -1.162521, 0.037532,  -0.295271, -0.781828, 0.185878,  -0.609877});
  // One scale per column: 0.004 + 0.001 i, and 0.002 more for the states.
  Values scales, more_scales;
  for (int i = 0; i < 8; ++i) {
    scales.push_back(0.004 + 0.001 * i);
    more_scales.push_back(0.006 + 0.001 * i);
  }
  check_close(
      run_quantized(R"(m (float[3,2,2] x, int8[1,2,8] w, int8[1,2,8] r, float[1,16] b, float[1,8] ws, float[1,8] rs)
                                 => (float[3,1,2,2] y, float[1,2,2] yh, float[1,2,2] yc)
                               <int8[1,8] z = {0, 0, 0, 0, 0, 0, 0, 0}>
                               { y, yh, yc = com.microsoft.DynamicQuantizeLSTM<hidden_size = 2, direction = "reverse">
                                             (x, w, r, b, , , , , ws, z, rs, z) })",
                    {{"x", floats_of(12, 0)},
                     {"w", weights_of(16, 0, -128)},
                     {"r", weights_of(16, 1, -128)},
                     {"b", floats_of(16, 1)},
                     {"ws", scales},
                     {"rs", more_scales}}),
      {-0.705952, -0.364906, -0.660107, -0.28141,  -0.642701, -0.186121, -0.652507, 0.448779,  -0.576244, -0.220839,
       -0.431533, -0.448731, -0.705952, -0.364906, -0.660107, -0.28141,  -1.152052, -0.591848, -1.125856, -0.418843});
}
