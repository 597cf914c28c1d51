// SPDX-License-Identifier: Apache-2.0
// benanza man: the man page of all commands.
#include "command_text.hpp"
#include "commands.hpp"
#include <benanza/version.hpp>

#include <CLI/CLI.hpp>

#include <iostream>

namespace benanza::tool {

namespace {

/// Text in which roff finds no request and no escape, and no hyphen that it may turn into a dash.
std::string escaped(const std::string& text) {
  std::string result = text.starts_with('.') || text.starts_with('\'') ? "\\&" : "";
  for (const char c : text) result += c == '\\' ? "\\e" : c == '-' ? "\\-" : std::string(1, c);
  return result;
}

std::string tagged(const std::string& tag, const std::string& what) {
  return ".TP\n.B " + escaped(tag) + "\n" + escaped(what) + "\n";
}

std::string tagged(const OptionText& option) {
  std::string tag;
  for (const auto& name : option.names) tag += (tag.empty() ? "" : ", ") + name;
  return tagged(tag + (tag.empty() || option.value.empty() ? "" : " ") + option.value, option.what);
}

std::string listed(const std::string& title, const std::vector<Meaning>& meanings) {
  std::string text = meanings.empty() ? "" : ".PP\n" + title + ":\n";
  for (const auto& meaning : meanings) text += tagged(meaning.name, meaning.what);
  return text;
}

std::string section(const CommandText& command) {
  std::string text = ".SS " + escaped(command.usage()) + "\n";
  for (const auto& paragraph : command.paragraphs) text += ".PP\n" + escaped(paragraph) + "\n";
  for (const auto& argument : command.arguments) text += tagged(argument);
  for (const auto& group : command.groups) {
    text += ".PP\n" + escaped(group.name) + ":\n";
    for (const auto& option : group.options) text += tagged(option);
  }
  text += listed("Exit codes", command.exit_codes) + listed("Environment", command.environment);
  if (!command.examples.empty()) text += ".PP\nExamples:\n.nf\n";
  for (const auto& example : command.examples) text += "  " + escaped(example) + "\n";
  return text + (command.examples.empty() ? "" : ".fi\n");
}

std::string man_page(const CLI::App& program) {
  const auto commands = all_commands(program);
  const CommandText& all = commands.front();
  std::string text = ".TH BENANZA 1 \"\" \"benanza " + std::string(version) + "\" \"User Commands\"\n" +
                     ".SH NAME\nbenanza \\- " + escaped(all.paragraphs.front()) + "\n.SH SYNOPSIS\n.B " +
                     escaped(all.usage()) + "\n.SH COMMANDS\n";
  for (const auto& command : all.subcommands) text += tagged(command.name, command.what);
  text += ".SH OPTIONS\n";
  for (auto at = commands.begin() + 1; at != commands.end(); ++at)
    if (at->subcommands.empty()) text += section(*at);
  return text;
}

}  // namespace

void add_man(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand("man", "prints the man page of this program");
  command->footer("benanza man | man -l -");
  command->callback([&app, &exit_code] {
    std::cout << man_page(app);
    exit_code = done;
  });
}

}  // namespace benanza::tool
