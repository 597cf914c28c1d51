// SPDX-License-Identifier: Apache-2.0
// Sessions for the command line: options, progress bar, Ctrl-C and warnings on the terminal.
#pragma once

#include "options.hpp"
#include <benanza/session/session.hpp>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace benanza::tool {

/// This program as a worker (worker.hpp); empty if it is to measure in its own process, which it never does on an
/// accelerator.
[[nodiscard]] std::vector<std::string> worker_of(const MeasuringOptions& options);

[[nodiscard]] Session open_session(const MeasuringOptions& options, bool quiet);

struct Outcome : Measured {
  int interrupted = 0;  ///< the exit code for a signal; 0 if none came
};

/// Calls `measure` with the options. Meanwhile, a progress bar shows how far it is, and Ctrl-C ends it early.
[[nodiscard]] Outcome watched(const Session& session, bool quiet, BoundOptions options,
                              const std::function<Measured(const BoundOptions&)>& measure);

/// `measured 12 of 60, the rest known: 31 min saved; took 9.0 s, kept in DIR`.
[[nodiscard]] std::string how_measured(const Measured& measured, const Session& session);

/// `kept in DIR`, or a note that it is not kept.
[[nodiscard]] std::string where_kept(const Measured& measured, const Session& session);

/// The time of a `--budget`; empty if it was not given.
[[nodiscard]] std::optional<Seconds> parse_budget(const std::string& text, std::string_view option = "--budget");

}  // namespace benanza::tool
