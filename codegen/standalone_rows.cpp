// SPDX-License-Identifier: Apache-2.0
#include "standalone.hpp"
#include "writer.hpp"

#include <fmt/format.h>

#include <cmath>

namespace benanza::codegen {

std::string list(std::span<const std::int64_t> dims) {
  std::string text;
  for (auto dim : dims) text += (text.empty() ? "" : ", ") + std::to_string(dim);
  return "{" + text + "}";
}

std::string float_text(double value) {
  if (std::isinf(value)) return value < 0 ? "-3.4e38f" : "3.4e38f";
  return fmt::format(
      "{}f", static_cast<float>(value) == std::floor(value) ? fmt::format("{:.1f}", value) : fmt::format("{}", value));
}

std::string truth(bool value) { return value ? "true" : "false"; }

bool starts_with_bias(const Epilogue& post) { return !post.empty() && post[0] == bias; }

Dims operand_dims(const PostOp& op, std::span<const std::int64_t> y, std::size_t channel_axis) {
  if (op.channel) {
    Dims dims(y.size(), 1);
    dims[channel_axis] = y[channel_axis];
    return dims;
  }
  if (op.shape.empty()) return {y.begin(), y.end()};
  Dims dims(y.size() - op.shape.size(), 1);
  dims.insert(dims.end(), op.shape.begin(), op.shape.end());
  return dims;
}

Dims entries(const TensorShape& list, std::size_t from, std::size_t count, std::int64_t otherwise) {
  Dims result(count, otherwise);
  for (std::size_t i = 0; i < count && !list.empty(); ++i) result[i] = list[from + i];
  return result;
}

void refuse_row(std::string_view library, const std::string& what) {
  throw NoRow("no call of " + std::string(library) + " for " + what);
}

std::string step_name(const PostOp& step) {
  return "the step " + std::string(detail::enum_name(step.fn)) + " of an epilogue";
}

StridedProduct strided_product(const op::MatMul& op, std::string_view library) {
  const std::int64_t batch = element_count(op.batch());
  const auto stride = [&](const TensorShape& operand) -> std::int64_t {
    const std::int64_t matrix = operand[operand.size() - 2] * operand[operand.size() - 1];
    const std::int64_t matrices = element_count(operand) / matrix;
    if (matrices != 1 && matrices != batch) refuse_row(library, "an operand that broadcasts along a part of the batch");
    return matrices == 1 ? 0 : matrix;
  };
  return {.m = op.m(), .n = op.n(), .k = op.k(), .batch = batch, .stride_a = stride(op.a), .stride_b = stride(op.b)};
}

}  // namespace benanza::codegen
