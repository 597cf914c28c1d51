// SPDX-License-Identifier: Apache-2.0
// The shape rules by family: each file rules_FAMILY.cpp has one table. This header has what the tables share.
#pragma once

#include "fold.hpp"
#include "rules.hpp"
#include <benanza/error.hpp>

#include <string>
#include <utility>

namespace benanza::importer {

struct RuleEntry {
  ShapeRule rule;
  Rule function;
};
using RuleTable = std::span<const RuleEntry>;

[[nodiscard]] RuleTable attention_rules();
[[nodiscard]] RuleTable elementwise_rules();
[[nodiscard]] RuleTable ml_rules();
[[nodiscard]] RuleTable movement_rules();
[[nodiscard]] RuleTable product_rules();
[[nodiscard]] RuleTable recurrent_rules();
[[nodiscard]] RuleTable signal_rules();
[[nodiscard]] RuleTable training_rules();
[[nodiscard]] RuleTable window_rules();

[[nodiscard]] RuleTable old_rules();

using Ints = std::vector<std::int64_t>;

/// A dimension that a rule cannot determine.
inline constexpr std::int64_t unknown_dim = -1;

/// Output 0 has the type and shape of input `which`.
template <std::size_t which>
RuleResult like(const RuleArguments& a) {
  return {TypedShape{a.in(which).type, a.in(which).dims}};
}

/// Output 0 has the type of the first input and the shape that two inputs broadcast to.
template <std::size_t first, std::size_t second>
RuleResult broadcast_of(const RuleArguments& a) {
  return {TypedShape{a.in(first).type, broadcast_shapes(a.in(first).dims, a.in(second).dims)}};
}

/// Input `i` if it is a known list of integers.
[[nodiscard]] inline std::optional<Ints> known_ints(const RuleArguments& a, std::size_t i) {
  if (!a.has(i) || !a.in(i).literal || is_float(a.in(i).type)) return std::nullopt;
  return a.in(i).literal->ints;
}

/// Input `i` if it is a known integer: a scalar or the only element of a vector.
[[nodiscard]] inline std::optional<std::int64_t> known_int(const RuleArguments& a, std::size_t i) {
  const auto list = known_ints(a, i);
  return list && list->size() == 1 ? std::optional(list->front()) : std::nullopt;
}

/// The type that an attribute names by its number in onnx.proto; `otherwise` if it is left out.
[[nodiscard]] inline DataType type_attribute(const RuleArguments& a, std::string_view key, DataType otherwise) {
  if (!a.node.attributes.contains(key)) return otherwise;
  const auto number = a.node.attribute<std::int64_t>(key, 0);
  const auto type = number > 0 && number < 64 ? data_type_from_onnx(static_cast<int>(number)) : std::nullopt;
  if (!type)
    throw InputError("attribute '" + std::string(key) + "' holds " + std::to_string(number) + ", no element type");
  return *type;
}

/// The dimensions of input `i`. Throws InputError if it has another rank.
inline const Ints& of_rank(const RuleArguments& a, std::size_t i, std::size_t rank) {
  const Ints& dims = a.in(i).dims;
  if (dims.size() != rank)
    throw InputError("input " + std::to_string(i) + " of shape " + shape_text(dims) + ", expected rank " +
                     std::to_string(rank));
  return dims;
}

/// A window that slides over the spatial dimensions, and one that covers them (rules_window.cpp).
[[nodiscard]] RuleResult window_pool(const RuleArguments& a);
[[nodiscard]] RuleResult global_pool(const RuleArguments& a);

/// `dims` without the axes that a reduction takes, or with 1 in their place.
[[nodiscard]] Ints reduced_dims(const RuleArguments& a, const Ints& dims);

}  // namespace benanza::importer
