// SPDX-License-Identifier: Apache-2.0
// LiveElements: how much of each node's operands and results some output of the model needs, from the outputs
// backwards. Where data choose what is read, and for operators without a rule, it is everything as soon as any result
// is needed.
#pragma once

#include <benanza/model/detail/known_bands.hpp>
#include <benanza/model/detail/known_zeros.hpp>
#include <benanza/model/detail/live_needs.hpp>
#include <benanza/model/detail/live_sequences.hpp>
#include <benanza/model/detail/passes.hpp>
#include <benanza/model/graph.hpp>
#include <benanza/model/layer.hpp>
#include <benanza/model/make_layer.hpp>
#include <benanza/model/model_layers.hpp>
#include <benanza/model/region.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace benanza {

/// What some output of a model needs of each node. A graph without outputs needs everything.
class LiveElements {
 public:
  explicit LiveElements(const Graph& graph) {
    learn(graph, nullptr);
    Values values = nothing(graph);
    for (const ValueId output : graph.outputs) need(graph, values, output);
    for (ValueId id = 0; graph.outputs.empty() && id < values.size(); ++id) need(graph, values, id);
    walk(graph, values);
  }

  /// The share of a node without bodies.
  [[nodiscard]] const LiveShare& of(const Node& node) const { return shares_.at(&node); }
  /// Its share, if one pass of a loop with this body does the work of all.
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
  /// How much of a value is needed, by all of its readers together.
  [[nodiscard]] double of(const Graph& graph, ValueId id) const { return needed_.at(&graph).at(id); }

 private:
  /// A part of a value, and who reads no more than a part of it.
  struct Needed {
    Region part{};
    std::set<std::string> readers{};
    bool conditional = false;  ///< data decide whether more is needed
  };
  using Values = std::vector<Needed>;  // one for each value of a graph
  static constexpr std::size_t most_readers = 4, most_passes = 8;

  [[nodiscard]] static Values nothing(const Graph& graph) {
    Values values;
    for (const auto& value : graph.values) values.push_back({.part = Region(value.dims)});
    return values;
  }
  static void need(const Graph& graph, Values& values, ValueId id) {
    values[id].part = Region::whole(graph.value(id).dims);
  }
  /// All of it where it has other sizes here than there.
  static void need(const Graph& graph, Values& values, ValueId id, const Needed& there) {
    values[id].conditional = values[id].conditional || there.conditional;
    if (there.part.empty()) return;
    if (there.part.dims() != graph.value(id).dims) return need(graph, values, id);
    values[id].part.add(there.part);
    for (const auto& reader : there.readers)
      if (values[id].readers.size() < most_readers) values[id].readers.insert(reader);
  }

  /// A constant without elements is one that is left out: Resize has such a region.
  [[nodiscard]] static bool knows_size(const Value& value) {
    return value.elements() > 0 || (value.constant && !value.data_dependent);
  }

  /// What is known of each value; of what a body's inputs are, nothing.
  void learn(const Graph& graph, const Graph* outer) {
    std::vector<detail::KnownElements> known;
    for (const auto& value : graph.values)
      known.push_back(value.constant ? detail::known_constant(value) : detail::KnownElements{});
    if (outer != nullptr)
      for (const auto& [in, out] : graph.captures) {
        known[in] = known_.at(outer)[out];
        known[in].transposed_of.reset();  // is a value of the other graph
      }
    for (const auto* nodes : {&graph.constant_nodes, &graph.nodes})
      for (const Node& node : *nodes) learn(graph, node, known);
    known_[&graph] = std::move(known);
    for (const Node& node : graph.nodes)
      for (const Body& body : node.bodies) learn(body.graph, &graph);
  }

