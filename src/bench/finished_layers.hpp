// SPDX-License-Identifier: Apache-2.0
// What a suite that is run again keeps of the layers that it has finished (--benanza_done).
#pragma once

#include <benanza/results/results.hpp>

#include <set>
#include <string>

namespace benanza::bench {

/// Adds the rows that `earlier` has of these layers, if it was on the same machine with the same versions: the run
/// takes the place of its file. Without rounds, which are those of another pass; not of layers that the run measured.
void add_finished(Run& run, const Run& earlier, const std::set<std::string>& signatures);

}  // namespace benanza::bench
