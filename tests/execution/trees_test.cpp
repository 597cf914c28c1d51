// SPDX-License-Identifier: Apache-2.0
// Trees of any shape. Expected numbers without another source are those of ONNX Runtime 1.32 on a processor.
#include "support/catch.hpp"
#include "support/onnx_text.hpp"
#include <benanza/execution/executor.hpp>

#include <cmath>
#include <string>
#include <vector>

using namespace benanza;

namespace {

using Values = std::vector<double>;

Executor loaded(const std::string& model, int version) {
  return Executor::load(testing::import_model(
      testing::parse_model(
          model, "<ir_version: 10, opset_import: [\"\" : 20, \"ai.onnx.ml\" : " + std::to_string(version) + "]>"),
      {.executable = true}));
}

Execution run_trees(const std::string& model, const Values& x, int version = 3) {
  Executor executor = loaded(model, version);
  const auto& info = executor.inputs().at(0);
  return executor.run({{"x", Tensor::of(info.type, info.dims, x)}});
}

void check_numbers(const Tensor& output, const Values& expected) {
  REQUIRE(output.elements() == static_cast<std::int64_t>(expected.size()));
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CAPTURE(i);
    CHECK(output[static_cast<std::int64_t>(i)] == Approx(expected[i]).epsilon(1e-5).margin(1e-6));
  }
}

/// What ONNX Runtime was given: element i is sin(0.7 i).
Values wave(std::size_t count) {
  Values x;
  for (std::size_t i = 0; i < count; ++i) x.push_back(std::sin(0.7 * static_cast<double>(i)));
  return x;
}

/// Tree 0 has leaves behind one, two and three branches; tree 1 has leaves behind one branch.
std::string branches(const std::string& first) {
  return R"(
    nodes_treeids = [0,0,0,0,0,0,0,1,1,1], nodes_nodeids = [0,1,2,3,4,5,6,0,1,2],
    nodes_featureids = [0,0,1,0,2,0,0,1,0,0], nodes_values = [0.4,0.0,0.5,0.0,-0.2,0.0,0.0,-0.3,0.0,0.0],
    nodes_modes = [")" +
         first + R"(","LEAF","BRANCH_GT","LEAF","BRANCH_LT","LEAF","LEAF","BRANCH_LEQ","LEAF","LEAF"],
    nodes_truenodeids = [1,0,3,0,5,0,0,1,0,0], nodes_falsenodeids = [2,0,4,0,6,0,0,2,0,0],)";
}

std::string regressor(const std::string& mode, const std::string& end) {
  return "m (float[5,3] x) => (float[5,2] y) { y = ai.onnx.ml.TreeEnsembleRegressor <" + branches(mode) + R"(
            target_treeids = [0,0,0,0,0,0,1,1], target_nodeids = [1,1,3,5,6,6,1,2], target_ids = [0,1,1,0,0,1,1,0],
            target_weights = [0.1,0.9,0.5,-0.6,-0.8,0.2,0.9,0.3], n_targets = 2, )" +
         end + "> (x) }";
}

std::string classifier(const std::string& ids, const std::string& labels, const std::string& end,
                       const std::string& weights = "0.1,-0.4,0.2,-0.3,0.2,-0.25") {
  const auto classes = std::to_string((labels.size() + 1) / 2);
  return "m (float[5,3] x) => (int64[5] l, float[5," + classes + "] s) { l, s = ai.onnx.ml.TreeEnsembleClassifier <" +
         branches("BRANCH_LEQ") + R"(
            class_treeids = [0,0,0,0,1,1], class_nodeids = [1,3,5,6,1,2], class_ids = [)" +
         ids + "], class_weights = [" + weights + "], classlabels_int64s = [" + labels + "], " + end + "> (x) }";
}

/// The values of a function for 0 to count - 1.
template <class Number>
std::string listed(int count, Number number) {
  std::string text;
  for (int i = 0; i < count; ++i) text += (i == 0 ? "" : ", ") + std::to_string(number(i));
  return text;
}

/// Branch i of 100 compares x with i; if x is at most i, it leads to a leaf of weight 2 i.
std::string chain(int last_false, int last_is_leaf, int root = 0, int feature = 0) {
  const auto same = [](int number) { return [=](int) { return number; }; };
  const auto last = [](auto number, int of_last) { return [=](int i) { return i == 99 ? of_last : number(i); }; };
  const auto own = [](int i) { return i; };
  return "m (float[3,1] x) => (float[3,1] y) { y = ai.onnx.ml.TreeEnsemble <n_targets = 1, aggregate_function = 1, "
         "post_transform = 0, tree_roots = [" +
         std::to_string(root) + "], nodes_modes = uint8[100] {" + listed(100, same(0)) +
         "}, nodes_splits = float[100] {" + listed(100, own) + "}, nodes_featureids = [" +
         listed(100, last(same(0), feature)) + "], nodes_truenodeids = [" + listed(100, own) +
         "], nodes_trueleafs = [" + listed(100, same(1)) + "], nodes_falsenodeids = [" +
         listed(100, last([](int i) { return i + 1; }, last_false)) + "], nodes_falseleafs = [" +
         listed(100, last(same(0), last_is_leaf)) + "], leaf_targetids = [" + listed(101, same(0)) +
         "], leaf_weights = float[101] {" + listed(101, [](int i) { return 2 * i; }) + "}> (x) }";
}

