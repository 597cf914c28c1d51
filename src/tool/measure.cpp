// SPDX-License-Identifier: Apache-2.0
// benanza measure: single layers by their signatures: every plan of every library, no model needed.
#include "commands.hpp"
#include "measuring.hpp"
#include "output.hpp"
#include "plan/accompanied.hpp"
#include "plan/backends.hpp"
#include <benanza/base/detail/duration.hpp>
#include <benanza/bounds/layer_floor.hpp>
#include <benanza/model/layer.hpp>
#include <benanza/model/layer_signature.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <memory>

namespace benanza::tool {

namespace {

struct MeasureCommand {
  std::vector<std::string> signatures{};
  MeasuringOptions measuring{};
  OutputOptions output{};
  std::string budget = "10s";
};

/// The backend of the processes that mpirun started, including this one; null if it started none.
std::shared_ptr<const AccompaniedBackend> processes_beside() {
  for (const auto& backend : plan::all_backends())
    if (auto found = std::dynamic_pointer_cast<const AccompaniedBackend>(backend);
        found && (found->follows() || found->leads()))
      return found;
  return nullptr;
}

int run(const MeasureCommand& given) {
  MeasureCommand options = given;
  if (const auto beside = processes_beside()) {
    if (beside->follows()) {
      beside->follow();
      return done;
    }
    options.measuring.isolate = false;  // a child would not be one of them
  }
  check_writable(options.output);
  std::vector<measure::Wanted> wanted;
  for (const auto& text : options.signatures) {
    wanted.push_back({.layer = parse_layer(text)});
    if (is_free(wanted.back().layer)) throw InputError(text + ": costs nothing, so there is nothing to measure");
  }
  const Seconds budget = detail::parse_duration(options.budget, "--budget") * static_cast<double>(wanted.size());
  Session session = open_session(options.measuring, options.output.quiet);
  const Outcome measured = watched(session, options.output.quiet, {.budget = budget}, [&](const BoundOptions& bound) {
    return session.measure_layers(wanted, "layers", bound);
  });
  PlansReport report{
      .machine = session.machine(),
      .backends = session.versions(),
      .footer = fmt::format("measured in {:.1f} s; {}", measured.took.value, where_kept(measured, session))};
  const auto rows = session.database().newest_rows();
  const Ceilings ceilings = session.database().ceilings(session.analysis_options().threads);
  for (const auto& entry : wanted) {
    LayerPlans plans{.layer = entry.layer,
                     .signature = LayerSignature(entry.layer).text(),
                     .direct_floor = layer_floor(entry.layer, ceilings),
                     .least_floor = layer_floor(entry.layer, ceilings, true)};
    if (const auto found = rows.find(plans.signature); found != rows.end()) plans.candidates = found->second;
    report.layers.push_back(std::move(plans));
  }
  emit(report, options.output);
  if (!measured.not_kept.empty()) throw EnvironmentError(measured.not_kept);
  return measured.interrupted;
}

}  // namespace

void add_measure(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<MeasureCommand>();
  auto* command =
      app.add_subcommand("measure", "measures single layers by their signatures: every plan of every library");
  command->footer("benanza measure Conv/f32/x=1x64x56x56/w=64x64x3x3/pads=1x1x1x1/post=relu");
  command->add_option("signatures", options->signatures, "as `benanza layers --all` prints them")
      ->required()
      ->type_name("SIGNATURE...");
  options->measuring.add_to(*command);
  options->measuring.add_metrics_to(*command);
  options->output.add_to(*command);
  command->add_option("--budget", options->budget, "time to spend on each layer")
      ->type_name("TIME")
      ->capture_default_str();
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace benanza::tool
