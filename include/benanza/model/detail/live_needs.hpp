// SPDX-License-Identifier: Apache-2.0
// What a node with any operator needs of its operands for parts of its results.
#pragma once

#include <benanza/model/detail/known_bands.hpp>
#include <benanza/model/detail/known_copies.hpp>
#include <benanza/model/detail/known_distinct.hpp>
#include <benanza/model/detail/known_few.hpp>
#include <benanza/model/detail/known_zeros.hpp>
#include <benanza/model/detail/live_attention.hpp>
#include <benanza/model/detail/live_choices.hpp>
#include <benanza/model/detail/live_experts.hpp>
#include <benanza/model/detail/live_gradients.hpp>
#include <benanza/model/detail/live_items.hpp>
#include <benanza/model/detail/live_movement.hpp>
#include <benanza/model/detail/live_products.hpp>
#include <benanza/model/detail/live_recurrent.hpp>
#include <benanza/model/detail/live_resize.hpp>
#include <benanza/model/detail/live_rotary.hpp>
#include <benanza/model/detail/live_rules.hpp>
#include <benanza/model/detail/live_samples.hpp>
#include <benanza/model/detail/live_tables.hpp>
#include <benanza/model/detail/live_windows.hpp>
#include <benanza/model/detail/moved_copies.hpp>
#include <benanza/operators/lookup.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <ranges>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace benanza::detail {

/// The rule of a node that changes a few rows of an operand. The other operands are needed for these rows.
[[nodiscard]] inline LiveRule updated_rows(const Update& update, LiveRule rule) {
  rule.operand = [update, of_all = rule.operand](std::size_t k, std::size_t j, const Box& y) -> std::vector<Box> {
    if (k == update.kept) return of_all(k, j, y);
    Box rows = y;
    rows[update.rows.axis] = few_of(update.rows, y[update.rows.axis]);
    return of_all(k, j, rows);
  };
  rule.flops = [update](std::span<const Region> y, const Region&) {
    return update.replaces ? 0.0 : y[0].share() * update.share();
  };
  return rule;
}

/// The rule of a sum of several tensors, some of which are zeros.
[[nodiscard]] inline LiveRule sum_of_some(const SizedNode& at) {
  LiveRule rule = elementwise(at);
  double added = -1;
  for (std::size_t k = 0; k < at.node.inputs.size(); ++k) {
    const auto few = at.known_x(k).few;
    if (!few || few->count > 0 || few->rest != 0) ++added;
  }
  rule.flops = [share = std::max(0.0, added) / static_cast<double>(at.node.inputs.size() - 1)](
                   std::span<const Region> y, const Region&) { return y[0].share() * share; };
  return rule;
}

/// The rule of a node without another one: all of a result needs all operands, and of a part nothing is certain.
[[nodiscard]] inline LiveRule whole_or_nothing(const SizedNode& at) {
  return {.operand = [at](std::size_t k, std::size_t j, const Box& y) -> std::vector<Box> {
            return y == whole_box(at.y(j)) ? only(whole_box(at.x(k))) : std::vector<Box>{};
          },
          .flops =
              [](std::span<const Region> y, const Region&) {
                return std::any_of(y.begin(), y.end(), [](const Region& each) { return each.is_whole(); }) ? 1.0 : 0.0;
              }};
}

/// The rule that follows from the layer of a node. Empty: there is none.
[[nodiscard]] inline std::optional<LiveRule> rule_of_layer(const SizedNode& at) {
  const Layer& layer = at.layer;
  if (std::holds_alternative<op::View>(layer) && at.x(0) == at.y()) return elementwise(at);
  if (repeats_operand(at.node)) return repeated_operand(at);
  if (decides(at.node)) return decision(at);
  if (std::holds_alternative<op::Rotary>(layer)) return rotation(at);
  if (std::holds_alternative<op::Where>(layer)) return choice(at);
  if (at.facts.neutral == 0 && std::holds_alternative<op::Nary>(layer)) return sum_of_some(at);
  if (std::holds_alternative<op::Unary>(layer) || std::holds_alternative<op::Binary>(layer) ||
      std::holds_alternative<op::Nary>(layer))
    return elementwise(at);
  if (std::holds_alternative<op::BatchNorm>(layer)) return elementwise(at, 1);
  if (std::holds_alternative<op::Conv>(layer)) return convolution(at);
  if (std::holds_alternative<op::ConvTranspose>(layer)) return transposed_convolution(at);
  if (std::holds_alternative<op::Pool>(layer)) return pool(at);
  if (std::holds_alternative<op::MatMul>(layer)) return product(at);
  if (std::holds_alternative<op::Attention>(layer)) return attention(at);
  if (std::holds_alternative<op::Loss>(layer)) return loss(at);
  if (std::holds_alternative<op::NormGradient>(layer)) return norm_gradient(at);
  if (std::holds_alternative<op::SoftmaxGradient>(layer)) return softmax_gradient(at);
  if (std::holds_alternative<op::GatherGradient>(layer)) return gather_gradient(at);
  if (std::holds_alternative<op::Softmax>(layer) && known_few(at))
    return elementwise(at);  // hidden scores are not read
  if (std::holds_alternative<op::Opaque>(layer)) return whole_or_nothing(at);
  return normalization(at);
}

