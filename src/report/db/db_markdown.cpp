// SPDX-License-Identifier: Apache-2.0
// `benanza db diff` as tables in GitHub's Markdown:
//
//   ### resnet50
//
//   | rung | before | after | change | noise | verdict |
//   | --- | ---: | ---: | ---: | ---: | --- |
//   | **library fused resident** | **61.4 ms** | **65.3 ms** | **+6.4 %** | **0.9 %** | **slower** |
#include "db_words.hpp"
#include "format/markdown_table.hpp"
#include "report/table_parts.hpp"
#include <benanza/report/db_report.hpp>

#include <algorithm>
#include <cstddef>
#include <ostream>
#include <string>
#include <vector>

namespace benanza {

using namespace format;

namespace {

using namespace report;

void write_rungs(std::ostream& out, const ModelChange& model) {
  out << "### " << cell(model.model) << "\n\n";
  write_markdown_head(out, {"rung", ">before", ">after", ">change", ">noise", "verdict"});
  std::vector<std::string> reasons;
  for (const auto& rung : model.rungs) {
    write_markdown_row(
        out,
        {rung_words(rung.rung), time_or_none(rung.before), time_or_none(rung.after), change_text(rung.comparison),
         noise_text(rung.comparison), std::string(verdict_text(rung.comparison))},
        rung.rung == model.headline);
    const std::string& reason = rung.comparison.reason;
    if (!reason.empty() && std::find(reasons.begin(), reasons.end(), reason) == reasons.end())
      reasons.push_back(reason);
  }
  out << '\n';
  for (const auto& reason : reasons) out << "- " << cell(reason) << '\n';
}

}  // namespace

void write_markdown(std::ostream& out, const DbDiff& report, const TableOptions& options) {
  for (const auto& model : report.diff.models) write_rungs(out, model);
  if (const std::string why = doubt_of(report.diff.models); !why.empty())
    out << "- " << cell("~ provisional: " + why) << '\n';
  out << (report.diff.models.empty() ? "" : "\n") << cell(verdicts_text(report)) << "\n\n";
  const std::vector<const LayerChange*> worth = worth_showing(report, options.all);
  if (worth.empty()) return;
  write_markdown_head(out, {"verdict", ">change", ">noise", ">before", ">after", "layer", "reason"});
  const std::size_t shown = shown_rows(worth.size(), options);
  for (std::size_t i = 0; i < shown; ++i) {
    const LayerChange& layer = *worth[i];
    write_markdown_row(out, {std::string(verdict_text(layer.comparison)), change_text(layer.comparison),
                             noise_text(layer.comparison), time_or_none(layer.before), time_or_none(layer.after),
                             layer_text(layer, options.all), layer.comparison.reason});
  }
  write_markdown_more(out, shown, worth.size());
}

}  // namespace benanza
