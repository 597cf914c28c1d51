// SPDX-License-Identifier: Apache-2.0
#include "quantization_scales.hpp"

#include "candidates.hpp"

#include <algorithm>
#include <cstring>

namespace benanza::onednn {
namespace {

constexpr std::int32_t shift = 128;  // from the range of u8 to the range of s8

Desc with_type(const Desc& plain, Type type) { return strided(plain.get_dims(), plain.get_strides(), type); }

}  // namespace

QuantizationScales::QuantizationScales(const Layer& layer, std::int64_t channels, int mask, const Parameters& numbers)
    : x_zero_(numbers.zero_point_a),
      w_zero_(numbers.zero_point_b),
      y_zero_(numbers.zero_point_y),
      rescale_(numbers.rescale),
      active_(is_8_bit(type(layer))),
      channels_(mask == 0 ? 1 : channels),
      mask_(mask) {
  const DataType y = operands(layer).outputs[0].type;
  if (shifts_weights(layer)) w_zero_ -= shift;
  scales_ = active_ && y != DataType::i32;  // i32 results are the sums themselves
  y_ = element_type(y).value_or(Type::f32);
}

void QuantizationScales::set(dnnl::primitive_attr& attributes) const {
  if (scales_) {
    attributes.set_scales_mask(DNNL_ARG_SRC, 0);
    attributes.set_scales_mask(DNNL_ARG_WEIGHTS, mask_);
    if (y_ == Type::s8 || y_ == Type::u8) attributes.set_scales_mask(DNNL_ARG_DST, 0);
  }
  if (x_zero_ != 0) attributes.set_zero_points_mask(DNNL_ARG_SRC, 0);
  if (w_zero_ != 0) attributes.set_zero_points_mask(DNNL_ARG_WEIGHTS, 0);
  if (y_zero_ != 0) attributes.set_zero_points_mask(DNNL_ARG_DST, 0);
}

void QuantizationScales::add(Draft& draft, std::vector<Use>& uses) const {
  const auto numbers = [&](int argument, const auto& values, Type type) {
    const Dims count{static_cast<std::int64_t>(values.size())};
    uses.push_back({argument, draft.hold(values), std::nullopt, row_major(count, type)});
  };
  if (scales_) {
    const auto scale = static_cast<float>(rescale_);
    numbers(DNNL_ARG_ATTR_SCALES | DNNL_ARG_SRC, std::vector<float>{1.0F}, Type::f32);
    numbers(DNNL_ARG_ATTR_SCALES | DNNL_ARG_WEIGHTS, std::vector<float>(static_cast<std::size_t>(channels_), scale),
            Type::f32);
    if (y_ == Type::s8 || y_ == Type::u8)
      numbers(DNNL_ARG_ATTR_SCALES | DNNL_ARG_DST, std::vector<float>{1.0F}, Type::f32);
  }
  if (x_zero_ != 0)
    numbers(DNNL_ARG_ATTR_ZERO_POINTS | DNNL_ARG_SRC, std::vector<std::int32_t>{static_cast<std::int32_t>(x_zero_)},
            Type::s32);
  if (w_zero_ != 0)
    numbers(DNNL_ARG_ATTR_ZERO_POINTS | DNNL_ARG_WEIGHTS, std::vector<std::int32_t>{static_cast<std::int32_t>(w_zero_)},
            Type::s32);
  if (y_zero_ != 0)
    numbers(DNNL_ARG_ATTR_ZERO_POINTS | DNNL_ARG_DST, std::vector<std::int32_t>{static_cast<std::int32_t>(y_zero_)},
            Type::s32);
}

void QuantizationScales::add_bias(Draft& draft, std::size_t i, std::int64_t count) const {
  if (!active_) return;
  const Transform scaled{"scaled", [count, scale = static_cast<float>(rescale_)](const void* bias) {
                           std::vector<std::int32_t> sums(static_cast<std::size_t>(count));
                           std::memcpy(sums.data(), bias, sums.size() * sizeof(std::int32_t));
                           std::vector<float> result;
                           for (auto sum : sums) result.push_back(static_cast<float>(sum) * scale);
                           return result;
                         }};
  draft.transform(i, row_major({count}), row_major({count}), scaled);
}

bool QuantizationScales::shifts_weights(const Layer& layer) {
  return type(layer) == DataType::u8 && operands(layer).inputs.at(1).type == DataType::u8;
}

void QuantizationScales::shift_constant(Draft& draft, std::size_t i, const Desc& plain, const Desc& packed) {
  const std::size_t count = with_type(plain, Type::u8).get_size();
  const Transform shifted{"shifted", [count](const void* weights) {
                            const auto* const bytes = static_cast<const std::uint8_t*>(weights);
                            std::vector<float> result(count);
                            std::transform(bytes, bytes + count, result.begin(),
                                           [](std::uint8_t w) { return static_cast<float>(w - shift); });
                            return result;
                          }};
  draft.transform(i, with_type(plain, Type::f32), packed, shifted);
}

Slot QuantizationScales::shift_input(Draft& draft, const dnnl::engine& engine, std::size_t i, const Desc& plain) {
  auto attributes = common_attributes();
  attributes.set_zero_points_mask(DNNL_ARG_DST, 0);
  const Desc from = with_type(plain, Type::u8), to = with_type(plain, Type::s8);
  const Slot result = draft.reserve(to.get_size());
  draft.step(dnnl::reorder::primitive_desc(engine, from, engine, to, attributes),
             {{DNNL_ARG_SRC, input(i)},
              {DNNL_ARG_DST, result},
              {DNNL_ARG_ATTR_ZERO_POINTS | DNNL_ARG_DST, draft.hold(std::vector<std::int32_t>{-shift}), std::nullopt,
               row_major({1}, Type::s32)}});
  return result;
}

}  // namespace benanza::onednn
