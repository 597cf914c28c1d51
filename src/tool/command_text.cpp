// SPDX-License-Identifier: Apache-2.0
#include "command_text.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <set>
#include <string_view>

namespace benanza::tool {

namespace {

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(separator, at), text.size());
    parts.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

std::vector<std::string> names_of(const std::set<CLI::Option*>& options) {
  std::vector<std::string> names;
  for (const auto* option : options) names.push_back(option->get_name());
  std::sort(names.begin(), names.end());  // the set is ordered by address
  return names;
}

OptionText option_text(const CLI::Option& option) {
  OptionText text{.what = option.get_description(), .required = option.get_required()};
  for (const auto& name : option.get_snames()) text.names.push_back("-" + name);
  for (const auto& name : option.get_lnames()) text.names.push_back("--" + name);
  std::string what_else;
  const auto add = [&](const std::string& fact) { what_else += (what_else.empty() ? "" : "; ") + fact; };
  if (option.get_type_size() != 0) {
    const std::string type = option.get_type_name();  // CLI11 appends what a validator says, such as `:{ring,tree}`
    const auto choices = type.find(":{");
    text.value = type.substr(0, choices);
    if (choices != std::string::npos)
      text.choices = split(std::string_view(type).substr(choices + 2, type.size() - choices - 3), ',');
    if (text.choices.size() > 1) add("one of " + joined(text.choices));
    if (const auto value = option.get_default_str(); !value.empty()) add("default: " + value);
  }
  if (const auto needed = names_of(option.get_needs()); !needed.empty()) add("needs " + joined(needed));
  if (const auto excluded = names_of(option.get_excludes()); !excluded.empty()) add("not with " + joined(excluded));
  if (text.required && !text.names.empty()) add("required");
  if (!what_else.empty()) text.what += " (" + what_else + ")";
  return text;
}

std::string name_of(const CLI::App& command) {
  const CLI::App* const parent = command.get_parent();
  return parent == nullptr ? command.get_name() : name_of(*parent) + " " + command.get_name();
}

bool has_any(const CLI::App& command, std::initializer_list<const char*> options) {
  return std::any_of(options.begin(), options.end(),
                     [&](const char* option) { return command.get_option_no_throw(option) != nullptr; });
}

constexpr auto measures = {"--database"}, reads_models = {"models", "--model"}, is_run = {"--allow-nan"};

std::vector<Meaning> exit_codes_of(const CLI::App& command) {
  std::vector<Meaning> codes{
      {"0", "done"}, {"1", "invalid input: a file, a model, results, a profile"}, {"2", "usage"}};
  if (has_any(command, {"--require-complete", "--target-results"}))
    codes.push_back({"3", "the answer is incomplete, or provisional"});
  if (has_any(command, {"--assert-latency", "--assert-ratio", "--fail-on", "--check"}))
    codes.push_back({"4", "an assertion failed"});
  codes.push_back({"5", "the environment failed: an output, a library, memory"});
  if (has_any(command, measures)) codes.push_back({"130", "interrupted by Ctrl-C; what was measured is kept"});
  return codes;
}

std::vector<Meaning> environment_of(const CLI::App& command) {
  std::vector<Meaning> variables;
  if (has_any(command, reads_models)) {
    variables.push_back(
        {"BENANZA_READ_SECONDS", "processor time that reading a model may take, and analyzing it; inf: any"});
    variables.push_back({"BENANZA_READ_MB", "memory that reading a model may take, in megabytes; inf: any"});
  }
  if (has_any(command, is_run))
    variables.push_back({"BENANZA_RUN_MB", "memory that running a model may take, in megabytes; inf: any"});
  if (has_any(command, measures) || command.get_parent()->get_name() == "db")
    variables.push_back({"XDG_CACHE_HOME", "folder of the database benanza/results (default: ~/.cache)"});
  if (has_any(command, {"--json"})) variables.push_back({"NO_COLOR", "if set, tables have no colours"});
  return variables;
}

}  // namespace

std::string CommandText::usage() const {
  std::string text = name + " [OPTIONS]";
  for (const auto& argument : arguments) text += argument.required ? " " + argument.value : " [" + argument.value + "]";
  return text + (subcommands.empty() ? "" : " COMMAND");
}

CommandText command_text(const CLI::App& command) {
  CommandText text{.name = name_of(command),
                   .paragraphs = split(command.get_description(), '\n'),
                   .examples = split(command.get_footer(), '\n')};
  for (const auto& group : command.get_groups()) {
    OptionGroup shown{.name = group};
    for (const auto* option :
         command.get_options([&](const CLI::Option* each) { return each->get_group() == group; })) {
      auto& list = option->get_positional() ? text.arguments : shown.options;
      list.push_back(option_text(*option));
    }
    if (!shown.options.empty()) text.groups.push_back(std::move(shown));
  }
  for (const auto* sub : command.get_subcommands([](const CLI::App* each) { return !each->get_group().empty(); }))
    text.subcommands.push_back({sub->get_name(), split(sub->get_description(), '\n').front()});
  if (!text.subcommands.empty()) return text;
  text.exit_codes = exit_codes_of(command);
  text.environment = environment_of(command);
  return text;
}

namespace {

void add_commands(const CLI::App& command, std::vector<CommandText>& all) {
  all.push_back(command_text(command));
  for (const auto* sub : command.get_subcommands([](const CLI::App* each) { return !each->get_group().empty(); }))
    add_commands(*sub, all);
}

}  // namespace

std::vector<CommandText> all_commands(const CLI::App& program) {
  std::vector<CommandText> all;
  add_commands(program, all);
  return all;
}

}  // namespace benanza::tool
