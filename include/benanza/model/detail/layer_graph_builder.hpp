// SPDX-License-Identifier: Apache-2.0
// LayerGraphBuilder: the implementation of make_layer_graph.
#pragma once

#include <benanza/base/detail/saturated.hpp>
#include <benanza/model/detail/constant_origins.hpp>
#include <benanza/model/detail/distinct_bytes.hpp>
#include <benanza/model/detail/floor_exceptions.hpp>
#include <benanza/model/detail/live_elements.hpp>
#include <benanza/model/detail/memory_bound.hpp>
#include <benanza/model/detail/pass_numbers.hpp>
#include <benanza/model/graph.hpp>
#include <benanza/model/make_layer.hpp>
#include <benanza/model/model_layers.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace benanza {

namespace detail {

/// Builds the single form, except for `dead`. Each call needs its own instance.
class LayerGraphBuilder {
 public:
  [[nodiscard]] LayerGraph build(const Graph& graph) {
    result_.model = graph.name;
    result_.file = graph.file;
    result_.batch = graph.batch;
    result_.dims = graph.dims;
    result_.assumed = graph.assumed;
    live_.emplace(graph);
    result_.layers.reserve(graph.nodes.size());
    result_.tensors.reserve(graph.values.size());
    Scope scope(graph.values.size());
    walk(graph, scope, {});
    for (ValueId output : graph.outputs) result_.tensors[tensor(graph, scope, output)].output = true;
    connect();
    totals(graph, scope);
    count_rereads();
    result_.exceptions = FloorExceptions(result_, nodes_).find();
    for (const auto& [type, nodes] : uncounted_)
      result_.unknown.push_back("'" + nodes.front() + "'" +
                                (nodes.size() > 1 ? " and " + std::to_string(nodes.size() - 1) + " more" : "") + " (" +
                                type + "): known by bytes alone, the arithmetic is not counted");
    return std::move(result_);
  }

 private:
  using Scope = std::vector<std::optional<TensorId>>;  // tensors of one graph's values
  /// How much of operand 0 is read, and of result 0 written, for certain, relative to what the operator says.
  struct Certain {
    double read = 1, written = 1;
  };
  struct Context {
    std::int64_t repeat = 1;
    std::vector<Branch> branches{};
  };

  TensorId tensor(const Graph& graph, Scope& scope, ValueId id) {
    if (!scope[id]) {
      const Value& value = graph.values[id];
      LayerTensor made{.name = value.name,
                       .type = value.type,
                       .dims = value.dims,
                       .constant = value.constant,
                       .trained = value.trained,
                       .needed = live_->of(graph, id)};
      if (value.sparse) made.stored = Bytes{value.sparse->bytes};
      if (value.literal && value.elements() == 1)
        made.scalar = value.literal->floats.empty()
                          ? static_cast<double>(value.literal->ints.empty() ? 0 : value.literal->ints[0])
                          : value.literal->floats[0];
      scope[id] = result_.tensors.size();
      result_.tensors.push_back(std::move(made));
      if (value.constant) refer_to_stored(graph, scope, id);
    }
    return *scope[id];
  }

  /// Reading a computed constant takes no more bytes than the file stores for it.
  void refer_to_stored(const Graph& graph, Scope& scope, ValueId id) {
    const auto origins = origins_.of(graph, id);
    if (!origins) return;
    std::map<TensorId, Bytes> stored;
    for (const auto& origin : *origins) {
      const TensorId from = tensor(graph, scope, origin.value);
      settle(from);
      LayerTensor& base = result_.tensors[from];
      if (!origin.is_read && !base.stored) base.stored = base.bytes();
      for (const auto& share : base.behind) {
        Bytes& sum = stored[share.base];
        sum = std::min(result_.tensors[share.base].bytes(), sum + share.bytes * origin.share);
      }
    }
    Bytes all{};
    std::vector<Share> behind;
    for (const auto& [base, bytes] : stored) {
      all += bytes;
      behind.push_back({base, bytes});
    }
    if (behind.empty()) {  // computed only from sizes
      behind.push_back({*scope[id], Bytes{}});
      doubtful_.insert(*scope[id]);
    }
    // A number next to a stored tensor that is as large as the result may be in the code of a program.
    const auto is_number = [this](const Share& share) { return result_.tensors[share.base].scalar.has_value(); };
    if (all.value > graph.value(id).bytes() && !std::all_of(behind.begin(), behind.end(), is_number)) {
      for (const auto& share : behind)
        if (is_number(share)) all = all - share.bytes;
      if (all.value <= graph.value(id).bytes()) std::erase_if(behind, is_number);
    }
    if (all.value <= graph.value(id).bytes()) result_.tensors[*scope[id]].behind = std::move(behind);
    else
      for (const auto& share : behind) doubtful_.insert(share.base);
  }

