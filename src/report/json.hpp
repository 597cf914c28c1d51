// SPDX-License-Identifier: Apache-2.0
// Parts of JSON documents that several reports share.
#pragma once

#include <benanza/report/report.hpp>

#include <nlohmann/json.hpp>

#include <iosfwd>
#include <optional>
#include <vector>

namespace benanza::report {

using Json = nlohmann::ordered_json;

/// JSON has neither NaN nor infinity: an unknown value is null.
[[nodiscard]] Json number(std::optional<double> value);
[[nodiscard]] Json ms(std::optional<Seconds> time);
/// Rounded to an integer.
[[nodiscard]] Json whole(double value);

[[nodiscard]] Json machine_json(const Machine& machine);
[[nodiscard]] Json backends_json(const std::vector<BackendVersion>& backends);
[[nodiscard]] Json sweeps_json(const std::vector<Sweep>& sweeps);
/// A model's figures without its rows.
[[nodiscard]] Json summary_json(const Analysis& analysis);
/// Adds `witness` to a model's figures, and the rungs `library_chained` and `witness` to its bounds.
void add_witness(Json& model, const Witness& witness, const Analysis& analysis);

void write(std::ostream& out, const Json& document);

/// The contents of the page in compact form: texts by their index in a table, rows as arrays.
[[nodiscard]] Json page_json(const BoundReport& report);

}  // namespace benanza::report
