// SPDX-License-Identifier: Apache-2.0
// The report of `layers --tensors`: the tensors of models with their types and shapes.
#pragma once

#include <benanza/model/graph.hpp>
#include <benanza/report/report.hpp>

#include <iosfwd>
#include <string>
#include <vector>

namespace benanza {

struct TensorsReport {
  struct Model {
    std::string model{}, file{};
    std::map<std::string, std::int64_t> dims{}, assumed{};  ///< as in Graph
    std::vector<std::string> inputs{}, outputs{};
    std::vector<Value> tensors{};  ///< the graph's, in the file's order, without those in the bodies of its nodes
  };
  std::vector<Model> models{};
};

/// The tensors of a graph as imported: those that are folded or equal to an earlier tensor are not included.
[[nodiscard]] TensorsReport::Model tensors_of(Graph&& graph);

void write_table(std::ostream& out, const TensorsReport& report, const TableOptions& options = {});
void write_json(std::ostream& out, const TensorsReport& report);
void write_csv(std::ostream& out, const TensorsReport& report);

}  // namespace benanza
