// SPDX-License-Identifier: Apache-2.0
#include "unknown_argument.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string_view>
#include <vector>

namespace benanza::tool {

namespace {

/// How many insertions, deletions, replacements and swaps of neighbours make `a` of `b` (optimal string alignment).
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> least(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i)
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        least[i][j] = i + j;
        continue;
      }
      const std::size_t replaced = least[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      least[i][j] = std::min({least[i - 1][j] + 1, least[i][j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        least[i][j] = std::min(least[i][j], least[i - 2][j - 2] + 1);
    }
  return least[a.size()][b.size()];
}

/// `; did you mean NAME?` for the nearest name, if no more than two in five of its letters have to be changed.
std::string suggestion(const std::string& word, const std::vector<std::string>& names) {
  std::size_t least = std::numeric_limits<std::size_t>::max();
  std::string nearest;
  for (const auto& name : names)
    if (const std::size_t distance = edit_distance(word, name);
        distance < least && distance <= std::max<std::size_t>(1, name.size() * 2 / 5)) {
      least = distance;
      nearest = name;
    }
  return nearest.empty() ? "" : "; did you mean " + nearest + "?";
}

const CLI::App* last_parsed(const CLI::App& app) {
  const auto parsed = app.get_subcommands();
  return parsed.empty() ? &app : last_parsed(*parsed.back());
}

}  // namespace

std::string command_line_of(const CLI::App& app) {
  const auto parsed = app.get_subcommands();
  return parsed.empty() ? app.get_name() : app.get_name() + " " + command_line_of(*parsed.back());
}

std::string unknown_subcommand(const CLI::App& app) {
  const CLI::App* const command = last_parsed(app);
  const auto known = command->get_subcommands([](const CLI::App* sub) { return !sub->get_group().empty(); });
  if (known.empty()) return {};
  std::vector<std::string> names;
  for (const auto* sub : known) names.push_back(sub->get_name());
  for (const auto& word : command->remaining())
    if (!word.starts_with('-')) return "no subcommand is called '" + word + "'" + suggestion(word, names);
  return {};
}

std::string unknown_option(const CLI::App& app) {
  const CLI::App* const command = last_parsed(app);
  for (const auto& word : command->remaining()) {
    const std::string option = word.substr(0, word.find('='));
    if (!option.starts_with('-') || option == "--") continue;
    std::vector<std::string> names;
    for (const auto* known : command->get_options())
      for (const auto& name : known->get_lnames()) names.push_back("--" + name);
    return "no option is called '" + option + "'" + suggestion(option, names);
  }
  return {};
}

}  // namespace benanza::tool
