// SPDX-License-Identifier: Apache-2.0
// ai.onnx.ml: https://github.com/onnx/onnx/blob/main/docs/Operators-ml.md. If that page does not define what is
// computed (the score of a second class), results are as in ONNX Runtime.
#include "decompose.hpp"
#include "parts.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace benanza::importer {
namespace {

/// x times constant weights, plus a constant bias if there is one. The weights of a column are contiguous in the
/// attributes. Surplus weights are ignored, as in ONNX Runtime. Empty if there are too few.
std::optional<ValueId> linear(Parts& parts, ValueId x, const Floats& weights, std::int64_t columns,
                              const Floats& bias) {
  const std::int64_t rows = parts.value(x).dims[0], features = parts.value(x).dims[1];
  if (features < 1 || columns < 1 || count(weights) < checked_product(features, columns)) return std::nullopt;
  if (count(bias) > 1 && count(bias) != columns) return std::nullopt;
  Floats transposed;
  for (std::size_t i = 0; i < static_cast<std::size_t>(features * columns); ++i) {
    const auto column = i % static_cast<std::size_t>(columns), feature = i / static_cast<std::size_t>(columns);
    transposed.push_back(weights[column * static_cast<std::size_t>(features) + feature]);
  }
  const ValueId w = parts.constant({features, columns}, {.floats = std::move(transposed)});
  const ValueId product = parts.put("MatMul", {x, w}, {rows, columns});
  return bias.empty() ? product : parts.put_same("Add", {product, parts.constant({count(bias)}, {.floats = bias})});
}

Floats times(Floats list, double factor) {
  for (double& number : list) number *= factor;
  return list;
}

/// Scores after `post_transform`. Empty for PROBIT. Leaving zeros alone, as SOFTMAX_ZERO does, does not reduce the
/// cost.
std::optional<ValueId> transformed(Parts& parts, ValueId scores) {
  const auto transform = parts.node().attribute<std::string>("post_transform", "NONE");
  if (transform == "NONE") return scores;
  if (transform == "LOGISTIC") return parts.put_same("Sigmoid", {scores});
  if (transform == "SOFTMAX" || transform == "SOFTMAX_ZERO") return parts.put_same("Softmax", {scores});
  return std::nullopt;
}

/// Scores of two classes from that of the second. The score of the first is 1 minus that of the second, or its
/// negative.
ValueId two_scores(Parts& parts, ValueId second, bool left_of_one) {
  const Integers dims = parts.value(second).dims;
  const ValueId first =
      left_of_one ? parts.put("Sub", {parts.number(1), second}, dims) : parts.put_same("Neg", {second});
  return parts.put("Concat", {first, second}, {dims[0], 2}, {{"axis", std::int64_t{1}}});
}

/// Outputs the scores of a classifier, and as label the class that `pick` finds among them. Labels other than 0, 1, ...
/// are looked up. False if the node has scores of another size.
bool give_classes(Parts& parts, ValueId scores, const Integers& labels, const char* pick = "ArgMax") {
  const Node& node = parts.node();
  const std::int64_t rows = parts.value(scores).dims[0], classes = parts.value(scores).dims[1];
  if (!node.has_output(1) || parts.value(*node.outputs[1]).elements() != parts.value(scores).elements()) return false;
  if (node.has_output(0)) {
    ValueId label =
        parts.put(pick, {scores}, {rows}, {{"axis", std::int64_t{1}}, {"keepdims", std::int64_t{0}}}, DataType::i64);
    const DataType type = parts.value(*node.outputs[0]).type;
    bool counts = type == DataType::i64;
    for (std::size_t i = 0; i < labels.size(); ++i) counts &= labels[i] == static_cast<std::int64_t>(i);
    if (!counts)
      label = parts.put("Gather", {parts.constant({classes}, {.ints = labels}, type), label}, {rows}, {}, type);
    parts.give(label, 0);
  }
  parts.give(scores, 1);
  return true;
}

std::int64_t classes_of(const Node& node, std::string_view integers) {
  return std::max(count(node.attribute<Integers>(integers, {})),
                  count(node.attribute<std::vector<std::string>>("classlabels_strings", {})));
}

/// If only the second of two classes has a score, there is no softmax.
bool linear_classifier(Parts& parts) {
  const Node& node = parts.node();
  const auto x = parts.rows(0);
  const auto weights = node.attribute<Floats>("coefficients", {}), bias = node.attribute<Floats>("intercepts", {});
  if (!x || parts.value(*x).dims[1] == 0) return false;
  const std::int64_t columns = bias.empty() ? count(weights) / parts.value(*x).dims[1] : count(bias);
  auto scores = linear(parts, *x, weights, columns, bias);
  if (!scores) return false;
  const bool second_alone = parts.value(*scores).dims[1] == 1 && classes_of(node, "classlabels_ints") == 2;
  const bool softmax = node.attribute<std::string>("post_transform", "NONE").starts_with("SOFTMAX");
  if (!second_alone || !softmax) scores = transformed(parts, *scores);
  if (scores && second_alone) scores = two_scores(parts, *scores, true);
  return scores && give_classes(parts, *scores, node.attribute<Integers>("classlabels_ints", {}));
}

/// Outputs the result of a regression, after `post_transform`.
bool give_regression(Parts& parts, std::optional<ValueId> scores) {
  if (scores) scores = transformed(parts, *scores);
  if (scores) parts.give(*scores, 0);
  return scores.has_value();
}

bool linear_regressor(Parts& parts) {
  const Node& node = parts.node();
  const auto x = parts.rows(0);
  return x && give_regression(
                  parts, linear(parts, *x, node.attribute<Floats>("coefficients", {}),
                                node.attribute<std::int64_t>("targets", 1), node.attribute<Floats>("intercepts", {})));
}

/// The kernel of each row and each support vector. The squared distance of RBF is |x|^2 - 2 x.s + |s|^2. Terms that do
/// not depend on x are computed in advance, and factors are in the constants.
std::optional<ValueId> kernel(Parts& parts, ValueId x, std::int64_t vectors) {
  const Node& node = parts.node();
  const auto type = node.attribute<std::string>("kernel_type", "LINEAR");
  const auto supports = node.attribute<Floats>("support_vectors", {});
  const auto numbers = node.attribute<Floats>("kernel_params", {});  // gamma, coef0, degree
  if (vectors > count(supports)) return std::nullopt;
  if (type == "LINEAR") return linear(parts, x, supports, vectors, {});
  if (numbers.size() != 3) return std::nullopt;
  const double gamma = numbers[0];
  if (type == "RBF") {
    Floats squares(static_cast<std::size_t>(vectors));
    const auto features = supports.size() / squares.size();
    for (std::size_t i = 0; i < squares.size() * features; ++i)
      squares[i / features] -= gamma * supports[i] * supports[i];
    const auto product = linear(parts, x, times(supports, 2 * gamma), vectors, squares);
    if (!product) return std::nullopt;
    const ValueId square = parts.put("ReduceSumSquare", {x}, {parts.value(x).dims[0], 1}, {{"axes", Integers{1}}});
    const ValueId scaled = parts.put_same("Mul", {square, parts.number(-gamma)});
    return parts.put_same("Exp", {parts.put_same("Add", {*product, scaled})});
  }
  const auto product = linear(parts, x, times(supports, gamma), vectors, {});
  if (!product) return std::nullopt;
  const ValueId moved = parts.put_same("Add", {*product, parts.number(numbers[1])});
  if (type == "SIGMOID") return parts.put_same("Tanh", {moved});
  if (type == "POLY") return parts.put_same("Pow", {moved, parts.number(numbers[2])});
  return std::nullopt;
}

bool vector_regressor(Parts& parts) {
  const Node& node = parts.node();
  auto x = parts.rows(0);
  if (const auto vectors = node.attribute<std::int64_t>("n_supports", 0); x && vectors > 0)
    x = kernel(parts, *x, vectors);
  if (!x) return false;
  auto score = linear(parts, *x, node.attribute<Floats>("coefficients", {}), 1, node.attribute<Floats>("rho", {}));
  if (score && node.attribute<std::int64_t>("one_class", 0) != 0) score = parts.put_same("Sign", {*score});
  return give_regression(parts, score);
}

/// With support vectors of two classes, or without any. More classes vote in pairs. A positive score is for the first
/// class; a probability is that of the second.
bool vector_classifier(Parts& parts) {
  const Node& node = parts.node();
  auto x = parts.rows(0);
  const auto labels = node.attribute<Integers>("classlabels_ints", {});
  const auto per_class = node.attribute<Integers>("vectors_per_class", {});
  const auto weights = node.attribute<Floats>("coefficients", {}), bias = node.attribute<Floats>("rho", {});
  const auto classes = classes_of(node, "classlabels_ints");
  const bool votes = !per_class.empty();
  if (!x || (votes && (per_class.size() != 2 || classes != 2 || weights.empty()))) return false;
  if (votes) x = kernel(parts, *x, count(weights));  // each vector has one weight
  auto scores = x ? linear(parts, *x, weights, votes ? 1 : classes, bias) : std::nullopt;
  if (!scores) return false;
  const auto slopes = node.attribute<Floats>("prob_a", {}), offsets = node.attribute<Floats>("prob_b", {});
  const bool probable = votes && slopes.size() == 1 && offsets.size() == 1;
  if (probable) {
    const ValueId scaled = parts.put_same("Mul", {*scores, parts.number(slopes[0])});
    const ValueId moved = parts.put_same("Add", {scaled, parts.number(offsets[0])});
    scores = parts.put_same("Sigmoid", {moved});
  }
  if (votes) scores = two_scores(parts, *scores, probable);
  scores = transformed(parts, *scores);
  return scores && give_classes(parts, *scores, labels, votes && !probable ? "ArgMin" : "ArgMax");
}

bool scaler(Parts& parts) {
  const Node& node = parts.node();
  ValueId x = parts.floats(0);
  bool any = false;
  for (const auto& [key, op_type] : {std::pair{"offset", "Sub"}, std::pair{"scale", "Mul"}})
    if (const auto list = node.attribute<Floats>(key, {}); !list.empty()) {
      x = parts.put_same(op_type, {x, parts.constant({count(list)}, {.floats = list})});
      any = true;
    }
  parts.give(x, 0);
  return any;
}

bool normalizer(Parts& parts) {
  const auto norm = parts.node().attribute<std::string>("norm", "MAX");
  const ValueId x = parts.floats(0);
  Integers dims = parts.value(x).dims;
  if (dims.empty()) return false;
  if (norm == "MAX") {
    const std::int64_t last = count(dims) - 1;
    Integers kept = dims;
    kept.back() = 1;
    const ValueId largest = parts.put("ReduceMax", {x}, std::move(kept), {{"axes", Integers{last}}});
    parts.give(parts.put_same("Div", {x, largest}), 0);
    return true;
  }
  if (norm != "L1" && norm != "L2") return false;
  const std::int64_t p = norm == "L1" ? 1 : 2;
  parts.give(parts.put("LpNormalization", {x}, std::move(dims), {{"axis", std::int64_t{-1}}, {"p", p}}), 0);
  return true;
}

/// 1 above the threshold, else 0: the positive part of the sign of the difference.
bool binarizer(Parts& parts) {
  const double threshold = parts.node().attribute<double>("threshold", 0);
  ValueId x = parts.floats(0);
  if (threshold != 0) x = parts.put_same("Sub", {x, parts.number(threshold)});
  parts.give(parts.put_same("Relu", {parts.put_same("Sign", {x})}), 0);
  return true;
}

bool feature_vectorizer(Parts& parts) {
  const Node& node = parts.node();
  const Integers sizes = node.attribute<Integers>("inputdimensions", {});
  std::vector<ValueId> inputs;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    if (!node.has_input(i) || i >= sizes.size()) return false;
    const auto x = parts.rows(i);
    if (!x || parts.value(*x).dims[1] != sizes[i]) return false;
    inputs.push_back(*x);
  }
  if (inputs.empty()) return false;
  Integers dims = parts.value(*node.outputs[0]).dims;
  parts.give(parts.put("Concat", std::move(inputs), std::move(dims), {{"axis", std::int64_t{1}}}), 0);
  return true;
}

