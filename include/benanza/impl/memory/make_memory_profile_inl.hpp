// SPDX-License-Identifier: Apache-2.0
// What make_memory_profile computes.
#pragma once

#include <benanza/impl/inline.hpp>
#include <benanza/memory/detail/read_constants.hpp>
#include <benanza/memory/make_memory_profile.hpp>
#include <benanza/memory/memory_profile.hpp>
#include <benanza/model/layer.hpp>
#include <benanza/model/make_layer.hpp>
#include <benanza/model/tensor_shape.hpp>
#include <benanza/operators/lookup.hpp>
#include <benanza/training/detail/storages.hpp>
#include <benanza/training/kept_tensors.hpp>
#include <benanza/training/training_graph.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace benanza {

namespace detail {

/// Makes one profile; each call needs its own instance.
class MemoryProfiler {
 public:
  /// `graph` is the graph of the iteration, or of a run without training. The iteration then has only phases and
  /// sources.
  MemoryProfiler(const Graph& graph, const TrainingGraph& iteration, const MemoryOptions& options, bool training)
      : iteration_(&iteration),
        graph_(&graph),
        options_(&options),
        storages_(graph, options.saved == Saved::eager),
        fixed_(graph.values.size()),
        lives_(graph.values.size()) {
    result_.model = graph_->name;
    result_.file = graph_->file;
    result_.batch = graph_->batch;
    result_.training = training;
  }

  [[nodiscard]] MemoryProfile build() {
    for (const Value& value : graph_->values) (void)checked_product(element_count(value.dims), bits(value.type));
    find_layers();
    add_fixed();
    find_lives();
    add_kept();
    if (options_->overwrite) overwrite();
    add_lives();
    add_bodies();
    add_workspace();
    add_up();
    lives_ = std::vector<Life>();  // a profile of many nodes is as large as what it is made from
    layer_of_.clear();
    list_layers();
    return std::move(result_);
  }

 private:
  using enum MemoryCategory;

  struct Kept {  // what of a KeptTensor a life needs: there is one for each tensor
    double bytes = 0;
    std::size_t last = 0;
  };
  struct Life {
    bool is = false;
    std::size_t first = 0, last = 0;
    std::size_t last_forward = 0;  // last step before backward that uses it
    std::optional<Kept> kept{};
    bool output = false, gradient = false;
  };

  [[nodiscard]] std::size_t end() const { return std::max<std::size_t>(graph_->nodes.size(), 1) - 1; }

  void find_layers() {
    result_.steps.resize(graph_->nodes.size());
    for (std::size_t i = 0; i < graph_->nodes.size(); ++i) result_.steps[i].phase = iteration_->phases[i];
    if (!options_->lists) return;
    layer_bytes_.resize(graph_->nodes.size());
    layer_of_.reserve(graph_->nodes.size());
    result_.blocks.reserve(graph_->values.size());
    for (std::size_t i = 0; i < graph_->nodes.size(); ++i) {
      const Node& node = graph_->nodes[i];
      result_.steps[i].node = node.name;
      if (iteration_->phases[i] <= Phase::loss) layer_of_.emplace(node.name, i);
    }
  }

  void add(MemoryBlock block) {
    if (block.bytes <= 0) return;
    const auto category = static_cast<std::size_t>(block.category);
    if (result_.steps.empty()) {
      result_.totals[category] += block.bytes;  // a graph without nodes also has a time at which its blocks live
    } else {
      result_.steps[block.first].bytes[category] += block.bytes;
      if (block.last < end()) result_.steps[block.last + 1].bytes[category] -= block.bytes;
    }
    if (!options_->lists) return;
    if (const auto found = layer_of_.find(block.layer); found != layer_of_.end() && block.category != temporaries)
      layer_bytes_[found->second][category] += block.bytes;
    result_.blocks.push_back(std::move(block));
  }

