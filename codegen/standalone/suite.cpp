// How rows become benchmarks, and the flags of this suite.
#include "suite.hpp"

#include <benchmark/benchmark.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <tuple>

Options& options() {
  static Options made;
  return made;
}

namespace {

/// The plans that were seen.
std::set<std::string> seen_plans;

/// The row that is ready now. Google Benchmark calls a benchmark several times, to find its number of iterations and
/// for each repetition: what was made ready stays until another row begins.
struct Current {
  std::string name{};
  Ready ready{};
};
Current current;

/// A row that was added and is not registered yet.
struct Row {
  std::string plan{}, name{};
  const char* signature = nullptr;
  Cache cache = Cache::hot;
  std::function<void(benchmark::State&)> run{};
  bool is_refusal = false, saves = false;
};
std::vector<Row> rows;

const auto start = std::chrono::steady_clock::now();
/// The reason by which `benanza analyze` knows rows for which a budget left no time.
constexpr const char* no_time = "not tried: the budget gave this layer no more time";

/// The rows for which a budget left no time, by name.
std::set<std::string> left_out;

/// Whether the budget is used up. The row that is ready is still measured: its repetitions belong together.
bool is_over(const std::string& name) {
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  const bool over = options().budget > 0 && elapsed.count() > options().budget && current.name != name;
  if (over) left_out.insert(name);
  return over;
}

void run_row(benchmark::State& state, const std::string& name, const Work& work,
             const std::function<Ready(Cache)>& prepare, Cache cache, bool saves) {
  if (is_over(name)) {
    state.SkipWithError(no_time);
    return;
  }
  try {
    if (current.name != name) {
      current = {};
      current = {name, prepare(cache)};
    }
    run_timed(state, current.ready);
  } catch (const std::exception& error) {
    current = {};
    std::string reason = error.what();
    std::replace(reason.begin(), reason.end(), '\n', ' ');
    return state.SkipWithError(reason.c_str());
  }
  using benchmark::Counter;
  state.SetItemsProcessed(static_cast<std::int64_t>(work.items) * state.iterations());
  state.counters["FLOP/s"] = Counter(work.flops, Counter::kIsIterationInvariantRate);
  state.counters["bytes/s"] = Counter(work.bytes, Counter::kIsIterationInvariantRate);
  if (saves) state.counters["saves_multiplications"] = 1;
}

}  // namespace

void add_row(const std::string& plan, const char* signature, const Work& work, bool has_weights,
             std::function<Ready(Cache)> prepare, bool saves) {
  saves = saves || plan.find("wino") != std::string::npos || plan.find("fft") != std::string::npos;
  seen_plans.insert(plan);
  if (!wanted_plan.empty() && plan != wanted_plan) return;
  for (const Cache cache : options().caches) {
    if (cache == Cache::cold_weights && !has_weights) continue;
    const std::string name = plan + "/" + name_of(cache) + "/" + signature;
    const auto run = [=](benchmark::State& state) { run_row(state, name, work, prepare, cache, saves); };
    rows.push_back({plan, name, signature, cache, run, false, saves});
  }
}

void add_refusal(const char* plan, const char* signature, const std::string& reason) {
  if (!wanted_plan.empty()) return;
  const std::string name = std::string(plan) + "/hot/" + signature;
  rows.push_back(
      {plan, name, signature, Cache::hot, [=](benchmark::State& state) { state.SkipWithError(reason.c_str()); }, true});
}

namespace {

/// Google Benchmark measures in the order in which rows are registered. Libraries list what they prefer first, so each
/// pass over the layers takes the next plan of each library, of those that save multiplications and of the others.
/// Among these, most threads come first.
void register_rows() {
  std::map<std::tuple<std::string, std::string, Cache, bool>, int> plans;  // plans so far of each library and layer
  std::map<int, int> later;                                                // how much later a thread count comes
  for (const int threads : options().threads) later[-threads] = 0;
  for (int behind = 0; auto& count : later) count.second = behind++;
  std::vector<std::pair<std::tuple<int, Cache>, const Row*>> order;
  for (const Row& row : rows) {
    const auto at = row.plan.rfind("threads=");
    const std::string threads = at == std::string::npos ? "1" : row.plan.substr(at + 8);
    const std::string library = row.plan.substr(0, row.plan.find('/'));
    const int rank = row.is_refusal ? 0 : plans[{library + " " + threads, row.signature, row.cache, row.saves}]++;
    const auto behind = later.find(-std::atoi(threads.c_str()));
    order.push_back({{rank + (behind == later.end() ? 0 : behind->second), row.cache}, &row});
  }
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [key, row] : order) {
    auto* const added = benchmark::RegisterBenchmark(row->name.c_str(), row->run);
    if (row->is_refusal) continue;
    added->Unit(benchmark::kMicrosecond);
    // @clock@
  }
}

