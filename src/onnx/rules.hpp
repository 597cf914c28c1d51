// SPDX-License-Identifier: Apache-2.0
// Benanza's own shape rules. They are for the operators of com.microsoft, which the ONNX library does not have, and for
// those of ONNX for which it has no rule, one that checks less or takes longer (Gemm, MatMul), or none that binds a
// frozen batch (Reshape, Expand: rebatch.hpp).
#pragma once

#include <benanza/model/graph.hpp>
#include <benanza/operators/facts.hpp>

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace benanza::importer {

struct TypedShape {
  DataType type = DataType::f32;
  std::vector<std::int64_t> dims{};  ///< negative if a dimension is not known
  bool sequence = false;             ///< a sequence of tensors of this type and unknown sizes
};

/// A node and its inputs (nullptr if an optional one is left out).
struct RuleArguments {
  const Node& node;
  std::span<const Value* const> inputs;
  std::int64_t channel_block = 1;                  ///< channels in blocks are padded to a multiple of it
  std::map<std::string_view, DataType> tensors{};  ///< element types of the attributes that are tensors
  std::function<std::vector<std::int64_t>(std::size_t)> declared{};  ///< dimensions of an output; empty if incomplete

  [[nodiscard]] bool has(std::size_t i) const { return i < inputs.size() && inputs[i] != nullptr; }
  /// Input `i`; throws InputError if it is left out.
  [[nodiscard]] const Value& in(std::size_t i) const {
    if (!has(i)) throw InputError("input " + std::to_string(i) + " is missing");
    return *inputs[i];
  }
};

/// One entry per output, empty if the rule cannot determine it.
using RuleResult = std::vector<std::optional<TypedShape>>;
using Rule = RuleResult (*)(const RuleArguments&);

/// The function of a rule; nullptr for that of the ONNX library.
[[nodiscard]] Rule function_of(ShapeRule rule);

/// Shape of a product of two stacks of matrices (ONNX MatMul); throws InputError if the inner sizes differ.
[[nodiscard]] std::vector<std::int64_t> product_shape(std::vector<std::int64_t> a, std::vector<std::int64_t> b,
                                                      bool transpose_a = false, bool transpose_b = false);

/// NumPy's broadcasting of any rank; throws an InputError that shows both shapes.
[[nodiscard]] std::vector<std::int64_t> broadcast_shapes(std::span<const std::int64_t> a,
                                                         std::span<const std::int64_t> b);

/// `[1, 3, 224, 224]`
[[nodiscard]] std::string shape_text(std::span<const std::int64_t> dims);

}  // namespace benanza::importer
