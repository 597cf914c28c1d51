// SPDX-License-Identifier: Apache-2.0
// Supervisor: a crash, a hang or memory without end costs one row and not the run. The program is run again as a child
// of itself, with the same command line; before it makes or calls a plan for the first time it says so in a file that
// both share. When the child dies, gives no sign of life or eats the memory, that plan is the crashing_plan: its row
// gets the reason, and a fresh child goes on without it. So it is when the child loses its device. The parent touches
// no library that measures: an accelerator's context survives neither a fork nor a sticky error. A fresh child goes on
// with what is left of the budget, and with what its forerunner had found out: every few seconds a child writes that
// down.
#pragma once

#include <benanza/measure/measure.hpp>
#include <benanza/model/units.hpp>

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace benanza::bench {

struct SupervisorOptions {
  Seconds silence{120};    ///< without a sign of life a child hangs
  Bytes memory{};          ///< more resident memory than this is too much; 0: nine tenths of what is available
  int most_crashes = 200;  ///< then something else is wrong
};

/// Runs the program `argv[0]` (of the same file as this one if that is its own name) with these arguments until a child
/// ends by itself, and returns its exit code. A child that dies outside any row ends it all: 5, with a line on stderr.
/// SIGINT, SIGTERM and SIGHUP reach the child, whose code is returned then. Throws EnvironmentError when no child can
/// be started.
[[nodiscard]] int supervise(const std::vector<std::string>& argv, const SupervisorOptions& options = {});

/// The command line that this program was started with; the program by its file.
[[nodiscard]] std::vector<std::string> own_command();

/// What a child knows of its supervisor.
class Supervised {
 public:
  /// Nothing in a program that is not supervised.
  [[nodiscard]] static std::unique_ptr<Supervised> current();
  ~Supervised();
  Supervised(const Supervised&) = delete;
  Supervised& operator=(const Supervised&) = delete;

  /// About to try this row; empty: nothing that could be to blame. Also a sign of life.
  void trying(std::string_view row);
  /// A sign of life while that row is tried.
  void beat();
  /// Ends this process at once: the row that is being tried is the crashing_plan, for that reason.
  [[noreturn]] void give_up(std::string_view reason);
  /// What is left of the budget of the session at hand, which began with the first child that asked; at least a
  /// twentieth of it, so that what was found out can be used.
  [[nodiscard]] Seconds left(Seconds budget);
  /// The file for what the session at hand has found out so far.
  [[nodiscard]] const std::string& journal() const { return journal_; }
  /// The file of the database that holds the same, for a fresh child to take back; empty: none.
  [[nodiscard]] std::string kept_in() const;
  void keep_in(const std::string& file);
  /// The session is over: its journal goes, the next one has a budget and a file of its own.
  void session_done();
  /// Rows that ended earlier children, and how.
  [[nodiscard]] const std::map<std::string, std::string>& crashing_plans() const { return crashing_plans_; }

  struct Shared;  ///< what both processes see

 private:
  explicit Supervised(const std::string& file);
  Shared* shared_ = nullptr;
  std::map<std::string, std::string> crashing_plans_{};
  std::string journal_{};
};

/// `measure`, which in a supervised process leaves crashing_plans out, says what it tries, takes up what its forerunner
/// left, and gives up with the device.
[[nodiscard]] Run measure_supervised(std::span<const Wanted> wanted,
                                     std::span<const std::shared_ptr<const Backend>> backends, MeasureOptions options);

}  // namespace benanza::bench
