// SPDX-License-Identifier: Apache-2.0
// write_run: Google Benchmark's JSON, one line per row. Default values are left out; a value that is not a number is
// left out or null, never a bare NaN; the time of a row with an error is 0, as Google Benchmark writes it: its
// tools/compare.py reads the times of all rows.
#include "run_text.hpp"
#include <benanza/results/results.hpp>
#include <benanza/results/whole_file.hpp>

#include <nlohmann/json.hpp>

#include <charconv>
#include <cmath>
#include <string>
#include <utility>

namespace benanza {

namespace {

using Json = nlohmann::ordered_json;

/// The number rounded to this many significant digits: finer than any timer, and half as long in the file.
double rounded(double value, int digits) {
  char text[40];
  const auto written = std::to_chars(text, text + sizeof text, value, std::chars_format::scientific, digits - 1);
  std::from_chars(text, written.ptr, value);
  return value;
}

constexpr int digits_of_times = 10, digits_of_rounds = 7;

Json ns(Seconds time, int digits = digits_of_times) {
  return std::isfinite(time.value) ? Json(rounded(time.value * 1e9, digits)) : Json();
}

Json named_row(std::string name, int threads) {
  return {{"name", std::move(name)}, {"run_type", "iteration"}, {"threads", threads}};
}

void add_time(Json& row, Json time) {
  row["real_time"] = time;
  row["cpu_time"] = std::move(time);  // Google Benchmark's tools expect it; only one clock was read
  row["time_unit"] = "ns";
}

void add_error(Json& row, RowStatus status, const std::string& message) {
  row["error_occurred"] = true;
  row["error_message"] = message;
  row["status"] = enum_names(status)[static_cast<std::size_t>(status)];
  row["iterations"] = 0;
  add_time(row, 0.0);
}

/// The values of a time in addition to p10, which is the row's own time.
void add_counters(Json& row, const Measurement& m) {
  row["p10_ns"] = ns(m.p10);
  for (const auto& [key, time] :
       {std::pair("median_ns", m.median), std::pair("p90_ns", m.p90), std::pair("min_ns", m.min)})
    if (time.value > 0 && std::isfinite(time.value)) row[key] = ns(time);
  if (m.cv != 0) row["cv"] = rounded(m.cv, 4);
  row["samples"] = m.samples;
  row["calls_per_sample"] = m.calls_per_sample;
}

Json size_of(const LaunchSize& size) { return Json::array({size.x, size.y, size.z}); }

Json kernel_of(const KernelLaunch& kernel) {
  constexpr int digits_of_counts = 12;
  Json result = {{"name", kernel.name},
                 {"grid", size_of(kernel.grid)},
                 {"block", size_of(kernel.block)},
                 {"registers", kernel.registers_per_thread}};
  if (kernel.static_shared_bytes != 0) result["static_shared_bytes"] = kernel.static_shared_bytes;
  if (kernel.dynamic_shared_bytes != 0) result["dynamic_shared_bytes"] = kernel.dynamic_shared_bytes;
  result["time_ns"] = ns(kernel.time, digits_of_rounds);
  if (kernel.dram_read) result["dram_read_bytes"] = rounded(kernel.dram_read->value, digits_of_counts);
  if (kernel.dram_written) result["dram_write_bytes"] = rounded(kernel.dram_written->value, digits_of_counts);
  if (kernel.flops) {
    Json flops = Json::object();
    for (const auto& each : *kernel.flops)
      flops[(each.tensor_cores ? "tensor " : "") + each.type] = rounded(each.flops, digits_of_counts);
    result["flops"] = std::move(flops);
  }
  if (kernel.occupancy) result["occupancy"] = rounded(*kernel.occupancy, 4);
  return result;
}

Json row_of(const Measurement& m) {
  Json row = named_row(m.name(), m.threads);
  const bool timed = m.measured() && std::isfinite(m.p10.value) && m.p10.value > 0;
  if (timed) {
    row["iterations"] = m.samples * m.calls_per_sample;
    add_time(row, ns(m.p10));
    add_counters(row, m);
  } else {
    if (m.measured()) add_error(row, RowStatus::failed, "no time was measured");
    else add_error(row, m.status, m.reason);
  }
  if (m.preparation.value != 0) row["preparation_ns"] = ns(m.preparation, digits_of_rounds);
  if (m.workspace_bytes != 0) row["workspace_bytes"] = m.workspace_bytes;
  if (m.difference != 0) row["difference"] = std::isfinite(m.difference) ? Json(rounded(m.difference, 4)) : Json();
  if (m.saves_multiplications) row["saves_multiplications"] = 1;
  if (m.advised) row["advised"] = 1;
  if (m.contended) row["contended"] = 1;
  if (m.at_least.value > 0) row["at_least_ns"] = ns(m.at_least, digits_of_rounds);
  if (m.at_most.value > 0) row["at_most_ns"] = ns(m.at_most, digits_of_rounds);
  if (m.noisy) row["noisy"] = 1;
  if (!m.method.empty()) row["method"] = m.method;
  if (m.launch.value != 0) row["launch_ns"] = ns(m.launch, digits_of_rounds);
  if (m.other.value != 0) row["other_method_ns"] = ns(m.other, digits_of_rounds);
  if (m.other_launch.value != 0) row["other_launch_ns"] = ns(m.other_launch, digits_of_rounds);
  if (m.disagreement != 0) row["methods_disagreement"] = rounded(m.disagreement, 4);
  if (m.kernels.value != 0) row["kernels_ns"] = ns(m.kernels, digits_of_rounds);
  if (m.empty_kernels.value != 0) row["empty_kernels_ns"] = ns(m.empty_kernels, digits_of_rounds);
  if (!m.kernel_launches.empty()) {
    Json list = Json::array();
    for (const auto& kernel : m.kernel_launches) list.push_back(kernel_of(kernel));
    row["kernels"] = std::move(list);
  }
  if (m.clock_hz != 0) row["clock_hz"] = rounded(m.clock_hz, 4);
  if (m.throttled) row["throttled"] = 1;
  if (m.wander > 0) row["wander"] = rounded(m.wander, 3);
  const auto add_times = [&](const char* key, const std::vector<double>& times) {
    if (!timed || times.empty()) return;
    Json list = Json::array();
    for (double time : times) list.push_back(time > 0 ? ns({time}, digits_of_rounds) : Json());
    row[key] = std::move(list);
  };
  add_times("rounds_ns", m.rounds_s);
  add_times("visits_ns", m.visits_s);
  return row;
}

/// A rate is written as such; the row's time is the time of one FLOP or one byte.
Json row_of(const CeilingRow& ceiling) {
  Json row = named_row(ceiling.name(), ceiling.threads);
  if (!std::isfinite(ceiling.value) || ceiling.value <= 0) {
    add_error(row, RowStatus::failed, "no value was measured");
    return row;
  }
  row["iterations"] = 1;
  add_time(row, ns(ceiling.time()));
  if (const auto key = ceiling.quantity.rate_key(); !key.empty()) row[std::string(key)] = ceiling.value;
  if (ceiling.in_front_bytes != 0) row["in_front_bytes"] = ceiling.in_front_bytes;
  return row;
}

/// Text from the system or a library may not be UTF-8; that must not cost the file.
std::string dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace

std::string run_text(const Run& run) {
  std::string text = "{\n\"context\": {";
  const char* separator = "\n";
  for (const auto& [key, value] : run_context(run)) {
    text += separator + dump(key) + ": " + dump(value);
    separator = ",\n";
  }
  text += "\n},\n\"benchmarks\": [";
  separator = "\n";
  const auto add = [&](const auto& row) {
    text += separator + dump(row_of(row));
    separator = ",\n";
  };
  for (const auto& ceiling : run.ceilings) add(ceiling);
  for (const auto& row : run.rows) add(row);
  return text + "\n]\n}\n";
}

void write_run(const Run& run, const std::string& file) { write_whole(file, run_text(run)); }

}  // namespace benanza
