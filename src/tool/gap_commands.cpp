// SPDX-License-Identifier: Apache-2.0
#include "gap_commands.hpp"

#include <benanza/base/detail/shell_word.hpp>
#include <benanza/codegen.hpp>
#include <benanza/model/layer_signature.hpp>

#include <CLI/CLI.hpp>

#include <initializer_list>
#include <string>

namespace benanza::tool {

namespace {

/// ` --batch 4 --dim seq=128`: the given ones among these options, with their values.
std::string given(const CLI::App& command, std::initializer_list<const char*> options) {
  std::string text;
  for (const char* name : options)
    for (const auto& value : command.get_option(name)->results())
      text += std::string(" ") + name + " " + detail::shell_word(value);
  return text;
}

bool has_reproducer(const std::string& signature, const std::string& plan) {
  const auto slash = plan.find('/');
  return slash != std::string::npos &&
         can_reproduce(parse_layer(signature), plan.substr(0, slash), plan.substr(slash + 1));
}

}  // namespace

Commands commands_of(const CLI::App& gap, const MeasuringOptions& measuring, int threads, bool device) {
  const bool stored = gap.count("--results") > 0;
  std::string model;
  for (const auto& name : gap.get_option("models")->results()) model += " " + detail::shell_word(name);
  model += given(gap, {"--batch", "--dim", "--input", "--dims-from", "--shapes", "--value"});
  if (gap.count("--training") > 0) model += " --training";
  model += given(gap, {"--optimizer", "--precision", "--recompute", "--loss", "--frozen"});
  const std::string type = given(gap, {"--type"}), results = given(gap, {"--results"});
  const std::string at_most = threads > 0 ? " --threads " + std::to_string(threads) : "";
  std::string session = given(gap, {"--database"});  // options of a command that measures
  for (const CacheState cache : measuring.caches)
    if (gap.count("--cache") > 0)
      session += " --cache " + std::string(enum_names(cache)[static_cast<std::size_t>(cache)]);
  if (!measuring.isolate) session += " --no-isolate";

  const std::string backends = given(gap, {"--backend"});
  const std::string bound = (stored ? "benanza analyze" : "benanza bound") + model;
  const std::string with = at_most + backends + (stored ? results : session);
  return {
      .gap = "benanza gap" + model + type +
             given(gap, {"--profile", "--latency", "--warm-ups", "--passes", "--rung", "--what-if", "--threads"}) +
             backends + results + session,
      .bound = bound + with + type,
      .in_type = bound + with + " --type",
      .measure = "benanza measure" + at_most + (device && backends.empty() ? " --backend cuda" : backends) + session,
      .has_reproducer = has_reproducer};
}

}  // namespace benanza::tool
