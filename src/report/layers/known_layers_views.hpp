// SPDX-License-Identifier: Apache-2.0
// What a database of other models already contains, in the table and the JSON of `layers`.
#pragma once

#include "report/json.hpp"

#include <iosfwd>

namespace benanza::report {

void write_known_layers(std::ostream& out, const LayersReport& report);
[[nodiscard]] format::Json known_layers_json(const KnownLayersReport& report);

}  // namespace benanza::report
