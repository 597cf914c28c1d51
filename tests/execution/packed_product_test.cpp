// SPDX-License-Identifier: Apache-2.0
// MatMulNBits: weights of few bits, in blocks. Numbers are counted by hand; all are exact in f32.
#include "support/catch.hpp"
#include "support/onnx_text.hpp"
#include <benanza/execution/executor.hpp>
#include <benanza/session/backends.hpp>

#include <map>
#include <memory>
#include <string>
#include <vector>

using namespace benanza;

namespace {

using Values = std::vector<double>;

Execution run_packed(const std::string& model, const std::map<std::string, Values>& numbers,
                     const std::vector<std::shared_ptr<const Backend>>& backends) {
  Executor executor = Executor::load(testing::import_text(model, {.executable = true}), {.backends = backends});
  std::map<std::string, Tensor> inputs;
  for (const auto& info : executor.inputs())
    inputs[info.name] = Tensor::of(info.type, info.dims, numbers.at(info.name));
  Execution execution = executor.run(inputs, {.check = true});
  CHECK(execution.disagreements.empty());
  return execution;
}

/// Runs the model with plans and with the reference alone.
void check_packed(const std::string& model, const std::map<std::string, Values>& numbers, const Values& expected) {
  INFO(model);
  CHECK(run_packed(model, numbers, usable_backends()).outputs.at("y").values() == expected);
  CHECK(run_packed(model, numbers, {}).outputs.at("y").values() == expected);
}

/// Two rows. The first has the factors 1, 10, 100, 1000 and 10000 for rows 0, 1, 15, 16 and 17 of the weights; the
/// second adds up rows 1 and 17.
const std::map<std::string, Values> two_rows{{"x", {1, 10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 100, 1000, 10000,
                                                    0, 1,  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,   0,    1}}};

/// Two columns of 18 rows in blocks of 16, two rows per byte, the first in the low bits. Rows 0, 1, 15, 16 and 17 are
/// 9, 6, 12, 0 and 15 in the first column, and 8, 7, 10, 2 and 11 in the second; row 14 is 3 in the first. The last
/// blocks are padded with 15.
const std::string four_bits =
    "uint8[2,2,8] b = {105, 0, 0, 0, 0, 0, 0, 195, 240, 255, 255, 255, 255, 255, 255, 255, "
    "120, 0, 0, 0, 0, 0, 0, 160, 178, 255, 255, 255, 255, 255, 255, 255}";
const std::string four_scales = ", float[4] s = {0.5, 2, 1, 0.25}";

std::string four_bit_model(const std::string& constants, const std::string& inputs,
                           const std::string& attributes = "") {
  return "m (float[2,18] x) => (float[2,2] y) <" + constants +
         "> { y = com.microsoft.MatMulNBits<K = 18, N = 2, bits = 4, block_size = 16" + attributes + ">(" + inputs +
         ") }";
}

}  // namespace

// First column, first row: 0.5 (1 (9 - 8) + 10 (6 - 8) + 100 (12 - 8)) + 2 (1000 (0 - 8) + 10000 (15 - 8)).
// Second column: (10 (7 - 8) + 100 (10 - 8)) + 0.25 (1000 (2 - 8) + 10000 (11 - 8)).
// Second row: 0.5 (6 - 8) + 2 (15 - 8), and (7 - 8) + 0.25 (11 - 8).
TEST_CASE("weights of 4 bits have a scale for each block, and 8 as their zero point") {
  const Values expected{124190.5, 6190, 13, -0.25};
  for (const auto* accuracy : {"", ", accuracy_level = 1", ", accuracy_level = 4"})
    check_packed(four_bit_model(four_bits + four_scales, "x, b, s", accuracy), two_rows, expected);
  // Scales that are inputs of the call.
  auto numbers = two_rows;
  numbers["s"] = {0.5, 2, 1, 0.25};
  check_packed("m (float[2,18] x, float[4] s) => (float[2,2] y) <" + four_bits +
                   "> { y = com.microsoft.MatMulNBits<K = 18, N = 2, bits = 4, block_size = 16>(x, b, s) }",
               numbers, expected);
}

// Two zero points per byte, the first in the low bits: 1 and 2 of the first column, 3 and 15 of the second.
// 0.5 (1 (9 - 1) + 10 (6 - 1) + 100 (12 - 1)) + 2 (1000 (0 - 2) + 10000 (15 - 2)) = 579 + 256000
// (1 (8 - 3) + 10 (7 - 3) + 100 (10 - 3)) + 0.25 (1000 (2 - 15) + 10000 (11 - 15)) = 745 - 13250
// 0.5 (6 - 1) + 2 (15 - 2), and (7 - 3) + 0.25 (11 - 15)
TEST_CASE("weights of 4 bits have packed zero points") {
  check_packed(four_bit_model(four_bits + four_scales + ", uint8[2] z = {33, 243}", "x, b, s, z"), two_rows,
               {256579, -12505, 28.5, 3});
}

