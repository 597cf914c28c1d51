// SPDX-License-Identifier: Apache-2.0
#include <benanza/model/layer_signature.hpp>
#include <benanza/original2019/rules.hpp>

#include <algorithm>
#include <map>
#include <optional>

namespace benanza::original2019 {

namespace {

/// The rows of a convolution. For one without padding, also those of the same convolution with padding, since an engine
/// may have padded x with a separate kernel.
struct Found {
  const std::vector<Call>* rows = nullptr;
  bool padded_before = false;
};

Found rows_of(const op::Conv& conv, const Results& results) {
  if (conv.x.size() != 4) return {};
  ConvCall call{.x = {conv.x.begin(), conv.x.end()},
                .filters = conv.w[0],
                .kernel = {conv.w[2], conv.w[3]},
                .pads = {0, 0},
                .strides = {detail::at_or(conv.strides, 0, 1), detail::at_or(conv.strides, 1, 1)},
                .dilations = {detail::at_or(conv.dilations, 0, 1), detail::at_or(conv.dilations, 1, 1)},
                .group = conv.group};
  const auto find = [&] {
    const auto rows = results.calls.find(call.key("CONV_FWD", name(conv.type)));
    return rows == results.calls.end() ? nullptr : &rows->second;
  };
  if (!conv.pads.empty()) {
    if (conv.pads[0] != conv.pads[2] || conv.pads[1] != conv.pads[3]) return {};
    call.pads = {conv.pads[0], conv.pads[1]};
    return {find()};
  }
  if (const auto* rows = find()) return {rows};
  const auto reach = [&](std::size_t axis) { return call.dilations[axis] * (call.kernel[axis] - 1); };
  const std::vector<std::int64_t> x = call.x;
  for (std::int64_t high = 0; high <= reach(0); ++high)
    for (std::int64_t wide = 0; wide <= reach(1); ++wide) {
      if (high + wide == 0 || x[2] <= 2 * high || x[3] <= 2 * wide) continue;
      call.pads = {high, wide};
      call.x = {x[0], x[1], x[2] - 2 * high, x[3] - 2 * wide};
      if (const auto* rows = find()) return {rows, true};
    }
  return {};
}

/// The height and width over which the kernel moves.
std::vector<std::int64_t> padded_size(const op::Conv& conv) {
  std::vector<std::int64_t> size(conv.x.begin() + 2, conv.x.end());
  for (std::size_t i = 0; i < conv.pads.size(); ++i) size[i % size.size()] += conv.pads[i];
  return size;
}

std::string layer_of(const std::string& signature, const Analysis& analysis) {
  const Layer called = parse_layer(signature);
  const auto* call = std::get_if<op::Conv>(&called);
  for (const auto& row : analysis.rows) {
    const Layer layer = parse_layer(row.signature);
    const auto* conv = std::get_if<op::Conv>(&layer);
    if (call && conv && row.form == Form::single && conv->w == call->w && conv->strides == call->strides &&
        conv->dilations == call->dilations && conv->group == call->group && padded_size(*conv) == padded_size(*call))
      return row.nodes.front();
  }
  return {};
}

}  // namespace

AlgorithmFindings find_slower_algorithms(const std::vector<LibraryCall>& calls, const Results& results) {
  AlgorithmFindings findings;
  std::map<std::pair<std::string, std::string>, SlowerAlgorithm> slower;
  for (const auto& call : calls) {
    if (call.count == 0 || call.signature.empty()) continue;
    const Layer layer = parse_layer(call.signature);
    const auto* conv = std::get_if<op::Conv>(&layer);
    if (!conv) continue;
    const Found found = rows_of(*conv, results);
    const Call* chosen = nullptr;
    if (found.rows)
      for (const auto& row : *found.rows)
        if (row.algorithm == call.algorithm) chosen = &row;
    if (!chosen) {
      auto& all = findings.not_compared;
      const auto same = std::find_if(all.begin(), all.end(), [&](const UnknownAlgorithm& one) {
        return one.signature == call.signature && one.chosen == call.algorithm;
      });
      if (same == all.end()) all.push_back({call.signature, call.algorithm, call.count});
      else same->count += call.count;
      continue;
    }
    findings.compared += call.count;
    findings.compared_time += chosen->time * static_cast<double>(call.count);
    const Call& best = found.rows->front();
    if (best.time >= chosen->time) continue;
    auto& finding = slower[{call.signature, call.algorithm}];
    finding.signature = call.signature;
    finding.chosen = call.algorithm;
    finding.best = best.algorithm;
    finding.chosen_time = chosen->time;
    finding.best_time = best.time;
    finding.count += call.count;
    finding.padded_before = found.padded_before;
  }
  for (auto& [key, finding] : slower) findings.slower.push_back(std::move(finding));
  std::stable_sort(findings.slower.begin(), findings.slower.end(),
                   [](const SlowerAlgorithm& a, const SlowerAlgorithm& b) { return a.gain() > b.gain(); });
  return findings;
}

std::vector<AlgorithmChoice> choices_of(const AlgorithmFindings& findings, const Analysis& analysis) {
  std::vector<AlgorithmChoice> result;
  for (const auto& found : findings.slower)
    result.push_back({.layer = layer_of(found.signature, analysis),
                      .signature = found.signature,
                      .library = "cudnn",
                      .chosen = found.chosen,
                      .best = "cudnn " + found.best,
                      .chosen_time = found.chosen_time,
                      .best_time = found.best_time,
                      .count = found.count});
  for (const auto& found : findings.not_compared)
    result.push_back({.layer = layer_of(found.signature, analysis),
                      .signature = found.signature,
                      .library = "cudnn",
                      .chosen = found.chosen,
                      .count = found.count});
  return result;
}

}  // namespace benanza::original2019
