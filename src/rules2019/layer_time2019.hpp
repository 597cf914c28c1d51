// SPDX-License-Identifier: Apache-2.0
// What one node takes by the rules of 2019.
#pragma once

#include <benanza/bounds/analysis.hpp>
#include <benanza/model/graph.hpp>
#include <benanza/op/ops.hpp>
#include <benanza/results/results2019.hpp>

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace benanza::rules2019 {

struct LayerTime2019 {
  Status status = Status::missing;
  std::string reason{};     ///< why it is missing
  std::string backend{};    ///< cudnn, cublas
  std::string algorithm{};  ///< algorithms of its calls, joined by `+`
  Seconds time{};
  std::optional<Seconds> advised{};  ///< by the algorithm that cuDNN advises; nothing: the database does not say
  std::set<std::string> defects{};   ///< data defects that affect this node
};

[[nodiscard]] bool is_free_2019(const Node& node, const Layer& layer);

/// From the calls of a database. Node by node, nothing fused.
[[nodiscard]] LayerTime2019 layer_time_2019(const Node& node, const Graph& graph, const Results2019& results);

/// Time of a convolution with constant bias as one call with the activation that follows (an ONNX operator type, or
/// empty for none); nothing where no such call was timed.
[[nodiscard]] std::optional<LayerTime2019> fused_time_2019(const Node& node, const Graph& graph,
                                                           const Results2019& results, const std::string& activation);

/// From the rows of a printed table; one for each node of the graph, in order.
[[nodiscard]] std::vector<LayerTime2019> printed_times_2019(const Graph& graph, const Results2019& results,
                                                            std::vector<std::string>& warnings);

/// Whether the node says SAME by `auto_pad`.
[[nodiscard]] bool asks_for_same_padding(const Node& node);
/// Whether the node has the padding, and any, that SAME stands for, in whatever spelling.
[[nodiscard]] bool has_same_padding(const Node& node, const Graph& graph);
/// Sizes of a matrix product; nothing for one of other ranks than two.
[[nodiscard]] std::optional<GemmCall2019> gemm_call_2019(const Node& node, const Graph& graph);

}  // namespace benanza::rules2019
