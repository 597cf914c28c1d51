// SPDX-License-Identifier: Apache-2.0
// RaisedPriority: while it lives, this thread and the processes it starts run before other processes, if the system
// permits that (root, CAP_SYS_NICE). A process beside a measurement then takes about a hundredth of a processor
// (sched(7): nice value -20), where it takes half of one otherwise. A user who started the program with another nice
// value than 0 keeps that.
#pragma once

#include <benanza/isolation/interrupt.hpp>

#include <filesystem>
#include <optional>

namespace benanza::isolation {

class RaisedPriority {
 public:
  /// `autogroup`: the file of the session's scheduling group (sched(7), "The autogroup feature"). Where these groups
  /// exist, a nice value counts within a session only, and the group has one of its own. The group of a measurement
  /// that was killed kept the highest priority, which the next one takes back.
  explicit RaisedPriority(std::filesystem::path autogroup = "/proc/self/autogroup");
  ~RaisedPriority();
  RaisedPriority(const RaisedPriority&) = delete;
  RaisedPriority& operator=(const RaisedPriority&) = delete;

  static constexpr int highest = -20;

 private:
  void restore_group() const;

  bool raised_ = false;
  std::filesystem::path autogroup_;
  bool group_raised_ = false;
  std::optional<LastWords> last_words_{};  ///< a second Ctrl-C ends the process, but not the session
};

}  // namespace benanza::isolation
