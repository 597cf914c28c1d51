// SPDX-License-Identifier: Apache-2.0
// Random operands, the same on every machine for the same seed. Zeros would let hardware skip work and denormal values
// slow it down, so neither occurs unless `Contents` asks for it.
#pragma once

#include <benanza/op/operator.hpp>

#include <cstdint>

namespace benanza {

/// Fills a whole row-major operand. `uniform` floats have magnitudes in [1/64, 1]; integers are non-zero and small
/// (8-bit ones at most 3 in magnitude, wider ones 8), so that sums of products stay in range. `positive` integers are 1
/// to 3, floats in [0.5, 1.5], those of 8 bits in [0.25, 4]; `even` integers are 2, 4 or 6 in magnitude. All but
/// indices are multiplied by 2^exponent. Apart from indices, the contents repeat after a prime number of elements
/// (about a million), which makes filling as fast as copying. Contents of two seeds have nothing in common.
void fill(const Operand& operand, void* data, std::uint64_t seed);

}  // namespace benanza