bool array_feature_extractor(Parts& parts) {
  const Node& node = parts.node();
  const Value y = parts.value(*node.outputs[0]);
  if (!node.has_input(1)) return false;
  parts.give(parts.put("Gather", {*node.inputs[0], *node.inputs[1]}, y.dims, {{"axis", std::int64_t{-1}}}, y.type), 0);
  return true;
}

/// Whether the keys are 0, 1, 2, ...: a key is then its own index in a list. Otherwise the constant that stands for a
/// search has no numbers, so that the node can be counted but not executed.
bool are_places(const Integers& keys) {
  for (std::size_t i = 0; i < keys.size(); ++i)
    if (keys[i] != static_cast<std::int64_t>(i)) return false;
  return true;
}

/// OneHotEncoder of integers. Finding the category has a cost, too, but only its encoding is counted.
bool one_hot_encoder(Parts& parts) {
  const Node& node = parts.node();
  const Value y = parts.value(*node.outputs[0]);
  const DataType type = parts.value(*node.inputs[0]).type;
  if (type != DataType::i64 && type != DataType::i32) return false;
  const auto categories = node.attribute<Integers>("cats_int64s", {});
  if (categories.empty()) return false;
  Literal depth_number;
  if (are_places(categories)) depth_number.ints = {count(categories)};
  const ValueId depth = parts.constant({}, std::move(depth_number), DataType::i64);
  const ValueId values = parts.constant({2}, {.floats = {0, 1}});
  parts.give(parts.put("OneHot", {*node.inputs[0], depth, values}, y.dims), 0);
  return true;
}

