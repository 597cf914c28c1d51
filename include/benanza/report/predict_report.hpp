// SPDX-License-Identifier: Apache-2.0
// The report of `predict`: the predicted times of models on devices that were not measured.
#pragma once

#include <benanza/predict/prediction.hpp>
#include <benanza/report/report.hpp>

#include <iosfwd>
#include <string>
#include <vector>

namespace benanza {

struct PredictReport {
  std::vector<std::string> warnings{};  ///< what makes the measured rows doubtful
  std::vector<PredictedModel> models{};
};

void write_table(std::ostream& out, const PredictReport& report, const TableOptions& options = {});
void write_json(std::ostream& out, const PredictReport& report);
/// One line for each layer of each model on each device.
void write_csv(std::ostream& out, const PredictReport& report);
/// One line for each model on each device.
void write_rungs_csv(std::ostream& out, const PredictReport& report);
/// A page with a bar for each device.
void write_html(std::ostream& out, const PredictReport& report);

}  // namespace benanza
