// SPDX-License-Identifier: Apache-2.0
// The rows of a form: its unique layers, with their plans, and with what a call reads of weights that the file stores
// compressed, and of a table in which it looks up rows.
#pragma once

#include <benanza/base/detail/saturated.hpp>
#include <benanza/bounds/analysis.hpp>
#include <benanza/bounds/detail/branches.hpp>
#include <benanza/bounds/detail/partition.hpp>
#include <benanza/bounds/detail/row_times.hpp>
#include <benanza/bounds/layer_floor.hpp>
#include <benanza/model/critical_path.hpp>
#include <benanza/model/detail/distinct_bytes.hpp>
#include <benanza/model/layer.hpp>
#include <benanza/model/model_layers.hpp>
#include <benanza/results/expected_time.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

namespace benanza::detail {

/// A weight with numbers of at most 8 bits.
[[nodiscard]] inline bool is_compressed(const Operand& operand) {
  return operand.is_weight() && operand.elements() > 1 && bits(operand.type) <= 8;
}

/// Whether reading a constant takes fewer bytes of the file than the constant has: it is computed from others, as by
/// Cast, DequantizeLinear or Expand, or is sparse. False for what is computed from sizes alone.
[[nodiscard]] inline bool is_expanded(const LayerTensor& constant) {
  constexpr double rounding = 1e-6;  // the sum of the shares is not exact
  Bytes stored{};
  for (const auto& share : constant.behind) stored += share.bytes;
  return stored.value > 0 && stored < constant.bytes() * (1 - rounding);
}

/// False for single numbers, sizes, indices and masks.
[[nodiscard]] inline bool is_weight(const LayerTensor& tensor) {
  return tensor.constant && element_count(tensor.dims) > 1 && tensor.type != DataType::i64 &&
         tensor.type != DataType::boolean;
}

/// The weights of a call that covers a part of an occurrence; empty if the file does not store them compressed. Members
/// of `at` are occurrences of `single`.
[[nodiscard]] inline std::optional<WeightBytes> stored_weights(const LayerGraph& single, const Occurrence& at,
                                                               const Part& part) {
  DistinctBytes stored(single);
  bool expanded = false;
  for (std::size_t m = part.first; m < std::min(part.first + part.count, at.members.size()); ++m) {
    const Occurrence& member = single.layers[at.members[m]];
    if (is_movement(member.layer)) continue;
    for (std::size_t k = 0; k < member.inputs.size(); ++k) {
      if (!member.inputs[k] || !is_weight(single.tensors[*member.inputs[k]])) continue;
      const LayerTensor& tensor = single.tensors[*member.inputs[k]];
      const Bytes touched = touched_input(tensor, member.layer, k);
      stored.add(*member.inputs[k], touched);
      expanded = expanded || (touched.value > 0 && is_expanded(tensor));
    }
  }
  const WeightBytes result{.stored = stored.weights(), .read = weight_bytes(part.layer)};
  const Operands& all = operands(part.layer);
  const bool compressed = std::any_of(all.inputs.begin(), all.inputs.end(), is_compressed);
  return compressed || (expanded && result.expanded()) ? std::optional(result) : std::nullopt;
}

/// Empty if a call can read only one row, and for layers without a lookup.
[[nodiscard]] inline std::optional<LookupBytes> lookup_bytes(const Layer& layer) {
  const auto* gather = std::get_if<op::Gather>(&layer);
  if (gather == nullptr || gather->indices <= 1 || gather->x[1] <= 1) return std::nullopt;
  return LookupBytes{.certain = gather->certain_bytes(), .expected = gather->expected_bytes()};
}

/// The branches of If nodes that a bound takes: those with the least sum of times.
[[nodiscard]] inline ResolvedChoices taken_branches(const LayerGraph& graph, const FormPlan& plan) {
  if (graph.choices.empty()) return {};
  std::vector<double> amounts;
  for (std::size_t i = 0; i < graph.layers.size(); ++i) {
    Seconds sum{};
    for (const auto& part : plan.parts[i]) sum += part.time(Figure::bound);
    amounts.push_back(sum.value * static_cast<double>(graph.layers[i].repeat));
  }
  return resolve(graph, amounts);
}

/// The rows of one form: unique layers with the plans that are expected to be fastest, and the rows that bound them.
/// Members of `graph` are occurrences of `single`.
inline std::vector<LayerRow> make_rows(const LayerGraph& graph, const LayerGraph& single, const FormPlan& plan,
                                       const RowTimes& times, const Ceilings& ceilings, const CriticalPath& path) {
  std::vector<LayerRow> rows;
  std::unordered_map<std::string_view, std::size_t> row_of;  // by signature
  const ResolvedChoices taken = taken_branches(graph, plan);
  for (std::size_t i = 0; i < graph.layers.size(); ++i) {
    const Occurrence& at = graph.layers[i];
    for (const auto& part : plan.parts[i]) {
      const auto [entry, added] = row_of.try_emplace(part.signature(), rows.size());
      LayerRow& row = added ? rows.emplace_back() : rows[entry->second];
      if (added) {
        row.signature = part.signature();
        row.form = graph.form;
        row.cost = cost(part.layer);
        row.direct_floor = layer_floor(part.layer, ceilings);
        row.least_floor = layer_floor(part.layer, ceilings, true);
        if (!part.best) row.least_floor = std::min(row.least_floor, part.floor);  // its group may absorb more
        row.status = part.status;
        row.reason = part.status == Status::measured ? "" : times.untimed().reason(part.signature());
        row.p10 = row.median = part.floor;
        row.untried = times.untimed().untried(part.signature());
        row.most_threads = times.untimed().most_threads(part.signature());
        row.lookup = lookup_bytes(part.layer);
        if (part.best) {
          const BestRows::Of &bound = part.best->bound, &expected = part.best->expected;
          row.chosen = *expected.fastest;
          if (bound.fastest != expected.fastest) row.bounding = *bound.fastest;
          if (expected.cold) row.cold = *expected.cold;
          row.median = expected_time(*expected.fastest);
          row.p10 = p10(*bound.fastest);
        }
      }
      const auto weights = part.status == Status::modelled ? std::nullopt : stored_weights(single, at, part);
      if (weights && (!row.weights || weights->stored < row.weights->stored)) row.weights = weights;
      add_saturated(row.count, at.repeat);
      if (!runs(at, taken)) add_saturated(row.not_taken, at.repeat);
      if (part.node < at.nodes.size()) row.nodes.push_back(at.nodes[part.node]);
      row.critical = row.critical || path.on_path[i];
    }
  }
  std::sort(rows.begin(), rows.end(), [](const LayerRow& a, const LayerRow& b) {
    return a.total() != b.total() ? a.total() > b.total() : a.signature < b.signature;
  });
  return rows;
}

inline Coverage coverage(const LayerGraph& graph, const FormPlan& plan) {
  Coverage result;
  std::array<double, 4> time{}, flops{};
  for (std::size_t i = 0; i < graph.layers.size(); ++i) {
    const auto status = static_cast<std::size_t>(plan.status[i]);
    const auto repeat = static_cast<double>(graph.layers[i].repeat);
    add_saturated(result.count[status], graph.layers[i].repeat);
    for (const auto& part : plan.parts[i]) {
      time[status] += repeat * part.time(Figure::expected).value;
      flops[status] += repeat * cost(part.layer).flops.value;
    }
  }
  double all_time = 0, all_flops = 0;
  for (std::size_t s = 0; s < 4; ++s) {
    all_time += time[s];
    all_flops += flops[s];
  }
  for (std::size_t s = 0; s < 4; ++s) {
    result.time_share[s] = all_time > 0 ? time[s] / all_time : 0;
    result.flops_share[s] = all_flops > 0 ? flops[s] / all_flops : 0;
  }
  return result;
}

}  // namespace benanza::detail
