// SPDX-License-Identifier: Apache-2.0
// Witnesses of the program's models: options, and models executed from the plans that a session has measured.
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
  /// A mistake in an option is said before anything is measured. Throws UsageError.
  void check() const;
};

struct Executed {
  std::vector<Witness> witnesses{};  ///< one for each model
  Outcome measured{};                ///< of changes of layout that had no rows
};

/// Executes every model from the plans that the session has measured. Then measures the changes of layout that have no
/// rows yet, so that `library chained` is a sum of rows. Where a model cannot be executed, its witness gives the cause.
[[nodiscard]] Executed make_witnesses(const WitnessFlags& flags, const ModelOptions& models, Session& session,
                                      bool quiet);

}  // namespace benanza::tool
