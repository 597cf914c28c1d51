// SPDX-License-Identifier: Apache-2.0
// The time of one node by the rules of 2019.
#pragma once

#include <benanza/bounds/analysis.hpp>
#include <benanza/model/graph.hpp>
#include <benanza/op/ops.hpp>
#include <benanza/original2019/results.hpp>

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace benanza::original2019 {

struct LayerTime {
  Status status = Status::missing;
  std::string reason{};     ///< why it is missing
  std::string backend{};    ///< cudnn, cublas
  std::string algorithm{};  ///< algorithms of its calls, joined by `+`
  Seconds time{};
  std::optional<Seconds> advised{};  ///< with the algorithm that cuDNN advises; empty if the database does not have it
  std::set<std::string> defects{};   ///< data defects that affect this node
};

[[nodiscard]] bool is_free(const Node& node, const Layer& layer);

/// The time of a node from the calls of a database. Each node is separate; nothing is fused.
[[nodiscard]] LayerTime layer_time(const Node& node, const Graph& graph, const Results& results);

/// Time of a convolution with constant bias as one call with the activation that follows (an ONNX operator type, or
/// empty for none); empty if no such call was timed.
[[nodiscard]] std::optional<LayerTime> fused_time(const Node& node, const Graph& graph, const Results& results,
                                                  const std::string& activation);

/// Times from the rows of a printed table, one for each node of the graph, in order.
[[nodiscard]] std::vector<LayerTime> printed_times(const Graph& graph, const Results& results,
                                                   std::vector<std::string>& warnings);

/// Whether the node has SAME in `auto_pad`.
[[nodiscard]] bool asks_for_same_padding(const Node& node);
/// Whether the node has padding, and it is the padding that SAME stands for, however it is written.
[[nodiscard]] bool has_same_padding(const Node& node, const Graph& graph);
/// Sizes of a matrix product. Empty if an operand does not have rank two.
[[nodiscard]] std::optional<GemmCall> gemm_call(const Node& node, const Graph& graph);

}  // namespace benanza::original2019
