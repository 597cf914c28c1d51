// SPDX-License-Identifier: Apache-2.0
// Calls that others take part in: a collective is called by all ranks at once. One process measures; the other
// processes, or devices, are told outside of timed regions what it will call.
#pragma once

#include <benanza/plan/backend.hpp>

#include <cstdint>

namespace benanza {

/// A plan whose calls wait for others. They are told how many calls follow.
class AccompaniedPlan : public Plan {
 public:
  /// Comes before calls of `execute`, outside of timed regions: that many calls with these arguments follow. Rank r
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
  /// Whether this process was started beside others and is not the one that measures.
  [[nodiscard]] virtual bool follows() const = 0;
  /// Whether this process measures, and others follow it.
  [[nodiscard]] virtual bool leads() const = 0;
  /// In a process that follows: takes part in the calls of the one that measures until that one ends.
  virtual void follow() const = 0;
};

}  // namespace benanza
