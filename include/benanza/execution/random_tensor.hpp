// SPDX-License-Identifier: Apache-2.0
// Random tensors by a scheme of integer arithmetic, so that an engine that is given the same model gets the same
// numbers: benchmarks/engines/compare.py has it in Python. With SplitMix64's function mix(z) and its constant
// g = 0x9e3779b97f4a7c15, element i of the tensor called `name` has the bits
//     mix(mix(seed + FNV-1a(name)) + g * (i + 1)).
// Their four parts of 16 bits, less the mean of their sum and scaled to a variance of 1, are a number that is close to
// normally distributed.
#pragma once

#include <benanza/execution/tensor.hpp>

#include <cstdint>
#include <string_view>

namespace benanza {

/// An input: floats are such numbers, integers 0 or 1 (the lowest bit), booleans all true.
[[nodiscard]] Tensor random_input(DataType type, const Tensor::Dims& dims, std::string_view name, std::uint64_t seed);

/// A weight in the place of a tensor that is filled with `value`: floats are spread as He initialisation spreads them,
/// what has less than two dimensions around `value`. Integers of 8 bits are spread around it too; others keep it.
[[nodiscard]] Tensor random_weights(DataType type, const Tensor::Dims& dims, std::string_view name, std::uint64_t seed,
                                    double value);

}  // namespace benanza
