// SPDX-License-Identifier: Apache-2.0
#include "conditions.hpp"

#include "plan/cpu_set.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>
#include <utility>

namespace benanza::sampling {

namespace fs = std::filesystem;

namespace {

/// Shares of a processor's time that a quiet system reaches by itself; nothing is reported below them.
constexpr double idle_steal = 0.01, idle_sibling = 0.05, idle_process = 0.05;
/// With fewer clock ticks than this (a tick is usually 10 ms), a watch is too short to determine a share.
constexpr std::int64_t least_ticks = 10;

std::string first_line(const fs::path& file) {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  return line;
}

std::string percent(double share) {
  char text[32];
  std::snprintf(text, sizeof text, "%.0f %%", 100 * share);
  return text;
}

std::string joined(const std::set<int>& numbers) {
  std::string text;
  for (const int number : numbers) text += (text.empty() ? "" : ",") + std::to_string(number);
  return text;
}

std::optional<int> whole(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

/// Parses a list in the kernel's format: `0,2-3`.
std::set<int> cpu_list(const std::string& text) {
  std::set<int> result;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) {
    const auto dash = part.find('-');
    const auto first = whole(std::string_view(part).substr(0, dash));
    const auto last = dash == std::string::npos ? first : whole(std::string_view(part).substr(dash + 1));
    constexpr int most = 1 << 16;  // a system file, but values beyond this are not trusted
    if (first && last)
      for (int cpu = *first; cpu <= std::min(*last, most); ++cpu) result.insert(cpu);
  }
  return result;
}

}  // namespace

Conditions::Conditions(std::span<const int> cpus, fs::path root)
    : cpus_(cpus.begin(), cpus.end()), root_(std::move(root)), processors_(processors()), processes_(processes()) {}

// proc(5), /proc/stat: user nice system idle iowait irq softirq steal; the time of guests is already part of user.
std::map<int, Conditions::Ticks> Conditions::processors() const {
  std::map<int, Ticks> result;
  std::ifstream file(root_ / "proc/stat");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name;
    words >> name;
    if (!name.starts_with("cpu")) continue;
    const auto cpu = whole(std::string_view(name).substr(3));
    if (!cpu) continue;
    std::int64_t ticks[8]{};
    for (auto& field : ticks) words >> field;
    Ticks& sum = result[*cpu];
    for (const auto field : ticks) sum.all += field;
    sum.stolen = ticks[7];
    sum.busy = sum.all - ticks[3] - ticks[4] - sum.stolen;
  }
  return result;
}

// proc(5), /proc/pid/stat: the name is in parentheses and may contain any character. After it come state, parent and,
// as fields 14 and 15, utime and stime.
std::map<int, Conditions::Process> Conditions::processes() const {
  std::map<int, Process> result;
  std::error_code failed;
  for (fs::directory_iterator entry(root_ / "proc", failed), end; !failed && entry != end; entry.increment(failed)) {
    const auto number = whole(entry->path().filename().string());
    if (!number) continue;
    const std::string line = first_line(entry->path() / "stat");
    const auto open = line.find('('), close = line.rfind(')');
    if (open == std::string::npos || close == std::string::npos || close < open) continue;  // the process has ended
    Process process{.name = line.substr(open + 1, close - open - 1)};
    std::istringstream words(line.substr(close + 1));
    std::string skipped;
    words >> skipped >> process.parent;
    for (int field = 5; field < 14; ++field) words >> skipped;
    std::int64_t user = 0, system = 0;
    words >> user >> system;
    process.ticks = user + system;
    result.emplace(*number, std::move(process));
  }
  return result;
}

std::string Conditions::quota() const {
  const auto granted = cpu_quota(root_);
  if (!granted || *granted >= static_cast<double>(processors_.size())) return {};
  char text[160];
  std::snprintf(text, sizeof text,
                "the cgroup grants %.3g of %zu processors: beyond that quota all threads are stopped", *granted,
                processors_.size());
  return text;
}

std::string Conditions::governor() const {
  std::map<std::string, std::set<int>> others;
  for (const int cpu : cpus_) {
    const std::string name =
        first_line(root_ / ("sys/devices/system/cpu/cpu" + std::to_string(cpu)) / "cpufreq/scaling_governor");
    if (!name.empty() && name != "performance") others[name].insert(cpu);
  }
  std::string text;
  for (const auto& [name, cpus] : others)
    text += (text.empty() ? "" : "; ") + ("the frequency governor of processors " + joined(cpus)) + " is '" + name +
            "', expected 'performance': clocks may be low when a sample begins";
  return text;
}