  void walk(const Graph& graph, Scope& scope, const Context& context) {
    for (const Node& node : graph.nodes) {
      if (node.bodies.empty()) leaf(graph, scope, node, context);
      else if (node.op_type == "If") branch(graph, scope, node, context);
      else loop(graph, scope, node, context);
    }
    for (const UnrolledLoop& loop : graph.unrolled) note_passes(loop, scope);
  }

  /// Each pass of an unrolled loop is a recurrence of its own.
  void note_passes(const UnrolledLoop& loop, const Scope& scope) {
    const auto behind = [this](const std::vector<Carried>& values, TensorId Carried::*value) {
      std::size_t end = 0;
      for (const Carried& each : values)
        for (const std::size_t producer : result_.tensors[each.*value].producers) end = std::max(end, producer + 1);
      return end;
    };
    for (std::size_t pass = 0; pass + 1 < loop.states.size(); ++pass) {
      Recurrence made{.passes = 1, .is_first = pass == 0};
      for (std::size_t i = 0; i < loop.states[pass].size(); ++i) {
        const auto &in = loop.states[pass][i], &out = loop.states[pass + 1][i];
        if (in && out && in != out && scope[*in] && scope[*out]) made.values.push_back({*scope[*in], *scope[*out]});
      }
      made.begin = behind(made.values, &Carried::in);
      made.end = behind(made.values, &Carried::out);
      recurrences_.push_back(std::move(made));
    }
  }

  void leaf(const Graph& graph, Scope& scope, const Node& node, const Context& context) {
    Occurrence made{.layer = live_->layer(graph, node),
                    .nodes = {node.name},
                    .members = {result_.layers.size()},
                    .repeat = context.repeat,
                    .branches = context.branches,
                    .live = live_->of(node)};
    for (const auto& input : node.inputs)
      made.inputs.push_back(input ? std::optional(tensor(graph, scope, *input)) : std::nullopt);
    for (const auto& output : node.outputs)
      if (output) made.outputs.push_back(tensor(graph, scope, *output));
    for (TensorId output : made.outputs) result_.tensors[output].producers.push_back(result_.layers.size());
    nodes_.push_back(&node);
    certain_.push_back(certainly_touched(graph, node, made.layer));
    updates_.push_back(live_->update(node));
    by_pass_.push_back(node.has_output(0) && live_->is_slice(graph, *node.outputs[0]));
    note_caches(graph, scope, node, made.layer);
    if (const auto* opaque = std::get_if<op::Opaque>(&*made.layer);
        opaque && opaque->written_bytes > 0 && !is_memory_bound(onnx_type(node)))
      uncounted_[onnx_type(node)].push_back(node.name);
    note_unknown_sizes(graph, node);
    result_.layers.push_back(std::move(made));
  }
  void note_unknown_sizes(const Graph& graph, const Node& node) {
    if (!knows_sizes(graph, node))
      result_.unknown.push_back("the size of '" + node.name + "' (" + node.op_type +
                                ") depends on data: counted at its least");
  }

  /// A scatter that combines its updates may do so at one place. A Gather reads at least one row, or as many as its
  /// indices differ.
  [[nodiscard]] Certain certainly_touched(const Graph& graph, const Node& node, const Layer& layer) const {
    if (std::holds_alternative<op::Gather>(layer) && node.op_type == "Gather" && node.domain.empty())
      return {.read = static_cast<double>(live_->different(graph, *node.inputs[1]))};
    const double share = certain_places({node, graph, layer});
    return {share, share};
  }

