// SPDX-License-Identifier: Apache-2.0
// A folder with the structure of /proc and /sys. The numbers are those of the kernel's documents: cgroup-v2.rst, "CPU
// Interface Files", and sched-bwc.rst.
#include "plan/cpu_set.hpp"
#include "support/results_support.hpp"

namespace {

using namespace benanza;
using results_support::Folder;

struct ControlGroups {
  Folder folder{};

  void put(const std::string& file, const std::string& text) const {
    std::filesystem::create_directories((folder / file).parent_path());
    static_cast<void>(folder.write(file, text));
  }
  [[nodiscard]] std::optional<double> quota() const { return cpu_quota(folder.path); }
};

}  // namespace

TEST_CASE("the quota is that of the process's own control group, not the root's") {
  const ControlGroups groups;
  groups.put("proc/self/cgroup", "0::/system.slice/job.service\n");
  groups.put("sys/fs/cgroup/system.slice/job.service/cpu.max", "50000 100000\n");
  CHECK(groups.quota() == 0.5);
  groups.put("sys/fs/cgroup/system.slice/other.service/cpu.max", "10000 100000\n");
  CHECK(groups.quota() == 0.5);
}

TEST_CASE("the quota is the least of the group and of those that enclose it") {
  struct Case {
    const char *group, *of_root, *of_user, *of_job;
    double processors;
  };
  const ControlGroups groups;
  for (const auto& [group, of_root, of_user, of_job, processors] :
       {Case{"/user/job", "max 100000", "150000 100000", "300000 100000", 1.5},
        Case{"/user/job", "max 100000", "max 100000", "300000 100000", 3},
        Case{"/", "250000 50000", "max 100000", "max 100000", 5}}) {  // a container sees its own group as the root
    INFO(group << ", " << of_user);
    groups.put("proc/self/cgroup", std::string("0::") + group + "\n");
    groups.put("sys/fs/cgroup/cpu.max", of_root);
    groups.put("sys/fs/cgroup/user/cpu.max", of_user);
    groups.put("sys/fs/cgroup/user/job/cpu.max", of_job);
    CHECK(groups.quota() == processors);
  }
}

TEST_CASE("a quota of control groups of version 1 is read") {
  const ControlGroups groups;
  groups.put("proc/self/cgroup", "5:devices:/x\n4:cpu,cpuacct:/docker/7\n0::/\n");
  groups.put("sys/fs/cgroup/cpu/docker/7/cpu.cfs_quota_us", "200000\n");
  groups.put("sys/fs/cgroup/cpu/docker/7/cpu.cfs_period_us", "100000\n");
  groups.put("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
  groups.put("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  CHECK(groups.quota() == 2.0);
}

TEST_CASE("without a valid limit there is no quota") {
  const ControlGroups groups;
  CHECK(groups.quota() == std::nullopt);  // no such files
  groups.put("proc/self/cgroup", "0::/job\nno colon\n1:cpu\n2:cpu:relative\n");
  for (const char* text : {"max 100000\n", "", "\n", "-1 100000\n", "100000\n", "100000 0\n", "half 100000\n"}) {
    INFO(text);
    groups.put("sys/fs/cgroup/job/cpu.max", text);
    CHECK(groups.quota() == std::nullopt);
  }
}
