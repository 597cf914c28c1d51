// SPDX-License-Identifier: Apache-2.0
// Report of `benanza study`.
#pragma once

#include <benanza/report/report.hpp>
#include <benanza/study/study.hpp>

#include <iosfwd>

namespace benanza {

void write_table(std::ostream& out, const Study& study, const TableOptions& options = {});
void write_json(std::ostream& out, const Study& study);
/// One line per row of the study; geometric means are in the JSON.
void write_csv(std::ostream& out, const Study& study);
/// One self-contained page with the plots.
void write_html(std::ostream& out, const Study& study);

}  // namespace benanza
