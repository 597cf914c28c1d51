// SPDX-License-Identifier: Apache-2.0
// Normalizations, and softmax.
#pragma once

#include <benanza/detail/consistent.hpp>
#include <benanza/detail/magnitudes.hpp>
#include <benanza/detail/node.hpp>
#include <benanza/model/epilogue.hpp>
#include <benanza/op/operator.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace benanza::op {

/// Batch normalisation for inference: y = x * scale + shift per channel, both folded from four constant vectors
/// beforehand.
struct BatchNorm {
  static constexpr std::string_view kind = "BatchNorm";
  static constexpr Family family = Family::normalization;
  static constexpr std::array<std::string_view, 1> onnx_types{"BatchNormalization"};
  DataType type = DataType::f32;
  TensorShape x{};  ///< N C inner (spatial dimensions folded)
  Epilogue post{};

  template <class Self, class Visit>
  static constexpr void fields(Self& self, Visit&& visit) {
    visit("type", self.type);
    visit("x", self.x);
    visit("post", self.post);
  }
  constexpr bool operator==(const BatchNorm&) const = default;

  /// Training is left to ChannelNorm, and its outputs are ignored. Before opset 9, spatial = 0 normalises every
  /// position with values of its own.
  [[nodiscard]] static auto from(const Node& node, const AnyGraph auto& graph) -> Read<BatchNorm, decltype(graph)> {
    const Value& x_value = graph.input(node, 0);
    auto x = detail::batch_channels_inner(x_value.dims);
    if (!x || node.attribute<std::int64_t>("training_mode", 0) != 0) return std::nullopt;
    if (node.opset < 9 && node.attribute<std::int64_t>("spatial", 1) == 0)
      x = TensorShape{(*x)[0], checked_product((*x)[1], (*x)[2]), 1};
    return BatchNorm{.type = x_value.type, .x = *x};
  }

  [[nodiscard]] Operands operands() const {
    const TensorShape channels{x[1]};
    Operands result{
        .inputs = {{.name = "x", .type = type, .shape = x},
                   {.name = "scale", .type = type, .shape = channels, .constant = true, .contents = Contents::positive},
                   {.name = "b",
                    .type = type,
                    .shape = channels,
                    .constant = true,
                    .exponent = detail::norm_addend_exponent(type)},
                   {.name = "mean", .type = type, .shape = channels, .constant = true},
                   {.name = "var", .type = type, .shape = channels, .constant = true, .contents = Contents::positive}},
        .outputs = {{.name = "y", .type = type, .shape = x}}};
    detail::append_epilogue_operands(result, post, type, x, 1);
    return result;
  }

  /// ONNX BatchNormalization (training_mode = 0): y = (x - mean) / sqrt(var + epsilon) * scale + b, one multiply-add
  /// per element.
  [[nodiscard]] constexpr Arithmetic arithmetic() const {
    return {.flops = (2.0 + static_cast<double>(post.size())) * static_cast<double>(element_count(x))};
  }

  [[nodiscard]] constexpr bool consistent() const { return detail::are_sizes(x, 3) && detail::fits(post, x); }
};

/// Normalisation of each channel by its own mean and variance over all images: BatchNormalization in training, and
/// MeanVarianceNormalization.
struct ChannelNorm {
  static constexpr std::string_view kind = "ChannelNorm";
  static constexpr Family family = Family::normalization;
  static constexpr std::array<std::string_view, 2> onnx_types{"BatchNormalization", "MeanVarianceNormalization"};
  DataType type = DataType::f32;
  TensorShape x{};       ///< outer channels inner
  bool affine = true;    ///< channels have a scale and a shift
  bool running = false;  ///< mean and variance are mixed with those of earlier calls, and are results too

  template <class Self, class Visit>
  static constexpr void fields(Self& self, Visit&& visit) {
    visit("type", self.type);
    visit("x", self.x);
    visit("affine", self.affine);
    visit("running", self.running);
  }
  constexpr bool operator==(const ChannelNorm&) const = default;

