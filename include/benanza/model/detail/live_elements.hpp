// SPDX-License-Identifier: Apache-2.0
// LiveElements: how much of each node's operands and results at least one output of the model needs, computed from the
// outputs backwards. If data choose what is read, and for operators without a rule, everything counts as needed as soon
// as any result is needed.
#pragma once

#include <benanza/model/detail/known_bands.hpp>
#include <benanza/model/detail/known_zeros.hpp>
#include <benanza/model/detail/layer_pool.hpp>
#include <benanza/model/detail/live_needs.hpp>
#include <benanza/model/detail/live_sequences.hpp>
#include <benanza/model/detail/made_ahead.hpp>
#include <benanza/model/detail/needs_everything.hpp>
#include <benanza/model/detail/pass_numbers.hpp>
#include <benanza/model/detail/region.hpp>
#include <benanza/model/detail/sliced_values.hpp>
#include <benanza/model/graph.hpp>
#include <benanza/model/layer.hpp>
#include <benanza/model/make_layer.hpp>
#include <benanza/model/model_layers.hpp>
#include <benanza/operators/lookup.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace benanza {

/// What the outputs of a model need of each node. A graph without outputs needs everything.
class LiveElements {
 public:
  explicit LiveElements(const Graph& graph);

  /// Whether a value of a loop's body is the part of a tensor around the loop that each pass reads, at a position that
  /// follows from the number of the pass.
  [[nodiscard]] bool is_slice(const Graph& body, ValueId id) const { return slices_.contains({&body, id}); }
  /// The share of a node without bodies.
  [[nodiscard]] const LiveShare& of(const Node& node) const { return shares_.at(&node); }
  /// The node's share, if one pass of a loop with this body does the work of all.
  [[nodiscard]] LiveShare once(const Node& node, const Graph& body, LiveShare share) const {
    const auto factor = passes_.find({&body, &node});
    if (factor == passes_.end()) return share;
    const auto undo = [](double& part, double by) {
      if (by > 0) part = std::min(1.0, part / by);
    };
    undo(share.flops, factor->second.flops);
    for (std::size_t k = 0; k < share.outputs.size(); ++k) undo(share.outputs[k], factor->second.output(k));
    return share;
  }
  /// The layer of a node without bodies.
  [[nodiscard]] const SharedLayer& layer(const Graph& graph, const Node& node) {
    const auto found = layers_.find(&node);
    if (found != layers_.end()) return found->second;
    return layers_.emplace(&node, pool_.shared(make_layer(node, graph))).first->second;
  }
  /// Holds all of these layers.
  [[nodiscard]] detail::LayerPool& pool() { return pool_; }
  /// What a node changes of an operand in place. Empty if it makes its result anew.
  [[nodiscard]] std::optional<detail::Update> update(const Node& node) const {
    const auto found = updates_.find(&node);
    return found == updates_.end() ? std::nullopt : std::optional(found->second);
  }
  /// At least so many elements of a value differ from each other.
  [[nodiscard]] std::int64_t different(const Graph& graph, ValueId id) const { return known_.at(&graph)[id].different; }
  /// The share of a value that all of its readers together need.
  [[nodiscard]] double of(const Graph& graph, ValueId id) const { return needed_.at(&graph).at(id); }

 private:
  /// A part of a value, and the readers of no more than a part of it.
  struct Needed {
    Region part{};
    std::set<std::string> readers{};
    bool conditional = false;  ///< data determine whether more is needed
  };
  using Values = std::vector<Needed>;  // one per value of a graph
  using Shares = std::unordered_map<const Node*, LiveShare>;
  static constexpr std::size_t most_readers = 4, most_passes = 8;

