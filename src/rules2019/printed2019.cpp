// SPDX-License-Identifier: Apache-2.0
// Times of layers from the tables that the original printed. Rows are assigned to layers by name. A convolution has a
// row for each of its two calls. A layer with several outputs (Dropout) was printed once for each, and counts once.
#include "layer_time2019.hpp"
#include <benanza/error.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <string_view>

namespace benanza::rules2019 {

namespace {

using Rows = std::vector<const PrintedRow2019*>;

/// The table's rows of the model at its batch size. Throws InputError if there are none.
Rows rows_of(const Graph& graph, const Results2019& results) {
  Rows rows;
  for (const auto& row : results.printed)
    if ((row.model.empty() || row.model == graph.name) && (row.batch == 0 || row.batch == graph.batch))
      rows.push_back(&row);
  if (rows.empty())
    throw InputError(results.files.front() + ": no rows of model '" + graph.name + "' at batch " +
                     std::to_string(graph.batch));
  return rows;
}

/// Rows by node. A truncated name (`resnetv17_conv...`) is assigned to the first matching node that has no rows yet.
std::map<std::string, Rows> by_node(const Graph& graph, const Rows& rows, std::vector<std::string>& warnings) {
  std::map<std::string, Rows> result;
  for (const auto& node : graph.nodes) result[node.name];
  std::string cut, cut_node;
  for (const auto* row : rows) {
    std::string name = row->layer;
    if (!result.contains(name) && name.ends_with("...")) {
      const std::string stem = name.substr(0, name.size() - 3);
      if (cut != name + row->kind || cut_node.empty() || row->kind != "Conv" ||
          row->benchmark.find("ADD_TENSOR") == std::string::npos) {
        cut_node.clear();
        for (const auto& node : graph.nodes)
          if (cut_node.empty() && node.name.starts_with(stem) && result[node.name].empty()) cut_node = node.name;
        cut = name + row->kind;
      }
      name = cut_node;
    }
    const auto at = result.find(name);
    if (at == result.end()) warnings.push_back("a row of '" + row->layer + "', which the model does not have");
    else at->second.push_back(row);
  }
  return result;
}

bool same_row(const PrintedRow2019& a, const PrintedRow2019& b) {
  return a.kind == b.kind && a.benchmark == b.benchmark && a.time == b.time;
}

std::string count_text(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.0f", value);
  return text;
}

/// Why the row is of a different product from the node: its theoretical FLOPs, two per multiply-add and one per
/// addition of the bias, imply another depth. Empty if the depth is the same.
std::string other_depth(const Node& node, const Graph& graph, const PrintedRow2019& row) {
  if (row.flops <= 0 || (node.op_type != "Gemm" && node.op_type != "MatMul")) return {};
  const auto call = gemm_call_2019(node, graph);
  if (!call) return {};
  const double outputs = static_cast<double>(call->m) * static_cast<double>(call->n);
  const double depth = (row.flops / outputs - 1) / 2;
  if (std::abs(depth - static_cast<double>(call->k)) < 0.6) return {};
  return "its row was measured with k = " + count_text(depth) + ", the layer has k = " + std::to_string(call->k);
}

/// Whether the original ignored the convolution's padding: it read only `pads`, and the ONNX zoo's files of these
/// models have `auto_pad` instead. Rows do not give the padding with which they were measured. The model therefore
/// decides, however the given graph specifies its padding.
bool is_padding_unseen(const Node& node, const Graph& graph) {
  constexpr std::array<std::string_view, 3> models{"Emotion-FerPlus", "MNIST", "Tiny_YOLO-v2"};
  const bool known = std::find(models.begin(), models.end(), graph.name) != models.end();
  return node.op_type == "Conv" && (known || asks_for_same_padding(node)) && has_same_padding(node, graph);
}

LayerTime2019 time_of(const Node& node, const Graph& graph, const Rows& rows, std::vector<std::string>& twice) {
  LayerTime2019 time{.backend = node.op_type == "Gemm" || node.op_type == "MatMul" ? "cublas" : "cudnn"};
  if (rows.empty()) {
    time.reason = "the table has no row of it";
    return time;
  }
  const bool biased = node.op_type == "Conv" && node.has_input(2);
  const std::size_t calls = biased ? 2 : 1;
  Rows counted{rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(std::min(calls, rows.size()))};
  if (counted.size() < calls) {
    time.reason = "its bias: the table has one row of it, expected forward and bias";
    return time;
  }
  for (std::size_t i = calls; i < rows.size(); ++i) {
    if (!same_row(*rows[i], *counted.back())) {
      time.reason =
          "the table has " + std::to_string(rows.size()) + " different rows of it, expected " + std::to_string(calls);
      return time;
    }
    twice.push_back(node.name);
  }
  if (const std::string why = other_depth(node, graph, *counted.front()); !why.empty()) {
    time.reason = why;
    time.defects.insert("measured with another depth");
    return time;
  }
  time.status = Status::measured;
  for (const auto* row : counted) {
    time.time += row->time;
    time.algorithm += (time.algorithm.empty() ? "" : "+") + (row->benchmark.empty() ? row->kind : row->benchmark);
  }
  if (is_padding_unseen(node, graph)) time.defects.insert("SAME padding ignored");
  return time;
}

}  // namespace

std::vector<LayerTime2019> printed_times_2019(const Graph& graph, const Results2019& results,
                                              std::vector<std::string>& warnings) {
  const auto rows = by_node(graph, rows_of(graph, results), warnings);
  std::vector<LayerTime2019> times;
  std::vector<std::string> twice;
  for (const auto& node : graph.nodes) times.push_back(time_of(node, graph, rows.at(node.name), twice));
  if (!twice.empty()) {
    std::string text = "printed more than once, counted once:";
    for (const auto& name : twice) text += " " + name;
    warnings.push_back(text);
  }
  return times;
}

}  // namespace benanza::rules2019
