// SPDX-License-Identifier: Apache-2.0
#include "ramps.hpp"

#include "fold.hpp"
#include <benanza/base/detail/node.hpp>
#include <benanza/operators/lookup.hpp>

#include <optional>
#include <string>

namespace benanza::importer {
namespace {

/// All elements as one ramp.
std::optional<Ramp> ramp_of(const Value& x) {
  if (x.ramps.size() == 1) return x.ramps.front();
  if (!x.literal || static_cast<std::int64_t>(x.literal->ints.size()) != x.elements()) return std::nullopt;
  return find_ramp(x.dims, [&](std::int64_t at) { return x.literal->ints[to_size(at)]; });
}

/// The ramp of `x` after broadcasting to `rank` dimensions.
Ramp expanded(const Ramp& x, std::size_t rank) {
  Ramp y{x.first, std::vector<std::int64_t>(rank - x.steps.size(), 0)};
  y.steps.insert(y.steps.end(), x.steps.begin(), x.steps.end());
  return y;
}

/// The ramp with axes of size 1 added or removed.
std::optional<Ramp> reshaped(const Ramp& x, std::span<const std::int64_t> from, std::span<const std::int64_t> to) {
  Ramp y{x.first, std::vector<std::int64_t>(to.size(), 0)};
  std::size_t next = 0;
  for (std::size_t axis = 0; axis < to.size(); ++axis) {
    if (to[axis] == 1) continue;
    while (next < from.size() && from[next] == 1) ++next;
    if (next == from.size() || from[next] != to[axis]) return std::nullopt;
    y.steps[axis] = x.steps[next++];
  }
  return y;
}

}  // namespace

std::vector<Ramp> ramps_of_result(const Node& node, std::span<const Value* const> inputs, const Value& y) {
  if (is_float(y.type) || y.elements() == 0 || small_enough(y.dims) || inputs.empty() || !inputs[0]) return {};
  const std::string& op = node.op_type;
  const std::size_t rank = y.dims.size();
  if (op == "Concat") {
    if (normal_axis(node.attribute<std::int64_t>("axis", 0), rank) + 1 != rank) return {};
    std::vector<Ramp> ramps;
    for (const Value* input : inputs) {
      const auto ramp = input && input->dims.back() == 1 ? ramp_of(*input) : std::nullopt;
      if (!ramp) return {};
      ramps.push_back(*ramp);
    }
    return ramps;
  }
  if (op == "Range") {
    const auto first = benanza::detail::scalar(*inputs[0]), step = benanza::detail::scalar(*inputs.back());
    if (inputs.size() != 3 || !first || !step) return {};
    return {{static_cast<std::int64_t>(*first), {static_cast<std::int64_t>(*step)}}};
  }
  const auto x = ramp_of(*inputs[0]);
  if (!x) return {};
  if (op == "Expand") return {expanded(*x, rank)};
  if (!facts_of(node).keeps_order()) return {};
  const auto ramp = reshaped(*x, inputs[0]->dims, y.dims);
  return ramp ? std::vector{*ramp} : std::vector<Ramp>{};
}

}  // namespace benanza::importer
