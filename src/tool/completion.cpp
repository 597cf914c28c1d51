// SPDX-License-Identifier: Apache-2.0
// benanza completion: scripts by which shells complete commands, options and their values. Where a value is no word of
// a list, the shell completes files.
#include "command_text.hpp"
#include "commands.hpp"

#include <CLI/CLI.hpp>

#include <functional>
#include <iostream>
#include <map>

namespace benanza::tool {

namespace {

using Commands = std::vector<CommandText>;

/// `db diff` for `benanza db diff`; empty for the program itself.
std::string path_of(const CommandText& command) {
  const auto space = command.name.find(' ');
  return space == std::string::npos ? "" : command.name.substr(space + 1);
}

/// In single quotes, for any of the shells.
std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? "'\\''" : std::string(1, c);
  return result + "'";
}

std::string words_of(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

/// What may follow a command where no option's value is expected: subcommands, and an argument's choices.
std::vector<Meaning> following(const CommandText& command) {
  std::vector<Meaning> words = command.subcommands;
  for (const auto& argument : command.arguments)
    for (const auto& choice : argument.choices) words.push_back({choice, argument.what});
  return words;
}

/// The patterns that lengthen the path of a command: each path, as the one above it, a space and its last word.
std::string path_patterns(const Commands& commands, const char* separator) {
  std::string patterns;
  for (const auto& command : commands)
    if (const std::string path = path_of(command); !path.empty())
      patterns += (patterns.empty() ? "" : separator) + quoted(path.find(' ') == std::string::npos ? " " + path : path);
  return patterns;
}

/// Calls back for each option of a command.
void for_each_option(const CommandText& command, const std::function<void(const OptionText&)>& call) {
  for (const auto& group : command.groups)
    for (const auto& option : group.options) call(option);
}

/// `'bound --cache') ...;;` for each option with a list of values.
std::string value_cases(const Commands& commands, const std::string& before, const std::string& after) {
  std::string text;
  for (const auto& command : commands)
    for_each_option(command, [&](const OptionText& option) {
      if (option.choices.empty()) return;
      std::string patterns;
      for (const auto& name : option.names)
        patterns += (patterns.empty() ? "" : "|") + quoted(path_of(command) + " " + name);
      text += "    " + patterns + ") " + before + words_of(option.choices) + after + " ;;\n";
    });
  return text;
}

std::string bash(const Commands& commands) {
  std::string text =
      "# bash completion for benanza, as `benanza completion bash` prints it\n"
      "_benanza() {\n"
      "  local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} command= words= options= i\n"
      "  for ((i = 1; i < COMP_CWORD; ++i)); do\n"
      "    case \"$command ${COMP_WORDS[i]}\" in\n"
      "      " +
      path_patterns(commands, "|") +
      ") command+=${command:+ }${COMP_WORDS[i]} ;;\n"
      "    esac\n"
      "  done\n"
      "  COMPREPLY=()\n"
      "  case \"$command $previous\" in\n" +
      value_cases(commands, "COMPREPLY=($(compgen -W '", "' -- \"$word\")); return") +
      "  esac\n"
      "  case \"$command\" in\n";
  for (const auto& command : commands) {
    std::string options, words;
    for_each_option(command, [&](const OptionText& option) { options += " " + words_of(option.names); });
    for (const auto& word : following(command)) words += " " + word.name;
    text += "    " + quoted(path_of(command)) + ") options='" + options.substr(1) + "' words='" +
            (words.empty() ? "" : words.substr(1)) + "' ;;\n";
  }
  return text +
         "  esac\n"
         "  [[ $word == -* ]] && words=$options\n"
         "  [[ -z $words ]] || COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
         "}\n"
         "complete -o bashdefault -o default -F _benanza benanza\n";
}

/// An entry of zsh's _describe: `name:what`.
std::string described(const std::string& name, const std::string& what) {
  std::string escaped;
  for (const char c : name) escaped += c == ':' ? "\\:" : std::string(1, c);
  return " " + quoted(escaped + ":" + what);
}

std::string zsh(const Commands& commands) {
  std::string text =
      "#compdef benanza\n"
      "# zsh completion for benanza, as `benanza completion zsh` prints it\n"
      "_benanza() {\n"
      "  local command= word\n"
      "  local -a flags following\n"
      "  for word in ${words[2,CURRENT-1]}; do\n"
      "    case \"$command $word\" in\n"
      "      " +
      path_patterns(commands, "|") +
      ") command+=${command:+ }$word ;;\n"
      "    esac\n"
      "  done\n"
      "  case \"$command ${words[CURRENT-1]}\" in\n" +
      value_cases(commands, "compadd -- ", "; return") +
      "  esac\n"
      "  case \"$command\" in\n";
  for (const auto& command : commands) {
    text += "    " + quoted(path_of(command)) + ")\n      flags=(";
    for_each_option(command, [&](const OptionText& option) {
      for (const auto& name : option.names) text += described(name, option.what);
    });
    text += ")\n      following=(";
    for (const auto& word : following(command)) text += described(word.name, word.what);
    text += ") ;;\n";
  }
  return text +
         "  esac\n"
         "  if [[ $PREFIX == -* ]]; then _describe -o option flags\n"
         "  elif (( $#following )); then _describe command following\n"
         "  else _files\n"
         "  fi\n"
         "}\n"
         "_benanza \"$@\"\n";
}

std::string fish(const Commands& commands) {
  std::string text =
      "# fish completion for benanza, as `benanza completion fish` prints it\n"
      "function __benanza_at\n"
      "  set -l command ''\n"
      "  for word in (commandline -opc)[2..-1]\n"
      "    switch \"$command $word\"\n"
      "      case " +
      path_patterns(commands, " ") +
      "\n"
      "        set command (string trim \"$command $word\")\n"
      "    end\n"
      "  end\n"
      "  test \"$command\" = \"$argv\"\n"
      "end\n";
  for (const auto& command : commands) {
    const std::string here = "complete -c benanza -n " + quoted("__benanza_at " + path_of(command));
    for (const auto& word : following(command))
      text += here + " -f -a " + quoted(word.name) + " -d " + quoted(word.what) + "\n";
    for_each_option(command, [&](const OptionText& option) {
      text += here;
      for (const auto& name : option.names)
        text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      if (!option.choices.empty()) text += " -x -a " + quoted(words_of(option.choices));
      else if (!option.value.empty()) text += " -r -F";
      text += " -d " + quoted(option.what) + "\n";
    });
  }
  return text;
}

}  // namespace

void add_completion(CLI::App& app, int& exit_code) {
  using Write = std::string (*)(const Commands&);
  static const std::map<std::string, Write> shells{{"bash", bash}, {"zsh", zsh}, {"fish", fish}};
  auto shell = std::make_shared<std::string>();
  auto* command =
      app.add_subcommand("completion", "prints a script by which a shell completes this program's commands");
  command->footer("source <(benanza completion bash)");
  command->add_option("shell", *shell, "the shell")
      ->required()
      ->type_name("SHELL")
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command->callback([&app, shell, &exit_code] {
    std::cout << shells.at(*shell)(all_commands(app));
    exit_code = done;
  });
}

}  // namespace benanza::tool
