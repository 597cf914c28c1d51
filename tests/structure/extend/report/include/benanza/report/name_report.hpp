// SPDX-License-Identifier: Apache-2.0
// NameReport: the names of models, and nothing else.
#pragma once

#include <benanza/report/report.hpp>

namespace benanza {

struct NameReport {
  std::vector<std::string> models{};
};
void write_table(std::ostream& out, const NameReport& report, const TableOptions& options = {});
void write_json(std::ostream& out, const NameReport& report);
void write_csv(std::ostream& out, const NameReport& report);

}  // namespace benanza
