// SPDX-License-Identifier: Apache-2.0
// Program: a graph, the model's or a body's, as steps over tensors. A tensor is freed after its last reader.
#pragma once

#include "node_step.hpp"
#include <benanza/onnx/stored_tensors.hpp>

#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace benanza::execution {

/// The numbers of a file's constants. The file is opened when the first is read.
class Weights {
 public:
  explicit Weights(std::string file) : file_(std::move(file)) {}
  [[nodiscard]] Tensor read(const Value& value);

 private:
  std::string file_;
  std::optional<StoredTensors> stored_{};
};

/// Tensors by value; empty if not available.
using TensorStore = std::vector<std::optional<Tensor>>;

class Program {
 public:
  /// Reads constants, and computes what depends on constants only. Stores the numbers of short ones in the graph, which
  /// must outlive the program. Throws like Executor::load.
  Program(Graph& graph, Weights& weights, Resources& resources);
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  /// Prepares everything that does not depend on data.
  void prepare(Resources& resources);
  /// `inputs` in the graph's order; `captured`: values of the enclosing graph, by their ids in this one. Returns the
  /// outputs in the graph's order, empty for one that is not computed.
  [[nodiscard]] NodeTensors run(const NodeTensors& inputs, const std::map<ValueId, Tensor>& captured,
                                Resources& resources);

  /// Tensors that are the same in every run, by value.
  [[nodiscard]] const TensorStore& constants() const { return constants_; }
  /// The nodes that a run computes, in order.
  [[nodiscard]] std::vector<const Node*> nodes() const;
  /// The step of one of them, prepared, to be run by itself. Null for control flow.
  [[nodiscard]] NodeStep* step_of(const Node& node);

 private:
  struct Step {
    const Node* node = nullptr;
    std::optional<NodeStep> layer{};  ///< empty for control flow
    std::vector<std::unique_ptr<Program>> bodies{};
    std::vector<ValueId> done{};  ///< values that are not read afterwards
  };

  void compute_constants(Resources& resources);
  void note_last_readers();
  [[nodiscard]] NodeTensors inputs_of(const Node& node, const TensorStore& store) const;
  [[nodiscard]] NodeTensors run_step(Step& step, const TensorStore& store, Resources& resources);

  // control_flow.cpp
  [[nodiscard]] NodeTensors run_if(Step& step, const TensorStore& store, Resources& resources);
  [[nodiscard]] NodeTensors run_loop(Step& step, const TensorStore& store, Resources& resources);
  [[nodiscard]] NodeTensors run_scan(Step& step, const TensorStore& store, Resources& resources);
  [[nodiscard]] NodeTensors run_body(Step& step, std::size_t body, const NodeTensors& inputs, const TensorStore& store,
                                     Resources& resources);

  Graph& graph_;
  TensorStore constants_{};
  std::vector<Step> steps_{};
  bool is_prepared_ = false;
};

}  // namespace benanza::execution
