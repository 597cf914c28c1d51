// SPDX-License-Identifier: Apache-2.0
// Tensor: a small constant with its numbers, as used by shape arithmetic.
#pragma once

#include <benanza/model/data_type.hpp>
#include <benanza/model/graph.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace benanza::importer {

struct Tensor {
  DataType type = DataType::i64;
  std::vector<std::int64_t> dims{};
  Literal data{};  ///< `floats` if the type is a floating-point one, else `ints`

  [[nodiscard]] bool floating() const { return is_float(type); }
  [[nodiscard]] std::size_t size() const { return floating() ? data.floats.size() : data.ints.size(); }
};

/// Results above this many elements are not computed: they are data, not shapes.
inline constexpr std::int64_t folded_elements = 8192;

[[nodiscard]] constexpr std::size_t to_size(std::int64_t v) { return static_cast<std::size_t>(v); }

}  // namespace benanza::importer
