// SPDX-License-Identifier: Apache-2.0
// Constants of two numbers, one within a diagonal band and one outside of it: causal masks, triangles. They are too
// large to be kept.
#pragma once

#include <benanza/model/graph.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace benanza::importer {

/// The band around the first element of a tensor that is one matrix, by its bytes in the file. Nothing if all elements
/// are equal, or if there are more than two different ones.
[[nodiscard]] std::optional<Band> find_band(DataType type, std::span<const std::int64_t> dims, std::string_view raw);

/// The bands of a constant whose numbers are known.
[[nodiscard]] std::optional<BandedNumbers> banded_literal(const Value& value);

/// The numbers of a constant that a node of ai.onnx computes from constants, as far as they are two. `y` has its type
/// and dimensions.
[[nodiscard]] std::optional<BandedNumbers> banded_result(const Node& node, std::span<const Value* const> inputs,
                                                         const Value& y);

}  // namespace benanza::importer