/// The rule of a triangle, which reads nothing outside of it.
[[nodiscard]] inline LiveRule triangle(const SizedNode& at) {
  LiveRule rule = elementwise(at);
  rule.reads = [band = known_band({at.node, at.graph, at.layer}).band](std::size_t k) {
    return k == 0 ? band : std::nullopt;
  };
  return rule;
}

/// The rule of a node by the facts about its operator. Empty: there is none.
[[nodiscard]] inline std::optional<LiveRule> rule_of_facts(const SizedNode& at) {
  const auto attribute = [&at](std::string_view key, std::int64_t otherwise) {
    return at.node.attribute<std::int64_t>(key, otherwise);
  };
  const bool is_recurrent = std::holds_alternative<op::Recurrent>(at.layer);
  switch (at.facts.demand) {
    case Demand::of_layer:
    case Demand::product: return rule_of_layer(at);
    case Demand::elementwise: return elementwise(at);
    case Demand::first_alone: return leaving_out(elementwise(at), [](std::size_t k, std::size_t) { return k == 1; });
    case Demand::unread: return leaving_out(elementwise(at), [](std::size_t, std::size_t) { return true; });
    case Demand::mask: return leaving_out(elementwise(at), [](std::size_t, std::size_t j) { return j > 0; });
    case Demand::triangle: return triangle(at);
    case Demand::reshape: return reshape(at);
    case Demand::transposition: return transposition(at);
    case Demand::blocks: return blocks(at);
    case Demand::slice: return slice(at);
    case Demand::parts: return joined(at, true);
    case Demand::joined: return joined(at, false);
    case Demand::gather:
    case Demand::gather_places:
      if (auto rule = chosen_results(at)) return rule;
      return at.facts.demand == Demand::gather ? gather(at) : gather_places(at);
    case Demand::scatter: return scatter(at, !at.known.empty() && known_few(at).has_value());
    case Demand::tiling: return tiling(at);
    case Demand::padding: return padding(at);
    case Demand::reversal: return reversal(at);
    case Demand::cumulation: return cumulation(at);
    case Demand::reduction: return reduction(at);
    case Demand::channel_window: return channel_window(at);
    case Demand::mean_variance: return mean_variance(at);
    case Demand::softmax: return along_axis(at, attribute("opset", 0) < 13, 1, -1);
    case Demand::resize: return resize(at);
    case Demand::einsum: return einsum(at);
    case Demand::recurrence:
      if (is_recurrent) return recurrence(at);
      return at.facts.is(Trait::recurrent) ? other_recurrence(at) : rule_of_layer(at);
    case Demand::frames:
      if (auto rule = frames(at)) return rule;
      return items(at, followed_items(at));
    case Demand::transform:
    case Demand::first_axis:
    case Demand::deformed_windows:
    case Demand::one_hot: return items(at, followed_items(at));
    case Demand::cache_rows: return cache_rows(at);
    case Demand::grid_samples: return grid_samples(at, followed_items(at));
    case Demand::box_samples: return box_samples(at, followed_items(at));
    case Demand::embeddings: return embeddings(at);
    case Demand::table_row: return certain_rows(at);
    case Demand::experts:
      if (at.node.has_input(1) && !at.x(1).empty()) return certain_rows(at);
      return rule_of_layer(at);
    case Demand::dynamic_quantization: return dynamic_quantization(at);
    case Demand::quantization:
      if (attribute("block_size", 0) != 0) return blocked_quantization(at);
      return elementwise(at, to_axis(attribute("axis", 1), at.y().size()));
  }
  return std::nullopt;
}

