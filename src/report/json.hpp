// SPDX-License-Identifier: Apache-2.0
// Parts of JSON documents that several reports share.
#pragma once

#include "format/json_values.hpp"
#include <benanza/report/report.hpp>

#include <vector>

namespace benanza::report {

[[nodiscard]] format::Json machine_json(const Machine& machine);
[[nodiscard]] format::Json backends_json(const std::vector<BackendVersion>& backends);
[[nodiscard]] format::Json sweeps_json(const std::vector<Sweep>& sweeps);
/// A model's figures without its rows.
[[nodiscard]] format::Json summary_json(const Analysis& analysis);
/// Adds `witness` to a model's figures, and the rungs `library_chained` and `witness` to its bounds.
void add_witness(format::Json& model, const Witness& witness, const Analysis& analysis);

/// The contents of the page in compact form: texts by their index in a table, rows as arrays.
[[nodiscard]] format::Json page_json(const BoundReport& report);

}  // namespace benanza::report
