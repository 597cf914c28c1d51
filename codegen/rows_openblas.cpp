// SPDX-License-Identifier: Apache-2.0
#include "standalone.hpp"

#include <fmt/format.h>

#include <limits>

namespace benanza::codegen {

std::optional<std::string> openblas_product_row(const Layer& layer) {
  const auto* op = std::get_if<op::MatMul>(&layer);
  if (op == nullptr) return std::nullopt;
  if ((op->type != DataType::f32 && op->type != DataType::f64) || op->b_type.value_or(op->type) != op->type ||
      op->y_type.value_or(op->type) != op->type)
    refuse_row("OpenBLAS", "other types than f32 and f64");
  if (!op->post.empty()) refuse_row("OpenBLAS", "an epilogue");
  const StridedProduct p = strided_product(*op, "OpenBLAS");
  if (std::max({p.m, p.n, p.k}) > std::numeric_limits<int>::max()) refuse_row("OpenBLAS", "sizes beyond 32 bits");
  std::string row = fmt::format(".wide = {}, .m = {}, .n = {}, .k = {}, .batch = {}, .stride_a = {}, .stride_b = {}",
                                truth(op->type == DataType::f64), p.m, p.n, p.k, p.batch, p.stride_a, p.stride_b);
  if (op->trans_a) row += ", .trans_a = true";
  if (op->trans_b) row += ", .trans_b = true";
  if (op->b_constant) row += ", .constant_b = true";
  return row;
}

}  // namespace benanza::codegen
