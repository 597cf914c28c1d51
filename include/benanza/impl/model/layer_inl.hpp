// SPDX-License-Identifier: Apache-2.0
// What every operator answers: the functions that model/layer.hpp declares.
#pragma once

#include <benanza/impl/inline.hpp>
#include <benanza/model/cost.hpp>
#include <benanza/model/detail/ask.hpp>
#include <benanza/model/layer.hpp>
#include <benanza/op/ops.hpp>

#include <string_view>
#include <type_traits>

namespace benanza {

BENANZA_INLINE std::string_view kind(const Layer& layer) {
  return detail::ask<std::string_view>(layer, [](const auto& op) { return std::decay_t<decltype(op)>::kind; });
}
BENANZA_INLINE Family family(const Layer& layer) {
  return detail::ask<Family>(layer, [](const auto& op) { return std::decay_t<decltype(op)>::family; });
}
BENANZA_INLINE DataType type(const Layer& layer) {
  return detail::ask<DataType>(layer, [](const auto& op) { return op.type; });
}
BENANZA_INLINE Operands operands(const Layer& layer) {
  return detail::ask<Operands>(layer, [](const auto& op) { return op.operands(); });
}
BENANZA_INLINE Cost cost(const Layer& layer) {
  return detail::ask<Cost>(layer, [](const auto& op) { return cost(op.arithmetic(), op.operands()); });
}
BENANZA_INLINE bool is_consistent(const Layer& layer) {
  return detail::ask<bool>(layer, [](const auto& op) { return op.consistent(); });
}
BENANZA_INLINE bool is_movement(const Layer& layer) {
  return detail::ask<bool>(layer, [](const auto& op) {
    return requires { std::decay_t<decltype(op)>::transparent; };
  });
}
BENANZA_INLINE const Epilogue* epilogue(const Layer& layer) {
  return detail::ask<const Epilogue*>(layer, [](const auto& op) -> const Epilogue* {
    if constexpr (requires { op.post; }) return &op.post;
    else return nullptr;
  });
}

}  // namespace benanza
