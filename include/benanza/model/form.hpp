// SPDX-License-Identifier: Apache-2.0
// Form: the two ways to divide a model into layers.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace benanza {

/// single: a layer is an ONNX node; fused: a layer is a group of nodes that one library call can compute.
enum class Form : std::uint8_t { single, fused };
[[nodiscard]] constexpr std::array<std::string_view, 2> enum_names(Form) { return {"single", "fused"}; }

}  // namespace benanza