  static void learn(const Graph& graph, const Node& node, std::vector<detail::KnownElements>& known) {
    const auto is_known = [&](const auto& input) { return input && known[*input].any(); };
    const auto has_size = [&](const auto& id) { return !id || knows_size(graph.value(*id)); };
    const bool splits = node.op_type == "Split" && node.domain.empty();
    if (!node.bodies.empty() || (node.outputs.size() != 1 && !splits) || !node.has_output(0) || !node.has_input(0) ||
        !std::all_of(node.inputs.begin(), node.inputs.end(), has_size) ||
        !std::all_of(node.outputs.begin(), node.outputs.end(), has_size) ||
        (!detail::makes_known(graph, node) && std::none_of(node.inputs.begin(), node.inputs.end(), is_known)))
      return;
    const Layer layer = make_layer(node, graph);
    const detail::SizedNode at{node, graph, layer, known};
    const auto rule = detail::live_rule(at);
    for (std::size_t j = 0; j < node.outputs.size(); ++j) {
      if (!node.outputs[j]) continue;
      detail::KnownElements& result = known[*node.outputs[j]];
      if (!result.band) {  // the import knows the band of a constant
        if (!splits) result = detail::known_band(at);
        else if (rule) result = detail::known_part_band(at, j);
        result.filled = detail::known_filled(at);
        result.rows = detail::known_rows(at);
      }
      result.copies = detail::known_copies(at, rule, j);
      if (!splits) result.parts = detail::known_parts(at);
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
    return "'" + node.name + "' (" + node.op_type + ") reads " + (text.empty() ? "a part" : text);
  }

  /// Leaves what has to be computed of a part of a result: not what is known, and one of elements that are equal.
  static void leave_unknown(const detail::KnownElements& known, Region& part) {
    if (part.empty()) return;
    for (std::size_t axis = 0; axis < part.dims().size(); ++axis)
      if (const FirstEqual first = known.copies_along(axis)) part.fold(axis, first);
    if (known.band) part.clip(*known.band);
    if (known.filled) part.clip(*known.filled);
    if (!known.rows.empty()) part = common(part, known.rows);
  }

  /// How much of a region a part of it is; of an expanded tensor by what differs. Of nothing it is nothing.
  [[nodiscard]] static double share_of(Region part, Region all, const detail::KnownElements* expanded) {
    for (std::size_t axis = 0; expanded && axis < all.dims().size(); ++axis) {
      const FirstEqual first = expanded->copies_along(axis);
      if (!first) continue;
      part.fold(axis, first);
      all.fold(axis, first);
    }
    return all.share() > 0 ? std::min(1.0, part.share() / all.share()) : 0;
  }

  void leaf(const Graph& graph, Values& values, const Node& node) {
    const std::vector<detail::KnownElements>& known = known_.at(&graph);
    LiveShare& share = shares_[&node] = {};
    std::vector<Region> parts, all;
    std::set<std::string> readers;
    bool any = node.outputs.empty(), whole = true, unread = false, has_rule = node.has_input(0);
    bool& conditional = share.conditional;
    const auto look = [&](const std::optional<ValueId>& id) {  // sizes that depend on data are the least
      if (id && (graph.value(*id).data_dependent || !knows_size(graph.value(*id)))) has_rule = false;
    };
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
      const Region wanted = parts.back();
      if (has_rule) leave_unknown(known[*output], parts.back());
      any = any || !parts.back().empty();
      if (parts.back() == wanted) continue;
      whole = false;
      readers.insert("'" + node.name + "' (" + node.op_type + ") makes elements that are known or equal");
    }
    if (any && unread) readers.insert("'" + node.name + "' (" + node.op_type + ") has a result that nothing reads");
    share.readers.assign(readers.begin(), readers.end());
    for (const auto& input : node.inputs)
      if (input) values[*input].conditional = values[*input].conditional || conditional;
    if (!any) share.flops = 0;
    const auto taken = any && node.has_output(0)
                           ? detail::taken_from_sequence(graph, node, values[*node.outputs[0]].part)
                           : std::nullopt;
    if (taken) {
      Needed needed{.part = taken->second, .readers = readers, .conditional = conditional};
      if (!needed.part.is_whole()) needed.readers.insert(reading(node, needed.part));
      need(graph, values, taken->first, needed);
    }
    if (!any || taken || detail::asks_for_no_element(node)) {
      share.inputs.assign(node.inputs.size(), 0);
      return;
    }
    const Layer layer = make_layer(node, graph);
    const Operands operands = benanza::operands(layer);
    // Where a layer does not say how much of an operand it touches, the share is that of the whole tensor.
    const auto touches_all = [&](std::size_t k) {
      if (k == 0) return !operands.inputs.empty() && !operands.inputs[0].touched;
      return !std::holds_alternative<op::Attention>(layer) && !std::holds_alternative<op::Where>(layer) &&
             !std::holds_alternative<op::Rotary>(layer);
    };
    const detail::SizedNode sized{node, graph, layer};
    const auto rule = has_rule ? detail::live_rule(sized) : std::nullopt;
    whole = whole && !detail::counts_less(sized);
    for (const auto& input : node.inputs)
      whole = whole && !(input && (known[*input].any() || graph.value(*input).sparse));
    const detail::SizedNode informed{node, graph, layer, known};
    whole = whole && !(has_rule && detail::equal_axes(informed));
    const detail::Needs most = detail::needs_of(sized, rule, all);
    const detail::Needs needs =
        whole ? most : detail::needs_of(informed, has_rule ? detail::live_rule(informed) : rule, parts);
    // A cache that attention hands on may lie in the memory of its parts: it makes no read of them certain.
    const bool hands_on = std::holds_alternative<op::Attention>(layer) && parts.size() > 1 && !whole;
    const auto computed = [](std::vector<Region> results) {
      for (std::size_t j = 1; j < std::min<std::size_t>(3, results.size()); ++j) results[j] = Region(results[j].dims());
      return results;
    };
    const detail::Needs most_reads = hands_on ? detail::needs_of(sized, rule, computed(all)) : most;
    const detail::Needs reads = hands_on ? detail::needs_of(informed, rule, computed(parts)) : needs;
    share.flops = most.flops > 0 ? std::min(1.0, needs.flops / most.flops) : needs.flops > 0 ? 1 : 0;
    if (share.flops == 0 && share.readers.empty() && cost(layer).flops.value > 0)
      share.readers.push_back("'" + node.name + "' (" + node.op_type + ") reads elements that are known or equal");
    for (std::size_t k = 0; k < node.inputs.size(); ++k) {
      const Region &full = most.inputs[k], &part = needs.inputs[k], &read = reads.inputs[k];
      if (!node.inputs[k]) {
        share.inputs.push_back(1);
        continue;
      }
      const detail::KnownElements& of_input = known[*node.inputs[k]];
      share.inputs.push_back(detail::certain_angles({node, graph, layer}, k) *
                             share_of(read, touches_all(k) ? Region::whole(read.dims()) : most_reads.inputs[k],
                                      of_input.expanded ? &of_input : nullptr));
      Needed needed{
          .part = part, .readers = part.is_whole() ? std::set<std::string>{} : readers, .conditional = conditional};
      if (!full.is_whole()) needed.readers.insert(reading(node, full));
      need(graph, values, *node.inputs[k], needed);
    }
  }

