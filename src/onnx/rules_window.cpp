// SPDX-License-Identifier: Apache-2.0
// Shape rules of pooling, of transposed convolutions, and of convolutions that engines write: fused, quantised,
// channels last, or channels in blocks. com.microsoft:
// https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md
#include "rule_tables.hpp"

#include <algorithm>

namespace benanza::importer {
namespace {

/// Output size of a window along one axis (ONNX AveragePool, Conv). With ceil_mode, a window that would start in the
/// padding at the end is left out (AveragePool 22: "Sliding windows that would start in the right padded region are
/// ignored"). ONNX Runtime applies this to all versions.
std::int64_t windowed(std::int64_t size, std::int64_t window, std::int64_t stride, std::int64_t dilation,
                      std::int64_t pad_begin, std::int64_t pad_end, const std::string& auto_pad, bool ceil) {
  if (stride <= 0 || dilation <= 0 || window <= 0) throw InputError("a window, stride or dilation below 1");
  if (auto_pad.starts_with("SAME")) return (size + stride - 1) / stride;
  if (auto_pad == "VALID") pad_begin = pad_end = 0;
  const std::int64_t span = size + pad_begin + pad_end - (window - 1) * dilation - 1;
  if (span < 0)
    throw InputError("a window of " + std::to_string(window) + " over " + std::to_string(size) + " elements and " +
                     std::to_string(pad_begin + pad_end) + " of padding");
  const std::int64_t positions = span / stride + 1;
  return ceil && span % stride != 0 && positions * stride < size + pad_begin ? positions + 1 : positions;
}

/// An attribute with a number for each axis, in a range in which sums and products do not overflow.
Ints axis_values(const RuleArguments& a, std::string_view key, std::size_t count, std::int64_t otherwise) {
  Ints result = a.node.attribute<Ints>(key, Ints(count, otherwise));
  if (result.size() != count)
    throw InputError("attribute '" + std::string(key) + "' has " + std::to_string(result.size()) +
                     " values, expected " + std::to_string(count));
  for (const auto v : result)
    if (v < 0 || v > std::int64_t{1} << 31)
      throw InputError("attribute '" + std::string(key) + "' holds " + std::to_string(v));
  return result;
}

/// `last`: channels are the last dimension, not the second.
Ints window_dims(const RuleArguments& a, const Ints& x, const Ints& weights, bool last) {
  const std::size_t rank = weights.size();
  if (x.size() != rank + 2)
    throw InputError("an input of rank " + std::to_string(x.size()) + ", expected " + std::to_string(rank + 2));
  Ints kernel = weights;
  if (a.node.attributes.contains("kernel_shape")) kernel = axis_values(a, "kernel_shape", rank, 1);
  const Ints strides = axis_values(a, "strides", rank, 1), dilations = axis_values(a, "dilations", rank, 1),
             pads = axis_values(a, "pads", 2 * rank, 0);
  Ints dims = x;
  for (std::size_t i = 0; i < rank; ++i)
    dims[i + (last ? 1 : 2)] = windowed(x[i + (last ? 1 : 2)], kernel[i], strides[i], dilations[i], pads[i],
                                        pads[i + rank], a.node.attribute<std::string>("auto_pad", "NOTSET"),
                                        a.node.attribute<std::int64_t>("ceil_mode", 0) != 0);
  return dims;
}

bool channels_last(const RuleArguments& a) {
  return a.node.attribute<std::int64_t>("channels_last", 0) != 0 || a.node.op_type.starts_with("Nhwc") ||
         a.node.domain == "com.ms.internal.nhwc";
}

}  // namespace

// The second output of a MaxPool has the places of the maxima.
RuleResult window_pool(const RuleArguments& a) {
  const Ints dims = window_dims(a, a.in(0).dims, a.node.attribute<Ints>("kernel_shape", {}), channels_last(a));
  return {TypedShape{a.in(0).type, dims}, TypedShape{DataType::i64, dims}};
}

RuleResult global_pool(const RuleArguments& a) {
  Ints dims = a.in(0).dims;
  const bool last = channels_last(a);
  for (std::size_t i = last ? 1 : 2; i + (last ? 1 : 0) < dims.size(); ++i) dims[i] = 1;
  return {TypedShape{a.in(0).type, dims}};
}

namespace {

// Weights are M x C/group x k..., whatever the layout of x. Inputs of quantised ones: x, x_scale, x_zero_point, w, ...
template <std::size_t weights>
RuleResult convolution(const RuleArguments& a) {
  const bool last = channels_last(a);
  const Ints& w = a.in(weights).dims;
  if (w.size() < 3) throw InputError("weights of rank " + std::to_string(w.size()) + ", expected 3 or more");
  Ints dims = window_dims(a, a.in(0).dims, Ints(w.begin() + 2, w.end()), last);
  dims[last ? dims.size() - 1 : 1] = w[0];
  return {TypedShape{weights == 3 && a.has(7) ? a.in(7).type : a.in(0).type, dims}};
}

/// Output of a transposed convolution of x and w, [C, M/group, k...], along each axis without pads (ONNX
/// ConvTranspose).
Ints unpadded_transpose(const RuleArguments& a) {
  const Ints &x = a.in(0).dims, &w = a.in(1).dims;
  if (w.size() < 3 || x.size() != w.size())
    throw InputError("an input of shape " + shape_text(x) + " and weights of shape " + shape_text(w));
  const std::size_t rank = w.size() - 2;
  const Ints strides = axis_values(a, "strides", rank, 1), dilations = axis_values(a, "dilations", rank, 1),
             more = axis_values(a, "output_padding", rank, 0);
  Ints dims = x;
  dims[1] = w[1] * a.node.attribute<std::int64_t>("group", 1);
  for (std::size_t i = 0; i < rank; ++i)
    dims[i + 2] = strides[i] * (x[i + 2] - 1) + more[i] + (w[i + 2] - 1) * dilations[i] + 1;
  return dims;
}

// X, W, Pads; the shape is not known unless Pads is a constant
RuleResult transpose_of_given_pads(const RuleArguments& a) {
  Ints dims = unpadded_transpose(a);
  const std::size_t rank = dims.size() - 2;
  const auto pads = a.has(2) ? known_ints(a, 2) : Ints(2 * rank, 0);
  for (std::size_t i = 0; i < rank; ++i)
    dims[i + 2] = !pads || pads->size() != 2 * rank ? unknown_dim : dims[i + 2] - (*pads)[i] - (*pads)[i + rank];
  return {TypedShape{a.in(0).type, dims}};
}

// SAME crops the result to stride times the size of x, also if output_padding makes it larger, but adds nothing.
RuleResult transposed_convolution(const RuleArguments& a) {
  Ints dims = unpadded_transpose(a);
  const Ints& x = a.in(0).dims;
  const std::size_t rank = dims.size() - 2;
  const std::string auto_pad = a.node.attribute<std::string>("auto_pad", "NOTSET");
  const Ints strides = axis_values(a, "strides", rank, 1), pads = axis_values(a, "pads", 2 * rank, 0),
             given = a.node.attribute<Ints>("output_shape", {});
  if (!given.empty() && given.size() != rank && given.size() != rank + 2)
    throw InputError("output_shape " + shape_text(given) + " for " + std::to_string(rank) + " axes");
  for (std::size_t i = 0; i < rank; ++i) {
    std::int64_t& size = dims[i + 2];
    if (!given.empty()) size = given[given.size() - rank + i];
    else if (auto_pad.starts_with("SAME")) size = std::min(size, x[i + 2] * strides[i]);
    else if (auto_pad != "VALID") size -= pads[i] + pads[i + rank];
  }
  return {TypedShape{a.in(0).type, dims}};
}

// input [batch, channels, tokens], weight [channels, 1, k]; the state is the part of the input that the next call
// needs.
RuleResult convolution_with_state(const RuleArguments& a) {
  const Ints& x = of_rank(a, 0, 3);
  const Ints& w = of_rank(a, 1, 3);
  Ints state{x[0], w[0], (w[2] - 1) * a.node.attribute<std::int64_t>("dilation", 1)};
  if (a.has(3)) state = a.in(3).dims;
  return {TypedShape{a.in(0).type, x}, TypedShape{a.in(0).type, state}};
}

// com.microsoft.nchwc: the number of channels in a block is that of numbers in a register of the machine. Sizes of
// weights and of values include the padding of the channels.
RuleResult reorder_input(const RuleArguments& a) {
  const bool last = a.node.attribute<std::int64_t>("channels_last", 0) != 0;
  Ints dims = of_rank(a, 0, 4);
  if (last) dims = {dims[0], dims[3], dims[1], dims[2]};
  dims[1] = (dims[1] + a.channel_block - 1) / a.channel_block * a.channel_block;
  return {TypedShape{a.in(0).type, dims}};
}

RuleResult reorder_output(const RuleArguments& a) {
  Ints dims = of_rank(a, 0, 4);
  dims[1] = a.node.attribute<std::int64_t>("channels", dims[1]);
  if (a.node.attribute<std::int64_t>("channels_last", 0) != 0) dims = {dims[0], dims[2], dims[3], dims[1]};
  return {TypedShape{a.in(0).type, dims}};
}

RuleResult upsample(const RuleArguments& a) {
  Ints dims = a.in(0).dims;
  const Ints scales = axis_values(a, "scales", dims.size(), 1);
  for (std::size_t i = 0; i < dims.size(); ++i) dims[i] = checked_product(dims[i], scales[i]);
  return {TypedShape{a.in(0).type, dims}};
}

constexpr RuleEntry window_table[] = {
    {ShapeRule::window_pool, window_pool},
    {ShapeRule::global_pool, global_pool},
    {ShapeRule::transposed_convolution, transposed_convolution},
    {ShapeRule::convolution_with_state, convolution_with_state},
    {ShapeRule::transpose_of_given_pads, transpose_of_given_pads},
    {ShapeRule::convolution, convolution<1>},
    {ShapeRule::quantized_convolution, convolution<3>},
    {ShapeRule::reorder_input, reorder_input},
    {ShapeRule::reorder_output, reorder_output},
    {ShapeRule::upsample, upsample},
};

}  // namespace

RuleTable window_rules() { return window_table; }

}  // namespace benanza::importer
