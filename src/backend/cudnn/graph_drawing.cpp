// SPDX-License-Identifier: Apache-2.0
#include "graph_drawing.hpp"

#include <benanza/plan/transpose_matrices.hpp>

#include <cmath>

namespace benanza::cudnn {

namespace {

using Tensor = std::shared_ptr<fe::graph::Tensor_attributes>;
using Numbers = std::vector<std::int64_t>;

Numbers numbers(const TensorShape& shape) { return {shape.begin(), shape.end()}; }

std::optional<fe::PointwiseMode_t> mode_of(ElementwiseFn fn) {
  switch (fn) {
    case ElementwiseFn::add: return fe::PointwiseMode_t::ADD;
    case ElementwiseFn::sub: return fe::PointwiseMode_t::SUB;
    case ElementwiseFn::mul: return fe::PointwiseMode_t::MUL;
    case ElementwiseFn::div: return fe::PointwiseMode_t::DIV;
    case ElementwiseFn::max: return fe::PointwiseMode_t::MAX;
    case ElementwiseFn::min: return fe::PointwiseMode_t::MIN;
    case ElementwiseFn::pow: return fe::PointwiseMode_t::POW;
    case ElementwiseFn::relu:
    case ElementwiseFn::leaky_relu:
    case ElementwiseFn::clip: return fe::PointwiseMode_t::RELU_FWD;
    case ElementwiseFn::sigmoid: return fe::PointwiseMode_t::SIGMOID_FWD;
    case ElementwiseFn::tanh: return fe::PointwiseMode_t::TANH_FWD;
    case ElementwiseFn::elu: return fe::PointwiseMode_t::ELU_FWD;
    case ElementwiseFn::gelu: return fe::PointwiseMode_t::GELU_FWD;
    case ElementwiseFn::gelu_tanh: return fe::PointwiseMode_t::GELU_APPROX_TANH_FWD;
    case ElementwiseFn::softplus: return fe::PointwiseMode_t::SOFTPLUS_FWD;
    case ElementwiseFn::swish: return fe::PointwiseMode_t::SWISH_FWD;
    case ElementwiseFn::exp: return fe::PointwiseMode_t::EXP;
    case ElementwiseFn::log: return fe::PointwiseMode_t::LOG;
    case ElementwiseFn::neg: return fe::PointwiseMode_t::NEG;
    case ElementwiseFn::abs: return fe::PointwiseMode_t::ABS;
    case ElementwiseFn::sqrt: return fe::PointwiseMode_t::SQRT;
    case ElementwiseFn::erf: return fe::PointwiseMode_t::ERF;
    case ElementwiseFn::reciprocal: return fe::PointwiseMode_t::RECIPROCAL;
    case ElementwiseFn::ceil: return fe::PointwiseMode_t::CEIL;
    case ElementwiseFn::floor: return fe::PointwiseMode_t::FLOOR;
    case ElementwiseFn::cos: return fe::PointwiseMode_t::COS;
    case ElementwiseFn::sin: return fe::PointwiseMode_t::SIN;
    case ElementwiseFn::tan: return fe::PointwiseMode_t::TAN;
    default: return std::nullopt;
  }
}

/// A graph over the operands of a layer: input `i` has the number i + 1.
class Draw {
 public:
  explicit Draw(const Subject& subject) : subject_(subject), graph_(std::make_shared<fe::graph::Graph>()) {
    graph_->set_io_data_type(*graph_type(subject.type))
        .set_intermediate_data_type(fe::DataType_t::FLOAT)
        .set_compute_data_type(fe::DataType_t::FLOAT);
    if (subject.capability != 0) graph_->set_sm_version(subject.capability);  // nodes take it when they are made
  }

  [[nodiscard]] fe::graph::Graph& graph() { return *graph_; }
  [[nodiscard]] const std::shared_ptr<fe::graph::Graph>& shared() const { return graph_; }

