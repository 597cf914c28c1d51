// SPDX-License-Identifier: Apache-2.0
// floor_exceptions: structures of a model that show that an engine may do less than its floors count.
#pragma once

#include <benanza/model/floor_exception.hpp>
#include <benanza/model/graph.hpp>
#include <benanza/model/layer.hpp>
#include <benanza/model/model_layers.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace benanza::detail {

/// Names of attributes with which the importer notes, at the nodes that read constants, what their numbers tell.
inline constexpr std::string_view equal_weights = "benanza.equal_weights",  ///< the name of an equal constant
    equal_operand = "benanza.equal_operand",                                ///< the input that equals it
    hides_scores = "benanza.hides_scores";  ///< a constant operand is a mask, and no triangle or band

/// Finds them in the single form.
class FloorExceptions {
 public:
  /// `nodes`: one per layer.
  FloorExceptions(const LayerGraph& graph, const std::vector<const Node*>& nodes) : graph_(graph), nodes_(nodes) {}

  /// Largest first.
  [[nodiscard]] std::vector<FloorException> find() {
    for (std::size_t i = 0; i < graph_.layers.size(); ++i) {
      weights_in_a_row(i);
      other_order(i);
      merged_branches(i);
      constant_mask(i);
      mask_before_softmax(i);
      stored_twice(i);
      many_indices(i);
    }
    std::stable_sort(found_.begin(), found_.end(), [](const FloorException& a, const FloorException& b) {
      return std::pair(a.flops.value, a.bytes.value) > std::pair(b.flops.value, b.bytes.value);
    });
    return std::move(found_);
  }

 private:
  static constexpr int farthest = 16;  // layers between two products

  [[nodiscard]] const Occurrence& at(std::size_t layer) const { return graph_.layers[layer]; }
  [[nodiscard]] const LayerTensor& tensor(TensorId id) const { return graph_.tensors[id]; }
  [[nodiscard]] double needed(std::size_t layer) const {
    const Cost c = cost(at(layer).layer);
    return at(layer).needed.flops.value * (c.flops.value > 0 ? c.least_flops / c.flops : 1);
  }
  [[nodiscard]] bool is_constant(std::size_t layer, std::size_t k) const {
    return k < at(layer).inputs.size() && at(layer).inputs[k] && tensor(*at(layer).inputs[k]).constant;
  }

  void add(std::size_t layer, std::string kind, double flops, double bytes = 0) {
    if (flops <= 0 && bytes <= 0) return;
    const auto passes = static_cast<double>(at(layer).repeat);
    found_.push_back({.node = at(layer).nodes.front(),
                      .kind = std::move(kind),
                      .flops = {std::max(0.0, flops) * passes},
                      .bytes = {std::max(0.0, bytes)}});
  }

  [[nodiscard]] bool has_constant_weights(std::size_t layer) const {
    const auto* conv = std::get_if<op::Conv>(&*at(layer).layer);
    const auto* product = std::get_if<op::MatMul>(&*at(layer).layer);
    return (conv != nullptr && conv->w_constant) || (product != nullptr && product->b_constant);
  }

  /// Whether a layer moves its first operand, or is linear in it with other operands that are constants.
  [[nodiscard]] bool is_linear(std::size_t layer, bool with_constants) const {
    const Layer& op = at(layer).layer;
    if (std::holds_alternative<op::View>(op) || std::holds_alternative<op::Transpose>(op)) return true;
    if (!with_constants) return false;
    if (std::holds_alternative<op::BatchNorm>(op)) return true;
    const auto* binary = std::get_if<op::Binary>(&op);
    if (binary == nullptr || !binary->post.empty() || at(layer).inputs.size() != 2) return false;
    const bool sum = binary->fn == ElementwiseFn::add || binary->fn == ElementwiseFn::sub;
    const bool scale = binary->fn == ElementwiseFn::mul || binary->fn == ElementwiseFn::div;
    return (sum || scale) && (is_constant(layer, 0) || is_constant(layer, 1));
  }
  /// The product that makes a tensor, with nothing but linear layers in between, each with one reader.
  [[nodiscard]] std::optional<std::size_t> product_behind(TensorId id, bool with_constants) const {
    for (int step = 0; step < farthest; ++step) {
      const LayerTensor& t = tensor(id);
      if (t.output || t.consumers.size() != 1 || t.producers.size() != 1) return std::nullopt;
      const std::size_t maker = t.producers[0];
      const auto* product = std::get_if<op::MatMul>(&*at(maker).layer);
      const auto* conv = std::get_if<op::Conv>(&*at(maker).layer);
      const auto adds_alone = [](const Epilogue& post) {
        return post.empty() || (post.size() == 1 && post[0] == bias);
      };
      if (product != nullptr || conv != nullptr)
        return adds_alone(product != nullptr ? product->post : conv->post) ? std::optional(maker) : std::nullopt;
      if (!is_linear(maker, with_constants)) return std::nullopt;
      const std::size_t k = is_constant(maker, 0) ? 1 : 0;
      if (!at(maker).inputs[k]) return std::nullopt;
      id = *at(maker).inputs[k];
    }
    return std::nullopt;
  }

