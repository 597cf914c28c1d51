// SPDX-License-Identifier: Apache-2.0
// Google Benchmark's JSON of one benchmark: an engine's whole pass, one sample per repetition. If only aggregates were
// written (--benchmark_report_aggregates_only), their median is the only sample.
#include "passes.hpp"
#include "reader.hpp"
#include "record_value.hpp"
#include "small_json.hpp"
#include <benanza/error.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace benanza::profile {

namespace {

using Json = nlohmann::json;

Seconds time_of(const Json& row, const std::string& where) {
  const std::string name = row.contains("time_unit") ? text_at(row, "time_unit") : "ns";
  constexpr std::array<std::pair<std::string_view, double>, 4> known_units{
      {{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}}};
  const auto unit =
      std::find_if(known_units.begin(), known_units.end(), [&](const auto& each) { return each.first == name; });
  if (unit == known_units.end()) throw Unreadable(where + ": time_unit '" + name + "', expected ns, us, ms or s");
  return pass_time(time_at(row, "real_time", Seconds{unit->second}, where), where);
}

/// The name that all repetitions of a benchmark share.
std::string run_name(const Json& row) {
  std::string name = text_at(row, "run_name");
  return name.empty() ? text_at(row, "name") : name;
}

bool is_set(const Json& row, const char* key) {
  return row.contains(key) && row[key].is_boolean() && row[key].get<bool>();
}

/// Why a row has no time; empty if it has one.
std::optional<std::string> failure(const Json& row) {
  if (is_set(row, "error_occurred")) return text_at(row, "error_message");
  if (is_set(row, "skipped") || (row.contains("skipped") && row["skipped"].is_string()))
    return text_at(row, "skip_message");
  return std::nullopt;
}

EngineProfile read_google_benchmark(Source& source, const ProfileOptions& options) {
  const std::string file = source.path().string();
  EngineProfile made;
  std::vector<Seconds> samples, medians;
  std::string name;
  const auto add = [&](const Json& row, std::uint64_t, std::size_t index) {
    const std::string where = "benchmark " + std::to_string(index);
    if (!row.is_object()) throw Unreadable(where + ": no object");
    if (const auto why = failure(row)) {
      made.warnings.push_back(file + ": " + where + " '" + text_at(row, "name") + "' is left out: " + *why);
      return;
    }
    const std::string own = run_name(row);
    if (name.empty()) name = own;
    if (own != name)
      throw InputError(file + ": holds the benchmarks '" + name + "' and '" + own +
                       "'; expected one, that of the whole model: choose it with --benchmark_filter");
    if (text_at(row, "run_type") != "aggregate") samples.push_back(time_of(row, where));
    else if (text_at(row, "aggregate_name") == "median") medians.push_back(time_of(row, where));
  };
  const auto take_device = [&made](std::string_view member, const Json& value) {
    if (member == "context") made.device = text_at(value, "host_name");
  };
  constexpr bool may_be_cut = true;  // repetitions are samples: those that were written count
  for_each_json(source, "benchmarks", longest_record, add, take_device, may_be_cut);
  if (samples.empty()) {
    if (medians.empty()) throw InputError(file + ": no benchmark with a time");
    samples = medians;
    made.warnings.push_back(file + ": only aggregates: the median is the one sample, without spread");
  }
  const std::size_t dropped = warm_up_passes(source, samples, options);
  made.warm_ups = static_cast<std::int64_t>(dropped);
  made.latencies.assign(samples.begin() + static_cast<std::ptrdiff_t>(dropped), samples.end());
  return made;
}

bool sniff_google_benchmark(std::string_view head) {
  const auto first = head.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || head[first] != '{') return false;
  return head.find("\"library_build_type\"") != std::string_view::npos ||
         (head.find("\"context\"") < head.find("\"benchmarks\"") &&
          head.find("\"benchmarks\"") != std::string_view::npos);
}

}  // namespace

const Reader google_benchmark{"Google Benchmark JSON", sniff_google_benchmark, read_google_benchmark};

}  // namespace benanza::profile
