// SPDX-License-Identifier: Apache-2.0
// Plans of f32 for layers of narrower types.
#pragma once

#include "context.hpp"

#include <optional>

namespace benanza::native {

/// The layer in f32, whose plans serve the layer once its operands are converted. Empty if it would mean something
/// else.
[[nodiscard]] std::optional<Layer> widened(const Layer& layer);
/// Converts the plans of `wide` to plans for `layer`.
[[nodiscard]] Plans widen(Plans plans, const Layer& layer, const Layer& wide, const Context& context);

}  // namespace benanza::native
