// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <benanza/results/results.hpp>

#include <string>

namespace benanza {

/// The text of a file that contains a run.
[[nodiscard]] std::string run_text(const Run& run);

}  // namespace benanza