// Zero points 0.5 and 1 of the first column, -1 and 8 of the second, and 1 and -189 added to the columns.
// 0.5 (1 * 8.5 + 10 * 5.5 + 100 * 11.5) + 2 (1000 * -1 + 10000 * 14) + 1 = 606.75 + 278000 + 1
// (1 * 9 + 10 * 8 + 100 * 11) + 0.25 (1000 * -6 + 10000 * 3) - 189 = 1189 + 6000 - 189
// 0.5 * 5.5 + 2 * 14 + 1, and 8 + 0.25 * 3 - 189
TEST_CASE("weights of 4 bits have zero points that are floats, and a bias") {
  check_packed(four_bit_model(four_bits + four_scales + ", float[4] z = {0.5, 1, -1, 8}, float[2] c = {1, -189}",
                              "x, b, s, z, , c"),
               two_rows, {278607.75, 7000, 31.75, -180.25});
}

// 1 * 9 + 10 * 6 + 100 * 12 + 1000 * 0 + 10000 * 15, 1 * 8 + 10 * 7 + 100 * 10 + 1000 * 2 + 10000 * 11, 6 + 15, 7 + 11
TEST_CASE("weights of 4 bits without scales and zero points stay as narrow as they are") {
  const std::string model =
      four_bit_model(four_bits + ", float[4] s = {1, 1, 1, 1}, uint8[2] z = {0, 0}", "x, b, s, z");
  check_packed(model, two_rows, {151269, 113078, 21, 18});
  const Execution execution = run_packed(model, two_rows, usable_backends());
  REQUIRE(execution.nodes.size() == 1);
  const std::string& plan = execution.nodes[0].plan;  // the reference on a processor without AVX2
  CHECK((plan.starts_with("native expanded_product:") || plan == "reference"));
}

// 8 bits, and 128 as their zero point: 0.5 (1 (130 - 128) + 10 (100 - 128) + 100 (255 - 128)).
TEST_CASE("weights of 8 bits are unpacked") {
  check_packed(
      "m (float[1,16] x) => (float[1,1] y) <uint8[1,1,16] b = {130, 100, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, "
      "0, 255}, float[1] s = {0.5}> "
      "{ y = com.microsoft.MatMulNBits<K = 16, N = 1, bits = 8, block_size = 16>(x, b, s) }",
      {{"x", {1, 10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 100}}}, {6211});
}

// Four rows per byte: rows 0 to 3 are 3, 0, 1 and 2, row 15 is 1, rows 16 and 17 are 1 and 3. The zero point is 2, or
// it is 1 for the first block and 3 for the second. Their scales are 1 and 2. 1 (3 - 2) + 10 (0 - 2) + 100 (1 - 2) +
// 1000 (2 - 2) + 10^4 (1 - 2) + 2 (10^5 (1 - 2) + 10^6 (3 - 2)) 1 (3 - 1) + 10 (0 - 1) + 100 (1 - 1) + 1000 (2 - 1) +
// 10^4 (1 - 1) + 2 (10^5 (1 - 3) + 10^6 (3 - 3))
TEST_CASE("weights of 2 bits are unpacked") {
  Values x(32);
  x[0] = 1;
  x[1] = 10;
  x[2] = 100;
  x[3] = 1000;
  x[15] = 10000;
  x[16] = 100000;
  x[17] = 1000000;
  for (const bool has_zero_points : {false, true})
    check_packed(std::string("m (float[1,32] x) => (float[1,1] y) <uint8[1,2,4] b = {147, 0, 0, 64, 13, 0, 0, 0}, "
                             "float[2] s = {1, 2}") +
                     (has_zero_points ? ", uint8[1] z = {13}" : "") +
                     "> { y = com.microsoft.MatMulNBits<K = 32, N = 1, bits = 2, block_size = 16>(x, b, s" +
                     (has_zero_points ? ", z) }" : ") }"),
                 {{"x", x}}, {has_zero_points ? -399008.0 : 1789881.0});
}

TEST_CASE("weights whose rows are in another order, and those of another size, are refused") {
  const auto refused = [](const std::string& model) {
    return testing::message_of<NotExecutable>(
        [&] { (void)Executor::load(testing::import_text(model, {.executable = true})); });
  };
  CHECK(refused(four_bit_model(
                    four_bits + four_scales + ", int32[18] g = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1}",
                    "x, b, s, , g"))
            .find("another order") != std::string::npos);
  CHECK(refused(four_bit_model(four_bits + ", float[2] s = {0.5, 2}", "x, b, s")).find("other sizes") !=
        std::string::npos);
}
