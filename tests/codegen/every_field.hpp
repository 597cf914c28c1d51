// SPDX-License-Identifier: Apache-2.0
// A set with one layer for each field of each operator, in which that field is not at its default, and one layer for
// each word of each enumeration. It is made from the operators' own list, so that a new operator or field is covered at
// once. The sizes are meaningless and are never run.
#pragma once

#include <benanza/codegen.hpp>

#include <concepts>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace every_field {

using namespace benanza;

inline std::vector<bool> others(bool value) { return {!value}; }
inline std::vector<std::int64_t> others(std::int64_t value) { return {value + 6, std::int64_t{1} << 40}; }
inline std::vector<double> others(double) {
  return {
      0.1, -2.5, 1e-30, 6, 1.0 / 3, std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
}
inline std::vector<InlineText> others(const InlineText&) { return {"text"}; }
template <std::size_t N>
std::vector<InlineInts<N>> others(const InlineInts<N>&) {
  return {{4096}, {0}, {1, 64}, {2, 3, 5, 7, 11, 13, 17, 19}};
}
template <class E>
requires std::is_enum_v<E> std::vector<E> others(E value) {
  std::size_t count = detail::data_type_facts.size();
  if constexpr (!std::same_as<E, DataType>) count = enum_names(E{}).size();
  std::vector<E> all;
  for (std::size_t i = 0; i < count; ++i)
    if (static_cast<E>(i) != value) all.push_back(static_cast<E>(i));
  return all;
}
template <class T>
std::vector<std::optional<T>> others(const std::optional<T>&) {
  return {T{}, others(T{}).front()};
}
inline std::vector<Epilogue> others(const Epilogue&) {
  using enum ElementwiseFn;
  return {{relu},
          {bias},
          {bias, relu},
          {{clip, 0, 6}},
          {{clip, -std::numeric_limits<double>::infinity(), 6}},
          {{leaky_relu, 0.01}},
          {{shrink, 0, 0.5}},
          {add},
          {{sub, TensorShape{}, true}},
          {{mul, TensorShape{64}}},
          {{mul, {1, 64}}},
          {{mul, {1, 64, 1, 1}}},
          {{div, {1, 64, 1, 1}, true}},
          {per_channel(mul)},
          {per_channel(sub, true)},
          {per_channel(mul), bias, add, relu, abs, log, exp, max}};
}

inline std::vector<std::vector<ExpressionInput>> others(const std::vector<ExpressionInput>&) {
  return {{{}}, {{.type = DataType::f16, .shape = {1, 64}}, {.type = DataType::boolean}}};
}
inline std::vector<std::vector<ExpressionStep>> others(const std::vector<ExpressionStep>&) {
  std::vector<std::vector<ExpressionStep>> all;
  for (const auto fn : others(ElementwiseFn::add)) all.push_back({{.fn = fn, .of = {0, 1}}});
  for (const auto reduce : others(op::ReduceFn::sum)) all.push_back({{.kind = StepKind::reduction, .reduce = reduce}});
  all.push_back({{.fn = ElementwiseFn::clip, .alpha = -1, .beta = 6}, {.fn = ElementwiseFn::add, .of = {1, 12}}});
  all.push_back(
      {{.kind = StepKind::choice, .of = {0, 1, 2}}, {.kind = StepKind::conversion, .to = DataType::f16, .of = {3}}});
  return all;
}

/// Layers of `Op` with one field changed.
template <class Op>
void add_operator(LayerSet& set) {
  set.add(Op{}, "every_field", std::string(Op::kind));
  for (std::size_t field = 0; field < detail::visited_fields<Op>(); ++field) {
    bool changed = true;
    for (std::size_t choice = 0; changed; ++choice) {
      Op op{};
      std::string name(Op::kind);
      std::size_t i = 0;
      changed = false;
      Op::fields(op, [&](std::string_view key, auto& value) {
        const auto choices = others(value);
        if (i++ != field || choice >= choices.size()) return;
        value = choices[choice];
        name += "." + std::string(key);
        changed = true;
      });
      if (changed) set.add(op, "every_field", name);
    }
  }
}

inline LayerSet layers() {
  LayerSet set;
  [&set]<std::size_t... I>(std::index_sequence<I...>) {
    (add_operator<std::variant_alternative_t<I, Layer>>(set), ...);
  }
  (std::make_index_sequence<std::variant_size_v<Layer>>{});
  return set;
}

inline SuiteSource source() {
  return {.name = "every_field", .command = "emit_every_field", .backends = {"onednn", "native"}, .layers = layers()};
}

}  // namespace every_field
