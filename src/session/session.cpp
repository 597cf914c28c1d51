// SPDX-License-Identifier: Apache-2.0
#include "isolation/worker.hpp"
#include "measure/known.hpp"
#include "missing_layers.hpp"
#include "plan/backends.hpp"
#include "plan/cpu_set.hpp"
#include "run_file.hpp"
#include <benanza/bounds/analyze.hpp>
#include <benanza/error.hpp>
#include <benanza/model/layer_signature.hpp>
#include <benanza/plan/kernel_settings.hpp>
#include <benanza/results/result_check.hpp>
#include <benanza/session/backends.hpp>
#include <benanza/session/session.hpp>
#include <benanza/version.hpp>

#include <pwd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace benanza {

namespace {

std::vector<CeilingRow> known_ceilings(const ResultDatabase& database) {
  std::vector<CeilingRow> result;
  for (const auto& run : database.runs()) result.insert(result.end(), run.ceilings.begin(), run.ceilings.end());
  return result;
}

/// `2026-11-28`, UTC.
std::string today() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[16];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%d", &parts)};
}

/// One line for each file of the database that was not read, and for each file from which rows were left out.
void warn_of_faults(const ResultDatabase& database, const std::function<void(const std::string&)>& warn) {
  if (!warn) return;
  for (const auto& file : database.warnings()) warn("not read: " + file);
  for (const auto& line : left_out(database)) warn(line);
}

}  // namespace

std::filesystem::path default_database() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache && *cache) return std::filesystem::path(cache) / "benanza" / "results";
  const char* home = std::getenv("HOME");
  if (!home || !*home)
    if (const passwd* user = getpwuid(getuid())) home = user->pw_dir;
  return std::filesystem::path(home && *home ? home : ".") / ".cache" / "benanza" / "results";
}

Session Session::open(SessionOptions options) {
  Session session;
  session.options_ = std::move(options);
  session.find_machine();
  const SessionOptions& given = session.options_;
  const int cores = session.machine_.cores;
  if (given.threads > cores) {
    const std::string why =
        session.machine_.is_device() || cpu_limit().empty()
            ? "one NUMA node of this machine has " + std::to_string(cores) + " physical cores (a GPU is driven by 1)"
            : "expected at most " + std::to_string(cores) + ": " + cpu_limit();
    throw UsageError("--threads " + std::to_string(given.threads) + ": " + why);
  }
  session.analysis_options_.threads = given.threads > 0 ? given.threads : cores;
  for (const auto& backend : session.versions_) session.analysis_options_.backends.push_back(backend.name);
  session.everything_ = ResultDatabase::open(given.database);
  session.database_ = session.everything_.select(session.machine_, session.versions_, given.accept);
  for (const auto& line : session.everything_.not_counted(session.machine_, given.accept)) session.warn(line);
  warn_of_faults(session.database_, given.warn);
  return session;
}

void Session::find_machine() {
  if (!options_.worker.empty())
    worker_ =
        std::make_shared<const isolation::Worker>(options_.worker, isolation::WorkerOptions{.warn = options_.warn});
  auto& backends = options_.backends;
  const auto names = backends.empty() ? options_.backend_names : names_of(backends);
  if (worker_ && name_device(names, backends.empty() ? plan::all_backends() : backends)) {
    isolation::Surroundings found = worker_->surroundings(names);
    for (const auto& text : found.warnings) warn(text);
    machine_ = std::move(found.machine);
    versions_ = std::move(found.backends);
    return;
  }
  if (backends.empty()) backends = usable_backends(names, options_.warn);
  machine_ = measure::machine_of(backends);
  if (worker_) machine_.settings = kernel_settings(true);
  versions_ = versions_of(backends);
}

std::vector<Analysis> Session::bound(std::span<const ModelLayers> models, const BoundOptions& options) {
  const Measured measured = measure_missing(models, options);
  if (!measured.not_kept.empty()) warn(measured.not_kept);
  return analyze(models);
}

Analysis Session::bound(const ModelLayers& model, const BoundOptions& options) {
  return bound(std::span(&model, 1), options).front();
}

std::vector<Analysis> Session::analyze(std::span<const ModelLayers> models) const {
  std::vector<Analysis> result;
  for (const auto& model : models) result.push_back(benanza::analyze(model, database_, analysis_options_));
  return result;
}