  [[nodiscard]] static Values nothing(const Graph& graph) {
    Values values;
    values.reserve(graph.values.size());
    for (const auto& value : graph.values) values.push_back({.part = Region(value.dims)});
    return values;
  }
  static void need(const Graph& graph, Values& values, ValueId id) {
    values[id].part = Region::whole(graph.value(id).dims);
  }
  /// Needs all of the value if it has other sizes here than in the other graph.
  static void need(const Graph& graph, Values& values, ValueId id, const Needed& there) {
    values[id].conditional = values[id].conditional || there.conditional;
    if (there.part.empty()) return;
    if (there.part.dims() != graph.value(id).dims) return need(graph, values, id);
    if (!values[id].part.is_whole()) values[id].part.add(there.part);
    for (const auto& reader : there.readers)
      if (values[id].readers.size() < most_readers) values[id].readers.insert(reader);
  }

  /// A constant without elements is an operand that is left out: Resize has such a region.
  [[nodiscard]] static bool knows_size(const Value& value) {
    return value.elements() > 0 || (value.constant && !value.data_dependent);
  }

  /// Finds what is known of each value. `node` of the outer graph has this body, which runs `passes` times.
  void learn(const Graph& graph, const Graph* outer, const Node* node, double passes) {
    std::vector<detail::KnownElements> known;
    known.reserve(graph.values.size());
    for (const auto& value : graph.values)
      known.push_back(value.constant ? detail::known_constant(value) : detail::KnownElements{});
    if (outer != nullptr)
      for (const auto& [in, out] : graph.captures) {
        known[in] = known_.at(outer)[out];
        known[in].transposed_of.reset();  // the source is a value of the other graph
      }
    if (node != nullptr && node->trip_count && node->op_type == "Loop") {
      known[graph.inputs[0]].passes = passes;
      const detail::PassNumbers numbers(*outer, node->inputs, graph);
      for (const auto& [formal, place] : numbers.counters()) known[formal].passes = passes;
    }
    if (node != nullptr && node->op_type == "Scan")
      for (const detail::SlicedValue& each : detail::sliced_values(*outer, *node))
        if (outer->value(each.source).constant || known_.at(outer)[each.source].passes > 0)
          known[each.slice].passes = passes;
    for (const auto* nodes : {&graph.constant_nodes, &graph.nodes})
      for (const Node& each : *nodes) {
        learn(graph, each, known);
        const double ahead = detail::passes_ahead(graph, each, known);
        for (const auto& output : each.outputs)
          if (output) known[*output].passes = ahead;
      }
    known_[&graph] = std::move(known);
    for (const Node& each : graph.nodes)
      for (const Body& body : each.bodies)
        learn(body.graph, &graph, &each, passes * static_cast<double>(each.trip_count.value_or(1)));
  }

  void learn(const Graph& graph, const Node& node, std::vector<detail::KnownElements>& known) {
    const auto is_known = [&](const auto& input) { return input && known[*input].any(); };
    const auto has_size = [&](const auto& id) { return !id || knows_size(graph.value(*id)); };
    const bool splits = node.op_type == "Split" && node.domain.empty();
    const bool chooses = node.op_type == "TopK" && node.domain.empty();
    const bool first_alone = node.op_type.ends_with("NormalizationGrad") || node.op_type == "Dropout";
    if (!node.bodies.empty() || (node.outputs.size() != 1 && !splits && !chooses && !first_alone) ||
        !node.has_output(0) || !node.has_input(0) || !std::all_of(node.inputs.begin(), node.inputs.end(), has_size) ||
        !std::all_of(node.outputs.begin(), node.outputs.end(), has_size) ||
        (!detail::makes_known(graph, node) && std::none_of(node.inputs.begin(), node.inputs.end(), is_known)))
      return;
    const Layer& layer = this->layer(graph, node);
    const detail::SizedNode at{node, graph, layer, known};
    if (node.op_type == "Transpose" && !is_known(node.inputs[0]) && !is_known(node.outputs[0])) {
      detail::KnownElements& result = known[*node.outputs[0]];
      result = detail::known_band(at);  // it says of which value this is the transposition
      result.different = detail::known_different(at, 0);
      return;
    }
    const auto rule = detail::live_rule(at);
    for (std::size_t j = 0; j < node.outputs.size(); ++j) {
      if (!node.outputs[j] || (first_alone && j > 0)) continue;
      detail::KnownElements& result = known[*node.outputs[j]];
      if (chooses) {
        result.different = detail::known_different(at, j);
        result.chosen_below = detail::known_chosen(at, j);
        continue;
      }
      if (!result.band) {  // the import determines the band of a constant
        if (!splits) result = detail::known_band(at);
        else if (rule) result = detail::known_part_band(at, j);
        result.filled = detail::known_filled(at);
        result.rows = detail::known_rows(at);
      }
      result.few = detail::known_few(at, j);
      if (!splits) result.nonzero = detail::known_nonzero(at);
      if (!splits) result.different = detail::known_different(at, j);
      result.chosen_below = detail::known_chosen(at, j);
      result.chosen_columns = detail::joins_chosen_columns(at);
      result.copies = detail::known_copies(at, rule, j);
      if (!splits) result.parts = detail::known_parts(at);
      if (!splits) result.distinct = detail::known_distinct(at, result.copies);
      result.expanded = !result.copies.empty() && is_movement(layer);
    }
  }

