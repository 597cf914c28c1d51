// SPDX-License-Identifier: Apache-2.0
// Shape rules of signal processing. In some versions, the library's rule for STFT treats the window as the whole
// signal. None of its rules accepts a length that is a vector of one element, as exporters write it.
#include "rule_tables.hpp"

namespace benanza::importer {
namespace {

/// A transform of `length` real numbers has this many distinct complex ones.
constexpr std::int64_t one_sided(std::int64_t length) { return length < 0 ? unknown_dim : length / 2 + 1; }

// signal [batch, samples, 1 or 2] (also [batch, samples]), frame_step, window, frame_length
RuleResult stft(const RuleArguments& a) {
  const Ints& signal = a.in(0).dims;
  if (signal.size() != 2 && signal.size() != 3)
    throw InputError("a signal of shape " + shape_text(signal) + ", expected batch, samples, and 1 or 2");
  const auto step = known_int(a, 1);
  std::int64_t length = signal[1];
  if (a.has(3)) length = known_int(a, 3).value_or(unknown_dim);
  else if (a.has(2)) length = of_rank(a, 2, 1)[0];
  if (length > signal[1])
    throw InputError("frames of " + std::to_string(length) + " samples of a signal of " + std::to_string(signal[1]));
  const bool half = a.node.attribute<std::int64_t>("onesided", 1) != 0;
  const std::int64_t frames = step && length >= 0 ? (signal[1] - length) / *step + 1 : unknown_dim;
  return {TypedShape{a.in(0).type, {signal[0], frames, half ? one_sided(length) : length, 2}}};
}

// input [..., 1 or 2], dft_length, axis; before operator set 20 the axis is an attribute
RuleResult dft(const RuleArguments& a) {
  Ints dims = a.in(0).dims;
  if (dims.size() < 2) throw InputError("an input of rank " + std::to_string(dims.size()) + ", expected 2 or more");
  const bool half = a.node.attribute<std::int64_t>("onesided", 0) != 0,
             inverse = a.node.attribute<std::int64_t>("inverse", 0) != 0;
  auto axis = std::optional(a.node.attribute<std::int64_t>("axis", a.node.opset < 20 ? 1 : -2));
  if (a.has(2)) axis = known_int(a, 2);
  dims.back() = inverse && half ? 1 : 2;
  if (!axis && (half || a.has(1))) std::fill(dims.begin(), dims.end() - 1, unknown_dim);
  else if (axis) {
    std::int64_t& size = dims[normal_axis(*axis, dims.size())];
    const std::int64_t given = a.has(1) ? known_int(a, 1).value_or(unknown_dim) : size;
    if (!half) size = given;
    else if (!inverse) size = one_sided(given);
    else size = a.has(1) ? given : 2 * (size - 1);
  }
  return {TypedShape{a.in(0).type, dims}};
}

// num_mel_bins, dft_length, ...
RuleResult mel_weight_matrix(const RuleArguments& a) {
  return {TypedShape{type_attribute(a, "output_datatype", DataType::f32),
                     {one_sided(known_int(a, 1).value_or(unknown_dim)), known_int(a, 0).value_or(unknown_dim)}}};
}

RuleResult window_function(const RuleArguments& a) {
  return {TypedShape{type_attribute(a, "output_datatype", DataType::f32), {known_int(a, 0).value_or(unknown_dim)}}};
}

/// The last dimensions that com.microsoft's transforms work on.
std::size_t signal_axes(const RuleArguments& a) {
  const auto axes = a.node.attribute<std::int64_t>("signal_ndim", 1);
  if (axes < 1 || axes > 3) throw InputError("signal_ndim is " + std::to_string(axes) + ", expected 1 to 3");
  if (a.in(0).dims.size() <= to_size(axes))
    throw InputError("an input of shape " + shape_text(a.in(0).dims) + ", expected a rank above " +
                     std::to_string(axes));
  return to_size(axes);
}

RuleResult real_transform(const RuleArguments& a) {
  (void)signal_axes(a);
  Ints dims = a.in(0).dims;
  dims.back() = one_sided(dims.back());
  dims.push_back(2);
  return {TypedShape{a.in(0).type, dims}};
}

RuleResult inverse_real_transform(const RuleArguments& a) {
  (void)signal_axes(a);
  Ints dims(a.in(0).dims.begin(), a.in(0).dims.end() - 1);
  dims.back() = 2 * (dims.back() - 1);
  return {TypedShape{a.in(0).type, dims}};
}

constexpr RuleEntry signal_table[] = {
    {ShapeRule::window_function, window_function},
    {ShapeRule::dft, dft},
    {ShapeRule::mel_weight_matrix, mel_weight_matrix},
    {ShapeRule::stft, stft},
    {ShapeRule::inverse_real_transform, inverse_real_transform},
    {ShapeRule::real_transform, real_transform},
};

}  // namespace

RuleTable signal_rules() { return signal_table; }

}  // namespace benanza::importer