  Tensor input(std::size_t i, const Numbers& dims, const Numbers& strides) {
    return graph_->tensor(fe::graph::Tensor_attributes()
                              .set_name("input" + std::to_string(i))
                              .set_uid(static_cast<std::int64_t>(i) + 1)
                              .set_dim(dims)
                              .set_stride(strides)
                              .set_data_type(*graph_type(subject_.operands.inputs.at(i).type)));
  }
  void output(const Tensor& tensor, const Numbers& dims, const Numbers& strides) {
    tensor->set_output(true)
        .set_uid(first_output)
        .set_dim(dims)
        .set_stride(strides)
        .set_data_type(*graph_type(subject_.operands.outputs.at(0).type));
  }

  /// Attributes of a product: integers are summed in integers.
  template <class Attributes>
  [[nodiscard]] Attributes product(Attributes attributes) const {
    if (subject_.is_integer()) attributes.set_compute_data_type(fe::DataType_t::INT32);
    return attributes;
  }

  /// One step on a running value; null for a function that cuDNN's graphs lack.
  Tensor step(const Tensor& value, const PostOp& post, const Tensor& operand) {
    const auto mode = mode_of(post.fn);
    if (!mode) return nullptr;
    auto how = fe::graph::Pointwise_attributes().set_mode(*mode);
    if (post.fn == ElementwiseFn::leaky_relu) how.set_relu_lower_clip_slope(static_cast<float>(post.alpha));
    if (post.fn == ElementwiseFn::clip) {
      if (post.alpha != 0) return nullptr;
      how.set_relu_upper_clip(static_cast<float>(post.beta));
    }
    if (post.fn == ElementwiseFn::swish) how.set_swish_beta(static_cast<float>(post.alpha));
    if (post.fn == ElementwiseFn::elu) how.set_elu_alpha(static_cast<float>(post.alpha));
    if (operand == nullptr) return graph_->pointwise(value, how);
    return post.swapped ? graph_->pointwise(operand, value, how) : graph_->pointwise(value, operand, how);
  }

  /// The steps of an epilogue on a result of this shape and order; its operands are inputs from `i` on.
  Tensor epilogue(Tensor value, const Epilogue& post, const TensorShape& y, std::size_t channel_axis, std::size_t i,
                  Order order) {
    const bool rescales_bias = !post.empty() && post[0] == bias;
    if (subject_.is_integer() && (!post.empty() || subject_.rescale != 1))
      value->set_data_type(fe::DataType_t::INT32).set_dim(numbers(y)).set_stride(numbers(packed_strides(y, order)));
    if (!rescales_bias) value = rescaled(value);
    for (const auto& op : post) {
      Tensor operand;
      if (is_binary(op.fn)) {
        TensorShape shape = y;
        if (op.channel) {
          shape = TensorShape::filled(y.size(), 1);
          shape[channel_axis] = y[channel_axis];
        } else if (!op.shape.empty()) {
          shape = TensorShape::filled(y.size(), 1);
          for (std::size_t k = 0; k < op.shape.size(); ++k) shape[y.size() - op.shape.size() + k] = op.shape[k];
        }
        operand = input(i++, numbers(shape), numbers(packed_strides(shape, order)));
      }
      value = step(value, op, operand);
      if (value == nullptr) return nullptr;
      if (rescales_bias && &op == post.begin()) value = rescaled(value);
    }
    return value;
  }

 private:
  [[nodiscard]] Tensor rescaled(const Tensor& value) {
    if (subject_.rescale == 1) return value;
    return graph_->pointwise(value, graph_->tensor(static_cast<float>(subject_.rescale)),
                             fe::graph::Pointwise_attributes().set_mode(fe::PointwiseMode_t::MUL));
  }

