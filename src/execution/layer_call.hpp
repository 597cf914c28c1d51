// SPDX-License-Identifier: Apache-2.0
// LayerCall: a node's call with what runs it, a backend's plan or the reference. PlanChooser picks the plans; each
// layer's is built once.
#pragma once

#include "bind_node.hpp"
#include <benanza/execution/executor.hpp>
#include <benanza/plan/backend.hpp>

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace benanza::execution {

/// Layers whose plans compute the same as the reference for any operands that a model may have.
[[nodiscard]] bool takes_any_operands(const Layer& layer);

/// The number of samples of each output that are checked.
inline constexpr std::size_t checked_samples = 2000;

/// Where both are NaN, they agree: as 0.
void ignore_common_nans(std::vector<double>& expected, std::vector<double>& got);

/// Whether a sum or a mean is as exact as its terms. It cannot be more exact if the terms cancel, as in the gradient of
/// a bias in front of a batch normalisation, which is 0.
[[nodiscard]] bool is_as_exact_as_its_terms(const Layer& layer, const std::vector<Tensor>& operands,
                                            const std::vector<double>& expected, const std::vector<double>& got,
                                            double tolerance);

struct ChosenPlan {
  std::string name{};  ///< `onednn brgconv:avx2,threads=1`
  std::shared_ptr<const Plan> plan{};
};

class PlanChooser {
 public:
  using Choice = std::function<std::shared_ptr<const ChosenPlan>(const NodeCall&)>;

  /// `choice`, if set, picks the plans instead of the rule that `choose` describes.
  PlanChooser(std::vector<std::shared_ptr<const Backend>> backends, int threads, Choice choice = {})
      : backends_(std::move(backends)), threads_(threads), choice_(std::move(choice)) {}

  /// The first plan that the first backend offers with the node's numbers. Null if no backend has one; the reference
  /// then runs the layer.
  [[nodiscard]] std::shared_ptr<const ChosenPlan> choose(const NodeCall& node_call);

 private:
  std::vector<std::shared_ptr<const Backend>> backends_;
  int threads_;
  Choice choice_;
  using Known = std::vector<std::pair<Parameters, std::shared_ptr<const ChosenPlan>>>;
  std::map<std::string, Known> known_{};  ///< by signature
};

class LayerCall {
 public:
  /// `constants`: the inputs of the node that do not change between runs. Operands that are made of them alone are made
  /// now, and packed for the plan.
  LayerCall(const Node& node, NodeCall node_call, std::shared_ptr<const ChosenPlan> plan, const NodeTensors& constants);

  [[nodiscard]] const NodeCall& node_call() const { return node_call_; }
  /// Same as in NodeRun.
  [[nodiscard]] std::string plan_name() const;
  /// The layer's outputs that the node has, row-major, by their index in the layer.
  [[nodiscard]] std::map<std::size_t, Tensor> run(const NodeTensors& inputs) const;
  /// Compares outputs of a plan with the reference; does nothing if the reference has run the layer.
  void check(const NodeTensors& inputs, const std::map<std::size_t, Tensor>& outputs, Execution& execution) const;

 private:
  [[nodiscard]] bool is_wanted(std::size_t output) const;
  [[nodiscard]] Tensor operand(std::size_t i, const NodeTensors& inputs) const;
  [[nodiscard]] Tensor packed(std::size_t i, const Tensor& operand) const;
  [[nodiscard]] std::map<std::size_t, Tensor> run_plan(const NodeTensors& inputs) const;
  [[nodiscard]] std::map<std::size_t, Tensor> run_reference(const NodeTensors& inputs) const;

  const Node* node_;
  NodeCall node_call_;
  std::shared_ptr<const ChosenPlan> plan_;
  std::vector<std::optional<Tensor>> constants_{};  ///< operands, in the plan's layout if there is one
};

}  // namespace benanza::execution
