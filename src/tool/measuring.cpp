// SPDX-License-Identifier: Apache-2.0
#include "measuring.hpp"

#include "models.hpp"
#include "terminal.hpp"
#include <benanza/bench/backends.hpp>
#include <benanza/bench/measure.hpp>
#include <benanza/error.hpp>
#include <benanza/layer_signature.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <set>

namespace benanza::tool {

namespace {

std::atomic<bool> cancelled{false};

/// Ctrl-C ends the session early; what is measured stays. A second one ends the program.
class InterruptGuard {
 public:
  InterruptGuard() : before_(std::signal(SIGINT, &InterruptGuard::on_signal)) { cancelled = false; }
  ~InterruptGuard() { std::signal(SIGINT, before_); }
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

 private:
  static void on_signal(int) {
    cancelled = true;
    std::signal(SIGINT, SIG_DFL);
  }
  void (*before_)(int);
};

using RowsOfLayers = std::map<std::string, std::vector<Measurement>>;

/// The newest row of each algorithm.
RowsOfLayers known_rows(const ResultDatabase& database) {
  RowsOfLayers result;
  for (const auto& run : database.runs())
    for (const auto& row : run.rows) {
      auto& rows = result[row.signature];
      const auto same = std::find_if(rows.begin(), rows.end(), [&](const Measurement& other) {
        return other.backend == row.backend && other.algorithm == row.algorithm && other.cache == row.cache;
      });
      if (same == rows.end()) rows.push_back(row);
      else *same = row;
    }
  return result;
}

bool is_known(const std::vector<Measurement>& rows, const Session& session) {
  return std::all_of(session.backends.begin(), session.backends.end(), [&](const auto& backend) {
    return std::any_of(rows.begin(), rows.end(),
                       [&](const Measurement& row) { return row.backend == backend->name(); });
  });
}

std::vector<CeilingRow> known_ceilings(const ResultDatabase& database) {
  std::vector<CeilingRow> result;
  for (const auto& run : database.runs()) result.insert(result.end(), run.ceilings.begin(), run.ceilings.end());
  return result;
}

}  // namespace

std::vector<std::shared_ptr<const Backend>> usable_backends(const std::vector<std::string>& names) {
  std::vector<std::shared_ptr<const Backend>> result;
  const auto all = bench::all_backends();
  for (const auto& backend : all) {
    const bool named = std::find(names.begin(), names.end(), backend->name()) != names.end();
    if (!names.empty() && !named) continue;
    const auto availability = backend->availability();
    const auto* why = std::get_if<Unsupported>(&availability);
    if (why && named)
      throw EnvironmentError("backend " + std::string(backend->name()) + " is not available: " + why->reason);
    if (!why) result.push_back(backend);
  }
  for (const auto& name : names)
    if (std::none_of(all.begin(), all.end(), [&](const auto& backend) { return backend->name() == name; })) {
      std::string there;
      for (const auto& backend : all) there += (there.empty() ? "" : ", ") + std::string(backend->name());
      throw UsageError("--backend: no backend is called '" + name + "'; there are " + there);
    }
  return result;
}

std::vector<BackendVersion> versions_of(const std::vector<std::shared_ptr<const Backend>>& backends) {
  std::vector<BackendVersion> result;
  for (const auto& backend : backends) result.push_back({std::string(backend->name()), backend->version()});
  return result;
}

Session open_session(const MeasuringOptions& options) {
  Session session{.machine = bench::this_machine(), .backends = usable_backends(options.backends)};
  session.analysis = {.threads = options.threads > 0 ? options.threads : session.machine.cores,
                      .backends = options.backends};
  if (session.analysis.threads > session.machine.cores)
    throw UsageError("--threads " + std::to_string(options.threads) + ": one NUMA node of this machine has " +
                     std::to_string(session.machine.cores) + " physical cores");
  session.database = ResultDatabase::open(options.database).select(session.machine, versions_of(session.backends));
  return session;
}

MeasuringResult measure_missing(Session& session, const std::vector<ModelLayers>& models, Seconds budget,
                                const MeasuringOptions& options, bool quiet) {
  const RowsOfLayers rows = known_rows(session.database);
  LayerSet wanted;
  std::string name;
  std::set<std::string> needed;
  for (const auto& model : models) {
    LayerSet layers;
    add_measurable(model, layers);
    bool complete = true;
    for (const auto& [layer_signature, unique] : layers.layers()) {
      needed.insert(layer_signature.text());
      const auto found = rows.find(layer_signature.text());
      complete = complete && found != rows.end() && is_known(found->second, session);
    }
    if (complete && analyze(model, session.database, session.analysis)[RungName::library].common_rounds) continue;
    add_measurable(model, wanted);
    name += (name.empty() ? "" : "-") + model.single.model;
  }
  MeasuringResult result;
  result.known = needed.size();
  if (wanted.size() == 0) return result;

  std::vector<bench::Wanted> list;
  for (const auto& [layer_signature, unique] : wanted.layers()) {
    bench::Wanted entry{.layer = unique.layer, .weight = static_cast<double>(unique.count())};
    const auto found = rows.find(layer_signature.text());
    if (found != rows.end() && is_known(found->second, session)) entry.known = found->second;
    else ++result.measured;
    list.push_back(std::move(entry));
  }
  result.known = needed.size() - result.measured;

  const InterruptGuard guard;
  terminal::ProgressBar bar(quiet);
  const auto begin = std::chrono::steady_clock::now();
  bench::MeasureOptions measure_options{.threads = session.analysis.threads,
                                        .budget = budget,
                                        .progress = [&](const bench::Progress& p) { bar.show(p); },
                                        .cancelled = &cancelled};
  if (auto ceilings = known_ceilings(session.database); !ceilings.empty())
    measure_options.ceilings = std::move(ceilings);
  Run run = bench::measure(list, session.backends, measure_options);
  run.name = name.size() > 60 ? std::to_string(models.size()) + "-models" : name;
  if (!quiet)
    for (const auto& warning : run.warnings) terminal::warn(warning);
  ResultDatabase fresh;
  try {
    fresh.append(std::move(run), options.database);
    session.database = ResultDatabase::open(options.database)
                           .select(session.machine, versions_of(session.backends));  // as a later call reads it
  } catch (const EnvironmentError& error) {
    result.not_kept = error.what();
    session.database.add(std::move(fresh));  // a full disk does not cost what was measured
  }
  result.took = {std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count()};
  result.interrupted = cancelled;
  return result;
}

}  // namespace benanza::tool
