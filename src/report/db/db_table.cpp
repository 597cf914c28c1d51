// SPDX-License-Identifier: Apache-2.0
// Tables of `benanza db`, for a terminal of 80 columns. `db diff`:
//
//   before  results/old: A machine, onednn 3.2.0 (2 runs)
//   after   results/new: A machine, onednn 3.3.0 (1 run)
//
//   model and rung              before      after    change    noise  verdict
//   resnet50
//     library fused            61.4 ms    65.3 ms    +6.4 %    0.9 %  slower
//
//   layers: 3 slower, 2 faster, 1 unknown, 40 same (changes up to 3 % count as same)
//   verdict   change   noise     before      after  layer
//   slower    +7.3 %   0.5 %    10.0 us    10.7 us  Conv 1x256x14x14, 256 of 3x3, +bias +relu
//            - volta_scudnn_128x64_relu_interior_nn_v1
//              643 us, 3136x1x1 blocks of 128x1x1, 128 registers, 16.4 kB shared
//            + volta_scudnn_128x128_relu_interior_nn_v1
//              690 us, 1568x1x1 blocks of 256x1x1, 128 registers, 24.6 kB shared
#include "db_words.hpp"
#include "report/row_kernels.hpp"
#include "report/table_parts.hpp"
#include <benanza/report/db_report.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace benanza {

using namespace format;

namespace {

using namespace report;

constexpr std::size_t layers_that_matter = 20;

std::string versions_text(const std::vector<BackendVersion>& backends) {
  std::string text;
  for (const auto& backend : backends) text += (text.empty() ? "" : ", ") + backend.name + " " + backend.version;
  return text;
}

std::string file_name(const std::string& file) { return file.substr(file.rfind('/') + 1); }

std::string more(std::size_t shown, std::size_t all) {
  return shown < all ? fmt::format("  ({} more: --all)\n", all - shown) : "";
}

std::size_t shown_of(std::size_t all, const TableOptions& options) {
  return options.all ? all : std::min(all, layers_that_matter);
}

void conflicts_table(std::ostream& out, const std::vector<Conflict>& conflicts, const TableOptions& options) {
  if (conflicts.empty()) return;
  out << plural(conflicts.size(), "row") << " of which two runs disagree:\n";
  const std::size_t shown = shown_of(conflicts.size(), options);
  for (std::size_t i = 0; i < shown; ++i) {
    const Conflict& c = conflicts[i];
    out << fmt::format("  {} ({})\n", clipped(c.row, 300), clipped(c.backend, 60));
    out << fmt::format("    {:>9}  {}\n", time_text(c.first.times->median), file_name(c.first_file));
    if (!c.second.measured())
      out << fmt::format("    {:>9}  {}: {}\n", "refused", file_name(c.second_file), clipped(c.second.reason, 300));
    else
      out << fmt::format("    {:>9}  {}: {} beyond a noise of {}\n", time_text(c.second.times->median),
                         file_name(c.second_file), change_text(c.comparison), noise_text(c.comparison));
  }
  out << more(shown, conflicts.size());
}

void side_line(std::ostream& out, std::string_view name, const DbDiff::Side& side, const TableOptions& options) {
  out << paragraph(fmt::format("{:<7} {}: {} {}, {} ({})", name, side.place, clipped(side.machine.device, 60),
                               side.machine.isa, versions_text(side.backends), plural(side.runs, "run")),
                   width_of(options), 0);
}

/// The rungs of a model, and why some of them are unknown.
void rung_lines(std::ostream& out, const ModelChange& model, const TableOptions& options) {
  out << clipped(model.model, width_of(options)) << '\n';
  std::vector<std::string> reasons;
  for (const auto& rung : model.rungs) {
    const std::string line =
        fmt::format("  {:<22} {:>10} {:>10} {:>9} {:>8}  {}", rung_words(rung.rung), time_or_none(rung.before),
                    time_or_none(rung.after), change_text(rung.comparison), noise_text(rung.comparison),
                    verdict_text(rung.comparison));
    out << (rung.rung == model.headline ? strong(line, options) : line) << '\n';
    const std::string& reason = rung.comparison.reason;
    if (!reason.empty() && std::find(reasons.begin(), reasons.end(), reason) == reasons.end())
      reasons.push_back(reason);
  }
  for (const auto& reason : reasons) out << paragraph(clipped(reason, 200), width_of(options), 4);
}

void kernel_lines(std::ostream& out, const KernelChanges& changes, const TableOptions& options) {
  constexpr std::size_t most = 4, width = 66;
  const auto lines = [&](char sign, const std::vector<KernelLaunch>& kernels) {
    const std::size_t shown = options.all ? kernels.size() : std::min(kernels.size(), most);
    for (std::size_t i = 0; i < shown; ++i)
      out << fmt::format("{:<8} {} {}\n{:<8}   {}\n", "", sign, clipped(kernels[i].name, options.all ? 300 : width), "",
                         launch_text(kernels[i]));
    if (shown < kernels.size()) out << fmt::format("{:<8} {} {} more: --all\n", "", sign, kernels.size() - shown);
  };
  lines('-', changes.gone);
  lines('+', changes.added);
}

}  // namespace

