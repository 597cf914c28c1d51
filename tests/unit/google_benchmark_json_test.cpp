// SPDX-License-Identifier: Apache-2.0
#include "support/results_support.hpp"
#include <benanza/error.hpp>
#include <benanza/results/results.hpp>

#include <cmath>
#include <set>

namespace {

using namespace benanza;
using namespace results_support;

/// The output of Google Benchmark 1.7.1's own reporter for a suite (json_reporter.cc): its date, custom context as
/// text, names with `/iterations:1/manual_time`, counters in scientific notation, bare NaN, failed rows with a
/// real_time of 0.
const std::string google_benchmark_1_7_1 = R"({
  "context": {
    "date": "2025-11-21T10:54:00+00:00",
    "host_name": "host",
    "executable": "./bench_resnet50",
    "num_cpus": 2,
    "mhz_per_cpu": 2700,
    "cpu_scaling_enabled": false,
    "caches": [
      {
        "type": "Data",
        "level": 1,
        "size": 49152,
        "num_sharing": 1
      }
    ],
    "load_avg": [0.5,0.25,0.125],
    "library_build_type": "release",
    "backend/onednn": "3.2.0",
    "benanza_version": "0.1.0",
    "machine/L1_bytes": "98304",
    "machine/affinity": "0,1",
    "machine/cores": "2",
    "machine/device": "A CPU",
    "machine/isa": "avx2",
    "machine/memory_bytes": "17179869184",
    "machine/system": "Linux",
    "signature_version": "1",
    "suite": "resnet50"
  },
  "benchmarks": [
    {
      "name": "onednn/jit:avx2,threads=2/hot/Unary/f32/x=4096/iterations:1/manual_time",
      "family_index": 0,
      "per_family_instance_index": 0,
      "run_name": "onednn/jit:avx2,threads=2/hot/Unary/f32/x=4096/iterations:1/manual_time",
      "run_type": "iteration",
      "repetitions": 1,
      "repetition_index": 0,
      "threads": 1,
      "iterations": 1,
      "real_time": 1.6000000000000000e+02,
      "cpu_time": 1.7000000000000000e+02,
      "time_unit": "ns",
      "contended": 1.0000000000000000e+00,
      "cv": NaN,
      "difference": -NaN,
      "median_ns": 1.7000000000000000e+02
    },
    {
      "name": "onednn/a,threads=1/cold-weights/Unary/f32/x=4096/iterations:1/manual_time",
      "run_type": "iteration",
      "error_occurred": true,
      "error_message": "no \"a\" here",
      "iterations": 0,
      "real_time": 0.0000000000000000e+00,
      "cpu_time": 0.0000000000000000e+00,
      "time_unit": "ns"
    },
    {
      "name": "onednn/b,threads=1/hot/Unary/f32/x=4096/iterations:1/manual_time",
      "run_type": "iteration",
      "real_time": Infinity,
      "cpu_time": -Infinity,
      "time_unit": "ns"
    },
    {
      "name": "onednn/c,threads=1/hot/Unary/f32/x=4096/iterations:1/manual_time",
      "run_type": "iteration",
      "real_time": 0.0000000000000000e+00,
      "time_unit": "ns"
    },
    {
      "name": "onednn/d,threads=1/hot/Unary/f32/x=4096/iterations:1/manual_time_mean",
      "run_type": "aggregate",
      "aggregate_name": "mean",
      "real_time": 1.0000000000000000e+00,
      "time_unit": "ns"
    },
    {
      "name": "onednn/e,threads=1/hot/Unary/f32/x=4096/iterations:1/manual_time",
      "run_type": "iteration",
      "real_time": 1.5000000000000000e+00,
      "time_unit": "us"
    },
    {
      "name": "machine/fma:avx2,threads=2/hot/Peak/f32/iterations:1/manual_time",
      "run_type": "iteration",
      "real_time": 1.0000000000000000e-02,
      "time_unit": "ns",
      "flops_per_second": 1.0000000000000000e+11
    }
  ]
}
)";

}  // namespace