  /// Constant weights of two layers in a row, which can be multiplied before a request.
  void weights_in_a_row(std::size_t second) {
    if (!has_constant_weights(second) || !at(second).inputs[0]) return;
    const auto first = product_behind(*at(second).inputs[0], true);
    if (!first || !has_constant_weights(*first) || at(*first).repeat != at(second).repeat) return;
    const double both = needed(*first) + needed(second);
    double one = both;
    const auto *a = std::get_if<op::MatMul>(&*at(*first).layer), *b = std::get_if<op::MatMul>(&*at(second).layer);
    const auto *c = std::get_if<op::Conv>(&*at(*first).layer), *d = std::get_if<op::Conv>(&*at(second).layer);
    if (a != nullptr && b != nullptr && a->n() == b->k())
      one = needed(second) * static_cast<double>(a->k()) / static_cast<double>(b->k());
    const auto is_point = [](const op::Conv& conv) {
      return conv.group == 1 && element_count(conv.w) == conv.w[0] * conv.w[1] && conv.strides.empty();
    };
    if (c != nullptr && d != nullptr && c->group == 1 && d->group == 1) {
      if (is_point(*d)) one = needed(*first) * static_cast<double>(d->w[0]) / static_cast<double>(c->w[0]);
      if (is_point(*c))
        one = std::min(one, needed(second) * static_cast<double>(c->w[1]) / static_cast<double>(d->w[1]));
    }
    add(second, "its weights and those of '" + at(*first).nodes.front() + "' can be multiplied in advance", both - one);
  }

  /// a (x w) as (a w) x, as engines absorb the projections of latent attention.
  void other_order(std::size_t second) {
    const auto* product = std::get_if<op::MatMul>(&*at(second).layer);
    if (product == nullptr || has_constant_weights(second) || product->a_constant) return;
    for (std::size_t k = 0; k < 2; ++k) {
      const auto first = at(second).inputs[k] ? product_behind(*at(second).inputs[k], false) : std::nullopt;
      const auto* inner = first ? std::get_if<op::MatMul>(&*at(*first).layer) : nullptr;
      if (inner == nullptr || !inner->b_constant || at(*first).repeat != at(second).repeat) continue;
      const std::int64_t free = k == 1 ? product->m() : product->n(), own = k == 1 ? product->n() : product->m();
      const double other = 2.0 * static_cast<double>(element_count(product->batch())) * static_cast<double>(free) *
                           static_cast<double>(inner->k()) * static_cast<double>(product->k() + own);
      add(second, "its other operand can be multiplied by the weights of '" + at(*first).nodes.front() + "' first",
          needed(*first) + needed(second) - other);
    }
  }

  /// Products of one input that are added up: their weights can be added up instead.
  void merged_branches(std::size_t sum) {
    const auto* binary = std::get_if<op::Binary>(&*at(sum).layer);
    if (binary == nullptr || binary->fn != ElementwiseFn::add || at(sum).inputs.size() != 2) return;
    std::optional<std::size_t> makers[2];
    for (std::size_t k = 0; k < 2; ++k)
      if (at(sum).inputs[k]) makers[k] = product_behind(*at(sum).inputs[k], true);
    if (!makers[0] || !makers[1] || makers[0] == makers[1]) return;
    const std::size_t a = *makers[0], b = *makers[1];
    if (!has_constant_weights(a) || !has_constant_weights(b) || at(a).inputs[0] != at(b).inputs[0] ||
        at(a).layer->index() != at(b).layer->index())
      return;
    add(sum, "the weights of '" + at(a).nodes.front() + "' and '" + at(b).nodes.front() + "' can be added in advance",
        std::min(needed(a), needed(b)));
  }

