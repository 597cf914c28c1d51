// SPDX-License-Identifier: Apache-2.0
// Random tensors, computed with integer arithmetic so that another engine gets the same numbers for the same model:
// benchmarks/engines/compare.py implements the scheme in Python. With SplitMix64's function mix(z) and its constant g =
// 0x9e3779b97f4a7c15, element i of the tensor called `name` has the bits
//     mix(mix(seed + FNV-1a(name)) + g * (i + 1)).
// The sum of their four 16-bit parts, less its mean and scaled to a variance of 1, is a number that is close to
// normally distributed.
#pragma once

#include <benanza/execution/tensor.hpp>

#include <cstdint>
#include <string_view>

namespace benanza {

/// An input: floats are such numbers, integers are 0 or 1 (the lowest bit), booleans are all true.
[[nodiscard]] Tensor random_input(DataType type, const Tensor::Dims& dims, std::string_view name, std::uint64_t seed);

/// A weight that replaces a tensor filled with `value`. Floats are spread as in He initialisation; in tensors of fewer
/// than two dimensions they are spread around `value`. 8-bit integers are also spread around it; others keep it.
[[nodiscard]] Tensor random_weights(DataType type, const Tensor::Dims& dims, std::string_view name, std::uint64_t seed,
                                    double value);

}  // namespace benanza
