// SPDX-License-Identifier: Apache-2.0
// Convolutions of 8-bit integers. Libraries have no plan for those that are depthwise, or have a zero point or an
// unsigned operand.
#include "check.hpp"
#include "context.hpp"
#include "plan/transpose_matrices.hpp"
#include <benanza/base/detail/window.hpp>
#include <benanza/model/quantization.hpp>
#include <benanza/plan/element.hpp>

#include <cstring>

namespace benanza::cuda {

namespace {

std::optional<IntegerResult> result_of(DataType type) {
  switch (type) {
    case DataType::i8: return IntegerResult::i8;
    case DataType::u8: return IntegerResult::u8;
    case DataType::i32: return IntegerResult::i32;
    case DataType::f32: return IntegerResult::f32;
    default: return std::nullopt;
  }
}

bool is_depthwise(const op::Conv& op) {
  constexpr std::int64_t exact_sum = 256;  // taps of 16 bits whose sum fits an f32 exactly
  return op.group == op.x[1] && op.w[1] == 1 && element_count(op.w) / op.w[0] <= exact_sum;
}

/// Windows of a convolution in two dimensions, or in one, which is given the height 1.
IntegerWindows windows_of(const op::Conv& op, const TensorShape& y, bool relu) {
  const Quantization numbers = quantization(Layer(op));
  IntegerWindows windows{.x_zero = static_cast<std::int32_t>(numbers.x_zero),
                         .w_zero = static_cast<std::int32_t>(numbers.w_zero),
                         .rescale = static_cast<float>(numbers.rescale),
                         .relu = relu};
  const std::size_t axes = op.x.size() - 2;
  for (std::size_t k = 0; k < axes; ++k) {
    const std::size_t to = k + 2 - axes;
    windows.sizes[to] = op.x[k + 2];
    windows.outputs[to] = y[k + 2];
    windows.kernel[to] = static_cast<int>(op.w[k + 2]);
    windows.pads[to] = static_cast<int>(detail::at_or(op.pads, k, 0));
    windows.strides[to] = static_cast<int>(detail::at_or(op.strides, k, 1));
    windows.dilations[to] = static_cast<int>(detail::at_or(op.dilations, k, 1));
  }
  return windows;
}

/// Channels last; those of a group fill whole words of four.
class IntegerConvolution final : public Plan {
 public:
  IntegerConvolution(const op::Conv& op, const IntegerWindows& windows, IntegerResult result, bool has_bias,
                     double tolerance, const Context& context)
      : Plan({.algorithm = "implicit_gemm:dp4a,threads=1",
              .inputs = layouts(op.operands().inputs, words_of(op)),
              .outputs = {{.name = "nhwc", .bytes = static_cast<std::size_t>(op.operands().outputs[0].bytes())}},
              .tolerance = tolerance}),
        op_(op),
        y_(op.operands().outputs[0]),
        shape_{.batch = op.x[0],
               .groups = op.group,
               .words = words_of(op),
               .channels = op.w[0] / op.group,
               .windows = windows},
        x_element_(*quantized_element_of(op.type)),
        result_(result),
        has_bias_(has_bias),
        stream_(context.stream()) {
    if (op.type == DataType::u8) shape_.windows.x_zero -= from_unsigned;
    if (w_type() == DataType::u8) shape_.windows.w_zero -= from_unsigned;
  }

 private:
  static constexpr std::int32_t from_unsigned = 128;
  static std::int64_t words_of(const op::Conv& op) { return (op.w[1] + 3) / 4; }
  static std::size_t weight_bytes(const op::Conv& op) {
    return static_cast<std::size_t>(element_count(op.w) / op.w[1] * 4 * words_of(op));
  }
  static std::vector<Layout> layouts(const std::vector<Operand>& inputs, std::int64_t words);

  [[nodiscard]] DataType w_type() const { return op_.w_type.value_or(op_.type); }

  void do_pack_input(std::size_t i, const void* plain, void* packed) const override {
    std::memset(packed, 0, inputs()[i].bytes);
    if (i == 0) pack_x(plain, static_cast<std::int8_t*>(packed));
    else if (i == 1) pack_w(plain, static_cast<std::int8_t*>(packed));
    else std::memcpy(packed, plain, inputs()[i].bytes);
  }
  void pack_x(const void* plain, std::int8_t* packed) const;
  void pack_w(const void* plain, std::int8_t* packed) const;
  [[nodiscard]] std::int64_t places() const { return y_.elements() / (op_.x[0] * op_.w[0]); }
  void do_unpack_output(std::size_t, const void* packed, void* plain) const override {
    transpose_matrices(packed, plain, op_.x[0], places(), op_.w[0], static_cast<std::size_t>(bits(y_.type)) / 8);
  }
  [[nodiscard]] std::optional<std::int64_t> do_output_position(std::size_t, std::int64_t index) const override {
    return transposed_index(index, op_.w[0], places());
  }
  void do_execute(const Arguments& a) const override {
    integer_convolution(shape_, x_element_, result_, a.inputs[0], a.inputs[1], has_bias_ ? a.inputs[2] : nullptr,
                        a.outputs[0], stream_);
    check(cudaGetLastError(), "the launch of a kernel");
  }

