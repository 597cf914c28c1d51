// SPDX-License-Identifier: Apache-2.0
// LiveElements: how much of each node's operands and results some output of the model needs, from the outputs
// backwards. Where data choose what is read, and for operators without a rule, it is everything as soon as any result
// is needed.
#pragma once

#include <benanza/model/detail/live_recurrent.hpp>
#include <benanza/model/detail/live_rules.hpp>
#include <benanza/model/detail/live_windows.hpp>
#include <benanza/model/graph.hpp>
#include <benanza/model/layer.hpp>
#include <benanza/model/make_layer.hpp>
#include <benanza/model/model_layers.hpp>
#include <benanza/model/region.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace benanza {

namespace detail {

/// The rule of a node; nothing where it needs all of its operands.
[[nodiscard]] inline std::optional<LiveRule> live_rule(const SizedNode& at) {
  const std::string type = onnx_type(at.node);
  const Layer& layer = at.layer;
  if (std::holds_alternative<op::Recurrent>(layer)) return recurrence(at);
  if (!at.node.has_output(0)) return std::nullopt;
  if (type == "Reshape" || type == "Flatten" || type == "Squeeze" || type == "Unsqueeze") return reshape(at);
  if (type == "Transpose") return transposition(at);
  if (type == "DepthToSpace" || type == "SpaceToDepth") return blocks(at);
  if (type == "Slice") return slice(at);
  if (type == "Split" || type == "Concat") return joined(at, type == "Split");
  if (type == "Gather") return gather(at);
  if (type == "Pad") return padding(at);
  if (type == "Einsum") return einsum(at);
  if (type == "Identity" || type == "Dropout" || type == "Expand" || type == "Trilu" || type == "Cast")
    return elementwise(at);
  if (type == "Tile" || type == "Resize" || type == "Upsample" || type.starts_with("Scatter")) return same_axes(at);
  if (type.starts_with("Reduce") || type == "ArgMax" || type == "ArgMin") return reduction(at);
  if (type == "QuantizeLinear" || type == "DequantizeLinear") {
    if (at.node.attribute<std::int64_t>("block_size", 0) != 0) return std::nullopt;
    return elementwise(at, to_axis(at.node.attribute<std::int64_t>("axis", 1), at.y().size()));
  }
  if (std::holds_alternative<op::View>(layer) && at.x(0) == at.y()) return elementwise(at);
  if (std::holds_alternative<op::Rotary>(layer)) return rotation(at);
  if (std::holds_alternative<op::Unary>(layer) || std::holds_alternative<op::Binary>(layer) ||
      std::holds_alternative<op::Nary>(layer) || std::holds_alternative<op::Where>(layer))
    return elementwise(at);
  if (std::holds_alternative<op::BatchNorm>(layer)) return elementwise(at, 1);
  if (std::holds_alternative<op::Conv>(layer)) return convolution(at);
  if (std::holds_alternative<op::ConvTranspose>(layer)) return transposed_convolution(at);
  if (std::holds_alternative<op::Pool>(layer)) return pool(at);
  if (std::holds_alternative<op::MatMul>(layer)) return product(at);
  if (std::holds_alternative<op::Attention>(layer)) return attention(at);
  return normalization(at);
}

/// What a node needs of its operands, and the share of its arithmetic that this takes.
struct Needs {
  std::vector<Region> inputs{};
  double flops = 1;
};

[[nodiscard]] inline Needs needs_of(const SizedNode& at, const std::optional<LiveRule>& rule,
                                    const std::vector<Region>& outputs) {
  Needs result;
  for (std::size_t k = 0; k < at.node.inputs.size(); ++k) {
    result.inputs.emplace_back();
    if (!at.node.inputs[k]) continue;
    const Dims& x = at.x(k);
    Region region(x);
    for (std::size_t j = 0; rule && j < outputs.size(); ++j)
      for (const auto& y : outputs[j].boxes())
        for (auto& box : rule->operand(k, j, y)) region.add(std::move(box));
    result.inputs[k] = rule ? std::move(region) : Region::whole(x);
  }
  if (!rule || outputs.empty()) return result;
  result.flops =
      rule->flops ? rule->flops(outputs, result.inputs.empty() ? Region{} : result.inputs[0]) : outputs[0].share();
  return result;
}

}  // namespace detail

/// What some output of a model needs of each node. A graph without outputs needs everything.
class LiveElements {
 public:
  explicit LiveElements(const Graph& graph) {
    Values values = nothing(graph);
    for (const ValueId output : graph.outputs) need(graph, values, output);
    for (ValueId id = 0; graph.outputs.empty() && id < values.size(); ++id) need(graph, values, id);
    walk(graph, values);
  }

  /// The share of a node without bodies.
  [[nodiscard]] const LiveShare& of(const Node& node) const { return shares_.at(&node); }

 private:
  /// A part of a value, and who reads no more than a part of it.
  struct Needed {
    Region part{};
    std::set<std::string> readers{};
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
    if (there.part.empty()) return;
    if (there.part.dims() != graph.value(id).dims) return need(graph, values, id);
    values[id].part.add(there.part);
    for (const auto& reader : there.readers)
      if (values[id].readers.size() < most_readers) values[id].readers.insert(reader);
  }

  void walk(const Graph& graph, Values& values) {
    for (std::size_t n = graph.nodes.size(); n-- > 0;) {
      const Node& node = graph.nodes[n];
      if (node.bodies.empty()) leaf(graph, values, node);
      else if (node.op_type == "If") branch(graph, values, node);
      else loop(graph, values, node);
    }
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
    return "'" + node.name + "' (" + node.op_type + ") reads " + (text.empty() ? "a part" : text);
  }

