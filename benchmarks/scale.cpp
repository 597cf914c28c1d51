// SPDX-License-Identifier: Apache-2.0
// What size costs: a database of 100,000 rows, models with 1 GiB of weights inside the file and with 2 GiB beside it.
// Each reports `peak_MB`, the peak memory beyond what was in use before. The files are created in the system's
// temporary folder (TMPDIR chooses another), 3.2 GB in all, and removed.
#include "big_model.hpp"
#include "peak_memory.hpp"
#include <benanza/bounds/analyze.hpp>
#include <benanza/fusion/model_layers.hpp>
#include <benanza/model/layer_signature.hpp>
#include <benanza/onnx.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>

namespace {

using namespace benanza;
using namespace benanza::benchmarks;
namespace fs = std::filesystem;

const fs::path& folder() {
  static const Folder one("benanza-scale");
  return one.path;
}

const std::vector<ModelLayers>& models() {
  static const std::vector<ModelLayers> all = [] {
    std::vector<fs::path> files;
    for (const char* set : {"zoo2019", "modern"})
      for (const auto& entry : fs::directory_iterator(fs::path(BENANZA_MODELS) / set)) files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    std::vector<ModelLayers> result;
    for (const auto& file : files) result.push_back(make_model_layers(import_onnx(file)));
    return result;
  }();
  return all;
}

/// The first signatures of the 44 models, single and fused.
std::vector<std::string> signatures(std::size_t count) {
  std::set<std::string> all;
  for (const auto& model : models()) {
    for (const auto& at : model.single.layers)
      if (!is_free(at.layer)) all.insert(signature(at.layer).text());
    for (const auto& at : model.fused.layers)
      for (const auto& piece : at.pieces) all.insert(signature(piece.layer).text());
  }
  std::vector<std::string> result(all.begin(), all.end());
  result.resize(std::min(result.size(), count));
  return result;
}

constexpr std::size_t devices = 80, all_rows = 100'000;

/// 80 devices and versions of the 44 models: 100,000 rows, each with 40 rounds, one file per device.
const fs::path& database_folder() {
  static const fs::path place = [] {
    const fs::path result = folder() / "results";
    const auto names = signatures(all_rows / devices);
    for (std::size_t device = 0; device < devices; ++device) {
      Run run{.name = "all",
              .started = "2026-01-01T00:00:00Z",
              .tool = "benchmark",
              .machine = {.device = "device " + std::to_string(device), .isa = "avx512_core", .cores = 2},
              .backends = {{"onednn", "3.2.0"}}};
      run.ceilings = {{CeilingQuantity::peak(DataType::f32), "fma:avx512,threads=2", 2, 1.7e11, 0},
                      {CeilingQuantity::bandwidth("memory"), "read,threads=2", 2, 1.3e10, 4e7}};
      for (std::size_t row = 0; row < all_rows / devices; ++row) {
        const double time = 1e-6 * static_cast<double>(1 + row % 97) * (1 + 0.001 * static_cast<double>(device));
        Measurement m{
            .backend = "onednn",
            .algorithm = "brgconv:avx512_core,layout=aBcd16b,threads=" + std::to_string(1 + row / names.size()),
            .signature = names[row % names.size()],
            .threads = static_cast<int>(1 + row / names.size()),
            .samples = 40,
            .calls_per_sample = 100,
            .times =
                MeasuredTimes{
                    .min = {time * 0.99}, .p10 = {time}, .median = {time * 1.01}, .p90 = {time * 1.1}, .cv = 0.01},
            .preparation = Seconds{1e-3},
            .difference = 1e-7};
        for (int round = 0; round < 40; ++round) m.rounds_s.push_back(time * (1 + 0.00123457 * round));
        run.rows.push_back(std::move(m));
      }
      ResultDatabase{}.append(std::move(run), result);
    }
    return result;
  }();
  return place;
}

void load_100000_rows(benchmark::State& state) {
  const fs::path& place = database_folder();
  double peak = 0, rows = 0;
  for (auto _ : state) {
    const PeakMemory memory;
    const ResultDatabase database = ResultDatabase::open(place);
    peak = std::max(peak, memory.megabytes());
    state.PauseTiming();
    rows = 0;
    for (const auto& run : database.runs()) rows += static_cast<double>(run.rows.size());
    state.ResumeTiming();
  }
  state.counters["rows"] = rows;
  state.counters["peak_MB"] = peak;
}
BENCHMARK(load_100000_rows)->Unit(benchmark::kMillisecond)->UseRealTime();

/// Selects the part of one device and analyses one model with it.
void analyze_resnet50_against_100000_rows(benchmark::State& state) {
  const ResultDatabase database = ResultDatabase::open(database_folder());
  const Run& run = database.runs()[devices / 2];
  const auto model = std::find_if(models().begin(), models().end(),
                                  [](const ModelLayers& layers) { return layers.single.model == "resnet50"; });
  for (auto _ : state) benchmark::DoNotOptimize(analyze(*model, database.select(run.machine, run.backends)));
}
BENCHMARK(analyze_resnet50_against_100000_rows)->Unit(benchmark::kMillisecond)->UseRealTime();

/// Imports `layers` products of 64 MiB each.
void import_of(benchmark::State& state, Weights weights) {
  const BigModel model(folder(), static_cast<int>(state.range(0)), weights);
  double peak = 0;
  for (auto _ : state) {
    const PeakMemory memory;
    benchmark::DoNotOptimize(import_onnx(model.file()));
    peak = std::max(peak, memory.megabytes());
  }
  state.counters["file_MB"] = static_cast<double>(fs::file_size(model.file())) / 1e6;
  state.counters["peak_MB"] = peak;
  fs::remove(model.file());
  fs::remove(folder() / "weights.bin");
}
BENCHMARK_CAPTURE(import_of, without_weights, Weights::none)
    ->Arg(16)
    ->Arg(33)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(import_of, weights_inside, Weights::inside)->Arg(16)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(import_of, external_weights, Weights::external)
    ->Arg(16)
    ->Arg(33)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
