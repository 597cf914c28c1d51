// SPDX-License-Identifier: Apache-2.0
// Resize. Each resized axis is a table of taps and weights (ONNX Resize, coordinate_transformation_mode); rows of x are
// interpolated along the last axis, kept, and blended over the outer ones, vectorised.
#include "context.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace benanza::native {

namespace {

/// tap t of cell i is at [t * size + i].
struct Axis {
  Index taps = 1;
  std::vector<std::int32_t> at{};
  std::vector<float> weight{};
};

double original(const op::Resize& op, double y, double in, double out) {
  const double scale = out / in;
  switch (op.coordinates) {
    case op::ResizeCoordinates::asymmetric: return y / scale;
    case op::ResizeCoordinates::align_corners: return out == 1 ? 0 : y * (in - 1) / (out - 1);
    case op::ResizeCoordinates::pytorch_half_pixel: return out == 1 ? 0 : (y + 0.5) / scale - 0.5;
    default:
      return (y + 0.5) / scale - 0.5;  // the symmetric form differs only where scales are given that do not divide
  }
}
double rounded(op::ResizeRounding rounding, double x) {
  switch (rounding) {
    case op::ResizeRounding::round_prefer_floor: return std::ceil(x - 0.5);
    case op::ResizeRounding::round_prefer_ceil: return std::floor(x + 0.5);
    case op::ResizeRounding::floor: return std::floor(x);
    case op::ResizeRounding::ceil: break;
  }
  return std::ceil(x);
}
/// Keys, "Cubic convolution interpolation for digital image processing" (1981), with ONNX's default coefficient.
double cubic(double d) {
  constexpr double a = -0.75;
  return d <= 1 ? ((a + 2) * d - (a + 3)) * d * d + 1 : ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
}

Axis axis_of(const op::Resize& op, std::size_t k) {
  const Index in = op.x[k], out = op.y[k];
  const auto clamped = [&](double at) {
    return static_cast<std::int32_t>(std::clamp(at, 0.0, static_cast<double>(in - 1)));
  };
  Axis axis;
  const bool copies = in == out || op.mode == op::ResizeMode::nearest;
  axis.taps = copies ? 1 : op.mode == op::ResizeMode::linear ? 2 : 4;
  axis.at.resize(static_cast<std::size_t>(axis.taps * out));
  axis.weight.resize(static_cast<std::size_t>(axis.taps * out), 1.0F);
  for (Index i = 0; i < out; ++i) {
    const double x = in == out
                         ? static_cast<double>(i)
                         : original(op, static_cast<double>(i), static_cast<double>(in), static_cast<double>(out));
    if (copies) {
      axis.at[static_cast<std::size_t>(i)] = clamped(in == out ? x : rounded(op.rounding, x));
      continue;
    }
    const double first = std::floor(x) - static_cast<double>(axis.taps / 2 - 1);
    for (Index t = 0; t < axis.taps; ++t) {
      const double cell = first + static_cast<double>(t), distance = std::fabs(x - cell);
      axis.at[static_cast<std::size_t>(t * out + i)] = clamped(cell);
      axis.weight[static_cast<std::size_t>(t * out + i)] =
          static_cast<float>(axis.taps == 2 ? 1 - distance : cubic(distance));
    }
  }
  return axis;
}

/// Rows of x that make up one row of y.
struct Term {
  Index row = 0;
  float weight = 1;
};
void terms_of(const op::Resize& op, const std::vector<Axis>& axes, Index row, std::vector<Term>& terms) {
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
  const auto size = size_class(bytes_of(op.type));
  const bool nearest = op.mode == op::ResizeMode::nearest;
  if (bits(op.type) < 8 || !size || op.x.empty() || (!nearest && op.type != DataType::f32))
    return unsupported(op.kind, op.type);
  std::vector<Axis> axes;
  for (std::size_t k = 0; k < op.x.size(); ++k) axes.push_back(axis_of(op, k));
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
                kernels.copy(y - y_bytes, y, static_cast<std::size_t>(y_bytes));  // the row above once more
              else if (width == y_width) kernels.copy(x, y, static_cast<std::size_t>(y_bytes));
              else kernels.gather[*size][0](x, width, axes[last].at.data(), y, y_width);
              previous = from;
            }
          });
        },
        0, 0);
  }
  // Rows of x are interpolated along the last axis and kept as long as the next rows of y may want them; then whole
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
          std::vector<Index> in_line(kept, -1);  // which row of x each line holds
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

}  // namespace benanza::native