  /// Nothing if the axes that are kept are not adjacent.
  [[nodiscard]] static auto from(const Node& node, const AnyGraph auto& graph) -> Read<ChannelNorm, decltype(graph)> {
    const Value& x_value = graph.input(node, 0);
    const auto& dims = x_value.dims;
    if (node.op_type == "BatchNormalization") {
      const auto x = detail::batch_channels_inner(dims);
      if (!x) return std::nullopt;
      return ChannelNorm{.type = x_value.type, .x = *x, .running = node.has_output(1) && node.has_output(2)};
    }
    std::vector<bool> kept(dims.size(), true);
    for (auto given : node.attribute<detail::Dims>("axes", {0, 2, 3})) {
      const auto axis = detail::to_axis(given, dims.size());
      if (!axis) return std::nullopt;
      kept[*axis] = false;
    }
    const auto first = static_cast<std::size_t>(std::find(kept.begin(), kept.end(), true) - kept.begin());
    const auto past = static_cast<std::size_t>(
        std::find(kept.begin() + static_cast<std::ptrdiff_t>(first), kept.end(), false) - kept.begin());
    if (std::find(kept.begin() + static_cast<std::ptrdiff_t>(past), kept.end(), true) != kept.end())
      return std::nullopt;
    return ChannelNorm{.type = x_value.type,
                       .x = {detail::product(dims, 0, first), detail::product(dims, first, past),
                             detail::product(dims, past, dims.size())},
                       .affine = false};
  }

  [[nodiscard]] Operands operands() const {
    const TensorShape channels{x[1]};
    Operands result{.inputs = {{.name = "x", .type = type, .shape = x}},
                    .outputs = {{.name = "y", .type = type, .shape = x}}};
    const auto add_input = [&](std::string_view name, Contents contents) {
      result.inputs.push_back({.name = name, .type = type, .shape = channels, .contents = contents});
    };
    if (affine) {
      add_input("scale", Contents::positive);
      add_input("b", Contents::uniform);
    }
    if (running) {
      add_input("input_mean", Contents::uniform);
      add_input("input_var", Contents::positive);
      result.outputs.push_back({.name = "running_mean", .type = type, .shape = channels});
      result.outputs.push_back({.name = "running_var", .type = type, .shape = channels});
    }
    return result;
  }

  /// ONNX BatchNormalization (training_mode = 1) and MeanVarianceNormalization: mean (1 operation per element),
  /// variance (2), one multiply-add (2).
  [[nodiscard]] constexpr Arithmetic arithmetic() const {
    return {.flops = 5.0 * static_cast<double>(element_count(x))};
  }

  [[nodiscard]] constexpr bool consistent() const { return detail::are_sizes(x, 3) && (affine || !running); }
};

/// What is normalised: x, its sum with a residual, or this sum, which is then a second output too.
enum class Residual : std::uint8_t { none, added, kept };
[[nodiscard]] constexpr auto enum_names(Residual) { return std::array<std::string_view, 3>{"none", "added", "kept"}; }

/// Layer and RMS normalisation over the innermost dimensions, of a tensor or of its sum with a residual. Fusion creates
/// the latter if a model adds and then normalises.
struct LayerNorm {
  static constexpr std::string_view kind = "LayerNorm";
  static constexpr Family family = Family::normalization;
  static constexpr std::array<std::string_view, 6> onnx_types{"LayerNormalization",
                                                              "RMSNormalization",
                                                              "SimplifiedLayerNormalization",
                                                              "com.microsoft.SimplifiedLayerNormalization",
                                                              "com.microsoft.SkipLayerNormalization",
                                                              "com.microsoft.SkipSimplifiedLayerNormalization"};
  DataType type = DataType::f32;
  TensorShape x{};   ///< outer inner: the normalised dimensions folded into the last
  bool rms = false;  ///< RMS norm: no mean is subtracted
  bool scale = true;
  bool bias = false;
  Residual residual = Residual::none;
  bool x_bias = false;  ///< a vector is added to x in addition to the residual

  template <class Self, class Visit>
  static constexpr void fields(Self& self, Visit&& visit) {
    visit("type", self.type);
    visit("x", self.x);
    visit("rms", self.rms);
    visit("scale", self.scale);
    visit("bias", self.bias);
    visit("residual", self.residual);
    visit("x_bias", self.x_bias);
  }
  constexpr bool operator==(const LayerNorm&) const = default;

