// SPDX-License-Identifier: Apache-2.0
// The simplest format: CSV with the columns `layer` and `time_ms` (or time_us, time_ns, time_s), and optionally `op`,
// `node`, `algorithm`. Rows are in the order of the engine; several passes follow each other.
#include "csv_row.hpp"
#include "nested_events.hpp"
#include "passes.hpp"
#include "reader.hpp"
#include <benanza/error.hpp>

#include <array>
#include <optional>

namespace benanza::profile {

namespace {

struct Unit {
  std::string_view column;
  double seconds;
};
constexpr std::size_t most_rows = 1'000'000;  // several passes of the largest models; a row takes 150 bytes of memory

constexpr std::array<Unit, 4> units{{{"time_ms", 1e-3}, {"time_us", 1e-6}, {"time_ns", 1e-9}, {"time_s", 1}}};

struct TimeColumn {
  std::size_t at = 0;
  double seconds = 0;
};

std::optional<TimeColumn> time_column(const std::vector<std::string>& header) {
  for (const Unit& unit : units)
    if (const auto at = csv_column(header, unit.column)) return TimeColumn{*at, unit.seconds};
  return std::nullopt;
}

/// The time of a row; empty if the row cannot be read, which the source counts.
std::optional<Seconds> read_time(Source& source, std::uint64_t position, const std::vector<std::string>& fields,
                                 std::size_t columns, const TimeColumn& time) {
  try {
    if (fields.size() != columns)
      throw Unreadable("a row of " + std::to_string(fields.size()) + " columns, expected " + std::to_string(columns) +
                       ": cut off?");
    return Seconds{csv_time(fields[time.at]) * time.seconds};
  } catch (const Unreadable& error) {
    source.leave_out(position, error.what());
    return std::nullopt;
  }
}

EngineProfile read_layer_csv(Source& source, const ProfileOptions& options) {
  Lines lines(source);
  std::string_view line;
  static_cast<void>(next_row(lines, line));
  const auto header = csv_fields(line, ',');
  const auto layer = csv_column(header, "layer"), op = csv_column(header, "op"), node = csv_column(header, "node"),
             algorithm = csv_column(header, "algorithm");
  const auto time = time_column(header);
  if (!layer || !time) source.fail(0, "a header without 'layer' or 'time_ms'");
  std::vector<std::size_t> same;  // columns with equal values in all rows of a run
  for (const char* name : {"model", "gpu", "device", "batch"})
    if (const auto at = csv_column(header, name)) same.push_back(*at);
  std::vector<std::string> first_row;
  EngineProfile made;
  Names names;
  std::vector<std::uint32_t> ids;
  std::vector<ProfileRecord> rows;
  std::vector<Seconds> times;
  while (next_row(lines, line)) {
    if (ids.size() == most_rows) source.fail(lines.position(), "more than " + std::to_string(most_rows) + " rows");
    const auto fields = csv_fields(line, ',');
    const auto seconds = read_time(source, lines.position(), fields, header.size(), *time);
    if (!seconds) {
      ids.push_back(unreadable_id);
      rows.emplace_back();
      times.emplace_back();
      continue;
    }
    if (first_row.empty()) first_row = fields;
    for (const std::size_t at : same)
      if (fields[at] != first_row[at])
        source.fail(lines.position(), header[at] + " '" + fields[at] + "' after rows of '" + first_row[at] +
                                          "': expected the layers of one run");
    auto& row = rows.emplace_back(ProfileRecord{.name = fields[*layer]});
    if (op) row.op = fields[*op];
    if (algorithm) row.algorithm = fields[*algorithm];
    if (node && !fields[*node].empty()) row.nodes = {fields[*node]};
    else row.nodes = {row.name};
    row.place = {source.index(), lines.position()};
    if (lines.unterminated()) made.warnings.push_back(csv_unterminated(source, lines.position()));
    ids.push_back(names.find_or_add(row.name).id);
    times.push_back(*seconds);
  }
  if (names.size() == 0) source.fail(0, "a header, but no layer");
  // A name that occurs twice in a file of one pass denotes two layers; passes are repetitions of the whole file.
  const auto passes = repeated_passes(source, ids, {}, options, made.warnings, Covering::whole);
  std::vector<Seconds> sums;
  for (const Stretch& pass : passes) {
    auto& sum = sums.emplace_back();
    for (std::size_t i = pass.first; i < pass.last; ++i) sum += times[i];
  }
  const std::size_t dropped = warm_up_passes(source, sums, options);
  made.warm_ups = static_cast<std::int64_t>(dropped);
  const std::size_t first = passes[dropped].first, length = passes[dropped].last - first;
  for (std::size_t k = 0; k < length; ++k) {
    if (!is_readable(ids, passes, k)) continue;
    auto& record = made.records.emplace_back(std::move(rows[first + k]));
    for (std::size_t pass = dropped; pass < passes.size(); ++pass)
      record.times.push_back(times[passes[pass].first + k]);
  }
  return made;
}

bool sniff_layer_csv(std::string_view head) {
  const auto header = csv_fields(head.substr(0, head.find_first_of("\r\n")), ',');
  return header.size() < 64 && csv_column(header, "layer") && time_column(header);
}

}  // namespace

const Reader layer_csv{"CSV of layers", sniff_layer_csv, read_layer_csv};

}  // namespace benanza::profile
