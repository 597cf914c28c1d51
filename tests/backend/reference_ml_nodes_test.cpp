// SPDX-License-Identifier: Apache-2.0
// The reference against ONNX Runtime 1.32 on a processor: nodes of ai.onnx.ml, which become ONNX's own nodes or trees.
#include "backend/node_run.hpp"
#include "support/catch.hpp"
#include "support/onnx_text.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace {

using namespace benanza;
using test::Numbers;
using Outputs = std::vector<std::vector<double>>;

/// What ONNX Runtime was given: element i of graph input n is sin(0.7 i + n), or i modulo 3 if it is an integer.
std::map<std::string, Numbers> given(const Graph& graph) {
  std::map<std::string, Numbers> result;
  for (std::size_t n = 0; n < graph.inputs.size(); ++n) {
    const Value& value = graph.value(graph.inputs[n]);
    Numbers numbers{.type = value.type, .dims = value.dims};
    for (std::int64_t i = 0; i < value.elements(); ++i)
      numbers.values.push_back(is_float(value.type) ? std::sin(0.7 * static_cast<double>(i) + static_cast<double>(n))
                                                    : static_cast<double>(i % 3));
    result[value.name] = std::move(numbers);
  }
  return result;
}

void check(const std::string& model, const Outputs& expected, double tolerance = 1e-4) {
  CAPTURE(model);
  const Graph graph = testing::import_model(
      testing::parse_model(model, R"(<ir_version: 10, opset_import: ["" : 20, "ai.onnx.ml" : 3]>)"),
      {.executable = true});
  const auto outputs = test::run_graph(graph, given(graph));
  REQUIRE(outputs.size() == expected.size());
  for (std::size_t o = 0; o < expected.size(); ++o) {
    REQUIRE(outputs[o]);
    REQUIRE(outputs[o]->values.size() == expected[o].size());
    for (std::size_t i = 0; i < expected[o].size(); ++i) {
      CAPTURE(o, i);
      CHECK(outputs[o]->values[i] == Approx(expected[o][i]).epsilon(tolerance).margin(1e-6));
    }
  }
}

/// A model that classifies 3 rows of 2 features.
std::string classifier(const std::string& op_type, int classes, const std::string& attributes) {
  return "m (float[3,2] x) => (int64[3] l, float[3," + std::to_string(classes) + "] s) { l, s = ai.onnx.ml." + op_type +
         " <" + attributes + "> (x) }";
}
std::string regressor(const std::string& op_type, int targets, const std::string& attributes) {
  return "m (float[3,2] x) => (float[3," + std::to_string(targets) + "] y) { y = ai.onnx.ml." + op_type + " <" +
         attributes + "> (x) }";
}
/// A model of 2 rows of 3 features.
std::string features(const std::string& node) {
  return "m (float[2,3] x) => (float[2,3] y) { y = ai.onnx.ml." + node + " (x) }";
}

TEST_CASE("a linear classifier is a product, its bias, a function of the scores and the largest of them") {
  const std::string three = "coefficients = [0.5, -1.0, 0.25, 0.75, -0.5, 1.5], intercepts = [0.1, -0.2, 0.3], ";
  const std::string second = "coefficients = [0.5, -1.0], intercepts = [0.1], classlabels_ints = [0, 1], ";
  check(classifier("LinearClassifier", 3, three + R"(classlabels_ints = [0, 1, 2], post_transform = "SOFTMAX")"),
        {{2, 2, 0}, {0.106371, 0.243304, 0.650326, 0.13213, 0.346554, 0.521317, 0.577278, 0.212875, 0.209847}});
  check(classifier("LinearClassifier", 3, three + R"(classlabels_ints = [7, 5, 9], post_transform = "LOGISTIC")"),
        {{9, 9, 7}, {0.367207, 0.570322, 0.780113, 0.432788, 0.666805, 0.750651, 0.649827, 0.406286, 0.402834}});
  check(classifier("LinearClassifier", 2, second + R"(post_transform = "LOGISTIC")"),
        {{0, 0, 1}, {0.632793, 0.367207, 0.567212, 0.432788, 0.350173, 0.649827}});
  for (const std::string transform : {"NONE", "SOFTMAX"})
    check(classifier("LinearClassifier", 2, second + "post_transform = \"" + transform + "\""),
          {{0, 0, 1}, {1.54422, -0.544218, 1.27048, -0.270485, 0.381723, 0.618277}});
}

