// SPDX-License-Identifier: Apache-2.0
// The report of `scale`: how much faster several workers train than one, and from which bandwidth.
#pragma once

#include <benanza/report/report.hpp>
#include <benanza/scale/make_scaling.hpp>

#include <iosfwd>
#include <string>
#include <vector>

namespace benanza {

struct ScaleReport {
  std::string times_of{};               ///< where the times of layers come from
  std::vector<std::string> warnings{};  ///< what makes these doubtful
  std::vector<Scaling> models{};
};

/// What the figures say, in sentences: the bandwidth from which more workers pay off, what waits for the network, what
/// would help most.
[[nodiscard]] std::vector<std::string> scale_answers(const Scaling& scaling);

void write_table(std::ostream& out, const ScaleReport& report, const TableOptions& options = {});
void write_json(std::ostream& out, const ScaleReport& report);
/// One line for each number of workers at each bandwidth.
void write_csv(std::ostream& out, const ScaleReport& report);
/// A page with the efficiency over the bandwidth.
void write_html(std::ostream& out, const ScaleReport& report);
/// The iteration of the most workers at each bandwidth in the trace-event format: computation, with the network below.
void write_trace(std::ostream& out, const ScaleReport& report);

}  // namespace benanza