  const Subject& subject_;
  std::shared_ptr<fe::graph::Graph> graph_;
};

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

std::optional<fe::DataType_t> graph_type(DataType type) {
  switch (type) {
    case DataType::f32:
    case DataType::tf32: return fe::DataType_t::FLOAT;
    case DataType::f16: return fe::DataType_t::HALF;
    case DataType::bf16: return fe::DataType_t::BFLOAT16;
    case DataType::f8e4m3: return fe::DataType_t::FP8_E4M3;
    case DataType::f8e5m2: return fe::DataType_t::FP8_E5M2;
    case DataType::i8: return fe::DataType_t::INT8;
    case DataType::i32: return fe::DataType_t::INT32;
    default: return std::nullopt;
  }
}

std::optional<Drawn> draw(const op::Conv& op, const Subject& subject, Order order) {
  if (op.x_zero || op.w_zero) return std::nullopt;
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
  if (op.a_zero || op.b_zero) return std::nullopt;
  const std::int64_t batch = element_count(op.batch());
  const auto entries = [](const TensorShape& shape) {
    return element_count(TensorShape(std::span(shape.begin(), shape.end() - 2)));
  };
  const std::int64_t of_a = entries(op.a), of_b = entries(op.b);
  if ((of_a != 1 && of_a != batch) || (of_b != 1 && of_b != batch)) return std::nullopt;
  Draw drawing(subject);
  const std::int64_t m = op.m(), n = op.n(), k = op.k();
  const auto a = drawing.input(0, {of_a, m, k}, op.trans_a ? Numbers{m * k, 1, m} : Numbers{m * k, k, 1});
  // Tensor cores take operands of 8 bits where both lie along k.
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
  if (!op.scale || (!op.rms && !op.bias)) return std::nullopt;
  Draw drawing(subject);
  const TensorShape whole{op.x[0], op.x[1], 1, 1}, channels{1, op.x[1], 1, 1};
  const auto x = drawing.input(0, numbers(whole), numbers(packed_strides(whole)));
  const auto scale = drawing.input(1, numbers(channels), numbers(packed_strides(channels)));
  auto epsilon = drawing.graph().tensor(fe::graph::Tensor_attributes(1e-5F));
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
  return Drawn(drawing.shared(), subject);
}

std::optional<Drawn> draw(const op::Attention& op, const Subject& subject, Order) {
  if (bits(subject.type) != 16) return std::nullopt;  // what this call of cuDNN's multiplies
  Draw drawing(subject);
  const auto strides = [](const TensorShape& shape) { return numbers(packed_strides(shape)); };
  const auto q = drawing.input(0, numbers(op.q), strides(op.q));
  const std::int64_t keys = op.k[2], depth = op.k[3];
  const auto k = drawing.input(1, numbers(op.k), strides(op.k));  // the only order that it takes
  const auto v = drawing.input(2, numbers(op.v), strides(op.v));
  auto how = fe::graph::SDPA_attributes()
                 .set_generate_stats(false)
                 .set_attn_scale(1.0F / std::sqrt(static_cast<float>(depth)))
                 .set_causal_mask(op.causal);
  if (!op.mask.empty()) {
    TensorShape mask = TensorShape::filled(4, 1);
    for (std::size_t i = 0; i < op.mask.size(); ++i) mask[4 - op.mask.size() + i] = op.mask[i];
    how.set_bias(drawing.input(3, numbers(mask), strides(mask)));
  }
  const Tensor y = drawing.graph().sdpa(q, k, v, how)[0];
  drawing.output(y, numbers(op.y()), strides(op.y()));
  Drawn drawn(drawing.shared(), subject);
  drawn.tolerance *= 4;  // scores and weights are rounded in between
  if (op.k_transposed) {
    const Operand& stored = subject.operands.inputs[1];
    const auto element = static_cast<std::size_t>(bits(stored.type)) / 8;
    drawn.draft.inputs.emplace_back(1,
                                    OtherLayout{{.name = "turned", .bytes = static_cast<std::size_t>(stored.bytes())},
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
