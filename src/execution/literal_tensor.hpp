// SPDX-License-Identifier: Apache-2.0
// Conversions between tensors and the small constants of a graph.
#pragma once

#include <benanza/execution/tensor.hpp>
#include <benanza/model/graph.hpp>

namespace benanza::execution {

/// The numbers of a literal. Throws InputError if the number of elements differs.
[[nodiscard]] Tensor to_tensor(DataType type, const Tensor::Dims& dims, const Literal& literal);
/// The two numbers of a constant with a band. It has at least two axes.
[[nodiscard]] Tensor to_tensor(DataType type, const Tensor::Dims& dims, const BandedNumbers& numbers);
/// All numbers of a tensor; 64-bit integers are exact.
[[nodiscard]] Literal to_literal(const Tensor& tensor);

}  // namespace benanza::execution
