// SPDX-License-Identifier: Apache-2.0
// What attention needs of its operands for a part of its results.
#pragma once

#include <benanza/model/detail/live_rules.hpp>
#include <benanza/model/detail/live_windows.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace benanza::detail {

/// The columns of the values from which columns of the result are summed: `group` query heads share one head of values.
[[nodiscard]] inline Positions value_columns(const Positions& at, std::int64_t columns, std::int64_t group) {
  std::vector<Positions::Run> runs;
  for (const auto& run : at.runs())
    for (std::int64_t head = run.begin / columns; head * columns < run.end; ++head) {
      const std::int64_t back = (head - head / group) * columns;
      runs.push_back({std::max(run.begin, head * columns) - back, std::min(run.end, (head + 1) * columns) - back});
    }
  return Positions(std::move(runs));
}

/// What a cache that attention returns contains of its operands: the older cache, followed by the keys or values of the
/// call. Biases and angles that change these are separate operands.
[[nodiscard]] inline std::vector<Box> held_in_cache(const SizedNode& at, std::size_t k, std::size_t j, const Box& y) {
  const auto& node = at.node;
  const Dims &x = at.x(k), &cache = at.y(j);
  const std::vector<std::size_t> held = op::Attention::cached_inputs(node, j);
  Box box = whole_box(x);
  if (std::find(held.begin(), held.end(), k) == held.end()) {
    const bool beside = node.op_type == "MultiHeadAttention"    ? k == 3
                        : node.op_type == "GroupQueryAttention" ? k > 4 && k < 10
                                                                : false;
    return beside ? std::vector<Box>{box} : std::vector<Box>{};
  }
  if (x.size() == 5 && cache.size() == 4) {  // batch, tokens, heads, operands, depth
    const auto operand = static_cast<std::int64_t>(j) + x[3] - 3;
    return {{y[0], stepped(y[2], x[1] - cache[2], 1, x[1]), y[1], Positions::run(operand, operand + 1), y[3]}};
  }
  if (x.size() != 4 || cache.size() != 4) return {box};
  for (const std::size_t i : {0U, 1U, 3U})
    if (x[i] == cache[i]) box[i] = y[i];
  box[2] = stepped(y[2], k == held[0] ? 0 : x[2] - cache[2], 1, x[2]);
  return {box};
}

/// The parts of packed rows (queries, keys and values of a token side by side) that columns of some queries' results
/// need.
[[nodiscard]] inline std::vector<Box> packed_rows(const op::Attention& layer, const Dims& x, const Box& y,
                                                  const Positions& seen_keys, bool one_key, bool filled_by_data) {
  const std::int64_t columns = layer.v[3], group = layer.q[1] / layer.k[1], queries = layer.q[1] * layer.q[3],
                     keys = layer.k[1] * layer.k[3];
  if (x[2] != queries + keys + layer.v[1] * columns) return {whole_box(x)};
  const Positions seen =
      x[1] == layer.k[2] || filled_by_data ? seen_keys : Positions::whole(x[1]);  // else after a cache
  const auto from = [&x](std::int64_t first, const Positions& at) { return stepped(at, first, 1, x[2]); };
  std::vector<Box> boxes{{y[0], seen, from(queries + keys, value_columns(y[2], columns, group))}};
  if (one_key) return boxes;
  boxes.push_back({y[0], y[1], channels_read(y[2], columns, layer.q[3])});
  boxes.push_back({y[0], seen, from(queries, channels_read(y[2], group * columns, layer.k[3]))});
  return boxes;
}

/// The same for packed heads: batch, tokens, heads, then keys and values, or queries in front of these, and depth.
[[nodiscard]] inline std::vector<Box> packed_heads(const op::Attention& layer, const Dims& x, const Box& y,
                                                   const Positions& seen_keys, bool one_key) {
  const std::int64_t columns = layer.v[3], operands = x[3];
  const Positions seen = x[1] == layer.k[2] ? seen_keys : Positions::whole(x[1]),  // else after a cache
      heads = channels_read(y[2], columns, 1);
  const auto operand = [](std::int64_t i) { return Positions::run(i, i + 1); };
  std::vector<Box> boxes;
  for (Box& of_heads : unfolded(y[2], Dims{x[2], columns}))
    boxes.push_back({y[0], seen, std::move(of_heads[0]), operand(operands - 1), std::move(of_heads[1])});
  if (one_key) return boxes;
  boxes.push_back({y[0], seen, heads, operand(operands - 2), Positions::whole(x[4])});
  if (operands == 3) boxes.push_back({y[0], y[1], heads, operand(0), Positions::whole(x[4])});
  return boxes;
}

