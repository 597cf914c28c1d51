// SPDX-License-Identifier: Apache-2.0
// Options that subcommands share: the same option means the same everywhere.
#pragma once

#include <benanza/onnx.hpp>
#include <benanza/units.hpp>

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace benanza::tool {

/// Which models, at which sizes.
struct ModelOptions {
  std::vector<std::string> models{};  ///< files, folders or globs
  std::optional<std::int64_t> batch{};
  std::vector<std::string> dims{}, inputs{}, values{};

  /// The models are the arguments of the command, or the values of that option.
  void add_to(CLI::App& app, const std::string& option = {});
  [[nodiscard]] ImportOptions import_options() const;
  /// The files meant, in order, each once. Throws InputError when a name matches nothing.
  [[nodiscard]] std::vector<std::filesystem::path> files() const;
};

/// What is measured with, and where results are kept.
struct MeasuringOptions {
  std::vector<std::string> backends{};  ///< empty: all that are available
  int threads = 0;
  std::filesystem::path database{};

  void add_to(CLI::App& app);
};

/// Where the answer goes.
struct OutputOptions {
  std::string json{}, csv{};  ///< file, `-` for stdout, empty for none
  bool all = false;
  bool quiet = false;

  void add_to(CLI::App& app);
};

/// `60s`, `500ms`, `2min`, `1h`; a bare number is seconds. Throws UsageError.
[[nodiscard]] Seconds parse_duration(const std::string& text);
/// The user's cache folder for Benanza, as the XDG specification has it.
[[nodiscard]] std::filesystem::path default_database();

}  // namespace benanza::tool