/// The rule of a node. Empty: there is none.
[[nodiscard]] inline std::optional<LiveRule> live_rule(const SizedNode& at) {
  if (const auto update = known_update(at)) return updated_rows(*update, elementwise(at));
  const bool computes = std::holds_alternative<op::Binary>(at.layer) || std::holds_alternative<op::Unary>(at.layer) ||
                        std::holds_alternative<op::Cast>(at.layer) || std::holds_alternative<op::Where>(at.layer);
  if (computes && chooses_numbers(at)) {
    LiveRule rule = elementwise(at);
    rule.flops = [](std::span<const Region>, const Region&) { return 0.0; };
    return rule;
  }
  const Demand demand = at.facts.demand;
  const bool of_any_result = demand == Demand::recurrence || demand == Demand::embeddings ||
                             demand == Demand::table_row || demand == Demand::experts;
  return at.node.has_output(0) || of_any_result ? rule_of_facts(at) : std::nullopt;
}

/// The same, by which needs are counted: a node without a rule is never taken to need more than is certain.
[[nodiscard]] inline LiveRule needs_rule(const SizedNode& at) {
  auto rule = live_rule(at);
  return rule ? std::move(*rule) : whole_or_nothing(at);
}

/// Operators whose results are partly known, whatever their operands are.
[[nodiscard]] inline bool makes_known(const Graph& graph, const Node& node) {
  if (node.op_type == "Where") return repeats_operand(node);  // the condition may have more rows
  static const std::set<std::string_view> named{"Gather", "GatherND", "GatherElements"};
  if (named.contains(node.op_type)) return node.has_input(1) && graph.input(node, 1).literal.has_value();
  if (node.op_type == "Concat") return std::set(node.inputs.begin(), node.inputs.end()).size() < node.inputs.size();
  return facts_of(node).is(Trait::makes_known);
}

/// Whether a factor of 0 makes the operands of a product irrelevant.
[[nodiscard]] inline bool multiplies_by_zero(const Node& node) {
  static const std::set<std::string_view> scaled{"Gemm", "FusedGemm", "FusedMatMul"};
  return scaled.contains(node.op_type) && node.attribute<double>("alpha", 1) == 0;
}

/// Whether a batch norm need not read its vector `k`: the four are combined into two before a request arrives.
[[nodiscard]] inline bool is_combined_before(const SizedNode& at, std::size_t k) {
  if (k == 0) return false;
  for (std::size_t i = 1; i < 5; ++i)
    if (!at.node.has_input(i) || !at.graph.input(at.node, i).constant) return false;
  const bool narrow = bits(at.graph.input(at.node, 3).type) < bits(at.graph.input(at.node, 1).type);
  return narrow ? k < 3 : k > 2;
}

/// Whether input `k` need not be read although the layer has it: factors of 0, positions that are in the code of the
/// program, and two of the four vectors of a batch norm, which are combined into two before a request arrives.
[[nodiscard]] inline bool is_left_out(const SizedNode& at, std::size_t k) {
  const auto is_constant = [&at](std::size_t i) { return at.node.has_input(i) && at.graph.input(at.node, i).constant; };
  if (std::holds_alternative<op::BatchNorm>(at.layer)) return is_combined_before(at, k);
  if (at.node.op_type == "MatMulNBits") return k == 4 && is_constant(4);  // which group a row belongs to
  if (k == 1 && read_positions(at) == 0) return true;
  if (!at.known.empty() && is_constant(k) && at.node.op_type == "Concat" &&
      at.known[*at.node.outputs[0]].chosen_columns)
    return true;
  if (at.node.op_type == "ScatterElements" && k == 0) return known_few(at).has_value();  // one number in all places
  if (is_constant(k) && chooses_numbers(at)) return true;                                // numbers in the code
  if (at.facts.inputs[1] == InputRole::places) return k > 0 && is_constant(k);
  if (std::holds_alternative<op::MatMul>(at.layer)) {
    const bool adds = at.node.op_type == "Gemm" || at.node.op_type == "FusedGemm";
    return (k < 2 && multiplies_by_zero(at.node)) || (k == 2 && adds && at.node.attribute<double>("beta", 1) == 0);
  }
  return false;
}

