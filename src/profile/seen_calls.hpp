// SPDX-License-Identifier: Apache-2.0
// Reduces the calls of an API log to those of one pass.
#pragma once

#include "source.hpp"
#include <benanza/profile/engine_profile.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace benanza::profile {

/// One call of a log.
struct SeenCall {
  LibraryCall call{};    ///< without count
  std::string thread{};  ///< the thread that made it; empty if not known
};

/// The calls of the last pass of the log, in order, with equal ones counted. If the sequence of calls does not repeat
/// itself (nor that of any single thread), all of it is one pass, and a warning says so.
[[nodiscard]] std::vector<LibraryCall> calls_of_one_pass(const Source& source, const std::vector<SeenCall>& seen,
                                                         std::vector<std::string>& warnings);

}  // namespace benanza::profile
