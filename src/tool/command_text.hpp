// SPDX-License-Identifier: Apache-2.0
// What users are told of a command: the one source of its help, of the man page and of the completion of shells.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace benanza::tool {

/// An option, or an argument, which has no names.
struct OptionText {
  std::vector<std::string> names{};    ///< `-b`, `--batch`
  std::string value{};                 ///< `N,...`; empty for a flag
  std::vector<std::string> choices{};  ///< the only values, if they can be listed
  std::string what{};                  ///< with its default, and the options that it needs or excludes
  bool required = false;
};

/// A code, a variable or a subcommand, and what it means.
struct Meaning {
  std::string name{}, what{};
};

struct OptionGroup {
  std::string name{};
  std::vector<OptionText> options{};
};

struct CommandText {
  std::string name{};                     ///< `benanza db diff`
  std::vector<std::string> paragraphs{};  ///< the first is a line that also stands in the list of commands
  std::vector<OptionText> arguments{};
  std::vector<OptionGroup> groups{};
  std::vector<Meaning> subcommands{};
  std::vector<Meaning> exit_codes{}, environment{};  ///< those that apply to the command
  std::vector<std::string> examples{};
  [[nodiscard]] std::string usage() const;
};

[[nodiscard]] CommandText command_text(const CLI::App& command);

/// The program, then each command that its help shows, each before its subcommands.
[[nodiscard]] std::vector<CommandText> all_commands(const CLI::App& program);

}  // namespace benanza::tool