  /// The operands that an attention layer returns in a cache are moved, not computed.
  void note_caches(const Graph& graph, Scope& scope, const Node& node, const Layer& layer) {
    if (!std::holds_alternative<op::Attention>(layer)) return;
    for (std::size_t i = 0; i < node.outputs.size(); ++i)
      for (const std::size_t k : op::Attention::cached_inputs(node, i))
        if (node.outputs[i] && node.has_input(k))
          cached_[tensor(graph, scope, *node.outputs[i])].push_back(tensor(graph, scope, *node.inputs[k]));
    if (lengths_are_data(node, graph)) {
      for (std::size_t k = 1; k < 5; ++k)  // keys and values, and their caches
        if (node.has_input(k)) doubtful_.insert(tensor(graph, scope, *node.inputs[k]));
      result_.unknown.push_back("data decide how long the sequences of '" + node.name + "' (" + node.op_type +
                                ") are: floors count one whole sequence and one value of each other one, library rungs "
                                "whole sequences");
    } else if (op::Attention::is_filled_by_data(node, graph)) {
      result_.unknown.push_back("data decide how full the cache of '" + node.name + "' (" + node.op_type +
                                ") is: floors count one key, library rungs a full cache");
    }
  }

  /// False if sizes become unknown at this node: it makes such a value, or reads one computed from constants.
  [[nodiscard]] static bool knows_sizes(const Graph& graph, const Node& node) {
    const auto is_made = [&](const auto& id) { return id && graph.value(*id).unknown_size; };
    const auto is_read = [&](const auto& id) {
      return id && graph.value(*id).constant && graph.value(*id).data_dependent;
    };
    return std::none_of(node.outputs.begin(), node.outputs.end(), is_made) &&
           std::none_of(node.inputs.begin(), node.inputs.end(), is_read);
  }

  Scope enter(const Graph& graph, Scope& scope, const Graph& body) {
    Scope inner(body.values.size());
    for (const auto& [in, out] : body.captures) inner[in] = tensor(graph, scope, out);
    return inner;
  }

  /// Tensors read by control flow have a consumer that is not a layer.
  void keep(TensorId id) { result_.tensors[id].output = true; }

  void branch(const Graph& graph, Scope& scope, const Node& node, const Context& context) {
    if (node.has_input(0)) keep(tensor(graph, scope, *node.inputs[0]));  // the condition
    note_unknown_sizes(graph, node);
    const std::size_t choice = result_.choices.size();
    result_.choices.push_back({.node = node.name, .within = context.branches});
    for (std::size_t b = 0; b < node.bodies.size(); ++b) {
      const Graph& body = node.bodies[b].graph;
      result_.choices[choice].labels.push_back(node.bodies[b].label);
      Scope inner = enter(graph, scope, body);
      Context here = context;
      here.branches.push_back({choice, b});
      walk(body, inner, here);
      for (std::size_t i = 0; i < node.outputs.size() && i < body.outputs.size(); ++i) {
        if (!node.outputs[i]) continue;
        const TensorId from = tensor(body, inner, body.outputs[i]);
        auto& joined = result_.tensors[tensor(graph, scope, *node.outputs[i])];
        for (auto producer : result_.tensors[from].producers) joined.producers.push_back(producer);
        keep(from);
      }
    }
  }

  void loop(const Graph& graph, Scope& scope, const Node& node, const Context& context);

  /// A value that one pass of a loop hands to the next.
  struct Carried {
    TensorId in = 0, out = 0;
  };

  /// Layers on a path from a carried value to the same value of the next pass run one pass after the other; the rest of
  /// a body could overlap. If there are several such values, the one with the most work on its paths counts: the paths
  /// of two values overlap like a wavefront, and a value that only feeds another one has no path.
  void serialize(std::size_t begin, const std::vector<Carried>& values, std::int64_t trips);

  /// A layer of a body that does not depend on anything that changes does the same in every pass, so once is enough.
  /// Opaque layers may draw random numbers.
  void hoist(const Graph& body, const Scope& inner, const std::vector<ValueId>& changing, std::size_t begin,
             std::int64_t trips);

  /// Whether a tensor is `origin`, or is what the bodies of loops received from it.
  [[nodiscard]] bool comes_from(TensorId id, TensorId origin) const {
    if (id == origin) return true;
    const auto received = received_.find(id);
    return received != received_.end() && comes_from(received->second.from, origin);
  }

