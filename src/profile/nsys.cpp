// SPDX-License-Identifier: Apache-2.0
// Nsight Systems' SQLite export, the schema of 2019 and today's: kernels, copies and waits of a CUDA device, launches
// and allocations of the host, in integer nanoseconds. Tables exist only where the run had something for them. Passes
// are not marked: they are what repeats in the sequence of kernels. A kernel that was launched inside an NVTX range is
// labelled by the innermost one.
#include "nsys_timeline.hpp"
#include "reader.hpp"
#include <benanza/error.hpp>

#include <sqlite3.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <unordered_map>

namespace benanza::profile {

namespace {

/// The database, opened for reading: from its file, or from memory where the file is gzip.
class Database {
 public:
  explicit Database(Source& source) : source_(source) {
    std::ifstream file(source.path(), std::ios::binary);
    char magic[16] = {};
    file.read(magic, sizeof magic);
    sqlite3* raw = nullptr;
    if (std::string_view(magic, 15) == "SQLite format 3") {
      const int status = sqlite3_open_v2(source.path().c_str(), &raw, SQLITE_OPEN_READONLY, nullptr);
      check(status, raw);
    } else {
      const int status = sqlite3_open_v2(":memory:", &raw, SQLITE_OPEN_READWRITE, nullptr);
      check(status, raw);
      unpack();
    }
  }
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  /// The columns of a table; none where there is no such table.
  [[nodiscard]] std::set<std::string> columns(const std::string& table) {
    std::set<std::string> names;
    each("pragma table_info(" + table + ")", [&](sqlite3_stmt* row) { names.insert(text(row, 1)); });
    return names;
  }
  [[nodiscard]] bool has(const std::string& table) { return !columns(table).empty(); }

  template <class Use>
  void each(const std::string& query, Use&& use) {
    sqlite3_stmt* raw = nullptr;
    check(sqlite3_prepare_v2(handle_.get(), query.c_str(), -1, &raw, nullptr), nullptr);
    const std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> statement(raw, sqlite3_finalize);
    int status = SQLITE_ROW;
    while ((status = sqlite3_step(raw)) == SQLITE_ROW) use(raw);
    if (status != SQLITE_DONE) fail(sqlite3_errmsg(handle_.get()));
  }

  [[nodiscard]] static std::string text(sqlite3_stmt* row, int column) {
    const auto* value = sqlite3_column_text(row, column);
    return value ? reinterpret_cast<const char*>(value) : "";
  }
  [[nodiscard]] static std::int64_t number(sqlite3_stmt* row, int column) { return sqlite3_column_int64(row, column); }

  [[noreturn]] void fail(const std::string& what) const {
    source_.fail(0, what + "; expected a whole SQLite export of Nsight Systems");
  }

 private:
  void check(int status, sqlite3* made) {
    if (made) handle_.reset(made);
    if (status != SQLITE_OK) fail(handle_ ? sqlite3_errmsg(handle_.get()) : sqlite3_errstr(status));
  }

  void unpack() {
    std::string bytes;
    for (std::string_view part = source_.next(); !part.empty(); part = source_.next()) bytes += part;
    auto* copy = static_cast<unsigned char*>(sqlite3_malloc64(bytes.size()));
    if (!copy) fail("out of memory");
    std::memcpy(copy, bytes.data(), bytes.size());
    const auto size = static_cast<sqlite3_int64>(bytes.size());
    check(sqlite3_deserialize(handle_.get(), "main", copy, size, size,
                              SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_READONLY),
          nullptr);
  }

  Source& source_;
  std::unique_ptr<sqlite3, int (*)(sqlite3*)> handle_{nullptr, sqlite3_close};
};

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

  /// Host calls by process and correlation: when and on which thread a kernel was launched. A thread's number is its
  /// process's, with its own in the lowest 24 bits.
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

