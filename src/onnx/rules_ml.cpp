// SPDX-License-Identifier: Apache-2.0
// Shape rules of ai.onnx.ml: classifiers, regressors and the preparation of their features. For some, the library's
// rules read tensors that are stand-ins for larger ones here (scan.hpp). For others, they leave sizes open that follow
// from the attributes.
#include "rule_tables.hpp"

#include <algorithm>
#include <numeric>

namespace benanza::importer {
namespace {

using Strings = std::vector<std::string>;

/// The number of samples. A vector is one sample.
std::int64_t rows(const RuleArguments& a) {
  const Ints& dims = a.in(0).dims;
  return dims.size() < 2 ? 1 : dims[0];
}

template <class List>
std::int64_t length(const RuleArguments& a, std::string_view key) {
  return static_cast<std::int64_t>(a.node.attribute<List>(key, {}).size());
}

/// A label and a score of each class for each sample; labels are strings if the attribute `strings` is set.
RuleResult labels_and_scores(const RuleArguments& a, std::string_view strings, std::string_view integers,
                             std::int64_t scores) {
  const bool named = length<Strings>(a, strings) != 0;
  const std::int64_t classes = named ? length<Strings>(a, strings) : length<Ints>(a, integers);
  return {TypedShape{named ? DataType::string : DataType::i64, {rows(a)}},
          TypedShape{DataType::f32, {rows(a), scores > 0 ? scores : std::max<std::int64_t>(classes, 1)}}};
}

RuleResult tree_classifier(const RuleArguments& a) {
  return labels_and_scores(a, "classlabels_strings", "classlabels_int64s", 0);
}

// Without probabilities, there is a score for each pair of classes that have support vectors.
RuleResult vector_classifier(const RuleArguments& a) {
  const std::int64_t classes = length<Ints>(a, "vectors_per_class");
  const bool pairs = classes > 2 && length<std::vector<double>>(a, "prob_a") == 0;
  return labels_and_scores(a, "classlabels_strings", "classlabels_ints", pairs ? classes * (classes - 1) / 2 : 0);
}

RuleResult label_encoder(const RuleArguments& a) {
  if (const auto values = a.tensors.find("values_tensor"); values != a.tensors.end())
    return {TypedShape{values->second, a.in(0).dims}};
  DataType type = a.in(0).type == DataType::string ? DataType::i64 : DataType::string;
  if (length<Strings>(a, "values_strings") != 0) type = DataType::string;
  else if (length<Ints>(a, "values_int64s") != 0) type = DataType::i64;
  else if (length<std::vector<double>>(a, "values_floats") != 0) type = DataType::f32;
  else if (length<Strings>(a, "classes_strings") == 0) return {std::nullopt};
  return {TypedShape{type, a.in(0).dims}};
}

// X, indices into its last dimension
RuleResult array_feature_extractor(const RuleArguments& a) {
  Ints dims = a.in(0).dims;
  if (dims.empty()) throw InputError("a scalar, expected features");
  dims.back() = a.in(1).elements();
  if (dims.size() == 1) dims.insert(dims.begin(), 1);
  return {TypedShape{a.in(0).type, dims}};
}

RuleResult float_like(const RuleArguments& a) { return {TypedShape{DataType::f32, a.in(0).dims}}; }

RuleResult one_target(const RuleArguments& a) { return {TypedShape{DataType::f32, {rows(a), 1}}}; }

RuleResult linear_regressor(const RuleArguments& a) {
  return {TypedShape{DataType::f32, {rows(a), a.node.attribute<std::int64_t>("targets", 1)}}};
}
RuleResult tree_regressor(const RuleArguments& a) {
  return {TypedShape{DataType::f32, {rows(a), a.node.attribute<std::int64_t>("n_targets", 1)}}};
}
RuleResult tree_ensemble(const RuleArguments& a) {
  return {TypedShape{a.in(0).type, {rows(a), a.node.attribute<std::int64_t>("n_targets", 1)}}};
}

RuleResult feature_vectorizer(const RuleArguments& a) {
  const Ints sizes = a.node.attribute<Ints>("inputdimensions", {});
  return {TypedShape{DataType::f32, {rows(a), std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0})}}};
}

// A map from words of the vocabulary to numbers becomes a row with a column for each word.
RuleResult dict_vectorizer(const RuleArguments& a) {
  const std::int64_t words = std::max(length<Strings>(a, "string_vocabulary"), length<Ints>(a, "int64_vocabulary"));
  return {TypedShape{a.in(0).type, {1, words}}};
}

constexpr RuleEntry ml_table[] = {
    {ShapeRule::array_feature_extractor, array_feature_extractor},
    {ShapeRule::dict_vectorizer, dict_vectorizer},
    {ShapeRule::feature_vectorizer, feature_vectorizer},
    {ShapeRule::label_encoder, label_encoder},
    {ShapeRule::linear_regressor, linear_regressor},
    {ShapeRule::float_like, float_like},
    {ShapeRule::vector_classifier, vector_classifier},
    {ShapeRule::one_target, one_target},
    {ShapeRule::tree_ensemble, tree_ensemble},
    {ShapeRule::tree_classifier, tree_classifier},
    {ShapeRule::tree_regressor, tree_regressor},
};

}  // namespace

RuleTable ml_rules() { return ml_table; }

}  // namespace benanza::importer