TEST_CASE("a linear regressor is a product and its bias") {
  check(
      regressor("LinearRegressor", 2, "coefficients = [0.5, -1.0, 0.25, 0.75], intercepts = [0.1, -0.2], targets = 2"),
      {{-0.544218, 0.283163, -0.270485, 0.693769, 0.618277, -0.37934}});
}

TEST_CASE("a machine with support vectors is two products with the kernel in between") {
  const std::string vectors =
      "support_vectors = [0.5, -0.25, 0.75, 0.1, -0.6, 0.9], coefficients = [0.8, -1.2, 0.4], "
      "rho = [0.3], ";
  const auto regression = [&](const std::string& kernel, const std::string& numbers) {
    return regressor("SVMRegressor", 1,
                     vectors + "n_supports = 3, kernel_type = \"" + kernel + "\", kernel_params = [" + numbers + "]");
  };
  check(regression("LINEAR", "0.0, 0.0, 0.0"), {{0.325769, -0.394704, 0.0380774}});
  check(regression("RBF", "0.5, 0.0, 3.0"), {{0.315559, -0.0758716, 0.20874}});
  check(regression("POLY", "0.5, 0.25, 3.0"), {{0.339873, 0.0137572, 0.287972}});
  check(regression("SIGMOID", "0.5, 0.25, 3.0"), {{0.301519, 0.0318273, 0.172927}});
  check(regressor("SVMRegressor", 1, R"(kernel_type = "LINEAR", coefficients = [0.8, -1.2], rho = [0.3])"),
        {{-0.473061, 0.0525085, 0.98893}});

  const std::string two = vectors + R"(vectors_per_class = [1, 2], classlabels_ints = [0, 1], kernel_type = "RBF",
                                       kernel_params = [0.5, 0.0, 3.0])";
  check(classifier("SVMClassifier", 2, two),
        {{0, 1, 0}, {-0.315559, 0.315559, 0.0758716, -0.0758716, -0.20874, 0.20874}});
  check(classifier("SVMClassifier", 2, two + R"(, post_transform = "LOGISTIC")"),
        {{0, 1, 0}, {0.421758, 0.578242, 0.518959, 0.481041, 0.448004, 0.551996}});
  // ONNX Runtime iterates to find probabilities and stops before they are exact.
  check(classifier("SVMClassifier", 2, two + ", prob_a = [-1.5], prob_b = [0.2]"),
        {{0, 1, 0}, {0.567771, 0.432229, 0.421862, 0.578138, 0.528243, 0.471758}}, 1e-3);
  check(classifier("SVMClassifier", 3,
                   "coefficients = [0.5, -1.0, 0.25, 0.75, -0.5, 1.5], rho = [0.1], classlabels_ints = [0, 1, 2], "
                   "kernel_type = \"LINEAR\""),
        {{2, 1, 0}, {-0.544218, 0.583163, 1.06633, -0.270485, 0.993769, 0.902089, 0.618277, -0.0793404, -0.593669}});
}

TEST_CASE("what prepares features moves, compares and scales them") {
  check(features("Scaler <offset = [0.5, -1.0, 0.25], scale = [2.0, 0.5, -1.0]>"),
        {{-1, 0.822109, -0.73545, 0.726419, 0.667494, 0.600783}});
  check(features("Scaler <offset = [0.5], scale = [2.0]>"), {{-1, 0.288435, 0.970899, 0.726419, -0.330024, -1.70157}});
  check(features("Normalizer <norm = \"MAX\">"), {{0, 0.65373, 1, 1, 0.388073, -0.406371}});
  check(features("Normalizer <norm = \"L1\">"), {{0, 0.395306, 0.604694, 0.557276, 0.216264, -0.226461}});
  check(features("Normalizer <norm = \"L2\">"), {{0, 0.547181, 0.837014, 0.871797, 0.338321, -0.354273}});
  check(features("Binarizer <threshold = -0.2>"), {{1, 1, 1, 1, 1, 0}});
  check(R"(m (float[2,3] x, float[2,1] z) => (float[2,4] y)
           { y = ai.onnx.ml.FeatureVectorizer <inputdimensions = [3, 1]> (x, z) })",
        {{0, 0.644218, 0.98545, 0.841471, 0.863209, 0.334988, -0.350783, 0.991665}});
  check(R"(m (float[2,3] x) => (float[2,2] y) <int64[2] i = {2, 0}> { y = ai.onnx.ml.ArrayFeatureExtractor (x, i) })",
        {{0.98545, 0, -0.350783, 0.863209}});
  check(R"(m (int64[4] x) => (float[4,3] y) { y = ai.onnx.ml.OneHotEncoder <cats_int64s = [0, 1, 2], zeros = 1> (x) })",
        {{1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 0, 0}});
  check(R"(m (int64[4] x) => (float[4] y)
           { y = ai.onnx.ml.LabelEncoder <keys_int64s = [0, 1, 2], values_floats = [0.5, 1.5, -2.5]> (x) })",
        {{0.5, 1.5, -2.5, 0.5}});
}

