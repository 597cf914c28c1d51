// SPDX-License-Identifier: Apache-2.0
// Worker: a crash, hang or runaway allocation loses one row, not the run. A child process measures the layers. Before
// the child makes or calls a plan for the first time, it records that in shared memory. When the child dies, gives no
// sign of life or allocates too much memory, that plan is the crashing plan: its row gets the reason, and a new child
// continues without it. The same happens when the child loses its device. A new child continues with the rest of the
// budget and with what the previous one found out, which a child saves every few seconds. The parent touches no device:
// an accelerator's context survives neither a fork nor a sticky error.
#pragma once

#include <benanza/measure/measure.hpp>

#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace benanza::isolation {

struct WorkerOptions {
  Seconds silence{120};    ///< a child that gives no sign of life for this long hangs
  Bytes memory{};          ///< the most resident memory of a child; 0: nine tenths of what is available
  int most_crashes = 200;  ///< more crashes than this end the session with an error
  /// Receives a line for each plan that ended a child; if empty, the lines are dropped.
  std::function<void(const std::string& text)> warn{};
};

/// A backend as a child sees it.
struct BackendStatus {
  std::string name{}, version{};
  std::string unavailable{};  ///< why it cannot run there; empty if it can
  bool operator==(const BackendStatus&) const = default;
};

/// The machine on which and the backends with which a session would measure.
struct Surroundings {
  Machine machine{};
  std::vector<BackendVersion> backends{};  ///< the chosen ones
  std::vector<BackendStatus> all{};        ///< all that the program has
  std::vector<std::string> warnings{};     ///< backends of a group that are left out, one line each
};

/// Runs a program as a child, once per call or, if plans crash, several times.
class Worker {
 public:
  /// `command`: a program that calls `serve_worker`, with its arguments. The folder for that call is appended as the
  /// last argument. Throws EnvironmentError if no temporary files can be written.
  explicit Worker(std::vector<std::string> command, WorkerOptions options = {});

  /// Runs measure::measure in a child, with the backends of these names. The child sets the options `accept`, `trying`
  /// and `crashing_plans`; `filter` replaces `accept`. The other options work as they do there; `progress`, `keep` and
  /// `keep_failed` are called in this process, by this thread. Throws what the child threw; EnvironmentError if no
  /// child can be started, or if one ended outside any row.
  [[nodiscard]] Run measure(std::span<const measure::Wanted> wanted, std::span<const std::string> backends,
                            const measure::MeasureOptions& options, const std::string& filter = {}) const;
  /// What the child reports about its backends; `names` as for `choose_backends`. Throws what `measure` throws.
  [[nodiscard]] Surroundings surroundings(std::span<const std::string> names) const;

 private:
  std::vector<std::string> command_;
  WorkerOptions options_;
};

/// The same without a child.
[[nodiscard]] Surroundings surroundings_of(measure::Backends all, std::span<const std::string> names);

/// Makes `MeasureOptions::accept` from the text of a filter.
using MakeFilter = std::function<std::function<bool(std::string_view name)>(const std::string& filter)>;

/// What a program that was started as a worker does: it measures or describes what the folder asks for, with backends
/// from `all`. Returns the program's exit code: 0, or 1, 2 or 5 for an InputError, a UsageError or any other error,
/// whose text the parent receives.
[[nodiscard]] int serve_worker(const std::filesystem::path& folder, measure::Backends all,
                               const MakeFilter& make_filter = {});

/// The file of the running program.
[[nodiscard]] std::string own_program();

}  // namespace benanza::isolation
