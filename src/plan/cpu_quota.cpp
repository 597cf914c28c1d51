// SPDX-License-Identifier: Apache-2.0
#include "cpu_set.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace benanza {

namespace {

std::string line_of(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  return line;
}

/// Processors granted by `150000 100000` (version 2) or by the two numbers of version 1; nothing without a limit.
std::optional<double> granted_processors(const std::string& quota, const std::string& period) {
  const auto number = [](const std::string& text) {
    std::int64_t value = 0;  // 0 for `max`; -1 is version 1's word for it
    std::from_chars(text.data(), text.data() + text.size(), value);
    return static_cast<double>(value);
  };
  const double most = number(quota), each = number(period);
  return most > 0 && each > 0 ? std::optional(most / each) : std::nullopt;
}

/// A group's folder and those that enclose it, innermost first.
std::vector<std::filesystem::path> enclosing_groups(const std::filesystem::path& mount, std::string group) {
  std::vector<std::filesystem::path> folders;
  while (group.size() > 1) {
    folders.push_back(mount / group.substr(1));
    group.resize(group.rfind('/'));
  }
  folders.push_back(mount);
  return folders;
}

}  // namespace

std::optional<double> cpu_quota(const std::filesystem::path& root) {
  std::optional<double> least;
  const auto add = [&](std::optional<double> processors) {
    if (processors) least = std::min(least.value_or(*processors), *processors);
  };
  std::ifstream groups(root / "proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {  // hierarchy:controllers:path
    const auto first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",",
                      group = line.substr(second + 1);
    if (group.empty() || group[0] != '/') continue;
    if (controllers == ",,") {
      for (const auto& folder : enclosing_groups(root / "sys/fs/cgroup", group)) {
        std::istringstream words(line_of(folder / "cpu.max"));
        std::string most, period;
        words >> most >> period;
        add(granted_processors(most, period));
      }
    } else if (controllers.find(",cpu,") != std::string::npos) {
      for (const auto& folder : enclosing_groups(root / "sys/fs/cgroup/cpu", group))
        add(granted_processors(line_of(folder / "cpu.cfs_quota_us"), line_of(folder / "cpu.cfs_period_us")));
    }
  }
  return least;
}

}  // namespace benanza
