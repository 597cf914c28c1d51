// SPDX-License-Identifier: Apache-2.0
// Session: the main job as a library call, from models to ladders of bounds. It opens a folder of results for this
// machine, measures the layers that the folder lacks, keeps their rows there, and analyses each model.
//
//     Session session = Session::open();
//     const Analysis analysis = session.bound(make_model_layers(import_onnx("resnet50.onnx")));
//     const std::optional<Seconds> latency = analysis.bound().latency;
#pragma once

#include <benanza/bounds/analysis.hpp>
#include <benanza/fusion/model_layers.hpp>
#include <benanza/measure/measure.hpp>
#include <benanza/model/layer_set.hpp>
#include <benanza/plan/kernel_metric.hpp>
#include <benanza/results/results.hpp>
#include <benanza/session/default_database.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace benanza {

class Backend;

namespace isolation {
class Worker;
}

struct SessionOptions {
  /// The backends to measure with; all of them run on one device. Empty: every available backend of the processor.
  std::vector<std::shared_ptr<const Backend>> backends{};
  int threads = 0;  ///< the most threads an engine would use; 0: one for each physical core of one NUMA node
  std::vector<CacheState> caches{CacheState::hot, CacheState::cold_weights};
  std::filesystem::path database = default_database();
  std::vector<KernelMetric> metrics{};  ///< collected for the kernels of chosen plans; on an accelerator (docs/gpu.md)
  /// Receives one line for each thing that makes the results doubtful; empty: the lines are dropped.
  std::function<void(const std::string& text)> warn{};
  /// If `backends` is empty, the names of the backends to measure with (`usable_backends`).
  std::vector<std::string> backend_names{};
  /// Facts in which rows of the database may differ from this machine and count nevertheless (`MachineChoice`).
  std::vector<std::string> accept{};
  /// A program, with its arguments, that measures instead of this process: `{"benanza", "worker"}`, or one that calls
  /// `isolation::serve_worker`. A plan that crashes, hangs or takes all memory then loses its row, not the run. The
  /// program must have backends of the same names. Only the program uses an accelerator. Empty: this process measures.
  std::vector<std::string> worker{};
};

/// What to measure again although the database has it.
enum class Again : std::uint8_t {
  nothing,    ///< except models with a noisy or contended best plan, in at most two more sessions
  uncertain,  ///< tunes layers again whose rows a budget left noisy or with untried plans
  all         ///< new rounds for every layer, even if no total lacks them
};

struct BoundOptions {
  std::optional<Seconds> budget{};  ///< time for measuring; if empty, `default_budget` of the models
  Again again = Again::nothing;
  std::function<void(const measure::Progress&)> progress{};
  /// Receives the analysis from the rows measured so far, every few seconds. Called only for a single model, once each
  /// of its layers has a time. Measuring waits until it returns.
  std::function<void(const Analysis& so_far)> so_far{};
  /// If a stop is requested, measuring ends early; what was measured is kept and analysed.
  std::stop_token stop{};
};

/// What a call measured.
struct Measured {
  std::size_t layers = 0;     ///< unique layers of the run: tuned, or timed again
  std::size_t with_rows = 0;  ///< layers of the run that have rows now
  std::size_t tuned = 0;      ///< unique layers that have rows and had none before, or were tuned once more
  std::size_t known = 0;      ///< unique layers that the database knew
  Seconds saved{};            ///< lower bound of the time to measure the known ones: timed calls, plans, constants
  Seconds took{};
  std::string run{};       ///< the file of the run; empty if nothing was measured or it could not be written
  std::string not_kept{};  ///< why the rows could not be written to the folder; empty if they were
  bool stopped = false;    ///< a stop was requested before everything was measured
};

class Session {
 public:
  /// Reports machines of the database that differ from this one in a single fact, and whose rows do not count. Throws
  /// EnvironmentError if no backend is available or no worker can be started, UsageError for more threads than
  /// the machine has cores or for backends of different devices.
  [[nodiscard]] static Session open(SessionOptions options = {});

  /// Measures what the models need and the database lacks, then analyses each model. Throws EnvironmentError, before
  /// anything is measured, if the folder cannot be written to.
  [[nodiscard]] std::vector<Analysis> bound(std::span<const ModelLayers> models, const BoundOptions& options = {});
  [[nodiscard]] Analysis bound(const ModelLayers& model, const BoundOptions& options = {});

  /// The first half of `bound`. When it returns, the rows are in the folder and in `database()`. The rows so far are
  /// written to the folder every few seconds.
  Measured measure_missing(std::span<const ModelLayers> models, const BoundOptions& options = {});
  /// Measures these layers; those with known rows only get new rounds. `earlier`: rows of layers that are tuned once
  /// more. `name` is the name of the run. The default budget is 60 s.
  Measured measure_layers(std::span<const measure::Wanted> layers, const std::string& name,
                          const BoundOptions& options = {}, std::vector<Measurement> earlier = {});
  /// The second half of `bound`, which measures nothing.
  [[nodiscard]] std::vector<Analysis> analyze(std::span<const ModelLayers> models) const;

  [[nodiscard]] const Machine& machine() const { return machine_; }
  [[nodiscard]] const SessionOptions& options() const { return options_; }
  [[nodiscard]] const std::vector<BackendVersion>& versions() const { return versions_; }
  /// What is known of this machine and these versions of the backends.
  [[nodiscard]] const ResultDatabase& database() const { return database_; }
  [[nodiscard]] const AnalysisOptions& analysis_options() const { return analysis_options_; }
  /// Whether analyses carry every candidate of a layer (`LayerRow::candidates`).
  void keep_candidates(bool keep) { analysis_options_.candidates = keep; }

 private:
  Session() = default;
  /// Gives `receive` an analysis of the model with these rows.
  void tell(const ModelLayers& model, const Run& rows_so_far,
            const std::function<void(const Analysis&)>& receive) const;
  Measured measure(std::span<const measure::Wanted> layers, const std::string& name, const BoundOptions& options,
                   std::vector<Measurement> earlier, const std::function<void(const Run&)>& rows_so_far);
  /// Finds `machine_` and `versions_`.
  void find_machine();
  void warn(const std::string& text) const {
    if (options_.warn) options_.warn(text);
  }

  SessionOptions options_{};
  Machine machine_{};
  std::vector<BackendVersion> versions_{};
  std::shared_ptr<const isolation::Worker> worker_{};  ///< null: this process measures
  ResultDatabase everything_{}, database_{};           ///< the whole folder; the part that counts here
  AnalysisOptions analysis_options_{};
};

/// The default time for measuring: under a minute for a model of ordinary size, half an hour for a whole zoo. A model
/// of more than 90 GFLOP gets time in proportion to its FLOPs.
[[nodiscard]] Seconds default_budget(std::span<const ModelLayers> models);

}  // namespace benanza
