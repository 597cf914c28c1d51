// SPDX-License-Identifier: Apache-2.0
// absorb_steps: arithmetic around a product that costs nothing, or less. A sum of products may start with an addend in
// place of 0. Constant scales of its results may be multiplied into constant weights before a request arrives, or into
// the smaller operand. The division of a softmax in front of a product may be left to the product's results. Distances
// between all pairs of rows may be computed by a product.
#pragma once

#include <benanza/model/group_flops.hpp>
#include <benanza/model/layer.hpp>
#include <benanza/model/model_layers.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <variant>
#include <vector>

namespace benanza::detail {

/// Leaves out operations of a layer, which are needed as much as the rest of it.
inline void leave_out_part(LayerGraph& graph, std::size_t layer, double flops, std::vector<Flops>& needed) {
  Occurrence& at = graph.layers[layer];
  at.absorbed += Flops{flops};
  needed[layer] += Flops{flops * at.live.flops};
}

/// The only layer that reads a tensor, in the same passes and branches as the layer `beside`. Empty if there is another
/// reader.
[[nodiscard]] inline std::optional<std::size_t> only_reader(const LayerGraph& graph, TensorId id, std::size_t beside) {
  const LayerTensor& tensor = graph.tensors[id];
  if (tensor.output || tensor.consumers.size() != 1) return std::nullopt;
  const Occurrence &at = graph.layers[tensor.consumers[0]], &other = graph.layers[beside];
  const bool together = at.repeat == other.repeat && at.branches == other.branches;
  return together ? std::optional(tensor.consumers[0]) : std::nullopt;
}

[[nodiscard]] inline bool is_pointwise(const Layer& layer) {
  const auto* conv = std::get_if<op::Conv>(&layer);
  return conv != nullptr && std::all_of(conv->w.begin() + 2, conv->w.end(), [](auto size) { return size == 1; });
}

/// Attention takes no more than its fastest form. If a product reads a softmax, its results may be divided instead of
/// the scores.
inline void leave_division(LayerGraph& graph, std::size_t softmax, std::vector<Flops>& needed) {
  if (const auto* attention = std::get_if<op::Attention>(&*graph.layers[softmax].layer))
    return leave_out_part(graph, softmax, attention->saved_flops(), needed);
  const auto* layer = std::get_if<op::Softmax>(&*graph.layers[softmax].layer);
  if (layer == nullptr || layer->log) return;
  std::size_t last = softmax;
  while (graph.layers[last].outputs.size() == 1) {
    const auto reader = only_reader(graph, graph.layers[last].outputs[0], softmax);
    if (!reader) return;
    last = *reader;
    const Layer& next = graph.layers[last].layer;
    if (std::holds_alternative<op::MatMul>(next) || std::holds_alternative<op::Einsum>(next)) break;
    if (is_pointwise(next)) break;
    if (!std::holds_alternative<op::View>(next) && !std::holds_alternative<op::Transpose>(next) &&
        !std::holds_alternative<op::Cast>(next))
      return;
  }
  const Occurrence& product = graph.layers[last];
  if (product.outputs.size() != 1 || cost(product.layer).macs == 0) return;
  const std::int64_t scores = element_count(layer->x), results = element_count(graph.tensors[product.outputs[0]].dims);
  if (results < scores) leave_out_part(graph, softmax, static_cast<double>(scores), needed);
}

/// The number of elements from which a tensor is expanded, or that it has.
[[nodiscard]] inline std::int64_t expanded_from(const LayerGraph& graph, TensorId id) {
  const LayerTensor& tensor = graph.tensors[id];
  if (tensor.producers.size() == 1) {
    const Occurrence& maker = graph.layers[tensor.producers[0]];
    const bool expands =
        std::holds_alternative<op::Expand>(*maker.layer) || std::holds_alternative<op::Tile>(*maker.layer);
    if (expands && maker.inputs[0]) return element_count(graph.tensors[*maker.inputs[0]].dims);
  }
  return element_count(tensor.dims);
}

/// Sums of squared differences between all pairs of rows are |a|^2 - 2 a b + |b|^2. These products take two operations
/// for each term, as much as the squares and their sum: the differences do not count.
inline void leave_differences(LayerGraph& graph, std::size_t difference, std::vector<Flops>& needed) {
  const Occurrence& at = graph.layers[difference];
  const auto* binary = std::get_if<op::Binary>(&*at.layer);
  if (binary == nullptr || binary->fn != ElementwiseFn::sub || !binary->post.empty() || at.inputs.size() != 2 ||
      at.outputs.size() != 1 || at.absorbed.value > 0)
    return;
  const std::int64_t pairs = element_count(graph.tensors[at.outputs[0]].dims);
  for (const auto& input : at.inputs)
    if (!input || expanded_from(graph, *input) >= pairs) return;
  const LayerTensor& made = graph.tensors[at.outputs[0]];
  if (made.output || made.consumers.empty() ||
      std::any_of(made.consumers.begin(), made.consumers.end(), [&](auto one) { return one != made.consumers[0]; }))
    return;
  const Occurrence& reader = graph.layers[made.consumers[0]];
  const auto* unary = std::get_if<op::Unary>(&*reader.layer);
  const auto* product = std::get_if<op::Binary>(&*reader.layer);
  const bool is_squared = (unary != nullptr && unary->fn == ElementwiseFn::square) ||
                          (product != nullptr && product->fn == ElementwiseFn::mul && product->same);
  if (reader.outputs.size() != 1 || reader.repeat != at.repeat || reader.branches != at.branches) return;
  const auto last = is_squared ? only_reader(graph, reader.outputs[0], difference) : std::optional(made.consumers[0]);
  const auto* reduce = last ? std::get_if<op::Reduce>(&*graph.layers[*last].layer) : nullptr;
  if (reduce == nullptr) return;
  const bool is_summed = is_squared ? reduce->fn == op::ReduceFn::sum || reduce->fn == op::ReduceFn::mean
                                    : reduce->fn == op::ReduceFn::sum_square || reduce->fn == op::ReduceFn::l2;
  if (is_summed) leave_out_part(graph, difference, static_cast<double>(pairs), needed);
}

/// Follows the result of one product while each tensor has a single reader.
class AbsorbedSteps {
 public:
  /// Adds to `needed` what it leaves out of the needed arithmetic of each layer, and to `sums` the results of the
  /// product to which nothing but constants has been added.
  AbsorbedSteps(LayerGraph& graph, std::size_t product, std::vector<Flops>& needed, std::set<TensorId>& sums)
      : graph_(graph), product_(product), needed_(needed), sums_(sums) {}

