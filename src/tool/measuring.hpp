// SPDX-License-Identifier: Apache-2.0
// From models to results: which layers the database lacks, and the session that measures them.
#pragma once

#include "options.hpp"
#include <benanza/bounds/analysis.hpp>
#include <benanza/measure/measure.hpp>
#include <benanza/model/units.hpp>
#include <benanza/results/results.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace benanza::tool {

/// The backends of that name, all of the processor for none; unavailable ones are left out unless they were named.
/// Throws UsageError for an unknown name, EnvironmentError for a named one that is not available.
[[nodiscard]] std::vector<std::shared_ptr<const Backend>> usable_backends(const std::vector<std::string>& names);
[[nodiscard]] std::vector<BackendVersion> versions_of(const std::vector<std::shared_ptr<const Backend>>& backends);

/// Runs a command that measures as a supervised child (supervisor.hpp) that does the same, or here where that is not
/// wanted; on an accelerator it always is. Returns its exit code.
[[nodiscard]] int run_measuring(const MeasuringOptions& options, const std::function<int()>& command);

struct Session {
  Machine machine{};
  std::vector<std::shared_ptr<const Backend>> backends{};
  ResultDatabase database{};  ///< this machine's, these versions'
  AnalysisOptions analysis{};
};

/// What the folder holds of a machine and these versions; warns of files in it that cannot be read and of rows that are
/// left out.
[[nodiscard]] ResultDatabase open_database(const MeasuringOptions& options, const Machine& machine,
                                           std::span<const BackendVersion> versions, bool quiet);
/// Opens the database for this machine.
[[nodiscard]] Session open_session(const MeasuringOptions& options, bool quiet);

struct MeasuringResult {
  std::size_t wanted = 0, measured = 0, known = 0;  ///< unique layers to select, those that have rows now, all others
  Seconds took{};
  int interrupted = 0;     ///< the exit code that a signal asks for; 0: none came
  std::string not_kept{};  ///< why the rows could not be written to the folder; empty when they were
  std::string run{};       ///< the file of the run that was added; empty when it could not be written, or there is none
};

/// `kept in DIR`, or that it is not.
[[nodiscard]] std::string where_kept(const MeasuringResult& result, const std::filesystem::path& folder);

/// What is measured again of what is known.
enum class Again : std::uint8_t {
  nothing,
  uncertain,  ///< layers that a budget left noisy or with untried plans are selected once more
  all         ///< every layer gets new rounds, even if no total lacks them
};

/// The time of a `--budget`; nothing where it was not given.
[[nodiscard]] std::optional<Seconds> parse_budget(const std::string& text);
/// A model of ordinary size within a minute, a whole zoo within half an hour; a heavy one gets as many passes.
[[nodiscard]] Seconds default_budget(std::span<const ModelLayers> models);

/// Measures what the models need and the database lacks, and adds it to both the session and the folder; what there is
/// so far goes to the folder every few seconds.
[[nodiscard]] MeasuringResult measure_missing(Session& session, const std::vector<ModelLayers>& models, Seconds budget,
                                              const MeasuringOptions& options, bool quiet,
                                              Again again = Again::nothing);
/// Measures these layers, known ones in rounds only, and adds the run, called `name`, to both the session and the
/// folder. `earlier`: rows of layers that are selected once more. Throws EnvironmentError before anything is measured
/// if the folder cannot be written to.
[[nodiscard]] MeasuringResult measure_layers(Session& session, const std::vector<bench::Wanted>& layers,
                                             const std::string& name, Seconds budget, const MeasuringOptions& options,
                                             bool quiet, std::vector<Measurement> earlier = {});

}  // namespace benanza::tool
