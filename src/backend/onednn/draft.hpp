// SPDX-License-Identifier: Apache-2.0
// Draft: a plan that is not built yet: primitives in order, and the source of each argument.
#pragma once

#include "memory_layout.hpp"
#include <benanza/plan/backend.hpp>

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace benanza::onednn {

/// Memory that a primitive reads or writes, `offset` bytes after the start of an operand, of the workspace, or of
/// constants that the plan itself holds.
struct Slot {
  enum class Kind { input, output, workspace, held };
  Kind kind = Kind::input;
  std::size_t index = 0;
  std::size_t offset = 0;
};
[[nodiscard]] inline Slot input(std::size_t i, std::size_t offset = 0) { return {Slot::Kind::input, i, offset}; }
[[nodiscard]] inline Slot output(std::size_t i = 0, std::size_t offset = 0) { return {Slot::Kind::output, i, offset}; }

/// An argument of a primitive. If `plain` is set, it describes the operand's row-major memory in the primitive's
/// dimensions, and the plan takes or returns that operand in the primitive's own layout. `own` describes what a
/// primitive does not: scales and zero points.
struct Use {
  int argument = 0;
  Slot slot{};
  std::optional<Desc> plain{};
  std::optional<Desc> own{};
};

/// Changes the values of a constant before it is packed, from row-major to row-major; the name becomes part of the
/// layout's name.
struct Transform {
  std::string name{};
  std::function<std::vector<float>(const void*)> apply{};
};

/// The layout in which the plan takes or returns one operand.
struct OperandLayout {
  Desc plain{}, packed{};
  std::optional<Transform> transform{};
};

struct Step {
  dnnl::primitive_desc_base descriptor{};
  std::vector<Use> uses{};
};

struct Draft {
  std::string algorithm{};  ///< without layouts and threads
  std::vector<Step> steps{};
  std::vector<std::vector<std::byte>> held{};
  std::size_t workspace_bytes = 0;  ///< intermediate results; scratchpads are added to this
  bool saves_multiplications = false;
  double tolerance = 1e-4;
  std::optional<std::size_t> sums_into{};                         ///< the input that output 0 holds before a call
  std::vector<std::size_t> overwritable{};                        ///< as in Plan
  std::vector<std::optional<OperandLayout>> inputs{}, outputs{};  ///< layouts of the operands that are not row-major

  /// Appends a primitive and provides for its scratchpad.
  void step(const dnnl::primitive_desc_base& descriptor, std::vector<Use> uses);
  /// Reserves space for an intermediate result.
  [[nodiscard]] Slot reserve(std::size_t bytes);
  /// Stores constants of the plan's own.
  template <class Number>
  [[nodiscard]] Slot hold(const std::vector<Number>& values) {
    const auto bytes = std::as_bytes(std::span(values));
    held.emplace_back(bytes.begin(), bytes.end());
    return {Slot::Kind::held, held.size() - 1, 0};
  }
  /// Adds to input `i` in place, in the layout of output 0. Call it after the steps are added.
  void sum_into(std::size_t i);
  /// Takes input `i`, a constant, in transformed form. Call it after the steps that use the input.
  void transform(std::size_t i, const Desc& plain, const Desc& packed, Transform transform);
};

}  // namespace benanza::onednn
