// SPDX-License-Identifier: Apache-2.0
// Which tensors are kept.
#pragma once

#include <benanza/impl/inline.hpp>
#include <benanza/model/layer.hpp>
#include <benanza/model/make_layer.hpp>
#include <benanza/operators/lookup.hpp>
#include <benanza/training/detail/eager_saves.hpp>
#include <benanza/training/detail/storages.hpp>
#include <benanza/training/kept_tensor.hpp>
#include <benanza/training/kept_tensors.hpp>
#include <benanza/training/training_graph.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace benanza {

namespace detail {

/// How many bits of an element of input `i` a gradient reads, if that is not all of them: a sign (Relu), a mask
/// (Where), whether an operand is above a number or the result (PRelu, Max), or the position of the largest element of
/// a window. No value if the gradient reads all bits.
[[nodiscard]] inline std::optional<double> read_bits(const Node& node, std::size_t i) {
  const std::size_t forward = node.domain.empty() ? 0 : 1;  // the operand of a gradient comes after that of its result
  if (node.op_type == "Equal" && node.domain.empty()) return i == 0 ? 1.0 : 0.0;
  if (i == forward && facts_of(node).is(Trait::reads_one_bit)) return 1;
  if (i != 1 || node.op_type != "MaxPoolGrad") return std::nullopt;
  std::int64_t places = 1;
  for (const auto size : node.attribute<std::vector<std::int64_t>>("kernel_shape", {})) places *= size;
  double bits = 0;
  while ((std::int64_t{1} << static_cast<int>(bits)) < places) ++bits;
  return bits;
}

/// Collects the storages that do not belong to parameters and constants, each once.
class KeptList {
 public:
  explicit KeptList(const TrainingGraph& iteration, const Storages& storages)
      : iteration_(&iteration), storages_(&storages), owned_(storages.size()), maker_(storages.size()) {
    const Graph& graph = iteration.graph;
    for (const Parameter& one : iteration.parameters) owned_[one.value] = true;
    for (const ValueId id : iteration.buffers) owned_[id] = true;
    for (std::size_t i = 0; i < graph.nodes.size(); ++i)
      for (const auto& output : graph.nodes[i].outputs)
        if (output) maker_[*output] = i;
  }
  /// Whether forward, the loss or the caller allocated its memory, so that backward finds it only if it is kept.
  [[nodiscard]] bool is_storage_made_before_backward(ValueId storage) const {
    if (iteration_->graph.value(storage).constant || owned_[storage]) return false;
    return !maker_[storage] || iteration_->phases[*maker_[storage]] < Phase::backward;
  }
  void add(ValueId id, const std::string& reader, std::size_t last, std::optional<double> bits = std::nullopt) {
    add_storage(storages_->of(id), reader, last, bits);
  }
  void add_storage(ValueId storage, const std::string& reader, std::size_t last,
                   std::optional<double> bits = std::nullopt) {
    if (!is_storage_made_before_backward(storage)) return;
    const Value& value = iteration_->graph.value(storage);
    const double bytes = bits ? static_cast<double>(value.elements()) * *bits / 8 : value.bytes();
    const auto [place, first] = places_.emplace(storage, kept_.size());
    if (first)
      kept_.push_back({.storage = storage,
                       .name = value.name,
                       .node = maker_[storage] ? iteration_->graph.nodes[*maker_[storage]].name : "",
                       .reader = reader});
    KeptTensor& one = kept_[place->second];
    one.last = std::max(one.last, last);
    one.bytes = std::max(one.bytes, bytes);
  }
  void add_bytes(const std::string& name, const std::string& node, std::size_t last, double bytes) {
    kept_.push_back({.name = name, .node = node, .reader = node, .last = last, .bytes = bytes});
  }
  [[nodiscard]] std::vector<KeptTensor> result() && { return std::move(kept_); }

 private:
  const TrainingGraph* iteration_;
  const Storages* storages_;
  std::vector<bool> owned_;
  std::vector<std::optional<std::size_t>> maker_;
  std::map<ValueId, std::size_t> places_{};
  std::vector<KeptTensor> kept_{};
};

}  // namespace detail

BENANZA_INLINE std::vector<KeptTensor> least_kept(const TrainingGraph& iteration) {
  const Graph& graph = iteration.graph;
  const Storages storages(graph);
  detail::KeptList kept(iteration, storages);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    if (iteration.phases[i] != Phase::backward || is_free(make_layer(node, graph))) continue;
    for (std::size_t k = 0; k < node.inputs.size(); ++k)
      if (node.inputs[k]) kept.add(*node.inputs[k], node.name, i, detail::read_bits(node, k));
  }
  return std::move(kept).result();
}

BENANZA_INLINE std::vector<KeptTensor> eager_kept(const TrainingGraph& iteration) {
  const Graph& graph = iteration.graph;
  const Storages storages(graph, true), whole(graph);
  detail::KeptList kept(iteration, storages);
  std::vector<std::size_t> last(graph.nodes.size(), 0);  // by forward node: the last node of its gradient
  std::vector<bool> differentiated(graph.nodes.size(), false);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    if (const auto source = iteration.sources[i]) {
      last[*source] = i;
      differentiated[*source] = true;
    }
  const detail::EagerSaves saves(iteration);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    if (iteration.phases[i] == Phase::backward && !iteration.sources[i])  // computed again from what is kept
      for (const auto& input : node.inputs)
        if (input) kept.add(*input, node.name, i);
    if (!differentiated[i] || i < iteration.kept_from) continue;
    for (const auto& one : saves.of(i)) {
      if (one.value && one.copied) kept.add_storage(whole.of(*one.value), node.name, last[i]);
      else if (one.value) kept.add(*one.value, node.name, last[i]);
      else kept.add_bytes(one.name, node.name, last[i], one.bytes);
    }
  }
  return std::move(kept).result();
}

BENANZA_INLINE std::vector<KeptTensor> kept_tensors(const TrainingGraph& iteration, Saved saved) {
  return saved == Saved::least ? least_kept(iteration) : eager_kept(iteration);
}

}  // namespace benanza
