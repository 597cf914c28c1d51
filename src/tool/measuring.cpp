// SPDX-License-Identifier: Apache-2.0
#include "measuring.hpp"

#include "models.hpp"
#include "stored.hpp"
#include "terminal.hpp"
#include <benanza/detail/parse_duration.hpp>
#include <benanza/error.hpp>
#include <benanza/isolation/interrupt.hpp>
#include <benanza/isolation/supervisor.hpp>
#include <benanza/measure/known.hpp>
#include <benanza/measure/measure.hpp>
#include <benanza/model/cost.hpp>
#include <benanza/model/layer_signature.hpp>
#include <benanza/plan/backends.hpp>
#include <benanza/results/whole_file.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

namespace benanza::tool {

namespace {

using RowsOfLayers = std::map<std::string, std::vector<Measurement>>;

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

/// The file of a session's run. It holds what there is so far, so that a killed session leaves that.
class RunFile {
 public:
  RunFile(std::string name, std::filesystem::path folder) : name_(std::move(name)), folder_(std::move(folder)) {}

  /// Of the `selected` layers: what others have in the database is better than a part of their rounds. No rounds
  /// either: those of a whole session are still to come.
  void keep(Run so_far, const std::set<std::string>& selected) {
    std::erase_if(so_far.rows, [&](const Measurement& row) { return !selected.contains(row.signature); });
    for (auto& row : so_far.rows) row.rounds_s.clear();
    const bool is_new = file_.empty();
    write(std::move(so_far));
    if (!is_new) return;
    if (const auto supervised = bench::Supervised::current()) supervised->keep_in(file_.string());
  }

  void write(Run run) {
    run.name = name_;
    if (!file_.empty()) return write_run(run, file_);
    ResultDatabase fresh;
    fresh.append(std::move(run), folder_);
    file_ = fresh.runs().front().file;
  }

  [[nodiscard]] const std::filesystem::path& path() const { return file_; }

