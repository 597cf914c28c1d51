// SPDX-License-Identifier: Apache-2.0
// Nsight Systems' SQLite export, the schema of 2019 and today's: kernels, copies and waits of a CUDA device, launches
// and allocations of the host, in integer nanoseconds. A table exists only if the run had something for it. Passes are
// not marked: they are the repetitions in the sequence of kernels. A kernel that was launched inside an NVTX range gets
// the label of the innermost one. Calls of cuDNN and cuBLAS are included if they were traced (nsys profile -t
// cudnn,cublas).
#include "between_libraries.hpp"
#include "nsys_timeline.hpp"
#include "reader.hpp"
#include "sqlite_database.hpp"
#include <benanza/base/detail/limits.hpp>
#include <benanza/error.hpp>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <unordered_map>

namespace benanza::profile {

namespace {

class Export {
 public:
  explicit Export(Source& source) : source_(source), database_(source) {}

  EngineProfile read(const ProfileOptions& options) {
    if (!database_.has("StringIds")) database_.fail("no table StringIds");
    database_.each("select id, value from StringIds",
                   [&](sqlite3_stmt* row) { strings_[Database::number(row, 0)] = Database::text(row, 1); });
    check_schema();
    read_overheads();
    read_launches();
    read_ranges();
    read_libraries();
    read_chains();
    read_kernels();
    read_copies();
    read_waits();
    read_calls();
    EngineProfile made = make_profile(source_, std::move(timeline_), options);
    describe(made);
    return made;
  }

 private:
  [[nodiscard]] const std::string& string(std::int64_t id) const {
    static const std::string none;
    const auto found = strings_.find(id);
    return found == strings_.end() ? none : found->second;
  }

  /// Host calls by process and correlation: when and on which thread a kernel was launched. The number of a thread
  /// consists of its process's number and, in the lowest 24 bits, its own.
  void read_launches() {
    if (!database_.has("CUPTI_ACTIVITY_KIND_RUNTIME")) return;
    const std::string process = names_processes() ? "globalTid >> 24" : "0";
    database_.each("select correlationId, start, globalTid, " + process +
                       " from CUPTI_ACTIVITY_KIND_RUNTIME where correlationId <> 0",
                   [&](sqlite3_stmt* row) {
                     launches_[Database::number(row, 3)][Database::number(row, 0)] = {Database::number(row, 1),
                                                                                      Database::number(row, 2)};
                   });
  }

  [[nodiscard]] const Launch* launch_of(std::int64_t process, std::int64_t correlation) const {
    const auto calls = launches_.find(process);
    if (calls == launches_.end()) return nullptr;
    const auto found = calls->second.find(correlation);
    return found == calls->second.end() ? nullptr : &found->second;
  }

  /// Whether kernels name their process.
  [[nodiscard]] bool names_processes() { return database_.columns("CUPTI_ACTIVITY_KIND_KERNEL").contains("globalPid"); }

  /// Ranges that were pushed and popped on a thread, which nest: of NVTX (event type 59), and of its version 2, which
  /// writes texts (70). A text is in the row or, as registered strings are, elsewhere.
  void read_ranges() {
    const auto columns = database_.columns("NVTX_EVENTS");
    const auto column = [&columns](const char* name) { return columns.contains(name) ? name : "null"; };
    if (!columns.contains("text") && !columns.contains("textId")) return;
    std::string types = "59, 70";
    if (database_.columns("ENUM_NSYS_EVENT_TYPE").contains("name"))
      database_.each("select id from ENUM_NSYS_EVENT_TYPE where name like 'Nvtx%PushPopRange'",
                     [&](sqlite3_stmt* row) { types += ", " + std::to_string(Database::number(row, 0)); });
    database_.each("select globalTid, start, end, " + std::string(column("text")) + ", " + column("textId") +
                       " from NVTX_EVENTS where eventType in (" + types +
                       ") and end is not null order by start, end desc",
                   [&](sqlite3_stmt* row) {
                     std::string text = Database::text(row, 3);
                     if (text.empty()) text = string(Database::number(row, 4));
                     ranges_[Database::number(row, 0)].push_back(
                         {Database::number(row, 1), Database::number(row, 2), std::move(text)});
                   });
    for (auto& [thread, ranges] : ranges_) {
      std::vector<std::size_t> open;
      for (std::size_t i = 0; i < ranges.size(); ++i) {
        while (!open.empty() && ranges[open.back()].end < ranges[i].end) open.pop_back();
        if (!open.empty()) ranges[i].parent = open.back();
        open.push_back(i);
      }
    }
  }