std::string refused_trees(const std::string& model, int version = 3) {
  return testing::message_of<NotExecutable>([&] { (void)loaded(model, version); });
}

}  // namespace

TEST_CASE("trees of uneven depth add, average or limit the weights of their leaves") {
  const auto scores = [](const std::string& mode, const std::string& end, const Values& expected) {
    CAPTURE(mode, end);
    check_numbers(run_trees(regressor(mode, end), wave(15)).outputs.at("y"), expected);
  };
  scores("BRANCH_LEQ", R"(post_transform = "NONE")", {0.4, 0.9, -0.3, 0, 0.1, 1.8, 0.4, 0.9, -0.3, 0});
  scores("BRANCH_LEQ", R"(aggregate_function = "AVERAGE")", {0.2, 0.45, -0.15, 0, 0.05, 0.9, 0.2, 0.45, -0.15, 0});
  scores("BRANCH_LEQ", R"(aggregate_function = "MIN", base_values = [0.5, -0.25])",
         {0.6, 0.65, -0.1, 0, 0.6, 0.65, 0.6, 0.65, -0.1, 0});
  scores("BRANCH_LEQ", R"(aggregate_function = "MAX")", {0.3, 0.9, 0.3, 0, 0.1, 0.9, 0.3, 0.9, 0.3, 0});
  scores("BRANCH_LEQ", R"(post_transform = "SOFTMAX_ZERO")",
         {0.377541, 0.622459, 1, 0, 0.154465, 0.845535, 0.377541, 0.622459, 1, 0});
  scores("BRANCH_GTE", R"(post_transform = "NONE")", {0.3, 0.5, 0.4, 0.9, -0.6, 0.9, 0.3, 0.5, 0.4, 0.9});
  scores("BRANCH_EQ", R"(post_transform = "NONE")", {0.3, 0.5, -0.3, 0, -0.6, 0.9, 0.3, 0.5, -0.3, 0});
}

TEST_CASE("trees with weights for one of two classes leave the rest to the other one") {
  const auto classes = [](const std::string& model, const Values& labels, const Values& scores) {
    CAPTURE(model);
    const Execution execution = run_trees(model, wave(15));
    check_numbers(execution.outputs.at("l"), labels);
    check_numbers(execution.outputs.at("s"), scores);
  };
  const std::string first = "0,0,0,0,0,0", second = "1,1,1,1,1,1", positive = "0.1,0.4,0.2,0.3,0.2,0.25";
  const Values low{4, 4, 4, 4, 4}, mixed{4, 4, 9, 4, 4};
  classes(classifier(first, "4,9", R"(post_transform = "NONE")", positive), low,
          {0.65, 0.35, 0.55, 0.45, 0.7, 0.3, 0.65, 0.35, 0.55, 0.45});
  classes(classifier(first, "4,9", R"(post_transform = "NONE")"), mixed,
          {0.15, -0.15, 0.05, -0.05, -0.3, 0.3, 0.15, -0.15, 0.05, -0.05});
  classes(classifier(first, "4,9", R"(post_transform = "SOFTMAX")"), mixed,
          {0.15, -0.15, 0.05, -0.05, -0.3, 0.3, 0.15, -0.15, 0.05, -0.05});
  classes(classifier(first, "4,9", R"(post_transform = "LOGISTIC")"), mixed,
          {0.53743, 0.46257, 0.512497, 0.487503, 0.425558, 0.574442, 0.53743, 0.46257, 0.512497, 0.487503});
  classes(classifier(first, "4,9", R"(base_values = [0.2], post_transform = "LOGISTIC")"), {9, 9, 9, 9, 9},
          {0.487503, 0.512497, 0.46257, 0.53743, 0.377541, 0.622459, 0.487503, 0.512497, 0.46257, 0.53743});
  classes(classifier(second, "4,9", R"(post_transform = "LOGISTIC")", positive), low,
          {0.5, 0.586618, 0.5, 0.610639, 0.5, 0.574442, 0.5, 0.586618, 0.5, 0.610639});
  classes(classifier(second, "4,9", R"(post_transform = "SOFTMAX")"), mixed,
          {0.53743, 0.46257, 0.512497, 0.487503, 0.425557, 0.574443, 0.53743, 0.46257, 0.512497, 0.487503});
  // A class for which no tree has a weight is not the largest of three.
  classes(classifier("0,1,2,0,1,2", "7,8,9", R"(post_transform = "NONE")"), {7, 9, 8, 7, 9},
          {0.1, 0, -0.25, 0, 0, -0.05, 0.1, 0.2, 0, 0.1, 0, -0.25, 0, 0, -0.05});
  classes(classifier("0,1,2,0,1,2", "7,8,9", R"(base_values = [0.1, 0.2, -0.3], post_transform = "SOFTMAX")"),
          {7, 8, 8, 7, 8},
          {0.404471, 0.404471, 0.191058, 0.364591, 0.402935, 0.232474, 0.353615, 0.431906, 0.214478, 0.404471, 0.404471,
           0.191058, 0.364591, 0.402935, 0.232474});
}