  void absorb() {
    Occurrence& at = graph_.layers[product_];
    const Epilogue* post = epilogue();
    if (post == nullptr || at.outputs.size() != 1 || at.live.flops <= 0) return;  // no sum of products
    elements_ = static_cast<double>(element_count(graph_.tensors[at.outputs[0]].dims));
    made_ = elements_ * at.live.made;
    if (!post->empty()) {
      const double added = first_addend(at.layer).value;
      if (at.live.input(at.inputs.size() - 1) > 0)
        leave_out(product_, added, at.live.made);  // otherwise, it does not count
      if (post->size() > 1 || added == 0) return;
      addend_ = (*post)[0].channel ? Addend::constant : Addend::data;
      if ((*post)[0].channel) constant_ = {product_, at.inputs.size() - 1};
    }
    TensorId id = at.outputs[0];
    for (auto next = reader(id); next; next = reader(id)) {
      if (addend_ != Addend::data) sums_.insert(id);
      if (graph_.layers[*next].outputs.size() != 1 || !takes(*next, id)) return;
      id = graph_.layers[*next].outputs[0];
    }
  }

 private:
  enum class Addend : std::uint8_t { none, constant, data };

  [[nodiscard]] static bool adds(ElementwiseFn fn) { return fn == ElementwiseFn::add || fn == ElementwiseFn::sub; }
  /// `share`: how much of this arithmetic is needed.
  void leave_out(std::size_t layer, double flops, double share = 1) {
    graph_.layers[layer].absorbed += Flops{flops};
    needed_[layer] += Flops{flops * share};
  }
  /// Nothing is read of operand `k`, which is combined with other constants.
  static void combine(Occurrence& at, std::size_t k) {
    at.live.inputs.resize(at.inputs.size(), 1);
    at.live.inputs[k] = 0;
  }