  /// The tensors that a tensor without a producing layer refers to: its own bytes, or those of a loop's initial value.
  void settle(TensorId id) {
    if (!result_.tensors[id].behind.empty()) return;
    const auto received = received_.find(id);
    if (received != received_.end() && received->second.whole) {
      settle(received->second.from);
      result_.tensors[id].behind = result_.tensors[received->second.from].behind;
    } else {
      const LayerTensor& tensor = result_.tensors[id];
      result_.tensors[id].behind = {{id, std::min(tensor.bytes(), tensor.stored.value_or(tensor.bytes()))}};
    }
  }

  /// Bytes of the tensors behind a sequence from which each pass reads an element. Bytes of `id` if it is not such an
  /// element.
  [[nodiscard]] std::vector<Share> behind_sequence(TensorId id, Bytes bytes) const {
    const auto received = received_.find(id);
    if (received == received_.end() || !received->second.sliced) return {{id, bytes}};
    const LayerTensor& sequence = result_.tensors[received->second.from];
    std::vector<Share> result;
    for (const Share& share : sequence.behind)
      for (const Share& part : behind_sequence(share.base, share.bytes * (bytes / sequence.bytes())))
        result.push_back(part);
    return result;
  }

  /// Whether a tensor is made by an update, and the layer updates its rows once more.
  [[nodiscard]] bool is_written_again(std::size_t layer, TensorId id) const {
    const auto& makers = result_.tensors[id].producers;
    return updates_[layer] && id == *result_.layers[layer].inputs[updates_[layer]->kept] &&
           std::any_of(makers.begin(), makers.end(), [this](auto maker) { return updates_[maker].has_value(); });
  }
  /// The bytes of operand `k` that a layer touches for certain.
  [[nodiscard]] Bytes certain_input(std::size_t layer, std::size_t k) const {
    const Occurrence& at = result_.layers[layer];
    const LayerTensor& tensor = result_.tensors[*at.inputs[k]];
    if (const auto& update = updates_[layer]) {
      if (k == update->kept && (update->replaces || is_written_again(layer, *at.inputs[k]))) return {};
      return std::holds_alternative<op::Where>(*at.layer) ? tensor.bytes() : touched_input(tensor, at.layer, k);
    }
    const Bytes touched = touched_input(tensor, at.layer, k);
    return k == 0 ? std::min(tensor.bytes(), touched * certain_[layer].read) : touched;
  }
  /// The bytes of result `k` that it writes for certain.
  [[nodiscard]] Bytes certain_output(std::size_t layer, std::size_t k) const {
    const Occurrence& at = result_.layers[layer];
    const Bytes touched = touched_output(result_.tensors[at.outputs[k]], at.layer, k);
    if (k > 0) return touched;
    return touched * (updates_[layer] ? updates_[layer]->share() : certain_[layer].written);
  }

  /// Whether operand `k` is what a movement layer moves, as opposed to a list of sizes or positions.
  [[nodiscard]] bool is_moved(const Occurrence& at, std::size_t k) const {
    if (std::holds_alternative<op::Concat>(*at.layer)) return true;
    if (!std::holds_alternative<op::View>(*at.layer) || at.outputs.empty()) return k == 0;
    const LayerTensor& x = result_.tensors[*at.inputs[k]];
    if (k > 0 && x.constant && !is_float(x.type)) return false;  // there may be as many axes as elements
    return element_count(x.dims) == element_count(result_.tensors[at.outputs[0]].dims);
  }

  /// Whether nothing needs a tensor after its only reader, which may then overwrite it. False for tensors that the
  /// graph keeps. A model's input may be overwritten by a result that leaves the model, as the caller of a cache has
  /// one memory for both.
  [[nodiscard]] bool may_be_overwritten(TensorId id, bool result_leaves) const {
    const LayerTensor& tensor = result_.tensors[id];
    if (tensor.constant || tensor.output || tensor.consumers.size() != 1 || tensor.producers.size() > 1 ||
        received_.contains(id))
      return false;
    if (tensor.producers.empty()) return result_leaves;
    const Occurrence& maker = result_.layers[tensor.producers[0]];
    return !std::holds_alternative<op::View>(*maker.layer) || may_be_overwritten(*maker.inputs[0], result_leaves);
  }

