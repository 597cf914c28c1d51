// SPDX-License-Identifier: Apache-2.0
#include "measuring.hpp"

#include "models.hpp"
#include "terminal.hpp"
#include <benanza/bench/backends.hpp>
#include <benanza/bench/interrupt.hpp>
#include <benanza/bench/measure.hpp>
#include <benanza/bench/supervisor.hpp>
#include <benanza/error.hpp>
#include <benanza/layer_signature.hpp>

#include <algorithm>
#include <chrono>
#include <set>

namespace benanza::tool {

namespace {

using RowsOfLayers = std::map<std::string, std::vector<Measurement>>;

/// Every backend was asked, and every cache state that the layer can be in has a time, unless nothing has.
bool is_known(const Layer& layer, const std::vector<Measurement>& rows, const Session& session,
              const std::vector<CacheState>& caches) {
  const auto any = [&](auto&& holds) {
    return std::any_of(rows.begin(), rows.end(),
                       [&](const Measurement& row) { return row.threads <= session.analysis.threads && holds(row); });
  };
  const bool asked = std::all_of(session.backends.begin(), session.backends.end(), [&](const auto& backend) {
    return any([&](const Measurement& row) { return row.backend == backend->name(); });
  });
  const bool none_runs = !any([](const Measurement& row) { return !row.excluded; });
  return asked && (none_runs || std::all_of(caches.begin(), caches.end(), [&](CacheState cache) {
                     return !bench::applies(cache, layer) ||
                            any([&](const Measurement& row) { return row.cache == cache && !row.excluded; });
                   }));
}

/// Whether one run gave rounds to every layer that runs at all. They may all have been contended: then this machine is
/// not quiet, and to measure again at each call would not make it so.
bool timed_together(const ResultDatabase& database, const RowsOfLayers& known, const LayerSet& layers) {
  const auto runs = [&](const std::string& signature) {
    const auto& rows = known.at(signature);
    return std::any_of(rows.begin(), rows.end(), [](const Measurement& row) { return !row.excluded; });
  };
  const auto whole = [&](const Run& run) {
    std::set<std::string> timed;
    for (const auto& row : run.rows)
      if (!row.rounds_s.empty()) timed.insert(row.signature);
    return std::all_of(layers.layers().begin(), layers.layers().end(), [&](const auto& entry) {
      const std::string& signature = entry.first.text();
      return timed.contains(signature) || !runs(signature);
    });
  };
  return std::any_of(database.runs().begin(), database.runs().end(), whole);
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
  const auto is_in = [](const std::vector<std::string>& list, std::string_view name) {
    return std::find(list.begin(), list.end(), name) != list.end();
  };
  const std::vector<std::string> wanted = expand_backends(names);
  std::string refused;
  for (const auto& backend : all) {
    // A session measures one device; without a word about it, the processor.
    if (names.empty() ? backend->on_device() : !is_in(wanted, backend->name())) continue;
    const auto availability = backend->availability();
    const auto* why = std::get_if<Unsupported>(&availability);
    const std::string reason =
        why ? "backend " + std::string(backend->name()) + " is not available: " + why->reason : std::string();
    if (why && is_in(names, backend->name()) && backend->name() != "cuda") throw EnvironmentError(reason);
    if (why && refused.empty()) refused = reason;
    if (!why) result.push_back(backend);
  }
  if (result.empty() && !refused.empty()) throw EnvironmentError(refused);
  for (const auto& name : names)
    if (std::none_of(all.begin(), all.end(), [&](const auto& backend) { return backend->name() == name; })) {
      std::string there;
      for (const auto& backend : all) there += (there.empty() ? "" : ", ") + std::string(backend->name());
      throw UsageError("--backend: no backend is called '" + name + "'; there are " + there);
    }
  return result;
}

bool needs_supervisor(const MeasuringOptions& options) {
  if (bench::Supervised::current()) return false;
  const std::vector<std::string> names = expand_backends(options.backends);
  const auto all = bench::all_backends();
  return options.isolate || std::any_of(all.begin(), all.end(), [&](const auto& backend) {
           return backend->on_device() && std::find(names.begin(), names.end(), backend->name()) != names.end();
         });
}

std::vector<BackendVersion> versions_of(const std::vector<std::shared_ptr<const Backend>>& backends) {
  std::vector<BackendVersion> result;
  for (const auto& backend : backends) result.push_back({std::string(backend->name()), backend->version()});
  return result;
}

Session open_session(const MeasuringOptions& options) {
  Session session{.backends = usable_backends(options.backends)};
  session.machine = bench::machine_of(session.backends);
  session.analysis = {.threads = options.threads > 0 ? options.threads : session.machine.cores,
                      .backends = expand_backends(options.backends)};
  if (session.analysis.threads > session.machine.cores)
    throw UsageError("--threads " + std::to_string(options.threads) + ": one NUMA node of this machine has " +
                     std::to_string(session.machine.cores) + " physical cores (a GPU is driven by 1)");
  session.database = ResultDatabase::open(options.database).select(session.machine, versions_of(session.backends));
  return session;
}

MeasuringResult measure_missing(Session& session, const std::vector<ModelLayers>& models, Seconds budget,
                                const MeasuringOptions& options, bool quiet, bool again) {
  const auto rows = session.database.newest_rows();
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
      complete = complete && found != rows.end() && is_known(unique.layer, found->second, session, options.caches);
    }
    if (complete && timed_together(session.database, rows, layers) && !again) continue;
    add_measurable(model, wanted);
    name += (name.empty() ? "" : "-") + model.single.model;
  }
  std::vector<bench::Wanted> list;
  for (const auto& [layer_signature, unique] : wanted.layers()) {
    bench::Wanted entry{.layer = unique.layer, .weight = static_cast<double>(unique.count())};
    const auto found = rows.find(layer_signature.text());
    if (found != rows.end() && is_known(unique.layer, found->second, session, options.caches))
      entry.known = found->second;
    list.push_back(std::move(entry));
  }
  if (name.size() > 60) name = std::to_string(models.size()) + "-models";
  MeasuringResult result = measure_layers(session, list, name, budget, options, quiet);
  result.known = needed.size() - result.measured;
  return result;
}

MeasuringResult measure_layers(Session& session, const std::vector<bench::Wanted>& layers, const std::string& name,
                               Seconds budget, const MeasuringOptions& options, bool quiet) {
  MeasuringResult result;
  if (layers.empty()) return result;
  result.measured = static_cast<std::size_t>(
      std::count_if(layers.begin(), layers.end(), [](const bench::Wanted& entry) { return entry.known.empty(); }));

  const bench::InterruptWatch interrupt;
  terminal::ProgressBar bar(quiet);
  const auto begin = std::chrono::steady_clock::now();
  bench::MeasureOptions measure_options{.threads = session.analysis.threads,
                                        .caches = options.caches,
                                        .budget = budget,
                                        .progress = [&](const bench::Progress& p) { bar.show(p); },
                                        .cancelled = &interrupt.interrupted()};
  if (auto ceilings = known_ceilings(session.database); !ceilings.empty())
    measure_options.ceilings = std::move(ceilings);
  Run run = bench::measure_supervised(layers, session.backends, measure_options);
  run.name = name;
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
  result.interrupted = interrupt.interrupted();
  return result;
}

}  // namespace benanza::tool
