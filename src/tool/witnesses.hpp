// SPDX-License-Identifier: Apache-2.0
// Witnesses of the program's models: options, and models executed with the plans that a session has measured.
#pragma once

#include "measuring.hpp"
#include "options.hpp"
#include <benanza/bounds/witness.hpp>
#include <benanza/session/session.hpp>

#include <string>
#include <vector>

namespace benanza::tool {

struct WitnessFlags {
  bool witness = false, check_calls = false;
  std::string weights{}, time{};
  void add_to(CLI::App& command);
  /// Reports errors in the options before anything is measured. Throws UsageError.
  void check() const;
};

struct Executed {
  std::vector<Witness> witnesses{};  ///< one per model
  Outcome measured{};                ///< of layout changes that had no rows
};

/// Executes every model with the plans that the session has measured. Then measures the layout changes that have no
/// rows yet, so that `library chained` is a sum of rows. If a model cannot be executed, its witness gives the reason.
[[nodiscard]] Executed make_witnesses(const WitnessFlags& flags, const ModelOptions& models, Session& session,
                                      bool quiet);

}  // namespace benanza::tool
