// SPDX-License-Identifier: Apache-2.0
// Conditions: what the system reports about disturbances of the processors, read from /proc and /sys before and after a
// run. Nothing here changes a time; the findings are printed, and kept with the rows.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace benanza::sampling {

class Conditions {
 public:
  /// Begins to watch. `cpus`: the processors used for measuring; `root`: the folder that contains proc and sys.
  explicit Conditions(std::span<const int> cpus, std::filesystem::path root = "/");

  /// One line for each thing that makes times doubtful: a CPU quota of the cgroup; a frequency governor other than
  /// performance; and, since the watch began, other work on hardware threads that share a core with the processors used
  /// for measuring, time that a hypervisor took, and the busiest other process. Omits what the system does not report.
  [[nodiscard]] std::vector<std::string> warnings() const;
  /// How many of these processors other processes kept busy on average since the watch began: all their busy time, less
  /// that of this process and of those that it started. 0 if the system does not report it.
  [[nodiscard]] double others(std::span<const int> cpus) const;

 private:
  /// Clock ticks that a processor spent, from /proc/stat.
  struct Ticks {
    std::int64_t all = 0, busy = 0, stolen = 0;
  };
  struct Process {
    std::string name{};
    int parent = 0;
    std::int64_t ticks = 0;
  };

  [[nodiscard]] std::map<int, Ticks> processors() const;
  [[nodiscard]] std::map<int, Process> processes() const;
  /// Whether this process is it, or started it.
  [[nodiscard]] bool is_ours(int number, const std::map<int, Process>& current) const;
  /// The processors that the cgroup grants; empty if the quota is the whole machine or more.
  [[nodiscard]] std::string quota() const;
  [[nodiscard]] std::string governor() const;
  [[nodiscard]] std::string siblings(const std::map<int, Ticks>& now) const;
  [[nodiscard]] std::string steal(const std::map<int, Ticks>& now) const;
  [[nodiscard]] std::string busiest(const std::map<int, Ticks>& now) const;

  std::vector<int> cpus_;
  std::filesystem::path root_;
  std::map<int, Ticks> processors_;  ///< when the watch began
  std::map<int, Process> processes_;
};

}  // namespace benanza::sampling
