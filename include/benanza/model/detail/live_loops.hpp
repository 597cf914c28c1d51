// SPDX-License-Identifier: Apache-2.0
// What is needed of the passes of a loop: the part of LiveElements for Loop and Scan.
#pragma once

#include <benanza/model/detail/live_elements.hpp>
#include <benanza/model/detail/passes.hpp>
#include <benanza/model/detail/sliced_values.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace benanza {

/// What is needed of each pass's result, if `all` is needed of output `i`, which collects them.
inline LiveElements::Needed LiveElements::of_each_pass(const Node& node, std::size_t i, std::size_t carried,
                                                       const Needed& all) {
  const auto stacking = detail::stacking(node, i, carried, all.part.dims().size());
  Needed result = all;
  if (stacking) result.part = detail::of_each_pass(all.part, *stacking);
  return result;
}

/// Loop and Scan. The previous pass has to make what a pass needs of a carried value.
inline void LiveElements::loop(const Graph& graph, Values& values, const Node& node) {
  const Graph& body = node.bodies[0].graph;
  const bool scan = node.op_type == "Scan";
  const std::size_t formals = body.inputs.size(), skip = scan ? (node.opset < 9 ? 1 : 0) : 2, body_skip = scan ? 0 : 2,
                    out_skip = scan ? 0 : 1;
  const auto scanned = scan ? static_cast<std::size_t>(node.attribute<std::int64_t>("num_scan_inputs", 0)) : 0;
  const std::size_t carried = formals - std::min(formals, body_skip + scanned);
  if (node.trip_count == 0) {  // the results are the initial values
    Values none = nothing(body);
    walk(body, none);
    for (std::size_t i = 0; i < std::min(carried, node.outputs.size()); ++i)
      if (node.outputs[i]) need(graph, values, node.inputs.at(i + skip).value(), values[*node.outputs[i]]);
    return;
  }
  const std::vector<detail::SlicedValue> sliced = detail::sliced_values(graph, node);
  for (const detail::SlicedValue& each : sliced) slices_.insert({&body, each.slice});
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
    if (node.trip_count && static_cast<std::int64_t>(pass) + 1 >= *node.trip_count) break;  // no pass precedes it
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
  const std::optional<PassNeeds> passes =
      leave_passes(graph, node, values, wanted, sliced, carried, body_skip, out_skip);
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
  for (std::size_t s = 0; s < sliced.size(); ++s) {
    Needed read = inner[sliced[s].slice];
    read.part = passes ? passes->sliced[s] : Region(graph.value(sliced[s].source).dims);
    if (!passes) sliced[s].add(read.part, inner[sliced[s].slice].part, {0, *node.trip_count});
    if (!read.part.empty() && !read.part.is_whole()) read.readers.insert(reading(node, read.part));
    need(graph, values, sliced[s].source, read);
  }
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    if (!node.inputs[i] || !any) continue;
    const std::size_t formal = i - std::min(i, skip) + body_skip;
    if (i >= skip && formal < formals && is_slice(body, body.inputs[formal])) continue;
    if (i < skip || formal >= formals) {
      need(graph, values, *node.inputs[i]);
      continue;
    }
    Needed read = (passes && i - skip < carried ? passes->first : inner)[body.inputs[formal]];
    if (may_be_skipped) {  // without a pass, it is the result
      const auto result = i - skip < node.outputs.size() ? node.outputs[i - skip] : std::nullopt;
      read.part = result ? common(read.part, values[*result].part) : Region(read.part.dims());
      read.conditional = true;
    }
    need(graph, values, *node.inputs[i], read);
  }
}

/// Determines what each pass has to make, which may be less than what all passes make together. The last pass makes
/// what is read after the loop, the passes before it make what the next pass reads, and each pass makes what is needed
/// of its collected results. Later passes do not run. Empty if the passes are not known. If there are too many kinds of
/// passes, the rest do not count.
inline std::optional<LiveElements::PassNeeds> LiveElements::leave_passes(const Graph& graph, const Node& node,
                                                                         const Values& values, const Values& wanted,
                                                                         std::span<const detail::SlicedValue> sliced,
                                                                         std::size_t carried, std::size_t body_skip,
                                                                         std::size_t out_skip) {
  constexpr std::size_t most_kinds = 32, most_steps = 10'000;
  const Graph& body = node.bodies[0].graph;
  std::erase_if(passes_, [&body](const auto& each) { return each.first.first == &body; });
  if (!node.trip_count || *node.trip_count < 2) return std::nullopt;
  const std::int64_t trips = *node.trip_count;
  std::vector<std::pair<ValueId, Needed>> results;
  std::vector<Positions> made;  // the passes that make each result
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
  std::vector<Region> of_sliced;
  for (const detail::SlicedValue& each : sliced) of_sliced.emplace_back(graph.value(each.source).dims);
  std::size_t steps = 0, at = 0;  // index of the kind
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
      for (std::size_t s = 0; s < sliced.size(); ++s)
        sliced[s].add(of_sliced[s], kind->inner[sliced[s].slice].part, {run->begin + left, run->begin + left + count});
      handed = std::move(before);
      at = static_cast<std::size_t>(kind - kinds.begin());
    }
  needed_ = needed;
  passes_ = factors;
  if (kinds.size() > 1 || last < trips || !alike(kinds[0].needs, wanted))
    scale_passes(body, body, kinds, static_cast<double>(trips));
  PassNeeds result{kinds[at].inner, nothing(body), std::move(of_sliced)};
  for (const Kind& kind : kinds)
    for (ValueId id = 0; id < result.any.size(); ++id) need(body, result.any, id, kind.inner[id]);
  return result;
}

/// A node does, on average, what the passes need of it.
inline void LiveElements::scale_passes(const Graph& graph, const Graph& body, const std::vector<Kind>& kinds,
                                       double trips) {
  for (const Node& node : graph.nodes) {
    for (const Body& inner : node.bodies) scale_passes(inner.graph, body, kinds, trips);
    if (!node.bodies.empty()) continue;
    LiveShare& share = shares_.at(&node);
    share.inputs.resize(node.inputs.size(), 1);
    if (share.outputs.empty()) share.outputs.resize(node.outputs.size(), 1);
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

}  // namespace benanza
