// SPDX-License-Identifier: Apache-2.0
// The `context` of a results file: what a run says of itself, as pairs of text. `run_context` (results.hpp) writes it,
// this reads it back.
#pragma once

#include <benanza/results/results.hpp>

#include <string_view>

namespace benanza {

/// Takes over one pair; keys that are not Benanza's (num_cpus, load_avg ...) say nothing. Throws InputError for a value
/// that is not valid.
void read_context(Run& run, std::string_view key, std::string_view value);
/// Whether `read_context` knows the key.
[[nodiscard]] bool is_context_key(std::string_view key);
/// A run before any of its context was read: what must be there is 0.
[[nodiscard]] inline Run unread_run() {
  Run run;
  run.signature_version = 0;
  run.machine.cores = 0;
  return run;
}
/// Throws InputError unless the pairs were those of a run that can be used: its signatures are understood, its machine
/// is named.
void check_context(const Run& run);

}  // namespace benanza