  /// What every branch needs of the values around them, since only one of them runs.
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

  /// What is needed of each pass's result, if this is needed of output `i`, which collects them.
  [[nodiscard]] static Needed of_each_pass(const Node& node, std::size_t i, std::size_t carried, const Needed& all) {
    const auto stacking = detail::stacking(node, i, carried, all.part.dims().size());
    Needed result = all;
    if (stacking) result.part = detail::of_each_pass(all.part, *stacking);
    return result;
  }

  /// Loop and Scan. What a pass needs of a carried value, the pass before has to make.
  void loop(const Graph& graph, Values& values, const Node& node) {
    const Graph& body = node.bodies[0].graph;
    const bool scan = node.op_type == "Scan";
    const std::size_t formals = body.inputs.size(), skip = scan ? (node.opset < 9 ? 1 : 0) : 2,
                      body_skip = scan ? 0 : 2, out_skip = scan ? 0 : 1;
    const auto scanned = scan ? static_cast<std::size_t>(node.attribute<std::int64_t>("num_scan_inputs", 0)) : 0;
    const std::size_t carried = formals - std::min(formals, body_skip + scanned);
    if (node.trip_count == 0) {  // the results are the initial values
      Values none = nothing(body);
      walk(body, none);
      for (std::size_t i = 0; i < std::min(carried, node.outputs.size()); ++i)
        if (node.outputs[i]) need(graph, values, node.inputs.at(i + skip).value(), values[*node.outputs[i]]);
      return;
    }
    Values wanted = nothing(body);  // what is needed of the body's results
    bool any = false;
    for (std::size_t i = 0; i < node.outputs.size() && i + out_skip < body.outputs.size(); ++i) {
      if (!node.outputs[i] || values[*node.outputs[i]].part.empty()) continue;
      any = true;
      const ValueId result = body.outputs[i + out_skip];
      const Needed& all = values[*node.outputs[i]];
      need(body, wanted, result, i < carried ? all : of_each_pass(node, i, carried, all));
    }
    if (any && !scan && !body.outputs.empty()) need(body, wanted, body.outputs[0]);  // whether there is another pass
    Values inner;
    for (std::size_t pass = 0; pass <= most_passes; ++pass) {
      inner = wanted;
      walk(body, inner);
      if (node.trip_count && static_cast<std::int64_t>(pass) + 1 >= *node.trip_count) break;  // no pass is before it
      bool more = false;
      for (std::size_t i = 0; i < carried && i + out_skip < body.outputs.size(); ++i) {
        const ValueId result = body.outputs[i + out_skip];
        const Region before = wanted[result].part;
        if (pass + 1 < most_passes) need(body, wanted, result, inner[body.inputs[i + body_skip]]);
        else if (!inner[body.inputs[i + body_skip]].part.empty()) need(body, wanted, result);
        more = more || !(wanted[result].part == before);
      }
      if (!more) break;
    }
    const std::optional<PassNeeds> passes = leave_passes(node, values, wanted, carried, body_skip, out_skip);
    if (passes) inner = passes->any;
    const bool may_be_skipped = any && !scan && detail::may_have_no_pass(graph, node);
    if (may_be_skipped) {
      Values none = nothing(body);
      for (Needed& value : none) value.conditional = true;
      walk(body, none);
      for (const auto& capture : body.captures)
        inner[capture.first] = {.part = Region(body.value(capture.first).dims), .conditional = true};
    }
    for (const auto& [in, out] : body.captures) need(graph, values, out, inner[in]);
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      if (!node.inputs[i] || !any) continue;
      const std::size_t formal = i - std::min(i, skip) + body_skip;
      if (i < skip || formal >= formals) {
        need(graph, values, *node.inputs[i]);
        continue;
      }
      Needed read = (passes && i - skip < carried ? passes->first : inner)[body.inputs[formal]];
      if (may_be_skipped) {  // without a pass it is the result
        const auto result = i - skip < node.outputs.size() ? node.outputs[i - skip] : std::nullopt;
        read.part = result ? common(read.part, values[*result].part) : Region(read.part.dims());
        read.conditional = true;
      }
      need(graph, values, *node.inputs[i], read);
    }
  }

  /// Passes of a loop that need the same of a body's results.
  struct Kind {
    Values needs{}, inner{};  ///< of the results; of all values
    std::map<const Node*, LiveShare> shares{};
    double passes = 0;
  };
  struct PassNeeds {
    Values first{}, any{};  ///< what the first pass needs, and what some pass does
  };

  /// Not every pass makes what some pass makes: the last one what is read behind the loop, those before it what the
  /// next one reads, and each what is needed of its collected results. Later passes do not run. Empty if the
  /// passes are not known. If there are too many kinds of passes, the rest do not count.
  std::optional<PassNeeds> leave_passes(const Node& node, const Values& values, const Values& wanted,
                                        std::size_t carried, std::size_t body_skip, std::size_t out_skip) {
    constexpr std::size_t most_kinds = 32, most_steps = 10'000;
    const Graph& body = node.bodies[0].graph;
    std::erase_if(passes_, [&body](const auto& each) { return each.first.first == &body; });
    if (!node.trip_count || *node.trip_count < 2) return std::nullopt;
    const std::int64_t trips = *node.trip_count;
    std::vector<std::pair<ValueId, Needed>> results;
    std::vector<Positions> made;  // the passes that make each of them
    std::int64_t last = 0;
    for (std::size_t i = 0; i < node.outputs.size() && i + out_skip < body.outputs.size(); ++i) {
      if (!node.outputs[i] || values[*node.outputs[i]].part.empty()) continue;
      const Needed& all = values[*node.outputs[i]];
      Positions passes;
      if (i < carried) {
        passes = Positions::run(trips - 1, trips);
      } else {
        const auto stacking = detail::stacking(node, i, carried, all.part.dims().size());
        if (!stacking || all.part.dims()[stacking->axis] != trips) return std::nullopt;
        passes = detail::passes_of(all.part, *stacking, trips);
      }
      last = std::max(last, passes.runs().back().end);
      results.emplace_back(body.outputs[i + out_skip], i < carried ? all : of_each_pass(node, i, carried, all));
      made.push_back(std::move(passes));
    }
    if (last == 0) return std::nullopt;
    const auto shares = shares_;
    const auto needed = needed_;
    const auto factors = passes_;
    std::vector<Kind> kinds;
    const auto alike = [&body](const Values& a, const Values& b) {
      const auto is_alike = [&](ValueId id) { return a[id].part == b[id].part; };
      return std::all_of(body.outputs.begin(), body.outputs.end(), is_alike);
    };
    const auto kind_of = [&](const Values& needs) {
      return std::find_if(kinds.begin(), kinds.end(), [&](const Kind& each) { return alike(each.needs, needs); });
    };
    Values handed = nothing(body);  // what the next pass needs of the results
    std::size_t steps = 0, at = 0;  // the kind
    const std::vector<Positions::Run> runs = detail::alike_passes(made, last);
    for (auto run = runs.rbegin(); run != runs.rend(); ++run)
      for (std::int64_t left = run->end - run->begin; left > 0;) {
        Values needs = handed;
        if (out_skip > 0) need(body, needs, body.outputs[0]);  // whether there is another pass
        for (std::size_t r = 0; r < results.size(); ++r)
          if (contains(made[r], Positions::run(run->begin, run->begin + 1)))
            need(body, needs, results[r].first, results[r].second);
        if (kinds.size() >= most_kinds && kind_of(needs) == kinds.end()) needs = nothing(body);
        auto kind = kind_of(needs);
        if (kind == kinds.end()) {
          kinds.push_back({.needs = needs, .inner = needs});
          kind = kinds.end() - 1;
          walk(body, kind->inner);
          kind->shares = std::exchange(shares_, shares);
        }
        Values before = nothing(body);
        for (std::size_t i = 0; i < carried && i + out_skip < body.outputs.size(); ++i)
          need(body, before, body.outputs[i + out_skip], kind->inner[body.inputs[i + body_skip]]);
        const std::int64_t count = alike(before, handed) || ++steps > most_steps ? left : 1;
        kind->passes += static_cast<double>(count);
        left -= count;
        handed = std::move(before);
        at = static_cast<std::size_t>(kind - kinds.begin());
      }
    needed_ = needed;
    passes_ = factors;
    if (kinds.size() > 1 || last < trips || !alike(kinds[0].needs, wanted))
      scale_passes(body, body, kinds, static_cast<double>(trips));
    PassNeeds result{kinds[at].inner, nothing(body)};
    for (const Kind& kind : kinds)
      for (ValueId id = 0; id < result.any.size(); ++id) need(body, result.any, id, kind.inner[id]);
    return result;
  }
  void scale_passes(const Graph& graph, const Graph& body, const std::vector<Kind>& kinds, double trips) {
    for (const Node& node : graph.nodes) {
      for (const Body& inner : node.bodies) scale_passes(inner.graph, body, kinds, trips);
      if (!node.bodies.empty()) continue;
      LiveShare& share = shares_.at(&node);
      LiveShare& factor = passes_[{&body, &node}];
      factor.outputs.assign(share.outputs.size(), 1);
      const auto scale = [&](double& all, double& by, const auto& of_kind) {
        double sum = 0;
        for (const Kind& kind : kinds) sum += of_kind(kind.shares.at(&node)) * kind.passes;
        by = all > 0 ? sum / trips / all : 1;
        all = sum / trips;
      };
      for (std::size_t k = 0; k < share.inputs.size(); ++k) {  // read once, if any pass reads it
        share.inputs[k] = 0;
        for (const Kind& kind : kinds) share.inputs[k] = std::max(share.inputs[k], kind.shares.at(&node).input(k));
      }
      scale(share.flops, factor.flops, [](const LiveShare& each) { return each.flops; });
      for (std::size_t k = 0; k < share.outputs.size(); ++k)
        scale(share.outputs[k], factor.outputs[k], [k](const LiveShare& each) { return each.output(k); });
    }
  }

  std::map<const Node*, LiveShare> shares_{};
  std::map<const Graph*, std::vector<double>> needed_{};
  std::map<const Graph*, std::vector<detail::KnownElements>> known_{};
  std::map<std::pair<const Graph*, const Node*>, LiveShare> passes_{};  // by what shares are less than those of a pass
};

}  // namespace benanza
