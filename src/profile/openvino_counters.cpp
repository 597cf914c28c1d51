// SPDX-License-Identifier: Apache-2.0
// OpenVINO's counters: a report of benchmark_app (-report_type average_counters, detailed_counters, or sorted) as CSV
// of layers or, with -json_stats, as JSON, and what -pc prints (samples/cpp/common/utils, samples/cpp/benchmark_app/
// statistics_report.cpp). Layers are in the order of the engine, one block per pass. The sum of a block is not a
// latency.
#include "csv_row.hpp"
#include "nested_events.hpp"
#include "passes.hpp"
#include "reader.hpp"
#include "record_value.hpp"
#include "small_json.hpp"
#include <benanza/error.hpp>

#include <algorithm>
#include <optional>
#include <utility>

namespace benanza::profile {

namespace {

/// Layers that only change layout or type, as OpenVINO's CPU and GPU plugins call them.
bool converts(std::string_view type) { return type == "Reorder" || type == "reorder"; }

struct Counter {
  std::string name{}, status{}, op{}, implementation{};
};

class Counters {
 public:
  Counters(Source& source, const ProfileOptions& options) : source_(source), options_(options) {}

  void warn(std::string text) { made_.warnings.push_back(std::move(text)); }

  /// `position`: where in the file it begins.
  void begin_pass(std::uint64_t position) { passes_.push_back({.position = position}); }
  /// All layers of the last pass have been read.
  void end_pass() {
    if (!passes_.empty()) passes_.back().ended = true;
  }

  /// Adds a layer to the last pass. `time` gives its time; both throw Unreadable for a layer that cannot be read.
  template <class Time>
  void add(const Counter& counter, std::uint64_t position, Time&& time) {
    Row& row =
        passes_.back().rows.emplace_back(Row{.name = all_names_.find_or_add(counter.name + '\0' + counter.op).id});
    std::string_view status = counter.status;
    if (status.starts_with("Status.")) status.remove_prefix(7);
    if (status == "NOT_RUN" || status == "OPTIMIZED_OUT") return;
    if (status != "EXECUTED")
      throw Unreadable("status '" + std::string(status) + "', expected EXECUTED, OPTIMIZED_OUT or NOT_RUN");
    const Seconds taken = time();
    const auto [what, is_new] = executed_names_.find_or_add(counter.name + '\0' + counter.op);
    if (is_new) {
      auto& record = descriptions_.emplace_back();
      record.name = counter.name;
      record.op = counter.op;
      if (!converts(record.op) && !record.name.ends_with("...")) record.nodes = {record.name};  // -pc cuts long names
      record.algorithm = counter.implementation;
      record.provider = "openvino";
      record.activity = converts(record.op) ? Activity::conversion : Activity::layer;
      record.place = {source_.index(), position};
    }
    row.what = what;
    row.time = taken;
  }

  /// Calls `read`, and counts the layer as one that cannot be read if it throws Unreadable.
  template <class Read>
  void at_layer(std::uint64_t position, Read&& read) {
    auto& rows = passes_.back().rows;
    const std::size_t known = rows.size();
    try {
      read();
    } catch (const Unreadable& error) {
      source_.leave_out(position, error.what());
      rows.resize(known);
      rows.push_back({.name = unreadable_id});
    }
  }

  /// For a file that does not mark passes, which has become one pass.
  void divide_by_repetition() {
    if (passes_.empty()) return;
    const Pass all = std::move(passes_.front());
    passes_.clear();
    const auto ids = names_of(all);
    for (const Stretch& pass : repeated_passes(source_, ids, {}, options_, made_.warnings, Covering::from_start))
      passes_.push_back({.position = all.position,
                         .rows = {all.rows.begin() + static_cast<std::ptrdiff_t>(pass.first),
                                  all.rows.begin() + static_cast<std::ptrdiff_t>(pass.last)}});
  }

  EngineProfile finish() {
    if (descriptions_.empty()) throw InputError(source_.path().string() + ": no executed layer in the report");
    leave_out_cut_passes();
    const auto is_damaged = [](const Pass& pass) { return unreadable(pass) > 0; };
    if (!std::all_of(passes_.begin(), passes_.end(), is_damaged)) std::erase_if(passes_, is_damaged);
    std::size_t lacking = 0;
    std::vector<Seconds> sums;
    for (const Pass& pass : passes_) {
      lacking += unreadable(pass);
      auto& sum = sums.emplace_back();
      for (const Row& row : pass.rows) sum += row.time;
    }
    source_.only_lacks(lacking);
    const std::size_t dropped = warm_up_passes(source_, sums, options_);
    made_.warm_ups = static_cast<std::int64_t>(dropped);
    PassRecords records;
    std::vector<PassEvent> executed;
    for (std::size_t i = dropped; i < passes_.size(); ++i) {
      executed.clear();
      for (const Row& row : passes_[i].rows)
        if (row.what)
          executed.push_back({.what = *row.what,
                              .start = static_cast<double>(executed.size()),  // their order
                              .duration = row.time.value});
      records.add_pass(executed);
    }
    for (auto& each : records.take()) {
      auto& record = made_.records.emplace_back(descriptions_[each.what]);
      record.times = std::move(each.times);
    }
    return std::move(made_);
  }