  /// Adds what is always in memory; each storage of the file counts once.
  void add_fixed() {
    const auto of = [](const Value& value, double elements) { return elements * bits(value.type) / 8; };
    std::vector<std::string_view> reader(graph_->values.size());
    for (std::size_t i = graph_->nodes.size(); i-- > 0;)
      if (iteration_->phases[i] <= Phase::loss)
        for (const auto& input : graph_->nodes[i].inputs)
          if (input) reader[*input] = graph_->nodes[i].name;
    for (const Parameter& one : iteration_->parameters) {
      fixed_[one.value] = true;
      owner_[one.gradient] = reader[one.value];
      add({graph_->value(one.value).name, std::string(reader[one.value]), weights, one.bytes, 0, end()});
    }
    std::map<std::string, std::string_view> parameter_reader;
    for (const Parameter& one : iteration_->parameters) parameter_reader[one.name] = reader[one.value];
    for (const ValueId id : iteration_->optimizer_state) {
      const Value& value = graph_->value(id);
      fixed_[id] = true;
      add({value.name, std::string(parameter_reader[value.name.substr(0, value.name.rfind('/'))]), optimizer_state,
           value.bytes(), 0, end()});
    }
    // PyTorch counts Adam's steps in a separate number for each parameter.
    if (options_->saved == Saved::eager && states_of(options_->optimizer) == 2)
      add({"steps", "", optimizer_state, 4.0 * static_cast<double>(iteration_->parameters.size()), 0, end()});
    const auto add_constant = [&](const Value& value, std::string_view node, MemoryCategory category) {
      add({value.name, std::string(node), category, of(value, static_cast<double>(value.elements())), 0, end()});
    };
    for (const ValueId id : iteration_->buffers) {
      if (!fixed_[id]) add_constant(graph_->value(id), reader[id], buffers);
      fixed_[id] = true;
    }
    for (const ReadConstant& one : read_constants(*graph_, fixed_))
      add_constant(*one.value, one.layer, result_.training ? buffers : weights);
  }

  void find_lives() {
    const auto touch = [&](ValueId id, std::size_t i) {
      Life& life = lives_[storages_.of(id)];
      life.last = std::max(life.last, i);
      if (iteration_->phases[i] < Phase::backward) life.last_forward = std::max(life.last_forward, i);
    };
    for (std::size_t i = 0; i < graph_->nodes.size(); ++i) {
      const Node& node = graph_->nodes[i];
      for (const auto& input : node.inputs)
        if (input) touch(*input, i);
      for (const Body& body : node.bodies)
        for (const auto& capture : body.graph.captures) touch(capture.second, i);
      if (iteration_->phases[i] == Phase::update) continue;  // in place
      for (std::size_t k = 0; k < node.outputs.size(); ++k) {
        if (!node.outputs[k] || is_running_statistic(node, k)) continue;
        Life& life = lives_[storages_.of(*node.outputs[k])];
        if (!life.is && storages_.of(*node.outputs[k]) == *node.outputs[k]) life = {.is = true, .first = i};
        touch(*node.outputs[k], i);
      }
    }
    for (const ValueId id : graph_->inputs)
      if (!fixed_[id]) add({graph_->value(id).name, "", inputs_outputs, graph_->value(id).bytes(), 0, end()});
    for (const ValueId id : graph_->outputs) {
      Life& life = lives_[storages_.of(id)];
      life.output = true;
      life.last = end();
    }
    for (const Parameter& one : iteration_->parameters) {
      Life& life = lives_[storages_.of(one.gradient)];
      life.gradient = true;
      life.last = end();
      owner_.emplace(storages_.of(one.gradient), owner_[one.gradient]);
    }
  }

  [[nodiscard]] bool is_running_statistic(const Node& node, std::size_t output) const {
    return result_.training && node.op_type == "BatchNormalization" && (output == 1 || output == 2);
  }

  void add_kept() {
    if (!result_.training) return;
    std::set<std::size_t> recurrent;
    for (std::size_t i = 0; i < graph_->nodes.size(); ++i)
      if (const auto source = iteration_->sources[i])
        if (facts_of(graph_->nodes[*source]).is(Trait::recurrent)) recurrent.insert(*source);
    for (const std::size_t i : recurrent) result_.recurrent.push_back(graph_->nodes[i].name);
    for (KeptTensor& one : kept_tensors(*iteration_, options_->saved)) {
      result_.kept.push_back(one);
      if (!one.storage) {
        add({one.name, one.node, feature_maps, one.bytes, place_of(one.node), one.last});
      } else if (lives_[*one.storage].is) {
        lives_[*one.storage].kept = {.bytes = one.bytes, .last = one.last};
      }  // otherwise an input, which is always in memory
    }
  }
  [[nodiscard]] std::size_t place_of(const std::string& node) const {
    for (std::size_t i = 0; i < graph_->nodes.size(); ++i)
      if (graph_->nodes[i].name == node) return i;
    return 0;
  }

  /// Only the last reader of a tensor may overwrite it: later readers would read wrong numbers.
  void overwrite() {
    for (std::size_t i = 0; i < graph_->nodes.size(); ++i) {
      const Node& node = graph_->nodes[i];
      if (!node.has_output(0) || !node.bodies.empty()) continue;
      const double made = graph_->value(storages_.of(*node.outputs[0])).bytes();
      const auto may_be_overwritten = [&](const auto& input) {
        if (!input) return false;
        const Life& dying = lives_[storages_.of(*input)];
        return dying.is && !dying.kept && !dying.output && !dying.gradient && dying.last == i && dying.first != i &&
               graph_->value(storages_.of(*input)).bytes() == made;
      };
      const auto input = std::find_if(node.inputs.begin(), node.inputs.end(), may_be_overwritten);
      if (input != node.inputs.end() && may_be(Family::elementwise, node) &&
          family(make_layer(node, *graph_)) == Family::elementwise)
        lives_[storages_.of(**input)].last = i - 1;
    }
  }