  /// Normalises any number of trailing dimensions. The statistics that may be further outputs are ignored. ONNX
  /// Runtime's Skip operators normalise the last dimension of a sum of two tensors of the same shape: their inputs are
  /// `skip`, gamma, beta and bias, and their fourth output is the sum. The simplified operator has no beta.
  [[nodiscard]] static auto from(const Node& node, const AnyGraph auto& graph) -> Read<LayerNorm, decltype(graph)> {
    const Value& x_value = graph.input(node, 0);
    const auto& dims = x_value.dims;
    const auto axis = detail::to_axis(node.attribute<std::int64_t>("axis", -1), dims.size());
    if (!axis) return std::nullopt;
    const bool skips = node.op_type.starts_with("Skip");
    const std::size_t scale = skips ? 2 : 1;
    LayerNorm norm{.type = x_value.type,
                   .x = {detail::product(dims, 0, *axis), detail::product(dims, *axis, dims.size())},
                   .rms = node.op_type != "LayerNormalization" && node.op_type != "SkipLayerNormalization",
                   .scale = node.has_input(scale)};
    norm.bias = !norm.rms && node.has_input(scale + 1);
    if (!skips) return norm;
    if (graph.input(node, 1).dims != dims) return std::nullopt;
    norm.residual = node.has_output(3) ? Residual::kept : Residual::added;
    norm.x_bias = node.has_input(norm.rms ? 3 : 4);
    return norm;
  }

  /// Which input is the scale. Without a scale, the bias stands there.
  [[nodiscard]] constexpr std::size_t first_weight() const {
    return 1 + (residual == Residual::none ? 0U : 1U) + (x_bias ? 1U : 0U);
  }
  [[nodiscard]] Operands operands() const {
    Operands result{.inputs = {{.name = "x", .type = type, .shape = x}},
                    .outputs = {{.name = "y", .type = type, .shape = x}}};
    const TensorShape inner{x[1]};
    if (residual != Residual::none) result.inputs.push_back({.name = "residual", .type = type, .shape = x});
    if (x_bias) result.inputs.push_back({.name = "x_bias", .type = type, .shape = inner, .constant = true});
    if (scale)
      result.inputs.push_back(
          {.name = "scale", .type = type, .shape = inner, .constant = true, .contents = Contents::positive});
    if (bias)
      result.inputs.push_back({.name = "b",
                               .type = type,
                               .shape = inner,
                               .constant = true,
                               .exponent = detail::norm_addend_exponent(type)});
    if (residual == Residual::kept) result.outputs.push_back({.name = "sum", .type = type, .shape = x});
    return result;
  }

  /// ONNX LayerNormalization: mean (1 operation per element), variance (2), normalise (2), scale (1), bias (1).
  /// RMSNormalization lacks the mean and its subtraction. Each sum before it adds one. Epsilon does not affect the
  /// speed and is 1e-5 in checks.
  [[nodiscard]] constexpr Arithmetic arithmetic() const {
    const double sums = (residual == Residual::none ? 0.0 : 1.0) + (x_bias ? 1.0 : 0.0);
    const double steps = sums + (rms ? 3.0 : 5.0) + (scale ? 1.0 : 0.0) + (bias ? 1.0 : 0.0);
    return {.flops = steps * static_cast<double>(element_count(x))};
  }

  [[nodiscard]] constexpr bool consistent() const {
    return detail::are_sizes(x, 2) && !(x_bias && residual == Residual::none);
  }
};

/// Group normalisation. Instance normalisation has one group per channel.
struct GroupNorm {
  static constexpr std::string_view kind = "GroupNorm";
  static constexpr Family family = Family::normalization;
  static constexpr std::array<std::string_view, 2> onnx_types{"GroupNormalization", "InstanceNormalization"};
  DataType type = DataType::f32;
  TensorShape x{};  ///< N C inner (spatial dimensions folded)
  std::int64_t groups = 1;

  template <class Self, class Visit>
  static constexpr void fields(Self& self, Visit&& visit) {
    visit("type", self.type);
    visit("x", self.x);
    visit("groups", self.groups);
  }
  constexpr bool operator==(const GroupNorm&) const = default;

