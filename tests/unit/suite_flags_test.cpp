// SPDX-License-Identifier: Apache-2.0
#include "bench/suite_flags.hpp"

#include "support/catch.hpp"
#include <benanza/base/detail/duration.hpp>
#include <benanza/error.hpp>

#include <algorithm>
#include <limits>

using namespace benanza;
using namespace benanza::bench;

namespace {

SuiteFlags parse(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "suite");
  return parse_suite_flags(static_cast<int>(arguments.size()), arguments.data());
}

const std::string conv = "Conv/f32/x=1x64x56x56/w=64x64x3x3/pads=1x1x1x1/post=bias,relu";
const std::string row = "onednn/brgconv:avx2,threads=2/hot/" + conv;

}  // namespace

TEST_CASE("own flags are taken, Google Benchmark's are passed on") {
  const auto flags =
      parse({"--benanza_threads=2", "--benanza_budget=1.5m", "--benchmark_color=false", "--benchmark_filter=Conv"});
  CHECK(flags.threads == 2);
  CHECK(flags.budget->value == 90);
  CHECK(flags.filter == "Conv");
  CHECK(std::count(flags.rest.begin(), flags.rest.end(), "--benchmark_color=false") == 1);
  CHECK(std::count(flags.rest.begin(), flags.rest.end(), "--benchmark_filter=Conv") == 0);
}

TEST_CASE("cache states and isolation are asked for by flags") {
  CHECK(parse({}).caches.empty());
  CHECK(parse({"--benanza_cache=cold,hot"}).caches == std::vector{CacheState::cold, CacheState::hot});
  CHECK(parse({"--benanza_cache=cold-weights"}).caches == std::vector{CacheState::cold_weights});
  CHECK(parse({}).isolate);
  CHECK(parse({"--benanza_isolate"}).isolate);
  CHECK_FALSE(parse({"--benanza_isolate=false"}).isolate);
}

TEST_CASE("kernels and their counters are asked for by a flag") {
  CHECK(parse({}).metrics.empty());
  CHECK(parse({"--benanza_metrics=dram,flops,occupancy"}).metrics ==
        std::vector{KernelMetric::dram, KernelMetric::flops, KernelMetric::occupancy});
  CHECK(parse({"--benanza_metrics=kernels"}).metrics == std::vector{KernelMetric::kernels});
}

TEST_CASE("a JSON file is Benanza's to write, another format Google Benchmark's") {
  CHECK(parse({"--benchmark_out=a.json"}).out == "a.json");
  CHECK(parse({"--benchmark_out=a.json", "--benchmark_out_format=json"}).out == "a.json");
  const auto csv = parse({"--benchmark_out=a.csv", "--benchmark_out_format=csv"});
  CHECK(csv.out.empty());
  CHECK(std::count(csv.rest.begin(), csv.rest.end(), "--benchmark_out=a.csv") == 1);
}

// The p10 of 1, 2, 3 lies at position 0.2 of 0 to 2, so it is 1.2.
TEST_CASE("repetitions are parts of the samples, as far as each part has one") {
  CHECK(parse({}).repetitions == 1);
  const auto flags = parse({"--benchmark_repetitions=3"});
  CHECK(flags.repetitions == 3);
  CHECK(std::count(flags.rest.begin(), flags.rest.end(), "--benchmark_repetitions=3") == 1);
  const double none = std::numeric_limits<double>::quiet_NaN();
  const auto parts = p10_of_parts({1, 2, 3, 5, none, 5, 7, 8, 9}, 3);
  REQUIRE(parts.size() == 3);
  CHECK(parts[0] == Approx(1.2));
  CHECK(parts[1] == 5);
  CHECK(parts[2] == Approx(7.2));
  CHECK(p10_of_parts({1, 2, 3}, 1).empty());
  CHECK(p10_of_parts({1, 2}, 3).empty());
  CHECK(p10_of_parts({1, none, 3}, 3).empty());
}

TEST_CASE("wrong flags say what was expected") {
  CHECK_THROWS_AS(parse({"--benanza_threads=0"}), UsageError);
  CHECK_THROWS_AS(parse({"--benanza_threads=two"}), UsageError);
  for (const char* wrong : {"--benanza_cache=", "--benanza_cache=warm", "--benanza_cache=hot,", "--benanza_cache"})
    CHECK_THROWS_AS(parse({wrong}), UsageError);
  for (const char* wrong : {"--benanza_metrics=", "--benanza_metrics=power", "--benanza_metrics=dram,"})
    CHECK_THROWS_WITH(parse({wrong}), Catch::Contains("expected some of kernels, dram, flops and occupancy"));
  CHECK_THROWS_AS(parse({"--benanza_budget=-3s"}), UsageError);
  CHECK_THROWS_AS(parse({"--benanza_budget=3 parsecs"}), UsageError);
  CHECK_THROWS_AS(name_filter("["), UsageError);
}

TEST_CASE("durations have units") {
  CHECK(detail::parse_duration("0").value == 0);
  CHECK_THROWS_WITH(detail::parse_duration("40"), "'40' has no unit, expected e.g. 40ms or 40s");
  CHECK_THROWS_WITH(detail::parse_duration("nan"), Catch::Contains("is not a duration"));
  CHECK_THROWS_WITH(detail::parse_duration("inf"), Catch::Contains("is not a duration"));
  CHECK_THROWS_WITH(detail::parse_duration("40", "--latency"),
                    "--latency: '40' has no unit, expected e.g. 40ms or 40s");
  for (const std::string never : {"1e-300s", "1e300s", "1e-999s", "0.1ps", "8761h", "1e-4ns"}) {
    if (never.ends_with("ps")) CHECK_THROWS_WITH(detail::parse_duration(never), Catch::Contains("is not a duration"));
    else
      CHECK_THROWS_WITH(detail::parse_duration(never, "--iteration"),
                        "--iteration: '" + never + "', expected a time from 1 ps to 1 year");
  }
  CHECK(detail::parse_duration("8760h").value == 31'536'000);  // 365 days
  CHECK(detail::parse_duration("60s").value == 60);
  CHECK(detail::parse_duration("500ms").value == Approx(0.5));
  CHECK(detail::parse_duration("2h").value == 7200);
}

TEST_CASE("the filter is matched against row names, so that a pasted name finds its row") {
  CHECK(name_filter("")(row));
  CHECK(name_filter(row)(row));
  CHECK(name_filter("relu$")(row));
  CHECK(name_filter("^onednn/.*threads=2/hot/Conv")(row));
  CHECK_FALSE(name_filter("^Conv")(row));
  CHECK_FALSE(name_filter("-relu")(row));
}

TEST_CASE("layers are left out early only where no row of theirs can pass") {
  CHECK(may_pass("", conv));
  CHECK(may_pass(row, conv));
  CHECK(may_pass("Conv/f32/x=1x64", conv));
  CHECK_FALSE(may_pass("onednn/brgconv:avx2,threads=2/hot/Conv/f32/x=1x128x28x28/w=128x128x3x3", conv));
  CHECK_FALSE(may_pass("Pool/f32/x=1x64", conv));
  CHECK(may_pass("Transpose/f32/x=2x2",
                 "ConvTranspose/f32/x=2x2/w=2x2x1x1"));  // found inside, as by the regular expression
  // An algorithm's name may contain anything.
  for (const char* filter : {"relu", "avx2", "threads=1", "-Conv", "Conv/f32/.*w=64", "onednn/brg"})
    CHECK(may_pass(filter, "Unary/f32/x=4"));
}
