// SPDX-License-Identifier: Apache-2.0
// From the calls that an API log holds to those of one pass.
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
  std::string thread{};  ///< that made it; empty: not known
};

/// The calls of the last pass of the log, equal ones counted, in order. Where the sequence of calls does not repeat
/// itself (also not that of any thread alone), all of it is one pass, and a warning says so.
[[nodiscard]] std::vector<LibraryCall> calls_of_one_pass(const Source& source, const std::vector<SeenCall>& seen,
                                                         std::vector<std::string>& warnings);

}  // namespace benanza::profile