/// The report on the console with a budget: without the rows that it left out, which are in the file.
class Report : public benchmark::ConsoleReporter {
 public:
  Report() : ConsoleReporter(OO_None) {}
  void ReportRuns(const std::vector<Run>& runs) override {
    std::vector<Run> shown;
    for (const Run& run : runs)
      if (left_out.count(run.run_name.function_name) == 0) shown.push_back(run);
    if (!shown.empty()) ConsoleReporter::ReportRuns(shown);
  }
};

}  // namespace

void name_library(const char* library, const std::string& version) {
  static std::set<std::string> named;
  if (named.insert(library).second) benchmark::AddCustomContext(std::string("backend/") + library, version);
}

std::string spelled(std::string name) {
  for (char& c : name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (!plain && std::string_view("_.,=:-").find(c) == std::string_view::npos) c = '_';
  }
  return name;
}

std::size_t copies_beyond(double caches, std::size_t bytes) {
  constexpr double most = 1 << 20;
  return bytes == 0 ? 1 : 1 + static_cast<std::size_t>(std::min(most, 4 * caches / static_cast<double>(bytes)));
}

namespace {

/// The seconds that `60s`, `5m` or `500ms` name; 0 for text that is not a duration.
double seconds_of_text(const std::string& text) {
  char* unit = nullptr;
  const double number = std::strtod(text.c_str(), &unit);
  const std::string_view name = unit;
  return name == "s"    ? number
         : name == "m"  ? number * 60
         : name == "h"  ? number * 3600
         : name == "ms" ? number / 1e3
                        : 0;
}

/// Reads the flags of this suite and leaves the others to Google Benchmark. Exits with 2 for a wrong value.
std::vector<char*> read_flags(int argc, char** argv) {
  std::vector<char*> rest;
  const auto wrong = [](std::string_view flag) {
    std::fprintf(stderr,
                 "%.*s: expected e.g. --suite_cache=hot,cold-weights,cold, --suite_threads=1,2 or --suite_budget=60s\n",
                 static_cast<int>(flag.size()), flag.data());
    std::exit(2);
  };
  for (int i = 0; i < argc; ++i) {
    const std::string_view flag = argv[i];
    const bool cache = flag.starts_with("--suite_cache="), threads = flag.starts_with("--suite_threads=");
    if (flag.starts_with("--suite_budget=")) {
      options().budget = seconds_of_text(std::string(flag.substr(flag.find('=') + 1)));
      if (!(options().budget > 0)) wrong(flag);
      continue;
    }
    if (!cache && !threads) {
      rest.push_back(argv[i]);
      continue;
    }
    if (cache) options().caches.clear();
    else options().threads.clear();
    std::string values(flag.substr(flag.find('=') + 1));
    for (std::size_t begin = 0; begin <= values.size();) {
      const std::size_t end = std::min(values.find(',', begin), values.size());
      const std::string value = values.substr(begin, end - begin);
      begin = end + 1;
      if (threads) {
        const int count = std::atoi(value.c_str());
        if (count < 1) wrong(flag);
        options().threads.push_back(count);
        continue;
      }
      const std::size_t before = options().caches.size();
      for (const Cache state : {Cache::hot, Cache::cold_weights, Cache::cold})
        if (value == name_of(state)) options().caches.push_back(state);
      if (options().caches.size() == before) wrong(flag);
    }
  }
  return rest;
}

void print_help() {
  benchmark::PrintDefaultHelp();
  std::puts(
      "\nOf this suite:\n"
      "          [--suite_cache=<state>,...]   (hot, cold-weights, cold; default: @default_caches@)\n"
      "          [--suite_threads=<count>,...] (of a processor; default: 1 and one for each core)\n"
      "          [--suite_budget=<e.g. 60s>]   (no row begins after this time; default: all rows are measured)\n"
      "Likely winners come first: the plans that each library lists first, for every layer.");
}

}  // namespace

int run_all(int argc, char** argv, const std::function<void()>& add_all) {
  std::vector<char*> rest = read_flags(argc, argv);
  int count = static_cast<int>(rest.size());
  rest.push_back(nullptr);
  benchmark::Initialize(&count, rest.data(), print_help);
  if (benchmark::ReportUnrecognizedArguments(count, rest.data())) return 2;
  add_all();
  register_rows();
  if (!wanted_plan.empty() && seen_plans.count(std::string(wanted_plan)) == 0) {
    std::fprintf(stderr, "no plan '%.*s' here; there are\n", static_cast<int>(wanted_plan.size()), wanted_plan.data());
    for (const auto& plan : seen_plans) std::fprintf(stderr, "  %s\n", plan.c_str());
    return 1;
  }
  benchmark::AddCustomContext("signature_version", "@signature_version@");
  benchmark::AddCustomContext("suite", "@suite@");
  Report report;
  if (options().budget > 0) benchmark::RunSpecifiedBenchmarks(&report);
  else benchmark::RunSpecifiedBenchmarks();
  if (!left_out.empty()) std::fprintf(stderr, "--suite_budget left no time for %zu rows\n", left_out.size());
  current = {};
  benchmark::Shutdown();
  return 0;
}
