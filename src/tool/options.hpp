// SPDX-License-Identifier: Apache-2.0
// Options that subcommands share, so that the same option means the same everywhere.
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

/// The options that are added while it exists are a group of the help.
class HelpGroup {
 public:
  HelpGroup(CLI::App& app, const std::string& name);
  HelpGroup(const HelpGroup&) = delete;
  HelpGroup& operator=(const HelpGroup&) = delete;
  ~HelpGroup();

 private:
  CLI::App& app_;
  std::string before_;
};

/// `--training` and the options that belong to it.
struct TrainingFlags {
  bool training = false;
  std::string optimizer = "sgd", loss = "cross-entropy", precision = "f32", recompute = "none";
  std::vector<std::string> frozen{};

  void add_to(CLI::App& app);
  /// Without the flag, for a subcommand that is about training.
  void add_settings_to(CLI::App& app);
  /// Empty without `--training`. Throws UsageError for an unknown name, and for an option that requires training.
  [[nodiscard]] std::optional<TrainingOptions> options() const;
  /// The options as typed, each with a leading space; empty without `--training`.
  [[nodiscard]] std::string text() const;
};

/// The models and their sizes.
struct ModelOptions {
  std::vector<std::string> models{};    ///< files, folders or globs
  std::vector<std::int64_t> batches{};  ///< empty: the models' own; several: a sweep
  std::vector<std::string> dims{}, inputs{}, values{};
  std::vector<std::string> dims_from{};  ///< NumPy files with the shapes of inputs
  std::string shapes{};                  ///< a file with sizes by model
  /// Shapes of nodes' inputs from a profile; used by `gap` only.
  std::map<std::string, std::vector<std::vector<std::int64_t>>> node_inputs{};
  std::map<std::string, InputArray> input_arrays{};  ///< arrays that are inputs; used by `run` only
  bool executable = false;                           ///< as in ImportOptions
  bool tells_weights = false;                        ///< as ImportOptions::training, which --training also sets
  TrainingFlags training{};
  std::string type{};  ///< type of the what-if; empty: the model's own

  /// The models are the arguments of the command, or the values of `option`.
  void add_to(CLI::App& app, const std::string& option = {});
  /// One element, or for a sweep all its points: each batch size with each combination of sizes. Throws UsageError.
  [[nodiscard]] std::vector<ImportOptions> import_options() const;
  /// Whether a model is requested at several sizes.
  [[nodiscard]] bool sweeps() const { return import_options().size() > 1; }
  /// Sizes, type and training as typed, each with a leading space, without the models.
  [[nodiscard]] std::string text() const;
  /// The type of the what-if, if there is one. Throws UsageError for an unknown type.
  [[nodiscard]] std::optional<DataType> what_if() const;
  /// The files that the models denote, in order, each once. Throws InputError if a name matches nothing.
  [[nodiscard]] std::vector<std::filesystem::path> files() const;
};

/// `--accept`, which fills `MachineChoice::accept`.
void add_accepted_facts(CLI::App& app, std::vector<std::string>& accept);

/// What to measure with, and where to keep results.
struct MeasuringOptions {
  std::vector<std::string> backends{};  ///< empty: all available ones
  int threads = 0;
  std::vector<CacheState> caches{CacheState::hot, CacheState::cold_weights};
  std::filesystem::path database = default_database();
  bool isolate = true;  ///< measure in a separate process, also on the processor
  std::vector<KernelMetric> metrics{};
  std::vector<std::string> accept{};  ///< as in `MachineChoice`

  void add_to(CLI::App& app);
  /// `--metrics`, for a subcommand that measures layers.
  void add_metrics_to(CLI::App& app);
};

/// Where to write the answer.
struct OutputOptions {
  std::string json{}, csv{}, md{};                  ///< file, `-` for stdout, empty for none
  std::string csv_rungs{}, html{}, dot{}, trace{};  ///< the same
  bool all = false;
  bool quiet = false;

  void add_to(CLI::App& app);
  /// `--html`, for reports with a page alone.
  void add_page_to(CLI::App& app);
  /// `--csv-rungs`, for reports with rungs.
  void add_rungs_to(CLI::App& app, const std::string& what = "the rungs");
  /// Adds the rungs, the page and the pictures of bounds.
  void add_pictures_to(CLI::App& app);
  /// All output files, including empty names.
  [[nodiscard]] std::vector<std::string> files() const { return {json, csv, md, csv_rungs, html, dot, trace}; }
};

}  // namespace benanza::tool