  void read_libraries() {
    for (const char* table : {"CUDNN_EVENTS", "CUBLAS_EVENTS"}) {
      if (!database_.columns(table).contains("nameId")) continue;
      database_.each(std::string("select rowid, start, end, globalTid, nameId from ") + table +
                         " where end is not null and end > start",
                     [&](sqlite3_stmt* row) {
                       check_span(row, table);
                       const std::string& function = string(Database::number(row, 4));
                       const std::string library = library_of_function(function);
                       if (library.empty()) return;  // the tracer's own marks
                       timeline_.libraries.add(Database::number(row, 3), {.start = Database::number(row, 1),
                                                                          .end = Database::number(row, 2),
                                                                          .library = library,
                                                                          .function = function});
                     });
    }
    timeline_.libraries.finish();
  }

  /// Symbols by call chain, innermost first.
  void read_chains() {
    if (!database_.columns("CUDA_CALLCHAINS").contains("symbol")) return;
    database_.each("select id, symbol from CUDA_CALLCHAINS order by id, stackDepth", [&](sqlite3_stmt* row) {
      chains_[Database::number(row, 0)].push_back(string(Database::number(row, 1)));
    });
  }

  [[nodiscard]] std::string label_of(const Launch& launch) const {
    const auto found = ranges_.find(launch.thread);
    if (found == ranges_.end()) return {};
    const std::vector<Range>& ranges = found->second;
    const auto after = std::upper_bound(ranges.begin(), ranges.end(), launch.start,
                                        [](std::int64_t start, const Range& range) { return start < range.start; });
    // The enclosing range that began last.
    std::size_t at = after == ranges.begin() ? Range::none : static_cast<std::size_t>(after - ranges.begin()) - 1;
    while (at != Range::none && ranges[at].end < launch.start) at = ranges[at].parent;
    return at == Range::none ? std::string() : ranges[at].text;
  }

  /// Checks a row that was selected as `rowid, start, end ...`. Times are nanoseconds since the session or since 1970.
  void check_span(sqlite3_stmt* row, const std::string& table) const {
    const std::int64_t start = Database::number(row, 1), end = Database::number(row, 2);
    const auto fail = [&](const std::string& why) {
      throw InputError(source_.path().string() + ": row " + Database::text(row, 0) + " of " + table + " " + why);
    };
    constexpr std::int64_t longest = std::numeric_limits<std::int64_t>::max() / 2;  // differences do not overflow
    for (int column = 1; column <= 2; ++column)
      if (const std::int64_t time = Database::number(row, column);
          sqlite3_column_type(row, column) != SQLITE_INTEGER || time > longest || time < -longest)
        fail(std::string(column == 1 ? "starts" : "ends") + " at '" + Database::text(row, column) +
             "', expected nanoseconds");
    if (end < start) fail("ends " + std::to_string(start - end) + " ns before it starts");
    if (nanoseconds(static_cast<double>(end - start)) > detail::most_time) fail("takes more than a year");
  }