/// From integers to numbers. Finding the key has a cost, too, but only the lookup of its value is counted.
bool label_encoder(Parts& parts) {
  const Node& node = parts.node();
  const Value y = parts.value(*node.outputs[0]);
  const DataType type = parts.value(*node.inputs[0]).type;
  Literal values{.ints = node.attribute<Integers>("values_int64s", {}),
                 .floats = node.attribute<Floats>("values_floats", {})};
  const std::int64_t keys = count(values.ints) + count(values.floats);
  if (type != DataType::i64 || y.type == DataType::string || keys == 0) return false;
  if (!are_places(node.attribute<Integers>("keys_int64s", {}))) values = {};
  const ValueId table = parts.constant({keys}, std::move(values), y.type);
  parts.give(parts.put("Gather", {table, *node.inputs[0]}, y.dims, {}, y.type), 0);
  return true;
}

struct MlOperator {
  std::string_view op_type;
  bool (*append)(Parts&);
};
constexpr std::array<MlOperator, 11> ml_operators{{{"ArrayFeatureExtractor", array_feature_extractor},
                                                   {"Binarizer", binarizer},
                                                   {"FeatureVectorizer", feature_vectorizer},
                                                   {"LabelEncoder", label_encoder},
                                                   {"LinearClassifier", linear_classifier},
                                                   {"LinearRegressor", linear_regressor},
                                                   {"Normalizer", normalizer},
                                                   {"OneHotEncoder", one_hot_encoder},
                                                   {"SVMClassifier", vector_classifier},
                                                   {"SVMRegressor", vector_regressor},
                                                   {"Scaler", scaler}}};

}  // namespace

bool append_ml_parts(Graph& graph, const Node& node, std::vector<Node>& nodes) {
  if (node.domain != "ai.onnx.ml" || !node.has_input(0)) return false;
  const auto* row =
      std::find_if(ml_operators.begin(), ml_operators.end(), [&](const auto& r) { return r.op_type == node.op_type; });
  if (row == ml_operators.end()) return false;
  const std::size_t values = graph.values.size();
  Parts parts(graph, node);
  if (!row->append(parts)) {
    graph.values.resize(values);
    return false;
  }
  parts.append_to(nodes);
  return true;
}

}  // namespace benanza::importer
