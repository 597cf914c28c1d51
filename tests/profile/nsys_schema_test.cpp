// SPDX-License-Identifier: Apache-2.0
// Nsight Systems' export in the current schema (3.25), as a database that the test writes: layers are NVTX ranges.
#include "support/profile_support.hpp"

#include <sqlite3.h>

#include <map>

namespace {

using namespace profile_support;

class Written {
 public:
  explicit Written(const fs::path& file) {
    REQUIRE(sqlite3_open(file.c_str(), &handle_) == SQLITE_OK);
    run("create table StringIds (id integer primary key, value text not null)");
    run("create table CUPTI_ACTIVITY_KIND_KERNEL (start integer not null, end integer not null, deviceId integer, "
        "contextId integer, greenContextId integer, streamId integer, correlationId integer, globalPid integer, "
        "demangledName integer, shortName integer, mangledName integer, launchType integer, registersPerThread "
        "integer, gridX integer, gridY integer, gridZ integer, blockX integer, blockY integer, blockZ integer, "
        "staticSharedMemory integer, dynamicSharedMemory integer, graphNodeId integer)");
    run("create table CUPTI_ACTIVITY_KIND_RUNTIME (start integer, end integer, eventClass integer, globalTid integer, "
        "correlationId integer, nameId integer, returnValue integer, callchainId integer)");
    run("create table CUPTI_ACTIVITY_KIND_MEMCPY (start integer, end integer, deviceId integer, contextId integer, "
        "streamId integer, correlationId integer, globalPid integer, bytes integer, copyKind integer)");
    run("create table NVTX_EVENTS (start integer not null, end integer, eventType integer not null, rangeId integer, "
        "category integer, color integer, text text, globalTid integer, endGlobalTid integer, textId integer, "
        "domainId integer)");
    run("create table TARGET_INFO_GPU (id integer, name text, smCount integer, memoryBandwidth integer)");
    run("insert into TARGET_INFO_GPU values (0, 'NVIDIA L4', 58, 300000000000)");
    run("create table META_DATA_EXPORT (name text, value text)");
    run("create table PROFILER_OVERHEAD (start integer, end integer, globalTid integer, correlationId integer, nameId "
        "integer, returnValue integer)");
  }
  Written(const Written&) = delete;
  Written& operator=(const Written&) = delete;
  ~Written() { sqlite3_close(handle_); }

