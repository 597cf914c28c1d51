// SPDX-License-Identifier: Apache-2.0
// Layers that write rather than read: Generate, Trilu and OneHot.
#include "context.hpp"
#include <benanza/plan/element.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace benanza::native {

namespace {

constexpr std::uint64_t zero_element[2] = {};

template <class T>
Plans ranges(const op::Generate& op, const Context& context) {
  return one_plan(context, op.operands(), "generate:range",
                  [=, pool = context.pool, threads = context.threads](const Arguments& arguments) {
                    const T start = *input<T>(arguments, 0), delta = *input<T>(arguments, 1);
                    pool->split(op.y[0], threads, 64, [&](Index begin, Index end) {
                      for (Index i = begin; i < end; ++i)
                        output<T>(arguments)[i] = static_cast<T>(start + static_cast<T>(i) * delta);
                    });
                  });
}

/// ONNX HannWindow, HammingWindow, BlackmanWindow: constants of 1, cos(angle) and cos(2 angle).
struct WindowTerms {
  double constant = 0, first = 0, second = 0;
};
WindowTerms window_terms(op::GenerateFn fn) {
  if (fn == op::GenerateFn::hann) return {0.5, -0.5, 0};
  if (fn == op::GenerateFn::hamming) return {25.0 / 46, -21.0 / 46, 0};
  return {0.42, -0.5, 0.08};
}

Plans windows(const op::Generate& op, const Context& context) {
  return one_plan(
      context, op.operands(), "generate:window",
      [=, pool = context.pool, threads = context.threads, terms = window_terms(op.fn)](const Arguments& arguments) {
        const double step = 2 * std::numbers::pi / static_cast<double>(op.y[0]);
        pool->split(op.y[0], threads, 64, [&](Index begin, Index end) {
          for (Index i = begin; i < end; ++i) {
            const double angle = step * static_cast<double>(i);
            output<float>(arguments)[i] =
                static_cast<float>(terms.constant + terms.first * std::cos(angle) + terms.second * std::cos(2 * angle));
          }
        });
      });
}

/// Rows of zeros; for eye, with a single one in each.
Plans zeros(const op::Generate& op, const Context& context, std::size_t size) {
  const bool eye = op.fn == op::GenerateFn::eye;
  const Index rows = eye ? op.y[0] : 1, columns = op.y.back();
  return one_plan(
      context, op.operands(), eye ? "generate:eye" : "generate:constant",
      [=, &kernels = context.kernels, pool = context.pool, threads = context.threads,
       bytes = static_cast<Index>(bytes_of(op.type))](const Arguments& arguments) {
        auto* y = output<std::byte>(arguments);
        pool->split(rows * columns, threads, 64, [&](Index begin, Index end) {
          kernels.fill[size](zero_element, y + begin * bytes, end - begin);
          for (Index row = eye ? begin / columns : rows; row < std::min(rows, columns); ++row) {
            const Index at = row * columns + row;
            if (at >= end) break;
            if (at >= begin) store(y, op.type, at, 1);
          }
        });
      },
      0, 0);
}

}  // namespace

Result plans(const op::Generate& op, const Context& context) {
  using enum op::GenerateFn;
  const auto size = size_class(bytes_of(op.type));
  if (bits(op.type) < 8 || !size || op.type == DataType::string) return unsupported(op.kind, op.type);
  if (op.fn == constant || op.fn == eye) return zeros(op, context, *size);
  if (op.fn != range) {
    if (op.type != DataType::f32) return unsupported(op.kind, op.type);
    return windows(op, context);
  }
  switch (op.type) {
    case DataType::f32: return ranges<float>(op, context);
    case DataType::f64: return ranges<double>(op, context);
    case DataType::i32: return ranges<std::int32_t>(op, context);
    case DataType::i64: return ranges<std::int64_t>(op, context);
    default: return unsupported(op.kind, op.type);
  }
}

Result plans(const op::Trilu& op, const Context& context) {
  const auto size = size_class(bytes_of(op.type));
  if (bits(op.type) < 8 || !size || op.type == DataType::string) return unsupported(op.kind, op.type);
  const Index rows = op.x[1], columns = op.x[2];
  return one_plan(
      context, op.operands(), "trilu",
      [=, &kernels = context.kernels, pool = context.pool, threads = context.threads,
       bytes = static_cast<Index>(bytes_of(op.type))](const Arguments& arguments) {
        pool->split(op.x[0] * rows, threads, 1, [&](Index begin, Index end) {
          for (Index row = begin; row < end; ++row) {
            const auto kept = op.kept_columns(row % rows);
            const std::byte* x = input<std::byte>(arguments, 0) + row * columns * bytes;
            std::byte* y = output<std::byte>(arguments) + row * columns * bytes;
            kernels.fill[*size](zero_element, y, kept.begin);
            kernels.copy(x + kept.begin * bytes, y + kept.begin * bytes,
                         static_cast<std::size_t>((kept.end - kept.begin) * bytes));
            kernels.fill[*size](zero_element, y + kept.end * bytes, columns - kept.end);
          }
        });
      },
      0, 0);
}

Result plans(const op::OneHot& op, const Context& context) {
  const auto size = size_class(bytes_of(op.type)), index = index_class(op.index_type);
  if (bits(op.type) < 8 || !size || !index || op.type == DataType::string) return unsupported(op.kind, op.type);
  const Index depth = op.y[1], inner = op.y[2];
  return one_plan(
      context, op.operands(), "one_hot",
      [=, &kernels = context.kernels, pool = context.pool, threads = context.threads,
       bytes = static_cast<Index>(bytes_of(op.type))](const Arguments& arguments) {
        const std::byte *off = input<std::byte>(arguments, 1), *on = off + bytes;
        // Runs of equal depth; if each depth has a single position, runs over all depths.
        const Index run = inner == 1 ? depth : inner;
        pool->split(element_count(op.y) / run, threads, 1, [&](Index begin, Index end) {
          for (Index row = begin; row < end; ++row) {
            std::byte* y = output<std::byte>(arguments) + row * run * bytes;
            kernels.fill[*size](off, y, run);
            if (inner == 1) {
              const Index at = index_at(arguments.inputs[0], *index, row, depth);
              if (at >= 0 && at < depth) std::copy_n(on, bytes, y + at * bytes);
              continue;
            }
            for (Index i = 0; i < inner; ++i)
              if (index_at(arguments.inputs[0], *index, row / depth * inner + i, depth) == row % depth)
                std::copy_n(on, bytes, y + i * bytes);
          }
        });
      },
      0, 0);
}

}  // namespace benanza::native
