// SPDX-License-Identifier: Apache-2.0
// Witnesses of the program's models: options, and models executed from the plans that a session has measured.
#pragma once

#include "options.hpp"
#include <benanza/bounds/witness.hpp>
#include <benanza/session/session.hpp>

#include <string>
#include <vector>

namespace benanza::tool {

struct WitnessFlags {
  bool witness = false;
  std::string weights{}, time{};
  void add_to(CLI::App& command);
  /// A mistake in an option is said before anything is measured. Throws UsageError.
  void check() const;
};

/// Executes every model from the plans that the session has measured. What cannot be executed costs no bound: its
/// witness says why.
[[nodiscard]] std::vector<Witness> make_witnesses(const WitnessFlags& flags, const ModelOptions& models,
                                                  const Session& session);

}  // namespace benanza::tool