  [[nodiscard]] static auto from(const Node& node, const AnyGraph auto& graph) -> Read<GroupNorm, decltype(graph)> {
    const Value& x_value = graph.input(node, 0);
    const auto x = detail::batch_channels_inner(x_value.dims);
    if (!x) return std::nullopt;
    const bool instance = node.op_type == "InstanceNormalization";
    return GroupNorm{
        .type = x_value.type, .x = *x, .groups = instance ? (*x)[1] : node.attribute<std::int64_t>("num_groups", 1)};
  }

  [[nodiscard]] Operands operands() const {
    const TensorShape channels{x[1]};
    return {
        .inputs = {{.name = "x", .type = type, .shape = x},
                   {.name = "scale", .type = type, .shape = channels, .constant = true, .contents = Contents::positive},
                   {.name = "b",
                    .type = type,
                    .shape = channels,
                    .constant = true,
                    .exponent = detail::norm_addend_exponent(type)}},
        .outputs = {{.name = "y", .type = type, .shape = x}}};
  }

  /// ONNX GroupNormalization and InstanceNormalization: mean (1 operation per element), variance (2), one multiply-add
  /// (2). Checks use an epsilon of 1e-5.
  [[nodiscard]] constexpr Arithmetic arithmetic() const {
    return {.flops = 5.0 * static_cast<double>(element_count(x))};
  }

  [[nodiscard]] constexpr bool consistent() const {
    return detail::are_sizes(x, 3) && detail::is_size(groups) && x[1] % groups == 0;
  }
};

/// Local response normalisation across channels (AlexNet, GoogLeNet).
struct Lrn {
  static constexpr std::string_view kind = "Lrn";
  static constexpr Family family = Family::normalization;
  static constexpr std::array<std::string_view, 1> onnx_types{"LRN"};
  DataType type = DataType::f32;
  TensorShape x{};  ///< N C inner (spatial dimensions folded)
  std::int64_t size = 5;
  double beta = 0.75;  ///< affects the speed: x^-0.75 is two square roots

  template <class Self, class Visit>
  static constexpr void fields(Self& self, Visit&& visit) {
    visit("type", self.type);
    visit("x", self.x);
    visit("size", self.size);
    visit("beta", self.beta);
  }
  constexpr bool operator==(const Lrn&) const = default;

  [[nodiscard]] static auto from(const Node& node, const AnyGraph auto& graph) -> Read<Lrn, decltype(graph)> {
    const Value& x_value = graph.input(node, 0);
    const auto x = detail::batch_channels_inner(x_value.dims);
    if (!x) return std::nullopt;
    return Lrn{.type = x_value.type,
               .x = *x,
               .size = node.attribute<std::int64_t>("size", 1),
               .beta = detail::decimal(node.attribute<double>("beta", 0.75))};
  }

  [[nodiscard]] Operands operands() const {
    return {.inputs = {{.name = "x", .type = type, .shape = x}}, .outputs = {{.name = "y", .type = type, .shape = x}}};
  }

  /// ONNX LRN: y = x / (bias + alpha / size * sum of x^2 over `size` channels) ^ beta. Square, running sum (add and
  /// subtract), multiply-add, power, division: 7 operations per element. Alpha is 1e-4 and bias is 1 in checks.
  [[nodiscard]] constexpr Arithmetic arithmetic() const {
    return {.flops = 7.0 * static_cast<double>(element_count(x))};
  }

  [[nodiscard]] constexpr bool consistent() const {
    return detail::are_sizes(x, 3) && detail::is_size(size) && beta == beta;
  }
};

/// Softmax and log-softmax along one axis.
struct Softmax {
  static constexpr std::string_view kind = "Softmax";
  static constexpr Family family = Family::normalization;
  static constexpr std::array<std::string_view, 2> onnx_types{"Softmax", "LogSoftmax"};
  DataType type = DataType::f32;
  TensorShape x{};  ///< outer axis inner
  bool log = false;

  template <class Self, class Visit>
  static constexpr void fields(Self& self, Visit&& visit) {
    visit("type", self.type);
    visit("x", self.x);
    visit("log", self.log);
  }
  constexpr bool operator==(const Softmax&) const = default;

