// SPDX-License-Identifier: Apache-2.0
// The `context` of a results file: a run's description of itself, as pairs of texts. `run_context` (results.hpp) writes
// it, this file reads it back.
#pragma once

#include <benanza/results/results.hpp>

#include <string_view>

namespace benanza {

/// Takes one pair into a run; keys that are not Benanza's (num_cpus, load_avg ...) are ignored. Throws InputError for a
/// value that is not valid.
void read_context(Run& run, std::string_view key, std::string_view value);
/// Whether `read_context` knows the key.
[[nodiscard]] bool is_context_key(std::string_view key);
/// Whether no row depends on the key, so that a file can be used without it.
[[nodiscard]] bool is_remark(std::string_view key);
/// A run before any of its context is read: mandatory values are 0.
[[nodiscard]] inline Run unread_run() {
  Run run;
  run.signature_version = 0;
  run.machine.cores = 0;
  return run;
}
/// Throws InputError unless the pairs describe a usable run: its signatures are understood, and its machine is named.
void check_context(const Run& run);

}  // namespace benanza
