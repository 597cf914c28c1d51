// SPDX-License-Identifier: Apache-2.0
// Messages for subcommands and options that do not exist, with the name that was probably meant.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace benanza::tool {

/// `benanza db`: the subcommand that the arguments named, or the program if they named none.
[[nodiscard]] std::string command_line_of(const CLI::App& app);

/// What is wrong if the arguments that `app` parsed name a subcommand that does not exist; else empty.
[[nodiscard]] std::string unknown_subcommand(const CLI::App& app);

/// The same for an option that the subcommand does not have.
[[nodiscard]] std::string unknown_option(const CLI::App& app);

}  // namespace benanza::tool
