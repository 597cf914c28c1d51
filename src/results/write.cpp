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
#include <optional>
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
  row["p10_ns"] = ns(m.times->p10);
  for (const auto& [key, time] :
       {std::pair("median_ns", m.times->median), std::pair("p90_ns", m.times->p90), std::pair("min_ns", m.times->min)})
    if (time.value > 0 && std::isfinite(time.value)) row[key] = ns(time);
  if (const double cv = m.times->cv.value_or(0); std::isfinite(cv) && cv > 0) row["cv"] = rounded(cv, 4);
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
  const bool timed = m.measured() && m.times && std::isfinite(m.times->p10.value) && m.times->p10.value > 0;
  if (timed) {
    row["iterations"] = m.samples * m.calls_per_sample;
    add_time(row, ns(m.times->p10));
    add_counters(row, m);
  } else {
    if (m.measured()) add_error(row, RowStatus::failed, "no time was measured");
    else add_error(row, m.status, m.reason);
  }
  const auto add = [&row](const char* key, std::optional<Seconds> time) {
    if (time && time->value > 0) row[key] = ns(*time, digits_of_rounds);
  };
  add("preparation_ns", m.preparation);
  if (m.workspace_bytes != 0) row["workspace_bytes"] = m.workspace_bytes;
  if (const double difference = m.difference.value_or(0); difference != 0)
    row["difference"] = std::isfinite(difference) ? Json(rounded(difference, 4)) : Json();
  if (m.saves_multiplications) row["saves_multiplications"] = 1;
  if (m.advised) row["advised"] = 1;
  if (m.contended) row["contended"] = 1;
  add("at_least_ns", m.at_least);
  add("at_most_ns", m.at_most);
  if (m.noisy) row["noisy"] = 1;
  if (m.device) {
    const DeviceTiming& device = *m.device;
    if (!device.method.empty()) row["method"] = device.method;
    add("launch_ns", device.launch);
    if (device.other) {
      add("other_method_ns", device.other->time);
      add("other_launch_ns", device.other->launch);
    }
    if (device.disagreement.value_or(0) != 0) row["methods_disagreement"] = rounded(*device.disagreement, 4);
    if (device.kernels) {
      add("kernels_ns", device.kernels->whole);
      add("empty_kernels_ns", device.kernels->empty);
    }
  }
  if (!m.kernel_launches.empty()) {
    Json list = Json::array();
    for (const auto& kernel : m.kernel_launches) list.push_back(kernel_of(kernel));
    row["kernels"] = std::move(list);
  }
  if (m.device && m.device->clock_hz.value_or(0) != 0) row["clock_hz"] = rounded(*m.device->clock_hz, 4);
  if (m.device && m.device->throttled) row["throttled"] = 1;
  if (const double wander = m.wander.value_or(0); std::isfinite(wander) && wander > 0)
    row["wander"] = rounded(wander, 3);
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
