// SPDX-License-Identifier: Apache-2.0
// The log of TensorRT's trtexec: a median of the time on the GPU over all passes, which its exports do not contain, and
// the table of layers that --dumpProfile prints.
#include "reader.hpp"
#include "record_value.hpp"
#include "trtexec_record.hpp"
#include <benanza/base/detail/limits.hpp>
#include <benanza/error.hpp>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace benanza::profile {

namespace {

/// `median = 0.474 ms`
std::optional<double> value_of(std::string_view line, std::string_view key) {
  auto at = line.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  at += key.size();
  double value = 0;
  const auto read = std::from_chars(line.data() + at, line.data() + line.size(), value);
  const std::string_view unit = line.substr(static_cast<std::size_t>(read.ptr - line.data()));
  if (read.ec != std::errc{} || !unit.starts_with(" ms")) return std::nullopt;
  return value;
}

/// The text after the mark, up to the end of the line or a bracket.
std::string_view behind(std::string_view line, std::string_view mark) {
  const auto at = line.find(mark);
  if (at == std::string_view::npos) return {};
  std::string_view rest = line.substr(at + mark.size());
  rest = rest.substr(0, rest.find(']'));
  while (rest.starts_with(' ')) rest.remove_prefix(1);
  while (rest.ends_with(' ')) rest.remove_suffix(1);
  return rest;
}

/// What follows the date and the severity: `[05/08/2026-14:05:14] [I] ...`.
std::string_view message_of(std::string_view line) {
  constexpr std::string_view mark = "[I] ";
  const auto at = line.find(mark);
  return at == std::string_view::npos ? line : line.substr(at + mark.size());
}

/// The parts between runs of at least `blanks` blanks.
std::vector<std::string_view> columns_of(std::string_view text, std::size_t blanks) {
  std::vector<std::string_view> columns;
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    if (text.empty()) return columns;
    const std::string gap(blanks, ' ');
    const std::string_view column = text.substr(0, text.find(gap));
    columns.push_back(column.substr(0, column.find_last_not_of(' ') + 1));
    text.remove_prefix(column.size());
  }
}

/// The table of layers: `Time(ms)  Avg.(ms)  Median(ms)  Time(%)  Layer`, or, before 8.6, with the layer first.
class LayerTable {
 public:
  /// Empty if the line is no header.
  static std::optional<LayerTable> of_header(std::string_view line) {
    const auto columns = columns_of(line, 2);
    const auto mean = std::find_if(columns.begin(), columns.end(), [](auto name) { return name.starts_with("Avg."); });
    if (mean == columns.end() || (columns.front() != "Layer" && columns.back() != "Layer")) return std::nullopt;
    LayerTable table;
    table.name_first_ = columns.front() == "Layer";
    table.numbers_ = columns.size() - 1;
    table.mean_ = static_cast<std::size_t>(mean - columns.begin()) - (table.name_first_ ? 1 : 0);
    return table;
  }

  struct Row {
    std::string name{};
    Seconds mean{};
  };
  /// Throws Unreadable.
  [[nodiscard]] Row read(std::string_view line) const {
    const auto words = columns_of(line, 1);
    if (words.size() <= numbers_) throw Unreadable("a row of " + std::to_string(words.size()) + " columns: cut off?");
    const std::size_t first = name_first_ ? words.size() - numbers_ : 0;
    Row row;
    for (std::size_t i = 0; i < numbers_; ++i) {
      const std::string_view word = words[first + i];
      const std::string_view number = word.substr(0, word.size() - (word.ends_with('%') ? 1 : 0));
      const Seconds time = record_time(number, milliseconds(1), "'" + std::string(word) + "' in a row of layer times");
      if (i == mean_) row.mean = time;
    }
    const std::string_view begin = words[name_first_ ? 0 : numbers_],
                           end = words[name_first_ ? first - 1 : words.size() - 1];
    row.name.assign(begin.data(), end.data() + end.size());
    return row;
  }

 private:
  bool name_first_ = false;
  std::size_t numbers_ = 0, mean_ = 0;
};

EngineProfile read_trtexec_log(Source& source, const ProfileOptions&) {
  EngineProfile made{.engine = "tensorrt"};
  Lines lines(source);
  std::optional<LayerTable> table;
  bool tables = false;
  std::size_t title = 0;  // the line above a table's header
  for (std::string_view line; lines.next(line);) {
    const std::string_view message = message_of(line);
    if (const auto device = behind(line, "Selected Device: "); !device.empty()) made.device = device;
    if (const auto version = behind(line, "TensorRT version: "); !version.empty()) made.version = version;
    if (message.starts_with("=== Profile")) title = lines.position();
    if (auto header = LayerTable::of_header(message)) {
      if (std::exchange(tables, true)) source.fail(lines.position(), "a second table of layers: the logs of two runs");
      table = header;
      continue;
    }
    if (table) {
      if (message.find_first_not_of(' ') == std::string_view::npos || message.starts_with("&&&&")) table.reset();
      else {
        try {
          check_text(line);
          const LayerTable::Row row = table->read(message);
          if (row.name == "Total") {
            table.reset();
            continue;
          }
          made.records.push_back(trtexec_record(source, row.name, lines.position()));
          made.records.back().times = {row.mean};
        } catch (const Unreadable& error) {
          source.leave_out(lines.position(), error.what());
        }
        continue;
      }
    }
    if (line.find("GPU Compute Time: min") == std::string_view::npos) continue;
    const auto median = value_of(line, "median = ");
    if (!median || !detail::is_possible(milliseconds(*median)))
      source.fail(lines.position(),
                  "'GPU Compute Time' without 'median = ... ms' from " + std::string(detail::time_range));
    if (!made.latencies.empty()) source.fail(lines.position(), "a second 'GPU Compute Time': the logs of two runs");
    made.latencies = {milliseconds(*median)};
    made.warnings.push_back(source.place(lines.position()) +
                            ": the log holds the median of the passes only: no spread");
  }
  if (made.latencies.empty() && made.records.empty())
    throw InputError(source.path().string() + ": a log of trtexec without 'GPU Compute Time': it did not finish");
  if (title > 0 && !tables)
    made.warnings.push_back(source.place(title) + ": a table of layers whose header cannot be read is left out");
  if (!made.records.empty()) made.warnings.push_back(source.path().string() + std::string(trtexec_overhead));
  return made;
}

bool sniff_trtexec_log(std::string_view head) {
  return head.find("&&&& RUNNING TensorRT.trtexec") != std::string_view::npos ||
         head.find("GPU Compute Time: min") != std::string_view::npos;
}

}  // namespace

const Reader trtexec_log{"trtexec log", sniff_trtexec_log, read_trtexec_log};

}  // namespace benanza::profile
