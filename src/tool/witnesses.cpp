// SPDX-License-Identifier: Apache-2.0
#include "witnesses.hpp"

#include "measuring.hpp"
#include "models.hpp"
#include "run_inputs.hpp"
#include <benanza/execution/make_witness.hpp>
#include <benanza/session/backends.hpp>

#include <CLI/CLI.hpp>

namespace benanza::tool {

void WitnessFlags::add_to(CLI::App& command) {
  auto* flag = command.add_flag("--witness", witness,
                                "executes the model from the measured plans, and times that (docs/witness.md)");
  command.add_option("--weights", weights, "of the witness: random numbers in the place of fills")
      ->type_name("random:SEED")
      ->needs(flag);
  command
      .add_option("--witness-time", time, "of each model's executions, those that choose plans included (default: 5s)")
      ->type_name("TIME")
      ->needs(flag);
}

void WitnessFlags::check() const {
  static_cast<void>(weight_seed(weights));
  static_cast<void>(parse_budget(time));
}

std::vector<Witness> make_witnesses(const WitnessFlags& flags, const ModelOptions& models, const Session& session) {
  ModelOptions executable = models;
  executable.executable = true;
  const bool on_device = session.machine().is_device();
  const auto& of_session = session.options().backends;  // none where a process of its own has measured on a device
  const WitnessOptions wanted{
      .backends = of_session.empty() ? usable_backends(session.analysis_options().backends) : of_session,
      .checked_by = on_device ? usable_backends() : WitnessOptions{}.checked_by,
      .threads = session.analysis_options().threads,
      .budget = parse_budget(flags.time).value_or(WitnessOptions{}.budget),
      .weight_seed = weight_seed(flags.weights)};
  std::vector<Witness> result;
  for (const auto& model : wanted_models(executable)) {
    try {
      result.push_back(make_witness(load_graph(model), session.database(), wanted));
    } catch (const InputError& error) {
      result.push_back({.refused = error.what()});
    } catch (const EnvironmentError& error) {  // for example, the device was lost
      result.push_back({.refused = error.what()});
    }
  }
  return result;
}

}  // namespace benanza::tool
