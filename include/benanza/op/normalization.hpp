// SPDX-License-Identifier: Apache-2.0
// Normalizations, and softmax.
#pragma once

#include <benanza/model/epilogue.hpp>
#include <benanza/op/operator.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

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
  [[nodiscard]] static std::optional<BatchNorm> from(const Node& node, const Graph& graph);

  [[nodiscard]] Operands operands() const;

  /// ONNX BatchNormalization (training_mode = 0): y = (x - mean) / sqrt(var + epsilon) * scale + b, one multiply-add
  /// per element.
  [[nodiscard]] Arithmetic arithmetic() const;

  [[nodiscard]] bool consistent() const;
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
  [[nodiscard]] static std::optional<ChannelNorm> from(const Node& node, const Graph& graph);

  [[nodiscard]] Operands operands() const;

  /// ONNX BatchNormalization (training_mode = 1) and MeanVarianceNormalization: mean (1 operation per element),
  /// variance (2), one multiply-add (2).
  [[nodiscard]] Arithmetic arithmetic() const;

  [[nodiscard]] bool consistent() const;
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
  [[nodiscard]] static std::optional<LayerNorm> from(const Node& node, const Graph& graph);

  /// Which input is the scale. Without a scale, the bias stands there.
  [[nodiscard]] constexpr std::size_t first_weight() const {
    return 1 + (residual == Residual::none ? 0U : 1U) + (x_bias ? 1U : 0U);
  }
  [[nodiscard]] Operands operands() const;

  /// ONNX LayerNormalization: mean (1 operation per element), variance (2), normalise (2), scale (1), bias (1).
  /// RMSNormalization lacks the mean and its subtraction. Each sum before it adds one. Epsilon does not affect the
  /// speed and is 1e-5 in checks.
  [[nodiscard]] Arithmetic arithmetic() const;

  [[nodiscard]] bool consistent() const;
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

  [[nodiscard]] static std::optional<GroupNorm> from(const Node& node, const Graph& graph);

  [[nodiscard]] Operands operands() const;

  /// ONNX GroupNormalization and InstanceNormalization: mean (1 operation per element), variance (2), one multiply-add
  /// (2). Checks use an epsilon of 1e-5.
  [[nodiscard]] Arithmetic arithmetic() const;

  [[nodiscard]] bool consistent() const;
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

  [[nodiscard]] static std::optional<Lrn> from(const Node& node, const Graph& graph);

  [[nodiscard]] Operands operands() const;

  /// ONNX LRN: y = x / (bias + alpha / size * sum of x^2 over `size` channels) ^ beta. Square, running sum (add and
  /// subtract), multiply-add, power, division: 7 operations per element. Alpha is 1e-4 and bias is 1 in checks.
  [[nodiscard]] Arithmetic arithmetic() const;

  [[nodiscard]] bool consistent() const;
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
  [[nodiscard]] static std::optional<Softmax> from(const Node& node, const Graph& graph);

  [[nodiscard]] Operands operands() const;

  /// ONNX Softmax: maximum, subtract, exp, sum, divide: 5 operations per element. LogSoftmax has as many, with one
  /// logarithm per row.
  [[nodiscard]] Arithmetic arithmetic() const;

  [[nodiscard]] bool consistent() const;
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
  [[nodiscard]] static std::optional<AxisNorm> from(const Node& node, const Graph& graph);

  [[nodiscard]] Operands operands() const;

  /// ONNX LpNormalization: two operations per element for the sum of magnitudes or squares, one for the quotient.
  /// Hardmax: one comparison per element.
  [[nodiscard]] Arithmetic arithmetic() const;

  [[nodiscard]] bool consistent() const;
};

}  // namespace benanza::op

#ifndef BENANZA_COMPILED
#include <benanza/impl/op/normalization_inl.hpp>
#endif
