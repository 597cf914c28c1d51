// SPDX-License-Identifier: Apache-2.0
// Indices that come from data are checked before they are used, with the reference and with plans.
#include "support/catch.hpp"
#include "support/witness_of.hpp"
#include <benanza/execution/executor.hpp>

#include <map>
#include <string>
#include <vector>

using namespace benanza;

namespace {

using Values = std::vector<double>;
using Inputs = std::map<std::string, Tensor>;

Tensor numbers(Tensor::Dims dims, const Values& values) { return Tensor::of(DataType::f32, std::move(dims), values); }
Tensor places(Tensor::Dims dims, const Values& values) { return Tensor::of(DataType::i64, std::move(dims), values); }

Values computed(const std::string& model, const Inputs& inputs) {
  Executor executor = Executor::load(testing::import_text(model, {.executable = true}));
  return executor.run(inputs).outputs.at("y").values();
}

/// The error message; empty if the model computes its output.
std::string index_error(const std::string& model, const Inputs& inputs) {
  return testing::message_of<InputError>([&] { (void)computed(model, inputs); });
}

}  // namespace

TEST_CASE("an index that points beyond an axis is refused with the name of its node") {
  const Tensor x = numbers({3, 2}, {0, 1, 2, 3, 4, 5});
  const std::string elements = "m (float[3,2] x, int64[1,1] i) => (float[1,1] y) { y = GatherElements(x, i) }";
  CHECK(computed(elements, {{"x", x}, {"i", places({1, 1}, {-3})}}) == Values{0});
  CHECK(computed(elements, {{"x", x}, {"i", places({1, 1}, {2})}}) == Values{4});
  CHECK(index_error(elements, {{"x", x}, {"i", places({1, 1}, {7})}}) ==
        "node 'GatherElements_y': index 7 at element 0, expected at least -3 and less than 3");
  CHECK(index_error(elements, {{"x", x}, {"i", places({1, 1}, {-4})}}) ==
        "node 'GatherElements_y': index -4 at element 0, expected at least -3 and less than 3");
  CHECK(index_error("m (float[3,2] x, int64[1,1] i, float[1,1] u) => (float[3,2] y) { y = ScatterElements(x, i, u) }",
                    {{"x", x}, {"i", places({1, 1}, {7})}, {"u", numbers({1, 1}, {9})}}) ==
        "node 'ScatterElements_y': index 7 at element 0, expected at least -3 and less than 3");
  CHECK(index_error("m (float[3,2] x, int64[1,1] i, float[1,2] u) => (float[3,2] y) { y = ScatterND(x, i, u) }",
                    {{"x", x}, {"i", places({1, 1}, {7})}, {"u", numbers({1, 2}, {9, 9})}}) ==
        "node 'ScatterND_y': index 7 at element 0, expected at least -3 and less than 3");
}

TEST_CASE("each coordinate of a tuple has the limit of its own axis") {
  const Tensor x = numbers({2, 3}, {0, 1, 2, 3, 4, 5});
  const std::string model = "m (float[2,3] x, int64[2,2] i) => (float[2] y) { y = GatherND(x, i) }";
  // Row 1, column 2, which is beyond the number of rows; then the last row and the first column, counted from the end.
  CHECK(computed(model, {{"x", x}, {"i", places({2, 2}, {1, 2, -1, -3})}}) == Values{5, 3});
  CHECK(index_error(model, {{"x", x}, {"i", places({2, 2}, {0, 0, 2, 0})}}) ==
        "node 'GatherND_y': index 2 at element 2, expected at least -2 and less than 2");
  CHECK(index_error(model, {{"x", x}, {"i", places({2, 2}, {0, 0, 1, 3})}}) ==
        "node 'GatherND_y': index 3 at element 3, expected at least -3 and less than 3");
}

TEST_CASE("a target of a loss is one of the classes, or the one that is ignored") {
  const Tensor x = numbers({2, 3}, {0, -1, 0, 0, 0, -2});
  const auto model = [](const std::string& loss) {
    return "m (float[2,3] x, int64[2] t) => (float y) { y = " + loss + "(x, t) }";
  };
  const std::string plain = model("NegativeLogLikelihoodLoss"), softmax = model("SoftmaxCrossEntropyLoss"),
                    ignoring = model("NegativeLogLikelihoodLoss<ignore_index = -1>");
  // Minus the numbers at 1 of the first row and at 2 of the second: (1 + 2) / 2; without the first row, 2.
  CHECK(computed(plain, {{"x", x}, {"t", places({2}, {1, 2})}}) == Values{1.5});
  CHECK(computed(ignoring, {{"x", x}, {"t", places({2}, {-1, 2})}}) == Values{2});
  for (const auto& [wrong, said] : std::map<double, std::string>{{1e9, "1000000000"}, {3, "3"}, {-1, "-1"}}) {
    const Inputs inputs{{"x", x}, {"t", places({2}, {0, wrong})}};
    const std::string expected = "index " + said + " at element 1, expected at least 0 and less than 3";
    CHECK(index_error(plain, inputs) == "node 'NegativeLogLikelihoodLoss_y': " + expected);
    CHECK(index_error(softmax, inputs) == "node 'SoftmaxCrossEntropyLoss_y': " + expected);
    CHECK(index_error(ignoring, inputs).empty() == (wrong == -1));
  }
}

TEST_CASE("a box is of an image that is there") {
  const std::string model =
      "m (float[2,1,2,2] x, float[1,4] boxes, int64[1] b) => (float[1,1,1,1] y) {"
      " y = RoiAlign<output_height = 1, output_width = 1>(x, boxes, b) }";
  const auto error = [&](double image) {
    return index_error(model, {{"x", numbers({2, 1, 2, 2}, Values(8, 1.0))},
                               {"boxes", numbers({1, 4}, {0, 0, 1, 1})},
                               {"b", places({1}, {image})}});
  };
  CHECK(error(0).empty());
  CHECK(error(1).empty());
  for (const double wrong : {2.0, -1.0, 1e9})
    CHECK(error(wrong).find("expected at least 0 and less than 2") != std::string::npos);
}

TEST_CASE("a model whose random indices point at nothing has no witness, and a reason") {
  // The first random index of an input `x` is 1, as the test of random numbers has it.
  const Witness witness = testing::witness_of(
      "m (float[3,1] data, int64[1,1] x) => (float[1,1] y) { y = GatherElements<axis = 1>(data, x) }");
  CHECK_FALSE(witness.given());
  CHECK(witness.refused == "node 'GatherElements_y': index 1 at element 0, expected at least -1 and less than 1");
}
