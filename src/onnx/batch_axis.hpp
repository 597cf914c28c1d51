// SPDX-License-Identifier: Apache-2.0
// Which axis of an input counts the items of a batch, as far as the nodes that read the input say so; and products that
// combine the items of a batch with each other.
#pragma once

#include <benanza/model/graph.hpp>

#include <onnx/onnx_pb.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace benanza::importer {

/// The axis of a graph's input that is the batch of a recurrent operator (LSTM, GRU, RNN), which reads the input itself
/// or what operators make of it that keep its axes apart. With `layout` 0, an input sequence is [length, batch, size].
/// Empty if no recurrent operator is reached.
[[nodiscard]] std::optional<std::size_t> recurrent_batch_axis(const onnx::GraphProto& graph, const std::string& input,
                                                              std::size_t rank);

/// How many multiplications a product of two tensors takes (MatMul, Gemm, Conv, Einsum); empty for other operators.
[[nodiscard]] std::optional<double> product_size(const Node& node, std::span<const std::int64_t> a,
                                                 std::span<const std::int64_t> b, std::span<const std::int64_t> y);

}  // namespace benanza::importer
