// SPDX-License-Identifier: Apache-2.0
// Supervisor: a crash, hang or runaway allocation loses one row, not the run. The program is run again as a child of
// itself, with the same command line. Before the child makes or calls a plan for the first time, it says so in a file
// that both share. When the child dies, gives no sign of life or allocates too much memory, that plan is the crashing
// plan: its row gets the reason, and a new child goes on without it. The same happens when the child loses its device.
// The parent does not touch any library that measures: an accelerator's context survives neither a fork nor a sticky
// error. A new child goes on with what is left of the budget, and with what the previous one had found out: every few
// seconds a child writes that down.
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
  Seconds silence{120};    ///< a child without a sign of life for this long hangs
  Bytes memory{};          ///< more resident memory than this is too much; 0: nine tenths of what is available
  int most_crashes = 200;  ///< then something else is wrong
};

/// Runs the program `argv[0]` (the file of this process if that is its own name) with these arguments until a child
/// ends by itself, and returns its exit code. If a child dies outside any row, no other is started: 5, with a line on
/// stderr. SIGINT, SIGTERM and SIGHUP reach the child, whose code is returned then. Throws EnvironmentError when no
/// child can be started.
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

  /// Announces that this row is tried next; empty: no row is being tried. Also a sign of life.
  void trying(std::string_view row);
  /// A sign of life while that row is tried.
  void beat();
  /// Ends this process at once: the row that is being tried is the crashing plan, for that reason.
  [[noreturn]] void give_up(std::string_view reason);
  /// What is left of the budget of the current session, which began with the first child that asked; at least a
  /// twentieth of it, so that what was found out can be used.
  [[nodiscard]] Seconds left(Seconds budget);
  /// The file for what the current session has found out so far.
  [[nodiscard]] const std::string& journal() const { return journal_; }
  /// The file of the database that holds the same, from which a new child continues; empty: none.
  [[nodiscard]] std::string kept_in() const;
  void keep_in(const std::string& file);
  /// The session is over: its journal is deleted, the next session has its own budget and file.
  void session_done();
  /// Rows that ended earlier children, with the reason.
  [[nodiscard]] const std::map<std::string, std::string>& crashing_plans() const { return crashing_plans_; }

  struct Shared;  ///< what both processes see

 private:
  explicit Supervised(const std::string& file);
  Shared* shared_ = nullptr;
  std::map<std::string, std::string> crashing_plans_{};
  std::string journal_{};
};

/// `measure`, which in a supervised process leaves crashing plans out, says what it tries, continues what the previous
/// child left, and gives up when the device is lost.
[[nodiscard]] Run measure_supervised(std::span<const Wanted> wanted,
                                     std::span<const std::shared_ptr<const Backend>> backends, MeasureOptions options);

}  // namespace benanza::bench
