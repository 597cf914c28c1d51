// SPDX-License-Identifier: Apache-2.0
// Activations written out in parts (SiLU, GELU in its erf and tanh forms, hard-swish, mish ...). Exporters order the
// steps in many ways, so a closed group of element-wise nodes with one operand is recognised by its values: it is
// evaluated at a few points and compared with the functions that have a name.
#pragma once

#include <benanza/fusion/pattern.hpp>

#include <array>
#include <cmath>
#include <map>
#include <optional>

namespace benanza::detail {

/// The result of one step of an activation that is written out. Nothing for other functions.
[[nodiscard]] inline std::optional<double> step_value(ElementwiseFn fn, double alpha, double beta, double x, double y) {
  using enum ElementwiseFn;
  switch (fn) {
    case add: return x + y;
    case sub: return x - y;
    case mul: return x * y;
    case div: return x / y;
    case pow: return std::pow(x, y);
    case max: return std::fmax(x, y);
    case min: return std::fmin(x, y);
    case clip: return std::fmin(std::fmax(x, alpha), beta);
    case erf: return std::erf(x);
    case exp: return std::exp(x);
    case hard_sigmoid: return std::fmin(std::fmax(alpha * x + beta, 0), 1);
    case log: return std::log(x);
    case neg: return -x;
    case reciprocal: return 1 / x;
    case relu: return std::fmax(x, 0);
    case sigmoid: return 1 / (1 + std::exp(-x));
    case softplus: return std::log1p(std::exp(x));
    case square: return x * x;
    case tanh: return std::tanh(x);
    default: return std::nullopt;
  }
}

struct NamedFunction {
  ElementwiseFn fn;
  double alpha;
  double (*value)(double);
};
inline constexpr std::array<NamedFunction, 5> named_functions{{
    {ElementwiseFn::swish, 1.0, [](double x) { return x / (1 + std::exp(-x)); }},
    {ElementwiseFn::gelu, 0.0, [](double x) { return 0.5 * x * (1 + std::erf(x * 0.70710678118654752)); }},
    {ElementwiseFn::gelu_tanh, 0.0,
     [](double x) { return 0.5 * x * (1 + std::tanh(0.79788456080286536 * (x + 0.044715 * x * x * x))); }},
    {ElementwiseFn::hard_swish, 0.0, [](double x) { return x * std::fmin(std::fmax(x / 6 + 0.5, 0), 1); }},
    {ElementwiseFn::mish, 0.0, [](double x) { return x * std::tanh(std::log1p(std::exp(x))); }},
}};

/// A group of element-wise layers that grows backwards from its result until one operand is left.
class ClosedExpression {
 public:
  ClosedExpression(const LayerGraph& graph, std::size_t result) : graph_(&graph) { add(result); }

  /// Adds the layer that computes the youngest operand. False if that layer is not element-wise or has other dimensions
  /// than the result.
  bool grow() {
    std::optional<std::size_t> youngest;
    for (auto leaf : leaves_)
      if (const auto producer = only_producer(*graph_, leaf)) youngest = std::max(youngest.value_or(0), *producer);
    return youngest && add(*youngest);
  }
  /// The only operand that is not a scalar constant. Nothing while more than one is left.
  [[nodiscard]] std::optional<TensorId> operand() const {
    return leaves_.size() == 1 ? std::optional(leaves_[0]) : std::nullopt;
  }
  [[nodiscard]] std::vector<std::size_t> members() const { return {members_.rbegin(), members_.rend()}; }
  [[nodiscard]] std::size_t size() const { return members_.size(); }

  /// The function that has the same values as the group at some points. Null if there is none.
  [[nodiscard]] const NamedFunction* named() const {
    std::array<bool, named_functions.size()> differs{};
    for (const double x : {-5.5, -2.6, -1.1, -0.3, 0.2, 0.9, 1.7, 2.8, 6.5}) {
      const auto value = at(x);
      if (!value) return nullptr;
      for (std::size_t f = 0; f < named_functions.size(); ++f)  // constants are rounded to f32 or f16
        if (!(std::fabs(*value - named_functions[f].value(x)) <= 2e-5 * (1 + std::fabs(x)))) differs[f] = true;
      if (std::find(differs.begin(), differs.end(), false) == differs.end()) return nullptr;
    }
    return &named_functions[static_cast<std::size_t>(std::find(differs.begin(), differs.end(), false) -
                                                     differs.begin())];
  }