  void walk(const Graph& graph, Values& values) {
    for (std::size_t n = graph.nodes.size(); n-- > 0;) {
      const Node& node = graph.nodes[n];
      if (node.bodies.empty()) leaf(graph, values, node);
      else if (node.op_type == "If") branch(graph, values, node);
      else loop(graph, values, node);
    }
    for (std::size_t n = graph.constant_nodes.size(); n-- > 0;) leaf(graph, values, graph.constant_nodes[n]);
    std::vector<double>& needed = needed_[&graph];
    needed.clear();
    for (const auto& value : values) needed.push_back(value.part.share());
  }

  [[nodiscard]] static std::string title(const Node& node) { return "'" + node.name + "' (" + node.op_type + ")"; }
  /// `'Slice_7' (Slice) reads 1 of 197 along axis 1`
  [[nodiscard]] static std::string reading(const Node& node, const Region& part) {
    std::string text;
    for (std::size_t i = 0; i < part.dims().size(); ++i) {
      Positions all;
      for (const auto& box : part.boxes()) all = unite(all, box[i]);
      if (all.count() < part.dims()[i])
        text += (text.empty() ? "" : ", ") + std::to_string(all.count()) + " of " + std::to_string(part.dims()[i]) +
                " along axis " + std::to_string(i);
    }
    if (text.empty() && part.band())
      text = "a band along axes " + std::to_string(part.band()->row) + " and " + std::to_string(part.band()->column);
    return title(node) + " reads " + (text.empty() ? "a part" : text);
  }

  /// Keeps what has to be computed of a part of a result: unknown elements, and one of several equal elements.
  static void leave_unknown(const detail::KnownElements& known, Region& part) {
    if (part.empty()) return;
    for (std::size_t axis = 0; axis < part.dims().size(); ++axis)
      if (const FirstEqual first = known.copies_along(axis)) part.fold(axis, first);
    if (known.few) {
      Box box = whole_box(part.dims());
      Positions all;
      for (const Box& each : part.boxes()) all = unite(all, each[known.few->axis]);
      box[known.few->axis] = detail::few_of(*known.few, all);
      part.clip(box);
    }
    if (known.band) part.clip(*known.band);
    if (known.filled) part.clip(*known.filled);
    if (!known.rows.empty()) part = common(part, known.rows);
  }

  /// The share of a region that a part of it is; for an expanded tensor, only distinct elements count. 0 for an empty
  /// region.
  [[nodiscard]] static double share_of(const Region& part, const Region& all, const detail::KnownElements* expanded) {
    if (expanded != nullptr) {
      Region distinct = part, all_distinct = all;
      for (std::size_t axis = 0; axis < all.dims().size(); ++axis) {
        const FirstEqual first = expanded->copies_along(axis);
        if (!first) continue;
        distinct.fold(axis, first);
        all_distinct.fold(axis, first);
      }
      return share_of(distinct, all_distinct, nullptr);
    }
    return all.share() > 0 ? std::min(1.0, part.share() / all.share()) : 0;
  }

