// SPDX-License-Identifier: Apache-2.0
// A small run with a row of each kind, and a folder in which to keep it.
#pragma once

#include "support/catch.hpp"
#include <benanza/error.hpp>
#include <benanza/results/results.hpp>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>
#include <unistd.h>

namespace results_support {

using namespace benanza;
namespace fs = std::filesystem;

inline constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline const std::string relu = "Unary/f32/x=4096";
inline const std::string conv = "Conv/f32/x=1x3x224x224/w=64x3x7x7/pads=3x3x3x3/strides=2x2/post=bias,relu";

/// A folder for one test, removed at the end.
struct Folder {
  fs::path path = fs::temp_directory_path() / ("benanza-results-" + std::to_string(::getpid()));
  Folder() { fs::remove_all(path), fs::create_directories(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { fs::remove_all(path); }
  [[nodiscard]] fs::path operator/(const std::string& name) const { return path / name; }
  [[nodiscard]] fs::path write(const std::string& name, const std::string& text) const {
    std::ofstream(path / name, std::ios::binary) << text;
    return path / name;
  }
};

inline std::string contents(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}

inline std::string input_error(const fs::path& file) {
  try {
    static_cast<void>(read_run(file));
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

inline Machine machine(const std::string& device = "A CPU with \"quotes\"") {
  return {.device = device,
          .isa = "avx512_core",
          .cores = 2,
          .affinity = "0,1",
          .caches = {{1, {98304}}, {2, {4194304}}, {3, {37748736}}},
          .memory = {17179869184.0},
          .system = "Linux"};
}

inline Measurement row(const std::string& backend, const std::string& signature, double seconds) {
  return {.backend = backend,
          .algorithm = "jit:avx2,threads=2",
          .signature = signature,
          .threads = 2,
          .samples = 12,
          .calls_per_sample = 40,
          .times = MeasuredTimes{.min = {seconds * 0.98},
                                 .p10 = {seconds},
                                 .median = {seconds * 1.01},
                                 .p90 = {seconds * 1.2},
                                 .cv = 0.0125},
          .preparation = Seconds{0.002},
          .workspace_bytes = 4096,
          .difference = 1e-6,
          .rounds_s = {seconds, not_a_number, seconds * 1.5}};
}

inline Run small_run() {
  Run run{.name = "resnet50",
          .started = "2025-11-21T10:54:00Z",
          .tool = "0.1.0",
          .machine = machine(),
          .backends = {{"native", "1 (g++ 12.2.0)"}, {"onednn", "3.2.0"}},
          .warnings = {"a quota of 1.5 processors", "process 'make' (7) took 80 %"}};
  run.ceilings = {{CeilingQuantity::peak(DataType::f32), "fma:avx512,threads=2", 2, 1.73e11, 0},
                  {CeilingQuantity::bandwidth("memory"), "onednn/jit:avx2,threads=1/hot/" + relu, 1, 1.3e10, 42041344},
                  {CeilingQuantity::timer("floor"), "steady_clock", 1, 2.5e-8, 0}};
  run.rows = {row("onednn", conv, 1.25e-3), row("native", relu, 1.6e-7)};
  run.rows[1].saves_multiplications = run.rows[1].contended = run.rows[1].noisy = true;
  run.rows[1].cache = CacheState::cold_weights;
  auto& excluded = run.rows.emplace_back(
      Measurement{.backend = "native", .algorithm = "none", .has_plan = false, .signature = conv});
  excluded.exclude_for("no Conv in backend native");
  return run;
}

inline void check_near(Seconds a, Seconds b) { CHECK(a.value == Approx(b.value).epsilon(1e-9)); }

inline void check_equal(const Run& a, const Run& b) {
  CHECK(a.name == b.name);
  CHECK(a.started == b.started);
  CHECK(a.tool == b.tool);
  CHECK(a.signature_version == b.signature_version);
  CHECK(a.machine == b.machine);
  CHECK(a.backends == b.backends);
  CHECK(a.warnings == b.warnings);
  REQUIRE(a.ceilings.size() == b.ceilings.size());
  for (std::size_t i = 0; i < a.ceilings.size(); ++i) {
    CHECK(a.ceilings[i].quantity == b.ceilings[i].quantity);
    CHECK(a.ceilings[i].algorithm == b.ceilings[i].algorithm);
    CHECK(a.ceilings[i].threads == b.ceilings[i].threads);
    CHECK(a.ceilings[i].value == Approx(b.ceilings[i].value).epsilon(1e-12));
    CHECK(a.ceilings[i].in_front_bytes == b.ceilings[i].in_front_bytes);
  }
  REQUIRE(a.rows.size() == b.rows.size());
  for (std::size_t i = 0; i < a.rows.size(); ++i) {
    const auto &x = a.rows[i], &y = b.rows[i];
    CHECK(x.name() == y.name());
    CHECK(x.has_plan == y.has_plan);
    CHECK(x.threads == y.threads);
    CHECK(x.samples == y.samples);
    CHECK(x.calls_per_sample == y.calls_per_sample);
    REQUIRE(x.times.has_value() == y.times.has_value());
    if (x.times) {
      for (const auto time : {&MeasuredTimes::min, &MeasuredTimes::p10, &MeasuredTimes::median, &MeasuredTimes::p90})
        check_near((*x.times).*time, (*y.times).*time);
      CHECK(x.times->cv.value_or(0) == Approx(y.times->cv.value_or(0)));
    }
    check_near(x.preparation.value_or(Seconds{}), y.preparation.value_or(Seconds{}));
    CHECK(x.workspace_bytes == y.workspace_bytes);
    CHECK(x.saves_multiplications == y.saves_multiplications);
    CHECK(x.contended == y.contended);
    CHECK(x.noisy == y.noisy);
    CHECK(x.difference.value_or(0) == Approx(y.difference.value_or(0)));
    CHECK(x.status == y.status);
    CHECK(x.reason == y.reason);
    REQUIRE(x.rounds_s.size() == y.rounds_s.size());
    for (std::size_t r = 0; r < x.rounds_s.size(); ++r) {
      CHECK(std::isnan(x.rounds_s[r]) == std::isnan(y.rounds_s[r]));
      if (!std::isnan(x.rounds_s[r])) CHECK(x.rounds_s[r] == Approx(y.rounds_s[r]).epsilon(1e-6));
    }
  }
}

}  // namespace results_support