  void leaf(const Graph& graph, Values& values, const Node& node) {
    LiveShare& share = shares_[&node] = {};
    std::vector<Region> parts, all;
    std::set<std::string> readers;
    bool any = node.outputs.empty(), whole = true, has_rule = node.has_input(0);
    const auto look = [&](const std::optional<ValueId>& id) {  // sizes that depend on data are the least
      if (id && (graph.value(*id).data_dependent || graph.value(*id).elements() == 0)) has_rule = false;
    };
    for (const auto& input : node.inputs) look(input);
    for (const auto& output : node.outputs) {
      look(output);
      parts.push_back(output ? values[*output].part : Region{});
      all.push_back(output ? Region::whole(graph.value(*output).dims) : Region{});
      if (!output) continue;
      share.outputs.push_back(parts.back().share());
      any = any || !parts.back().empty();
      if (parts.back().is_whole()) continue;
      whole = false;
      readers.insert(values[*output].readers.begin(), values[*output].readers.end());
    }
    share.readers.assign(readers.begin(), readers.end());
    if (!any) {
      share.flops = 0;
      share.inputs.assign(node.inputs.size(), 0);
      return;
    }
    const Layer layer = make_layer(node, graph);
    const auto rule = has_rule ? detail::live_rule({node, graph, layer}) : std::nullopt;
    const detail::Needs most = detail::needs_of({node, graph, layer}, rule, all);
    const detail::Needs needs = whole ? most : detail::needs_of({node, graph, layer}, rule, parts);
    share.flops = most.flops > 0 ? std::min(1.0, needs.flops / most.flops) : 1;
    for (std::size_t k = 0; k < node.inputs.size(); ++k) {
      const Region &full = most.inputs[k], &part = needs.inputs[k];
      share.inputs.push_back(node.inputs[k] && full.share() > 0 ? std::min(1.0, part.share() / full.share()) : 1);
      if (!node.inputs[k]) continue;
      Needed needed{.part = part, .readers = part.is_whole() ? std::set<std::string>{} : readers};
      if (!full.is_whole()) needed.readers.insert(reading(node, full));
      need(graph, values, *node.inputs[k], needed);
    }
  }

  void branch(const Graph& graph, Values& values, const Node& node) {
    if (node.has_input(0)) need(graph, values, *node.inputs[0]);
    for (const Body& body : node.bodies) {
      Values inner = nothing(body.graph);
      for (std::size_t i = 0; i < node.outputs.size() && i < body.graph.outputs.size(); ++i)
        if (node.outputs[i]) need(body.graph, inner, body.graph.outputs[i], values[*node.outputs[i]]);
      walk(body.graph, inner);
      for (const auto& [in, out] : body.graph.captures) need(graph, values, out, inner[in]);
    }
  }

  /// What is needed of some pass's result, of results that lie one behind the other.
  [[nodiscard]] static Needed of_each_pass(const Needed& all) {
    if (all.part.dims().empty()) return all;
    Needed result{.part = Region(std::span(all.part.dims()).subspan(1)), .readers = all.readers};
    for (const auto& box : all.part.boxes()) result.part.add(Box(box.begin() + 1, box.end()));
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
    Values wanted = nothing(body);  // what is needed of the body's results
    bool any = false;
    for (std::size_t i = 0; i < node.outputs.size() && i + out_skip < body.outputs.size(); ++i) {
      if (!node.outputs[i] || values[*node.outputs[i]].part.empty()) continue;
      any = true;
      const ValueId result = body.outputs[i + out_skip];
      const bool stacked = i >= carried && node.attribute<detail::Dims>("scan_output_axes", {}).empty();
      need(body, wanted, result, stacked ? of_each_pass(values[*node.outputs[i]]) : values[*node.outputs[i]]);
    }
    if (any && !scan && !body.outputs.empty()) need(body, wanted, body.outputs[0]);  // whether there is another pass
    Values inner;
    for (std::size_t pass = 0; pass <= most_passes; ++pass) {
      inner = wanted;
      walk(body, inner);
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
    for (const auto& [in, out] : body.captures) need(graph, values, out, inner[in]);
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      if (!node.inputs[i] || !any) continue;
      const std::size_t formal = i - std::min(i, skip) + body_skip;
      if (i < skip || formal >= formals) need(graph, values, *node.inputs[i]);
      else need(graph, values, *node.inputs[i], inner[body.inputs[formal]]);
    }
  }

  std::map<const Node*, LiveShare> shares_{};
};

/// The arithmetic of layers that none of the outputs needs, by who reads no more than a part; the most first.
[[nodiscard]] inline std::vector<DeadWork> dead_work(std::span<const Occurrence> layers) {
  std::map<std::vector<std::string>, DeadWork> by_readers;
  for (const auto& at : layers) {
    const Flops dead = (cost(at.layer).flops - at.needed.flops) * static_cast<double>(at.repeat);
    if (dead.value <= 0) continue;
    DeadWork& work = by_readers[at.live.readers];
    work.readers = at.live.readers;
    work.nodes.insert(work.nodes.end(), at.nodes.begin(), at.nodes.end());
    work.flops += dead;
  }
  std::vector<DeadWork> result;
  for (auto& [readers, work] : by_readers) result.push_back(std::move(work));
  std::stable_sort(result.begin(), result.end(),
                   [](const DeadWork& a, const DeadWork& b) { return a.flops > b.flops; });
  return result;
}

}  // namespace benanza