  /// True for an update, unless it combines its updates with the existing contents: a second call would then differ.
  template <class Update>
  [[nodiscard]] bool may_be_in_place(const Update& update, const Occurrence& at) const {
    if constexpr (requires { update.reduction; })
      if (update.reduction != op::ScatterReduction::none) return false;
    return may_be_overwritten(*at.inputs[0], result_.tensors[at.outputs[0]].output);
  }
  /// True for a cache that the caller keeps, with capacity for what is appended. A tensor that a layer makes has no
  /// spare capacity, and a tensor that is shorter than what is appended is not a cache.
  [[nodiscard]] bool may_be_in_place(const op::Concat&, const Occurrence& at) const {
    const LayerTensor& cache = result_.tensors[*at.inputs[0]];
    return cache.producers.empty() && element_count(cache.dims) > 0 &&
           cache.bytes() >= result_.tensors[at.outputs[0]].bytes() - cache.bytes() &&
           may_be_overwritten(*at.inputs[0], result_.tensors[at.outputs[0]].output);
  }

  void connect();
  void note_in_place(Occurrence& at);
  void totals(const Graph& graph, Scope& scope);

  /// Passes in which layers [begin, end) make what the next pass starts with.
  struct Recurrence {
    std::size_t begin = 0, end = 0;
    std::vector<Carried> values{};
    std::int64_t passes = 1;
    bool is_first = true;  ///< no pass of the same loop precedes these
  };
  /// What a tensor has of a carried value: the share of its elements that depend on it, and whether each of these
  /// depends on all of it.
  struct Dependence {
    double share = 0;
    bool on_all = false;
  };
  /// Weights that a pass reads after it has a carried value and before it hands on the next one.
  struct PassWeights {
    std::map<TensorId, double> shares{};  ///< constants -> the share that is needed
    std::set<TensorId> alone{};           ///< those of products that no other product of a pass precedes or follows
    std::set<std::size_t> layers{};       ///< that read them
    double passes = 0;                    ///< that need all of them
  };
  using Dependences = std::map<TensorId, Dependence>;
  void count_rereads();
  [[nodiscard]] PassWeights weights_of(const Recurrence& recurrence, const Carried& value) const;
  [[nodiscard]] Dependence dependence(const Dependences& known, TensorId id) const;
  [[nodiscard]] Dependence result_dependence(const Occurrence& at, const Dependences& known,
                                             std::optional<std::size_t> dense) const;
  [[nodiscard]] std::optional<std::pair<std::size_t, std::size_t>> dense_operands(const Occurrence& at) const;

  LayerGraph result_{};
  std::optional<LiveElements> live_{};
  struct Received {
    TensorId from = 0;
    bool whole = true;    // false for an element of a sequence
    bool sliced = false;  // an element of a sequence for which the needs of all passes are certain
  };
  ConstantOrigins origins_{};
  // Constants in place of which a value computed from them is read, and tensors of which data choose what is read.
  std::set<TensorId> doubtful_{};
  std::map<std::string, std::vector<std::string>> uncounted_{};  // operators of unknown arithmetic -> their nodes
  std::map<TensorId, std::vector<TensorId>> cached_{};           // results of attention -> their parts, in order
  std::vector<Recurrence> recurrences_{};
  std::vector<const Node*> nodes_{};  // layer -> its node
  std::vector<bool> by_pass_{};       // layer -> whether what it reads of operand 0 depends on the pass number
  std::vector<Certain> certain_{};
  std::vector<std::optional<Update>> updates_{};  // layer -> the few rows that it changes of an operand
  std::set<TensorId> counters_{};                 // numbers and conditions of passes, which need not be in memory
  std::map<TensorId, Received> received_{};       // input of a loop's body -> its value in the first pass
};

}  // namespace detail

}  // namespace benanza

#ifndef BENANZA_COMPILED
#include <benanza/impl/model/layer_graph_bytes_inl.hpp>
#include <benanza/impl/model/layer_graph_loops_inl.hpp>
#include <benanza/impl/model/layer_graph_rereads_inl.hpp>
#endif
