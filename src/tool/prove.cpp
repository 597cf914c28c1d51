// SPDX-License-Identifier: Apache-2.0
#include "prove.hpp"

#include <benanza/error.hpp>
#include <benanza/model/layer_signature.hpp>
#include <benanza/results/comparison.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>

namespace benanza::tool {

namespace {

constexpr const char* run_name = "prove";

using RowsOfLayers = std::map<std::string, std::vector<Measurement>>;

/// Rows of the runs that this call made, including excluded ones.
RowsOfLayers fresh_rows(const Session& session, const std::set<std::string>& runs_before) {
  RowsOfLayers rows;
  for (const auto& run : session.database().runs()) {
    if (run.name != run_name || runs_before.contains(run.file + run.started)) continue;
    for (const auto& row : run.rows)
      if (row.threads <= session.analysis_options().threads) rows[row.signature].push_back(row);
  }
  return rows;
}

std::set<std::string> runs_of(const Session& session) {
  std::set<std::string> result;
  for (const auto& run : session.database().runs()) result.insert(run.file + run.started);
  return result;
}

/// The fastest row of a call, of any plan; for an advised layout, only of its plan.
const Measurement* fastest(const RowsOfLayers& rows, const AdvisedCall& call, Change change) {
  const auto found = rows.find(call.signature);
  if (found == rows.end()) return nullptr;
  const Measurement* best = nullptr;
  for (const auto& row : found->second) {
    if (!row.measured()) continue;
    if (change == Change::layout && row.backend + "/" + row.algorithm != call.plan) continue;
    if (!best || timing_of(row).median < timing_of(*best).median) best = &row;
  }
  return best;
}

/// Why no row was suitable for a call: the reason in its plan's row or, if there is none, in any plan's row.
std::string why_not_measured(const RowsOfLayers& rows, const AdvisedCall& call, Change change) {
  const auto found = rows.find(call.signature);
  if (found == rows.end()) return call.signature + ": no run of it was finished";
  const Measurement* said = nullptr;
  for (const auto& row : found->second)
    if (!row.measured() && (!said || row.backend + "/" + row.algorithm == call.plan)) said = &row;
  const bool of_plan = said && said->backend + "/" + said->algorithm == call.plan;
  if (change != Change::layout) return call.signature + ": " + (said ? said->reason : "no plan ran");
  return call.signature + " by " + call.plan + ": " +
         (of_plan ? said->reason : "it was not among the plans that this run timed");
}

Proof prove_calls(std::size_t index, const Advice& advice, const RowsOfLayers& rows) {
  Proof proof{.advice = index};
  Seconds total{};
  double squares = 0;
  bool known = true;
  for (const auto& call : advice.calls) {
    const Measurement* row = fastest(rows, call, advice.change);
    if (!row) {
      proof.reason = why_not_measured(rows, call, advice.change);
      return proof;
    }
    const Timing timing = timing_of(*row);
    const Seconds time = timing.median * static_cast<double>(call.count);
    total += time;
    known = known && timing.noise;
    if (timing.noise) squares += std::pow(*timing.noise * time.value, 2);
  }
  proof.achieved = advice.replaced - total;
  if (known) proof.uncertainty = Seconds{std::sqrt(squares)};
  return proof;
}

/// The difference by which `after` is less than `before`, using the medians of both.
void set_achieved(Proof& proof, const Rung& before, const Rung& after) {
  proof.achieved = *before.median - *after.median;
  proof.uncertainty =
      Seconds{std::hypot(before.uncertainty * before.median->value, after.uncertainty * after.median->value)};
}

Proof prove_type(std::size_t index, const Analysis& here, const Analysis& there) {
  Proof proof{.advice = index};
  const RungName rung = common_headline(here, there);
  const Rung &before = here[rung], &after = there[rung];
  if (there.partial() || !before.median || !after.median)
    proof.reason = "not every layer could be measured in that type";
  else if (before.provisional() || after.provisional())
    proof.reason = "the times are provisional: " + (after.provisional() ? after : before).doubt;
  else set_achieved(proof, before, after);
  return proof;
}

/// Critical path and work divided by threads, for calls that are timed again at their thread counts.
Proof prove_parallel(std::size_t index, const Gap& gap, const Analysis& again) {
  Proof proof{.advice = index};
  const Rung &one = again[RungName::library_fused], &many = again[RungName::library_fused_parallel];
  if (again.partial() || !one.median || !many.median) {
    proof.reason = "not every layer could be measured again";
    return proof;
  }
  if (one.provisional()) {
    proof.reason = "the times are provisional: " + one.doubt;
    return proof;
  }
  set_achieved(proof, one, many);
  *proof.achieved = *proof.achieved - gap.parallel.side_by_side;
  proof.reason = "Benanza runs one call at a time: how branches compete for caches and bandwidth is not included";
  return proof;
}

std::string why_not(const Advice& advice) {
  if (advice.change == Change::conditions) return "it is the state of the engine's machine during its run";
  if (advice.change == Change::dead_work) return "plans compute whole layers, not the part of one that is read";
  return advice.change == Change::algorithm || advice.change == Change::fusion
             ? "no available library is known to have a call for these layers"
             : "it is what the engine does outside the model's layers, which Benanza does not run";
}

}  // namespace

Proved prove(const GapReport& report, const ModelLayers& model, Session& session, Seconds budget, bool quiet,
             const std::function<ModelLayers(DataType)>& retyped) {
  const auto& advice = report.gap.advice;
  std::map<std::string, measure::Wanted> wanted;
  for (const auto& each : advice)
    for (const auto& call : each.calls) {
      if (is_opaque(parse_layer(call.signature))) continue;
      const auto [at, added] =
          wanted.try_emplace(call.signature, measure::Wanted{.layer = parse_layer(call.signature)});
      at->second.weight = added ? static_cast<double>(call.count) : at->second.weight + static_cast<double>(call.count);
    }
  std::vector<measure::Wanted> layers;
  for (auto& [signature, entry] : wanted) layers.push_back(std::move(entry));
  const auto before = runs_of(session);
  const Outcome measured = watched(session, quiet, {.budget = budget}, [&](const BoundOptions& bound) {
    return session.measure_layers(layers, run_name, bound);
  });
  if (!measured.not_kept.empty()) throw EnvironmentError(measured.not_kept);
  const auto rows = fresh_rows(session, before);
  Proved proved{.interrupted = measured.interrupted};
  const auto analyzed_anew = [&](const ModelLayers& layers_of, Again again) {
    const Outcome result = watched(session, quiet, {.budget = budget, .again = again}, [&](const BoundOptions& bound) {
      return session.measure_missing(std::span(&layers_of, 1), bound);
    });
    if (!result.not_kept.empty()) throw EnvironmentError(result.not_kept);
    proved.interrupted = std::max(proved.interrupted, result.interrupted);
    return session.analyze(std::span(&layers_of, 1)).front();
  };

  auto& proofs = proved.proofs;
  for (std::size_t i = 0; i < advice.size(); ++i) {
    if (proved.interrupted != 0) proofs.push_back({.advice = i, .reason = "interrupted"});
    else if (!advice[i].calls.empty()) proofs.push_back(prove_calls(i, advice[i], rows));
    else if (advice[i].type)
      proofs.push_back(
          prove_type(i, report.bound.models.front(), analyzed_anew(retyped(*advice[i].type), Again::nothing)));
    else if (advice[i].change == Change::parallel)
      proofs.push_back(prove_parallel(i, report.gap, analyzed_anew(model, Again::all)));
    else proofs.push_back({.advice = i, .reason = why_not(advice[i])});
  }
  return proved;
}

}  // namespace benanza::tool
