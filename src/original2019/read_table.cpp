// SPDX-License-Identifier: Apache-2.0
// Tables of 2019: the original's output for one model (`LayerName,LayerType,BenchmarkName,RealTime(ms),Theoretical
// Flops`, whose last row is the total), and the same rows for many models (`gpu,batch,model,layer,kind,time_ms,flops`).
#include "read.hpp"
#include <benanza/error.hpp>
#include <benanza/results/csv_table.hpp>

#include <set>

namespace benanza::original2019 {

namespace {

using benanza::results::CsvTable;
using benanza::results::device_of;

/// Reads up to the total.
void add_rows_of_one_model(CsvTable& table, Results& results) {
  bool ended = false;
  while (table.next()) {
    if (ended) table.fail("a row after the total");
    PrintedRow row{.layer = table["LayerName"],
                   .kind = table["LayerType"],
                   .benchmark = table["BenchmarkName"],
                   .time = table.milliseconds("RealTime(ms)")};
    for (const auto* name : {"Theoretical Flops", "Flops"})
      if (table.has(name)) row.flops = table.number(name);
    ended = row.layer.empty() && row.benchmark == "Total";
    if (ended) results.printed_total = row.time;
    else results.printed.push_back(std::move(row));
  }
  if (!ended) table.fail("the table ends without its total: it is cut off");
}

void add_rows_of_many_models(CsvTable& table, const std::string& device, Results& results) {
  while (table.next()) {
    const std::string gpu = device_of(table);
    if (!device.empty() && gpu != device) continue;
    if (!results.device.empty() && gpu != results.device)
      table.fail("of '" + gpu + "', what came before is of '" + results.device +
                 "': two GPUs never share a total (--device selects one)");
    results.device = gpu;
    results.printed.push_back({.model = table["model"],
                               .batch = table["batch"].empty() ? 0 : table.positive("batch"),
                               .layer = table["layer"],
                               .kind = table["kind"],
                               .time = table.milliseconds("time_ms"),
                               .flops = table["flops"].empty() ? 0 : table.number("flops")});
  }
  if (results.printed.empty()) table.fail(device.empty() ? "no rows" : "no rows of '" + device + "'");
}

}  // namespace

void add_table(const std::string& file, const std::string& text, const std::string& device, Results& results) {
  CsvTable table(file, text);
  const bool one_model = table.has("LayerName") && table.has("RealTime(ms)");
  const bool many_models = table.has("layer") && table.has("time_ms") && table.has("model");
  if (!one_model && !many_models)
    table.fail(
        "columns of neither table of 2019: expected LayerName,LayerType,BenchmarkName,RealTime(ms),... or "
        "gpu,batch,model,layer,kind,time_ms,...");
  if (!results.printed.empty() && (one_model || results.printed.front().model.empty()))
    table.fail("a second table, and one of them does not name its model: expected one table");
  if (one_model) add_rows_of_one_model(table, results);
  else add_rows_of_many_models(table, device, results);
}

}  // namespace benanza::original2019
