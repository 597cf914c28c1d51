// SPDX-License-Identifier: Apache-2.0
#include "account.hpp"

#include <benanza/base/detail/algorithm_text.hpp>
#include <benanza/results/expected_time.hpp>

#include <algorithm>
#include <set>
#include <string>

namespace benanza {

namespace {

template <class Holds>
const Measurement* fastest(const LayerRow& row, int threads, const Holds& holds) {
  const Measurement* best = nullptr;
  for (const auto& candidate : row.candidates)
    if (candidate.measured() && candidate.cache == CacheState::hot && candidate.threads <= threads &&
        candidate.backend != "reference" && holds(candidate) &&
        (!best || expected_time(candidate) < expected_time(*best)))
      best = &candidate;
  return best;
}

/// The additional time of a row's layers with the advised algorithm. Empty if none of its candidates was advised.
std::optional<Seconds> cost_of_advice(const LayerRow& row, int threads) {
  std::set<std::string> advising;
  for (const auto& candidate : row.candidates)
    if (candidate.advised && candidate.measured()) advising.insert(candidate.backend);
  const Measurement* advised = fastest(row, threads, [](const Measurement& m) { return m.advised; });
  const Measurement* best = fastest(row, threads, [&](const Measurement& m) { return advising.contains(m.backend); });
  if (!advised || !best) return std::nullopt;
  return (expected_time(*advised) - expected_time(*best)) * static_cast<double>(row.count);
}

/// The relative cost of advice is computed from medians, and `library` is scaled by it.
std::optional<Seconds> advised_total(const Analysis& analysis) {
  const auto library = analysis[RungName::library].bound;
  Seconds all{}, cost{};
  bool any = false;
  for (const auto& row : analysis.rows) {
    if (row.form != Form::single) continue;
    all += row.median * static_cast<double>(row.count);
    const auto own = cost_of_advice(row, analysis.threads);
    any = any || own;
    cost += own.value_or(Seconds{});
  }
  if (!any || !library || all.value <= 0) return std::nullopt;
  return *library * (1 + cost / all);
}

bool is_plain(const Measurement& row) {
  return detail::value_of(row.algorithm, "src").empty() && detail::value_of(row.algorithm, "dst").empty();
}

void set_layouts(const Analysis& analysis, StudyAccount& account) {
  Seconds plain{}, any{};
  bool differs = false;
  for (const auto& row : analysis.rows) {
    if (row.form != Form::fused) continue;
    const auto count = static_cast<double>(row.count);
    const Measurement* best = fastest(row, analysis.threads, [](const Measurement&) { return true; });
    const Measurement* in_plain = fastest(row, analysis.threads, is_plain);
    differs = differs || (best && in_plain && !is_plain(*best));
    const Seconds least = best ? expected_time(*best) : row.median;
    any += least * count;
    plain += (in_plain ? expected_time(*in_plain) : least) * count;
  }
  if (!differs) return;
  account.plain_layout = plain;
  account.any_layout = any;
}

}  // namespace

Rungs bounds_of(const Analysis& analysis) {
  Rungs rungs;
  for (std::size_t i = 0; i < rung_count; ++i)
    if (!analysis.rungs[i].mostly_floor()) rungs[i] = analysis.rungs[i].bound;
  return rungs;
}

StudyAccount account_of(const Analysis& analysis, std::span<const Analysis> narrower) {
  StudyAccount account{.model = analysis.model,
                       .device = analysis.machine.device,
                       .batch = analysis.batch,
                       .source = "measured",
                       .rungs = bounds_of(analysis),
                       .advised = advised_total(analysis),
                       .missing = static_cast<std::int64_t>(analysis.missing.size()),
                       .provisional = analysis[RungName::library].doubt};
  set_layouts(analysis, account);
  for (const auto& other : narrower)
    if (other.type != analysis.type && !other.partial() && other.coverage[Status::modelled] == 0) {
      account.in_types[other.type] = bounds_of(other);
      if (account.provisional.empty()) account.provisional = other[RungName::library].doubt;
    }
  return account;
}

}  // namespace benanza
