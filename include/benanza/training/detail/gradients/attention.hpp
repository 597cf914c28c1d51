// SPDX-License-Identifier: Apache-2.0
// Gradient of rotary position embeddings.
#pragma once

#include <benanza/training/gradient_builder.hpp>

#include <cstddef>
#include <optional>
#include <vector>

namespace benanza::training {

/// Rotates back, with the negated sines. ONNX Runtime's operator has the sines after the positions.
inline void rotary_gradient(const Node& node, GradientBuilder& at) {
  at.give_input(node, 0, [&] {
    const std::size_t k = node.domain.empty() ? 2 : 3;
    const Value x = at.value(*node.inputs[0]), sines = at.value(*node.inputs.at(k));
    std::vector<std::optional<ValueId>> inputs = node.inputs;
    inputs[0] = *at.gradient(node);
    inputs[k] = at.emit({"Neg"}, {node.inputs[k]}, sines.type, sines.dims);
    return at.emit({"RotaryEmbedding", node.domain}, inputs, x.type, x.dims, node.attributes);
  });
}

}  // namespace benanza::training