  /// Before opset 13 all dimensions from the axis on (1 by default) are normalised as one.
  [[nodiscard]] static auto from(const Node& node, const AnyGraph auto& graph) -> Read<Softmax, decltype(graph)> {
    const Value& x_value = graph.input(node, 0);
    const auto& dims = x_value.dims;
    const bool flattens = node.opset < 13;
    const std::int64_t given = node.attribute<std::int64_t>("axis", flattens ? 1 : -1);
    const auto rank = static_cast<std::int64_t>(dims.size());
    const auto axis = flattens && given == rank ? std::optional(dims.size()) : detail::to_axis(given, dims.size());
    if (!axis) return std::nullopt;
    const TensorShape x =
        flattens ? TensorShape{detail::product(dims, 0, *axis), detail::product(dims, *axis, dims.size()), 1}
                 : detail::around(dims, *axis);
    return Softmax{.type = x_value.type, .x = x, .log = node.op_type == "LogSoftmax"};
  }

  [[nodiscard]] Operands operands() const {
    return {.inputs = {{.name = "x", .type = type, .shape = x}}, .outputs = {{.name = "y", .type = type, .shape = x}}};
  }

  /// ONNX Softmax: maximum, subtract, exp, sum, divide: 5 operations per element. LogSoftmax has as many, with one
  /// logarithm per row.
  [[nodiscard]] constexpr Arithmetic arithmetic() const {
    return {.flops = 5.0 * static_cast<double>(element_count(x))};
  }

  [[nodiscard]] constexpr bool consistent() const { return detail::are_sizes(x, 3); }
};

enum class AxisNormFn : std::uint8_t { l1, l2, hardmax };
[[nodiscard]] constexpr auto enum_names(AxisNormFn) { return std::array<std::string_view, 3>{"l1", "l2", "hardmax"}; }

/// LpNormalization and Hardmax: operations other than a softmax along one axis.
struct AxisNorm {
  static constexpr std::string_view kind = "AxisNorm";
  static constexpr Family family = Family::normalization;
  static constexpr std::array<std::string_view, 2> onnx_types{"LpNormalization", "Hardmax"};
  DataType type = DataType::f32;
  AxisNormFn fn = AxisNormFn::l2;
  TensorShape x{};  ///< outer axis inner

  template <class Self, class Visit>
  static constexpr void fields(Self& self, Visit&& visit) {
    visit("type", self.type);
    visit("fn", self.fn);
    visit("x", self.x);
  }
  constexpr bool operator==(const AxisNorm&) const = default;

  /// Before opset 13, Hardmax treated all dimensions from the axis on (1 by default) as one.
  [[nodiscard]] static auto from(const Node& node, const AnyGraph auto& graph) -> Read<AxisNorm, decltype(graph)> {
    const Value& x_value = graph.input(node, 0);
    const auto& dims = x_value.dims;
    const bool hardmax = node.op_type == "Hardmax", flattens = hardmax && node.opset < 13;
    const std::int64_t p = node.attribute<std::int64_t>("p", 2);
    const auto axis = detail::to_axis(node.attribute<std::int64_t>("axis", flattens ? 1 : -1), dims.size());
    if (!axis || (!hardmax && p != 1 && p != 2)) return std::nullopt;
    AxisNorm norm{.type = x_value.type,
                  .fn = hardmax  ? AxisNormFn::hardmax
                        : p == 1 ? AxisNormFn::l1
                                 : AxisNormFn::l2,
                  .x = detail::around(dims, *axis)};
    if (flattens) norm.x = {detail::product(dims, 0, *axis), detail::product(dims, *axis, dims.size()), 1};
    return norm;
  }

  [[nodiscard]] Operands operands() const {
    return {.inputs = {{.name = "x", .type = type, .shape = x}}, .outputs = {{.name = "y", .type = type, .shape = x}}};
  }

  /// ONNX LpNormalization: two operations per element for the sum of magnitudes or squares, one for the quotient.
  /// Hardmax: one comparison per element.
  [[nodiscard]] constexpr Arithmetic arithmetic() const {
    return {.flops = (fn == AxisNormFn::hardmax ? 1.0 : 3.0) * static_cast<double>(element_count(x))};
  }

  [[nodiscard]] constexpr bool consistent() const { return detail::are_sizes(x, 3); }
};

}  // namespace benanza::op
