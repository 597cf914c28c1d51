// SPDX-License-Identifier: Apache-2.0
// What profiles cost: a trace of 1 GB, written by repeating the events of a real one and read in bounded memory
// (`peak_MB`, the peak beyond what was in use before); and recording a layer in process. Files are created in the
// system's temporary folder (TMPDIR chooses another) and removed.
#include "peak_memory.hpp"
#include <benanza/profile/recorder.hpp>
#include <benanza/results/whole_file.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace benanza;
using namespace benanza::benchmarks;
namespace fs = std::filesystem;

constexpr std::size_t trace_bytes = 1'000'000'000;

/// A trace in pieces: the part before the passes, one pass whose times are shifted, and the part after.
struct RealTrace {
  std::string before{}, after{};
  std::vector<std::string> pass{};  // one event each, without comma
  double length_us = 0;
  std::string time_key{};
};

double number_behind(const std::string& line, const std::string& key) {
  const auto at = line.find(key);
  double value = 0;
  if (at != std::string::npos) std::from_chars(line.data() + at + key.size(), line.data() + line.size(), value);
  return value;
}

/// For a file with one event per line: the events that begin during the last event that is a pass.
RealTrace take_apart(const std::string& file, const std::string& time_key, const std::string& duration_key,
                     std::string_view pass_mark) {
  const std::string text = read_whole(fs::path(BENANZA_TEST_DATA) / "profile" / file);
  RealTrace result{.time_key = time_key};
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string line = text.substr(at, end - at);
    at = end + 1;
    if (line.starts_with('{') && line.find(time_key) != std::string::npos) {
      if (line.ends_with(',')) line.pop_back();
      if (line.ends_with("]")) line.pop_back();
      lines.push_back(line);
    } else if (lines.empty()) result.before += line + "\n";
    else result.after += line + "\n";
  }
  double start = 0;
  for (const std::string& line : lines)
    if (line.find(pass_mark) != std::string::npos) {
      start = number_behind(line, time_key);
      result.length_us = number_behind(line, duration_key);
    }
  for (const std::string& line : lines) {
    const double at = number_behind(line, time_key);
    if (at >= start && at <= start + result.length_us) result.pass.push_back(line);
  }
  if (result.after.empty()) result.after = "]\n";  // it followed the last event
  return result;
}

fs::path write_trace(const RealTrace& trace, const fs::path& file) {
  std::ofstream out(file, std::ios::binary);
  out << trace.before;
  std::size_t written = trace.before.size();
  std::string line;
  for (std::int64_t pass = 0; written < trace_bytes; ++pass) {
    const auto offset = static_cast<double>(pass) * (trace.length_us + 1000);
    for (const std::string& event : trace.pass) {
      const std::size_t at = event.find(trace.time_key) + trace.time_key.size();
      const std::size_t end = event.find_first_not_of("0123456789.", at);
      line.assign(written == trace.before.size() ? "" : ",\n").append(event, 0, at);
      char number[32];
      const auto moved = static_cast<std::int64_t>(number_behind(event, trace.time_key) + offset);
      const auto made = std::to_chars(number, number + sizeof number, moved);
      line.append(number, made.ptr).append(event, end);
      out << line;
      written += line.size();
    }
  }
  out << trace.after;
  return file;
}

void read_trace(benchmark::State& state, const std::string& name, const RealTrace& trace) {
  const Folder folder("benanza-profiles");
  const fs::path files[] = {write_trace(trace, folder.path / name)};
  double peak = 0;
  std::size_t passes = 0, records = 0;
  for (auto _ : state) {
    const PeakMemory memory;
    const EngineProfile profile = read_profile(files);
    peak = std::max(peak, memory.megabytes());
    passes = profile.latencies.size();
    records = profile.records.size();
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) *
                          static_cast<std::int64_t>(fs::file_size(files[0])));
  state.counters["peak_MB"] = peak;
  state.counters["passes"] = static_cast<double>(passes);
  state.counters["records"] = static_cast<double>(records);
}

void read_onnxruntime(benchmark::State& state) {
  read_trace(state, "onnxruntime.json",
             take_apart("onnxruntime_squeezenet.json.gz", "\"ts\" :", "\"dur\" :", "\"model_run\""));
}
BENCHMARK(read_onnxruntime)->Unit(benchmark::kMillisecond)->UseRealTime();

void read_kineto(benchmark::State& state) {
  read_trace(state, "kineto.json", take_apart("kineto_cpu.json.gz", "\"ts\": ", "\"dur\": ", "ProfilerStep#"));
}
BENCHMARK(read_kineto)->Unit(benchmark::kMillisecond)->UseRealTime();

/// Records a layer of a pass of 100, with or without the two reads of the clock that an engine needs.
void record_layer(benchmark::State& state, bool clock) {
  std::vector<std::string> names;
  for (int i = 0; i < 100; ++i) names.push_back("layer1." + std::to_string(i) + ".conv");
  Recorder recorder({.layers = 100, .passes = 1000});
  std::size_t layer = names.size();
  auto start = Recorder::now(), end = start;
  for (auto _ : state) {
    if (layer == names.size()) {
      layer = 0;
      recorder.start_pass(start);
    }
    if (clock) {
      start = Recorder::now();
      end = Recorder::now();
    }
    recorder.layer(names[layer++], start, end);
  }
}
BENCHMARK_CAPTURE(record_layer, alone, false)->Iterations(1'000'000);
BENCHMARK_CAPTURE(record_layer, with_clock, true)->Iterations(1'000'000);

}  // namespace

BENCHMARK_MAIN();
