// SPDX-License-Identifier: Apache-2.0
// expand_attention: replaces a node of attention by its two products and its softmax, which have gradients. Fusion
// finds the whole again.
#pragma once

#include <benanza/base/detail/node.hpp>
#include <benanza/training/gradient_builder.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace benanza::training {

/// Expands ONNX Attention and com.microsoft's MultiHeadAttention, without caches and biases of projections.
class AttentionExpander {
 public:
  explicit AttentionExpander(Graph& graph) : graph_(&graph), at_(graph, {}) {}

  void expand() {
    std::vector<Node> nodes = std::move(graph_->nodes);
    graph_->nodes.clear();
    for (Node& node : nodes) {
      const std::string type = detail::onnx_type(node);
      const bool microsoft = type == "com.microsoft.MultiHeadAttention";
      if (type == "Attention" || microsoft) rewrite(node, microsoft);
      else graph_->nodes.push_back(std::move(node));
    }
  }

 private:
  struct Heads {
    ValueId id = 0;  // batch heads tokens depth
    bool split = false;
  };

  [[noreturn]] static void refuse(const Node& node, const std::string& what) {
    throw InputError("training: node '" + node.name + "' (" + detail::onnx_type(node) + "): no gradient is known for " +
                     what);
  }

  Heads heads_of(const Node& node, std::size_t i, std::int64_t heads) {
    if (!node.has_input(i)) refuse(node, "queries, keys and values in one tensor");
    const ValueId id = *node.inputs[i];
    const Dims dims = at_.value(id).dims;
    if (dims.size() == 4) return {id, false};
    if (dims.size() != 3 || heads < 1 || dims[2] % heads != 0) refuse(node, "operands of this shape");
    return {at_.transpose(at_.reshape(id, {dims[0], dims[1], heads, dims[2] / heads}), {0, 2, 1, 3}), true};
  }
  /// Repeats keys and values that several heads share, so that each head has a copy.
  ValueId repeat(ValueId id, std::int64_t heads) {
    const Dims dims = at_.value(id).dims;
    if (dims[1] == heads) return id;
    const ValueId copies = at_.expand(at_.reshape(id, {dims[0], dims[1], 1, dims[2], dims[3]}),
                                      {dims[0], dims[1], heads / dims[1], dims[2], dims[3]});
    return at_.reshape(copies, {dims[0], heads, dims[2], dims[3]});
  }
  ValueId masked(const Node& node, ValueId scores, ValueId mask) {
    const Value given = at_.value(scores);
    if (is_float(at_.value(mask).type)) return at_.emit({"Add"}, {scores, mask}, given.type, given.dims);
    if (at_.value(mask).type != DataType::boolean) refuse(node, "a mask of this type");
    return at_.emit({"Where"}, {mask, scores, at_.scalar(given.type, -1e30)}, given.type, given.dims);
  }
  /// Scores. As PyTorch exports it, queries and keys are multiplied by the root of the scale; keys that several heads
  /// share, before they are copied.
  ValueId scaled_product(ValueId q, ValueId k, double scale) {
    const DataType type = at_.value(q).type;
    const Dims q_dims = at_.value(q).dims, k_dims = at_.value(k).dims;
    const Dims pairs{q_dims[0], q_dims[1], q_dims[2], k_dims[2]};
    const auto moved = [&](ValueId keys) { return at_.transpose(keys, {0, 1, 3, 2}); };
    if (scale <= 0)
      return at_.multiply(at_.emit({"MatMul"}, {q, moved(repeat(k, q_dims[1]))}, type, pairs), at_.scalar(type, scale),
                          pairs);
    const ValueId root = at_.scalar(type, std::sqrt(scale));
    const auto scaled = [&](ValueId id) { return at_.multiply(id, root, at_.value(id).dims); };
    const ValueId keys = k_dims[1] == q_dims[1] ? scaled(moved(k)) : moved(repeat(scaled(k), q_dims[1]));
    return at_.emit({"MatMul"}, {scaled(q), keys}, type, pairs);
  }
  void give_output(const Node& node, std::size_t i, ValueId from) {
    if (!node.has_output(i)) return;
    const Value y = at_.value(*node.outputs[i]);
    graph_->nodes.push_back({.name = node.name + "/" + std::to_string(i),
                             .domain = "",
                             .op_type = "Reshape",
                             .opset = 18,
                             .inputs = {from, at_.integers(y.dims)},
                             .outputs = {node.outputs[i]},
                             .attributes = {},
                             .bodies = {}});
  }

