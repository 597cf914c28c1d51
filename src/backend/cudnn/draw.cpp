// SPDX-License-Identifier: Apache-2.0
#include "draw.hpp"

namespace benanza::cudnn {

namespace {

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

Draw::Draw(const Subject& subject) : subject_(subject), graph_(std::make_shared<Graph>()) {
  graph_->set_io_data_type(*graph_type(subject.type))
      .set_intermediate_data_type(fe::DataType_t::FLOAT)
      .set_compute_data_type(fe::DataType_t::FLOAT);
  if (subject.capability != 0) graph_->set_sm_version(subject.capability);  // nodes read it when they are created
}

Tensor Draw::input(std::size_t i, const Numbers& dims, const Numbers& strides) {
  return graph_->tensor(fe::graph::Tensor_attributes()
                            .set_name("input" + std::to_string(i))
                            .set_uid(static_cast<std::int64_t>(i) + 1)
                            .set_dim(dims)
                            .set_stride(strides)
                            .set_data_type(*graph_type(subject_.operands.inputs.at(i).type)));
}

void Draw::output(const Tensor& tensor, const Numbers& dims, const Numbers& strides, std::size_t i) {
  tensor->set_output(true)
      .set_uid(first_output + static_cast<std::int64_t>(i))
      .set_dim(dims)
      .set_stride(strides)
      .set_data_type(*graph_type(subject_.operands.outputs.at(i).type));
}

Tensor Draw::step(const Tensor& value, const PostOp& post, const Tensor& operand) {
  using enum fe::PointwiseMode_t;
  switch (post.fn) {  // functions without a mode of their own are drawn in parts, as ONNX defines them
    case ElementwiseFn::hard_sigmoid: return ramp(value, post.alpha, post.beta);
    case ElementwiseFn::hard_swish: return combine(value, ramp(value, 1.0 / 6, 0.5), MUL);
    case ElementwiseFn::mish: return combine(value, apply(apply(value, SOFTPLUS_FWD), TANH_FWD), MUL);
    case ElementwiseFn::square: return combine(value, value, MUL);
    default: break;
  }
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

Tensor Draw::epilogue(Tensor value, const Epilogue& post, const TensorShape& y, std::size_t channel_axis, std::size_t i,
                      Order order) {
  const bool rescales_bias = !post.empty() && post[0] == bias;
  if (subject_.is_integer() && (!post.empty() || subject_.parameters.rescale != 1))
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

Tensor Draw::apply(const Tensor& value, fe::PointwiseMode_t mode) {
  return graph_->pointwise(value, fe::graph::Pointwise_attributes().set_mode(mode));
}

Tensor Draw::combine(const Tensor& a, const Tensor& b, fe::PointwiseMode_t mode) {
  return graph_->pointwise(a, b, fe::graph::Pointwise_attributes().set_mode(mode));
}

Tensor Draw::ramp(const Tensor& value, double slope, double offset) {
  const Tensor line =
      combine(combine(value, number(slope), fe::PointwiseMode_t::MUL), number(offset), fe::PointwiseMode_t::ADD);
  return graph_->pointwise(
      line, fe::graph::Pointwise_attributes().set_mode(fe::PointwiseMode_t::RELU_FWD).set_relu_upper_clip(1.0F));
}

Tensor Draw::rescaled(const Tensor& value) {
  if (subject_.parameters.rescale == 1) return value;
  return combine(value, number(subject_.parameters.rescale), fe::PointwiseMode_t::MUL);
}

}  // namespace benanza::cudnn
