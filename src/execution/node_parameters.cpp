// SPDX-License-Identifier: Apache-2.0
#include "node_parameters.hpp"

#include "quantized_gemm.hpp"
#include <benanza/base/detail/node.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

namespace benanza::execution {

namespace {

using Axes = std::vector<std::int64_t>;

/// Input `i`, or null if it is left out.
const Tensor* given_input(const Node& node, const NodeTensors& inputs, std::size_t i) {
  if (!node.has_input(i)) return nullptr;
  if (i >= inputs.size() || !inputs[i]) throw NotExecutable(node, "numbers that are not known");
  return &*inputs[i];
}

double one_number(const Node& node, const Tensor* numbers, double otherwise) {
  if (numbers == nullptr || numbers->elements() == 0) return otherwise;
  if (numbers->elements() > 1)
    throw NotExecutable(node, "a scale or zero point for each channel of a quantised product");
  return (*numbers)[0];
}

/// The axes that a Resize names, counted from the front; all of them if it names none.
std::vector<std::size_t> resized_axes(const Node& node, std::size_t rank) {
  Axes axes = node.attribute<Axes>("axes", {});
  if (axes.empty()) {
    axes.resize(rank);
    std::iota(axes.begin(), axes.end(), std::int64_t{0});
  }
  std::vector<std::size_t> result;
  for (const auto axis : axes) {
    const auto at = detail::to_axis(axis, rank);
    if (!at) throw InputError("node '" + node.name + "': axis " + std::to_string(axis) + " is out of range");
    result.push_back(*at);
  }
  return result;
}

std::vector<double> resize_scales(const Node& node, const op::Resize& resize, const NodeTensors& inputs) {
  if (node.attributes.contains("scales")) return node.attribute<std::vector<double>>("scales", {});
  const bool has_region = node.op_type == "Resize" && node.opset >= 11;
  const Tensor* scales = given_input(node, inputs, has_region ? 2 : 1);
  const Tensor* sizes = has_region ? given_input(node, inputs, 3) : nullptr;
  const auto axes = resized_axes(node, resize.x.size());
  std::vector<double> result(resize.x.size(), 1);
  const auto check_count = [&](const Tensor& list) {
    if (list.elements() < static_cast<std::int64_t>(axes.size()))
      throw InputError("node '" + node.name + "': fewer scales or sizes than axes");
  };
  if (scales != nullptr && scales->elements() != 0) {
    check_count(*scales);
    for (std::size_t i = 0; i < axes.size(); ++i) result[axes[i]] = (*scales)[static_cast<std::int64_t>(i)];
    return result;
  }
  const auto policy = node.attribute<std::string>("keep_aspect_ratio_policy", "stretch");
  if (sizes == nullptr || policy == "stretch") return {};
  check_count(*sizes);
  std::vector<double> ratios;
  for (std::size_t i = 0; i < axes.size(); ++i)
    ratios.push_back((*sizes)[static_cast<std::int64_t>(i)] / static_cast<double>(resize.x[axes[i]]));
  const double ratio = policy == "not_larger" ? *std::min_element(ratios.begin(), ratios.end())
                                              : *std::max_element(ratios.begin(), ratios.end());
  for (const auto axis : axes) result[axis] = ratio;
  return result;
}

/// Starts of all axes, followed by their ends.
std::vector<double> resize_region(const Node& node, const op::Resize& resize, const Tensor& given) {
  const std::size_t rank = resize.x.size();
  if (given.elements() == 0) return {};
  std::vector<double> result(2 * rank, 0);
  std::fill(result.begin() + static_cast<std::ptrdiff_t>(rank), result.end(), 1);
  const auto axes = resized_axes(node, rank);
  const auto count = static_cast<std::int64_t>(axes.size());
  if (given.elements() < 2 * count) throw InputError("node '" + node.name + "': a region of too few numbers");
  for (std::int64_t i = 0; i < count; ++i) {
    const std::size_t axis = axes[static_cast<std::size_t>(i)];
    result[axis] = given[i];
    result[rank + axis] = given[count + i];
  }
  return result;
}

void add_resize(reference::Parameters& result, const Node& node, const op::Resize& resize, const NodeTensors& inputs) {
  result.resize_scales = resize_scales(node, resize, inputs);
  bool is_ratio = true;  // whether scales are the ratios of the sizes, as plans assume
  for (std::size_t i = 0; i < result.resize_scales.size(); ++i)
    is_ratio =
        is_ratio && result.resize_scales[i] == static_cast<double>(resize.y[i]) / static_cast<double>(resize.x[i]);
  if (is_ratio) result.resize_scales.clear();
  if (const Tensor* region = node.op_type == "Resize" && node.opset >= 11 ? given_input(node, inputs, 1) : nullptr)
    result.resize_region = resize_region(node, resize, *region);
  result.resize_outside = node.attribute("extrapolation_value", 0.0);
  result.cubic_coefficient = node.attribute("cubic_coeff_a", result.cubic_coefficient);
  result.exclude_outside = node.attribute("exclude_outside", std::int64_t{0}) != 0;
}

void add_quantization(reference::Parameters& result, const Node& node, const NodeTensors& inputs) {
  const auto number = [&](std::size_t i, double otherwise) {
    return one_number(node, given_input(node, inputs, i), otherwise);
  };
  if (node.op_type == "ConvInteger" || node.op_type == "MatMulInteger") {
    result.zero_point_a = number(2, 0);
    result.zero_point_b = number(3, 0);
  }
  const bool is_gemm = is_quantized_gemm(node);  // its addend is added before the result is scaled
  if (node.op_type == "QLinearConv" || node.op_type == "QLinearMatMul" || is_gemm) {
    const std::size_t scale_of_y = is_gemm ? 7 : 6;
    result.zero_point_a = number(2, 0);
    result.zero_point_b = number(5, 0);
    result.zero_point_y = number(scale_of_y + 1, 0);
    result.rescale = number(1, 1) * number(4, 1) / number(scale_of_y, 1);
    if (is_gemm) result.rescale *= node.attribute("alpha", 1.0);  // C is scaled by alpha, too
  }
}

/// The scale. Empty if it is the default scale of attention.
std::optional<double> attention_scale(const Node& node, const op::Attention& attention) {
  const double scale = node.attribute("scale", 0.0), own = 1 / std::sqrt(static_cast<double>(attention.q[3]));
  const bool is_own = std::fabs(scale - own) <= 1e-6 * own;  // the attribute has 32 bits
  return scale == 0 || is_own ? std::nullopt : std::optional(scale);
}

}  // namespace

double epsilon_of(const Node& node) {
  const bool of_mean_variance = node.op_type == "MeanVarianceNormalization";
  return detail::decimal(node.attribute("epsilon", of_mean_variance ? 1e-9 : reference::Parameters{}.epsilon));
}

reference::Parameters node_parameters(const Node& node, const Layer& layer, const NodeTensors& inputs) {
  reference::Parameters result;
  const auto number = [&](std::string_view key, double otherwise) {
    return detail::decimal(node.attribute(key, otherwise));
  };
  result.epsilon = epsilon_of(node);
  if (node.op_type == "LRN") {
    result.lrn_alpha = number("alpha", result.lrn_alpha);
    result.lrn_bias = number("bias", result.lrn_bias);
  }
  if (const auto* attention = std::get_if<op::Attention>(&layer)) {
    result.attention_scale = attention_scale(node, *attention);
    if (attention->capped) result.attention_softcap = node.attribute("softcap", 0.0);
  }
  if (node.op_type == "Pad")
    result.pad_value = one_number(node, given_input(node, inputs, 2), node.attribute("value", 0.0));
  if (const auto* resize = std::get_if<op::Resize>(&layer)) add_resize(result, node, *resize, inputs);
  if (node.op_type == "ResizeGrad") {
    result.resize_scales = node.attribute<std::vector<double>>("resize_scales", {});
    result.cubic_coefficient = node.attribute("cubic_coeff_a", result.cubic_coefficient);
    result.exclude_outside = node.attribute("exclude_outside", std::int64_t{0}) != 0;
  }
  if (std::holds_alternative<op::ChannelNorm>(layer)) result.momentum = number("momentum", result.momentum);
  if (std::holds_alternative<op::RoiAlign>(layer)) result.box_scale = node.attribute("spatial_scale", result.box_scale);
  if (node.attributes.contains("ignore_index")) result.ignored_target = node.attribute("ignore_index", std::int64_t{0});
  if (node.op_type == "EyeLike") result.eye_diagonal = node.attribute("k", std::int64_t{0});
  result.periodic = node.attribute("periodic", std::int64_t{1}) != 0;
  result.select_last_index = node.attribute("select_last_index", std::int64_t{0}) != 0;
  add_quantization(result, node, inputs);
  return result;
}

}  // namespace benanza::execution
