// SPDX-License-Identifier: Apache-2.0
#include "layer_time.hpp"

#include <benanza/base/detail/window_axes.hpp>
#include <benanza/model/layer.hpp>

#include <algorithm>
#include <array>
#include <functional>
#include <string_view>

namespace benanza::original2019 {

namespace {

using Dims = std::vector<std::int64_t>;
using Accept = std::function<bool(std::string_view)>;

std::string type_text(const Value& value) { return std::string(name(value.type)); }

std::optional<detail::WindowAxes> axes_of(const Node& node, const Graph& graph) {
  const Dims& x = graph.input(node, 0).dims;
  if (x.size() < 3) return std::nullopt;
  Dims kernel = node.attribute<Dims>("kernel_shape", {});
  if (node.op_type == "Conv") {
    const Dims& w = graph.input(node, 1).dims;
    if (w.size() != x.size()) return std::nullopt;
    kernel.assign(w.begin() + 2, w.end());
  }
  auto axes = detail::WindowAxes::read(node, std::span(x).subspan(2), kernel);
  if (!axes) return std::nullopt;
  const auto auto_pad = node.attribute<std::string>("auto_pad", "NOTSET");
  axes->resolve_same_padding(auto_pad);
  if (node.attribute<std::int64_t>("ceil_mode", 0) != 0 && !auto_pad.starts_with("SAME")) axes->resolve_ceil_mode();
  return axes;
}

LayerTime missing(std::string reason) { return {.reason = std::move(reason)}; }

/// Adds the fastest call of that key that `accept` allows. If there is none, returns false and sets the reason.
bool add_call(LayerTime& time, const Results& results, const std::string& key, const Accept& accept) {
  const auto found = results.calls.find(key);
  const Call* best = nullptr;
  if (found != results.calls.end())
    for (const auto& call : found->second)
      if ((!accept || accept(call.algorithm)) && (!best || call.time < best->time)) best = &call;
  if (!best) {
    const auto failed = results.failed.find(key);
    time.status = Status::missing;
    time.reason = failed == results.failed.end() ? "no row " + key : "every row " + key + " failed: " + failed->second;
    return false;
  }
  time.status = Status::measured;
  time.time += best->time;
  if (!time.algorithm.empty()) time.algorithm += '+';
  const std::string kind = key.substr(0, key.find('/'));
  std::string what;
  for (const char c : kind) what += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  time.algorithm += best->algorithm.empty() ? what : best->algorithm;
  return true;
}

/// The convolution's calls. For one that 2019 could not measure, returns an empty result and sets `reason`.
std::optional<ConvCall> conv_call(const Node& node, const Graph& graph, std::string& reason) {
  const auto axes = axes_of(node, graph);
  if (!axes || axes->axes.size() != 2) {
    reason = "2019 measured convolutions of two spatial dimensions only";
    return std::nullopt;
  }
  ConvCall call{.x = graph.input(node, 0).dims,
                .filters = graph.input(node, 1).dims[0],
                .group = node.attribute<std::int64_t>("group", 1)};
  for (const auto& [window, ceil_pad, output_padding] : axes->axes) {
    if (window.pad_begin != window.pad_end) {
      reason = "its padding differs at the two ends of an axis, which no call of 2019 can do";
      return std::nullopt;
    }
    call.kernel.push_back(window.kernel);
    call.pads.push_back(window.pad_begin);
    call.strides.push_back(window.stride);
    call.dilations.push_back(window.dilation);
  }
  return call;
}

LayerTime conv_time(const Node& node, const Graph& graph, const Results& results) {
  LayerTime time{.backend = "cudnn"};
  const std::string type = type_text(graph.input(node, 0));
  auto call = conv_call(node, graph, time.reason);
  if (!call) {
    if (asks_for_same_padding(node)) time.defects.insert("SAME padding ignored");
    return time;
  }
  if (!add_call(time, results, call->key("CONV_FWD", type), {})) {
    if (!has_same_padding(node, graph)) return time;
    call->pads = {0, 0};
    if (results.calls.contains(call->key("CONV_FWD", type))) {
      time.reason += ", only one without its SAME padding";
      time.defects.insert("SAME padding ignored");
    }
    return time;
  }
  const std::string key = call->key("CONV_FWD", type);
  const Seconds forward = time.time;
  if (node.has_input(2) && !add_call(time, results, shape_key("ADD_TENSOR", type, graph.output(node, 0).dims), {})) {
    LayerTime half = missing("its bias: " + time.reason);  // the known part is not the time of the layer
    half.backend = time.backend;
    return half;
  }
  if (const auto advice = results.advised.find(key); advice != results.advised.end())
    for (const auto& row : results.calls.at(key))
      if (row.algorithm == advice->second && !time.advised) time.advised = time.time - forward + row.time;
  return time;
}

LayerTime pool_time(const Node& node, const Graph& graph, const Results& results) {
  const auto axes = axes_of(node, graph);
  if (!axes || axes->axes.size() != 2) return missing("2019 measured pools of two spatial dimensions only");
  PoolCall call{.x = graph.input(node, 0).dims};
  for (const auto& [window, ceil_pad, output_padding] : axes->axes) {
    if (window.pad_begin != window.pad_end)
      return missing("its padding differs at the two ends of an axis, which no call of 2019 can do");
    call.kernel.push_back(window.kernel);
    call.pads.push_back(window.pad_begin);
    call.strides.push_back(window.stride);
  }
  const std::string_view mode = node.op_type == "MaxPool" ? "max" : "average";
  LayerTime time{.backend = "cudnn"};
  (void)add_call(time, results, call.key(type_text(graph.input(node, 0))),
                 [mode](std::string_view algorithm) { return algorithm.starts_with(mode); });
  return time;
}

LayerTime gemm_time(const Node& node, const Graph& graph, const Results& results) {
  const auto call = gemm_call(node, graph);
  if (!call) return missing("2019 measured products of two matrices only");
  LayerTime time{.backend = "cublas"};
  const std::string type = type_text(graph.input(node, 0));
  if (add_call(time, results, call->key(type), {})) return time;
  // Known for VGG: the first dense layer was measured with the depth of the tensor before it was flattened.
  for (const auto& [key, rows] : results.calls) {
    const std::string prefix = "GEMV_FWD/" + type + "/m=" + std::to_string(call->m == 1 ? call->n : call->m) + "/k=";
    if (!key.starts_with(prefix)) continue;
    const std::string depth = key.substr(prefix.size(), key.find('/', prefix.size()) - prefix.size());
    if (depth == std::to_string(call->k)) continue;
    time.reason += ", only one with k=" + depth;
    time.defects.insert("measured with other sizes");
    break;
  }
  return time;
}

/// The algorithms with which 2019 measured an activation. Empty for a function that it did not measure. It measured
/// LeakyRelu and PRelu as Relu.
std::vector<std::string_view> activations_of(std::string_view op_type) {
  if (op_type == "Relu" || op_type == "LeakyRelu" || op_type == "PRelu") return {"relu", "clipped_relu"};
  if (op_type == "Sigmoid") return {"sigmoid"};
  if (op_type == "Tanh") return {"tanh"};
  if (op_type == "Elu") return {"elu"};
  return {};
}

std::string_view op_tensor_of(std::string_view op_type) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kinds{{{"Add", "OP_TENSOR_ADD_FWD"},
                                                                                {"Sum", "OP_TENSOR_ADD_FWD"},
                                                                                {"Sub", "OP_TENSOR_ADD_FWD"},
                                                                                {"Mul", "OP_TENSOR_MUL_FWD"},
                                                                                {"Div", "OP_TENSOR_MUL_FWD"},
                                                                                {"Min", "OP_TENSOR_MIN_FWD"},
                                                                                {"Max", "OP_TENSOR_MAX_FWD"},
                                                                                {"Sqrt", "OP_TENSOR_SQRT_FWD"},
                                                                                {"Not", "OP_TENSOR_NOT_FWD"}}};
  for (const auto& [type, kind] : kinds)
    if (type == op_type) return kind;
  return {};
}

bool is_one_of(std::string_view text, const std::vector<std::string_view>& list) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

}  // namespace

