// SPDX-License-Identifier: Apache-2.0
// Worker: a crash, hang or runaway allocation loses one row, not the run. The layers that are to be measured go to a
// child process. Before the child makes or calls a plan for the first time, it says so in memory that both share. When
// the child dies, gives no sign of life or allocates too much memory, that plan is the crashing plan: its row gets the
// reason, and a new child goes on without it. The same happens when the child loses its device. A new child goes on
// with what is left of the budget, and with what the previous one had found out: every few seconds a child writes that
// down. The parent touches no device: an accelerator's context survives neither a fork nor a sticky error.
#pragma once

#include <benanza/measure/measure.hpp>

#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace benanza::bench {

struct WorkerOptions {
  Seconds silence{120};    ///< a child without a sign of life for this long hangs
  Bytes memory{};          ///< more resident memory than this is too much; 0: nine tenths of what is available
  int most_crashes = 200;  ///< then something else is wrong
  /// Receives a line for each plan that ended a child; empty: the lines are dropped.
  std::function<void(const std::string& text)> warn{};
};

/// A backend as a child sees it.
struct BackendStatus {
  std::string name{}, version{};
  std::string unavailable{};  ///< why it cannot run there; empty: it can
  bool operator==(const BackendStatus&) const = default;
};

/// What a session would measure with and on.
struct Surroundings {
  Machine machine{};
  std::vector<BackendVersion> backends{};  ///< those that were chosen
  std::vector<BackendStatus> all{};        ///< those that the program has
  std::vector<std::string> warnings{};     ///< backends of a group that are left out, a line each
};

/// Runs a program as a child, once for each call or, where plans crash, several times.
class Worker {
 public:
  /// `command`: a program that calls `serve_worker`, with its arguments; the folder that it is called with follows as
  /// the last one. Throws EnvironmentError where no temporary files can be written.
  explicit Worker(std::vector<std::string> command, WorkerOptions options = {});

  /// bench::measure in a child, with the backends of these names. The options `accept`, `trying` and
  /// `crashing_plans` are the child's: `filter` stands for `accept`. The others work as they do there; `progress`,
  /// `keep` and `keep_failed` are called in this process, by this thread. Throws what the child threw; EnvironmentError
  /// when no child can be started, or one ended outside any row.
  [[nodiscard]] Run measure(std::span<const Wanted> wanted, std::span<const std::string> backends,
                            const MeasureOptions& options, const std::string& filter = {}) const;
  /// What the child says of its backends; `names` as `choose_backends` takes them. Throws what `measure` throws.
  [[nodiscard]] Surroundings surroundings(std::span<const std::string> names) const;

 private:
  std::vector<std::string> command_;
  WorkerOptions options_;
};

/// The same without a child.
[[nodiscard]] Surroundings surroundings_of(Backends all, std::span<const std::string> names);

/// Makes `MeasureOptions::accept` of a filter's text.
using MakeFilter = std::function<std::function<bool(std::string_view name)>(const std::string& filter)>;

/// What a program does that was started as a worker: measures or describes what the folder asks for, with backends
/// among `all`. Returns its exit code: 0, or 1, 2 or 5 for an InputError, a UsageError or any other error, whose text
/// the parent gets.
[[nodiscard]] int serve_worker(const std::filesystem::path& folder, Backends all, const MakeFilter& make_filter = {});

/// The file of the program that runs.
[[nodiscard]] std::string own_program();

}  // namespace benanza::bench