  /// Settles a node of which nothing is known and whose only result is needed whole, if it then needs everything, as
  /// most nodes do. False for other nodes.
  bool settle_whole(const Graph& graph, Values& values, const Node& node) {
    const std::vector<detail::KnownElements>& known = known_.at(&graph);
    const auto is_plain = [&](ValueId id) {
      const Value& value = graph.value(id);
      return !value.data_dependent && !value.sparse && value.elements() > 0 && !known[id].any();
    };
    if (node.outputs.size() != 1 || !node.has_output(0) || !node.has_input(0) || !is_plain(*node.outputs[0]) ||
        !values[*node.outputs[0]].part.is_whole())
      return false;
    bool is_ahead = true;  // its results depend on constants and the number of a pass alone
    for (const auto& input : node.inputs) {
      if (input && !is_plain(*input)) return false;
      is_ahead = is_ahead && (!input || known[*input].passes > 0 || graph.value(*input).constant);
    }
    if (is_ahead || !facts_of(node).is(Trait::whole_by_whole)) return false;
    const Layer& layer = this->layer(graph, node);
    const detail::SizedNode at{node, graph, layer, known};
    if (!detail::needs_everything(at)) return false;
    const bool conditional = values[*node.outputs[0]].conditional;
    LiveShare& share = shares_[&node] = {.conditional = conditional};
    if (std::holds_alternative<op::BatchNorm>(layer))
      for (std::size_t k = 0; k < node.inputs.size(); ++k) share.inputs.push_back(detail::is_left_out(at, k) ? 0 : 1);
    for (std::size_t k = 0; k < node.inputs.size(); ++k) {
      if (!node.inputs[k]) continue;
      Needed& needed = values[*node.inputs[k]];
      needed.conditional = needed.conditional || conditional;
      if (share.input(k) == 0 || (k == 0 && is_slice(graph, *node.outputs[0]))) continue;
      const detail::Dims& dims = graph.value(*node.inputs[k]).dims;
      if (needed.part.empty()) needed.part = Region::whole(dims);
      else if (!needed.part.is_whole()) needed.part.add(Region::whole(dims));
    }
    return true;
  }

