// SPDX-License-Identifier: Apache-2.0
#include "finished_layers.hpp"
#include "isolation/worker.hpp"
#include "suite_flags.hpp"
#include <benanza/bench/run_suite.hpp>
#include <benanza/error.hpp>
#include <benanza/isolation/interrupt.hpp>
#include <benanza/measure/measure.hpp>
#include <benanza/model/layer_signature.hpp>
#include <benanza/plan/choose_backends.hpp>
#include <benanza/plan/kernel_settings.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <iostream>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <unistd.h>

namespace benanza::bench {

namespace {

void print_help() {
  benchmark::PrintDefaultHelp();
  std::fputs(
      "\n"
      "All rows are measured in one session, which spreads visits of a row over its length; then each is reported as "
      "one iteration.\n"
      "Of the session:\n"
      "          [--benanza_threads=<most threads>]    (default: one for each physical core of one NUMA node)\n"
      "          [--benanza_budget=<e.g. 60s, 5m>]     (default: 60s, or 1s for each layer if that is more)\n"
      "          [--benanza_cache=<state>,...]         (hot, cold-weights, cold; default: the first two)\n"
      "          [--benanza_metrics=<metric>,...]      (kernels, dram, flops, occupancy: keeps the kernels of chosen "
      "plans "
      "in\n"
      "                                                 --benchmark_out, with hardware counters; on a GPU)\n"
      "          [--benanza_isolate=<bool>]            (default: true; in a process of its own: rows that crash, hang "
      "or\n"
      "                                                 eat the memory are left out by running again without them;\n"
      "                                                 always so on a GPU)\n"
      "          [--benanza_done=<file>]               (signatures that this machine has finished, one a line, are "
      "left "
      "out;\n"
      "                                                 those of this run are added; what a killed run left in\n"
      "                                                 --benchmark_out is taken up)\n"
      "The filter is matched against row names, <backend>/<algorithm>/<cache state>/<signature>, without what follows "
      "them below.\n"
      "--benchmark_repetitions=<n> shows <n> times of a row, of <n> parts of its rounds; a row without so many is "
      "shown once.\n"
      "Without effect on what is measured: --benchmark_min_time, --benchmark_min_warmup_time,\n"
      "          --benchmark_enable_random_interleaving, --benchmark_perf_counters; --benchmark_context appears on the "
      "console only.\n",
      stdout);
}

std::vector<measure::Wanted> wanted_layers(const Suite& suite, const std::string& filter) {
  std::vector<measure::Wanted> wanted;
  for (const auto& table : suite.tables) {
    for (std::size_t i = 0; i < table.size(); ++i) {
      Layer layer = table[i];
      if (!is_free(layer) && may_pass(filter, LayerSignature(layer).text()))
        wanted.push_back({.layer = std::move(layer)});
    }
  }
  return wanted;
}

/// A suite must not leave a part of it unmeasured because a backend that it names is missing. Throws EnvironmentError.
void check_available(const isolation::Surroundings& found) {
  for (const auto& backend : found.all)
    if (!backend.unavailable.empty())
      throw EnvironmentError("backend " + backend.name + " is not available: " + backend.unavailable);
}

void show_progress(const measure::Progress& progress) {
  std::fprintf(stderr, "\r\033[K%.*s %zu/%zu, %.0f s, at most %.0f s left  %.*s",
               static_cast<int>(progress.phase.size()), progress.phase.data(), progress.done, progress.total,
               progress.elapsed.value, progress.remaining.value,
               static_cast<int>(std::min<std::size_t>(60, progress.what.size())), progress.what.data());
}

void set_counters(benchmark::State& state, const Measurement& row) {
  state.counters["p10_ns"] = row.times->p10.value * 1e9;
  state.counters["median_ns"] = row.times->median.value * 1e9;
  state.counters["p90_ns"] = row.times->p90.value * 1e9;
  state.counters["min_ns"] = row.times->min.value * 1e9;
  state.counters["cv"] = row.times->cv.value_or(0);
  state.counters["samples"] = static_cast<double>(row.samples);
  state.counters["calls_per_sample"] = static_cast<double>(row.calls_per_sample);
  if (row.contended) state.counters["contended"] = 1;
  if (row.noisy) state.counters["noisy"] = 1;
}

/// Why there is no row to show.
const char* nothing_measured(std::span<const measure::Wanted> wanted, const SuiteFlags& flags) {
  if (!wanted.empty()) return "no plan matches --benchmark_filter, or --benanza_budget ended before one was measured";
  return flags.done.empty() ? "no layer matches --benchmark_filter" : "all layers are finished (--benanza_done)";
}

/// `once`: whatever the flags say, since there is one time to show, and equal ones would look like a spread of 0.
template <class Body>
void add_benchmark(const std::string& name, bool once, Body body) {
  auto* const added = benchmark::RegisterBenchmark(name.c_str(), std::move(body))->Iterations(1)->UseManualTime();
  if (once) added->Repetitions(1);
}

/// With several repetitions, each shows the p10 of a part of the row's rounds, or else of its visits: a session
/// measures a row over all its length, and nothing is measured while Google Benchmark reports it. A row with fewer of
/// them is shown once.
void add_row(const Measurement& row, std::size_t repetitions) {
  std::vector<double> parts = p10_of_parts(row.rounds_s, repetitions);
  if (parts.empty()) parts = p10_of_parts(row.visits_s, repetitions);
  const bool once = repetitions > 1 && parts.empty();
  add_benchmark(row.name(), once, [row, parts, repetition = std::size_t{0}](benchmark::State& state) mutable {
    if (!row.measured()) return state.SkipWithError(row.reason.c_str());
    const double time = parts.empty() ? row.times->p10.value : parts[repetition++ % parts.size()];
    for (auto _ : state) state.SetIterationTime(time);
    set_counters(state, row);
  });
}

void add_row(const CeilingRow& ceiling, std::size_t repetitions) {
  add_benchmark(ceiling.name(), repetitions > 1, [ceiling](benchmark::State& state) {
    for (auto _ : state) state.SetIterationTime(ceiling.time().value);
    if (const auto key = ceiling.quantity.rate_key(); !key.empty()) state.counters[std::string(key)] = ceiling.value;
    if (ceiling.in_front_bytes > 0) state.counters["in_front_bytes"] = ceiling.in_front_bytes;
  });
}

/// The flag with which a suite starts itself, followed by a folder (worker.hpp); not in its help.
constexpr std::string_view worker_flag = "--benanza_worker";

/// Empty if the suite is to measure in its own process, which it never does on an accelerator, or if it is not to
/// measure.
std::optional<isolation::Worker> worker_of(const Suite& suite, const SuiteFlags& flags) {
  const bool isolated = flags.isolate || name_device(names_of(suite.backends), suite.backends);
  if (flags.list || !isolated) return std::nullopt;
  const auto warn = [](const std::string& text) { std::fprintf(stderr, "warning: %s\n", text.c_str()); };
  return isolation::Worker({isolation::own_program(), std::string(worker_flag)}, {.warn = warn});
}

int measure_and_report(const Suite& suite, int argc, char** argv) {
  SuiteFlags flags = parse_suite_flags(argc, argv);
  std::vector<char*> rest;
  for (auto& argument : flags.rest) rest.push_back(argument.data());
  int count = static_cast<int>(rest.size());
  rest.push_back(nullptr);
  benchmark::Initialize(&count, rest.data(), print_help);
  if (benchmark::ReportUnrecognizedArguments(count, rest.data())) return 2;

  std::vector<measure::Wanted> wanted = wanted_layers(suite, flags.filter);
  const auto accept = name_filter(flags.filter);
  const isolation::InterruptWatch interrupt;
  measure::MeasureOptions options{
      .threads = flags.threads, .accept = accept, .metrics = flags.metrics, .stop = interrupt.stop_token()};
  if (!flags.caches.empty()) options.caches = flags.caches;
  const std::vector<std::string> names = names_of(suite.backends);
  const std::optional<isolation::Worker> worker = worker_of(suite, flags);
  isolation::Surroundings found;
  if (flags.list) found = {.machine = measure::machine_of(suite.backends), .backends = versions_of(suite.backends)};
  else found = worker ? worker->surroundings(names) : isolation::surroundings_of(suite.backends, names);
  check_available(found);
  std::optional<FinishedLayers> finished;
  std::set<std::string> done;
  if (!flags.done.empty()) {
    finished.emplace(flags.done, found.machine, found.backends);
    done = finished->signatures();
    std::erase_if(wanted,
                  [&](const measure::Wanted& entry) { return done.contains(LayerSignature(entry.layer).text()); });
    if (!flags.out.empty() && !flags.list) options.earlier = read_earlier(flags.out, found.machine);
  }
  if (flags.list) {
    for (const auto& name : measure::candidate_names(wanted, suite.backends, options)) std::cout << name << '\n';
    return 0;
  }
  options.budget = flags.budget.value_or(Seconds{std::max(60.0, static_cast<double>(wanted.size()))});
  if (!flags.out.empty()) {
    options.keep = [&, earlier = options.earlier](Run run) {
      run.name = suite.name;
      if (earlier) add_finished(run, *earlier, done);
      write_run(run, flags.out);
    };
    options.keep_failed = [](std::string_view reason) {
      std::fprintf(stderr, "warning: not kept while measuring: %.*s\n", static_cast<int>(reason.size()), reason.data());
    };
  }
  const bool terminal = isatty(STDERR_FILENO) != 0;
  if (terminal) options.progress = show_progress;
  Run run = worker ? worker->measure(wanted, names, options, flags.filter)
                   : measure::measure(wanted, suite.backends, options);
  if (terminal) std::fputs("\r\033[K", stderr);
  run.name = suite.name;
  if (options.earlier) add_finished(run, *options.earlier, done);
  std::string not_written;
  try {
    if (!flags.out.empty()) write_run(run, flags.out);
    if (finished) finished->add(run);
  } catch (const EnvironmentError& error) {  // a full disk does not cost the output
    not_written = error.what();
  }

  for (const auto& [key, value] : run_context(run)) benchmark::AddCustomContext(key, value);
  std::size_t rows = run.rows.size();
  for (const auto& ceiling : run.ceilings) {
    if (!accept(ceiling.name())) continue;
    add_row(ceiling, flags.repetitions);
    ++rows;
  }
  for (const auto& row : run.rows) add_row(row, flags.repetitions);
  if (rows > 0) benchmark::RunSpecifiedBenchmarks();
  else std::fprintf(stderr, "no row: %s\n", nothing_measured(wanted, flags));
  benchmark::Shutdown();
  if (!not_written.empty()) throw EnvironmentError(not_written);
  return interrupt.exit_code();
}

}  // namespace

int run_suite(const Suite& suite, int argc, char** argv) {
  ignore_kernel_settings();
  const auto failed = [&](const std::exception& error, int code) {
    std::fprintf(stderr, "%s: %s\n", argc > 0 ? argv[0] : suite.name.c_str(), error.what());
    return code;
  };
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is an error to report, not a silent end
  if (argc == 3 && argv[1] == worker_flag) return isolation::serve_worker(argv[2], suite.backends, name_filter);
  try {
    return measure_and_report(suite, argc, argv);
  } catch (const UsageError& error) {
    return failed(error, 2);
  } catch (const InputError& error) {
    return failed(error, 1);
  } catch (const std::exception& error) {
    return failed(error, 5);
  }
}

}  // namespace benanza::bench
