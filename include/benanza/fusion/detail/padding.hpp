// SPDX-License-Identifier: Apache-2.0
// Zeros around a convolution's input that a separate Pad adds.
#pragma once

#include <benanza/fusion/detail/normalization.hpp>

namespace benanza::detail {

/// The convolution of `pad`'s input that does the padding itself. Nothing if their dimensions do not correspond one by
/// one.
[[nodiscard]] inline std::optional<op::Conv> padded_conv(const op::Conv& conv, const op::Pad& pad,
                                                         const std::vector<std::int64_t>& x,
                                                         const std::vector<std::int64_t>& padded_x) {
  const std::size_t rank = conv.x.size(), spatial = rank - 2;
  const bool one_dimension = x.size() == 3 && rank == 4 && conv.x[2] == 1;  // stored with height 1
  if (x.size() != padded_x.size() || (x.size() != rank && !one_dimension)) return std::nullopt;
  const auto axis_of = [&](std::size_t i) { return one_dimension && i == 2 ? rank - 1 : i; };
  for (std::size_t i = 0; i < x.size(); ++i)
    if (conv.x[axis_of(i)] != padded_x[i]) return std::nullopt;
  op::Conv result = conv;
  if (result.pads.empty()) result.pads = TensorShape::filled(2 * spatial, 0);
  std::size_t next = 0;  // pad's axes: those that it pads, and between them the folded others
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (x[i] == padded_x[i]) continue;
    while (next < pad.x.size() && pad.begins[next] == 0 && pad.ends[next] == 0) ++next;
    if (next == pad.x.size() || pad.x[next] != x[i] || pad.begins[next] < 0 || pad.ends[next] < 0 || i < 2)
      return std::nullopt;
    const std::size_t axis = axis_of(i);
    result.x[axis] = x[i];
    result.pads[axis - 2] += pad.begins[next];
    result.pads[axis - 2 + spatial] += pad.ends[next];
    ++next;
  }
  return result;
}

/// `at` is a convolution in floats whose input is padded with zeros, and nothing else reads that input.
[[nodiscard]] inline std::optional<Match> match_padding(const LayerGraph& graph, std::size_t at) {
  const Occurrence& conv_at = graph.layers[at];
  const auto* conv = std::get_if<op::Conv>(&*conv_at.layer);
  if (conv == nullptr || !is_float(conv->type) || conv_at.inputs.empty()) return std::nullopt;
  const auto pad_at = only_producer(graph, conv_at.inputs[0]);
  if (!pad_at || only_consumer(graph, *conv_at.inputs[0]) != at) return std::nullopt;
  const Occurrence& padding = graph.layers[*pad_at];
  const auto* pad = plain<op::Pad>(&padding);
  if (pad == nullptr || pad->mode != op::PadMode::constant || pad->nonzero || !padding.inputs[0]) return std::nullopt;
  for (std::size_t i = 1; i < padding.inputs.size(); ++i)  // how many cells, and the value
    if (padding.inputs[i] && !graph.tensors[*padding.inputs[i]].constant) return std::nullopt;
  const auto whole =
      padded_conv(*conv, *pad, graph.tensors[*padding.inputs[0]].dims, graph.tensors[*conv_at.inputs[0]].dims);
  if (!whole) return std::nullopt;
  return Match{.members = {*pad_at, at}, .pieces = {{0, 2, *whole}}};
}

}  // namespace benanza::detail
