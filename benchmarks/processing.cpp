// SPDX-License-Identifier: Apache-2.0
// What Benanza itself costs: import, fusion and deduplication of the 44 models, emission of their suite, and loading
// and analysing results.
#include <benanza/bounds/analyze.hpp>
#include <benanza/codegen.hpp>
#include <benanza/fusion/model_layers.hpp>
#include <benanza/onnx.hpp>

#include <benchmark/benchmark.h>

#include <filesystem>
#include <sstream>

namespace {

using namespace benanza;

std::vector<std::filesystem::path> model_files() {
  std::vector<std::filesystem::path> files;
  for (const char* folder : {"zoo2019", "modern"})
    for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(BENANZA_MODELS) / folder))
      files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

const std::vector<Graph>& graphs() {
  static const std::vector<Graph> all = [] {
    std::vector<Graph> result;
    for (const auto& file : model_files()) result.push_back(import_onnx(file));
    return result;
  }();
  return all;
}

const std::vector<ModelLayers>& models() {
  static const std::vector<ModelLayers> all = [] {
    std::vector<ModelLayers> result;
    for (const auto& graph : graphs()) result.push_back(make_model_layers(graph));
    return result;
  }();
  return all;
}

LayerSet unique_layers() {
  LayerSet set;
  for (const auto& model : models())
    for (const auto& at : model.single.layers) set.add(at.layer, model.single.model, at.nodes.front(), at.repeat);
  return set;
}

/// One run with a row of 40 rounds for every layer and group of the 44 models.
ResultDatabase synthetic_results() {
  Run run;
  run.name = "synthetic";
  run.machine.device = "synthetic";
  run.machine.cores = 2;
  run.backends = {{"native", "1"}};
  const auto add = [&run](const Layer& layer) {
    run.rows.push_back({.backend = "native",
                        .algorithm = "a,threads=1",
                        .signature = signature(layer).text(),
                        .times = MeasuredTimes{.p10 = {1e-6}, .median = {1e-6}},
                        .rounds_s = std::vector<double>(40, 1e-6)});
  };
  for (const auto& model : models()) {
    for (const auto& at : model.single.layers) add(at.layer);
    for (const auto& at : model.fused.layers)
      for (const auto& piece : at.pieces) add(piece.layer);
  }
  ResultDatabase database;
  database.add(std::move(run));
  return database;
}

void import_44_models(benchmark::State& state) {
  const auto files = model_files();
  for (auto _ : state)
    for (const auto& file : files) benchmark::DoNotOptimize(import_onnx(file));
}
BENCHMARK(import_44_models)->Unit(benchmark::kMillisecond);

void make_layers_and_fuse_44_models(benchmark::State& state) {
  graphs();
  for (auto _ : state)
    for (const auto& graph : graphs()) benchmark::DoNotOptimize(make_model_layers(graph));
}
BENCHMARK(make_layers_and_fuse_44_models)->Unit(benchmark::kMillisecond);

void deduplicate_44_models(benchmark::State& state) {
  models();
  for (auto _ : state) benchmark::DoNotOptimize(unique_layers());
  state.counters["unique"] = static_cast<double>(unique_layers().size());
}
BENCHMARK(deduplicate_44_models)->Unit(benchmark::kMillisecond);

void emit_suite_of_44_models(benchmark::State& state) {
  const SuiteSource source{
      .name = "all", .command = "benanza generate", .backends = {"native"}, .layers = unique_layers()};
  for (auto _ : state) {
    std::ostringstream out;
    emit_suite(source, out);
    benchmark::DoNotOptimize(out);
  }
}
BENCHMARK(emit_suite_of_44_models)->Unit(benchmark::kMillisecond);

void write_and_load_results(benchmark::State& state) {
  const ResultDatabase database = synthetic_results();
  const auto file = std::filesystem::temp_directory_path() / "benanza_processing.json";
  for (auto _ : state) {
    write_run(database.runs().front(), file);
    benchmark::DoNotOptimize(read_run(file));
  }
  state.counters["rows"] = static_cast<double>(database.runs().front().rows.size());
  std::filesystem::remove(file);
}
BENCHMARK(write_and_load_results)->Unit(benchmark::kMillisecond);

void analyze_44_models(benchmark::State& state) {
  const ResultDatabase database = synthetic_results();
  for (auto _ : state)
    for (const auto& model : models()) benchmark::DoNotOptimize(analyze(model, database));
}
BENCHMARK(analyze_44_models)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
