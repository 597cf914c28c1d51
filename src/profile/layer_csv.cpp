// SPDX-License-Identifier: Apache-2.0
// The simplest format: CSV with the columns `layer` and `time_ms` (or time_us, time_ns, time_s), and optionally `op`,
// `node`, `algorithm`. Rows are in the order of the engine; several passes follow each other.
#include "csv_row.hpp"
#include "nested_events.hpp"
#include "passes.hpp"
#include "reader.hpp"
#include "record_value.hpp"
#include <benanza/error.hpp>

#include <algorithm>
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

bool is_header(const std::vector<std::string>& fields) {
  return csv_column(fields, "layer") && time_column(fields).has_value();
}

class LayerCsv {
 public:
  LayerCsv(Source& source, const ProfileOptions& options) : source_(source), options_(options) {}

  EngineProfile read() {
    Lines lines(source_);
    std::string_view line;
    static_cast<void>(next_row(lines, line));
    header_ = csv_fields(line, ',');
    if (!is_header(header_)) source_.fail(0, "a header without 'layer' or 'time_ms'");
    while (next_row(lines, line)) {
      if (ids_.size() == most_rows) source_.fail(lines.position(), "more than " + std::to_string(most_rows) + " rows");
      auto fields = csv_fields(line, ',');
      if (is_header(fields)) {
        header_ = std::move(fields);
        if (!ids_.empty()) parts_.push_back({ids_.size(), lines.position()});
        continue;
      }
      try {
        check_text(line);
        add(std::move(fields), lines.position());
        if (lines.unterminated()) made_.warnings.push_back(csv_unterminated(source_, lines.position()));
      } catch (const Unreadable& error) {
        source_.leave_out(lines.position(), error.what());
        ids_.push_back(unreadable_id);
        rows_.emplace_back();
        times_.emplace_back();
      }
    }
    if (names_.size() == 0) source_.fail(0, "a header, but no layer");
    check_parts();
    finish();
    return std::move(made_);
  }

 private:
  struct Part {
    std::size_t first = 0;       // row
    std::uint64_t position = 0;  // of its header
  };

  [[nodiscard]] std::string value(const std::vector<std::string>& fields, std::string_view column) const {
    const auto at = csv_column(header_, column);
    return at ? fields[*at] : std::string();
  }

  void add(std::vector<std::string> fields, std::uint64_t position) {
    if (fields.size() != header_.size())
      throw Unreadable("a row of " + std::to_string(fields.size()) + " columns, expected " +
                       std::to_string(header_.size()) + ": cut off?");
    const TimeColumn column = *time_column(header_);
    const Seconds time = csv_time(fields[column.at], Seconds{column.seconds});
    for (std::size_t i = 0; i < one_run.size(); ++i) {
      std::string own = value(fields, one_run[i]);
      if (names_.size() == 0) run_[i] = own;
      if (own != run_[i])
        source_.fail(position, std::string(one_run[i]) + " '" + own + "' after rows of '" + run_[i] +
                                   "': expected the layers of one run");
    }
    auto& row = rows_.emplace_back(ProfileRecord{.name = value(fields, "layer")});
    row.op = value(fields, "op");
    row.algorithm = value(fields, "algorithm");
    row.nodes = {value(fields, "node")};
    if (row.nodes.front().empty()) row.nodes = {row.name};
    row.place = {source_.index(), position};
    ids_.push_back(names_.find_or_add(row.name).id);
    times_.push_back(time);
  }

  /// Files of one run after each other, each with its header, are passes of the same layers. The last one may be cut
  /// off, and then does not count.
  void check_parts() {
    const std::size_t length = parts_.empty() ? 0 : parts_.front().first;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const std::size_t end = i + 1 < parts_.size() ? parts_[i + 1].first : ids_.size();
      const auto at = [this](std::size_t row) { return ids_.begin() + static_cast<std::ptrdiff_t>(row); };
      const std::size_t size = end - parts_[i].first;
      if (size == 0) continue;  // nothing behind the header
      if (i + 1 == parts_.size() && size < length && std::equal(at(parts_[i].first), at(end), at(0), may_be_same)) {
        made_.warnings.push_back(source_.place(parts_[i].position) + ": only " + std::to_string(size) + " of " +
                                 std::to_string(length) + " rows follow the last header: this pass does not count");
        ids_.resize(parts_[i].first);
        rows_.resize(parts_[i].first);
        times_.resize(parts_[i].first);
        return;
      }
      if (!std::equal(at(parts_[i].first), at(end), at(0), at(length), may_be_same))
        source_.fail(parts_[i].position, "another header, and after it " + std::to_string(size) +
                                             " rows that are not the " + std::to_string(length) +
                                             " before the first one: expected the layers of one run");
    }
  }

  void finish() {
    // A name that occurs twice in a file of one pass denotes two layers.
    const auto passes = repeated_passes(source_, ids_, {}, options_, made_.warnings, Covering::from_start);
    source_.only_lacks(unreadable_in(ids_, passes));
    std::vector<Seconds> sums;
    for (const Stretch& pass : passes) {
      auto& sum = sums.emplace_back();
      for (std::size_t i = pass.first; i < pass.last; ++i) sum += times_[i];
    }
    const std::size_t dropped = warm_up_passes(source_, sums, options_);
    made_.warm_ups = static_cast<std::int64_t>(dropped);
    const std::size_t first = passes[dropped].first, length = passes[dropped].last - first;
    for (std::size_t k = 0; k < length; ++k) {
      if (!is_readable(ids_, passes, k)) continue;
      auto& record = made_.records.emplace_back(std::move(rows_[first + k]));
      for (std::size_t pass = dropped; pass < passes.size(); ++pass)
        record.times.push_back(times_[passes[pass].first + k]);
    }
  }

  /// Columns with equal values in all rows of a run.
  static constexpr std::array<std::string_view, 4> one_run{"model", "gpu", "device", "batch"};

  Source& source_;
  const ProfileOptions& options_;
  EngineProfile made_{};
  std::vector<std::string> header_{};
  std::array<std::string, one_run.size()> run_{};  // the values of these columns in the first row
  std::vector<Part> parts_{};                      // behind a second header and those that follow
  Names names_{};
  std::vector<std::uint32_t> ids_{};
  std::vector<ProfileRecord> rows_{};
  std::vector<Seconds> times_{};
};

EngineProfile read_layer_csv(Source& source, const ProfileOptions& options) { return LayerCsv(source, options).read(); }

bool sniff_layer_csv(std::string_view head) {
  const auto header = csv_fields(head.substr(0, head.find_first_of("\r\n")), ',');
  return header.size() < 64 && is_header(header);
}

}  // namespace

const Reader layer_csv{"CSV of layers", sniff_layer_csv, read_layer_csv};

}  // namespace benanza::profile