  void read_kernels() {
    const std::string table = "CUPTI_ACTIVITY_KIND_KERNEL";
    if (!database_.has(table)) return;
    const std::string process = names_processes() ? "globalPid >> 24" : "0";
    database_.each(
        "select rowid, start, end, streamId, correlationId, shortName, demangledName, gridX, gridY, gridZ, "
        "blockX, blockY, blockZ, deviceId, " +
            process + " from " + table + " order by start, end",
        [&](sqlite3_stmt* row) {
          check_span(row, table);
          DeviceEvent event{.activity = Activity::kernel,
                            .row = Database::number(row, 0),
                            .start = Database::number(row, 1),
                            .end = Database::number(row, 2),
                            .stream = Database::number(row, 3)};
          event.name = string(Database::number(row, 5));
          event.detail = string(Database::number(row, 6));
          for (int i = 7; i < 13; ++i) event.sizes += (i == 7 ? "" : ",") + Database::text(row, i);
          devices_.insert(Database::number(row, 13));
          processes_.insert(Database::number(row, 14));
          if (const Launch* const launch = launch_of(Database::number(row, 14), Database::number(row, 4))) {
            event.launched = launch->start;
            event.thread = launch->thread;
            event.label = label_of(*launch);
          }
          timeline_.events.push_back(std::move(event));
        });
    refuse_several_processes();
    if (devices_.size() > 1)
      timeline_.warnings.push_back(source_.path().string() + ": kernels of " + std::to_string(devices_.size()) +
                                   " devices are in one file: they count as one run");
  }

  void refuse_several_processes() const {
    if (processes_.size() < 2) return;
    std::string names;
    for (const std::int64_t process : processes_)  // the lowest 24 bits; those above are the machine's
      names += (names.empty() ? "" : ", ") + std::to_string(process & 0xFFFFFF);
    throw InputError(source_.path().string() + ": kernels of " + std::to_string(processes_.size()) + " processes (" +
                     names + "), expected those of the one that ran the model");
  }

  void read_copies() {
    constexpr std::pair<int, const char*> kinds[] = {
        {1, "copy to device"}, {2, "copy to host"}, {8, "copy on device"}, {10, "copy between devices"}};
    if (database_.has("CUPTI_ACTIVITY_KIND_MEMCPY"))
      database_.each(
          "select rowid, start, end, streamId, bytes, copyKind from CUPTI_ACTIVITY_KIND_MEMCPY order by start",
          [&](sqlite3_stmt* row) {
            std::string name = "copy";
            for (const auto& [kind, text] : kinds)
              if (Database::number(row, 5) == kind) name = text;
            add_transfer(row, Activity::copy, name, Database::text(row, 4) + " bytes", "MEMCPY");
          });
    if (database_.has("CUPTI_ACTIVITY_KIND_MEMSET"))
      database_.each("select rowid, start, end, streamId, bytes from CUPTI_ACTIVITY_KIND_MEMSET order by start",
                     [&](sqlite3_stmt* row) {
                       add_transfer(row, Activity::copy, "set", Database::text(row, 4) + " bytes", "MEMSET");
                     });
  }

  void read_waits() {
    if (!database_.has("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION")) return;
    database_.each(
        "select rowid, start, end, streamId from CUPTI_ACTIVITY_KIND_SYNCHRONIZATION order by start",
        [&](sqlite3_stmt* row) { add_transfer(row, Activity::wait, "synchronisation", "", "SYNCHRONIZATION"); });
  }

  /// Launches, allocations and, if the device's own waits were not traced, the host's waits; between library calls,
  /// every call that is not a part of another one.
  void read_calls() {
    const std::string table = "CUPTI_ACTIVITY_KIND_RUNTIME";
    if (!database_.columns(table).contains("nameId")) return;
    const bool waits_known = database_.has("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION");
    const std::string process = names_processes() ? "globalTid >> 24" : "0";
    const std::string chain = database_.columns(table).contains("callchainId") ? "callchainId" : "null";
    std::unordered_map<std::int64_t, std::int64_t> busy_until;  // by thread
    database_.each("select rowid, start, end, globalTid, nameId, " + process + ", " + chain + " from " + table +
                       " where end is not null order by start, end desc",
                   [&](sqlite3_stmt* row) {
                     const std::string& name = string(Database::number(row, 4));
                     if (name.empty() || !processes_.contains(Database::number(row, 5))) return;
                     const auto has = [&name](const char* part) { return name.find(part) != std::string::npos; };
                     const bool waits = has("Synchronize"), others = has("Launch") || has("Malloc") || has("Free");
                     DeviceEvent call{.activity = waits ? Activity::wait : Activity::call,
                                      .row = Database::number(row, 0),
                                      .start = Database::number(row, 1),
                                      .end = Database::number(row, 2),
                                      .stream = Database::number(row, 3),
                                      .name = name,
                                      .thread = Database::number(row, 3),
                                      .is_record = waits ? !waits_known : others};
                     const auto [end, first] = busy_until.try_emplace(call.thread, call.end);
                     const bool outermost = first || call.start >= end->second;
                     end->second = std::max(end->second, call.end);
                     const auto [before, after] = timeline_.libraries.around(call.thread, call.start);
                     call.between = outermost && before && after && before->end <= call.start;
                     call.between_libraries = call.between && !waits && !others;
                     if (call.between_libraries) call.name = without_version(name);
                     call.is_record = call.is_record || call.between_libraries;
                     if (!call.between && !call.is_record) return;
                     check_span(row, table);
                     if (const auto found = chains_.find(Database::number(row, 6)); found != chains_.end())
                       call.chain = found->second;
                     timeline_.calls.push_back(std::move(call));
                   });
  }