  void rewrite(const Node& node, bool microsoft) {
    at_.enter(node.name);
    const std::size_t cache = microsoft ? 6 : 4;
    if (node.has_input(cache) || node.has_input(cache + 1)) refuse(node, "a cache");
    if (!microsoft && node.has_input(6)) refuse(node, "lengths of its keys");
    if (microsoft && (node.has_input(3) || node.has_input(4)))
      refuse(node, "a bias of its projections or a mask of padding");
    if (node.has_output(3)) refuse(node, "scores that are written");
    const auto count = [&](const char* key) { return node.attribute<std::int64_t>(key, 0); };
    const Heads q = heads_of(node, 0, count(microsoft ? "num_heads" : "q_num_heads"));
    const Heads k = heads_of(node, 1, count(microsoft ? "num_heads" : "kv_num_heads"));
    const Heads v = heads_of(node, 2, count(microsoft ? "num_heads" : "kv_num_heads"));
    const Dims q_dims = at_.value(q.id).dims, k_dims = at_.value(k.id).dims, v_dims = at_.value(v.id).dims;
    if (k_dims[1] < 1 || q_dims[1] % k_dims[1] != 0 || v_dims[1] != k_dims[1]) refuse(node, "operands of this shape");
    const DataType type = at_.value(q.id).type;
    const Dims pairs{q_dims[0], q_dims[1], q_dims[2], k_dims[2]};
    const double scale = node.attribute<double>("scale", 1 / std::sqrt(static_cast<double>(q_dims[3])));
    ValueId scores = scaled_product(q.id, k.id, scale);
    if (const double cap = node.attribute<double>("softcap", 0); cap > 0) {
      scores = at_.emit({"Tanh"}, {at_.multiply(scores, at_.scalar(type, 1 / cap), pairs)}, type, pairs);
      scores = at_.multiply(scores, at_.scalar(type, cap), pairs);
    }
    if (const std::size_t mask = microsoft ? 5 : 3; node.has_input(mask))
      scores = masked(node, scores, *node.inputs[mask]);
    if (count(microsoft ? "unidirectional" : "is_causal") != 0)
      scores = masked(node, scores, triangle(q_dims[2], k_dims[2]));
    const ValueId weights = at_.emit({"Softmax"}, {scores}, type, pairs, {{"axis", std::int64_t{-1}}});
    ValueId y =
        at_.emit({"MatMul"}, {weights, repeat(v.id, q_dims[1])}, type, {q_dims[0], q_dims[1], q_dims[2], v_dims[3]});
    if (q.split) y = at_.transpose(y, {0, 2, 1, 3});
    give_output(node, 0, y);
    give_output(node, 1, k.id);
    give_output(node, 2, v.id);
  }

  /// Whether a query sees a key: a query sees the keys up to its own position. All nodes of these sizes share one mask.
  /// No engine stores it: it takes the memory of one number.
  ValueId triangle(std::int64_t queries, std::int64_t keys) {
    const auto [found, is_new] = triangles_.try_emplace({queries, keys});
    if (!is_new) return found->second;
    const ValueId one = at_.scalar(DataType::boolean, 1);
    graph_->values.push_back({.name = "causal." + std::to_string(queries) + "." + std::to_string(keys),
                              .type = DataType::boolean,
                              .dims = {queries, keys},
                              .constant = true,
                              .banded = BandedNumbers{.band = {.most = 0}, .inside = 1, .outside = 0},
                              .origins = {one}});
    return found->second = graph_->values.size() - 1;
  }

  Graph* graph_;
  GradientBuilder at_;
  std::map<std::pair<std::int64_t, std::int64_t>, ValueId> triangles_{};  // by queries and keys
};

inline void expand_attention(Graph& graph) { AttentionExpander(graph).expand(); }

}  // namespace benanza::training
