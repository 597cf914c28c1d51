// SPDX-License-Identifier: Apache-2.0
// Nodes of com.microsoft whose operands have a scale each. Numbers are those of ONNX Runtime 1.32 on a processor.
#include "support/catch.hpp"
#include "support/onnx_text.hpp"
#include <benanza/execution/executor.hpp>
#include <benanza/session/backends.hpp>

#include <map>
#include <string>
#include <vector>

using namespace benanza;

namespace {

using Values = std::vector<double>;

/// Input `name` has these numbers; the output is y.
Values run_quantized(const std::string& model, const std::map<std::string, Values>& numbers) {
  Executor executor =
      Executor::load(testing::import_text(model, {.executable = true}), {.backends = usable_backends()});
  std::map<std::string, Tensor> inputs;
  for (const auto& info : executor.inputs())
    inputs[info.name] = Tensor::of(info.type, info.dims, numbers.at(info.name));
  return executor.run(inputs).outputs.at("y").values();
}

const std::string two_scales =
    "<float as = {0.05}, uint8 az = {100}, float bs = {0.02}, uint8 bz = {30}, "
    "float cs = {0.07}, uint8 cz = {90}> { y = com.microsoft.QLinearAdd";
const std::string one_scale =
    "<float xs = {0.05}, uint8 xz = {100}, float ys = {0.03}, uint8 yz = {20}> "
    "{ y = com.microsoft.";

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
}