/// Whether data determine how long the sequences of several requests are, although it is known how long the longest one
/// is. The layer has all of them as long as that one. Floors count one of them, and one value of each other one, since
/// the weight of an only key is 1.
[[nodiscard]] inline bool lengths_are_data(const Node& node, const Graph& graph) {
  return node.op_type == "GroupQueryAttention" && node.has_input(5) && !graph.input(node, 5).literal &&
         !graph.input(node, 0).dims.empty() && graph.input(node, 0).dims[0] > 1 &&
         !op::Attention::is_filled_by_data(node, graph);
}

/// Whether all keys (input 1) or values (input 2) of a sequence are equal.
[[nodiscard]] inline bool has_equal_tokens(const SizedNode& at, std::size_t k, std::size_t cache) {
  const bool turns = at.node.op_type == "GroupQueryAttention" && k == 1;  // it may rotate keys
  if (turns || !at.node.has_input(2) || at.node.has_input(cache)) return false;
  const FirstEqual equal = at.known_x(k).copies_along(at.x(k).size() - 2);
  return equal && std::all_of(equal->begin(), equal->end(), [](auto p) { return p == 0; });
}

/// The additions of values for a part of a result if all weights of a query are equal. Queries that see all keys have
/// the same sum, and a query that sees more keys than another one adds to its sum.
[[nodiscard]] inline double sums_of_values(const op::Attention& layer, const Region& y, std::size_t tokens) {
  if (layer.causal || layer.before >= 0 || layer.after >= 0) return y.count();
  Region sums(y.dims());
  for (Box box : y.certain()) {
    box[tokens] = Positions::run(0, box[tokens].empty() ? 0 : 1);
    sums.add(std::move(box));
  }
  return sums.count() * static_cast<double>(layer.k[2]);
}

/// The queries that see one key. Its weight is 1, whatever the score is.
[[nodiscard]] inline Positions sees_one_key(const op::Attention& layer, const std::optional<Band>& visible) {
  constexpr std::int64_t most_queries = 1 << 20;
  std::vector<Positions::Run> runs;
  for (std::int64_t q = 0; q < layer.q[2] && layer.q[2] <= most_queries; ++q) {
    const std::int64_t first = std::max(layer.first_key(q), visible ? q + visible->least : 0),
                       last = std::min(layer.last_key(q), visible ? q + visible->most + 1 : layer.k[2]);
    if (last - first == 1) runs.push_back({q, q + 1});
  }
  return runs.size() <= Positions::most_runs ? Positions(std::move(runs)) : Positions{};
}

/// What scores that attention returns (its fourth result) contain of its operands: queries and keys, not values. After
/// a softmax, all keys of a query count. Of hidden scores and of keys after a cache, nothing is certain.
[[nodiscard]] inline std::vector<Box> of_scores(const SizedNode& at, const op::Attention& layer, std::size_t k,
                                                const Box& y) {
  static constexpr std::size_t heads = 1, queries = 2, keys = 3;
  static constexpr std::int64_t raw = 0, weights = 3;
  const Dims& x = at.x(k);
  if (y == whole_box(at.y(3))) return k == 2 || k == 5 ? std::vector<Box>{} : std::vector<Box>{whole_box(x)};
  const auto mode = at.node.attribute<std::int64_t>("qk_matmul_output_mode", raw);
  const bool hides = layer.causal || layer.before >= 0 || layer.after >= 0 || !layer.mask.empty();
  if (k > 1 || y.size() != 4 || (x.size() != 3 && x.size() != 4) || (mode != raw && hides) ||
      (mode == weights && layer.k[2] == 1) || (k == 1 && x[x.size() - 2] != layer.k[2]))
    return {};
  const std::int64_t group = k == 1 ? layer.q[1] / layer.k[1] : 1;
  Box result = whole_box(x);
  result[0] = y[0];
  if (x.size() == 4) result[1] = channels_read(y[heads], group, 1);
  else result[2] = channels_read(y[heads], group, layer.q[3]);
  if (k == 0) result[x.size() - 2] = y[queries];
  else if (mode != weights) result[x.size() - 2] = y[keys];
  return {result};
}