  void add_lives() {
    for (ValueId id = 0; id < lives_.size(); ++id) {
      const Life& life = lives_[id];
      const Value& value = graph_->value(id);
      if (!life.is || value.constant || fixed_[id]) continue;
      const std::string& node = graph_->nodes[life.first].name;
      if (life.gradient) {
        add({value.name, owner_[id], gradients, value.bytes(), life.first, life.last});
      } else if (life.output) {
        add({value.name, node, inputs_outputs, value.bytes(), life.first, life.last});
      } else if (life.kept) {
        const std::size_t all = std::max(life.first, life.last_forward);
        if (life.kept->bytes < value.bytes()) {  // the whole tensor in forward, then the part that backward reads
          add({value.name, node, temporaries, value.bytes() - life.kept->bytes, life.first, all});
        }
        add({value.name, node, feature_maps, life.kept->bytes, life.first, std::max(life.kept->last, all)});
      } else {
        // If less is kept than the gradient rules read, backward does without this tensor.
        const bool dies = result_.training && iteration_->phases[life.first] < Phase::backward;
        add({value.name, node, temporaries, value.bytes(), life.first,
             dies ? std::max(life.first, life.last_forward) : life.last});
      }
    }
  }

  /// What the passes of a body free before its end: the results of a body are those of its node.
  void add_bodies() {
    MemoryOptions within = *options_;
    within.lists = false;
    for (std::size_t i = 0; i < graph_->nodes.size(); ++i) {
      double most = 0;
      for (const Body& body : graph_->nodes[i].bodies)
        for (const MemoryStep& step : make_memory_profile(body.graph, within).steps)
          most = std::max(most, step.bytes[static_cast<std::size_t>(temporaries)] +
                                    step.bytes[static_cast<std::size_t>(workspace)]);
      add({graph_->nodes[i].name, graph_->nodes[i].name, temporaries, most, i, i});
    }
  }

  void add_workspace() {
    if (!options_->workspace) return;
    for (std::size_t i = 0; i < graph_->nodes.size(); ++i) {
      const Node& node = graph_->nodes[i];
      if (!node.bodies.empty()) continue;
      const auto bytes = options_->workspace(make_layer(node, *graph_));
      result_.has_workspace = result_.has_workspace || bytes.has_value();
      if (bytes) add({node.name, node.name, workspace, *bytes, i, i});
    }
  }

  void add_up() {
    MemoryBytes now{};
    for (std::size_t i = 0; i < result_.steps.size(); ++i) {
      MemoryBytes& step = result_.steps[i].bytes;
      for (std::size_t c = 0; c < memory_categories; ++c) {
        step[c] = now[c] += step[c];
        result_.totals[c] = std::max(result_.totals[c], now[c]);
      }
      if (total(step) > total(result_.steps[result_.peak].bytes)) result_.peak = i;
    }
  }

  void list_layers() {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < layer_bytes_.size(); ++i)
      if (total(layer_bytes_[i]) > 0) order.push_back(i);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return total(layer_bytes_[a]) > total(layer_bytes_[b]); });
    result_.layers.reserve(order.size());
    for (const std::size_t i : order)
      result_.layers.push_back(
          {.node = graph_->nodes[i].name, .op_type = graph_->nodes[i].op_type, .bytes = layer_bytes_[i]});
  }

  const TrainingGraph* iteration_;
  const Graph* graph_;
  const MemoryOptions* options_;
  Storages storages_;
  std::vector<bool> fixed_;                                       // by value: always in memory
  std::vector<Life> lives_;                                       // by storage
  std::map<ValueId, std::string> owner_{};                        // by gradient: the layer of its parameter
  std::unordered_map<std::string_view, std::size_t> layer_of_{};  // the nodes of forward, by name
  std::vector<MemoryBytes> layer_bytes_{};                        // by node
  MemoryProfile result_{};
};

}  // namespace detail

BENANZA_INLINE MemoryProfile make_memory_profile(const TrainingGraph& iteration, const MemoryOptions& options) {
  return detail::MemoryProfiler(iteration.graph, iteration, options, true).build();
}
BENANZA_INLINE MemoryProfile make_memory_profile(const Graph& graph, const MemoryOptions& options) {
  TrainingGraph run;
  run.phases.assign(graph.nodes.size(), Phase::forward);
  run.sources.assign(graph.nodes.size(), std::nullopt);
  return detail::MemoryProfiler(graph, run, options, false).build();
}

}  // namespace benanza
