// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <glob.h>

namespace benanza::tool {

namespace {

template <class Number>
Number parse_number(std::string_view text, const std::string& option) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size())
    throw UsageError(option + ": '" + std::string(text) + "' is no number");
  return value;
}

std::pair<std::string, std::string> split_pair(const std::string& text, const std::string& option) {
  const auto at = text.rfind('=');
  if (at == std::string::npos || at == 0 || at + 1 == text.size())
    throw UsageError(option + ": '" + text + "', expected NAME=VALUE");
  return {text.substr(0, at), text.substr(at + 1)};
}

std::vector<std::filesystem::path> expand(const std::string& name) {
  namespace fs = std::filesystem;
  std::vector<fs::path> found;
  if (fs::is_directory(name)) {
    for (const auto& entry : fs::directory_iterator(name))
      if (entry.path().extension() == ".onnx") found.push_back(entry.path());
    std::sort(found.begin(), found.end());
    if (found.empty()) throw InputError(name + ": the folder holds no .onnx file");
    return found;
  }
  if (!fs::exists(name) && name.find_first_of("*?[") != std::string::npos) {
    glob_t matches{};
    if (glob(name.c_str(), 0, nullptr, &matches) == 0)
      for (std::size_t i = 0; i < matches.gl_pathc; ++i) found.emplace_back(matches.gl_pathv[i]);
    globfree(&matches);
    if (found.empty()) throw InputError(name + ": matches no file");
    return found;
  }
  if (!fs::exists(name)) throw InputError(name + ": no such file");
  return {name};
}

}  // namespace

void ModelOptions::add_to(CLI::App& app, const std::string& option) {
  if (option.empty())
    app.add_option("models", models, "ONNX files, folders or globs")->required()->type_name("MODEL...");
  else
    app.add_option(option, models, "ONNX file, folder or glob (may be repeated)")
        ->type_name("MODEL")
        ->allow_extra_args(false);
  app.add_option("-b,--batch", batch, "batch size, written through the whole graph")
      ->type_name("N")
      ->check(CLI::PositiveNumber);
  app.add_option("-d,--dim", dims, "binds a symbolic dimension")
      ->type_name("NAME=N")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("--input", inputs, "shape of an input: NAME=1x3x224x224")
      ->type_name("NAME=SHAPE")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("--value", values, "value of a scalar input, e.g. a trip count")
      ->type_name("NAME=N")
      ->delimiter(',')
      ->allow_extra_args(false);
}

ImportOptions ModelOptions::import_options() const {
  ImportOptions options{.batch = batch};
  for (const auto& text : dims) {
    const auto [name, value] = split_pair(text, "--dim");
    options.dims[name] = parse_number<std::int64_t>(value, "--dim");
  }
  for (const auto& text : values) {
    const auto [name, value] = split_pair(text, "--value");
    options.values[name] = parse_number<std::int64_t>(value, "--value");
  }
  for (const auto& text : inputs) {
    const auto [name, value] = split_pair(text, "--input");
    std::vector<std::int64_t> shape;
    for (std::size_t at = 0; at <= value.size();) {
      const std::size_t end = std::min(value.find('x', at), value.size());
      shape.push_back(parse_number<std::int64_t>(std::string_view(value).substr(at, end - at), "--input"));
      at = end + 1;
    }
    options.inputs[name] = shape;
  }
  return options;
}

std::vector<std::filesystem::path> ModelOptions::files() const {
  std::vector<std::filesystem::path> result;
  for (const auto& name : models)
    for (const auto& file : expand(name))
      if (std::find(result.begin(), result.end(), file) == result.end()) result.push_back(file);
  return result;
}

void MeasuringOptions::add_to(CLI::App& app) {
  app.add_option("--backend", backends, "libraries to use (default: all that are available)")
      ->type_name("NAME,...")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("-t,--threads", threads,
                 "the most threads an engine would use (default: one for each physical core of one NUMA node)")
      ->type_name("N")
      ->check(CLI::PositiveNumber);
  app.add_option("--database", database, "folder of results")
      ->type_name("DIR")
      ->default_str(default_database().string());
}

void OutputOptions::add_to(CLI::App& app) {
  app.add_option("--json", json, "writes JSON; - replaces the table on stdout")->type_name("FILE");
  app.add_option("--csv", csv, "writes CSV; - replaces the table on stdout")->type_name("FILE");
  app.add_flag("-a,--all", all, "every row, not only those that matter");
  app.add_flag("-q,--quiet", quiet, "no progress and no warnings");
}

Seconds parse_duration(const std::string& text) {
  const std::size_t unit_at = std::min(text.find_first_not_of("0123456789."), text.size());
  const std::string unit = text.substr(unit_at);
  const double factor = unit == "ns"                  ? 1e-9
                        : unit == "us"                ? 1e-6
                        : unit == "ms"                ? 1e-3
                        : unit.empty() || unit == "s" ? 1
                        : unit == "min"               ? 60
                        : unit == "h"                 ? 3600
                                                      : 0;
  if (unit_at == 0 || factor == 0) throw UsageError("'" + text + "' is no duration, expected e.g. 60s, 500ms or 2min");
  return {parse_number<double>(std::string_view(text).substr(0, unit_at), "duration") * factor};
}

std::filesystem::path default_database() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache && *cache) return std::filesystem::path(cache) / "benanza" / "results";
  const char* home = std::getenv("HOME");
  return std::filesystem::path(home && *home ? home : ".") / ".cache" / "benanza" / "results";
}

}  // namespace benanza::tool
