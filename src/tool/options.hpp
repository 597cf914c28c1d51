// SPDX-License-Identifier: Apache-2.0
// Options that subcommands share: the same option means the same everywhere.
#pragma once

#include <benanza/model/data_type.hpp>
#include <benanza/onnx.hpp>
#include <benanza/plan/kernel_metric.hpp>
#include <benanza/results/measurement.hpp>
#include <benanza/session/default_database.hpp>
#include <benanza/training/training_graph.hpp>

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace benanza::tool {

/// `--training` and what belongs to it.
struct TrainingFlags {
  bool training = false;
  std::string optimizer = "sgd", loss = "cross-entropy", precision = "f32", recompute = "none";

  void add_to(CLI::App& app);
  /// Without the flag, for a subcommand that is about training.
  void add_settings_to(CLI::App& app);
  /// Nothing without `--training`. Throws UsageError for a name that is not one, and for an option of training alone.
  [[nodiscard]] std::optional<TrainingOptions> options() const;
  /// As they would be typed, a blank in front of each; empty without `--training`.
  [[nodiscard]] std::string text() const;
};

/// The models and their sizes.
struct ModelOptions {
  std::vector<std::string> models{};    ///< files, folders or globs
  std::vector<std::int64_t> batches{};  ///< empty: the models' own; several: a sweep
  std::vector<std::string> dims{}, inputs{}, values{};
  std::vector<std::string> dims_from{};  ///< NumPy files whose shapes are those of inputs
  std::string shapes{};                  ///< a file of sizes by model
  /// Shapes of nodes' inputs that a profile tells; of `gap` alone.
  std::map<std::string, std::vector<std::vector<std::int64_t>>> node_inputs{};
  std::map<std::string, InputArray> input_arrays{};  ///< arrays that are inputs; of `run` alone
  bool executable = false;                           ///< as of ImportOptions
  bool tells_weights = false;                        ///< as ImportOptions::training, which --training sets too
  TrainingFlags training{};
  std::string type{};  ///< what-if type; empty: as the model has it

  /// The models are the arguments of the command, or the values of that option.
  void add_to(CLI::App& app, const std::string& option = {});
  /// One, or of a sweep all its points: each batch size with each combination of sizes. Throws UsageError.
  [[nodiscard]] std::vector<ImportOptions> import_options() const;
  /// Whether a model is wanted at several sizes.
  [[nodiscard]] bool sweeps() const { return import_options().size() > 1; }
  /// Sizes, type and training as they would be typed, a blank in front of each; the models are left out.
  [[nodiscard]] std::string text() const;
  /// The type of the what-if, if there is one. Throws UsageError for a name that is not a type.
  [[nodiscard]] std::optional<DataType> what_if() const;
  /// The files meant, in order, each once. Throws InputError when a name matches nothing.
  [[nodiscard]] std::vector<std::filesystem::path> files() const;
};

/// What is measured with, and where results are kept.
struct MeasuringOptions {
  std::vector<std::string> backends{};  ///< empty: all that are available
  int threads = 0;
  std::vector<CacheState> caches{CacheState::hot, CacheState::cold_weights};
  std::filesystem::path database = default_database();
  bool isolate = true;  ///< measures in a process of its own, also on the processor
  std::vector<KernelMetric> metrics{};

  void add_to(CLI::App& app);
  /// `--metrics`, for a subcommand that measures layers.
  void add_metrics_to(CLI::App& app);
};

/// Where the answer goes.
struct OutputOptions {
  std::string json{}, csv{};           ///< file, `-` for stdout, empty for none
  std::string html{}, dot{}, trace{};  ///< likewise
  bool all = false;
  bool quiet = false;

  void add_to(CLI::App& app);
  /// The pictures of bounds.
  void add_pictures_to(CLI::App& app);
  /// All files that were asked for, empty ones too.
  [[nodiscard]] std::vector<std::string> files() const { return {json, csv, html, dot, trace}; }
};

}  // namespace benanza::tool