  /// Whether kernels say of which process they are.
  [[nodiscard]] bool names_processes() { return database_.columns("CUPTI_ACTIVITY_KIND_KERNEL").contains("globalPid"); }

  /// Ranges that were pushed and popped on a thread (event type 59), which nest.
  void read_ranges() {
    const auto columns = database_.columns("NVTX_EVENTS");
    if (columns.empty() || !columns.contains("text")) return;
    const std::string id = columns.contains("textId") ? "textId" : "null";
    database_.each("select globalTid, start, end, text, " + id +
                       " from NVTX_EVENTS where eventType = 59 and end is not null order by start, end desc",
                   [&](sqlite3_stmt* row) {
                     std::string text = Database::text(row, 3);
                     if (text.empty()) text = string(Database::number(row, 4));
                     ranges_[Database::number(row, 0)].push_back(
                         {Database::number(row, 1), Database::number(row, 2), std::move(text)});
                   });
  }

  [[nodiscard]] std::string label_of(const Launch& launch) const {
    const auto found = ranges_.find(launch.thread);
    if (found == ranges_.end()) return {};
    const std::string* label = nullptr;  // of ranges that enclose it the one that began last
    auto at = std::upper_bound(found->second.begin(), found->second.end(), launch.start,
                               [](std::int64_t start, const Range& range) { return start < range.start; });
    for (; at != found->second.begin() && !label; --at)
      if (std::prev(at)->end >= launch.start) label = &std::prev(at)->text;
    return label ? *label : std::string();
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

  /// Launches, allocations and, where the device's own waits were not traced, the host's.
  void read_calls() {
    const std::string table = "CUPTI_ACTIVITY_KIND_RUNTIME";
    if (!database_.columns(table).contains("nameId")) return;
    const bool waits_known = database_.has("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION");
    const std::string process = names_processes() ? "globalTid >> 24" : "0";
    database_.each("select rowid, start, end, globalTid, nameId, " + process + " from " + table +
                       " where end is not null order by start",
                   [&](sqlite3_stmt* row) {
                     const std::string& name = string(Database::number(row, 4));
                     const auto has = [&name](const char* part) { return name.find(part) != std::string::npos; };
                     const bool waits = has("Synchronize");
                     const bool counts = waits ? !waits_known : has("Launch") || has("Malloc") || has("Free");
                     if (!counts || !processes_.contains(Database::number(row, 5))) return;
                     check_span(row, table);
                     DeviceEvent call{.activity = waits ? Activity::wait : Activity::call,
                                      .row = Database::number(row, 0),
                                      .start = Database::number(row, 1),
                                      .end = Database::number(row, 2),
                                      .stream = Database::number(row, 3),
                                      .name = name};
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

  /// The schema's version, which exports of 2019 do not say.
  void check_schema() {
    constexpr int known = 3;
    if (!database_.has("META_DATA_EXPORT")) return;
    database_.each("select value from META_DATA_EXPORT where name = 'EXPORT_SCHEMA_VERSION'", [&](sqlite3_stmt* row) {
      const std::string version = Database::text(row, 0);
      if (Database::number(row, 0) > known)  // the number in front of the first dot
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
  std::unordered_map<std::int64_t, std::string> strings_{};                                // looked up, never walked
  std::unordered_map<std::int64_t, std::unordered_map<std::int64_t, Launch>> launches_{};  // likewise
  std::map<std::int64_t, std::vector<Range>> ranges_{};  // by thread, in order of their start
  std::set<std::int64_t> processes_{}, devices_{};       // that kernels are of
  DeviceTimeline timeline_{};
};

bool sniff_nsys(std::string_view head) { return head.starts_with("SQLite format 3"); }

EngineProfile read_nsys(Source& source, const ProfileOptions& options) { return Export(source).read(options); }

}  // namespace

const Reader nsys{"Nsight Systems SQLite export", sniff_nsys, read_nsys};

}  // namespace benanza::profile