 private:
  struct Row {
    std::uint32_t name = 0;               // a number in all_names_, or unreadable_id
    std::optional<std::uint32_t> what{};  // a number in executed_names_; empty if the layer was not executed
    Seconds time{};
  };
  struct Pass {
    std::uint64_t position = 0;
    bool ended = false;
    std::vector<Row> rows{};
  };

  static std::vector<std::uint32_t> names_of(const Pass& pass) {
    std::vector<std::uint32_t> names;
    for (const Row& row : pass.rows) names.push_back(row.name);
    return names;
  }

  static std::size_t unreadable(const Pass& pass) {
    return static_cast<std::size_t>(
        std::count_if(pass.rows.begin(), pass.rows.end(), [](const Row& row) { return row.name == unreadable_id; }));
  }

  /// A pass without its end is cut off if it lacks layers of the longest pass, and others have their end, or it is the
  /// first part of the longest.
  void leave_out_cut_passes() {
    if (passes_.empty()) return;
    const auto by_rows = [](const Pass& a, const Pass& b) { return a.rows.size() < b.rows.size(); };
    const auto longest = names_of(*std::max_element(passes_.begin(), passes_.end(), by_rows));
    const bool have_ends = std::any_of(passes_.begin(), passes_.end(), [](const Pass& pass) { return pass.ended; });
    std::erase_if(passes_, [&](const Pass& pass) {
      if (pass.ended || pass.rows.size() == longest.size()) return false;
      const auto names = names_of(pass);
      if (!have_ends && !std::equal(names.begin(), names.end(), longest.begin(), may_be_same)) return false;
      warn(source_.place(pass.position) + ": a pass of " + std::to_string(names.size()) + " layers, expected " +
           std::to_string(longest.size()) + ": it is cut off and does not count");
      return true;
    });
  }