/// Queries follow the result. Of keys and values, those that these queries see are needed; of heads, those that are
/// read; of values, the columns. Queries, keys and values of a token may be in one row. Scores need no values, and a
/// cache that is returned needs what it contains. If only data tell how much of a cache is filled, one key is certain.
[[nodiscard]] inline std::optional<LiveRule> attention(const SizedNode& at) {
  const auto& node = at.node;
  const auto& layer = std::get<op::Attention>(at.layer);
  const bool packed = !node.has_input(1) && !node.has_input(2);
  if (!packed && !node.has_input(1)) return std::nullopt;
  const std::size_t rank = at.y().size(), q_rank = at.x(0).size();
  if ((rank != 3 && rank != 4) || (packed ? rank != 3 || (q_rank != 3 && q_rank != 5) : q_rank != rank) ||
      (!packed && !node.has_input(2) && (rank != 3 || at.x(1).size() != 5)))
    return std::nullopt;
  const std::size_t tokens = rank - 2, mask = node.domain.empty() ? 3 : node.op_type == "MultiHeadAttention" ? 5 : 10;
  const std::int64_t columns = layer.v[3], group = layer.q[1] / layer.k[1];
  if (at.y().back() != (rank == 4 ? columns : layer.q[1] * columns)) return std::nullopt;
  const bool filled_by_data = !at.known.empty() && op::Attention::is_filled_by_data(node, at.graph),
             lengths_by_data = !at.known.empty() && lengths_are_data(node, at.graph);
  std::optional<Band> visible;  // the pairs that a constant mask leaves visible
  if (const KnownElements& hidden = at.known_x(mask);
      hidden.band && (layer.mask_type ? hidden.outside == 0 : hidden.outside <= masked_score)) {
    const std::size_t mask_rank = at.x(mask).size();
    if (hidden.band->row + 2 == mask_rank && hidden.band->column + 1 == mask_rank &&
        hidden.band->band.reaches_each_row(layer.q[2], layer.k[2]))
      visible = hidden.band->band;
  }
  const auto seen_keys = [&layer, tokens, visible](const Box& y, bool filled_by_data) {
    if (filled_by_data) return Positions::run(0, y[tokens].empty() ? 0 : 1);
    std::vector<Positions::Run> runs;
    for (const auto& run : y[tokens].runs())
      if (run.begin < run.end) runs.push_back({layer.first_key(run.begin), layer.last_key(run.end - 1)});
    const Positions keys(std::move(runs));
    return visible && !y[tokens].empty() ? common(keys, reached(y[tokens], *visible)) : keys;
  };
  const std::size_t cache = op::Attention::cached_inputs(node, 1).front();  // keys of earlier calls, then values
  // Equal values have a weight of 1 together, and the only key of a query has it, whatever its score is.
  const bool unmasked = layer.mask.empty() && layer.scores == op::Scores::none;
  const bool one_key = unmasked && (layer.seen_keys() == 1 || has_equal_tokens(at, 2, cache));
  const bool equal_keys = !one_key && unmasked && has_equal_tokens(at, 1, cache);
  const bool asks_alone = !at.known.empty() && (unmasked || (visible && layer.scores == op::Scores::none)) &&
                          !filled_by_data && !lengths_by_data && !one_key && !equal_keys;
  const Positions alone = asks_alone ? sees_one_key(layer, visible) : Positions{};
  // `filled_by_data`: one key is certain. `one_key`: the results do not depend on scores.
  const auto operand_of = [at, &layer, rank, tokens, mask, columns, group, packed, seen_keys, cache](
                              std::size_t k, std::size_t j, const Box& y, bool filled_by_data,
                              bool one_key) -> std::vector<Box> {
    const Dims& x = at.x(k);
    Box result = whole_box(x);
    if (j == 1 || j == 2) return held_in_cache(at, k, j, y);
    if (j > 2) return of_scores(at, layer, k, y);
    if (x.size() == 5 && k < 2) return packed_heads(layer, x, y, seen_keys(y, filled_by_data), one_key);
    if (packed && k == 0) return packed_rows(layer, x, y, seen_keys(y, filled_by_data), one_key, filled_by_data);
    if (one_key && (k < 2 || k == mask)) return {};
    if (k == 0) {
      FollowedAxes axes(rank, whole_axis);
      for (std::size_t i = 0; i + 1 < rank; ++i) axes[i] = i;
      Box queries = follow(axes, x, at.y(), y);
      if (rank == 3) queries.back() = channels_read(y.back(), columns, layer.q[3]);
      return {queries};
    }
    if (k == mask && x.size() <= 4) {  // batch heads queries keys
      const FollowedAxes all{0, rank == 4 ? 1 : whole_axis, tokens, whole_axis};
      Box pairs = follow(FollowedAxes(all.end() - static_cast<std::ptrdiff_t>(x.size()), all.end()), x, at.y(), y);
      if (filled_by_data && !x.empty()) pairs.back() = common(pairs.back(), seen_keys(y, filled_by_data));
      return {pairs};
    }
    const bool of_call = k == 1 || k == 2, cached = (k == cache || k == cache + 1) && x.size() == 4;
    if (filled_by_data && cached) return {};  // the key of the call is the one that is certain
    if ((!of_call && !cached) || (x.size() != 3 && x.size() != 4) || x[0] != at.y()[0]) return {result};
    result[0] = y[0];
    const auto heads_read = [&](std::int64_t each) {  // heads of keys, with `each` columns per head
      return rank == 4 ? channels_read(y[1], group, each) : channels_read(y.back(), group * columns, each);
    };
    if (x.size() == 4) result[1] = heads_read(1);
    else result[2] = heads_read(k == 1 ? layer.k[3] : columns);
    if ((k == 2 || k == cache + 1) && x.size() == rank)
      result.back() = rank == 4 ? y.back() : value_columns(y.back(), columns, group);
    const auto& inputs = at.graph.inputs;
    if (filled_by_data && at.node.domain.empty() &&
        std::find(inputs.begin(), inputs.end(), *at.node.inputs[k]) == inputs.end())
      return {};  // the key may be the one that was just written
    if (of_call && (x[x.size() - 2] == layer.k[2] || filled_by_data))
      result[x.size() - 2] = seen_keys(y, filled_by_data);  // no cache before them
    return {result};
  };
  const auto operand = [operand_of, filled_by_data, lengths_by_data, no_scores = one_key || equal_keys, alone, tokens,
                        batch = layer.q[0]](std::size_t k, std::size_t j, const Box& y) -> std::vector<Box> {
    if (j == 0 && !alone.empty() && without(y[tokens], alone).empty()) return operand_of(k, j, y, false, true);
    if (!lengths_by_data || j > 0) return operand_of(k, j, y, filled_by_data, no_scores);
    Box longest = y, others = y;
    const std::int64_t first = y[0].empty() ? 0 : y[0].runs().front().begin;
    if (y[0].count() > 1 && y[0].count() == batch) longest[0] = common(y[0], Positions::run(first, first + 1));
    else longest[0] = {};
    others[0] = without(y[0], longest[0]);
    std::vector<Box> boxes;
    if (!longest[0].empty()) boxes = operand_of(k, j, longest, false, no_scores);
    for (Box& box : operand_of(k, j, others, true, true)) boxes.push_back(std::move(box));
    return boxes;
  };
  const auto pairs_of = [&layer, visible](const Positions::Run& run) {
    double pairs = 0;
    for (auto q = run.begin; q < run.end; ++q) {
      const std::int64_t first = std::max(layer.first_key(q), visible ? q + visible->least : 0),
                         last = std::min(layer.last_key(q), visible ? q + visible->most + 1 : layer.k[2]);
      pairs += static_cast<double>(std::max<std::int64_t>(0, last - first));
    }
    return pairs;
  };
  const double left = filled_by_data                     ? static_cast<double>(layer.q[2]) / layer.pairs()
                      : lengths_by_data                  ? 1 / static_cast<double>(layer.q[0])
                      : visible && layer.q[2] <= 1 << 20 ? pairs_of({0, layer.q[2]}) / layer.pairs()
                                                         : 1;
  // Scores of a pair and a head, which every column of the head needs, and the columns that follow from them.
  const double all_pairs = static_cast<double>(layer.q[0] * layer.q[1]) * layer.pairs();
  const double least = layer.arithmetic().flops - layer.saved_flops();
  const double of_scores = all_pairs > 0 ? least / all_pairs - 2 * static_cast<double>(columns) : 0.0;
  const auto flops = [&layer, tokens, rank, visible, pairs_of, left, columns, one_key, equal_keys, alone, least,
                      of_scores](std::span<const Region> y, const Region&) {
    if (one_key) return 0.0;
    if (equal_keys) return sums_of_values(layer, y[0], tokens) / least;
    const bool bounded = layer.causal || layer.before >= 0 || layer.after >= 0 || visible;
    const auto measured = [&](const Region& region, bool scores) {
      return region.measure([&](std::size_t i, const Positions& p) -> double {
        if (i + 1 == rank)
          return scores ? of_scores * static_cast<double>(channels_read(p, columns, 1).count())
                        : 2 * static_cast<double>(p.count());
        if (i != tokens || !bounded || p.count() > 1 << 20) return static_cast<double>(p.count());
        double pairs = 0;
        for (const auto& run : p.runs()) pairs += pairs_of(run);
        return pairs;
      });
    };
    Region heads(y[0].dims()), results(y[0].dims());
    for (Box box : y[0].certain()) {
      if (!alone.empty() && without(box[tokens], alone).empty()) continue;
      results.add(box);
      box.back() = channels_read(box.back(), columns, columns);
      heads.add(std::move(box));
    }
    const Region whole = Region::whole(y[0].dims());
    const double all = measured(whole, true) + measured(whole, false);
    return all > 0 ? left * (measured(heads, true) + measured(alone.empty() ? y[0] : results, false)) / all : 1.0;
  };
  return LiveRule{.operand = operand, .flops = flops};
}

}  // namespace benanza::detail
