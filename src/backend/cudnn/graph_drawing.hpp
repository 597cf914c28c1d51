// SPDX-License-Identifier: Apache-2.0
// Layers as graphs of cudnn-frontend. Its headers are included only here.
#pragma once

#include "candidates.hpp"
#include "plan/tolerance.hpp"
#include <benanza/model/quantization.hpp>

#define NV_CUDNN_FRONTEND_USE_DYNAMIC_LOADING
#define CUDNN_FRONTEND_SKIP_JSON_LIB
#include <cudnn_frontend.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace benanza::cudnn {

namespace fe = cudnn_frontend;

/// Empty for a type that its graphs lack.
[[nodiscard]] std::optional<fe::DataType_t> graph_type(DataType type);

/// The input of a drawing: a layer's type and operands, and the numbers that it computes with.
struct Subject {
  DataType type = DataType::f32;
  Operands operands{};
  Parameters parameters{};
  std::int32_t capability = 0;  ///< the device's compute capability, 90 is 9.0; 0 means the local device

  Subject(const Layer& layer, const Parameters& of_node, std::int32_t of_device)
      : type(benanza::type(layer)), operands(benanza::operands(layer)), parameters(of_node), capability(of_device) {}
  /// f32 that must not be rounded before it is multiplied.
  [[nodiscard]] bool strict() const { return type == DataType::f32; }
  [[nodiscard]] bool is_integer() const { return type == DataType::i8; }
  [[nodiscard]] double tolerance() const { return benanza::tolerance(type); }
  /// Whether cuDNN's graphs support all of its types.
  [[nodiscard]] bool is_known() const {
    const auto known = [](const Operand& o) { return graph_type(o.type).has_value(); };
    return type != DataType::i32 && std::all_of(operands.inputs.begin(), operands.inputs.end(), known) &&
           std::all_of(operands.outputs.begin(), operands.outputs.end(), known);
  }
};

/// The number of a graph's first output; the other outputs follow. Input `i` has the number i + 1.
inline constexpr std::int64_t first_output = 1000;

/// A graph that also exposes the notes of its engines: cudnn-frontend has no call for the numerical ones.
struct Graph : fe::graph::Graph {
  using fe::graph::Graph::plans;
};

/// A drawn graph and what its plans have in common.
struct Drawn {
  std::shared_ptr<Graph> graph{};
  std::size_t inputs = 0, outputs = 1;
  bool strict = true;
  double tolerance = 1e-4;
  Draft draft{};  ///< layouts; the rest is set for each plan
  std::string suffix{};

  Drawn(std::shared_ptr<Graph> drawn, const Subject& subject)
      : graph(std::move(drawn)),
        inputs(subject.operands.inputs.size()),
        outputs(subject.operands.outputs.size()),
        strict(subject.strict()),
        tolerance(subject.tolerance()) {}
};

// One overload for each operator that is drawn; empty if cuDNN's graphs lack a part of it. Only operands of
// convolutions, of their gradients and of the gradients of normalisations have an order.
[[nodiscard]] std::optional<Drawn> draw(const op::Conv& op, const Subject& subject, Order order);
[[nodiscard]] std::optional<Drawn> draw(const op::ConvGradient& op, const Subject& subject, Order order);
[[nodiscard]] std::optional<Drawn> draw(const op::NormGradient& op, const Subject& subject, Order order);
[[nodiscard]] std::optional<Drawn> draw(const op::MatMul& op, const Subject& subject, Order order);
[[nodiscard]] std::optional<Drawn> draw(const op::LayerNorm& op, const Subject& subject, Order order);
[[nodiscard]] std::optional<Drawn> draw(const op::Attention& op, const Subject& subject, Order order);
[[nodiscard]] std::optional<Drawn> draw(const op::Unary& op, const Subject& subject, Order order);
[[nodiscard]] std::optional<Drawn> draw(const op::Binary& op, const Subject& subject, Order order);

template <class Op>
concept Drawable = requires(const Op& op, const Subject& subject) {
  draw(op, subject, Order::nchw);
};

}  // namespace benanza::cudnn
