// SPDX-License-Identifier: Apache-2.0
#include <benanza/error.hpp>
#include <benanza/original2019/totals.hpp>
#include <benanza/results/csv_table.hpp>
#include <benanza/results/whole_file.hpp>

#include <algorithm>
#include <array>
#include <charconv>

namespace benanza::original2019 {

namespace {

using benanza::results::CsvTable;
using benanza::results::device_of;

std::int64_t whole_number(const CsvTable& table, std::string_view column) {
  constexpr double most = 1e6;  // layers of a model
  const double value = table.number(column);
  if (value > most) table.fail(std::string(column) + " is '" + table[column] + "', expected a number up to 1000000");
  return static_cast<std::int64_t>(value);
}

struct TotalColumn {
  const char* name;
  bool parallel, advised;
};
constexpr std::array total_columns{
    TotalColumn{"serial_total_published", false, false}, TotalColumn{"parallel_total_published", true, false},
    TotalColumn{"advised_serial_total", false, true}, TotalColumn{"advised_parallel_total", true, true}};

/// Whether the file has totals by model, and whether it has totals by variant. Columns may be in any order.
bool has_models(const CsvTable& table) {
  return table.has("model") && std::any_of(total_columns.begin(), total_columns.end(),
                                           [&](const TotalColumn& column) { return table.has(column.name); });
}
bool has_variants(const CsvTable& table) { return table.has("variant"); }

std::vector<Total> totals_by_model(CsvTable& table) {
  std::vector<Total> totals;
  while (table.next()) {
    std::int64_t missing = 0;
    if (!table["layers_measurable"].empty() && !table["rows_present"].empty())
      missing =
          std::max<std::int64_t>(0, whole_number(table, "layers_measurable") - whole_number(table, "rows_present"));
    for (const auto& column : total_columns) {
      if (table[column.name].empty()) continue;
      totals.push_back({.device = device_of(table),
                        .model = table["model"],
                        .batch = table.positive("batch"),
                        .source = "totals",
                        .parallel = column.parallel,
                        .advised = column.advised,
                        .time = table.milliseconds(column.name),
                        .missing = missing});
    }
  }
  return totals;
}

std::vector<Total> totals_by_variant(CsvTable& table) {
  std::vector<Total> totals;
  while (table.next()) {
    Total variant;
    try {
      variant = parse_variant(table["variant"]);
    } catch (const InputError& error) {
      table.fail(error.what());
    }
    variant.device = device_of(table);
    variant.model = "ResNet050-v1";
    for (const auto& column : table.columns()) {
      std::int64_t batch = 0;
      const auto [end, error] = std::from_chars(column.data() + 1, column.data() + column.size(), batch);
      if (!column.starts_with('b') || error != std::errc{} || end != column.data() + column.size()) continue;
      if (table[column].empty()) continue;
      variant.batch = batch;
      variant.time = table.milliseconds(column);
      totals.push_back(variant);
    }
  }
  return totals;
}

bool is_version(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789.") == std::string_view::npos;
}

}  // namespace

Total parse_variant(std::string_view name) {
  Total made{.source = "variants", .parallel = true};
  std::string_view rest = name;
  if (const auto slash = rest.find('/'); slash != std::string_view::npos && is_version(rest.substr(0, slash))) {
    made.source += " of cudnn " + std::string(rest.substr(0, slash));
    rest.remove_prefix(slash + 1);
  }
  bool known = true, latency = false;
  while (!rest.empty()) {
    const auto end = std::min(rest.find('_'), rest.size());
    const std::string_view word = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (word == "serial") made.parallel = false;
    else if (word == "fused") made.fused = true;
    else if (word == "nhwc") made.nhwc = true;
    else if (word == "padded") made.padded = true;
    else if (word == "advised") made.advised = true;
    else if (word == "float16") made.type = DataType::f16;
    else if (word == "latency") latency = true;
    else if (word != "resnet50" && word != "cudnn") known = false;
  }
  if (!known || !latency)
    throw InputError("'" + std::string(name) +
                     "' is not a variant of 2019, expected e.g. serial_fused_latency_float16");
  return made;
}

bool has_totals(std::string_view head) {
  if (head.find_first_of("{\"") != std::string_view::npos) return false;  // a database
  const CsvTable table("", head);
  return has_models(table) || has_variants(table);
}

std::vector<Total> read_totals(const std::string& file) {
  const std::string text = read_whole(file);
  CsvTable table(file, text);
  if (!has_totals(text))
    table.fail(
        "columns of no table of totals: expected gpu,batch,model,serial_total_published,... or "
        "variant,gpu,b1,b2,...");
  auto totals = has_variants(table) ? totals_by_variant(table) : totals_by_model(table);
  if (totals.empty()) table.fail("no totals");
  return totals;
}

}  // namespace benanza::original2019
