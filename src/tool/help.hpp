// SPDX-License-Identifier: Apache-2.0
// The text of --help.
#pragma once

#include "command_text.hpp"

#include <string>

namespace benanza::tool {

/// At most 80 columns wide.
[[nodiscard]] std::string help_text(const CommandText& command);

}  // namespace benanza::tool
