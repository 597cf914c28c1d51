// SPDX-License-Identifier: Apache-2.0
// Gradients as graphs of cuDNN: of convolutions with respect to data and weights, and of batch, layer and RMS
// normalisation.
#include "draw.hpp"
#include "inverse_deviation.hpp"
#include <benanza/model/unit_height.hpp>

#include <array>
#include <cstddef>

namespace benanza::cudnn {

std::optional<Drawn> draw(const op::ConvGradient& given, const Subject& subject, Order order) {
  const op::ConvGradient op = detail::with_unit_height(given);
  if (op.x.size() < 4 || subject.is_integer()) return std::nullopt;
  const std::size_t spatial = op.x.size() - 2;
  const auto with_windows = [&](auto attributes) {
    const auto list = [&](const TensorShape& values, std::size_t first, std::int64_t otherwise) {
      Numbers result(spatial, otherwise);
      for (std::size_t i = 0; i < spatial && !values.empty(); ++i) result[i] = values[first + i];
      return result;
    };
    return attributes.set_pre_padding(list(op.pads, 0, 0))
        .set_post_padding(list(op.pads, spatial, 0))
        .set_stride(list(op.strides, 0, 1))
        .set_dilation(list(op.dilations, 0, 1));
  };
  Draw drawing(subject);
  const auto strides = [&](const TensorShape& shape) { return numbers(packed_strides(shape, order)); };
  const auto input = [&](std::size_t i, const TensorShape& shape) {
    return drawing.input(i, numbers(shape), strides(shape));
  };
  if (op.of == op::ConvGradientOf::data) {
    const Tensor dy = input(0, op.y()), w = input(1, op.w);
    const Tensor dx = drawing.graph().conv_dgrad(dy, w, with_windows(fe::graph::Conv_dgrad_attributes()));
    drawing.output(dx, numbers(op.x), strides(op.x));
  } else {
    const Tensor x = input(0, op.x), dy = input(1, op.y());
    const Tensor dw = drawing.graph().conv_wgrad(dy, x, with_windows(fe::graph::Conv_wgrad_attributes()));
    drawing.output(dw, numbers(op.w), strides(op.w));
  }
  Drawn drawn(drawing.shared(), subject);
  if (order == Order::nhwc) {
    drawn.suffix = ",layout=nhwc";
    put_channels_last(drawn.draft, subject.operands, 0, false);
    put_channels_last(drawn.draft, subject.operands, 1, false);
    put_channels_last(drawn.draft, subject.operands, 0, true);
  }
  return drawn;
}

std::optional<Drawn> draw(const op::NormGradient& op, const Subject& subject, Order order) {
  using enum op::NormGradientOf;
  if (order == Order::nhwc && op.of != batch) return std::nullopt;  // rows have no channels
  if (op.of == group || op.type != DataType::f32 || !op.affine || op.bias == (op.of == rms)) return std::nullopt;
  Draw drawing(subject);
  const bool by_channel = op.of == batch;
  const TensorShape whole =
      by_channel ? TensorShape{op.x[0], op.x[1], op.x[2], 1} : TensorShape{op.x[0], op.x[1], 1, 1};
  const TensorShape channels{1, op.x[1], 1, 1};
  const TensorShape statistics = by_channel ? channels : TensorShape{op.x[0], 1, 1, 1};
  const auto input = [&](std::size_t i, const TensorShape& shape, Order lies) {
    return drawing.input(i, numbers(shape), numbers(packed_strides(shape, lies)));
  };
  const Tensor dy = input(0, whole, order), x = input(1, whole, order), scale = input(2, channels, Order::nchw);
  const std::size_t last = op.has_mean() ? 4 : 3;
  const Tensor inverse = input(last, statistics, Order::nchw);
  std::array<Tensor, 3> made{};
  if (op.of == rms) {
    made = drawing.graph().rmsnorm_backward(dy, x, scale, inverse,
                                            fe::graph::Rmsnorm_backward_attributes().has_dbias(false));
  } else {
    const Tensor mean = input(3, statistics, Order::nchw);
    if (by_channel)
      made = drawing.graph().batchnorm_backward(
          dy, x, scale, fe::graph::Batchnorm_backward_attributes().set_saved_mean_and_inv_variance(mean, inverse));
    else
      made = drawing.graph().layernorm_backward(
          dy, x, scale, fe::graph::Layernorm_backward_attributes().set_saved_mean_and_inv_variance(mean, inverse));
  }
  drawing.output(made[0], numbers(whole), numbers(packed_strides(whole, order)));
  for (std::size_t i = 1; i < subject.operands.outputs.size(); ++i)
    drawing.output(made[i], numbers(channels), numbers(packed_strides(channels)), i);
  Drawn drawn(drawing.shared(), subject);
  drawn.strict = false;  // all multiplications are element-wise
  if (order == Order::nhwc) {
    drawn.suffix = ",layout=nhwc";
    put_channels_last(drawn.draft, subject.operands, 0, false);
    put_channels_last(drawn.draft, subject.operands, 1, false);
    put_channels_last(drawn.draft, subject.operands, 0, true);
  }
  put_inverse_deviation(drawn.draft, last, op.statistics());
  return drawn;
}

}  // namespace benanza::cudnn