/// Whether a floor counts less of a node than its layer does, even if all of its results are needed.
[[nodiscard]] inline bool counts_less(const SizedNode& at) {
  for (std::size_t k = 0; k < at.node.inputs.size(); ++k)
    if (is_left_out(at, k)) return true;
  const auto* resize = std::get_if<op::Resize>(&at.layer);  // at the scales that the node names
  return std::holds_alternative<op::Recurrent>(at.layer) || decides(at.node) ||
         (resize && resize->mode != op::ResizeMode::nearest) ||
         (std::holds_alternative<op::Attention>(at.layer) &&
          (op::Attention::is_filled_by_data(at.node, at.graph) || lengths_are_data(at.node, at.graph)));
}

/// What a node needs of its operands, and the share of its arithmetic that this takes.
struct Needs {
  std::vector<Region> inputs{};
  double flops = 1;
};

/// A band of a result, converted to a band of input `k`.
[[nodiscard]] inline std::optional<AxesBand> followed_band(const SizedNode& at, const LiveRule& rule, std::size_t k,
                                                           const std::vector<Region>& outputs) {
  if (!rule.follows || outputs.size() != 1 || !outputs[0].band()) return std::nullopt;
  const AxesBand& band = *outputs[0].band();
  const FollowedAxes axes = rule.follows(k);
  const auto axis_of = [&](std::size_t axis) {
    const auto found = static_cast<std::size_t>(std::find(axes.begin(), axes.end(), axis) - axes.begin());
    const bool moved = found < axes.size() && (!rule.begins.empty() || at.x(k)[found] == at.y()[axis]);
    return moved ? std::optional(found) : std::nullopt;
  };
  const auto begin = [&](std::size_t axis) { return rule.begins.empty() ? 0 : rule.begins[axis]; };
  const auto row = axis_of(band.row), column = axis_of(band.column);
  if (!row || !column) return std::nullopt;
  return AxesBand{*row, *column, band.band.from(-begin(band.row), -begin(band.column))};
}

[[nodiscard]] inline Needs needs_of(const SizedNode& at, const std::optional<LiveRule>& rule,
                                    const std::vector<Region>& outputs) {
  Needs result;
  result.inputs.reserve(at.node.inputs.size());
  const bool is_product = std::holds_alternative<op::MatMul>(at.layer);
  for (std::size_t k = 0; k < at.node.inputs.size(); ++k) {
    result.inputs.emplace_back();
    if (!at.node.inputs[k]) continue;
    const Dims& x = at.x(k);
    Region region(x);
    for (std::size_t j = 0; rule && j < outputs.size(); ++j)
      // If not all of a box is needed, the elements of each axis are sufficient for products and element-wise layers.
      for (const auto& y : rule->follows || is_product ? outputs[j].boxes() : outputs[j].certain())
        for (auto& box : rule->operand(k, j, y))
          if (box.size() == x.size()) region.add(std::move(box));  // other ranks only occur in invalid models
    if (!rule) region = Region::whole(x);
    if (!at.known.empty() && is_left_out(at, k)) region = Region(x);
    if (const double read = k == 1 ? read_positions(at) : 1; read > 0 && read < 1)
      region.limit(region.count() * read, {});
    if (const auto band = rule ? followed_band(at, *rule, k, outputs) : std::nullopt) region.clip(*band);
    if (const auto band = rule && rule->reads ? rule->reads(k) : std::nullopt) region.clip(*band);
    if (const auto known = at.known_x(k).band) {
      const Value& value = at.graph.input(at.node, k);
      if (value.constant && value.banded && !value.banded->differ) region = Region(x);  // both numbers are known
      else region.clip(*known);
    }
    if (const auto& filled = at.known_x(k).filled) region.clip(*filled);
    if (rule && rule->follows && !outputs.empty() && outputs[0].limited())
      if (auto certain = rule->operand(k, 0, outputs[0].certain()[0]); !certain.empty())
        region.limit(*outputs[0].limited(), std::move(certain[0]));
    result.inputs[k] = std::move(region);
  }
  if (!at.known.empty() && is_product && multiplies_by_zero(at.node)) result.flops = 0;
  if (!rule || outputs.empty() || result.flops == 0) return result;
  result.flops =
      rule->flops ? rule->flops(outputs, result.inputs.empty() ? Region{} : result.inputs[0]) : outputs[0].share();
  if (!at.known.empty() && is_product && at.node.has_input(2) && is_left_out(at, 2)) {  // not added either
    const auto& product = std::get<op::MatMul>(at.layer);
    result.flops *= 1 - static_cast<double>(element_count(product.y())) / product.arithmetic().flops;
  }
  return result;
}

}  // namespace benanza::detail
