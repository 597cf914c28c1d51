// SPDX-License-Identifier: Apache-2.0
// What a machine is and reaches, for a terminal of 80 columns.
#include "format/numbers.hpp"
#include "table_parts.hpp"
#include <benanza/report/report.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <ostream>

namespace benanza {

using namespace format;

using namespace report;

void write_table(std::ostream& out, const MachineReport& report, const TableOptions& options) {
  const Machine& m = report.machine;
  const std::string where =
      m.is_device() ? m.affinity : fmt::format("{} core{} ({})", m.cores, m.cores == 1 ? "" : "s", m.affinity);
  out << strong(m.device, options)
      << fmt::format("\n{}, {}, {:.0f} GiB, {}\n", where, m.isa, m.memory.value / (1 << 30), m.system);
  Bytes reported{}, in_front{};
  for (const auto& cache : m.caches) {
    out << fmt::format("  L{} {}B\n", cache.level, scaled(cache.total.value));
    reported += cache.total;
  }
  for (const auto& row : report.ceilings)
    if (row.quantity == CeilingQuantity::bandwidth("memory")) in_front = std::max(in_front, Bytes{row.in_front_bytes});
  if (in_front > reported)
    out << fmt::format("  caches hold {}B by measurement, more than is reported\n", scaled(in_front.value));
  out << "\nbackends\n";
  for (const auto& backend : report.backends) {
    const std::string name = fmt::format("  {:<10} {:<10} ", backend.name, backend.version);
    const std::string state = backend.unavailable.empty() ? "available" : "not available: " + backend.unavailable;
    out << name << wrapped(state, width_of(options), name.size()).substr(name.size());
  }
  for (const auto& warning : report.warnings)
    out << paragraph("warning: " + clipped(warning, 300), width_of(options), 0);
  if (report.ceilings.empty()) return;
  out << fmt::format("\n{:<17} {:>7} {:>12}  {}\n", "ceiling", "threads", "value", "reached by");
  for (const auto& row : report.ceilings) {
    const std::string value = row.quantity.kind == CeilingQuantity::Kind::timer
                                  ? time_text({row.value})
                                  : scaled(row.value) + std::string(row.quantity.unit());
    out << fmt::format("{:<17} {:>7} {:>12}  {}\n", row.quantity.text(), row.threads, value,
                       clipped(row.algorithm, 300));
  }
}

}  // namespace benanza