 private:
  /// The value of the group at one point.
  [[nodiscard]] std::optional<double> at(double x) const {
    std::map<TensorId, double> known{{*operand(), x}};
    for (auto member : members()) {
      const Occurrence& layer = graph_->layers[member];
      std::array<double, 2> in{};
      for (std::size_t i = 0; i < layer.inputs.size() && i < 2; ++i) {
        if (!layer.inputs[i]) continue;
        const auto found = known.find(*layer.inputs[i]);
        const auto& scalar = graph_->tensors[*layer.inputs[i]].scalar;
        if (found == known.end() && !scalar) continue;  // Clip's bounds as inputs: they are the layer's alpha and beta
        in[i] = found != known.end() ? found->second : *scalar;
      }
      std::optional<double> value;
      if (const auto* unary = std::get_if<op::Unary>(&*layer.layer))
        value = step_value(unary->fn, unary->alpha, unary->beta, in[0], 0);
      if (const auto* binary = std::get_if<op::Binary>(&*layer.layer))
        value = step_value(binary->fn, 0, 0, in[0], binary->same ? in[0] : in[1]);
      if (!value) return std::nullopt;
      known[layer.outputs[0]] = *value;
    }
    return known.at(graph_->layers[members_[0]].outputs[0]);
  }

  bool add(std::size_t layer) {
    const Occurrence& at = graph_->layers[layer];
    const bool plain =
        (std::holds_alternative<op::Unary>(*at.layer) || std::holds_alternative<op::Binary>(*at.layer)) &&
        epilogue(at.layer)->empty() && at.members.size() == 1 && !is_8_bit(type(at.layer));
    if (!plain || at.outputs.size() != 1 || members_.size() >= 16) return false;
    if (!members_.empty() &&
        graph_->tensors[at.outputs[0]].dims != graph_->tensors[graph_->layers[members_[0]].outputs[0]].dims)
      return false;
    if (std::find(members_.begin(), members_.end(), layer) != members_.end()) return false;
    members_.push_back(layer);
    std::sort(members_.rbegin(), members_.rend());
    std::erase(leaves_, at.outputs[0]);
    for (const auto& input : at.inputs) {
      if (!input || graph_->tensors[*input].scalar) continue;
      const auto producer = only_producer(*graph_, input);
      const bool inside = producer && std::find(members_.begin(), members_.end(), *producer) != members_.end();
      if (!inside && std::find(leaves_.begin(), leaves_.end(), *input) == leaves_.end()) leaves_.push_back(*input);
    }
    return true;
  }

  const LayerGraph* graph_;
  std::vector<std::size_t> members_{};  // youngest first
  std::vector<TensorId> leaves_{};      // operands that are not scalar constants
};

[[nodiscard]] inline std::optional<Match> match_activation(const LayerGraph& graph, std::size_t at) {
  if (!std::holds_alternative<op::Binary>(*graph.layers[at].layer))
    return std::nullopt;  // they all end in a product (or a quotient)
  ClosedExpression expression(graph, at);
  for (int steps = 0; steps < 12; ++steps) {
    const auto operand = expression.operand();
    if (operand && expression.size() >= 2 &&
        graph.tensors[*operand].dims == graph.tensors[graph.layers[at].outputs[0]].dims) {
      if (const NamedFunction* named = expression.named()) {
        Match match{.members = expression.members()};
        match.pieces = {{0, match.members.size(),
                         op::Unary{.type = type(graph.layers[at].layer),
                                   .fn = named->fn,
                                   .x = {element_count(graph.tensors[*operand].dims)},
                                   .alpha = named->alpha}}};
        return match;
      }
    }
    if (!expression.grow()) return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace benanza::detail
