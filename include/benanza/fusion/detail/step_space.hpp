// SPDX-License-Identifier: Apache-2.0
// step_space: which layers of the single form can be steps of an expression, and how many elements their steps have.
#pragma once

#include <benanza/model/layer.hpp>
#include <benanza/op/elementwise_expression.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <variant>

namespace benanza::detail {

/// How many elements a layer's steps have, and how many of them a row has. Nothing if it is no part of expressions.
struct StepSpace {
  std::int64_t elements = 0;
  std::optional<std::int64_t> row{};  ///< only of layers with reductions
  std::size_t steps = 1;              ///< how many steps it is at most
};

/// The layer must have one result.
[[nodiscard]] inline std::optional<StepSpace> step_space(const Layer& layer) {
  const auto fits = [](DataType type) { return is_type_of_expressions(stored_type(type)); };
  if (!fits(type(layer))) return std::nullopt;
  if (const auto* unary = std::get_if<op::Unary>(&layer); unary != nullptr && unary->post.empty())
    return StepSpace{.elements = element_count(unary->x)};
  if (const auto* binary = std::get_if<op::Binary>(&layer);
      binary != nullptr && binary->post.empty() && !binary->scaled)
    return StepSpace{.elements = element_count(binary->y())};
  if (const auto* nary = std::get_if<op::Nary>(&layer); nary != nullptr && !nary->mean && nary->count <= 8)
    return StepSpace{.elements = element_count(nary->x), .steps = static_cast<std::size_t>(nary->count - 1)};
  if (const auto* where = std::get_if<op::Where>(&layer)) return StepSpace{.elements = element_count(where->output())};
  if (const auto* cast = std::get_if<op::Cast>(&layer); cast != nullptr && fits(cast->to))
    return StepSpace{.elements = element_count(cast->x)};
  if (!is_float(type(layer))) return std::nullopt;
  if (const auto* norm = std::get_if<op::BatchNorm>(&layer); norm != nullptr && norm->post.empty())
    return StepSpace{.elements = element_count(norm->x), .steps = 7};
  if (const auto* norm = std::get_if<op::GroupNorm>(&layer))
    return StepSpace{.elements = element_count(norm->x), .row = norm->x[1] / norm->groups * norm->x[2], .steps = 9};
  if (const auto* reduce = std::get_if<op::Reduce>(&layer)) {
    const bool is_inner =
        reduce->axes.size() == 1 && reduce->axes[0] + 1 == static_cast<std::int64_t>(reduce->x.size());
    if (!is_inner || reduce->fn == op::ReduceFn::arg_max || reduce->fn == op::ReduceFn::arg_min) return std::nullopt;
    return StepSpace{.elements = element_count(reduce->x), .row = reduce->x.back(), .steps = 6};
  }
  if (const auto* softmax = std::get_if<op::Softmax>(&layer); softmax != nullptr && softmax->x[2] == 1)
    return StepSpace{.elements = element_count(softmax->x), .row = softmax->x[1], .steps = 6};
  if (const auto* norm = std::get_if<op::LayerNorm>(&layer);
      norm != nullptr && norm->residual == op::Residual::none && !norm->x_bias)
    return StepSpace{.elements = element_count(norm->x), .row = norm->x[1], .steps = 9};
  return std::nullopt;
}

}  // namespace benanza::detail
