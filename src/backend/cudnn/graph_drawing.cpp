// SPDX-License-Identifier: Apache-2.0
#include "draw.hpp"
#include "plan/transpose_matrices.hpp"
#include <benanza/model/unit_height.hpp>

#include <algorithm>
#include <cmath>

namespace benanza::cudnn {

namespace {

void lay_out(Draft& draft, const Operands& operands, Order order) {
  if (order == Order::nchw) return;
  for (std::size_t i = 0; i < operands.inputs.size(); ++i) put_channels_last(draft, operands, i, false);
  put_channels_last(draft, operands, 0, true);
}

/// Element-wise chains: a first step, then an epilogue.
std::optional<Drawn> draw_chain(const PostOp& first, const TensorShape& a, const TensorShape& b, const Epilogue& post,
                                const TensorShape& y, const Subject& subject) {
  const std::size_t rank = std::max<std::size_t>(3, y.size());
  if (rank > 8 || subject.is_integer()) return std::nullopt;
  const auto led = [&](const TensorShape& shape) {
    TensorShape result = TensorShape::filled(rank, 1);
    for (std::size_t i = 0; i < shape.size(); ++i) result[rank - shape.size() + i] = shape[i];
    return result;
  };
  // An operand that broadcasts along the last axis gives wrong results (cuDNN 9.19 on an H200, 4x64x49 - 1x64x1).
  const auto is_column = [&](const TensorShape& shape) {
    return element_count(shape) > 1 && led(shape)[rank - 1] != led(y)[rank - 1];
  };
  if (is_column(a) || is_column(b)) return std::nullopt;
  for (const auto& step : post)
    if ((step.channel && y.size() > 1) || (!step.shape.empty() && is_column(step.shape))) return std::nullopt;
  Draw drawing(subject);
  const auto input = [&](std::size_t i, const TensorShape& shape) {
    return drawing.input(i, numbers(led(shape)), numbers(packed_strides(led(shape))));
  };
  Tensor value = input(0, a);
  const Tensor second = !is_binary(first.fn) ? nullptr : b.empty() ? value : input(1, b);
  value = drawing.step(value, first, second);
  if (value == nullptr) return std::nullopt;
  const std::size_t operands_before = second == nullptr || b.empty() ? 1 : 2;
  value = drawing.epilogue(value, post, led(y), rank - y.size(), operands_before, Order::nchw);
  if (value == nullptr) return std::nullopt;
  drawing.output(value, numbers(led(y)), numbers(packed_strides(led(y))));
  Drawn drawn(drawing.shared(), subject);
  drawn.strict = false;  // nothing is multiplied
  return drawn;
}

}  // namespace

std::optional<Drawn> draw(const op::Conv& given, const Subject& subject, Order order) {
  const op::Conv op = detail::with_unit_height(given);
  if (op.x_zero || op.w_zero || op.x.size() < 4) return std::nullopt;
  Draw drawing(subject);
  const std::size_t spatial = op.x.size() - 2;
  const auto list = [&](const TensorShape& values, std::size_t first, std::int64_t otherwise) {
    Numbers result(spatial, otherwise);
    for (std::size_t i = 0; i < spatial && !values.empty(); ++i) result[i] = values[first + i];
    return result;
  };
  const auto x = drawing.input(0, numbers(op.x), numbers(packed_strides(op.x, order)));
  const auto w = drawing.input(1, numbers(op.w), numbers(packed_strides(op.w, order)));
  Tensor y = drawing.graph().conv_fprop(x, w,
                                        drawing.product(fe::graph::Conv_fprop_attributes()
                                                            .set_pre_padding(list(op.pads, 0, 0))
                                                            .set_post_padding(list(op.pads, spatial, 0))
                                                            .set_stride(list(op.strides, 0, 1))
                                                            .set_dilation(list(op.dilations, 0, 1))));
  const Numbers dims = numbers(op.y()), strides = numbers(packed_strides(op.y(), order));
  if (!op.post.empty()) y->set_dim(dims).set_stride(strides);
  y = drawing.epilogue(y, op.post, op.y(), 1, 2, order);
  if (y == nullptr) return std::nullopt;
  drawing.output(y, dims, strides);
  Drawn drawn(drawing.shared(), subject);
  if (order == Order::nhwc) drawn.suffix = ",layout=nhwc";
  lay_out(drawn.draft, subject.operands, order);
  return drawn;
}

std::optional<Drawn> draw(const op::MatMul& op, const Subject& subject, Order) {
  // Even in strict f32, an engine without any note rounds its operands (cuDNN 9.19 on an H200: 2.6e-4 off).
  if (op.a_zero || op.b_zero || subject.strict()) return std::nullopt;
  const std::int64_t batch = element_count(op.batch());
  const auto entries = [](const TensorShape& shape) {
    return element_count(TensorShape(std::span(shape.begin(), shape.end() - 2)));
  };
  const std::int64_t of_a = entries(op.a), of_b = entries(op.b);
  if ((of_a != 1 && of_a != batch) || (of_b != 1 && of_b != batch)) return std::nullopt;
  Draw drawing(subject);
  const std::int64_t m = op.m(), n = op.n(), k = op.k();
  const auto a = drawing.input(0, {of_a, m, k}, op.trans_a ? Numbers{m * k, 1, m} : Numbers{m * k, k, 1});
  // Tensor cores require 8-bit operands that are both contiguous along k.
  const bool turns = bits(op.type) == 8 && !op.trans_b;
  const auto b = drawing.input(1, {of_b, k, n}, turns || op.trans_b ? Numbers{k * n, 1, k} : Numbers{k * n, n, 1});
  Tensor y = drawing.graph().matmul(a, b, drawing.product(fe::graph::Matmul_attributes()));
  const TensorShape flat{batch, m, n};
  for (const auto& step : op.post)  // operands that broadcast along some of several batch dimensions have no flat form
    if (op.y().size() > 3 && !step.shape.empty()) return std::nullopt;
  y = drawing.epilogue(y, op.post, flat, 2, 2, Order::nchw);
  if (y == nullptr) return std::nullopt;
  drawing.output(y, numbers(flat), {m * n, n, 1});
  Drawn drawn(drawing.shared(), subject);
  if (turns)
    drawn.draft.inputs.emplace_back(
        1, OtherLayout{{.name = "turned", .bytes = static_cast<std::size_t>(of_b * k * n)},
                       [=](const void* from, void* to) { transpose_matrices(from, to, of_b, k, n, 1); }});
  return drawn;
}

std::optional<Drawn> draw(const op::LayerNorm& op, const Subject& subject, Order) {
  if (!op.scale || (!op.rms && !op.bias) || op.residual != op::Residual::none) return std::nullopt;
  Draw drawing(subject);
  const TensorShape whole{op.x[0], op.x[1], 1, 1}, channels{1, op.x[1], 1, 1};
  const auto x = drawing.input(0, numbers(whole), numbers(packed_strides(whole)));
  const auto scale = drawing.input(1, numbers(channels), numbers(packed_strides(channels)));
  auto epsilon = drawing.graph().tensor(fe::graph::Tensor_attributes(static_cast<float>(subject.parameters.epsilon)));
  Tensor y;
  if (op.rms) {
    y = drawing.graph().rmsnorm(
        x, scale,
        fe::graph::Rmsnorm_attributes().set_forward_phase(fe::NormFwdPhase_t::INFERENCE).set_epsilon(epsilon))[0];
  } else {
    const auto bias = drawing.input(2, numbers(channels), numbers(packed_strides(channels)));
    y = drawing.graph().layernorm(
        x, scale, bias,
        fe::graph::Layernorm_attributes().set_forward_phase(fe::NormFwdPhase_t::INFERENCE).set_epsilon(epsilon))[0];
  }
  drawing.output(y, numbers(whole), numbers(packed_strides(whole)));
  Drawn drawn(drawing.shared(), subject);
  drawn.strict = false;  // all multiplications are element-wise
  return drawn;
}

std::optional<Drawn> draw(const op::Attention& op, const Subject& subject, Order) {
  if (bits(subject.type) != 16) return std::nullopt;  // the types that this call of cuDNN multiplies
  if (!op.beyond_added_mask().empty() || !op.starts_at_first_key()) return std::nullopt;
  Draw drawing(subject);
  const auto strides = [](const TensorShape& s, bool tokens_first) {
    return tokens_first ? Numbers{s[1] * s[2] * s[3], s[3], s[1] * s[3], 1} : numbers(packed_strides(s));
  };
  const auto q = drawing.input(0, numbers(op.q), strides(op.q, op.q_tokens_first));
  const std::int64_t keys = op.k[2], depth = op.k[3];
  const auto k = drawing.input(1, numbers(op.k), strides(op.k, op.k_tokens_first));  // the only order that it accepts
  const auto v = drawing.input(2, numbers(op.v), strides(op.v, op.v_tokens_first));
  auto how = fe::graph::SDPA_attributes()
                 .set_generate_stats(false)
                 .set_attn_scale(static_cast<float>(
                     subject.parameters.attention_scale.value_or(1 / std::sqrt(static_cast<double>(depth)))))
                 .set_causal_mask(op.causal);
  if (!op.mask.empty()) {
    TensorShape mask = TensorShape::filled(4, 1);
    for (std::size_t i = 0; i < op.mask.size(); ++i) mask[4 - op.mask.size() + i] = op.mask[i];
    how.set_bias(drawing.input(3, numbers(mask), strides(mask, false)));
  }
  const Tensor y = drawing.graph().sdpa(q, k, v, how)[0];
  drawing.output(y, numbers(op.y()), strides(op.y(), op.y_tokens_first));
  Drawn drawn(drawing.shared(), subject);
  drawn.tolerance *= 4;  // scores and weights are rounded in between
  if (op.k_transposed) {
    const Operand& stored = subject.operands.inputs[1];
    const auto element = static_cast<std::size_t>(bits(stored.type)) / 8;
    drawn.draft.inputs.emplace_back(1, OtherLayout{{.name = "turned",
                                                    .bytes = static_cast<std::size_t>(stored.bytes()),
                                                    .order = transposed_order(op.k[0] * op.k[1], depth, keys)},
                                                   [=, heads = op.k[0] * op.k[1]](const void* from, void* to) {
                                                     transpose_matrices(from, to, heads, depth, keys, element);
                                                   }});
  }
  return drawn;
}

std::optional<Drawn> draw(const op::Unary& op, const Subject& subject, Order) {
  return draw_chain(PostOp{op.fn, op.alpha, op.beta}, op.x, {}, op.post, op.x, subject);
}
std::optional<Drawn> draw(const op::Binary& op, const Subject& subject, Order) {
  return draw_chain(PostOp{op.fn}, op.a, op.same ? TensorShape{} : op.b, op.post, op.y(), subject);
}

}  // namespace benanza::cudnn
