// SPDX-License-Identifier: Apache-2.0
// Sessions as the command line asks for them: options in, progress bar, Ctrl-C and warnings on the terminal.
#pragma once

#include "options.hpp"
#include <benanza/session/session.hpp>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace benanza::tool {

/// This program as a worker (worker.hpp); empty where it is to measure itself, which it never does on an accelerator.
[[nodiscard]] std::vector<std::string> worker_of(const MeasuringOptions& options);

[[nodiscard]] Session open_session(const MeasuringOptions& options, bool quiet);

struct Outcome : Measured {
  int interrupted = 0;  ///< the exit code that a signal asks for; 0: none came
};

/// Calls `measure` with the options, while a progress bar shows how far it is and Ctrl-C ends it early.
[[nodiscard]] Outcome watched(const Session& session, bool quiet, BoundOptions options,
                              const std::function<Measured(const BoundOptions&)>& measure);

/// `measured 12 of 60, the rest known: 31 min saved; took 9.0 s, kept in DIR`.
[[nodiscard]] std::string how_measured(const Measured& measured, const Session& session);

/// `kept in DIR`, or that it is not.
[[nodiscard]] std::string where_kept(const Measured& measured, const Session& session);

/// The time of a `--budget`; nothing where it was not given.
[[nodiscard]] std::optional<Seconds> parse_budget(const std::string& text);

}  // namespace benanza::tool