std::string Conditions::siblings(const std::map<int, Ticks>& now) const {
  std::set<int> others;
  for (const int cpu : cpus_)
    others.merge(cpu_list(
        first_line(root_ / ("sys/devices/system/cpu/cpu" + std::to_string(cpu)) / "topology/thread_siblings_list")));
  for (const int cpu : cpus_) others.erase(cpu);
  std::set<int> busy;
  double most = 0;
  for (const int cpu : others) {
    const auto before = processors_.find(cpu), after = now.find(cpu);
    if (before == processors_.end() || after == now.end()) continue;
    const auto all = after->second.all - before->second.all;
    if (all < least_ticks) continue;
    const double share = static_cast<double>(after->second.busy - before->second.busy) / static_cast<double>(all);
    if (share < idle_sibling) continue;
    busy.insert(cpu);
    most = std::max(most, share);
  }
  if (busy.empty()) return {};
  return "processors " + joined(busy) + ", which share cores (SMT) with those measured on, were up to " +
         percent(most) + " busy";
}

std::string Conditions::steal(const std::map<int, Ticks>& now) const {
  std::int64_t all = 0, stolen = 0;
  for (const int cpu : cpus_) {
    const auto before = processors_.find(cpu), after = now.find(cpu);
    if (before == processors_.end() || after == now.end()) continue;
    all += after->second.all - before->second.all;
    stolen += after->second.stolen - before->second.stolen;
  }
  if (all < least_ticks * static_cast<std::int64_t>(cpus_.size())) return {};
  const double share = static_cast<double>(stolen) / static_cast<double>(all);
  return share < idle_steal ? "" : "the hypervisor took " + percent(share) + " of the processors' time (steal)";
}

bool Conditions::is_ours(int number, const std::map<int, Process>& current) const {
  const std::string line = first_line(root_ / "proc/self/stat");
  const int self = whole(line.substr(0, line.find(' '))).value_or(-1);
  for (int steps = 0; number > 0 && steps < 64; ++steps) {
    if (number == self) return true;
    const auto found = current.find(number);
    number = found == current.end() ? 0 : found->second.parent;
  }
  return false;
}

double Conditions::others(std::span<const int> cpus) const {
  std::int64_t elapsed = 0, busy = 0;
  const auto now = processors();
  for (const int cpu : cpus) {
    const auto before = processors_.find(cpu), after = now.find(cpu);
    if (before == processors_.end() || after == now.end()) continue;
    elapsed = std::max(elapsed, after->second.all - before->second.all);
    busy += after->second.busy - before->second.busy;
  }
  if (elapsed < least_ticks) return 0;
  const auto current = processes();
  for (const auto& [number, process] : current) {
    if (!is_ours(number, current)) continue;
    const auto before = processes_.find(number);
    busy -= process.ticks - (before == processes_.end() ? 0 : before->second.ticks);
  }
  return std::max(0.0, static_cast<double>(busy) / static_cast<double>(elapsed));
}

std::string Conditions::busiest(const std::map<int, Ticks>& now) const {
  std::int64_t elapsed = 0;
  for (const auto& [cpu, ticks] : now)
    if (const auto before = processors_.find(cpu); before != processors_.end())
      elapsed = std::max(elapsed, ticks.all - before->second.all);
  if (elapsed < least_ticks) return {};
  const auto current = processes();
  int most_number = 0, busy = 0;
  double most = 0;
  for (const auto& [number, process] : current) {
    const auto before = processes_.find(number);
    const auto ticks = process.ticks - (before == processes_.end() ? 0 : before->second.ticks);
    const double share = static_cast<double>(ticks) / static_cast<double>(elapsed);
    if (share < idle_process || is_ours(number, current)) continue;
    ++busy;
    if (share <= most) continue;
    most = share;
    most_number = number;
  }
  if (busy == 0) return {};
  std::string text = "process '" + current.at(most_number).name + "' (" + std::to_string(most_number) + ") used " +
                     percent(most) + " of a processor meanwhile";
  if (busy > 1) text += ", and " + std::to_string(busy - 1) + " more of them 5 % or more";
  return text;
}

std::vector<std::string> Conditions::warnings() const {
  const auto now = processors();
  std::vector<std::string> result;
  for (std::string text : {quota(), governor(), siblings(now), steal(now), busiest(now)})
    if (!text.empty()) result.push_back(std::move(text));
  return result;
}

}  // namespace benanza::sampling