bool asks_for_same_padding(const Node& node) {
  return node.attribute<std::string>("auto_pad", "NOTSET").starts_with("SAME");
}

bool has_same_padding(const Node& node, const Graph& graph) {
  const auto axes = axes_of(node, graph);
  if (!axes) return false;
  const auto is_resolved = [&axes](const char* auto_pad) {
    detail::WindowAxes same = *axes;
    same.resolve_same_padding(auto_pad);
    return std::equal(axes->axes.begin(), axes->axes.end(), same.axes.begin(), [](const auto& a, const auto& b) {
      return a.window.pad_begin == b.window.pad_begin && a.window.pad_end == b.window.pad_end;
    });
  };
  const bool padded = std::any_of(axes->axes.begin(), axes->axes.end(), [](const auto& axis) {
    return axis.window.pad_begin != 0 || axis.window.pad_end != 0;
  });
  return padded && (is_resolved("SAME_UPPER") || is_resolved("SAME_LOWER"));
}

std::optional<GemmCall> gemm_call(const Node& node, const Graph& graph) {
  Dims a = graph.input(node, 0).dims, b = graph.input(node, 1).dims;
  if (a.size() != 2 || b.size() != 2) return std::nullopt;
  const bool gemm = node.op_type == "Gemm";
  GemmCall call{.trans_a = gemm ? node.attribute<std::int64_t>("transA", 0) : 0,
                .trans_b = gemm ? node.attribute<std::int64_t>("transB", 0) : 0,
                .alpha = gemm ? static_cast<std::int64_t>(node.attribute<double>("alpha", 1)) : 1,
                .beta = gemm ? static_cast<std::int64_t>(node.attribute<double>("beta", 1)) : 0};
  if (call.trans_a != 0) std::swap(a[0], a[1]);
  if (call.trans_b != 0) std::swap(b[0], b[1]);
  call.m = a[0];
  call.k = a[1];
  call.n = b[1];
  return call;
}