  void leaf(const Graph& graph, Values& values, const Node& node) {
    if (settle_whole(graph, values, node)) return;
    const std::vector<detail::KnownElements>& known = known_.at(&graph);
    LiveShare& share = shares_[&node] = {};
    std::vector<Region> parts, all;
    std::set<std::string> readers;
    bool any = node.outputs.empty(), whole = true, unread = false, has_rule = node.has_input(0);
    bool& conditional = share.conditional;
    const auto look = [&](const std::optional<ValueId>& id) {  // sizes that depend on data are minima
      if (id && (graph.value(*id).data_dependent || !knows_size(graph.value(*id)))) has_rule = false;
    };
    parts.reserve(node.outputs.size());
    all.reserve(node.outputs.size());
    share.outputs.reserve(node.outputs.size());
    share.inputs.reserve(node.inputs.size());
    for (const auto& input : node.inputs) look(input);
    for (const auto& output : node.outputs) {
      look(output);
      parts.push_back(output ? values[*output].part : Region{});
      if (output && graph.value(*output).elements() == 0 && !graph.value(*output).data_dependent)
        parts.back() = Region(graph.value(*output).dims);
      all.push_back(output ? Region::whole(graph.value(*output).dims) : Region{});
      if (!output) continue;
      conditional = conditional || values[*output].conditional;
      share.outputs.push_back(parts.back().share());
      if (!parts.back().is_whole()) {
        whole = false;
        readers.insert(values[*output].readers.begin(), values[*output].readers.end());
        unread = unread || (parts.back().empty() && values[*output].readers.empty());
      }
      const bool may_leave = has_rule && known[*output].any();
      const Region wanted = may_leave ? parts.back() : Region{};
      if (may_leave) leave_unknown(known[*output], parts.back());
      any = any || !parts.back().empty();
      if (!may_leave || parts.back() == wanted) continue;
      whole = false;
      readers.insert(title(node) + " makes elements that are known or equal");
    }
    if (!parts.empty()) share.made = parts.front().share();
    if (any && unread) readers.insert(title(node) + " has a result that nothing reads");
    const double ahead = detail::passes_ahead(graph, node, known);
    if (ahead > 0) readers.insert("the results depend on constants and the number of the pass alone");
    share.readers.assign(readers.begin(), readers.end());
    for (const auto& input : node.inputs)
      if (input) values[*input].conditional = values[*input].conditional || conditional;
    if (!any) share.flops = 0;
    if (!any || detail::asks_for_no_element(node)) {
      share.inputs.assign(node.inputs.size(), 0);
      return;
    }
    const SharedLayer& shared = this->layer(graph, node);
    const Layer& layer = shared;
    const Operands& operands = shared.operands();
    // If a layer does not say how much of an operand it touches, the share is relative to the whole tensor.
    const auto touches_all = [&](std::size_t k) {
      if (k == 0) return !operands.inputs.empty() && !operands.inputs[0].touched;
      return !std::holds_alternative<op::Attention>(layer) && !std::holds_alternative<op::Where>(layer) &&
             !std::holds_alternative<op::Rotary>(layer);
    };
    const detail::SizedNode sized{node, graph, layer};
    const auto rule = has_rule ? std::optional(detail::needs_rule(sized)) : std::nullopt;
    whole = whole && !detail::counts_less(sized);
    for (const auto& input : node.inputs)
      whole = whole && !(input && (known[*input].any() || graph.value(*input).sparse));
    const detail::SizedNode informed{node, graph, layer, known};
    whole = whole && !(has_rule && detail::equal_axes(informed));
    const detail::Needs most = detail::needs_of(sized, rule, all);
    const auto own_rule = has_rule && !whole ? std::optional(detail::needs_rule(informed)) : std::nullopt;
    const auto& informed_rule = has_rule && !whole ? own_rule : rule;
    const bool is_ahead = ahead > 0 && shared.cost().flops.value > 0;
    std::optional<detail::Needs> own;
    if (!whole) own = detail::needs_of(informed, informed_rule, parts);
    else if (is_ahead) own = most;
    if (is_ahead) detail::read_ahead(informed, ahead, *own);
    const detail::Needs& needs = own ? *own : most;
    // A cache that attention returns may be in the memory of its parts, so it does not make any read of them certain.
    const bool hands_on = std::holds_alternative<op::Attention>(layer) && parts.size() > 1 && !whole;
    const auto computed = [](std::vector<Region> results) {
      for (std::size_t j = 1; j < std::min<std::size_t>(3, results.size()); ++j) results[j] = Region(results[j].dims());
      return results;
    };
    std::optional<detail::Needs> most_handed_on, handed_on;
    if (hands_on) {
      most_handed_on = detail::needs_of(sized, rule, computed(all));
      handed_on = detail::needs_of(informed, informed_rule, computed(parts));
    }
    const detail::Needs &most_reads = hands_on ? *most_handed_on : most, &reads = hands_on ? *handed_on : needs;
    if (const auto update = has_rule ? detail::known_update(informed) : std::nullopt) {
      updates_.insert_or_assign(&node, *update);
      if (!share.outputs.empty()) share.outputs[0] *= update->share();
    }
    share.flops = most.flops > 0 ? std::min(1.0, needs.flops / most.flops) : needs.flops > 0 ? 1 : 0;
    if (has_rule && node.has_output(0))
      share.flops =
          detail::distinct_share(known[*node.outputs[0]].distinct, share.flops, values[*node.outputs[0]].part);
    if (share.flops == 0 && share.readers.empty() && shared.cost().flops.value > 0)
      share.readers.push_back(title(node) + " reads elements that are known or equal");
    for (std::size_t k = 0; k < node.inputs.size(); ++k) {
      const Region &full = most.inputs[k], &part = needs.inputs[k], &read = reads.inputs[k];
      if (!node.inputs[k]) {
        share.inputs.push_back(1);
        continue;
      }
      const detail::KnownElements& of_input = known[*node.inputs[k]];
      const auto* expanded = of_input.expanded ? &of_input : nullptr;
      share.inputs.push_back(detail::certain_angles({node, graph, layer}, k) *
                             (touches_all(k) ? share_of(read, Region::whole(read.dims()), expanded)
                                             : share_of(read, most_reads.inputs[k], expanded)));
      if (const auto update = this->update(node); update && update->kept == k)
        share.inputs.back() *= update->replaces ? 0 : update->share();
      Needed needed{
          .part = part, .readers = part.is_whole() ? std::set<std::string>{} : readers, .conditional = conditional};
      if (!full.is_whole()) needed.readers.insert(reading(node, full));
      if (k > 0 || !node.has_output(0) || !is_slice(graph, *node.outputs[0]))
        need(graph, values, *node.inputs[k], needed);
    }
  }

