// SPDX-License-Identifier: Apache-2.0
// is_memory_bound: whether the bytes determine the cost of an operator that no kind describes.
#pragma once

#include <benanza/op/ops.hpp>
#include <benanza/operators/lookup.hpp>

#include <algorithm>
#include <concepts>
#include <string_view>
#include <variant>

namespace benanza {

namespace detail {

template <class Op, class... Kinds>
inline constexpr bool is_kind_of = (std::same_as<Op, Kinds> || ...);

/// Kinds that do a few operations per element, whatever their parameters are: they have no products, windows, samples,
/// transforms or trees.
template <class Op>
inline constexpr bool does_little =
    !(Op::family == Family::convolution || Op::family == Family::product ||
      is_kind_of<Op, op::Fourier, op::GridSample, op::Pool, op::PoolGradient, op::RoiAlign, op::TreeEnsemble>);

/// Whether a kind that does little work per element lists the type.
template <class... Ops>
[[nodiscard]] constexpr bool is_elementwise_at_most(std::string_view onnx_type, const std::variant<Ops...>*) {
  const auto lists = [&]<class Op>(const Op*) {
    return does_little<Op> &&
           std::find(Op::onnx_types.begin(), Op::onnx_types.end(), onnx_type) != Op::onnx_types.end();
  };
  return (lists(static_cast<const Ops*>(nullptr)) || ...);
}

}  // namespace detail

/// Whether the bytes of an operator determine its cost, even if no kind describes it: it moves elements, or does a few
/// operations on each. The arithmetic of other operators is unknown, and their bytes are only a part of the cost.
/// `onnx_type` includes the domain, except ai.onnx.
[[nodiscard]] inline bool is_memory_bound(std::string_view onnx_type) {
  return facts_of(onnx_type).is(Trait::few_operations) ||
         detail::is_elementwise_at_most(onnx_type, static_cast<const Layer*>(nullptr));
}

}  // namespace benanza
