// SPDX-License-Identifier: Apache-2.0
// Weights that recurrences read again in each pass, counted after the bytes of a LayerGraph.
#pragma once

#include <benanza/impl/inline.hpp>
#include <benanza/model/detail/layer_graph_builder.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <variant>
#include <vector>

namespace benanza::detail {

/// Shares of passes are rounded.
inline constexpr double rounding_of_passes = 1e-6;

/// Whether a layer passes on only a part of its first operand.
[[nodiscard]] inline bool takes_part(const Layer& layer) {
  return std::holds_alternative<op::Slice>(layer) || std::holds_alternative<op::Split>(layer) ||
         std::holds_alternative<op::Gather>(layer) || std::holds_alternative<op::GatherElements>(layer) ||
         std::holds_alternative<op::GatherNd>(layer);
}

BENANZA_INLINE LayerGraphBuilder::Dependence LayerGraphBuilder::dependence(const Dependences& known,
                                                                           TensorId id) const {
  if (const auto found = known.find(id); found != known.end()) return found->second;
  const auto received = received_.find(id);
  if (received == received_.end()) return {};
  const Dependence from = dependence(known, received->second.from);
  return received->second.whole || from.on_all ? from : Dependence{};  // an element of a sequence is a part
}

/// The operands of a product that sums over all that the first depends on, with weights in the second: every result
/// then depends on all of the first, and every weight is used. Empty for products that are independent of each other
/// (of heads, of groups), which need not wait for each other.
BENANZA_INLINE std::optional<std::pair<std::size_t, std::size_t>> LayerGraphBuilder::dense_operands(
    const Occurrence& at) const {
  std::int64_t x = 0, w = 0;
  if (const auto* product = std::get_if<op::MatMul>(&*at.layer)) {
    const bool of_b = product->b_constant;
    if (of_b == product->a_constant || (of_b ? product->b : product->a).size() != 2) return std::nullopt;
    x = element_count(of_b ? product->a : product->b);
    w = element_count(of_b ? product->b : product->a);
  } else if (const auto* conv = std::get_if<op::Conv>(&*at.layer)) {
    const bool is_point = element_count(conv->w) == conv->w[0] * conv->w[1];  // others mix places, not all of them
    if (conv->group != 1 || !conv->w_constant || !is_point) return std::nullopt;
    x = element_count(conv->x);
    w = element_count(conv->w);
  } else {
    return std::nullopt;
  }
  std::optional<std::size_t> data, weight;
  for (std::size_t k = at.inputs.size(); k-- > 0;) {  // the operands of a product come before what is added
    if (!at.inputs[k]) continue;
    const LayerTensor& tensor = result_.tensors[*at.inputs[k]];
    if (tensor.constant && element_count(tensor.dims) == w) weight = k;
    if (!tensor.constant && element_count(tensor.dims) == x) data = k;
  }
  return data && weight ? std::optional(std::pair{*data, *weight}) : std::nullopt;
}

/// What a layer's results have at least of a carried value. `dense` is the first of its dense operands.
BENANZA_INLINE LayerGraphBuilder::Dependence LayerGraphBuilder::result_dependence(
    const Occurrence& at, const Dependences& known, std::optional<std::size_t> dense) const {
  const auto of = [&](std::size_t k) {
    return k < at.inputs.size() && at.inputs[k] ? dependence(known, *at.inputs[k]) : Dependence{};
  };
  const auto elements = [this](TensorId id) { return static_cast<double>(element_count(result_.tensors[id].dims)); };
  const bool gathers = std::holds_alternative<op::Gather>(*at.layer) ||
                       std::holds_alternative<op::GatherElements>(*at.layer) ||
                       std::holds_alternative<op::GatherNd>(*at.layer);
  if (is_opaque(at.layer) || at.outputs.empty()) return {};
  if (dense && of(*dense).share > 0) return {1, true};
  if (gathers && of(1).share == 1) return {1, true};
  if (takes_part(at.layer)) {  // perhaps the elements that do not depend on it
    const Dependence whole = of(0);
    if (!whole.on_all || at.outputs.size() > 1) return whole.on_all && whole.share == 1 ? whole : Dependence{};
    const double without = (1 - whole.share) * elements(*at.inputs[0]), all = elements(at.outputs[0]);
    return {all > 0 ? std::max(0.0, 1 - without / all) : 0, true};
  }
  Dependence result;
  if (std::holds_alternative<op::Concat>(*at.layer)) {
    for (std::size_t k = 0; k < at.inputs.size(); ++k) result.on_all = result.on_all || of(k).on_all;
    for (std::size_t k = 0; k < at.inputs.size(); ++k)
      if (at.inputs[k] && of(k).on_all == result.on_all)
        result.share += of(k).share * elements(*at.inputs[k]) / std::max(1.0, elements(at.outputs[0]));
    return result;
  }
  for (std::size_t k = 0; k < at.inputs.size(); ++k) {
    result.share = std::max(result.share, of(k).share);
    result.on_all = result.on_all || of(k).on_all;
  }
  return result;
}

BENANZA_INLINE LayerGraphBuilder::PassWeights LayerGraphBuilder::weights_of(const Recurrence& recurrence,
                                                                            const Carried& value) const {
  const std::size_t begin = recurrence.begin, end = recurrence.end;
  if (begin >= end || value.in == value.out) return {};
  std::vector<bool> needed(end - begin, false);  // for the next value
  const auto need = [&](TensorId id) {
    for (const std::size_t producer : result_.tensors[id].producers)
      if (producer >= begin && producer < end) needed[producer - begin] = true;
  };
  need(value.out);
  for (std::size_t i = end; i-- > begin;)
    if (needed[i - begin])
      for (const auto& input : result_.layers[i].inputs)
        if (input) need(*input);
  Dependences known{{value.in, {1, false}}};
  PassWeights result;
  std::set<std::size_t> waiting;  // for all of the carried value
  for (std::size_t i = begin; i < end; ++i) {
    const Occurrence& at = result_.layers[i];
    if (!at.branches.empty() || at.repeat == 0) continue;
    const auto operands = dense_operands(at);
    const Dependence made = result_dependence(at, known, operands ? std::optional(operands->first) : std::nullopt);
    if (made.share <= 0) continue;
    for (const TensorId output : at.outputs) known[output] = made;
    const double share = operands ? dependence(known, *at.inputs[operands->first]).share : 0;
    const double passes = std::floor(static_cast<double>(recurrence.passes) * at.live.flops + rounding_of_passes);
    if (!needed[i - begin] || share <= 0 || passes < 1) continue;
    result.layers.insert(i);
    if (dependence(known, *at.inputs[operands->first]).on_all) waiting.insert(i);
    double& of_weight = result.shares[*at.inputs[operands->second]];
    of_weight = std::max(of_weight, share * at.live.input(operands->second));
    result.passes = result.layers.size() > 1 ? std::min(result.passes, passes) : passes;
  }
  std::vector<bool> feeds(end - begin, false);  // another product, with all of its results
  for (std::size_t i = end; i-- > begin;) {
    const Occurrence& at = result_.layers[i];
    const auto mark = [&](const std::optional<TensorId>& input) {
      for (const std::size_t producer : input ? result_.tensors[*input].producers : std::vector<std::size_t>{})
        if (producer >= begin && producer < end) feeds[producer - begin] = true;
    };
    if (result.layers.contains(i)) {
      const auto operands = *dense_operands(at);
      if (!feeds[i - begin] && !waiting.contains(i)) result.alone.insert(*at.inputs[operands.second]);
      mark(at.inputs[operands.first]);
    } else if (feeds[i - begin] && !takes_part(at.layer)) {
      for (const auto& input : at.inputs) mark(input);
    }
  }
  return result;
}

/// Between a value that a recurrence carries and the next one, each weight of the products on the way is read: from
/// memory, as far as the caches do not hold it. Weights on the ways of two values count for the one with more of them.
/// If one product is all that lies between two states (h = tanh(h w)), its pass may begin with the elements of the
/// state that are finished: one half of the weights serves this pass and the one before, the other half this pass and
/// the next. Each pass then reads half of the weights.
BENANZA_INLINE void LayerGraphBuilder::count_rereads() {
  std::vector<std::vector<PassWeights>> all(recurrences_.size());
  std::vector<std::size_t> loops;
  for (std::size_t r = 0; r < recurrences_.size(); ++r) {
    for (const Carried& value : recurrences_[r].values) all[r].push_back(weights_of(recurrences_[r], value));
    if (recurrences_[r].passes > 1) loops.push_back(r);
  }
  const auto size = [this](const PassWeights& each) {
    Bytes sum{};
    for (const auto& [weight, share] : each.shares) sum += result_.tensors[weight].bytes() * share;
    return sum;
  };
  // Passes of the loops around it that wait for each other; an outer loop comes after its inner ones.
  const auto times_of_outer = [&](std::size_t r, const PassWeights& weights) {
    double times = 1;
    for (const std::size_t outer : loops) {
      if (outer <= r || recurrences_[outer].begin > recurrences_[r].begin ||
          recurrences_[outer].end < recurrences_[r].end)
        continue;
      for (const PassWeights& each : all[outer])
        if (std::includes(each.layers.begin(), each.layers.end(), weights.layers.begin(), weights.layers.end())) {
          times *= each.passes;
          break;
        }
    }
    return times;
  };
  std::set<TensorId> before;  // weights of the pass before, in an unrolled loop
  for (std::size_t r = 0; r < recurrences_.size(); ++r) {
    std::stable_sort(all[r].begin(), all[r].end(),
                     [&](const PassWeights& a, const PassWeights& b) { return size(a) > size(b); });
    std::set<TensorId> weights, counted;
    for (const PassWeights& each : all[r]) {
      DistinctBytes reads(result_), halves(result_);
      for (const auto& [weight, share] : each.shares) {
        weights.insert(weight);
        if (recurrences_[r].is_first || before.contains(weight))
          (each.alone.contains(weight) ? halves : reads).add(weight, result_.tensors[weight].bytes(), share);
      }
      const double times = (recurrences_[r].is_first ? each.passes - 1 : each.passes) * times_of_outer(r, each);
      const auto add = [&](const DistinctBytes& reads, double of_weights) {
        Bytes again{};
        for (const auto& [base, bytes] : reads.by_base())
          if (result_.tensors[base].constant && counted.insert(base).second) again += bytes;
        if (times > 0 && again.value > 0) result_.rereads.push_back({again, times * of_weights});
      };
      add(reads, 1);
      add(halves, 0.5);
    }
    before = std::move(weights);
  }
  for (const Occurrence& at : result_.layers) {
    const auto* layer = std::get_if<op::Recurrent>(&*at.layer);
    constexpr std::size_t recurrent_weights = 2;  // operand R, which multiplies the hidden state
    if (layer == nullptr || !at.branches.empty() || !at.inputs.at(recurrent_weights)) continue;
    // Without an initial state, the first step has no product with it, which the arithmetic of some cells leaves out.
    const bool counts_first = !layer->initial_state && at.live.flops >= 1;
    // The longest sequence has at least as many steps as an average one.
    const double all = layer->rows ? static_cast<double>(*layer->rows) / static_cast<double>(layer->x[1])
                                   : static_cast<double>(layer->x[0]);
    const double steps = std::floor(all * at.live.flops + rounding_of_passes) - (counts_first ? 1 : 0),
                 directions = static_cast<double>(layer->directions);
    DistinctBytes reads(result_);
    reads.add(*at.inputs[recurrent_weights], result_.tensors[*at.inputs[recurrent_weights]].bytes(),
              at.live.input(recurrent_weights));
    if (steps > 1) result_.rereads.push_back({reads.weights() / directions, (steps - 1) / 2 * directions});
  }
}

}  // namespace benanza::detail
