// SPDX-License-Identifier: Apache-2.0
// Constants with two numbers, one inside a diagonal band and one outside of it (causal masks, triangles), and constants
// that are zero outside a band. They are too large to be kept.
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
  bool differ = false;  ///< the numbers inside differ; those outside are zeros
};

/// A band that all matrices of a tensor share, determined from its bytes in the file. If there are two different
/// elements, it is the band around the first one; otherwise it is the band around the nonzero elements. Empty if all
/// elements are equal, or if there is no other band.
[[nodiscard]] std::optional<FoundBand> find_band(DataType type, std::span<const std::int64_t> dims,
                                                 std::string_view raw);

/// The bands of a constant whose numbers are known.
[[nodiscard]] std::optional<BandedNumbers> banded_literal(const Value& value);

/// The number of a constant whose elements are all equal: of a literal, or `number` if it has none. All elements of a
/// weight may be equal, too, so this is only for constants that become masks, and for those into which others are
/// scattered.
[[nodiscard]] std::optional<BandedNumbers> filled(const Value& value, std::optional<double> number = {});

/// The numbers by column - row of a constant that a node of ai.onnx computes from constants, such as the distances of
/// positions. Null if they do not depend on column - row alone, or are few. `y` has its type and dimensions.
[[nodiscard]] std::shared_ptr<const std::vector<double>> diagonal_numbers(const Node& node,
                                                                          std::span<const Value* const> inputs,
                                                                          const Value& y);

/// The numbers of a constant that a node of ai.onnx computes from constants, if there are two different ones. `y` has
/// its type, its dimensions and its numbers by column - row.
[[nodiscard]] std::optional<BandedNumbers> banded_result(const Node& node, std::span<const Value* const> inputs,
                                                         const Value& y);

}  // namespace benanza::importer