/// Two trees, one with two levels of branches and one with a single level.
const std::string branches = R"(
    nodes_treeids = [0,0,0,0,0,0,0,1,1,1], nodes_nodeids = [0,1,2,3,4,5,6,0,1,2],
    nodes_featureids = [0,1,1,0,0,0,0,2,0,0], nodes_values = [0.4,0.1,0.5,0.0,0.0,0.0,0.0,-0.3,0.0,0.0],
    nodes_modes = ["BRANCH_LEQ","BRANCH_LEQ","BRANCH_LEQ","LEAF","LEAF","LEAF","LEAF","BRANCH_LEQ","LEAF","LEAF"],
    nodes_truenodeids = [1,3,5,0,0,0,0,1,0,0], nodes_falsenodeids = [2,4,6,0,0,0,0,2,0,0],)";

TEST_CASE("trees that vote for classes add the weights of their leaves") {
  check("m (float[5,3] x) => (int64[5] l, float[5,3] s) { l, s = ai.onnx.ml.TreeEnsembleClassifier <" + branches + R"(
          class_treeids = [0,0,0,0,0,0,0,0,0,0,0,0,1,1,1,1,1,1], class_nodeids = [3,3,3,4,4,4,5,5,5,6,6,6,1,1,1,2,2,2],
          class_ids = [0,1,2,0,1,2,0,1,2,0,1,2,0,1,2,0,1,2],
          class_weights = [0.0,0.867,0.464,-0.619,-0.795,0.194,0.899,0.287,-0.745,-0.686,0.378,0.888,0.097,-0.836,
                           -0.544,0.545,0.836,-0.098],
          classlabels_int64s = [0, 1, 2], post_transform = "SOFTMAX"> (x) })",
        {{2, 0, 0, 2, 0},
         {0.302373, 0.339224, 0.358404, 0.760407, 0.162204, 0.0773897, 0.360502, 0.337477, 0.302021, 0.302373, 0.339224,
          0.358404, 0.760407, 0.162204, 0.0773897}});
}

TEST_CASE("trees of a regression add, average or limit the weights of their leaves") {
  const auto trees = [](const std::string& end) {
    return "m (float[5,3] x) => (float[5,2] y) { y = ai.onnx.ml.TreeEnsembleRegressor <" + branches + R"(
              target_treeids = [0,0,0,0,0,0,0,0,1,1,1,1], target_nodeids = [3,3,4,4,5,5,6,6,1,1,2,2],
              target_ids = [0,1,0,1,0,1,0,1,0,1,0,1],
              target_weights = [0.0,0.867,0.464,-0.619,-0.795,0.194,0.899,0.287,-0.745,-0.686,0.378,0.888],
              n_targets = 2, )" +
           end + "> (x) }";
  };
  check(trees(R"(aggregate_function = "SUM", post_transform = "LOGISTIC")"),
        {{0.698886, 0.566847, 0.176535, 0.379423, 0.321912, 0.545127, 0.698886, 0.566847, 0.176535, 0.379423}});
  check(trees(R"(aggregate_function = "AVERAGE")"),
        {{0.421, 0.1345, -0.77, -0.246, -0.3725, 0.0905, 0.421, 0.1345, -0.77, -0.246}});
  check(trees(R"(aggregate_function = "MIN")"),
        {{0.378, -0.619, -0.795, -0.686, -0.745, -0.686, 0.378, -0.619, -0.795, -0.686}});
  check(trees(R"(aggregate_function = "MAX")"), {{0.464, 0.888, -0.745, 0.194, 0, 0.867, 0.464, 0.888, -0.745, 0.194}});
}

}  // namespace