TEST_CASE("a file of Google Benchmark 1.7.1's own reporter is read") {
  const Folder folder;
  const Run run = read_run(folder.write("gb.json", google_benchmark_1_7_1));
  CHECK(run.name == "resnet50");
  CHECK(run.started == "2025-11-21T10:54:00+00:00");
  CHECK(run.machine.device == "A CPU");
  CHECK(run.machine.caches == std::vector<CacheLevel>{{1, {98304}}});
  CHECK(run.backends == std::vector<BackendVersion>{{"onednn", "3.2.0"}});
  REQUIRE(run.rows.size() == 5);  // the mean is derived and is left out
  CHECK(run.rows[0].name() == "onednn/jit:avx2,threads=2/hot/Unary/f32/x=4096");
  CHECK(run.rows[0].threads == 2);  // the algorithm's, not Google Benchmark's
  CHECK(run.rows[0].times->p10.value == Approx(160e-9));
  CHECK(run.rows[0].times->median.value == Approx(170e-9));
  CHECK(run.rows[0].times->p90.value == Approx(170e-9));  // not in the file: not below the median
  CHECK(run.rows[0].contended);
  CHECK(std::isinf(run.rows[0].difference.value()));
  CHECK(run.rows[1].reason == "no \"a\" here");
  CHECK(run.rows[1].cache == CacheState::cold_weights);
  CHECK(run.rows[2].reason == "real_time is Infinity, expected a positive number");
  CHECK(run.rows[3].reason == "real_time is 0.0000000000000000e+00, expected a positive number");
  CHECK(run.faults.size() == 2);
  CHECK(run.rows[4].times->p10.value == Approx(1.5e-6));
  REQUIRE(run.ceilings.size() == 1);
  CHECK(run.ceilings[0].quantity == CeilingQuantity::peak(DataType::f32));
  CHECK(run.ceilings[0].value == Approx(1e11));
}

TEST_CASE("a suite's custom context is the context of its file") {
  Run run = small_run();
  const auto context = run_context(run);
  std::set<std::string> keys;
  for (const auto& [key, value] : context) keys.insert(key);
  CHECK(keys.size() == context.size());
  CHECK(context.front() == std::pair<std::string, std::string>("date", "2025-11-21T10:54:00Z"));
}

TEST_CASE("aggregates without a median are said to be left out, once a benchmark") {
  const Folder folder;
  std::string text = google_benchmark_1_7_1;
  const auto begin = text.find("\"benchmarks\": [");
  REQUIRE(begin != std::string::npos);
  std::string rows;
  for (const std::string kind : {"mean", "stddev"})
    rows += (rows.empty() ? "" : ", ") +
            (R"({"name": "x", "run_name": "onednn/a,threads=1/hot/Unary/f32/x=4096", "run_type": "aggregate", )"
             R"("aggregate_name": ")" +
             kind + R"(", "real_time": 1000, "time_unit": "ns"})");
  const Run run = read_run(folder.write("aggregates.json", text.substr(0, begin) + "\"benchmarks\": [" + rows + "]}"));
  CHECK(run.rows.empty());
  REQUIRE(run.faults.size() == 1);
  CHECK_THAT(run.faults.front(), Catch::Contains("row 1: aggregates of 'onednn/a,threads=1/hot/Unary/f32/x=4096'"));
}

TEST_CASE("the medians count of a suite that wrote aggregates only") {
  const Folder folder;
  const auto aggregate = [](const std::string& name, const std::string& kind, const std::string& value) {
    return R"({"name": ")" + name + "_" + kind + R"(", "run_name": ")" + name +
           R"(", "run_type": "aggregate", "aggregate_name": ")" + kind +
           R"(", "repetitions": 5, "threads": 1, "iterations": 5, "real_time": )" + value + R"(, "time_unit": "ns"})";
  };
  const std::string only = "onednn/a,threads=1/hot/Unary/f32/x=4096", both = "onednn/b,threads=1/hot/Unary/f32/x=4096";
  std::string rows;
  for (const auto& [kind, value] : std::vector<std::pair<std::string, std::string>>{
           {"mean", "1010"}, {"median", "1000"}, {"stddev", "0"}, {"cv", "0.02"}})
    rows += aggregate(only, kind, value) + ", " + aggregate(both, kind, value) + ", ";
  rows += R"({"name": ")" + both + R"(", "run_name": ")" + both +
          R"(", "run_type": "iteration", "threads": 1, "iterations": 1, "real_time": 900, "time_unit": "ns"})";
  std::string text = google_benchmark_1_7_1;
  const auto begin = text.find("\"benchmarks\": [");
  REQUIRE(begin != std::string::npos);
  text = text.substr(0, begin) + "\"benchmarks\": [" + rows + "]}";
  const Run run = read_run(folder.write("aggregates.json", text));
  CHECK(run.faults.empty());
  REQUIRE(run.rows.size() == 2);
  CHECK(run.rows[0].algorithm == "b,threads=1");
  CHECK(run.rows[0].times->median.value == Approx(900e-9));
  CHECK(run.rows[1].algorithm == "a,threads=1");
  CHECK(run.rows[1].times->median.value == Approx(1000e-9));
  CHECK(run.rows[1].samples == 1);  // one figure, which shows no spread
  CHECK(run.rows[1].times->cv.value() == Approx(0.02));
  CHECK(run.ignored == 7);  // all aggregates but the median that counts
}