  void add_transfer(sqlite3_stmt* row, Activity activity, const std::string& name, const std::string& sizes,
                    const std::string& table) {
    check_span(row, "CUPTI_ACTIVITY_KIND_" + table);
    DeviceEvent event{.activity = activity,
                      .row = Database::number(row, 0),
                      .start = Database::number(row, 1),
                      .end = Database::number(row, 2),
                      .stream = Database::number(row, 3),
                      .name = name,
                      .sizes = sizes};
    timeline_.events.push_back(std::move(event));
  }

  /// Checks the schema's version, which exports of 2019 do not contain.
  void check_schema() {
    constexpr int known = 3;
    if (!database_.has("META_DATA_EXPORT")) return;
    database_.each("select value from META_DATA_EXPORT where name = 'EXPORT_SCHEMA_VERSION'", [&](sqlite3_stmt* row) {
      const std::string version = Database::text(row, 0);
      if (Database::number(row, 0) > known)  // the number before the first dot
        timeline_.warnings.push_back(source_.path().string() + ": schema version " + version +
                                     "; known are those up to " + std::to_string(known));
    });
  }

  void read_overheads() {
    if (!database_.has("PROFILER_OVERHEAD")) return;
    database_.each("select start, end from PROFILER_OVERHEAD", [&](sqlite3_stmt* row) {
      timeline_.overheads.push_back({Database::number(row, 0), Database::number(row, 1)});
    });
  }

  void describe(EngineProfile& made) {
    if (database_.columns("TARGET_INFO_GPU").contains("name"))
      database_.each("select name from TARGET_INFO_GPU limit 1",
                     [&](sqlite3_stmt* row) { made.device = Database::text(row, 0); });
    const bool whole_graphs = database_.has("CUPTI_ACTIVITY_KIND_GRAPH_TRACE") && processes_.empty();
    if (whole_graphs)
      made.total_only =
          "CUDA graphs were traced as a whole: the file has no kernels (nsys profile "
          "--cuda-graph-trace=node traces them)";
    else if (processes_.empty()) made.total_only = "the file has no kernels: no CUDA device was traced";
  }

  Source& source_;
  Database database_;
  std::unordered_map<std::int64_t, std::string> strings_{};  // only looked up, never iterated
  std::unordered_map<std::int64_t, std::unordered_map<std::int64_t, Launch>> launches_{};  // the same
  std::map<std::int64_t, std::vector<Range>> ranges_{};  // by thread, in order of their start
  std::unordered_map<std::int64_t, std::vector<std::string>> chains_{};
  std::set<std::int64_t> processes_{}, devices_{};  // those of the kernels
  DeviceTimeline timeline_{};
};

bool sniff_nsys(std::string_view head) { return head.starts_with("SQLite format 3"); }

EngineProfile read_nsys(Source& source, const ProfileOptions& options) { return Export(source).read(options); }

}  // namespace

const Reader nsys{"Nsight Systems SQLite export", sniff_nsys, read_nsys};

}  // namespace benanza::profile
