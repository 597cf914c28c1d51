// SPDX-License-Identifier: Apache-2.0
#include <benanza/report/name_report.hpp>

#include <ostream>

namespace benanza {

void write_table(std::ostream& out, const NameReport& report, const TableOptions&) {
  for (const auto& name : report.models) out << name << "\n";
}
void write_json(std::ostream& out, const NameReport& report) { out << "{\"count\": " << report.models.size() << "}\n"; }
void write_csv(std::ostream& out, const NameReport& report) {
  out << "model\n";
  write_table(out, report);
}

}  // namespace benanza
