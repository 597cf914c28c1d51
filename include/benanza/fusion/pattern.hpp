// SPDX-License-Identifier: Apache-2.0
// Pattern: looks at one layer of a LayerGraph and decides whether a group begins there. `apply` checks that a group is
// legal: a value that is used outside, or twice, is never absorbed unless the group's layer also has it as an output. A
// user's pattern is a few lines (examples/06_own_fusion.cpp).
#pragma once

#include <benanza/model/detail/layer_pool.hpp>
#include <benanza/model/layer_graph.hpp>

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace benanza {

/// A group: members in the order of the graph, the last of which computes the result, and the ways to compute all or
/// parts of it in one call. The first piece covers all members if there is a call for that.
struct Match {
  std::vector<std::size_t> members{};
  std::vector<Piece> pieces{};
  std::vector<std::size_t> kept{};  ///< members whose results are further outputs of the whole, in its order of outputs
  /// No call computes the whole. Pieces then count the occurrences of the single form that the members cover, and the
  /// group has the layer of the first piece.
  bool in_parts = false;
};

struct Pattern {
  std::string name{};
  using Matcher = std::function<std::optional<Match>(const LayerGraph& graph, std::size_t at)>;
  /// The group that layer `at` begins or ends, if there is one.
  Matcher match{};
  /// In place of `match`, for patterns that look into groups: makes it for one pass over a graph, whose single form is
  /// given.
  std::function<Matcher(const LayerGraph& single)> over{};
};

namespace detail {

/// The only layer that uses a tensor, if it is used once and does not leave the graph.
[[nodiscard]] inline std::optional<std::size_t> only_consumer(const LayerGraph& graph, TensorId id) {
  const auto& tensor = graph.tensors[id];
  if (tensor.output || tensor.consumers.size() != 1) return std::nullopt;
  return tensor.consumers[0];
}
/// The only layer that computes a tensor.
[[nodiscard]] inline std::optional<std::size_t> only_producer(const LayerGraph& graph,
                                                              const std::optional<TensorId>& id) {
  if (!id || graph.tensors[*id].producers.size() != 1) return std::nullopt;
  return graph.tensors[*id].producers[0];
}

[[nodiscard]] inline bool reads_from(const Occurrence& at, std::size_t producer) {
  return std::any_of(at.predecessors.begin(), at.predecessors.end(),
                     [&](const Predecessor& edge) { return edge.from == producer; });
}

/// Whether a layer is one of the members of a group. They are in order.
[[nodiscard]] inline bool has_member(const Match& match, std::size_t layer) {
  return std::binary_search(match.members.begin(), match.members.end(), layer);
}

/// The member whose position the group takes: usually the last one. If a layer before that reads a kept result, it is
/// the first member, provided that it waits for everything that the others wait for, otherwise the last one before that
/// layer. Nothing if there is no valid position.
[[nodiscard]] inline std::optional<std::size_t> place_of(const LayerGraph& graph, const Match& match) {
  const std::size_t first = match.members.front(), last = match.members.back();
  std::vector<std::size_t> kept = match.kept;
  std::sort(kept.begin(), kept.end());
  const auto reads_kept = [&](std::size_t layer) {
    return !has_member(match, layer) &&
           std::any_of(
               graph.layers[layer].predecessors.begin(), graph.layers[layer].predecessors.end(),
               [&](const Predecessor& edge) { return std::binary_search(kept.begin(), kept.end(), edge.from); });
  };
  std::size_t before = kept.empty() ? last : kept.front() + 1;  // the first layer that reads a kept result
  while (before < last && !reads_kept(before)) ++before;
  if (before >= last) return last;
  std::size_t behind = 0;  // everything that the group waits for
  bool first_waits = true;
  for (auto member : match.members)
    for (const auto& edge : graph.layers[member].predecessors) {
      if (has_member(match, edge.from)) continue;
      behind = std::max(behind, edge.from + 1);
      first_waits = first_waits && reads_from(graph.layers[first], edge.from);
    }
  if (first_waits) return first;
  const auto next = std::lower_bound(match.members.begin(), match.members.end(), before);
  return next != match.members.begin() && *(next - 1) >= behind ? std::optional(*(next - 1)) : std::nullopt;
}

/// How many occurrences of the single form the members cover.
[[nodiscard]] inline std::size_t covered(const LayerGraph& graph, const Match& match) {
  std::size_t count = 0;
  for (auto member : match.members) count += graph.layers[member].members.size();
  return count;
}

/// Whether all results except those of the last member and the kept ones stay inside the group, the group comes before
/// all layers that read its results, and all members run equally often in the same branches.
[[nodiscard]] inline bool is_legal(const LayerGraph& graph, const Match& match, const std::vector<bool>& taken) {
  const std::size_t size = match.members.size();
  if (size < 2 || match.pieces.empty() || match.members.back() >= graph.layers.size() ||
      std::adjacent_find(match.members.begin(), match.members.end(), std::greater_equal<>()) != match.members.end())
    return false;
  if (!match.in_parts && match.pieces[0].count != size) return false;
  const std::size_t all = match.in_parts ? covered(graph, match) : size;
  for (const auto& piece : match.pieces)
    if (piece.count == 0 || piece.first > all || piece.count > all - piece.first || !is_consistent(piece.layer))
      return false;
  std::vector<std::size_t> kept = match.kept;
  std::sort(kept.begin(), kept.end());
  const auto& last = graph.layers[match.members.back()];
  for (auto member : match.members) {
    const auto& layer = graph.layers[member];
    if (taken[member] || layer.repeat != last.repeat || layer.serial_repeat != last.serial_repeat ||
        layer.branches != last.branches)
      return false;
    if (member == match.members.back()) continue;
    if (std::binary_search(kept.begin(), kept.end(), member)) continue;
    for (auto output : layer.outputs) {
      if (graph.tensors[output].output) return false;
      for (auto consumer : graph.tensors[output].consumers)
        if (!has_member(match, consumer)) return false;
    }
  }
  return place_of(graph, match).has_value();
}

/// The longest prefix of a match that is one call and legal: if another group has taken the end, or the end is used
/// outside, the rest remains valid.
[[nodiscard]] inline std::optional<Match> legal_part(const LayerGraph& graph, Match match,
                                                     const std::vector<bool>& taken) {
  while (!is_legal(graph, match, taken)) {
    if (match.in_parts) return std::nullopt;
    std::size_t shorter = 0;
    for (const auto& piece : match.pieces)
      if (piece.first == 0 && piece.count < match.members.size()) shorter = std::max(shorter, piece.count);
    if (shorter < 2) return std::nullopt;
    match.members.resize(shorter);
    match.kept.clear();
    std::erase_if(match.pieces, [&](const Piece& piece) { return piece.first + piece.count > shorter; });
    std::stable_partition(match.pieces.begin(), match.pieces.end(),
                          [&](const Piece& piece) { return piece.count == shorter; });
  }
  return match;
}

/// One occurrence for a group, in terms of `graph`; edges still name layers of `graph`.
[[nodiscard]] inline Occurrence merge(const LayerGraph& graph, const Match& match) {
  Occurrence group{.layer = match.pieces[0].layer,
                   .repeat = graph.layers[match.members[0]].repeat,
                   .serial_repeat = graph.layers[match.members[0]].serial_repeat,
                   .branches = graph.layers[match.members[0]].branches};
  std::vector<std::size_t> offset{0};
  for (auto member : match.members) offset.push_back(offset.back() + graph.layers[member].members.size());
  for (const auto& piece : match.pieces) {
    if (match.in_parts) group.pieces.push_back(piece);
    else
      group.pieces.push_back(
          {offset[piece.first], offset[piece.first + piece.count] - offset[piece.first], piece.layer});
  }
  std::set<TensorId> read;
  std::set<std::size_t> waited_for;
  for (std::size_t m = 0; m < match.members.size(); ++m) {
    const Occurrence& part = graph.layers[match.members[m]];
    group.nodes.insert(group.nodes.end(), part.nodes.begin(), part.nodes.end());
    group.members.insert(group.members.end(), part.members.begin(), part.members.end());
    for (const auto& piece : part.pieces) group.pieces.push_back({piece.first + offset[m], piece.count, piece.layer});
    for (const auto& input : part.inputs) {
      const auto maker = input ? only_producer(graph, input) : std::nullopt;
      if (input && !(maker && has_member(match, *maker)) && read.insert(*input).second) group.inputs.push_back(input);
    }
    for (auto edge : part.predecessors) {
      if (has_member(match, edge.from) || !waited_for.insert(edge.from).second) continue;
      edge.late = edge.late || m > 0;
      group.predecessors.push_back(edge);
    }
  }
  group.outputs = graph.layers[match.members.back()].outputs;
  for (auto member : match.kept) {
    const auto& outputs = graph.layers[member].outputs;
    group.outputs.insert(group.outputs.end(), outputs.begin(), outputs.end());
  }
  return group;
}

/// Applies one pattern everywhere, without overlap.
[[nodiscard]] inline LayerGraph apply(LayerGraph graph, const Pattern& pattern, const LayerGraph& single) {
  const Pattern::Matcher match_at = pattern.over ? pattern.over(single) : pattern.match;
  std::vector<bool> taken(graph.layers.size(), false);
  LayerPool pool;
  std::map<std::size_t, Match> groups;  // by the member whose position the group takes
  for (std::size_t i = 0; i < graph.layers.size(); ++i) {
    if (taken[i]) continue;
    auto match = match_at(graph, i);
    if (match) match = legal_part(graph, std::move(*match), taken);
    if (!match) continue;
    for (auto& piece : match->pieces) piece.layer = pool.shared(piece.layer);
    for (auto member : match->members) taken[member] = true;
    const std::size_t place = *place_of(graph, *match);
    groups.emplace(place, std::move(*match));
  }
  if (groups.empty()) return graph;
  std::vector<Occurrence> layers;
  layers.reserve(graph.layers.size());
  std::vector<std::size_t> moved(graph.layers.size(), 0);  // old index -> new
  for (std::size_t i = 0; i < graph.layers.size(); ++i) {
    const auto group = groups.find(i);
    if (taken[i] && group == groups.end()) continue;
    moved[i] = layers.size();
    if (group != groups.end())
      for (auto member : group->second.members) moved[member] = moved[i];
    layers.push_back(group == groups.end() ? std::move(graph.layers[i]) : merge(graph, group->second));
  }
  graph.layers = std::move(layers);
  for (auto& layer : graph.layers)
    for (auto& edge : layer.predecessors) edge.from = moved[edge.from];
  for (auto& tensor : graph.tensors) {
    for (auto& producer : tensor.producers) producer = moved[producer];
    tensor.consumers.clear();
  }
  for (std::size_t i = 0; i < graph.layers.size(); ++i)
    for (const auto& input : graph.layers[i].inputs)
      if (input) graph.tensors[*input].consumers.push_back(i);
  return graph;
}

}  // namespace detail

}  // namespace benanza
