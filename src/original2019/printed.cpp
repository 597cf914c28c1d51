// SPDX-License-Identifier: Apache-2.0
// Times of layers from the tables that the original printed. Rows are assigned to layers by name. A convolution has a
// row for each of its two calls. A layer with several outputs (Dropout) was printed once for each, and counts once.
#include "layer_time.hpp"
#include <benanza/error.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <initializer_list>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

namespace benanza::original2019 {

namespace {

using Rows = std::vector<const PrintedRow*>;

/// The table's rows of the model at its batch size. Throws InputError if there are none.
Rows rows_of(const Graph& graph, const Results& results) {
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

bool same_row(const PrintedRow& a, const PrintedRow& b) {
  return a.kind == b.kind && a.benchmark == b.benchmark && a.time == b.time;
}

std::string count_text(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.0f", value);
  return text;
}

/// The theoretical FLOPs that the original printed for a layer: per element of the result, 1 for a sum of two and for
/// Dropout, 2 for a product, a quotient or a batch normalisation, 3 for an activation or a softmax, the size of the
/// window for pooling, and two per multiply-add for products (one more for the bias of a Gemm) and convolutions, whose
/// kernels it counted with the gaps of their dilation. Empty for other operators.
std::optional<double> printed_flops(const Node& node, const Graph& graph) {
  const std::string& op = node.op_type;
  const auto is_one_of = [&](std::initializer_list<std::string_view> types) {
    return std::find(types.begin(), types.end(), op) != types.end();
  };
  const double elements = static_cast<double>(graph.output(node, 0).elements());
  const auto window = [&](const std::vector<std::int64_t>& sizes) {
    const auto dilations = node.attribute<std::vector<std::int64_t>>("dilations", {});
    double cells = 1;
    for (std::size_t i = 0; i < sizes.size(); ++i)
      cells *= static_cast<double>((sizes[i] - 1) * (i < dilations.size() ? dilations[i] : 1) + 1);
    return cells;
  };
  if (op == "Conv") {
    const auto& w = graph.input(node, 1).dims;
    if (w.size() < 3) return std::nullopt;
    return 2 * elements * static_cast<double>(w[1]) * window({w.begin() + 2, w.end()});
  }
  if (is_one_of({"MaxPool", "AveragePool"}))
    return elements * window(node.attribute<std::vector<std::int64_t>>("kernel_shape", {}));
  if (is_one_of({"Gemm", "MatMul"})) {
    const auto call = gemm_call(node, graph);
    return call ? std::optional(elements * static_cast<double>(2 * call->k + 1)) : std::nullopt;
  }
  if (is_one_of({"Add", "Sub", "Sum"})) return elements * static_cast<double>(node.inputs.size() - 1);
  if (op == "Dropout") return elements;
  if (is_one_of({"Mul", "Div", "BatchNormalization"})) return 2 * elements;
  if (is_one_of({"Relu", "LeakyRelu", "PRelu", "Softmax"})) return 3 * elements;
  return std::nullopt;
}

/// Why the row is of a layer of other sizes: its theoretical FLOPs are not those of the node. Behind a Reshape to a
/// fixed batch, rows of larger batches are of batch 1. Empty if the FLOPs are the same, or if the row has none.
std::string other_sizes(const Node& node, const Graph& graph, const PrintedRow& row) {
  const auto expected = printed_flops(node, graph);
  constexpr double tolerance = 1e-3;
  const auto is = [&](double flops) { return std::abs(row.flops - flops) <= tolerance * flops; };
  if (row.flops <= 0 || !expected || is(*expected)) return {};
  const auto batch = static_cast<double>(graph.batch);
  if (is(*expected / batch)) return "its row was measured at batch 1, the layer is of batch " + count_text(batch);
  if (const auto call = node.op_type == "Gemm" || node.op_type == "MatMul" ? gemm_call(node, graph) : std::nullopt) {
    const double depth = (row.flops / static_cast<double>(graph.output(node, 0).elements()) - 1) / 2;
    return "its row was measured with k = " + count_text(depth) + ", the layer has k = " + std::to_string(call->k);
  }
  return "its row was measured with " + count_text(row.flops) + " FLOPs, the layer has " + count_text(*expected);
}

/// Whether the original ignored the convolution's padding: it read only `pads`, and the ONNX zoo's files of these
/// models have `auto_pad` instead. Rows do not give the padding with which they were measured. The model therefore
/// decides, however the given graph specifies its padding.
bool is_padding_unseen(const Node& node, const Graph& graph) {
  constexpr std::array<std::string_view, 3> models{"Emotion-FerPlus", "MNIST", "Tiny_YOLO-v2"};
  const bool known = std::find(models.begin(), models.end(), graph.name) != models.end();
  return node.op_type == "Conv" && (known || asks_for_same_padding(node)) && has_same_padding(node, graph);
}

LayerTime time_of(const Node& node, const Graph& graph, const Rows& rows, std::vector<std::string>& twice) {
  LayerTime time{.backend = node.op_type == "Gemm" || node.op_type == "MatMul" ? "cublas" : "cudnn"};
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
  if (const std::string why = other_sizes(node, graph, *counted.front()); !why.empty()) {
    time.reason = why;
    time.defects.insert("measured with other sizes");
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

std::vector<LayerTime> printed_times(const Graph& graph, const Results& results, std::vector<std::string>& warnings) {
  const auto rows = by_node(graph, rows_of(graph, results), warnings);
  std::vector<LayerTime> times;
  std::vector<std::string> twice;
  for (const auto& node : graph.nodes) times.push_back(time_of(node, graph, rows.at(node.name), twice));
  if (!twice.empty()) {
    std::string text = "printed more than once, counted once:";
    for (const auto& name : twice) text += " " + name;
    warnings.push_back(text);
  }
  return times;
}

}  // namespace benanza::original2019
