// SPDX-License-Identifier: Apache-2.0
// com.microsoft: https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md
#include "rules.hpp"

#include "fold.hpp"
#include <benanza/error.hpp>

#include <algorithm>

namespace benanza::importer {

std::string shape_text(std::span<const std::int64_t> dims) {
  std::string text = "[";
  for (const auto dim : dims) text += (text.size() > 1 ? ", " : "") + std::to_string(dim);
  return text + "]";
}

std::vector<std::int64_t> broadcast_shapes(std::span<const std::int64_t> a, std::span<const std::int64_t> b) {
  std::vector<std::int64_t> dims(std::max(a.size(), b.size()), 1);
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const std::int64_t da = i < a.size() ? a[a.size() - 1 - i] : 1, db = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (da != db && da != 1 && db != 1)
      throw InputError("shapes " + shape_text(a) + " and " + shape_text(b) + " do not broadcast");
    dims[dims.size() - 1 - i] = da == 1 ? db : da;
  }
  return dims;
}

std::vector<std::int64_t> product_shape(std::vector<std::int64_t> a, std::vector<std::int64_t> b, bool transpose_a,
                                        bool transpose_b) {
  if (a.empty() || b.empty()) throw InputError("a matrix product of a scalar");
  const bool vector_a = a.size() == 1, vector_b = b.size() == 1;
  if (vector_a) a.insert(a.begin(), 1);
  if (vector_b) b.push_back(1);
  if (transpose_a) std::swap(a[a.size() - 1], a[a.size() - 2]);
  if (transpose_b) std::swap(b[b.size() - 1], b[b.size() - 2]);
  if (a.back() != b[b.size() - 2])
    throw InputError("a matrix product of " + shape_text(a) + " and " + shape_text(b) + ": inner sizes differ");
  std::vector<std::int64_t> dims = broadcast_shapes(std::span(a).first(a.size() - 2), std::span(b).first(b.size() - 2));
  if (!vector_a) dims.push_back(a[a.size() - 2]);
  if (!vector_b) dims.push_back(b.back());
  return dims;
}

