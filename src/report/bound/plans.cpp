// SPDX-License-Identifier: Apache-2.0
// Every plan of a layer, or why it does not count:
//
//   Conv 1x64x56x56, 64 of 3x3, +bias +relu
//   Conv/f32/x=1x64x56x56/w=64x64x3x3/pads=1x1x1x1/post=bias,relu
//        time    median  samples  of roof  caches        plan
//     1.23 ms   1.25 ms       40     97 %  hot           onednn jit:avx2,threads=2
//     1.31 ms   1.34 ms       40        -  cold-weights  onednn jit:avx2,threads=2
//    excluded                              hot           openblas: no Conv in backend openblas
#include "plans.hpp"

#include "format/numbers.hpp"
#include "report/row_kernels.hpp"

#include <fmt/format.h>

#include <ostream>
#include <string>

namespace benanza::report {

using namespace format;

namespace {

/// What a reader of the time must know.
std::string marks(const Measurement& row) {
  std::string text = row.advised ? "  (advised)" : "";
  if (row.contended) text += "  (contended)";
  if (row.noisy) text += "  (noisy)";
  if (methods_disagree(row))
    text += fmt::format("  ({} {}, by the other method {}, without launches)", row.device->method,
                        time_text(without_launch(row, row.times->median)), time_text(*other_without_launch(row)));
  if (activity_disagrees(row))
    text += fmt::format("  (its kernels take {:.0f} % of that by the device's records)",
                        100 * (*recorded_work(row) / without_launch(row, row.times->p10)));
  if (no_method_agrees(row)) text += "  (no two methods of timing agree)";
  if (row.device && row.device->throttled)
    text += fmt::format("  (at {:.0f} MHz, throttled)", row.device->clock_hz.value_or(0) / 1e6);
  return text;
}

}  // namespace

void write_candidates(std::ostream& out, const std::vector<Measurement>& candidates, Seconds direct_floor,
                      Seconds least_floor) {
  out << fmt::format("{:>10} {:>9} {:>8} {:>8}  {:<13} {}\n", "time", "median", "samples", "of roof", "caches", "plan");
  for (const auto& row : candidates) {
    const auto cache = enum_names(row.cache)[static_cast<std::size_t>(row.cache)];
    if (!row.measured()) {
      out << fmt::format("{:>10} {:>27}  {:<13} {}: {}\n", "excluded", "", cache,
                         row.has_plan ? row.backend + " " + row.algorithm : row.backend, clipped(row.reason, 300));
      continue;
    }
    const Seconds floor = row.saves_multiplications ? least_floor : direct_floor;
    const bool has_share = floor.value > 0 && row.cache == CacheState::hot;
    out << fmt::format("{:>10} {:>9} {:>8} {:>8}  {:<13} {} {}{}\n", time_text(row.times->p10),
                       time_text(row.times->median), row.samples,
                       has_share ? fmt::format("{:.0f} %", 100 * (floor / row.times->p10)) : "-", cache, row.backend,
                       row.algorithm, marks(row));
    write_kernels(out, row.kernel_launches);
  }
}

}  // namespace benanza::report

namespace benanza {

void write_table(std::ostream& out, const PlansReport& report, const TableOptions& options) {
  for (const auto& layer : report.layers) {
    const std::string title = format::clipped(describe(layer.layer), 300);
    out << (options.color ? "\033[1m" + title + "\033[0m" : title) << '\n' << layer.signature << '\n';
    report::write_candidates(out, layer.candidates, layer.direct_floor, layer.least_floor);
    out << '\n';
  }
  if (!report.footer.empty()) out << report.footer << '\n';
}

}  // namespace benanza