  Source& source_;
  const ProfileOptions& options_;
  EngineProfile made_{.engine = "openvino"};
  Names executed_names_{};
  Names all_names_{};
  std::vector<ProfileRecord> descriptions_{};  // by the number in executed_names_
  std::vector<Pass> passes_{};
};

/// The columns of a block.
struct CounterColumns {
  CounterColumns(Source& source, std::string_view line, std::uint64_t position) {
    separator = line.find(';') != std::string_view::npos ? ';' : ',';
    const auto header = csv_fields(line, separator);
    const auto column = [&](std::string_view name) {
      const auto found = csv_column(header, name);
      if (!found) source.fail(position, "a header without column '" + std::string(name) + "'");
      return *found;
    };
    status = column("execStatus");
    op = column("layerType");
    implementation = column("execType");
    time = column("realTime (ms)");
    last_used = std::max({status, op, implementation, time});
    count = header.size();
  }
  char separator = ';';
  std::size_t status = 0, op = 0, implementation = 0, time = 0, last_used = 0, count = 0;
};

EngineProfile read_openvino_counters(Source& source, const ProfileOptions& options) {
  Counters counters(source, options);
  Lines lines(source);
  std::optional<CounterColumns> columns;
  for (std::string_view line; lines.next(line);) {
    const std::uint64_t position = lines.position();
    if (line.starts_with("layerName")) {
      columns.emplace(source, line, position);
      if (columns->separator == ',')
        counters.warn(source.place(position) + ": a sorted report: the order of layers is not that of the engine");
      counters.begin_pass(position);
      continue;
    }
    if (!columns) continue;
    counters.at_layer(position, [&] {
      check_text(line);
      const auto fields = csv_fields(line, columns->separator);
      if (fields.size() <= columns->last_used || fields[columns->status].empty()) {
        // Blank lines, totals, and what a quoted line break of the sorted header leaves; any other is a line that is
        // cut off.
        if (fields[0].starts_with("Total")) return counters.end_pass();
        if (fields[0].empty()) return;
        throw Unreadable("a layer of " + std::to_string(fields.size()) + " columns, expected " +
                         std::to_string(columns->count) + ": cut off?");
      }
      const Counter counter{fields[0], fields[columns->status], fields[columns->op], fields[columns->implementation]};
      counters.add(counter, position, [&] {
        const Seconds time = csv_time(fields[columns->time], milliseconds(1));
        if (lines.unterminated()) counters.warn(csv_unterminated(source, position));
        return time;
      });
    });
  }
  return counters.finish();
}

bool sniff_openvino_counters(std::string_view head) {
  return head.starts_with("layerName;execStatus;") || head.starts_with("layerName,execStatus,");
}

constexpr std::string_view type_key = "layerType: ", exec_key = "execType: ";

/// The word after a key; empty if the key is not there.
std::string_view word_after(std::string_view line, std::string_view key) {
  const auto at = line.find(key);
  if (at == std::string_view::npos) return {};
  line.remove_prefix(at + key.size());
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  return line.substr(0, line.find_first_of(" \t"));
}

/// `conv1   EXECUTED   layerType: Convolution   execType: jit_f32   realTime (ms): 0.020   cpuTime (ms): 0.020`; before
/// 2022.2 `realTime: 20   cpu: 20` in microseconds.
EngineProfile read_openvino_text(Source& source, const ProfileOptions& options) {
  Counters counters(source, options);
  Lines lines(source);
  bool in_pass = false, marked = false;
  for (std::string_view line; lines.next(line);) {
    const auto type_at = line.find(type_key);
    const bool is_total = line.starts_with("Total time"),
               is_title =
                   type_at == std::string_view::npos && line.find("Performance counts") != std::string_view::npos;
    if (is_total && in_pass) counters.end_pass();
    if (is_total || is_title) marked = true, in_pass = false;
    if (type_at == std::string_view::npos) {
      if (in_pass) counters.at_layer(lines.position(), [&] { check_text(line); });  // a layer whose key is damaged
      continue;
    }
    if (!std::exchange(in_pass, true)) counters.begin_pass(lines.position());
    counters.at_layer(lines.position(), [&] {
      check_text(line);
      std::string_view before = line.substr(0, type_at);
      const auto trim = [&before] { before = before.substr(0, before.find_last_not_of(" \t") + 1); };
      trim();
      const auto status_at = before.find_last_of(" \t") + 1;  // 0 if there is no blank
      const std::string status(before.substr(status_at));
      before = before.substr(0, status_at);
      trim();
      const Counter counter{std::string(before), status, std::string(word_after(line, type_key)),
                            std::string(word_after(line, exec_key))};
      if (counter.name.empty()) throw Unreadable("a layer without a name or a status");
      counters.add(counter, lines.position(), [&] {
        if (lines.unterminated() && line.find("cpu") == std::string_view::npos)
          throw Unreadable("a layer that is cut off");
        if (const auto time = word_after(line, "realTime (ms):"); !time.empty()) return csv_time(time, milliseconds(1));
        return csv_time(word_after(line, "realTime:"), Seconds{1e-6});
      });
    });
  }
  if (!marked) counters.divide_by_repetition();
  return counters.finish();
}

bool sniff_openvino_text(std::string_view head) {
  const auto type = head.find(type_key);
  if (type == std::string_view::npos) return false;
  const std::string_view line = head.substr(type, head.find_first_of("\r\n", type) - type);
  return line.find(exec_key) != std::string_view::npos && line.find("realTime") != std::string_view::npos;
}

constexpr std::string_view average_key = "avg_performance", detailed_key = "detailed_performance";

EngineProfile read_openvino_json(Source& source, const ProfileOptions& options) {
  using Json = nlohmann::json;
  Counters counters(source, options);
  const auto add_pass = [&](const Json& pass, std::uint64_t position) {
    if (!pass.is_object() || !pass.contains("nodes") || !pass["nodes"].is_array())
      throw Unreadable("a pass without the list 'nodes'");
    counters.begin_pass(position);
    std::size_t index = 0;
    for (const Json& node : pass["nodes"]) {
      const std::string where = "node " + std::to_string(index++);
      counters.at_layer(position, [&] {
        const Counter counter{text_at(node, "name"), text_at(node, "status"), text_at(node, "node_type"),
                              text_at(node, "exec_type")};
        if (counter.name.empty()) throw Unreadable(where + ": no 'name'");
        counters.add(counter, position, [&] { return time_at(node, "real_time", milliseconds(1), where); });
      });
    }
    counters.end_pass();
  };
  const bool detailed = source.head().find(detailed_key) != std::string_view::npos;
  if (detailed) {
    for_each_json(source, detailed_key, EventStream::usual_longest,
                  [&](const Json& pass, std::uint64_t position, std::size_t) { add_pass(pass, position); });
  } else {
    const Json all = read_json(source);
    try {
      add_pass(all.is_object() ? all.value(std::string(average_key), Json()) : Json(), 0);
    } catch (const Unreadable& error) {
      source.fail(0, error.what());
    }
  }
  return counters.finish();
}

bool sniff_openvino_json(std::string_view head) {
  const auto first = head.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || head[first] != '{') return false;
  const std::string_view start = head.substr(first, 256);
  return (start.find(average_key) != std::string_view::npos || start.find(detailed_key) != std::string_view::npos) &&
         head.find("\"nodes\"") != std::string_view::npos;
}

}  // namespace

const Reader openvino_counters{"OpenVINO counters", sniff_openvino_counters, read_openvino_counters};
const Reader openvino_text{"OpenVINO counters as text", sniff_openvino_text, read_openvino_text};
const Reader openvino_json{"OpenVINO counters as JSON", sniff_openvino_json, read_openvino_json};

}  // namespace benanza::profile
