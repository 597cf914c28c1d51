// SPDX-License-Identifier: Apache-2.0
// Layers of a model whose sizes are not all bound: numbers that follow from an unbound size are shown with its symbol.
#pragma once

#include "models.hpp"
#include <benanza/report/report.hpp>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace benanza::tool {

/// A layer's text with another size for one symbol.
struct TextAt {
  std::string symbol{};
  std::int64_t from = 1, to = 1;  ///< the symbol's size in the base text and in this one
  std::string text{};
};

/// `base`, in which each number that differs in some of `others` is replaced by what it follows from:
/// `x=1x64x[height/8]x[width/8]`. If that is not a product of a number and symbols, `[f(height, width)]`.
[[nodiscard]] std::string symbolic_text(const std::string& base, const std::vector<TextAt>& others);

struct SymbolicModel {
  ModelLayers likely{};  ///< with the sizes that `UnboundError` proposes
  std::vector<std::string> open{};
  std::vector<SymbolicLayer> layers{};  ///< unique, in the file's order
};

/// Empty if there are no known sizes with which the model can be imported.
[[nodiscard]] std::optional<SymbolicModel> symbolic_model(const ModelAt& model, const UnboundError& error, bool fused);

}  // namespace benanza::tool