 private:
  std::string name_;
  std::filesystem::path folder_, file_{};
};

/// Takes back what a forerunner of this supervised process kept: the journal holds that and more, and layers that the
/// database knows would not be finished.
void take_back() {
  const auto supervised = bench::Supervised::current();
  if (!supervised || supervised->kept_in().empty()) return;
  std::error_code none;
  std::filesystem::remove(supervised->kept_in(), none);
  supervised->keep_in({});
}

void check_folder(const std::filesystem::path& folder) {
  const std::filesystem::path file = write_new(folder, "writable", ".probe", "\n");
  std::error_code none;
  std::filesystem::remove(file, none);
}

bool needs_supervisor(const MeasuringOptions& options) {
  if (bench::Supervised::current()) return false;
  const std::vector<std::string> names = expand_backends(options.backends);
  const auto all = bench::all_backends();
  return options.isolate || std::any_of(all.begin(), all.end(), [&](const auto& backend) {
           return backend->on_device() && std::find(names.begin(), names.end(), backend->name()) != names.end();
         });
}

}  // namespace

std::vector<std::shared_ptr<const Backend>> usable_backends(const std::vector<std::string>& names) {
  std::vector<std::shared_ptr<const Backend>> result;
  const auto all = bench::all_backends();
  const auto is_in = [](const std::vector<std::string>& list, std::string_view name) {
    return std::find(list.begin(), list.end(), name) != list.end();
  };
  const std::vector<std::string> wanted = expand_backends(names);
  std::vector<std::string> refused;
  for (const auto& backend : all) {
    // A session measures one device; without a word about it, the processor.
    if (names.empty() ? backend->on_device() : !is_in(wanted, backend->name())) continue;
    const auto availability = backend->availability();
    const auto* why = std::get_if<Unsupported>(&availability);
    const std::string reason =
        why ? "backend " + std::string(backend->name()) + " is not available: " + why->reason : std::string();
    if (why && is_in(names, backend->name()) && backend->name() != "cuda") throw EnvironmentError(reason);
    if (why) refused.push_back(reason);
    if (!why) result.push_back(backend);
  }
  if (result.empty() && !refused.empty()) throw EnvironmentError(refused.front());
  if (!names.empty())  // of a group: a bound without one of its libraries is another bound
    for (const auto& reason : refused) terminal::warn(reason);
  for (const auto& name : names)
    if (std::none_of(all.begin(), all.end(), [&](const auto& backend) { return backend->name() == name; })) {
      std::string there;
      for (const auto& backend : all) there += (there.empty() ? "" : ", ") + std::string(backend->name());
      throw UsageError("--backend: no backend is called '" + name + "'; there are " + there);
    }
  return result;
}

int run_measuring(const MeasuringOptions& options, const std::function<int()>& command) {
  return needs_supervisor(options) ? bench::supervise(bench::own_command()) : command();
}

std::vector<BackendVersion> versions_of(const std::vector<std::shared_ptr<const Backend>>& backends) {
  std::vector<BackendVersion> result;
  for (const auto& backend : backends) result.push_back({std::string(backend->name()), backend->version()});
  return result;
}

std::string where_kept(const MeasuringResult& result, const std::filesystem::path& folder) {
  return result.not_kept.empty() ? "kept in " + folder.string() : "not kept";
}

ResultDatabase open_database(const MeasuringOptions& options, const Machine& machine,
                             std::span<const BackendVersion> versions, bool quiet) {
  ResultDatabase database = ResultDatabase::open(options.database).select(machine, versions);
  if (!quiet) {
    warn_of_unread(database);
    warn_of_left_out(database);
  }
  return database;
}

Session open_session(const MeasuringOptions& options, bool quiet) {
  Session session{.backends = usable_backends(options.backends)};
  session.machine = bench::machine_of(session.backends);
  session.analysis = {.threads = options.threads > 0 ? options.threads : session.machine.cores,
                      .backends = expand_backends(options.backends)};
  if (session.analysis.threads > session.machine.cores)
    throw UsageError("--threads " + std::to_string(options.threads) + ": one NUMA node of this machine has " +
                     std::to_string(session.machine.cores) + " physical cores (a GPU is driven by 1)");
  take_back();
  session.database = open_database(options, session.machine, versions_of(session.backends), quiet);
  return session;
}

std::optional<Seconds> parse_budget(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional(detail::parse_duration(text));
}

Seconds default_budget(std::span<const ModelLayers> models) {
  constexpr FlopsPerSecond pace{8e9};  // a processor of 100 GFLOP/s calls each layer a dozen times
  const Seconds least{models.size() == 1 ? 45.0 : 36.0};
  Seconds budget{};
  for (const auto& model : models) {
    LayerSet layers;
    add_measurable(model, layers);
    Flops once{};
    for (const auto& [signature, unique] : layers.layers()) once += cost(unique.layer).flops;
    budget += std::max(least, once / pace);
  }
  return budget;
}

MeasuringResult measure_missing(Session& session, const std::vector<ModelLayers>& models, Seconds budget,
                                const MeasuringOptions& options, bool quiet, Again again) {
  const auto rows = session.database.newest_rows();
  bench::Question question{
      .caches = options.caches, .threads = session.analysis.threads, .certain = again == Again::uncertain};
  for (const auto& backend : session.backends) question.backends.emplace_back(backend->name());
  const auto is_known = [&](const std::string& signature, const Layer& layer) {
    const auto found = rows.find(signature);
    return found != rows.end() && bench::is_known(layer, found->second, question);
  };
  LayerSet wanted;
  std::string name;
  std::set<std::string> needed;
  for (const auto& model : models) {
    LayerSet layers;
    add_measurable(model, layers);
    bool complete = true;
    for (const auto& [layer_signature, unique] : layers.layers()) {
      needed.insert(layer_signature.text());
      complete = complete && is_known(layer_signature.text(), unique.layer);
    }
    if (complete && timed_together(session.database, rows, layers) && again != Again::all) continue;
    add_measurable(model, wanted);
    name += (name.empty() ? "" : "-") + model.single.model;
  }
  std::vector<bench::Wanted> list;
  std::vector<Measurement> earlier;
  for (const auto& [layer_signature, unique] : wanted.layers()) {
    bench::Wanted entry{.layer = unique.layer, .weight = static_cast<double>(unique.count())};
    const auto found = rows.find(layer_signature.text());
    if (is_known(layer_signature.text(), unique.layer)) {
      entry.known = found->second;
    } else if (question.certain && found != rows.end()) {
      std::copy_if(found->second.begin(), found->second.end(), std::back_inserter(earlier),
                   [&](const Measurement& row) { return row.threads <= question.threads; });
    }
    list.push_back(std::move(entry));
  }
  if (name.size() > 60) name = std::to_string(models.size()) + "-models";
  MeasuringResult result = measure_layers(session, list, name, budget, options, quiet, std::move(earlier));
  result.known = needed.size() - result.wanted;
  return result;
}

MeasuringResult measure_layers(Session& session, const std::vector<bench::Wanted>& layers, const std::string& name,
                               Seconds budget, const MeasuringOptions& options, bool quiet,
                               std::vector<Measurement> earlier) {
  MeasuringResult result;
  if (layers.empty()) return result;
  check_folder(options.database);
  std::set<std::string> selected;
  for (const auto& entry : layers)
    if (entry.known.empty()) selected.insert(LayerSignature(entry.layer).text());
  result.wanted = selected.size();

  const bench::InterruptWatch interrupt;
  terminal::ProgressBar bar(quiet);
  const auto begin = std::chrono::steady_clock::now();
  RunFile file(name, options.database);
  bench::MeasureOptions measure_options{.threads = session.analysis.threads,
                                        .caches = options.caches,
                                        .budget = budget,
                                        .progress = [&](const bench::Progress& p) { bar.show(p); },
                                        .cancelled = &interrupt.interrupted()};
  if (!selected.empty()) measure_options.keep = [&](const Run& so_far) { file.keep(so_far, selected); };
  measure_options.keep_failed = [&](std::string_view reason) {
    if (!quiet) terminal::warn(fmt::format("not kept while measuring: {}", reason));
  };
  if (!earlier.empty())
    measure_options.earlier = std::make_shared<const Run>(
        Run{.machine = session.machine, .backends = versions_of(session.backends), .rows = std::move(earlier)});
  if (auto ceilings = known_ceilings(session.database); !ceilings.empty())
    measure_options.ceilings = std::move(ceilings);
  Run run = bench::measure_supervised(layers, session.backends, measure_options);
  run.name = name;
  if (!quiet)
    for (const auto& warning : run.warnings) terminal::warn(warning);
  std::set<std::string> with_rows;
  for (const auto& row : run.rows) {
    with_rows.insert(row.signature);
    if (selected.erase(row.signature) > 0) ++result.measured;
  }
  try {
    file.write(run);
    result.run = file.path().string();
    session.database = ResultDatabase::open(options.database)
                           .select(session.machine, versions_of(session.backends));  // as a later call reads it
  } catch (const EnvironmentError& error) {
    result.not_kept = error.what();
    session.database.add(std::move(run));  // a full disk does not cost what was measured
  }
  result.took = {std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count()};
  result.interrupted = interrupt.exit_code();
  if (result.interrupted != 0)
    terminal::say(fmt::format("interrupted: {} of {} layers measured{}", with_rows.size(), layers.size(),
                              result.not_kept.empty() ? ", " + where_kept(result, options.database) : ""));
  return result;
}

}  // namespace benanza::tool
