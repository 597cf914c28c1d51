// SPDX-License-Identifier: Apache-2.0
// What --version prints.
#pragma once

#include <string>

namespace benanza::tool {

/// `benanza 0.1.0 (1be540b8)`, then a line for each backend of this build with the version of its library. The commit
/// is that of the source tree when CMake configured it; without git there is none.
[[nodiscard]] std::string version_text();

}  // namespace benanza::tool