  /// Only what every branch needs of the values around them is needed, since only one branch runs.
  void branch(const Graph& graph, Values& values, const Node& node) {
    const auto is_needed = [&values](const auto& output) { return output && !values[*output].part.empty(); };
    if (node.has_input(0) && std::any_of(node.outputs.begin(), node.outputs.end(), is_needed))
      need(graph, values, *node.inputs[0]);
    std::map<ValueId, std::vector<Needed>> captured;  // what each branch needs of it
    for (const Body& body : node.bodies) {
      Values inner = nothing(body.graph);
      for (std::size_t i = 0; i < node.outputs.size() && i < body.graph.outputs.size(); ++i)
        if (node.outputs[i]) need(body.graph, inner, body.graph.outputs[i], values[*node.outputs[i]]);
      walk(body.graph, inner);
      for (const auto& [in, out] : body.graph.captures) captured[out].push_back(inner[in]);
    }
    for (const auto& [out, of_each] : captured) {
      Needed all = of_each.front();
      if (of_each.size() < node.bodies.size()) all.part = Region(all.part.dims());
      for (const Needed& one : of_each) {
        all.part = common(all.part, one.part);
        all.readers.insert(one.readers.begin(), one.readers.end());
        all.conditional = all.conditional || one.conditional;
      }
      for (const Needed& one : of_each) all.conditional = all.conditional || !(one.part == all.part);
      need(graph, values, out, all);
    }
  }

  /// Passes of a loop that need the same results of the body.
  struct Kind {
    Values needs{}, inner{};  ///< needs of the results; needs of all values
    Shares shares{};
    double passes = 0;
  };
  struct PassNeeds {
    Values first{}, any{};         ///< needs of the first pass; needs of any pass
    std::vector<Region> sliced{};  ///< what all passes need of each tensor that they read slices of
  };

  static Needed of_each_pass(const Node& node, std::size_t i, std::size_t carried, const Needed& all);
  void loop(const Graph& graph, Values& values, const Node& node);
  std::optional<PassNeeds> leave_passes(const Graph& graph, const Node& node, const Values& values,
                                        const Values& wanted, std::span<const detail::SlicedValue> sliced,
                                        std::size_t carried, std::size_t body_skip, std::size_t out_skip);
  void scale_passes(const Graph& graph, const Graph& body, const std::vector<Kind>& kinds, double trips);

  std::set<std::pair<const Graph*, ValueId>> slices_{};  // `loop` says what they need of the tensors around it
  detail::LayerPool pool_{};
  std::unordered_map<const Node*, SharedLayer> layers_{};
  Shares shares_{};
  std::map<const Node*, detail::Update> updates_{};
  std::map<const Graph*, std::vector<double>> needed_{};
  std::map<const Graph*, std::vector<detail::KnownElements>> known_{};
  std::map<std::pair<const Graph*, const Node*>, LiveShare> passes_{};  // factor of each share relative to one pass
};

}  // namespace benanza

#include <benanza/model/detail/live_loops.hpp>

#ifndef BENANZA_COMPILED
#include <benanza/impl/model/detail/live_elements_inl.hpp>
#endif