  /// The steps that the product itself does. Null for other layers.
  [[nodiscard]] const Epilogue* epilogue() const {
    const Layer& layer = graph_.layers[product_].layer;
    if (const auto* conv = std::get_if<op::Conv>(&layer)) return &conv->post;
    if (const auto* conv = std::get_if<op::ConvTranspose>(&layer)) return &conv->post;
    if (const auto* product = std::get_if<op::MatMul>(&layer)) return &product->post;
    static constexpr Epilogue none{};
    const auto* sums = std::get_if<op::Einsum>(&layer);
    return sums != nullptr && sums->arithmetic().macs > 0 ? &none : nullptr;
  }

  [[nodiscard]] std::optional<std::size_t> reader(TensorId id) const { return only_reader(graph_, id, product_); }

  /// Leaves out the arithmetic of a layer that the product absorbs. False if it absorbs nothing from there on.
  bool takes(std::size_t layer, TensorId id) {
    Occurrence& step = graph_.layers[layer];
    const LayerTensor& result = graph_.tensors[step.outputs[0]];
    if (std::holds_alternative<op::Slice>(*step.layer)) {
      elements_ = static_cast<double>(element_count(result.dims));
      made_ = std::min(made_, elements_);
      moved_ = true;
      return step.inputs[0] == id;
    }
    const bool same_count = static_cast<double>(element_count(result.dims)) == elements_;
    if (!same_count || !step.inputs[0]) return false;
    if (std::holds_alternative<op::View>(*step.layer) || std::holds_alternative<op::Transpose>(*step.layer)) {
      moved_ = moved_ || std::holds_alternative<op::Transpose>(*step.layer) || result.dims != graph_.tensors[id].dims;
      return *step.inputs[0] == id && result.type == graph_.tensors[id].type;
    }
    if (std::holds_alternative<op::BatchNorm>(*step.layer)) {
      const bool constants = std::all_of(step.inputs.begin() + 1, step.inputs.end(), [this](const auto& input) {
        return input && graph_.tensors[*input].constant;
      });
      if (!constants || !scales_channels() || addend_ == Addend::data) return false;
      leave_out(layer, cost(step.layer).flops.value);
      const std::size_t shift = step.live.input(2) > 0 ? 2 : 4;  // the combination of the four vectors that is added
      for (std::size_t k = 1; k < step.inputs.size(); ++k)
        if (k != shift || addend_ == Addend::constant) combine(step, k);
      if (addend_ == Addend::none) constant_ = {layer, shift};
      addend_ = Addend::constant;
      return true;
    }
    const auto* binary = std::get_if<op::Binary>(&*step.layer);
    if (binary == nullptr || !binary->post.empty() || step.inputs.size() != 2 || !step.inputs[1]) return false;
    const bool is_first = *step.inputs[0] == id;
    const std::size_t k = is_first ? 1 : 0;
    const LayerTensor& other = graph_.tensors[*step.inputs[k]];
    if (step.inputs[0] == step.inputs[1]) return false;
    if (adds(binary->fn)) {
      if (step.absorbed.value > 0) return true;  // another product starts with this one
      if (sums_.contains(*step.inputs[k])) {     // this product starts with another one, which starts with constants
        leave_out(layer, elements_, elements_ > 0 ? made_ / elements_ : 0);
        if (constant_) combine(graph_.layers[constant_->first], constant_->second);
        return true;
      }
      if (!may_add(other.constant)) return false;
      if (addend_ == Addend::constant) combine(step, k);
      else if (other.constant) constant_ = {layer, k};
      addend_ = other.constant ? Addend::constant : Addend::data;
      leave_out(layer, elements_, elements_ > 0 ? made_ / elements_ : 0);
      return true;
    }
    const bool multiplies = binary->fn == ElementwiseFn::mul || (binary->fn == ElementwiseFn::div && is_first);
    if (!multiplies || !other.constant || addend_ == Addend::data) return false;
    if (!may_scale(other.dims, result.dims)) return addend_ == Addend::none && scales_operand(layer, other.dims);
    leave_out(layer, cost(step.layer).flops.value);
    combine(step, k);
    return true;
  }

