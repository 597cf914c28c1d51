// SPDX-License-Identifier: Apache-2.0
// A folder with the structure of /proc and /sys, before and after.
#include "sampling/conditions.hpp"

#include "support/results_support.hpp"

namespace {

using namespace benanza;
using namespace benanza::sampling;
using results_support::Folder;
namespace fs = std::filesystem;

/// Four processors, 0 and 2 on one core, 1 and 3 on the other; the session measures on 0 and 1.
struct System {
  Folder folder{};
  System() {
    put("proc/self/stat", "100 (benanza) R 50 100");
    put("proc/self/cgroup", "0::/user/job\n");
    for (const int cpu : {0, 1, 2, 3})
      put("sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/thread_siblings_list",
          cpu % 2 == 0 ? "0,2\n" : "1,3\n");
    process(100, "benanza", 50, 0);
    process(50, "sh", 1, 0);
    stat({0, 0, 0, 0}, {0, 0, 0, 0});
  }
  void put(const std::string& file, const std::string& text) const {
    fs::create_directories((folder / file).parent_path());
    static_cast<void>(folder.write(file, text));
  }
  void process(int number, const std::string& name, int parent, int ticks) const {
    put("proc/" + std::to_string(number) + "/stat", std::to_string(number) + " (" + name + ") S " +
                                                        std::to_string(parent) + " 1 1 0 -1 0 9 9 9 9 " +
                                                        std::to_string(ticks) + " 0 0 0 20 0 1 0 5");
  }
  /// After 1,000 ticks, of which processor i was busy and lost to the hypervisor for these many; the rest was idle.
  void stat(std::array<int, 4> busy, std::array<int, 4> stolen, int all = 0) const {
    std::string text = "cpu  9 9 9 9 9 9 9 9 0 0\n";
    for (std::size_t i = 0; i < 4; ++i)
      text += "cpu" + std::to_string(i) + " " + std::to_string(7 + busy[i]) + " 1 2 " +
              std::to_string(1000 + all - busy[i] - stolen[i]) + " 0 0 0 " + std::to_string(stolen[i]) + " 0 0\n";
    put("proc/stat", text + "intr 1 2 3\n");
  }
  [[nodiscard]] Conditions watch() const { return Conditions(std::vector<int>{0, 1}, folder.path); }
};

}  // namespace

TEST_CASE("a quiet machine gives no warning") {
  const System system;
  const Conditions conditions = system.watch();
  system.process(100, "benanza", 50, 900);
  system.stat({1000, 1000, 10, 10}, {0, 0, 0, 0}, 1000);
  CHECK(conditions.warnings().empty());
}

TEST_CASE("a folder without any of it gives no warning") {
  const Folder folder;
  CHECK(Conditions(std::vector<int>{0}, folder.path).warnings().empty());
}

TEST_CASE("a quota below the number of processors is named") {
  const System system;
  system.put("sys/fs/cgroup/user/job/cpu.max", "150000 100000\n");
  const auto found = system.watch().warnings();
  REQUIRE(found.size() == 1);
  CHECK(found[0] == "the cgroup grants 1.5 of 4 processors: beyond that quota all threads are stopped");
  system.put("sys/fs/cgroup/user/job/cpu.max", "400000 100000\n");
  CHECK(system.watch().warnings().empty());  // four of four is no restriction
}

TEST_CASE("a governor other than performance is named, on the processors measured on") {
  const System system;
  const std::string cpu = "sys/devices/system/cpu/cpu";
  system.put(cpu + "0/cpufreq/scaling_governor", "powersave\n");
  system.put(cpu + "1/cpufreq/scaling_governor", "performance\n");
  system.put(cpu + "2/cpufreq/scaling_governor", "ondemand\n");
  const auto found = system.watch().warnings();
  REQUIRE(found.size() == 1);
  CHECK_THAT(found[0], Catch::Contains("processors 0 is 'powersave', expected 'performance'"));
}

TEST_CASE("work on a sibling of a core is named, and so is stolen time") {
  const System system;
  const Conditions conditions = system.watch();
  system.stat({500, 900, 370, 40}, {20, 60, 0, 0}, 1000);  // 37 % of processor 2; 80 of 2,000 ticks stolen
  const auto found = conditions.warnings();
  REQUIRE(found.size() == 2);
  CHECK(found[0] == "processors 2, which share cores (SMT) with those measured on, were up to 37 % busy");
  CHECK(found[1] == "the hypervisor took 4 % of the processors' time (steal)");
}

TEST_CASE("the busiest other process is named, own children are not") {
  const System system;
  system.process(7, "make (-j) all", 1, 500);
  system.process(8, "idle", 1, 500);
  const Conditions conditions = system.watch();
  system.stat({900, 900, 0, 0}, {0, 0, 0, 0}, 1000);
  system.process(7, "make (-j) all", 1, 1300);  // 800 of 1,000 ticks
  system.process(8, "idle", 1, 520);
  system.process(9, "cc1plus", 7, 300);  // started in the meantime
  system.process(101, "child", 100, 900);
  system.process(102, "grandchild", 101, 900);
  const auto found = conditions.warnings();
  REQUIRE(found.size() == 1);
  CHECK(found[0] == "process 'make (-j) all' (7) used 80 % of a processor meanwhile, and 1 more of them 5 % or more");
}

TEST_CASE("the share of other processes is the busy time of the processors measured on, less the own time") {
  const System system;
  const Conditions conditions = system.watch();
  system.process(100, "benanza", 50, 700);
  system.process(101, "child", 100, 900);                            // both are this program's: 1,600 ticks
  system.stat({1000, 950, 800, 0}, {0, 0, 0, 0}, 1000);              // processor 2 is not measured on
  CHECK(conditions.others(std::vector<int>{0, 1}) == Approx(0.35));  // (1,950 - 1,600) / 1,000
  CHECK(Conditions(std::vector<int>{0}, Folder().path).others(std::vector<int>{0}) == 0);
}

TEST_CASE("a watch of a few ticks is too short to tell a share") {
  const System system;
  const Conditions conditions = system.watch();
  system.stat({0, 0, 8, 8}, {8, 8, 0, 0}, 8);
  CHECK(conditions.warnings().empty());
}
