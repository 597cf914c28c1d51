// SPDX-License-Identifier: Apache-2.0
#include "format/numbers.hpp"
#include "report/json.hpp"
#include <benanza/report/tensors_report.hpp>

#include <fmt/format.h>

#include <ostream>
#include <utility>

namespace benanza {

using namespace format;

namespace {

/// `1x3x224x224`; for a scalar, `scalar`.
std::string shape_of(const Value& tensor) {
  if (tensor.dims.empty()) return "scalar";
  std::string text;
  for (const auto size : tensor.dims) text += (text.empty() ? "" : "x") + std::to_string(size);
  return text;
}

std::string_view kind_of(const Value& tensor) {
  if (tensor.data_dependent) return "depends on data";
  return tensor.constant ? "constant" : "";
}

}  // namespace

TensorsReport::Model tensors_of(Graph&& graph) {
  TensorsReport::Model result{.model = std::move(graph.name),
                              .file = std::move(graph.file),
                              .dims = std::move(graph.dims),
                              .assumed = std::move(graph.assumed)};
  for (const auto id : graph.inputs) result.inputs.push_back(graph.values[id].name);
  result.outputs = std::move(graph.output_names);
  // An output that is a copy of another tensor is listed with its own name too.
  for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
    Value output = graph.values[graph.outputs[i]];
    if (output.name == result.outputs[i]) continue;
    output.name = result.outputs[i];
    graph.values.push_back(std::move(output));
  }
  result.tensors = std::move(graph.values);
  return result;
}

void write_table(std::ostream& out, const TensorsReport& report, const TableOptions& options) {
  const auto width = static_cast<std::size_t>(options.width > 80 ? options.width : 80);
  for (const auto& model : report.models) {
    out << format::clipped(model.model, width) << '\n';
    for (const auto& tensor : model.tensors)
      out << fmt::format("  {:<8} {:<24} {:<16} {}\n", name(tensor.type), shape_of(tensor), kind_of(tensor),
                         format::clipped(tensor.name, width - 54));
  }
}

void write_json(std::ostream& out, const TensorsReport& report) {
  Json models = Json::array();
  for (const auto& model : report.models) {
    Json tensors = Json::array();
    for (const auto& tensor : model.tensors)
      tensors.push_back({{"name", tensor.name},
                         {"type", name(tensor.type)},
                         {"shape", tensor.dims},
                         {"constant", tensor.constant},
                         {"depends_on_data", tensor.data_dependent}});
    models.push_back({{"model", model.model},
                      {"file", model.file},
                      {"dims", model.dims},
                      {"assumed", model.assumed},
                      {"inputs", model.inputs},
                      {"outputs", model.outputs},
                      {"tensors", tensors}});
  }
  format::write(out, {{"schema", 1}, {"models", models}});
}

void write_csv(std::ostream& out, const TensorsReport& report) {
  out << "model,tensor,type,shape,constant,depends_on_data\n";
  for (const auto& model : report.models)
    for (const auto& tensor : model.tensors)
      out << fmt::format("{},{},{},{},{},{}\n", format::csv_field(model.model), format::csv_field(tensor.name),
                         name(tensor.type), shape_of(tensor), tensor.constant ? 1 : 0, tensor.data_dependent ? 1 : 0);
}

}  // namespace benanza