  /// A mask whose hidden scores are not a band.
  void constant_mask(std::size_t layer) {
    const auto* attention = std::get_if<op::Attention>(&*at(layer).layer);
    if (attention == nullptr || at(layer).live.flops < 1) return;
    for (std::size_t k = 3; k < at(layer).inputs.size(); ++k) {
      if (!is_constant(layer, k)) continue;
      const auto& dims = tensor(*at(layer).inputs[k]).dims;
      if (dims.size() >= 2 && dims.back() == attention->k[2] && dims[dims.size() - 2] == attention->q[2])
        add(layer, "its constant mask may hide blocks of scores", needed(layer));
    }
  }

  /// The layer behind views of a tensor, or before them.
  [[nodiscard]] std::optional<std::size_t> behind_views(TensorId id) const {
    for (int step = 0; step < farthest && tensor(id).producers.size() == 1; ++step) {
      const std::size_t maker = tensor(id).producers[0];
      if (!is_view(maker)) return maker;
      id = *at(maker).inputs[0];
    }
    return std::nullopt;
  }
  [[nodiscard]] std::optional<std::size_t> before_views(TensorId id) const {
    for (int step = 0; step < farthest && tensor(id).consumers.size() == 1; ++step) {
      const std::size_t reader = tensor(id).consumers[0];
      if (!is_view(reader)) return reader;
      id = at(reader).outputs[0];
    }
    return std::nullopt;
  }
  [[nodiscard]] bool is_view(std::size_t layer) const {
    const Layer& op = at(layer).layer;
    return (std::holds_alternative<op::View>(op) || std::holds_alternative<op::Cast>(op)) &&
           at(layer).inputs[0].has_value() && at(layer).outputs.size() == 1;
  }

  /// Attention that is written as products, with such a mask as an addend of the scores or as the condition of a Where.
  void mask_before_softmax(std::size_t layer) {
    if (!std::holds_alternative<op::Softmax>(*at(layer).layer) || !at(layer).inputs[0]) return;
    const auto masked = behind_views(*at(layer).inputs[0]);
    if (!masked || !nodes_[*masked]->attributes.contains(hides_scores)) return;
    double all = needed(layer) + needed(*masked);
    for (std::size_t k = 0; k < at(*masked).inputs.size(); ++k) {
      const auto scores = is_constant(*masked, k) ? std::nullopt : at(*masked).inputs[k];
      if (const auto product = scores ? product_behind(*scores, true) : std::nullopt) all += needed(*product);
    }
    const auto reader = before_views(at(layer).outputs[0]);
    if (reader && std::holds_alternative<op::MatMul>(*at(*reader).layer)) all += needed(*reader);
    add(layer, "the constant mask of '" + at(*masked).nodes.front() + "' may hide blocks of scores", all);
  }

  /// Weights that the file has under another name, too.
  void stored_twice(std::size_t layer) {
    const auto& notes = nodes_[layer]->attributes;
    const auto name = notes.find(equal_weights), operand = notes.find(equal_operand);
    if (name == notes.end() || operand == notes.end()) return;
    const auto k = static_cast<std::size_t>(std::get<std::int64_t>(operand->second));
    const auto& other_name = std::get<std::string>(name->second);
    if (k >= at(layer).inputs.size() || !at(layer).inputs[k]) return;
    const LayerTensor& own = tensor(*at(layer).inputs[k]);
    for (const LayerTensor& other : graph_.tensors) {
      if (!other.constant || other.name != other_name) continue;
      double flops = 0;
      for (const std::size_t reader : other.consumers)
        if (reader != layer && at(reader).layer == at(layer).layer && at(reader).inputs[0] == at(layer).inputs[0])
          flops = std::min(needed(reader), needed(layer));
      add(layer, "its weights have the numbers of '" + other_name + "'", flops,
          std::min((own.bytes() * own.needed).value, (other.bytes() * other.needed).value));
      return;
    }
  }

  /// A Gather with more indices than are followed, from a tensor that a layer makes.
  void many_indices(std::size_t layer) {
    constexpr std::int64_t followed = 8192;
    if (!std::holds_alternative<op::Gather>(*at(layer).layer) || !is_constant(layer, 1) || !at(layer).inputs[0]) return;
    const LayerTensor &x = tensor(*at(layer).inputs[0]), &y = tensor(at(layer).outputs[0]);
    if (element_count(tensor(*at(layer).inputs[1]).dims) <= followed || x.producers.size() != 1) return;
    if (element_count(y.dims) < element_count(x.dims))
      add(layer, "it has more than " + std::to_string(followed) + " indices, so all of its operand counts",
          needed(x.producers[0]), (x.bytes() - y.bytes()).value);
  }

  const LayerGraph& graph_;
  const std::vector<const Node*>& nodes_;
  std::vector<FloorException> found_{};
};

}  // namespace benanza::detail
