// SPDX-License-Identifier: Apache-2.0
// Tables of 2019: what the original printed of one model (`LayerName,LayerType,BenchmarkName,RealTime(ms),Theoretical
// Flops`, the last row is the total), and the same rows of many models (`gpu,batch,model,layer,kind,time_ms,flops`).
#include "results2019.hpp"
#include <benanza/error.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace benanza::results {

namespace {

/// The fields of a line; quotes may hold commas. Throws InputError for a quote that is not closed.
std::vector<std::string> fields_of(std::string_view line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"') fields.back() += line[++i];
    else if (c == '"') quoted = !quoted;
    else if (c == ',' && !quoted) fields.emplace_back();
    else fields.back() += c;
  }
  if (quoted) throw InputError("a quote is not closed");
  return fields;
}

class Columns {
 public:
  explicit Columns(std::vector<std::string> names) : names_(std::move(names)) {}
  [[nodiscard]] bool has(std::string_view name) const {
    return std::find(names_.begin(), names_.end(), name) != names_.end();
  }
  /// Empty where the table lacks the column.
  [[nodiscard]] std::string of(const std::vector<std::string>& fields, std::string_view name) const {
    const auto at = std::find(names_.begin(), names_.end(), name);
    return at == names_.end() ? "" : fields[static_cast<std::size_t>(at - names_.begin())];
  }
  [[nodiscard]] std::size_t size() const { return names_.size(); }

 private:
  std::vector<std::string> names_;
};

double number(const std::string& text, std::string_view what) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value) || value < 0)
    throw InputError(std::string(what) + " is '" + text + "', expected a number");
  return value;
}

}  // namespace

void add_table_2019(const std::string& file, const std::string& text, const std::string& device, Results2019& results) {
  std::size_t line_number = 0, at = 0;
  const auto fail = [&](const std::string& why) {
    throw InputError(file + ": line " + std::to_string(line_number) + ": " + why);
  };
  const auto next_line = [&] {
    const auto end = std::min(text.find('\n', at), text.size());
    std::string_view line(text.data() + at, end - at);
    at = end + 1;
    ++line_number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    return line;
  };
  const Columns columns(fields_of(next_line()));
  const bool one_model = columns.has("LayerName") && columns.has("RealTime(ms)");
  const bool many_models = columns.has("layer") && columns.has("time_ms") && columns.has("model");
  if (!one_model && !many_models)
    fail(
        "columns of neither table of 2019: expected LayerName,LayerType,BenchmarkName,RealTime(ms),... or "
        "gpu,batch,model,layer,kind,time_ms,...");
  if (!results.printed.empty() && (one_model || results.printed.front().model.empty()))
    fail("a second table, and one of them does not name its model: expected one table");
  bool ended = false;
  while (at < text.size()) {
    const std::string_view line = next_line();
    if (line.empty()) continue;
    try {
      const auto fields = fields_of(line);
      if (fields.size() != columns.size())
        throw InputError(std::to_string(fields.size()) + " fields, expected " + std::to_string(columns.size()));
      if (ended) throw InputError("a row after the total");
      if (one_model) {
        PrintedRow2019 row{.layer = columns.of(fields, "LayerName"),
                           .kind = columns.of(fields, "LayerType"),
                           .benchmark = columns.of(fields, "BenchmarkName"),
                           .time = milliseconds(number(columns.of(fields, "RealTime(ms)"), "RealTime(ms)"))};
        for (const auto name : {"Theoretical Flops", "Flops"})
          if (columns.has(name)) row.flops = number(columns.of(fields, name), name);
        ended = row.layer.empty() && row.benchmark == "Total";
        if (ended) results.printed_total = row.time;
        else results.printed.push_back(std::move(row));
        continue;
      }
      const std::string gpu = columns.of(fields, "gpu");
      if (!device.empty() && gpu != device) continue;
      if (!results.device.empty() && gpu != results.device)
        throw InputError("of '" + gpu + "', what came before is of '" + results.device +
                         "': two GPUs never share a total (--device selects one)");
      results.device = gpu;
      const std::string flops = columns.of(fields, "flops");
      const std::string batch = columns.of(fields, "batch");
      results.printed.push_back({.model = columns.of(fields, "model"),
                                 .batch = batch.empty() ? 0 : static_cast<std::int64_t>(number(batch, "batch")),
                                 .layer = columns.of(fields, "layer"),
                                 .kind = columns.of(fields, "kind"),
                                 .time = milliseconds(number(columns.of(fields, "time_ms"), "time_ms")),
                                 .flops = flops.empty() ? 0 : number(flops, "flops")});
    } catch (const InputError& error) {
      fail(error.what());
    }
  }
  if (one_model && !ended) fail("the table ends without its total: it is cut off");
  if (many_models && results.printed.empty()) fail(device.empty() ? "no rows" : "no rows of '" + device + "'");
}

}  // namespace benanza::results
