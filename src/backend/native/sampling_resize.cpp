// SPDX-License-Identifier: Apache-2.0
// Resize and its gradient. Each resized axis is a table of taps and weights (ONNX Resize,
// coordinate_transformation_mode); rows of x are interpolated along the last axis, kept, and blended over the outer
// axes, vectorised.
#include "context.hpp"
#include <benanza/plan/index_maps.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

namespace benanza::native {

namespace {

/// Rows of x that are combined into one row of y.
struct Term {
  Index row = 0;
  float weight = 1;
};
void terms_of(const op::Resize& op, const std::vector<ResizeTaps>& axes, Index row, std::vector<Term>& terms) {
  terms.assign(1, {});
  Index stride = 1;
  for (std::size_t k = axes.size() - 1; k-- > 0;) {
    const auto i = row % op.y[k];
    row /= op.y[k];
    const std::size_t before = terms.size();
    for (Index t = 1; t < axes[k].taps; ++t)
      for (std::size_t j = 0; j < before; ++j) terms.push_back(terms[j]);
    for (std::size_t j = 0; j < terms.size(); ++j) {
      const auto at = static_cast<std::size_t>(static_cast<Index>(j / before) * op.y[k] + i);
      terms[j].row += axes[k].at[at] * stride;
      terms[j].weight *= axes[k].weight[at];
    }
    stride *= op.x[k];
  }
}

}  // namespace

Result plans(const op::Resize& op, const Context& context) {
  if (!op.post.empty()) return Unsupported{"no epilogue of a Resize in backend native"};
  const auto size = size_class(bytes_of(op.type));
  const bool nearest = op.mode == op::ResizeMode::nearest;
  if (bits(op.type) < 8 || !size || op.x.empty() || (!nearest && op.type != DataType::f32))
    return unsupported(op.kind, op.type);
  std::vector<ResizeTaps> axes;
  for (std::size_t k = 0; k < op.x.size(); ++k) axes.push_back(resize_taps(op, k));
  const std::size_t last = op.x.size() - 1;
  const Index width = op.x[last], y_width = op.y[last], rows = element_count(op.y) / std::max<Index>(y_width, 1);
  const auto& kernels = context.kernels;

  if (nearest) {
    return one_plan(
        context, op.operands(), "resize:nearest",
        [=, &kernels, pool = context.pool, threads = context.threads,
         bytes = bytes_of(op.type)](const Arguments& arguments) {
          const Index x_bytes = width * static_cast<Index>(bytes), y_bytes = y_width * static_cast<Index>(bytes);
          pool->split(rows, threads, 1, [&](Index begin, Index end) {
            Index previous = -1;
            for (Index row = begin; row < end; ++row) {
              Index rest = row, from = 0, stride = 1;
              for (std::size_t k = last; k-- > 0;) {
                from += axes[k].at[static_cast<std::size_t>(rest % op.y[k])] * stride;
                rest /= op.y[k];
                stride *= op.x[k];
              }
              std::byte* y = output<std::byte>(arguments) + row * y_bytes;
              const std::byte* x = input<std::byte>(arguments, 0) + from * x_bytes;
              if (from == previous)
                kernels.copy(y - y_bytes, y, static_cast<std::size_t>(y_bytes));  // the same as the row above
              else if (width == y_width) kernels.copy(x, y, static_cast<std::size_t>(y_bytes));
              else kernels.gather[*size][0](x, width, axes[last].at.data(), y, y_width);
              previous = from;
            }
          });
        },
        0, 0);
  }
  // Rows of x are interpolated along the last axis and kept as long as the next rows of y may need them; then whole
  // rows are blended.
  std::size_t terms = 1;
  for (std::size_t k = 0; k < last; ++k) terms *= static_cast<std::size_t>(axes[k].taps);
  const std::size_t kept = terms + 1, line_bytes = (static_cast<std::size_t>(y_width) * sizeof(float) + 63) / 64 * 64;
  const std::size_t scratch = kept * line_bytes;
  return one_plan(
      context, op.operands(), op.mode == op::ResizeMode::linear ? "resize:linear" : "resize:cubic",
      [=, &kernels, pool = context.pool, threads = context.threads](const Arguments& arguments) {
        pool->parallel(threads, [&](int thread) {
          auto* lines = static_cast<std::byte*>(arguments.workspace) + static_cast<std::size_t>(thread) * scratch;
          std::vector<Index> in_line(kept, -1);  // the row of x that each line holds
          std::vector<Term> of_row;
          of_row.reserve(terms);
          const auto interpolated = [&](Index row) -> const float* {
            const float* x = input<float>(arguments, 0) + row * width;
            if (width == y_width) return x;
            const std::size_t at = static_cast<std::size_t>(row) % kept;
            auto* line = reinterpret_cast<float*>(lines + at * line_bytes);
            if (in_line[at] != row)
              kernels.interpolate(x, axes[last].at.data(), axes[last].weight.data(), axes[last].taps, line, y_width);
            in_line[at] = row;
            return line;
          };
          const Range mine = share(rows, threads, thread);
          for (Index row = mine.begin; row < mine.end; ++row) {
            terms_of(op, axes, row, of_row);
            float* y = output<float>(arguments) + row * y_width;
            std::fill_n(y, y_width, 0.0F);
            for (const Term& term : of_row)
              if (term.weight != 0) kernels.scale_add(y, interpolated(term.row), term.weight, y_width);
          }
        });
      },
      scratch * static_cast<std::size_t>(context.threads));
}

/// Rows of dy are spread over the width and added to the rows of dx that produced them. Leading axes that are not
/// resized are divided among the threads.
Result plans(const op::ResizeGradient& op, const Context& context) {
  if (op.type != DataType::f32 || op.x.size() < 2) return unsupported(op.kind, op.type);
  const op::Resize forward{.type = op.type,
                           .x = op.x,
                           .y = op.y,
                           .mode = op.mode,
                           .coordinates = op.coordinates,
                           .rounding = op.rounding,
                           .antialias = op.antialias};
  const std::size_t last = op.x.size() - 1;
  std::size_t first = 0;
  Index outer = 1;
  while (first < last && op.x[first] == op.y[first]) outer *= op.x[first++];
  op::Resize inner = forward;  // without the leading axes
  inner.x = TensorShape(std::span(op.x.begin() + first, op.x.end()));
  inner.y = TensorShape(std::span(op.y.begin() + first, op.y.end()));
  std::vector<ResizeTaps> axes;
  for (std::size_t k = 0; k < inner.x.size(); ++k) axes.push_back(resize_taps(inner, k));
  const Index width = op.x[last], y_width = op.y[last], rows = element_count(inner.y) / y_width,
              plane = element_count(inner.x), scratch = (width + 15) / 16 * 16;
  return one_plan(
      context, op.operands(), "resize_gradient",
      [=, add = context.kernels.scale_add, pool = context.pool, threads = context.threads](const Arguments& arguments) {
        pool->parallel(threads, [&](int thread) {
          float* const line = static_cast<float*>(arguments.workspace) + thread * scratch;
          const ResizeTaps& along = axes.back();
          std::vector<Term> of_row;
          const Range mine = share(outer, threads, thread);
          for (Index o = mine.begin; o < mine.end; ++o) {
            auto* const dx = output<float>(arguments) + o * plane;
            std::memset(dx, 0, static_cast<std::size_t>(plane) * sizeof(float));
            for (Index row = 0; row < rows; ++row) {
              const auto* const dy = input<float>(arguments, 0) + (o * rows + row) * y_width;
              const float* spread = dy;
              if (width != y_width) {
                std::memset(line, 0, static_cast<std::size_t>(width) * sizeof(float));
                for (Index t = 0; t < along.taps; ++t)
                  for (Index i = 0; i < y_width; ++i) {
                    const auto at = static_cast<std::size_t>(t * y_width + i);
                    line[along.at[at]] += along.weight[at] * dy[i];
                  }
                spread = line;
              }
              terms_of(inner, axes, row, of_row);
              for (const Term& term : of_row)
                if (term.weight != 0) add(dx + term.row * width, spread, term.weight, width);
            }
          }
        });
      },
      sizeof(float) * static_cast<std::size_t>(scratch) * static_cast<std::size_t>(context.threads));
}

}  // namespace benanza::native