Measured Session::measure_missing(std::span<const ModelLayers> models, const BoundOptions& options) {
  const measure::Question question{.backends = analysis_options_.backends,
                                   .caches = options_.caches,
                                   .threads = analysis_options_.threads,
                                   .certain = options.again == Again::uncertain};
  const std::optional<Retry> retry =
      worker_ ? std::optional(Retry{.day = today(), .tool = std::string(version)}) : std::nullopt;
  MissingLayers missing = missing_layers(database_, models, question, options.again, retry);
  BoundOptions with_budget = options;
  with_budget.budget = options.budget.value_or(default_budget(models));
  std::function<void(const Run&)> rows_so_far;
  if (options.so_far && models.size() == 1)
    rows_so_far = [&](const Run& rows) { tell(models.front(), rows, options.so_far); };
  Measured result = measure(missing.layers, missing.name, with_budget, std::move(missing.earlier), rows_so_far);
  const auto tuned = std::count_if(missing.layers.begin(), missing.layers.end(),
                                   [](const measure::Wanted& entry) { return entry.known.empty(); });
  result.known = missing.needed - static_cast<std::size_t>(tuned);
  result.saved = missing.saved;
  return result;
}

void Session::tell(const ModelLayers& model, const Run& rows_so_far,
                   const std::function<void(const Analysis&)>& receive) const {
  ResultDatabase now = database_;
  now.add(rows_so_far);
  const Analysis analysis =
      benanza::analyze(model, now.select(machine_, versions_, options_.accept), analysis_options_);
  if (!analysis.partial()) receive(analysis);
}

Measured Session::measure_layers(std::span<const measure::Wanted> layers, const std::string& name,
                                 const BoundOptions& options, std::vector<Measurement> earlier) {
  return measure(layers, name, options, std::move(earlier), {});
}

Measured Session::measure(std::span<const measure::Wanted> layers, const std::string& name, const BoundOptions& options,
                          std::vector<Measurement> earlier, const std::function<void(const Run&)>& rows_so_far) {
  Measured result{.layers = layers.size()};
  if (layers.empty()) return result;
  RunFile file(name, options_.database);
  std::set<std::string> selected;
  for (const auto& entry : layers)
    if (entry.known.empty()) selected.insert(LayerSignature(entry.layer).text());

  const auto begin = std::chrono::steady_clock::now();
  measure::MeasureOptions measure_options{.threads = analysis_options_.threads,
                                          .caches = options_.caches,
                                          .budget = options.budget.value_or(Seconds{60}),
                                          .progress = options.progress,
                                          .metrics = options_.metrics,
                                          .stop = options.stop};
  measure_options.keep = [&](const Run& so_far) {
    if (!selected.empty()) file.keep(so_far, selected);
    if (!rows_so_far) return;
    std::set<std::string> timed;
    for (const auto& row : so_far.rows)
      if (row.measured() && selected.contains(row.signature)) timed.insert(row.signature);
    if (timed == selected) rows_so_far(so_far);
  };
  measure_options.keep_failed = [&](std::string_view reason) {
    warn("not kept while measuring: " + std::string(reason));
  };
  if (!earlier.empty())
    measure_options.earlier =
        std::make_shared<const Run>(Run{.machine = machine_, .backends = versions_, .rows = std::move(earlier)});
  if (auto ceilings = known_ceilings(database_); !ceilings.empty()) measure_options.ceilings = std::move(ceilings);
  Run run = worker_ ? worker_->measure(layers, analysis_options_.backends, measure_options)
                    : measure::measure(layers, options_.backends, measure_options);
  run.name = name;
  for (const auto& warning : run.warnings) warn(warning);
  std::set<std::string> with_rows;
  for (const auto& row : run.rows) {
    with_rows.insert(row.signature);
    if (selected.erase(row.signature) > 0) ++result.tuned;
  }
  result.with_rows = with_rows.size();
  try {
    file.write(run);
    run = read_run(file.path());  // as a later call will read it
    result.run = run.file;
  } catch (const EnvironmentError& error) {  // a full disk does not cost what was measured
    result.not_kept = error.what();
  }
  everything_.add(std::move(run));
  database_ = everything_.select(machine_, versions_,
                                 options_.accept);  // leaves out rows that cannot be true, and raises ceilings
  ResultDatabase latest;
  for (const auto& each : database_.runs())
    if (each.file == result.run) latest.add(each);
  for (const auto& line : left_out(latest)) warn(line);
  result.took = {std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count()};
  result.stopped = options.stop.stop_requested();
  return result;
}

}  // namespace benanza
