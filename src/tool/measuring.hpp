// SPDX-License-Identifier: Apache-2.0
// From models to results: which layers the database lacks, and the session that measures them.
#pragma once

#include "options.hpp"
#include <benanza/analysis.hpp>
#include <benanza/bench/measure.hpp>
#include <benanza/results.hpp>
#include <benanza/units.hpp>

#include <memory>
#include <string>
#include <vector>

namespace benanza::tool {

/// The backends of that name, all of the processor for none; unavailable ones are left out unless they were named.
/// Throws UsageError for an unknown name, EnvironmentError for a named one that is not available.
[[nodiscard]] std::vector<std::shared_ptr<const Backend>> usable_backends(const std::vector<std::string>& names);
[[nodiscard]] std::vector<BackendVersion> versions_of(const std::vector<std::shared_ptr<const Backend>>& backends);

/// Whether the session belongs into a supervised process (supervisor.hpp) and this is none: on an accelerator, or when
/// asked for.
[[nodiscard]] bool needs_supervisor(const MeasuringOptions& options);

struct Session {
  Machine machine{};
  std::vector<std::shared_ptr<const Backend>> backends{};
  ResultDatabase database{};  ///< this machine's, these versions'
  AnalysisOptions analysis{};
};

/// Opens the database for this machine.
[[nodiscard]] Session open_session(const MeasuringOptions& options);

struct MeasuringResult {
  std::size_t measured = 0, known = 0;  ///< unique layers
  Seconds took{};
  bool interrupted = false;
  std::string not_kept{};  ///< why the rows could not be written to the folder; empty when they were
};

/// Measures what the models need and the database lacks, and adds it to both the session and the folder. With `again`
/// layers that are known get new rounds even if no total lacks them.
[[nodiscard]] MeasuringResult measure_missing(Session& session, const std::vector<ModelLayers>& models, Seconds budget,
                                              const MeasuringOptions& options, bool quiet, bool again = false);
/// Measures these layers, known ones in rounds only, and adds the run, called `name`, to both the session and the
/// folder.
[[nodiscard]] MeasuringResult measure_layers(Session& session, const std::vector<bench::Wanted>& layers,
                                             const std::string& name, Seconds budget, const MeasuringOptions& options,
                                             bool quiet);

}  // namespace benanza::tool
