// SPDX-License-Identifier: Apache-2.0
#include "prove.hpp"

#include <benanza/comparison.hpp>
#include <benanza/error.hpp>
#include <benanza/layer_signature.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

namespace benanza::tool {

namespace {

constexpr const char* run_name = "prove";

/// Rows of the runs that this call has made: fastest of each layer.
std::map<std::string, Measurement> fresh_rows(const Session& session, const std::set<std::string>& runs_before) {
  std::map<std::string, Measurement> best;
  for (const auto& run : session.database.runs()) {
    if (run.name != run_name || runs_before.contains(run.file + run.started)) continue;
    for (const auto& row : run.rows) {
      if (row.excluded || row.threads > session.analysis.threads) continue;
      const auto [at, added] = best.try_emplace(row.signature, row);
      if (!added && timing_of(row).median < timing_of(at->second).median) at->second = row;
    }
  }
  return best;
}

std::set<std::string> runs_of(const Session& session) {
  std::set<std::string> result;
  for (const auto& run : session.database.runs()) result.insert(run.file + run.started);
  return result;
}

Proof prove_calls(std::size_t index, const Advice& advice, const std::map<std::string, Measurement>& rows) {
  Proof proof{.advice = index};
  Seconds total{};
  double squares = 0;
  bool known = true;
  for (const auto& call : advice.calls) {
    const auto found = rows.find(call.signature);
    if (found == rows.end()) {
      proof.reason = call.signature + " could not be measured";
      return proof;
    }
    const Timing timing = timing_of(found->second);
    const Seconds time = timing.median * static_cast<double>(call.count);
    total += time;
    known = known && timing.noise;
    if (timing.noise) squares += std::pow(*timing.noise * time.value, 2);
  }
  proof.achieved = advice.replaced - total;
  if (known) proof.uncertainty = Seconds{std::sqrt(squares)};
  return proof;
}

}  // namespace

std::vector<Proof> prove(const GapReport& report, Session& session, Seconds budget, const MeasuringOptions& options,
                         bool quiet, const std::function<ModelLayers(DataType)>& retyped) {
  const auto& advice = report.gap.advice;
  std::map<std::string, bench::Wanted> wanted;
  for (const auto& each : advice)
    for (const auto& call : each.calls) {
      if (is_opaque(parse_layer(call.signature))) continue;
      const auto [at, added] = wanted.try_emplace(call.signature, bench::Wanted{.layer = parse_layer(call.signature)});
      at->second.weight = added ? static_cast<double>(call.count) : at->second.weight + static_cast<double>(call.count);
    }
  std::vector<bench::Wanted> layers;
  for (auto& [signature, entry] : wanted) layers.push_back(std::move(entry));
  const auto before = runs_of(session);
  const MeasuringResult measured = measure_layers(session, layers, run_name, budget, options, quiet);
  if (!measured.not_kept.empty()) throw EnvironmentError(measured.not_kept);
  const auto rows = fresh_rows(session, before);

  std::vector<Proof> proofs;
  for (std::size_t i = 0; i < advice.size(); ++i) {
    Proof proof{.advice = i};
    if (!advice[i].calls.empty()) {
      proof = prove_calls(i, advice[i], rows);
    } else if (advice[i].change == Change::type && advice[i].type) {
      const ModelLayers model = retyped(*advice[i].type);
      const MeasuringResult again = measure_missing(session, {model}, budget, options, quiet);
      if (!again.not_kept.empty()) throw EnvironmentError(again.not_kept);
      const Analysis other = analyze(model, session.database, session.analysis);
      const Rung& here = report.bound.models.front()[RungName::library_fused];
      const Rung& there = other[RungName::library_fused];
      if (other.partial() || !here.median || !there.median)
        proof.reason = "not every layer could be measured in that type";
      else {
        proof.achieved = *here.median - *there.median;
        proof.uncertainty =
            Seconds{std::hypot(here.uncertainty * here.median->value, there.uncertainty * there.median->value)};
      }
    } else {
      proof.reason = "only the engine can make this change";
    }
    proofs.push_back(std::move(proof));
  }
  return proofs;
}

}  // namespace benanza::tool
