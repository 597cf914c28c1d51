// SPDX-License-Identifier: Apache-2.0
// OpenVINO's counters (benchmark_app -report_type average_counters, detailed_counters, or sorted): CSV of layers in the
// order of the engine, in milliseconds; one block per pass in a detailed report. The sum of a block is not a latency.
#include "csv_row.hpp"
#include "passes.hpp"
#include "reader.hpp"
#include "timeline.hpp"
#include <benanza/error.hpp>

#include <algorithm>

namespace benanza::profile {

namespace {

/// Layers that only change layout or type, as OpenVINO's CPU and GPU plugins call them.
bool converts(std::string_view type) { return type == "Reorder" || type == "reorder"; }

class Counters {
 public:
  Counters(Source& source, const ProfileOptions& options) : source_(source), options_(options) {}

  EngineProfile read() {
    Lines lines(source_);
    for (std::string_view line; lines.next(line);) {
      if (line.starts_with("layerName")) begin_block(line, lines.position());
      else if (!passes_.empty()) add(line, lines.position(), lines.unterminated());
    }
    finish();
    return std::move(made_);
  }

 private:
  void begin_block(std::string_view line, std::uint64_t position) {
    separator_ = line.find(';') != std::string_view::npos ? ';' : ',';
    const auto header = csv_fields(line, separator_);
    const auto column = [&](std::string_view name) {
      const auto found = csv_column(header, name);
      if (!found) source_.fail(position, "a header without column '" + std::string(name) + "'");
      return *found;
    };
    status_ = column("execStatus");
    op_ = column("layerType");
    implementation_ = column("execType");
    time_ = column("realTime (ms)");
    last_used_ = std::max({status_, op_, implementation_, time_});
    columns_ = header.size();
    if (separator_ == ',')
      made_.warnings.push_back(source_.place(position) +
                               ": a sorted report: the order of layers is not that of the engine");
    passes_.emplace_back();
    sums_.emplace_back();
  }

  void add(std::string_view line, std::uint64_t position, bool unterminated) {
    const auto fields = csv_fields(line, separator_);
    const bool is_layer = fields.size() > last_used_ && !fields[status_].empty();
    if (!is_layer) {
      // Blank lines, totals, and what a quoted line break of the sorted header leaves; any other is a line that is cut
      // off.
      if (fields[0].empty() || fields[0].starts_with("Total")) return;
      source_.fail(position, "a layer of " + std::to_string(fields.size()) + " columns, expected " +
                                 std::to_string(columns_) + ": cut off?");
    }
    std::string_view status = fields[status_];
    if (status.starts_with("Status.")) status.remove_prefix(7);
    if (status == "NOT_RUN" || status == "OPTIMIZED_OUT") return;
    if (status != "EXECUTED")
      source_.fail(position, "status '" + std::string(status) + "', expected EXECUTED, OPTIMIZED_OUT or NOT_RUN");
    const Seconds time = milliseconds(csv_time(source_, position, fields[time_]));
    if (unterminated) made_.warnings.push_back(csv_unterminated(source_, position));
    const auto [what, is_new] = names_.find_or_add(fields[0] + '\0' + fields[op_]);
    if (is_new) {
      auto& record = descriptions_.emplace_back();
      record.name = fields[0];
      record.op = fields[op_];
      if (!converts(record.op)) record.nodes = {fields[0]};
      record.algorithm = fields[implementation_];
      record.provider = "openvino";
      record.activity = converts(record.op) ? Activity::conversion : Activity::layer;
      record.place = {source_.index(), position};
    }
    passes_.back().push_back({.what = what,
                              .start = static_cast<double>(passes_.back().size()),  // their order
                              .duration = time.value});
    sums_.back() += time;
  }

  void finish() {
    if (descriptions_.empty()) throw InputError(source_.path().string() + ": no executed layer in the report");
    const std::size_t dropped = warm_up_passes(source_, sums_, options_);
    made_.warm_ups = static_cast<std::int64_t>(dropped);
    PassRecords records;
    for (std::size_t i = dropped; i < passes_.size(); ++i) records.add_pass(passes_[i]);
    for (auto& each : records.take()) {
      auto& record = made_.records.emplace_back(descriptions_[each.what]);
      record.times = std::move(each.times);
    }
  }

  Source& source_;
  const ProfileOptions& options_;
  EngineProfile made_{.engine = "openvino"};
  char separator_ = ';';
  std::size_t status_ = 0, op_ = 0, implementation_ = 0, time_ = 0, last_used_ = 0, columns_ = 0;
  Names names_{};
  std::vector<ProfileRecord> descriptions_{};  // by the number of the name
  std::vector<std::vector<PassEvent>> passes_{};
  std::vector<Seconds> sums_{};
};

bool sniff_openvino_counters(std::string_view head) {
  return head.starts_with("layerName;execStatus;") || head.starts_with("layerName,execStatus,");
}

EngineProfile read_openvino_counters(Source& source, const ProfileOptions& options) {
  return Counters(source, options).read();
}

}  // namespace

const Reader openvino_counters{"OpenVINO counters", sniff_openvino_counters, read_openvino_counters};

}  // namespace benanza::profile