bool is_free(const Node& node, const Layer& layer) {
  const std::vector<std::string_view> free{"LRN",           "Reshape",           "Concat",   "Unsqueeze", "Flatten",
                                           "GlobalMaxPool", "GlobalAveragePool", "Identity", "Transpose"};
  return is_one_of(node.op_type, free) || (benanza::is_free(layer) && node.op_type != "Dropout");
}

LayerTime layer_time(const Node& node, const Graph& graph, const Results& results) {
  const std::string_view op = node.op_type;
  if (op == "Conv") return conv_time(node, graph, results);
  if (op == "MaxPool" || op == "AveragePool") return pool_time(node, graph, results);
  if (op == "Gemm" || op == "MatMul") return gemm_time(node, graph, results);

  std::string kind;
  Accept accept;
  const Value& x = graph.input(node, 0);
  Dims dims = x.dims;
  LayerTime time{.backend = "cudnn"};
  if (const auto functions = activations_of(op); !functions.empty()) {
    kind = "ACTIVATION_FWD";
    accept = [functions](std::string_view algorithm) { return is_one_of(algorithm, functions); };
  } else if (const auto op_tensor = op_tensor_of(op); !op_tensor.empty()) {
    kind = op_tensor;
    const Dims& y = graph.output(node, 0).dims;
    if (element_count(y) > element_count(dims)) dims = y;
  } else if (op == "BatchNormalization") {
    kind = "BATCHNORM_FWD_INFERENCE";
  } else if (op == "Softmax") {
    kind = "SOFTMAX_FWD";
    accept = [](std::string_view algorithm) { return !algorithm.starts_with("log"); };
  } else if (op == "Dropout") {
    kind = "DROPOUT_FWD";
  } else {
    return missing("2019 had no benchmark of " + node.op_type);
  }
  (void)add_call(time, results, shape_key(kind, type_text(x), dims), accept);
  if (op == "BatchNormalization" && time.algorithm == "per_activation")
    time.defects.insert("batch normalisation measured per activation, not per channel");
  return time;
}

std::optional<LayerTime> fused_time(const Node& node, const Graph& graph, const Results& results,
                                    const std::string& activation) {
  LayerTime time{.backend = "cudnn"};
  const auto call = conv_call(node, graph, time.reason);
  if (!call || !node.has_input(2) || !graph.input(node, 2).constant) return std::nullopt;
  Accept accept;
  if (!activation.empty()) {
    const auto functions = activations_of(activation);
    accept = [functions](std::string_view algorithm) {
      return is_one_of(algorithm.substr(algorithm.find(',') + 1), functions);
    };
  }
  const std::string key = call->key("CONV_BIAS_ACTIVATION_FWD", type_text(graph.input(node, 0)));
  if (!add_call(time, results, key, accept)) return std::nullopt;
  return time;
}

}  // namespace benanza::original2019
