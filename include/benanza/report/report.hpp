// SPDX-License-Identifier: Apache-2.0
// Reports: results as a table for people, and as JSON and CSV for programs. A report is plain data; a view writes it to
// a stream.
#pragma once

#include <benanza/base/detail/saturated.hpp>
#include <benanza/bounds/analysis.hpp>
#include <benanza/bounds/sweep.hpp>
#include <benanza/bounds/witness.hpp>
#include <benanza/model/counted_layers.hpp>
#include <benanza/model/layer_set.hpp>
#include <benanza/results/machine.hpp>
#include <benanza/results/results.hpp>

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace benanza {

struct ModelLayers;

/// A run that the results come from.
struct RunSummary {
  std::string name{};     ///< suite or model
  std::string started{};  ///< ISO 8601, UTC
  std::string tool{};     ///< Benanza's version
  std::size_t rows = 0;
};
/// The runs of a database, in its order.
[[nodiscard]] std::vector<RunSummary> summarize_runs(const ResultDatabase& database);

/// A backend that a program was built without.
struct MissingBackend {
  std::string name{};
  std::string needs{};  ///< what a build with it needs
};

/// Report of `bound` and `analyze`.
struct BoundReport {
  Machine machine{};
  std::vector<BackendVersion> backends{};
  std::vector<MissingBackend> missing_backends{};  ///< those that could have lowered the bound on this device
  std::vector<Analysis> models{};
  std::vector<Witness> witnesses{};     ///< one for each of `models`, in their order; empty if none was requested
  std::string footer{};                 ///< how it was measured, one line; may be empty
  std::vector<std::string> warnings{};  ///< what made the times doubtful while the rows were measured
  std::string declared{};               ///< the machine file with these figures; empty: measured figures
  std::vector<RunSummary> runs{};       ///< where the rows come from
  std::vector<Sweep> sweeps{};          ///< if not empty, `models` are their points, which tables show as lines
  bool training = false;                ///< the models are training iterations: each ends with its answers
};

/// What a ladder says about an iteration, in sentences: how well units are used, which layers take longest, what would
/// help most. Empty for a partial bound.
[[nodiscard]] std::vector<std::string> bound_answers(const Analysis& analysis);

/// The warnings of all runs, without duplicates, in the order of runs.
[[nodiscard]] std::vector<std::string> warnings_of(const ResultDatabase& results);

/// A model's figures in a LayersReport.
struct ModelSummary {
  std::string model{}, file{};
  std::int64_t batch = 1;
  std::map<std::string, std::int64_t> dims{}, assumed{};
  std::vector<std::string> open{};  ///< dimensions that stay symbolic: what depends on them is not known
  std::int64_t layers = 0, unique_layers = 0, groups = 0;
  std::int64_t free = 0, opaque = 0;  ///< occurrences that are free by rule, and that are known by their bytes only
  std::int64_t macs = 0;
  Flops flops{};
  Bytes bytes{}, weights{};
  std::vector<std::string> unknown{};  ///< why counts are partial
};

/// A unique layer of a model with some symbolic sizes: `Conv/f32/x=1x3x[height]x[width]/...`.
struct SymbolicLayer {
  std::string signature{}, words{};
  Users user{};
};

/// How many layers of the models are in a database of others already, or how many layers they have by other rules.
struct KnownLayersReport {
  std::string rules{};                ///< `2019`; empty: today's, by which layers that cost nothing do not count
  bool asked_known = false;           ///< a database was given
  bool of_results = false;            ///< it is a database of results, so that times are those of measuring
  std::int64_t other_models = 0;      ///< models of the database; 0: it is a database of results
  std::vector<KnownLayers> models{};  ///< the last one is for all models together
};

/// Report of `layers`: the unique layers over a set of models.
struct LayersReport {
  std::vector<ModelSummary> models{};
  LayerSet layers{};
  std::vector<SymbolicLayer> symbolic{};
  std::optional<KnownLayersReport> known{};
  [[nodiscard]] std::size_t unique() const { return layers.size() + symbolic.size(); }
  /// Adds the models and layers of another report, as if it were one of all models.
  void merge(LayersReport other);
  /// Layers of all models, in the form of `layers`.
  [[nodiscard]] std::int64_t total() const {
    std::int64_t sum = 0;
    if (!symbolic.empty())
      for (const auto& model : models) detail::add_saturated(sum, model.layers);
    else
      for (const auto& [signature, layer] : layers.layers()) detail::add_saturated(sum, layer.count());
    return sum;
  }
};

/// Which nodes of a model count as its layers.
enum class LayersForm : std::uint8_t { single, fused };
/// The report of one model.
[[nodiscard]] LayersReport make_layers_report(const ModelLayers& model, LayersForm form = LayersForm::single);

struct TableOptions {
  bool all = false;  ///< every row, not only those that matter
  bool color = false;
  int width = 80;
};

void write_table(std::ostream& out, const BoundReport& report, const TableOptions& options = {});
void write_json(std::ostream& out, const BoundReport& report);
/// One line per unique layer in each form, and per call of a witness; the points of sweeps if there are any.
void write_csv(std::ostream& out, const BoundReport& report);
/// One line per rung of each model, and per rung of a witness.
void write_rungs_csv(std::ostream& out, const BoundReport& report);
/// The ladder and the layers of each model as tables in GitHub's Markdown.
void write_markdown(std::ostream& out, const BoundReport& report, const TableOptions& options = {});
/// One self-contained page: no network, no library; see src/report/html.
void write_html(std::ostream& out, const BoundReport& report);
/// The fused layer graphs in the dot language, with the critical path in colour.
void write_dot(std::ostream& out, const BoundReport& report);
/// Schedules of the fused rungs in the trace-event format that Chrome and Perfetto read: sequential, and parallel on
/// the threads that the bound may use.
void write_trace(std::ostream& out, const BoundReport& report);

void write_table(std::ostream& out, const LayersReport& report, const TableOptions& options = {});
void write_json(std::ostream& out, const LayersReport& report);
void write_csv(std::ostream& out, const LayersReport& report);
/// The models and their layers as tables in GitHub's Markdown.
void write_markdown(std::ostream& out, const LayersReport& report, const TableOptions& options = {});

/// The machine with its ceilings, one line each; `benanza machine`.
struct MachineReport {
  struct BackendLine {
    std::string name{}, version{};
    std::string unavailable{};  ///< why it cannot be used here; empty if it can
  };
  Machine machine{};
  std::vector<BackendLine> backends{};
  std::vector<CeilingRow> ceilings{};   ///< the highest of each quantity and thread count
  std::vector<std::string> warnings{};  ///< what makes measurements here doubtful
};
void write_table(std::ostream& out, const MachineReport& report, const TableOptions& options = {});
void write_json(std::ostream& out, const MachineReport& report);
void write_csv(std::ostream& out, const MachineReport& report);

/// Every way to run one layer that was tried.
struct LayerPlans {
  Layer layer{};
  std::string signature{};
  /// max(FLOPs / peak, memory floor), of direct algorithms and of any known algorithm.
  Seconds direct_floor{}, least_floor{};
  std::vector<Measurement> candidates{};  ///< fastest first, excluded ones last
};
/// Report of `measure`.
struct PlansReport {
  Machine machine{};
  std::vector<BackendVersion> backends{};
  std::vector<LayerPlans> layers{};
  std::string footer{};  ///< how it was measured, one line; may be empty
};
void write_table(std::ostream& out, const PlansReport& report, const TableOptions& options = {});
void write_json(std::ostream& out, const PlansReport& report);
void write_csv(std::ostream& out, const PlansReport& report);

/// A table in GitHub's Markdown with the contents of a CSV report (RFC 4180).
[[nodiscard]] std::string markdown_of_csv(std::string_view csv);

/// A layer in words: `Conv 1x256x14x14, 256 of 3x3, +bias +relu`.
[[nodiscard]] std::string describe(const Layer& layer);

}  // namespace benanza
