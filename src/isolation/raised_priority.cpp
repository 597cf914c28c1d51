// SPDX-License-Identifier: Apache-2.0
#include "raised_priority.hpp"

#include <cerrno>
#include <fstream>
#include <string>
#include <sys/resource.h>
#include <utility>

namespace benanza::isolation {

namespace {

/// The group's nice value: the last word of `/autogroup-123 nice 0`.
std::optional<int> group_value(const std::filesystem::path& autogroup) {
  std::ifstream file(autogroup);
  std::string name, key;
  int value = 0;
  return file >> name >> key >> value && key == "nice" ? std::optional(value) : std::nullopt;
}

bool set_group(const std::filesystem::path& autogroup, int value) {
  std::ofstream file(autogroup);
  return static_cast<bool>(file << value << std::flush);
}

}  // namespace

RaisedPriority::RaisedPriority(std::filesystem::path autogroup) : autogroup_(std::move(autogroup)) {
  errno = 0;
  if (getpriority(PRIO_PROCESS, 0) != 0 || errno != 0) return;
  raised_ = setpriority(PRIO_PROCESS, 0, highest) == 0;
  if (!raised_) return;
  const std::optional<int> before = group_value(autogroup_);
  group_raised_ = (before == 0 || before == highest) && set_group(autogroup_, highest);
  if (group_raised_) last_words_.emplace([this] { restore_group(); });
}

void RaisedPriority::restore_group() const {
  if (group_raised_) static_cast<void>(set_group(autogroup_, 0));
}

RaisedPriority::~RaisedPriority() {
  last_words_.reset();
  restore_group();
  if (raised_) static_cast<void>(setpriority(PRIO_PROCESS, 0, 0));
}

}  // namespace benanza::isolation
