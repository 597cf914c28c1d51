// SPDX-License-Identifier: Apache-2.0
#include "witnesses.hpp"

#include "execution/make_witness.hpp"
#include "measuring.hpp"
#include "models.hpp"
#include "run_inputs.hpp"
#include <benanza/model/layer_signature.hpp>
#include <benanza/session/backends.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <map>
#include <new>
#include <utility>

namespace benanza::tool {

void WitnessFlags::add_to(CLI::App& command) {
  auto* flag = command.add_flag("--witness", witness,
                                "executes the model from the measured plans, and times that (docs/witness.md)");
  command.add_option("--weights", weights, "for the witness: random weights where a ConstantOfShape fills them")
      ->type_name("random:SEED")
      ->needs(flag);
  command.add_option("--witness-time", time, "for executing each model, including the choice of plans (default: 5s)")
      ->type_name("TIME")
      ->needs(flag);
  command
      .add_flag("--check", check_calls, "for the witness: compares every call with the reference on the same inputs")
      ->needs(flag);
}

void WitnessFlags::check() const {
  static_cast<void>(weight_seed(weights));
  static_cast<void>(parse_budget(time, "--witness-time"));
}

namespace {

/// Sets the times of layout changes to those of their rows. Returns the changes that nobody has tried to measure.
std::vector<measure::Wanted> read_rows(std::vector<Witness>& witnesses, const Session& session) {
  const auto rows = session.database().newest_rows();
  std::map<std::string, measure::Wanted> missing;
  for (auto& witness : witnesses) {
    if (!witness.given()) continue;
    for (auto& call : witness.calls) {
      if (call.layer.empty()) continue;
      const auto found = rows.find(call.layer);
      if (found == rows.end()) {
        const auto [at, added] = missing.try_emplace(call.layer, measure::Wanted{.layer = parse_layer(call.layer)});
        if (!added) ++at->second.weight;
        continue;
      }
      for (const auto& row : found->second)
        if (row.measured() && row.cache == CacheState::hot && row.backend + " " + row.algorithm == call.layout_plan)
          call.alone = row.times->p10;
    }
  }
  std::vector<measure::Wanted> result;
  for (auto& [signature, wanted] : missing) result.push_back(std::move(wanted));
  return result;
}

Outcome measure_layout_changes(std::vector<Witness>& witnesses, Session& session, bool quiet) {
  constexpr Seconds for_each{0.5};
  const auto missing = read_rows(witnesses, session);
  const auto& caches = session.options().caches;
  if (missing.empty() || std::find(caches.begin(), caches.end(), CacheState::hot) == caches.end()) return {};
  const BoundOptions options{.budget = for_each * static_cast<double>(missing.size())};
  Outcome measured = watched(session, quiet, options, [&](const BoundOptions& bound) {
    return session.measure_layers(missing, "layout_changes", bound);
  });
  static_cast<void>(read_rows(witnesses, session));
  return measured;
}

}  // namespace

Executed make_witnesses(const WitnessFlags& flags, const ModelOptions& models, Session& session, bool quiet) {
  ModelOptions executable = models;
  executable.executable = true;
  const bool on_device = session.machine().is_device();
  const auto& of_session = session.options().backends;  // empty if a separate process measured on a device
  const WitnessOptions wanted{
      .backends = of_session.empty() ? usable_backends(session.analysis_options().backends) : of_session,
      .checked_by = on_device ? usable_backends() : WitnessOptions{}.checked_by,
      .threads = session.analysis_options().threads,
      .budget = parse_budget(flags.time, "--witness-time").value_or(WitnessOptions{}.budget),
      .weight_seed = weight_seed(flags.weights),
      .check = flags.check_calls};
  Executed result;
  for (const auto& model : wanted_models(executable)) {
    try {
      result.witnesses.push_back(make_witness(load_graph(model), session.database(), wanted));
    } catch (const Error& error) {  // the reports of this model and the other ones remain
      result.witnesses.push_back({.refused = error.what()});
    } catch (const std::bad_alloc&) {
      result.witnesses.push_back({.refused = "out of memory"});
    }
  }
  result.measured = measure_layout_changes(result.witnesses, session, quiet);
  return result;
}

}  // namespace benanza::tool