  /// Whether a layer scales all results by one number: it may scale an operand with fewer elements instead, which does
  /// not count.
  bool scales_operand(std::size_t layer, std::span<const std::int64_t> scale) {
    const Occurrence& product = graph_.layers[product_];
    if (!std::holds_alternative<op::MatMul>(*product.layer) || element_count(scale) != 1) return false;
    const bool has_smaller = std::any_of(product.inputs.begin(), product.inputs.end(), [this](const auto& operand) {
      return operand && static_cast<double>(element_count(graph_.tensors[*operand].dims)) < elements_;
    });
    if (has_smaller) leave_out_part(graph_, layer, elements_, needed_);
    return has_smaller;
  }

  /// Constant addends are added up before a request arrives.
  [[nodiscard]] bool may_add(bool constant) const {
    return addend_ == Addend::none || (addend_ == Addend::constant && constant);
  }
  /// Whether each number of a constant scales one output channel, or all results, and the weights are constant.
  [[nodiscard]] bool may_scale(std::span<const std::int64_t> scale, std::span<const std::int64_t> result) const {
    const Layer& layer = graph_.layers[product_].layer;
    if (element_count(scale) == 1) {
      const auto* product = std::get_if<op::MatMul>(&layer);
      return has_constant_weights() || (product != nullptr && product->a_constant);
    }
    const std::size_t axis = channel_axis(result.size()), first = result.size() - scale.size();
    if (!scales_channels() || scale.size() > result.size()) return false;
    for (std::size_t i = 0; i < scale.size(); ++i)
      if (scale[i] != 1 && first + i != axis) return false;
    return true;
  }
  [[nodiscard]] bool scales_channels() const { return !moved_ && has_constant_weights(); }
  [[nodiscard]] bool has_constant_weights() const {
    const Layer& layer = graph_.layers[product_].layer;
    if (const auto* conv = std::get_if<op::Conv>(&layer)) return conv->w_constant;
    if (const auto* conv = std::get_if<op::ConvTranspose>(&layer)) return conv->w_constant;
    const auto* product = std::get_if<op::MatMul>(&layer);
    return product != nullptr && product->b_constant;
  }
  [[nodiscard]] std::size_t channel_axis(std::size_t rank) const {
    return std::holds_alternative<op::MatMul>(*graph_.layers[product_].layer) ? rank - 1 : 1;
  }

  LayerGraph& graph_;
  std::size_t product_;
  std::vector<Flops>& needed_;
  std::set<TensorId>& sums_;
  double elements_ = 0;  ///< of the product's result that a Slice leaves
  double made_ = 0;      ///< how many of them are computed
  Addend addend_ = Addend::none;
  std::optional<std::pair<std::size_t, std::size_t>> constant_{};  ///< layer and operand of the first constant addend
  bool moved_ = false;                                             ///< the channels are not where the product has them
};

/// For each layer, how much of its needed arithmetic is absorbed.
inline std::vector<Flops> absorb_steps(LayerGraph& graph) {
  std::vector<Flops> needed(graph.layers.size());
  std::set<TensorId> sums;
  for (std::size_t i = 0; i < graph.layers.size(); ++i) {
    AbsorbedSteps(graph, i, needed, sums).absorb();
    leave_division(graph, i, needed);
    leave_differences(graph, i, needed);
  }
  return needed;
}

}  // namespace benanza::detail