  void run(const std::string& statement) {
    INFO(statement);
    REQUIRE(sqlite3_exec(handle_, statement.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK);
  }

  /// A kernel that lasts this many ns; thread 7 of the process launches it 500 ns before it starts.
  void kernel(const std::string& name, int start, int duration, std::int64_t process = 5106) {
    const std::string pid = std::to_string(process << 24), tid = std::to_string((process << 24) + 7);
    const std::string correlation = std::to_string(++correlation_);
    const auto [id, fresh] = strings_.try_emplace(name, strings_.size() + 1);
    if (fresh) run("insert into StringIds values (" + std::to_string(id->second) + ", '" + name + "')");
    const std::string string = std::to_string(id->second);
    run("insert into CUPTI_ACTIVITY_KIND_RUNTIME values (" + std::to_string(start - 500) + ", " +
        std::to_string(start - 400) + ", 0, " + tid + ", " + correlation + ", 0, 0, 0)");
    run("insert into CUPTI_ACTIVITY_KIND_KERNEL values (" + std::to_string(start) + ", " +
        std::to_string(start + duration) + ", 0, 1, null, 7, " + correlation + ", " + pid + ", " + string + ", " +
        string + ", " + string + ", 0, 32, 8, 1, 1, 128, 1, 1, 0, 0, null)");
  }

  /// A call of the host, by thread 7 of process 5106.
  void call(const std::string& name, int start, int duration) {
    const auto [id, fresh] = strings_.try_emplace(name, strings_.size() + 1);
    if (fresh) run("insert into StringIds values (" + std::to_string(id->second) + ", '" + name + "')");
    run("insert into CUPTI_ACTIVITY_KIND_RUNTIME values (" + std::to_string(start) + ", " +
        std::to_string(start + duration) + ", 0, " + std::to_string((std::int64_t{5106} << 24) + 7) + ", 0, " +
        std::to_string(id->second) + ", 0, 0)");
  }

  /// A call of a library, by thread 7 of process 5106.
  void library_call(const std::string& table, const std::string& name, int start, int end) {
    const auto [id, fresh] = strings_.try_emplace(name, strings_.size() + 1);
    if (fresh) run("insert into StringIds values (" + std::to_string(id->second) + ", '" + name + "')");
    run("create table if not exists " + table +
        " (start integer, end integer, eventClass integer, globalTid integer, nameId integer)");
    run("insert into " + table + " values (" + std::to_string(start) + ", " + std::to_string(end) + ", 0, " +
        std::to_string((std::int64_t{5106} << 24) + 7) + ", " + std::to_string(id->second) + ")");
  }

  /// Gives all calls of that name a call chain, innermost first.
  void chain(const std::string& name, const std::vector<std::string>& symbols) {
    run("create table if not exists CUDA_CALLCHAINS (id integer, symbol integer, module integer, stackDepth integer)");
    for (std::size_t depth = 0; depth < symbols.size(); ++depth) {
      const auto [id, fresh] = strings_.try_emplace(symbols[depth], strings_.size() + 1);
      if (fresh) run("insert into StringIds values (" + std::to_string(id->second) + ", '" + symbols[depth] + "')");
      run("insert into CUDA_CALLCHAINS values (9, " + std::to_string(id->second) + ", 0, " + std::to_string(depth) +
          ")");
    }
    run("update CUPTI_ACTIVITY_KIND_RUNTIME set callchainId = 9 where nameId = " + std::to_string(strings_.at(name)));
  }

  /// A range that is pushed and popped, with its text in the row or in the table of strings.
  void range(const std::string& name, int start, int end, bool in_row) {
    const auto [id, fresh] = strings_.try_emplace(name, strings_.size() + 1);
    if (fresh) run("insert into StringIds values (" + std::to_string(id->second) + ", '" + name + "')");
    run("insert into NVTX_EVENTS values (" + std::to_string(start) + ", " + std::to_string(end) + ", 59, null, 0, 0, " +
        (in_row ? "'" + name + "'" : "null") + ", " + std::to_string((std::int64_t{5106} << 24) + 7) + ", null, " +
        (in_row ? "null" : std::to_string(id->second)) + ", 0)");
  }

 private:
  sqlite3* handle_ = nullptr;
  int correlation_ = 0;
  std::map<std::string, std::size_t> strings_{};
};

/// Passes of 100 us: conv1 is two kernels (4 and 2 us), relu1 is the second of them again; the last has no layer.
void add_passes(Written& database, int count) {
  for (int pass = 0; pass < count; ++pass) {
    const int at = 1'000'000 + 100'000 * pass;
    database.range("iteration " + std::to_string(pass), at, at + 60'000, true);
    database.range("conv1", at + 1000, at + 21'000, true);
    database.kernel("implicit_gemm", at + 10'000, 4000);
    database.kernel("elementwise", at + 15'000, 2000);
    database.range("relu1", at + 22'000, at + 30'000, false);
    database.kernel("elementwise", at + 25'000, 3000);
    database.kernel("finish", at + 50'000, 1000);
  }
}

std::vector<std::string> nodes_of(const EngineProfile& profile, std::size_t record) {
  return profile.records.at(record).nodes;
}

}  // namespace

TEST_CASE("kernels carry the name of the innermost range that they were launched in, of NVTX's version 2 too") {
  const bool version_2 = GENERATE(false, true);
  const Folder folder;
  const fs::path file = folder.path / "p.sqlite";
  {
    Written database(file);
    database.run("insert into META_DATA_EXPORT values ('EXPORT_SCHEMA_VERSION', '3.25.0')");
    add_passes(database, 6);
    if (version_2) database.run("update NVTX_EVENTS set eventType = 70");
  }
  const auto profile = read(file, {.warm_ups = 1});
  CHECK(profile.device == "NVIDIA L4");
  CHECK(profile.latencies.size() == 5);
  for (const auto& latency : profile.latencies) CHECK(latency.value == Approx(41.5e-6));  // from the first launch
  REQUIRE(profile.records.size() == 4);
  CHECK(nodes_of(profile, 0) == std::vector<std::string>{"conv1"});
  CHECK(nodes_of(profile, 1) == std::vector<std::string>{"conv1"});
  CHECK(nodes_of(profile, 2) == std::vector<std::string>{"relu1"});
  CHECK(nodes_of(profile, 3).empty());  // its only range counts the passes
  CHECK(microseconds(profile.records[0].times) == std::vector<double>(5, 4.0));
  CHECK(microseconds(profile.records[3].times) == std::vector<double>(5, 1.0));
  REQUIRE(profile.warnings.size() == 1);
  CHECK_THAT(profile.warnings[0], Catch::Contains("6 passes found by repetition of 4 records"));
}

TEST_CASE("a database with a write-ahead log is read, and no file is left beside it") {
  const Folder folder;
  const fs::path file = folder.path / "a ?#%41.sqlite";
  const auto files = [&] { return std::distance(fs::directory_iterator(folder.path), fs::directory_iterator()); };
  {
    Written database(file);
    database.run("pragma journal_mode = wal");
    add_passes(database, 6);
    CHECK(files() == 3);  // what follows reads the log as well, also through a link
    const fs::path link = folder.path / "link.sqlite";
    fs::create_symlink(file, link);
    CHECK(read(file, {.warm_ups = 1}).latencies.size() == 5);
    CHECK(read(link, {.warm_ups = 1}).latencies.size() == 5);
    fs::remove(link);
  }
  CHECK(files() == 1);
  CHECK(read(file, {.warm_ups = 1}).latencies.size() == 5);
  CHECK(files() == 1);
}

TEST_CASE("a view is no table, and a value that a table computes is limited") {
  const Folder folder;
  const fs::path file = folder.path / "p.sqlite";
  const auto statements =
      GENERATE(std::vector<std::string>{"alter table StringIds rename to Others",
                                        "create view StringIds as with recursive n(id, value) as "
                                        "(select 1, 'x' union all select id + 1, 'x' from n) select * from n"},
               std::vector<std::string>{"drop table StringIds",
                                        "create table StringIds (id integer, value text as (hex(zeroblob(id))))",
                                        "insert into StringIds values (400000000)"});
  {
    Written database(file);
    for (const auto& statement : statements) database.run(statement);
  }
  CHECK_THROWS_WITH(read(file), Catch::Contains("p.sqlite: byte 0: ") &&
                                    (Catch::Contains("no table StringIds") || Catch::Contains("too big")));
}

TEST_CASE("what ran between two library calls of a pass is told with counts, times and call chains") {
  const Folder folder;
  const fs::path file = folder.path / "p.sqlite";
  {
    Written database(file);
    for (int pass = 0; pass < 6; ++pass) {
      const int at = 1'000'000 + 100'000 * pass;
      // Launches are 500 ns before the kernels: within cudnnConvolutionForward, between the calls, and within
      // cublasSgemm, which contains a cublasGemmEx.
      database.library_call("CUDNN_EVENTS", "cudnnConvolutionForward", at + 1000, at + 12'000);
      database.kernel("implicit_gemm", at + 10'000, 4000);
      database.call("cudaStreamWaitEvent_v3020", at + 13'000, 700);
      database.call("cudaEventRecord_v3020", at + 14'000, 300);
      database.call("cudaStreamWaitEvent_v3020", at + 14'400, 500);
      database.call("cudaMalloc_v3020", at + 15'000, 900);
      database.kernel("elementwise", at + 20'000, 2000);
      database.library_call("CUBLAS_EVENTS", "cublasSgemm_v2", at + 22'000, at + 30'000);
      database.library_call("CUBLAS_EVENTS", "cublasGemmEx", at + 23'000, at + 29'000);
      database.call("cudaEventRecord_v3020", at + 23'500, 200);  // within a library call
      database.kernel("sgemm", at + 25'000, 3000);
      database.call("cudaStreamWaitEvent_v3020", at + 40'000, 800);  // after the last one of the pass
      database.kernel("finish", at + 50'000, 1000);
    }
    database.chain("cudaStreamWaitEvent_v3020", {"wait_for", "main"});
  }
  const auto made = read(file, {.warm_ups = 1});
  CHECK(made.latencies.size() == 5);
  REQUIRE(made.between.size() == 4);
  const auto find = [&](const std::string& name) {
    const auto at =
        std::find_if(made.between.begin(), made.between.end(), [&](const auto& b) { return b.name == name; });
    REQUIRE(at != made.between.end());
    CHECK(at->after == "cudnnConvolutionForward");
    CHECK(at->before == "cublasSgemm_v2");
    return *at;
  };
  CHECK(made.between[0].name == "elementwise");  // 2 us, the longest
  CHECK(find("elementwise").activity == Activity::kernel);
  CHECK(find("elementwise").time.value == Approx(2e-6));
  CHECK(find("cudaStreamWaitEvent").count == 2);
  CHECK(find("cudaStreamWaitEvent").time.value == Approx(1.2e-6));
  CHECK(find("cudaStreamWaitEvent").chain == std::vector<std::string>{"wait_for", "main"});
  CHECK(find("cudaEventRecord").count == 1);
  CHECK(find("cudaMalloc").time.value == Approx(0.9e-6));
  std::map<std::string, std::string> libraries;
  std::size_t between = 0;
  for (const auto& record : made.records) {
    if (record.activity == Activity::kernel) libraries[record.name] = record.library;
    if (record.between_libraries) ++between;
  }
  CHECK(libraries == std::map<std::string, std::string>{
                         {"implicit_gemm", "cudnn"}, {"elementwise", ""}, {"sgemm", "cublas"}, {"finish", ""}});
  CHECK(between == 3);  // two waits and a record of an event; an allocation is a call of its own kind
}

TEST_CASE("launches are told apart by their process, and kernels of two processes are refused") {
  const Folder folder;
  const fs::path file = folder.path / "p.sqlite";
  {
    Written database(file);
    add_passes(database, 6);
    // For each correlation a call of another process, long after the kernels.
    database.run(
        "insert into CUPTI_ACTIVITY_KIND_RUNTIME select start + 100000000, end + 100000000, 0, (6000 << 24) + 9, "
        "correlationId, 0, 0, 0 from CUPTI_ACTIVITY_KIND_RUNTIME");
  }
  const auto profile = read(file, {.warm_ups = 1});
  REQUIRE(profile.records.size() == 4);
  CHECK(nodes_of(profile, 0) == std::vector<std::string>{"conv1"});
  CHECK(profile.latencies.at(0).value == Approx(41.5e-6));  // from the first launch

  const fs::path both = folder.path / "both.sqlite";
  {
    Written database(both);
    add_passes(database, 6);
    database.kernel("other_model", 1'070'000, 1000, 6000);
  }
  CHECK_THROWS_WITH(read(both), Catch::Contains("kernels of 2 processes (5106, 6000)"));
}

TEST_CASE("launches, allocations and waits of the host are records of the pass that they start in") {
  const Folder folder;
  const fs::path file = folder.path / "p.sqlite";
  {
    Written database(file);
    add_passes(database, 6);
    for (int pass = 0; pass < 6; ++pass) {
      const int at = 1'000'000 + 100'000 * pass;
      database.call("cudaMalloc_v3020", at + 30'000, 5000);
      database.call("cudaGetDevice_v3020", at + 36'000, 1000);
      database.call("cudaStreamSynchronize_v3020", at + 40'000, 2000);
      database.call("cudaLaunchKernel_v7000", at + 49'000, 500);
      database.call("cudaFree_v3020", at + 70'000, 2000);  // between passes
    }
  }
  const auto profile = read(file, {.warm_ups = 1});
  CHECK(profile.latencies.at(0).value == Approx(41.5e-6));
  REQUIRE(profile.records.size() == 7);
  const auto &allocation = profile.records[3], &synchronization = profile.records[4], &launch = profile.records[5];
  CHECK(allocation.name == "cudaMalloc_v3020");
  CHECK(allocation.activity == Activity::call);
  CHECK(allocation.op == "call");
  CHECK(allocation.lane == (std::int64_t{5106} << 24) + 7);
  CHECK(allocation.start->value == Approx(20.5e-6));  // from the first launch, at 9.5 us
  CHECK(microseconds(allocation.times) == std::vector<double>(5, 5.0));
  CHECK(synchronization.activity == Activity::wait);
  CHECK(microseconds(synchronization.times) == std::vector<double>(5, 2.0));
  CHECK(launch.activity == Activity::call);
  CHECK(microseconds(launch.times) == std::vector<double>(5, 0.5));
  CHECK(profile.records[6].activity == Activity::kernel);
}

TEST_CASE("passes are as many as told, or those that go on to the end of the kernels") {
  const Folder folder;
  const fs::path file = folder.path / "p.sqlite";
  {
    Written database(file);
    add_passes(database, 6);
    database.kernel("head", 1'600'000, 1000);
  }
  // The device is idle for 59 us before a pass (from 51 to 110) and for at most 22 us inside one (from 28 to 50).
  CHECK(read(file, {.warm_ups = 0}).latencies.size() == 6);
  const auto pairs = read(file, {.warm_ups = 0, .passes = 3});
  REQUIRE(pairs.latencies.size() == 3);
  CHECK(pairs.latencies[0].value == Approx(141.5e-6));  // the second pass begins 100 us later
  CHECK(!warned(pairs, "found by repetition"));
  const auto one = read(file, {.warm_ups = 0, .passes = 1});
  REQUIRE(one.latencies.size() == 1);
  CHECK(one.latencies[0].value == Approx(591.5e-6));  // from the launch at 1009.5 us to 1601
  CHECK_THROWS_WITH(read(file, {.passes = 4}), Catch::Contains("repeat 6 times, expected 4 passes"));
}

TEST_CASE("what a newer schema or the profiler's own time makes doubtful is said") {
  const Folder folder;
  const fs::path file = folder.path / "p.sqlite";
  {
    Written database(file);
    database.run("insert into META_DATA_EXPORT values ('EXPORT_SCHEMA_VERSION', '4.1.0')");
    add_passes(database, 4);
    database.run("insert into PROFILER_OVERHEAD values (500000, 600000, 7, 0, 0, 0)");    // before the first pass
    database.run("insert into PROFILER_OVERHEAD values (1210000, 1230000, 7, 0, 0, 0)");  // 20 us of the third pass
  }
  const auto profile = read(file, {.warm_ups = 0});
  CHECK(warned(profile, "schema version 4.1.0"));
  CHECK(warned(profile, "latencies hold 0.02 ms that the profiler itself took"));
}

TEST_CASE("graphs that were traced as a whole support the total alone") {
  const Folder folder;
  const fs::path file = folder.path / "p.sqlite";
  {
    Written database(file);
    database.run("create table CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start integer, end integer, graphId integer)");
    database.run("drop table CUPTI_ACTIVITY_KIND_KERNEL");
  }
  CHECK_THAT(read(file).total_only, Catch::Contains("--cuda-graph-trace=node"));
}

TEST_CASE("a row without a start, or at no time that a clock shows, is refused with its number") {
  struct Row {
    const char *start, *end, *says;
  };
  const auto row = GENERATE(Row{"null", "2000000", "row 3 of CUPTI_ACTIVITY_KIND_MEMCPY starts at ''"},
                            Row{"2000000", "null", "ends at ''"},
                            Row{"-9223372036854775808", "2000000", "starts at '-9223372036854775808'"},
                            Row{"2000000", "9223372036854775807", "ends at '9223372036854775807'"},
                            Row{"9223372036854775808", "9223372036854775809", "starts at '9.2"});
  CAPTURE(row.start, row.end);
  const Folder folder;
  const fs::path file = folder.path / "p.sqlite";
  {
    Written database(file);
    add_passes(database, 4);
    for (int i = 0; i < 2; ++i)
      database.run("insert into CUPTI_ACTIVITY_KIND_MEMCPY values (1000, 2000, 0, 0, 7, 0, 0, 64, 1)");
    database.run("insert into CUPTI_ACTIVITY_KIND_MEMCPY values (" + std::string(row.start) + ", " + row.end +
                 ", 0, 0, 7, 0, 0, 64, 1)");
  }
  CHECK_THROWS_WITH(read(file), Catch::Contains("p.sqlite: row 3 of") && Catch::Contains(row.says));
}