void write_table(std::ostream& out, const DbList& report, const TableOptions& options) {
  std::vector<std::size_t> order(report.runs.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return report.runs[a].machine.id() < report.runs[b].machine.id();
  });
  std::string machine;
  for (const std::size_t i : order) {
    const Run& run = report.runs[i];
    if (const std::string id = run.machine.id(); id != machine) {
      machine = id;
      out << (options.color ? "\033[1m" : "") << clipped(id, 300) << (options.color ? "\033[0m" : "") << '\n';
      out << fmt::format("  {:<20} {:<24} {:>6} {:>7} {:>8} {:>8}\n", "started", "suite", "timed", "refused",
                         "ceilings", "warnings");
    }
    out << fmt::format("  {:<20} {:<24} {:>6} {:>7} {:>8} {:>8}\n", clipped(run.started, 20), clipped(run.name, 24),
                       report.timed[i], report.refused[i], run.ceilings.size(), run.warnings.size());
    out << paragraph(file_name(run.file) + ": " + clipped(versions_text(run.backends), 120), width_of(options), 4);
    if (report.disagreeing[i] > 0)
      out << fmt::format("    {} of which no two methods of timing agree\n", plural(report.disagreeing[i], "row"));
    if (options.all)
      for (const auto& warning : run.warnings) out << "    " << clipped(warning, 300) << '\n';
  }
  std::size_t rows = 0;
  for (std::size_t i = 0; i < report.runs.size(); ++i) rows += report.timed[i] + report.refused[i];
  out << fmt::format("{}, {} rows\n", plural(report.runs.size(), "run"), rows);
  for (const auto& line : report.unread) out << "not read: " << clipped(line, 300) << '\n';
}

void write_table(std::ostream& out, const DbVerification& report, const TableOptions& options) {
  const std::size_t shown = shown_of(report.findings.size(), options);
  for (std::size_t i = 0; i < shown; ++i)
    out << clipped(report.findings[i].file + ": " + report.findings[i].what, 500) << '\n';
  out << more(shown, report.findings.size());
  conflicts_table(out, report.conflicts, options);
  out << fmt::format("{}, {} rows: {}; runs disagree on {}\n", plural(report.files, "file"), report.rows,
                     report.findings.empty() ? "nothing wrong" : plural(report.findings.size(), "thing") + " wrong",
                     report.conflicts.size());
  std::string ignored;
  if (report.ignored_elements > 0) ignored = plural(report.ignored_elements, "aggregate");
  if (report.ignored_files > 0)
    ignored += (ignored.empty() ? "" : ", ") + plural(report.ignored_files, "file") + " of another kind";
  if (!ignored.empty()) out << "ignored: " << ignored << '\n';
}

void write_table(std::ostream& out, const DbMerge& report, const TableOptions& options) {
  for (const auto& entry : report.merge.added)
    out << fmt::format("added    {} as {}\n", entry.source, file_name(entry.target));
  for (const auto& entry : report.merge.known)
    out << fmt::format("known    {} is {}\n", entry.source, file_name(entry.target));
  for (const auto& line : report.merge.refused) out << "refused  " << clipped(line, 500) << '\n';
  conflicts_table(out, report.conflicts, options);
  out << fmt::format("{}: {} added, {} known, {} refused\n", report.folder, plural(report.merge.added.size(), "run"),
                     report.merge.known.size(), report.merge.refused.size());
}

void write_table(std::ostream& out, const DbDiff& report, const TableOptions& options) {
  side_line(out, "before", report.before, options);
  side_line(out, "after", report.after, options);
  if (!report.diff.models.empty())
    out << fmt::format("\n{:<24} {:>10} {:>10} {:>9} {:>8}  {}\n", "model and rung", "before", "after", "change",
                       "noise", "verdict");
  for (const auto& model : report.diff.models) rung_lines(out, model, options);

  if (const std::string why = doubt_of(report.diff.models); !why.empty())
    out << paragraph("~ provisional: " + why, width_of(options), 2);

  out << '\n' << verdicts_text(report) << '\n';
  std::size_t with_kernels = 0, with_others = 0;
  for (const auto& layer : report.diff.layers) {
    with_kernels += layer.kernels ? 1 : 0;
    with_others += layer.kernels && layer.kernels->any() ? 1 : 0;
  }
  const std::vector<const LayerChange*> worth = worth_showing(report, options.all);
  if (with_kernels > 0)
    out << fmt::format("kernels: {} of {} launch others\n", with_others, plural(with_kernels, "layer"));
  const std::size_t shown = shown_of(worth.size(), options);
  if (shown == 0) return;
  const std::size_t width = options.all ? 300 : static_cast<std::size_t>(std::max(options.width, 80)) - 52;
  out << fmt::format("{:<8} {:>9} {:>8} {:>10} {:>10}  {}\n", "verdict", "change", "noise", "before", "after", "layer");
  for (std::size_t i = 0; i < shown; ++i) {
    const LayerChange& layer = *worth[i];
    out << fmt::format("{:<8} {:>9} {:>8} {:>10} {:>10}  {}\n", verdict_text(layer.comparison),
                       change_text(layer.comparison), noise_text(layer.comparison), time_or_none(layer.before),
                       time_or_none(layer.after), clipped(layer_text(layer, options.all), width));
    if (!layer.comparison.reason.empty()) out << fmt::format("{:<8} {}\n", "", clipped(layer.comparison.reason, 200));
    if (layer.before && layer.after && layer.before->algorithm != layer.after->algorithm)
      out << fmt::format("{:<8} {} {} -> {} {}\n", "", layer.before->backend, clipped(layer.before->algorithm, 60),
                         layer.after->backend, clipped(layer.after->algorithm, 60));
    if (layer.kernels) kernel_lines(out, *layer.kernels, options);
  }
  out << more(shown, worth.size());
}

}  // namespace benanza