TEST_CASE("trees may have their numbers in tensors of any length") {
  // 41.5 is at most 42, -3 is at most 0, 1000 is at most none of 0 to 99.
  check_numbers(run_trees(chain(100, 1), {41.5, -3, 1000}, 5).outputs.at("y"), {84, 0, 200});
}

TEST_CASE("thresholds of 64 bits remain what they are") {
  check_numbers(run_trees(R"(m (double[3,1] x) => (float[3,1] y) { y = ai.onnx.ml.TreeEnsembleRegressor <
               nodes_treeids = [0,0,0], nodes_nodeids = [0,1,2], nodes_featureids = [0,0,0],
               nodes_values_as_tensor = double[3] {0.1, 0.0, 0.0}, nodes_modes = ["BRANCH_LEQ","LEAF","LEAF"],
               nodes_truenodeids = [1,0,0], nodes_falsenodeids = [2,0,0], target_treeids = [0,0],
               target_nodeids = [1,2], target_ids = [0,0], target_weights_as_tensor = double[2] {1.0, 2.0},
               n_targets = 1> (x) })",
                          {0.1, 0.10000000001, 0.0999999})
                    .outputs.at("y"),
                {1, 2, 1});
}

TEST_CASE("a NaN takes the way that a branch has for it") {
  check_numbers(run_trees(R"(m (float[3,2] x) => (float[3,1] y) { y = ai.onnx.ml.TreeEnsembleRegressor <
               nodes_treeids = [0,0,0,0,0], nodes_nodeids = [0,1,2,3,4], nodes_featureids = [0,0,1,0,0],
               nodes_values = [0.5,0.0,0.5,0.0,0.0], nodes_missing_value_tracks_true = [1,0,0,0,0],
               nodes_modes = ["BRANCH_LEQ","LEAF","BRANCH_LEQ","LEAF","LEAF"], nodes_truenodeids = [1,0,3,0,0],
               nodes_falsenodeids = [2,0,4,0,0], target_treeids = [0,0,0], target_nodeids = [1,3,4],
               target_ids = [0,0,0], target_weights = [1.0, 2.0, 3.0], n_targets = 1> (x) })",
                          {std::nan(""), 0, 1, std::nan(""), 1, 0})
                    .outputs.at("y"),
                {1, 3, 2});
}

TEST_CASE("what the attributes describe has to be trees") {
  CHECK(refused_trees(chain(0, 0), 5).find("comes back to a branch") != std::string::npos);
  CHECK(refused_trees(chain(99, 0), 5).find("comes back to a branch") != std::string::npos);
  CHECK(refused_trees(chain(101, 1), 5).find("leads to no node") != std::string::npos);
  CHECK(refused_trees(chain(-1, 1), 5).find("leads to no node") != std::string::npos);
  CHECK(refused_trees(chain(100, 1, 100), 5).find("leads to no node") != std::string::npos);
  CHECK(refused_trees(chain(100, 1, 0, 1), 5).find("feature 1 of 1") != std::string::npos);
  const auto changed = [](const std::string& from, const std::string& to) {
    std::string model = regressor("BRANCH_LEQ", R"(post_transform = "NONE")");
    return refused_trees(model.replace(model.find(from), from.size(), to));
  };
  CHECK(changed("nodes_truenodeids = [1,0,3", "nodes_truenodeids = [1,0,0").find("comes back") != std::string::npos);
  CHECK(changed("nodes_falsenodeids = [2", "nodes_falsenodeids = [7").find("lacks a node") != std::string::npos);
  CHECK(changed("nodes_nodeids = [0,1,2", "nodes_nodeids = [0,1,1").find("two nodes of one") != std::string::npos);
  CHECK(changed("target_ids = [0,1", "target_ids = [0,2").find("target 2 of 2") != std::string::npos);
  CHECK(changed("target_ids = [0,1", "target_ids = [0,0").find("two weights for one") != std::string::npos);
  CHECK(changed("target_weights = [0.1,", "target_weights = [").find("expected 8") != std::string::npos);
  CHECK(changed("\"NONE\"", "\"PROBIT\"").find("PROBIT") != std::string::npos);
  CHECK(refused_trees(classifier("0,1,0,1,0,1", "4,9", R"(post_transform = "NONE")")).find("for one alone") !=
        std::string::npos);
}
