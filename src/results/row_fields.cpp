// SPDX-License-Identifier: Apache-2.0
#include "row_fields.hpp"

#include "json_value.hpp"
#include "read_kernels.hpp"
#include <benanza/base/detail/field_text.hpp>

#include <cmath>

namespace benanza::results {

namespace json = simdjson::ondemand;

std::string_view token(json::value& value) {
  std::string_view text = value.raw_json_token();
  while (!text.empty() && static_cast<unsigned char>(text.back()) <= ' ') text.remove_suffix(1);
  return text;
}

namespace {

/// NaN if it is not a finite number.
double number(json::value& value) {
  const std::string_view text = token(value);
  const char first = text.empty() ? 'n' : text.front();
  if (first == 't') return 1;
  if (first == 'f') return 0;
  const bool digits =
      (first >= '0' && first <= '9') || (first == '-' && text.find_first_of("IN") == std::string_view::npos);
  double result = not_given;
  if (!digits || value.get_double().get(result) != simdjson::SUCCESS) return not_given;
  return std::isfinite(result) ? result : not_given;
}

/// A time, which must be positive if present.
double read_time(RowFields& row, std::string_view key, json::value& value) {
  const double time = number(value);
  if (!(time > 0))
    row.wrong = std::string(key) + " is " + std::string(token(value).substr(0, 40)) + ", expected a positive number";
  return time;
}

/// Times, with null for a sample that did not count.
void read_times(RowFields& row, std::string_view key, json::value& value, std::vector<double>& times) {
  for (auto element : value.get_array()) {
    json::value time = some_value(element);
    times.push_back(time.is_null() ? not_given : read_time(row, key, time));
  }
}

/// A count that nothing is computed from.
void read_count(RowFields& row, std::string_view key, json::value& value) {
  if (!(number(value) >= 0)) row.wrong = std::string(key) + " is not a count";
}

}  // namespace

void read_field(RowFields& row, std::string_view key, json::value& value) {
  if (key == "name") row.name = value;
  else if (key == "run_type") row.run_type = value;
  else if (key == "run_name") row.run_name = value;
  else if (key == "aggregate_name") row.aggregate_name = value;
  else if (key == "time_unit") row.time_unit = value;
  else if (key == "error_message" || key == "skip_message") row.error_message = value;
  else if (key == "status") row.status = detail::enum_from_name<RowStatus>(std::string_view(value));
  else if (key == "error_occurred" || key == "skipped") row.failed = row.failed || number(value) != 0;
  else if (key == "real_time") row.real_time = read_time(row, key, value);
  else if (key == "iterations") read_count(row, key, value);
  else if (key == "bytes_per_second") row.bytes_per_second = number(value);
  else if (key == "flops_per_second") row.flops_per_second = number(value);
  else if (key == "in_front_bytes") row.in_front_bytes = number(value);
  else if (key == "min_ns") row.min_ns = read_time(row, key, value);
  else if (key == "median_ns") row.median_ns = read_time(row, key, value);
  else if (key == "p90_ns") row.p90_ns = read_time(row, key, value);
  else if (key == "cv") row.cv = number(value);
  else if (key == "preparation_ns") row.preparation_ns = number(value);
  else if (key == "difference") row.difference = number(value);
  else if (key == "samples") row.samples = number(value);
  else if (key == "calls_per_sample") row.calls_per_sample = number(value);
  else if (key == "repetitions") row.repetitions = number(value);
  else if (key == "threads") row.threads = number(value);
  else if (key == "workspace_bytes") row.workspace_bytes = number(value);
  else if (key == "saves_multiplications") row.saves_multiplications = number(value) == 1;
  else if (key == "contended") row.contended = number(value) == 1;
  else if (key == "at_least_ns") row.at_least_ns = read_time(row, key, value);
  else if (key == "at_most_ns") row.at_most_ns = read_time(row, key, value);
  else if (key == "noisy") row.noisy = number(value) == 1;
  else if (key == "advised") row.advised = number(value) == 1;
  else if (key == "method") row.method = value;
  else if (key == "launch_ns") row.launch_ns = number(value);
  else if (key == "other_method_ns") row.other_ns = number(value);
  else if (key == "other_launch_ns") row.other_launch_ns = number(value);
  else if (key == "methods_disagreement") row.disagreement = number(value);
  else if (key == "kernels_ns") row.kernels_ns = number(value);
  else if (key == "empty_kernels_ns") row.empty_kernels_ns = number(value);
  else if (key == "clock_hz") row.clock_hz = number(value);
  else if (key == "throttled") row.throttled = number(value) == 1;
  else if (key == "wander") row.wander = number(value);
  else if (key == "rounds_ns") read_times(row, key, value, row.rounds_ns);
  else if (key == "visits_ns") read_times(row, key, value, row.visits_ns);
  else if (key == "kernels") row.kernels = read_kernels(value, row.wrong);
}

}  // namespace benanza::results
