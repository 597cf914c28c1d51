// SPDX-License-Identifier: Apache-2.0
// Calls that others take part in: all ranks call a collective at once. One process measures. Outside of timed regions,
// it tells the other processes, or devices, what it will call.
#pragma once

#include <benanza/plan/backend.hpp>

#include <cstdint>

namespace benanza {

/// A plan whose calls wait for others. The others are told how many calls follow.
class AccompaniedPlan : public Plan {
 public:
  /// Must precede calls of `execute`, outside of timed regions: that many calls with these arguments follow. Rank r
  /// gets the elements of the first rank's input, rotated by r places, so that a sum that lacks a rank is wrong. A plan
  /// that works in place copies its input to its output here.
  void announce(const Arguments& arguments, std::int64_t calls) const { do_announce(arguments, calls); }

 protected:
  using Plan::Plan;

 private:
  virtual void do_announce(const Arguments& arguments, std::int64_t calls) const = 0;
};

/// A backend whose plans are called by several processes, which a launcher starts together.
class AccompaniedBackend : public Backend {
 public:
  /// Whether this process was started together with others and is not the one that measures.
  [[nodiscard]] virtual bool follows() const = 0;
  /// Whether this process measures, and others follow it.
  [[nodiscard]] virtual bool leads() const = 0;
  /// In a process that follows: takes part in the calls of the process that measures until that process ends.
  virtual void follow() const = 0;
};

}  // namespace benanza