  op::Conv op_;
  Operand y_;
  IntegerConvolutionShape shape_;
  Element x_element_;
  IntegerResult result_;
  bool has_bias_;
  cudaStream_t stream_;
};

std::vector<Layout> IntegerConvolution::layouts(const std::vector<Operand>& inputs, std::int64_t words) {
  std::vector<Layout> result = plain_layouts(inputs);
  const TensorShape &x = inputs[0].shape, &w = inputs[1].shape;
  const auto whole = [&](std::int64_t elements) { return static_cast<std::size_t>(elements / w[1] * 4 * words); };
  result[0] = {.name = "nhwc4", .bytes = whole(element_count(x))};
  result[1] = {.name = "ohwi4,sums", .bytes = whole(element_count(w)) + static_cast<std::size_t>(w[0]) * 4};
  return result;
}

void IntegerConvolution::pack_x(const void* plain, std::int8_t* packed) const {
  const std::int64_t channels = op_.x[1], of_group = op_.w[1], room = 4 * shape_.words;
  const std::int64_t area = element_count(op_.x) / (op_.x[0] * channels);
  const auto* from = static_cast<const std::int8_t*>(plain);
  for (std::int64_t image = 0; image < op_.x[0]; ++image)
    for (std::int64_t c = 0; c < channels; ++c)
      for (std::int64_t place = 0; place < area; ++place)
        packed[((image * area + place) * shape_.groups + c / of_group) * room + c % of_group] = *from++;
}

/// Weights as signed numbers, with the zero point as padding for missing channels, so that these add nothing. After the
/// weights, the contribution of x's zero point to each result's sum: sum of (x - a) * (w - b) = sum of x w - b * sum of
/// x - a * sum of w + count * a * b.
void IntegerConvolution::pack_w(const void* plain, std::int8_t* packed) const {
  const std::int64_t of_group = op_.w[1], room = 4 * shape_.words, taps = element_count(op_.w) / (op_.w[0] * of_group);
  const std::int32_t shift = w_type() == DataType::u8 ? from_unsigned : 0;
  const std::int32_t x_zero = shape_.windows.x_zero, w_zero = shape_.windows.w_zero;
  for (std::int64_t m = 0; m < op_.w[0]; ++m) {
    std::int32_t sum = 0;
    for (std::int64_t tap = 0; tap < taps; ++tap)
      for (std::int64_t c = 0; c < room; ++c) {
        const auto value =
            c < of_group ? static_cast<std::int32_t>(load(plain, w_type(), (m * of_group + c) * taps + tap)) - shift
                         : w_zero;
        packed[(m * taps + tap) * room + c] = static_cast<std::int8_t>(value);
        sum += value;
      }
    const auto offset = x_zero * (static_cast<std::int32_t>(taps * room) * w_zero - sum);
    std::memcpy(packed + op_.w[0] * taps * room + m * 4, &offset, 4);
  }
}

}  // namespace

Result plans(const op::Conv& op, const Context& context) {
  const DataType w_type = op.w_type.value_or(op.type), y_type = op.y_type.value_or(op.type);
  const auto result = result_of(y_type);
  if (!is_8_bit(op.type) || !is_8_bit(w_type) || !result || op.x.size() > 4) return unsupported(op.kind, op.type);
  const bool has_bias = !op.post.empty() && op.post[0] == bias;
  const std::size_t behind_bias = has_bias ? 1 : 0;
  const bool relu = op.post.size() == behind_bias + 1 && op.post[behind_bias] == PostOp(ElementwiseFn::relu);
  if (op.post.size() != behind_bias + (relu ? 1 : 0)) return Unsupported{"no such epilogue in backend cuda"};
  const TensorShape y = op.y();
  const IntegerWindows windows = windows_of(op, y, relu);
  const auto x_element = *quantized_element_of(op.type), w_element = *quantized_element_of(w_type);
  const double tolerance = *result == IntegerResult::f32 ? tolerance_of(Element::f32) : tolerance_of(x_element);
  if (!is_depthwise(op)) {
    if (!op.w_constant) return Unsupported{"no weights that are computed in backend cuda"};
    Plans plans;
    plans.push_back(std::make_unique<IntegerConvolution>(op, windows, *result, has_bias, tolerance, context));
    return plans;
  }
  const DepthwiseShape shape{
      .channels = op.w[0], .outputs_of_channel = op.w[0] / op.group, .elements = element_count(y), .windows = windows};
  return one_plan(
      context, op.operands(), "depthwise",
      [=, result = *result, stream = context.stream()](const Arguments& a) {
        depthwise(shape, x_element, w_element, result, a.inputs[0], a.inputs[1], has_bias ? a.inputs[2] : nullptr,
                  a.outputs[0], stream);
      },
      tolerance);
}

}  // namespace benanza::cuda
