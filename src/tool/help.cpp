// SPDX-License-Identifier: Apache-2.0
#include "help.hpp"

#include <sstream>

namespace benanza::tool {

namespace {

constexpr std::size_t columns = 80, column_of_text = 25;

/// The words of a text in lines; the first line begins at column `at`, the others at `indent`. `end` ends all lines
/// but the last.
std::string wrapped(const std::string& text, std::size_t at, std::size_t indent, const std::string& end = "") {
  std::istringstream words(text);
  std::string result;
  std::size_t column = at;
  for (std::string word; words >> word;) {
    const bool fits = column + 1 + word.size() + end.size() <= columns;
    if (!result.empty() && !fits) {
      result += end + "\n" + std::string(indent, ' ');
      column = indent;
    } else if (!result.empty()) {
      result += ' ';
      ++column;
    }
    result += word;
    column += word.size();
  }
  return result + "\n";
}

std::string entry(const std::string& name, const std::string& what) {
  std::string line = "  " + name;
  if (line.size() + 1 < column_of_text) line.resize(column_of_text, ' ');
  else line += "\n" + std::string(column_of_text, ' ');
  return line + wrapped(what, column_of_text, column_of_text);
}

std::string entry(const OptionText& option) {
  std::string names;
  for (const auto& name : option.names) names += (names.empty() ? "" : ", ") + name;
  return entry(names + (names.empty() || option.value.empty() ? "" : " ") + option.value, option.what);
}

template <class Entry>
std::string section(const std::string& title, const std::vector<Entry>& entries) {
  std::string text = entries.empty() ? "" : "\n" + title + ":\n";
  for (const auto& each : entries) {
    if constexpr (requires { each.names; }) text += entry(each);
    else text += entry(each.name, each.what);
  }
  return text;
}

}  // namespace

std::string help_text(const CommandText& command) {
  std::string text = wrapped("Usage: " + command.usage(), 0, 7);
  for (const auto& paragraph : command.paragraphs) text += "\n" + wrapped(paragraph, 0, 0);
  text += section("Arguments", command.arguments);
  for (const auto& group : command.groups) text += section(group.name, group.options);
  text += section("Commands", command.subcommands);
  text += section("Exit codes", command.exit_codes);
  text += section("Environment", command.environment);
  if (!command.examples.empty()) text += "\nExamples:\n";
  for (const auto& example : command.examples) text += "  " + wrapped(example, 2, 6, " \\");
  return text;
}

}  // namespace benanza::tool
