// SPDX-License-Identifier: Apache-2.0
// TrainingGraph: one iteration of training as a graph, and the TrainingOptions for it.
#pragma once

#include <benanza/model/graph.hpp>
#include <benanza/model/phase.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace benanza {

/// The rule that updates weights from their gradients.
enum class Optimizer : std::uint8_t { sgd, momentum, adam, adamw };
[[nodiscard]] constexpr std::array<std::string_view, 4> enum_names(Optimizer) {
  return {"sgd", "momentum", "adam", "adamw"};
}
/// Numbers that an optimizer keeps for each weight: none, the velocity, or both moments.
[[nodiscard]] constexpr int states_of(Optimizer optimizer) {
  return optimizer == Optimizer::sgd ? 0 : optimizer == Optimizer::momentum ? 1 : 2;
}

enum class TrainingLoss : std::uint8_t { cross_entropy, mse };
[[nodiscard]] constexpr std::array<std::string_view, 2> enum_names(TrainingLoss) { return {"cross-entropy", "mse"}; }

/// f32 throughout; or products, feature maps and gradients in 16 bits, while the optimizer keeps weights in f32.
enum class Precision : std::uint8_t { f32, mixed_bf16, mixed_f16 };
[[nodiscard]] constexpr std::array<std::string_view, 3> enum_names(Precision) { return {"f32", "mixed", "mixed:f16"}; }

struct TrainingOptions {
  Optimizer optimizer = Optimizer::sgd;
  Precision precision = Precision::f32;
  /// 0: everything that backward reads is kept. N: forward is cut after every N layers that are not views. Values that
  /// leave a part are kept. The others are computed again before the part's gradients, except in the last part.
  std::int64_t recompute_every = 0;
  /// For a model that does not compute a loss itself: applied to its first output. The classes of cross-entropy are
  /// axis 1 of scores with two dimensions and of images (four or more), and the last axis of scores with three
  /// (sequences).
  TrainingLoss loss = TrainingLoss::cross_entropy;
  /// Names of constants in the file that are not trained: they have no gradient, and do not change.
  std::vector<std::string> frozen{};
};

/// A tensor that training changes.
struct Parameter {
  std::string name{};
  ValueId value = 0, gradient = 0;
  std::size_t node = 0;  ///< the node that completes the gradient: index into the graph's nodes
  std::int64_t elements = 0;
  double bytes = 0;  ///< size of the parameter, and of its gradient
};

struct TrainingGraph {
  Graph graph{};                ///< forward, loss, backward, update, in the order in which they run
  std::vector<Phase> phases{};  ///< one for each node
  std::vector<std::optional<std::size_t>> sources{};   ///< per node: the node of forward to whose gradient it belongs
  std::vector<Parameter> parameters{};                 ///< in the order in which backward completes their gradients
  std::vector<ValueId> buffers{};                      ///< running statistics: they are kept, and have no gradient
  std::vector<ValueId> optimizer_state{};              ///< also the weights that mixed precision keeps in f32
  std::vector<std::pair<ValueId, Literal>> numbers{};  ///< numbers of short parameters; layers must not know them
  std::size_t kept_from = 0;                           ///< nodes of forward before this one are computed again
  ValueId loss = 0;
};

/// The graph for an executor: parameters are constants, with the numbers that they have before the iteration.
[[nodiscard]] inline Graph with_numbers(TrainingGraph iteration) {
  for (const Parameter& one : iteration.parameters) iteration.graph.values[one.value].constant = true;
  for (auto& [id, literal] : iteration.numbers) {
    iteration.graph.values[id].constant = true;
    iteration.graph.values[id].literal = std::move(literal);
  }
  return std::move(iteration.graph);
}

}  // namespace benanza
