// SPDX-License-Identifier: Apache-2.0
// Constants of two numbers, one within a diagonal band and one outside of it: causal masks, triangles; and those of
// zeros outside of a band. They are too large to be kept.
#pragma once

#include <benanza/model/graph.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace benanza::importer {

struct FoundBand {
  Band band{};
  bool differ = false;  ///< the numbers within it; outside are zeros
};

/// A band that all matrices of a tensor have, by its bytes in the file: around the first element, where there are two
/// different ones; around those that are not 0. Nothing if all elements are equal, or if there is no other band.
[[nodiscard]] std::optional<FoundBand> find_band(DataType type, std::span<const std::int64_t> dims,
                                                 std::string_view raw);

/// The bands of a constant whose numbers are known.
[[nodiscard]] std::optional<BandedNumbers> banded_literal(const Value& value);

/// The numbers by column - row of a constant that a node of ai.onnx computes from constants, such as the distances of
/// places; null where they do not depend on that alone, or are few. `y` has its type and dimensions.
[[nodiscard]] std::shared_ptr<const std::vector<double>> diagonal_numbers(const Node& node,
                                                                          std::span<const Value* const> inputs,
                                                                          const Value& y);

/// The numbers of a constant that a node of ai.onnx computes from constants, as far as they are two. `y` has its type,
/// its dimensions and its numbers by column - row.
[[nodiscard]] std::optional<BandedNumbers> banded_result(const Node& node, std::span<const Value* const> inputs,
                                                         const Value& y);

}  // namespace benanza::importer