namespace {

using Ints = std::vector<std::int64_t>;

/// Output 0 like input `which`, in type and shape.
template <std::size_t which>
RuleResult like(const RuleArguments& a) {
  return {TypedShape{a.in(which).type, a.in(which).dims}};
}

RuleResult boolean_broadcast(const RuleArguments& a) {
  return {TypedShape{DataType::boolean, broadcast_shapes(a.in(0).dims, a.in(1).dims)}};
}

template <std::size_t first, std::size_t second>
RuleResult broadcast_of(const RuleArguments& a) {
  return {TypedShape{a.in(first).type, broadcast_shapes(a.in(first).dims, a.in(second).dims)}};
}

RuleResult fused_matmul(const RuleArguments& a) {
  return {TypedShape{a.in(0).type,
                     product_shape(a.in(0).dims, a.in(1).dims, a.node.attribute<std::int64_t>("transA", 0) != 0,
                                   a.node.attribute<std::int64_t>("transB", 0) != 0)}};
}

RuleResult gemm(const RuleArguments& a) {
  if (a.in(0).dims.size() != 2 || a.in(1).dims.size() != 2)
    throw InputError("inputs of shape " + shape_text(a.in(0).dims) + " and " + shape_text(a.in(1).dims) +
                     ", expected two matrices");
  RuleResult y = fused_matmul(a);
  if (a.has(2) && broadcast_shapes(a.in(2).dims, y[0]->dims) != y[0]->dims)
    throw InputError("C of shape " + shape_text(a.in(2).dims) + " does not broadcast to " + shape_text(y[0]->dims));
  return y;
}

// A, a_scale, a_zero_point, B, b_scale, b_zero_point, C, y_scale, y_zero_point; without y_scale the result is float.
RuleResult q_gemm(const RuleArguments& a) {
  const Ints dims = product_shape(a.in(0).dims, a.in(3).dims, a.node.attribute<std::int64_t>("transA", 0) != 0,
                                  a.node.attribute<std::int64_t>("transB", 0) != 0);
  return {TypedShape{a.has(8) ? a.in(8).type : a.has(7) ? a.in(0).type : DataType::f32, dims}};
}

// A, B, then scales: the product leaves the integers.
template <std::size_t scale>
RuleResult matmul_to_float(const RuleArguments& a) {
  return {TypedShape{a.in(scale).type, product_shape(a.in(0).dims, a.in(1).dims)}};
}

RuleResult matmul_n_bits(const RuleArguments& a) {
  Ints dims = a.in(0).dims;
  if (dims.empty()) throw InputError("a matrix product of a scalar");
  dims.back() = a.node.attribute<std::int64_t>("N", 0);
  return {TypedShape{a.in(0).type, dims}};
}

RuleResult global_average_pool(const RuleArguments& a) {
  Ints dims = a.in(0).dims;
  const bool last = a.node.attribute<std::int64_t>("channels_last", 0) != 0;
  for (std::size_t i = last ? 1 : 2; i + (last ? 1 : 0) < dims.size(); ++i) dims[i] = 1;
  return {TypedShape{a.in(0).type, dims}};
}

/// Output size of a window along one axis (ONNX AveragePool, Conv).
std::int64_t windowed(std::int64_t size, std::int64_t window, std::int64_t stride, std::int64_t dilation,
                      std::int64_t pads, const std::string& auto_pad, bool ceil) {
  if (stride <= 0 || dilation <= 0 || window <= 0) throw InputError("a window, stride or dilation below 1");
  if (auto_pad.starts_with("SAME")) return (size + stride - 1) / stride;
  const std::int64_t span = size + (auto_pad == "VALID" ? 0 : pads) - (window - 1) * dilation - 1;
  if (span < 0)
    throw InputError("a window of " + std::to_string(window) + " over " + std::to_string(size) + " elements and " +
                     std::to_string(pads) + " of padding");
  return span / stride + (ceil && span % stride != 0 ? 1 : 0) + 1;
}

Ints window_dims(const RuleArguments& a, const Ints& x, const Ints& kernel, bool last) {
  const std::size_t rank = kernel.size();
  if (x.size() != rank + 2)
    throw InputError("an input of rank " + std::to_string(x.size()) + ", expected " + std::to_string(rank + 2));
  const auto values = [&](std::string_view key, std::size_t count, std::int64_t otherwise) {
    Ints result = a.node.attribute<Ints>(key, Ints(count, otherwise));
    if (result.size() != count)
      throw InputError("attribute '" + std::string(key) + "' has " + std::to_string(result.size()) +
                       " values, expected " + std::to_string(count));
    return result;
  };
  for (const auto* key : {"strides", "dilations", "pads", "kernel_shape"})
    for (const auto v : a.node.attribute<Ints>(key, {}))
      if (v < 0 || v > std::int64_t{1} << 31)
        throw InputError("attribute '" + std::string(key) + "' holds " + std::to_string(v));
  const Ints strides = values("strides", rank, 1), dilations = values("dilations", rank, 1),
             pads = values("pads", 2 * rank, 0);
  Ints dims = x;
  for (std::size_t i = 0; i < rank; ++i)
    dims[i + (last ? 1 : 2)] = windowed(x[i + (last ? 1 : 2)], kernel[i], strides[i], dilations[i],
                                        pads[i] + pads[i + rank], a.node.attribute<std::string>("auto_pad", "NOTSET"),
                                        a.node.attribute<std::int64_t>("ceil_mode", 0) != 0);
  return dims;
}

RuleResult window_pool(const RuleArguments& a) {
  const bool last = a.node.attribute<std::int64_t>("channels_last", 0) != 0 || a.node.op_type == "NhwcMaxPool";
  return {TypedShape{a.in(0).type, window_dims(a, a.in(0).dims, a.node.attribute<Ints>("kernel_shape", {}), last)}};
}

// x, x_scale, x_zero_point, w, ...: weights stay M x C/group x k..., whatever the layout of x.
template <std::size_t weights>
RuleResult convolution(const RuleArguments& a) {
  const bool last = a.node.attribute<std::int64_t>("channels_last", 0) != 0;
  const Ints& w = a.in(weights).dims;
  if (w.size() < 3) throw InputError("weights of rank " + std::to_string(w.size()) + ", expected 3 or more");
  Ints dims = window_dims(a, a.in(0).dims, a.node.attribute<Ints>("kernel_shape", Ints(w.begin() + 2, w.end())), last);
  dims[last ? dims.size() - 1 : 1] = w[0];
  return {TypedShape{weights == 3 && a.has(7) ? a.in(7).type : a.in(0).type, dims}};
}

// y_scale, y_zero_point, then (x, scale, zero_point) for each part.
RuleResult q_concat(const RuleArguments& a) {
  Ints dims = a.in(2).dims;
  const std::size_t axis = normal_axis(a.node.attribute<std::int64_t>("axis", 0), dims.size());
  for (std::size_t i = 5; i < a.inputs.size(); i += 3) {
    const Ints& part = a.in(i).dims;
    for (std::size_t k = 0; k < dims.size(); ++k)
      if (part.size() != dims.size() || (k != axis && part[k] != dims[k]))
        throw InputError("cannot join " + shape_text(dims) + " and " + shape_text(part) + " on axis " +
                         std::to_string(axis));
    dims[axis] += part[axis];
  }
  return {TypedShape{a.has(1) ? a.in(1).type : a.in(2).type, dims}};
}

RuleResult reduce_mean(const RuleArguments& a) {
  const Ints &x = a.in(0).dims, axes = a.node.attribute<Ints>("axes", {});
  std::vector<bool> reduced(x.size(), axes.empty());
  for (const auto axis : axes) reduced[normal_axis(axis, x.size())] = true;
  Ints dims;
  for (std::size_t i = 0; i < x.size(); ++i)
    if (!reduced[i] || a.node.attribute<std::int64_t>("keepdims", 1) != 0) dims.push_back(reduced[i] ? 1 : x[i]);
  return {TypedShape{a.in(0).type, dims}};
}

RuleResult q_where(const RuleArguments& a) {
  return {TypedShape{a.in(1).type, broadcast_shapes(a.in(0).dims, broadcast_shapes(a.in(1).dims, a.in(4).dims))}};
}

RuleResult quantize(const RuleArguments& a) {
  return {TypedShape{a.has(2) ? a.in(2).type : DataType::u8, a.in(0).dims}};
}
RuleResult dequantize(const RuleArguments& a) { return {TypedShape{a.in(1).type, a.in(0).dims}}; }

// y, mean, inverse standard deviation, and the sum of input and skip where there is one.
RuleResult normalization(const RuleArguments& a) {
  Ints rows = a.in(0).dims;
  if (!rows.empty()) rows.back() = 1;
  return {TypedShape{a.in(0).type, a.in(0).dims}, TypedShape{DataType::f32, rows}, TypedShape{DataType::f32, rows},
          TypedShape{a.in(0).type, a.in(0).dims}};
}

// input [batch, sequence, hidden], weights [hidden, 3 * value hidden]
RuleResult attention(const RuleArguments& a) {
  Ints dims = a.in(0).dims;
  if (dims.size() != 3 || a.in(1).dims.size() != 2)
    throw InputError("an input of rank " + std::to_string(dims.size()) + ", expected 3");
  const Ints sizes = a.node.attribute<Ints>("qkv_hidden_sizes", {});
  dims[2] = sizes.size() == 3 ? sizes[2] : a.in(1).dims[1] / 3;
  return {TypedShape{a.node.op_type == "QAttention" ? a.in(3).type : a.in(0).type, dims}};
}

// query, key, value: the result is as long as the query and as wide as the value.
RuleResult multi_head_attention(const RuleArguments& a) {
  Ints dims = a.in(0).dims;
  if (dims.size() == 3 && a.has(2) && a.in(2).dims.size() == 3) dims[2] = a.in(2).dims[2];
  if (dims.size() == 5) dims = {dims[0], dims[1], dims[2] * dims[4]};  // packed: batch, sequence, heads, 3, head size
  return {TypedShape{a.in(0).type, dims}};
}

// ONNX Compress without an axis: as many as the condition lets through, which only the data says.
RuleResult compress(const RuleArguments& a) {
  Ints dims{0};
  if (a.node.attributes.contains("axis")) {
    dims = a.in(0).dims;
    dims[normal_axis(a.node.attribute<std::int64_t>("axis", 0), dims.size())] = 0;
  }
  return {TypedShape{a.in(0).type, dims}};
}

RuleResult float_like(const RuleArguments& a) { return {TypedShape{DataType::f32, a.in(0).dims}}; }

// Operator set 1: inputs broadcast only on request, and then the second one does.
RuleResult concat_1(const RuleArguments& a) {
  Ints dims = a.in(0).dims;
  const std::size_t axis = normal_axis(a.node.attribute<std::int64_t>("axis", 1), dims.size());
  for (std::size_t i = 1; i < a.inputs.size(); ++i)
    dims[axis] += a.in(i).dims.size() == dims.size() ? a.in(i).dims[axis] : throw InputError("inputs differ in rank");
  return {TypedShape{a.in(0).type, dims}};
}

struct RuleEntry {
  std::string_view op_type;
  Rule rule;
};

constexpr RuleEntry microsoft[] = {
    {"Attention", attention},
    {"BiasGelu", like<0>},
    {"BiasSoftmax", like<0>},
    {"BiasAdd", like<0>},
    {"DequantizeLinear", dequantize},
    {"DynamicQuantizeMatMul", matmul_to_float<2>},
    {"FastGelu", like<0>},
    {"FusedConv", convolution<1>},
    {"FusedGemm", fused_matmul},
    {"FusedMatMul", fused_matmul},
    {"FusedMatMulActivation", fused_matmul},
    {"Gelu", like<0>},
    {"GroupNorm", like<0>},
    {"GroupQueryAttention", like<0>},
    {"Inverse", like<0>},
    {"LayerNormalization", normalization},
    {"MatMulIntegerToFloat", matmul_to_float<2>},
    {"MatMulNBits", matmul_n_bits},
    {"MultiHeadAttention", multi_head_attention},
    {"NhwcFusedConv", convolution<1>},
    {"NhwcMaxPool", window_pool},
    {"QAttention", attention},
    {"QGemm", q_gemm},
    {"QLinearAdd", broadcast_of<0, 3>},
    {"QLinearAveragePool", window_pool},
    {"QLinearConcat", q_concat},
    {"QLinearConv", convolution<3>},
    {"QLinearGlobalAveragePool", global_average_pool},
    {"QLinearLeakyRelu", like<0>},
    {"QLinearMul", broadcast_of<0, 3>},
    {"QLinearReduceMean", reduce_mean},
    {"QLinearSigmoid", like<0>},
    {"QLinearSoftmax", like<0>},
    {"QLinearWhere", q_where},
    {"QuantizeLinear", quantize},
    {"QuickGelu", like<0>},
    {"RotaryEmbedding", like<0>},
    {"SimplifiedLayerNormalization", normalization},
    {"SkipLayerNormalization", normalization},
    {"SkipSimplifiedLayerNormalization", normalization},
};

// Operators of ai.onnx whose rule in the library checks too little: it takes Gemm's inner sizes on trust.
constexpr RuleEntry onnx_stricter[] = {{"Gemm", gemm}};

// Operators of ai.onnx for which the library has no rule in some operator set; asked only then.
constexpr RuleEntry onnx_gaps[] = {
    {"Abs", like<0>},
    {"Add", like<0>},
    {"BatchNormalization", like<0>},
    {"Ceil", like<0>},
    {"Clip", like<0>},
    {"Compress", compress},
    {"Concat", concat_1},
    {"Div", like<0>},
    {"Dropout", like<0>},
    {"Elu", like<0>},
    {"Exp", like<0>},
    {"Floor", like<0>},
    {"GlobalLpPool", global_average_pool},
    {"GreaterOrEqual", boolean_broadcast},
    {"GroupNormalization", like<0>},
    {"HardSigmoid", like<0>},
    {"InstanceNormalization", like<0>},
    {"LeakyRelu", like<0>},
    {"LessOrEqual", boolean_broadcast},
    {"Log", like<0>},
    {"LpPool", window_pool},
    {"Max", like<0>},
    {"Mean", like<0>},
    {"MeanVarianceNormalization", like<0>},
    {"Min", like<0>},
    {"Mul", like<0>},
    {"Neg", like<0>},
    {"PRelu", like<0>},
    {"Reciprocal", like<0>},
    {"Relu", like<0>},
    {"Selu", like<0>},
    {"Sigmoid", like<0>},
    {"Sqrt", like<0>},
    {"Sub", like<0>},
    {"Sum", like<0>},
    {"Tanh", like<0>},
};

constexpr RuleEntry ml_gaps[] = {{"Imputer", like<0>}, {"Normalizer", float_like}, {"Scaler", float_like}};

Rule find_in(std::span<const RuleEntry> table, std::string_view op_type) {
  const auto found =
      std::find_if(table.begin(), table.end(), [&](const RuleEntry& entry) { return entry.op_type == op_type; });
  return found == table.end() ? nullptr : found->rule;
}

}  // namespace

Rule find_rule(std::string_view domain, std::string_view op_type) {
  if (domain == "com.microsoft") return find_in(microsoft, op_type);
  return domain.empty() ? find_in(onnx_stricter, op_type) : nullptr;
}

Rule find_gap_rule(std::string_view domain, std::string_view op_type) {
  if (domain == "ai.onnx.ml") return find_in(ml_gaps, op_type);
  return domain.empty() ? find_in(onnx_gaps, op_type) : nullptr;
}

}  // namespace benanza::importer
