// SPDX-License-Identifier: Apache-2.0
// The hash of a layer.
#pragma once

#include <benanza/base/detail/field_text.hpp>
#include <benanza/impl/inline.hpp>
#include <benanza/model/detail/ask.hpp>
#include <benanza/model/detail/layer_pool.hpp>
#include <benanza/model/epilogue.hpp>
#include <benanza/model/expression.hpp>
#include <benanza/op/ops.hpp>

#include <cstddef>
#include <functional>
#include <optional>
#include <string_view>
#include <type_traits>
#include <vector>

namespace benanza::detail {

/// The hash of the fields of an operator.
class FieldHash {
 public:
  template <class Field>
  void operator()(std::string_view, const Field& field) {
    add(field);
  }
  [[nodiscard]] std::size_t value() const { return value_; }

 private:
  template <class Field>
  requires(std::is_integral_v<Field> || std::is_enum_v<Field>) void add(Field field) {
    constexpr std::size_t multiplier = 0x9E3779B97F4A7C15U;  // 2^64 / golden ratio
    value_ = (value_ ^ static_cast<std::size_t>(field)) * multiplier;
    value_ ^= value_ >> 32U;
  }
  void add(double field) { add(std::hash<double>{}(field)); }
  void add(const InlineText& text) { add(std::hash<std::string_view>{}(text.view())); }
  template <std::size_t N>
  void add(const InlineInts<N>& list) {
    for (const auto each : list) add(each);
    add(list.size());
  }
  template <class Field>
  void add(const std::optional<Field>& field) {
    add(field.has_value());
    if (field) add(*field);
  }
  void add(const Epilogue& post) {
    for (const PostOp& each : post) {
      add(each.fn);
      add(each.alpha);
      add(each.beta);
      add(each.shape);
    }
  }
  void add(const ExpressionInput& input) {
    add(input.type);
    add(input.shape);
  }
  void add(const ExpressionStep& step) {
    add(step.kind);
    add(step.fn);
    add(step.reduce);
    add(step.to);
    for (const auto operand : step.of) add(operand);
    add(step.alpha);
    add(step.beta);
  }
  template <class Field>
  void add(const std::vector<Field>& list) {
    for (const Field& each : list) add(each);
  }
  std::size_t value_ = 0;
};

BENANZA_INLINE std::size_t LayerPool::hash_of(const Layer& layer) {
  return ask<std::size_t>(layer, [&](const auto& op) {
    FieldHash hash;
    hash("", layer.index());
    std::decay_t<decltype(op)>::fields(op, hash);
    return hash.value();
  });
}

}  // namespace benanza::detail
