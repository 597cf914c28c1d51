// SPDX-License-Identifier: Apache-2.0
// The gather and scatter families. Scatters divide the result among the threads. Each thread copies its part, unless
// the result is updated in place, and then applies the updates within its part in order. So the later update wins, as
// ONNX requires, and no thread waits for another.
#include "context.hpp"

#include <algorithm>
#include <cstring>

namespace benanza::native {

namespace {

Index product(const TensorShape& shape, std::size_t begin, std::size_t end) {
  Index result = 1;
  for (std::size_t i = begin; i < end; ++i) result *= shape[i];
  return result;
}

/// Copies that are too short to justify a call of memcpy.
void copy_slice(const Kernels& kernels, const std::byte* from, std::byte* to, std::size_t bytes) {
  if (bytes == 4) std::copy_n(from, 4, to);
  else if (bytes == 8) std::copy_n(from, 8, to);
  else kernels.copy(from, to, bytes);
}

template <class T>
T combine(op::ScatterReduction reduction, T old, T update) {
  switch (reduction) {
    case op::ScatterReduction::add: return static_cast<T>(old + update);
    case op::ScatterReduction::mul: return static_cast<T>(old * update);
    case op::ScatterReduction::max: return std::max(old, update);
    case op::ScatterReduction::min: return std::min(old, update);
    default: return update;
  }
}

/// Applies `n` consecutive updates.
using Apply = void (*)(op::ScatterReduction reduction, std::byte* to, const std::byte* updates, Index n);
template <class T>
void apply(op::ScatterReduction reduction, std::byte* to, const std::byte* updates, Index n) {
  auto* y = reinterpret_cast<T*>(to);
  const auto* u = reinterpret_cast<const T*>(updates);
  for (Index i = 0; i < n; ++i) y[i] = combine(reduction, y[i], u[i]);
}
struct Pair {
  std::uint64_t low, high;
};
template <class T>
void overwrite(op::ScatterReduction, std::byte* to, const std::byte* updates, Index n) {
  std::copy_n(reinterpret_cast<const T*>(updates), n, reinterpret_cast<T*>(to));
}
Apply apply_of(op::ScatterReduction reduction, DataType type) {
  if (reduction == op::ScatterReduction::none) {
    switch (size_class(bytes_of(type)).value_or(9)) {
      case 0: return overwrite<std::uint8_t>;
      case 1: return overwrite<std::uint16_t>;
      case 2: return overwrite<std::uint32_t>;
      case 3: return overwrite<std::uint64_t>;
      case 4: return overwrite<Pair>;
      default: return nullptr;
    }
  }
  switch (type) {
    case DataType::f32: return apply<float>;
    case DataType::f64: return apply<double>;
    case DataType::i32: return apply<std::int32_t>;
    case DataType::i64: return apply<std::int64_t>;
    default: return nullptr;
  }
}

}  // namespace

Result plans(const op::Gather& op, const Context& context) {
  const auto size = size_class(bytes_of(op.type)), index = index_class(op.index_type);
  if (bits(op.type) < 8 || !size || !index) return unsupported(op.kind, op.type);
  const auto bytes = bytes_of(op.type);
  const Index axis = op.x[1], inner = op.x[2], count = op.indices;
  if (inner == 1) {
    return one_plan(
        context, op.operands(), "gather:elements",
        [=, &kernels = context.kernels, pool = context.pool, threads = context.threads,
         outer = op.x[0]](const Arguments& arguments) {
          pool->split(count, threads, 64, [&](Index begin, Index end) {
            for (Index o = 0; o < outer; ++o)
              kernels.gather[*size][*index](
                  input<std::byte>(arguments, 0) + o * axis * static_cast<Index>(bytes), axis,
                  input<std::byte>(arguments, 1) + begin * (*index == 0 ? 4 : 8),
                  output<std::byte>(arguments) + (o * count + begin) * static_cast<Index>(bytes), end - begin);
          });
        },
        0, 0);
  }
  const auto slice = static_cast<std::size_t>(inner) * bytes;
  const auto runner = [&](bool stream) {
    return [=, &kernels = context.kernels, pool = context.pool, threads = context.threads,
            rows = op.x[0] * count](const Arguments& arguments) {
      pool->split(rows, threads, 1, [&](Index begin, Index end) {
        for (Index row = begin; row < end; ++row) {
          const Index from = row / count * axis + index_at(arguments.inputs[1], *index, row % count, axis);
          const std::byte* x = input<std::byte>(arguments, 0) + static_cast<std::size_t>(from) * slice;
          std::byte* y = output<std::byte>(arguments) + static_cast<std::size_t>(row) * slice;
          if (stream) kernels.stream(x, y, slice);
          else copy_slice(kernels, x, y, slice);
        }
        if (stream) kernels.fence();
      });
    };
  };
  Plans plans = one_plan(context, op.operands(), "gather:rows", runner(false), 0, 0);
  if (op.operands().outputs[0].bytes() >= stream_bytes && slice >= 256)
    add_plan(plans, context, op.operands(), "gather:rows,store=nontemporal", runner(true), 0, 0);
  return plans;
}

Result plans(const op::GatherElements& op, const Context& context) {
  const auto size = size_class(bytes_of(op.type)), index = index_class(op.index_type);
  if (bits(op.type) < 8 || !size || !index) return unsupported(op.kind, op.type);
  const std::size_t last = op.x.size() - 1, axis = static_cast<std::size_t>(op.axis);
  TensorShape strides = TensorShape::filled(op.x.size(), 1);
  for (std::size_t i = last; i > 0; --i) strides[i - 1] = strides[i] * op.x[i];
  const Index length = op.indices[last], rows = element_count(op.indices) / std::max<Index>(length, 1);
  return one_plan(
      context, op.operands(), "gather:elements",
      [=, &kernels = context.kernels, pool = context.pool, threads = context.threads,
       bytes = static_cast<Index>(bytes_of(op.type)),
       index_bytes = static_cast<Index>(bytes_of(op.index_type))](const Arguments& arguments) {
        pool->split(rows * length, threads, 16, [&](Index begin, Index end) {
          for (Index at = begin; at < end;) {
            const Index row = at / length, column = at % length, n = std::min(end - at, length - column);
            Index rest = row, from = 0;
            for (std::size_t k = last; k-- > 0;) {
              if (k != axis) from += rest % op.indices[k] * strides[k];
              rest /= op.indices[k];
            }
            const std::byte* where = input<std::byte>(arguments, 1) + at * index_bytes;
            std::byte* y = output<std::byte>(arguments) + at * bytes;
            const std::byte* x = input<std::byte>(arguments, 0) + from * bytes;
            if (axis == last) kernels.gather[*size][*index](x, op.x[axis], where, y, n);
            else kernels.gather_columns[*size][*index](x + column * bytes, op.x[axis], strides[axis], where, y, n);
            at += n;
          }
        });
      },
      0, 0);
}

Result plans(const op::GatherNd& op, const Context& context) {
  const auto index = index_class(op.index_type);
  if (bits(op.type) < 8 || op.type == DataType::string || !index) return unsupported(op.kind, op.type);
  const auto batch_dims = static_cast<std::size_t>(op.batch_dims);
  const Index tuple = op.indices.back();
  const Index batches = product(op.indices, 0, batch_dims),
              tuples = element_count(op.indices) / std::max<Index>(tuple, 1);
  const std::size_t slice = static_cast<std::size_t>(element_count(op.slice())) * bytes_of(op.type);
  const Index slices = product(op.x, batch_dims, batch_dims + static_cast<std::size_t>(tuple));  // slices of one batch
  return one_plan(
      context, op.operands(), "gather:slices",
      [=, &kernels = context.kernels, pool = context.pool, threads = context.threads](const Arguments& arguments) {
        pool->split(tuples, threads, 8, [&](Index begin, Index end) {
          for (Index t = begin; t < end; ++t) {
            Index at = 0;
            for (Index i = 0; i < tuple; ++i) {
              const Index limit = op.x[batch_dims + static_cast<std::size_t>(i)];
              at = at * limit + index_at(arguments.inputs[1], *index, t * tuple + i, limit);
            }
            at += t / (tuples / batches) * slices;
            copy_slice(kernels, input<std::byte>(arguments, 0) + static_cast<std::size_t>(at) * slice,
                       output<std::byte>(arguments) + static_cast<std::size_t>(t) * slice, slice);
          }
        });
      },
      0, 0);
}

Result plans(const op::ScatterElements& op, const Context& context) {
  const auto index = index_class(op.index_type);
  const Apply apply = apply_of(op.reduction, op.type);
  if (bits(op.type) < 8 || !index || apply == nullptr) return unsupported(op.kind, op.type);
  const std::size_t rank = op.x.size(), axis = static_cast<std::size_t>(op.axis);
  TensorShape strides = TensorShape::filled(rank, 1);
  for (std::size_t i = rank - 1; i > 0; --i) strides[i - 1] = strides[i] * op.x[i];
  return one_plan(context, op.operands(), "scatter:elements",
                  [=, &kernels = context.kernels, pool = context.pool, threads = context.threads,
                   bytes = static_cast<Index>(bytes_of(op.type)), total = element_count(op.x),
                   updates = element_count(op.indices)](const Arguments& arguments) {
                    pool->split(total, threads, 64, [&](Index begin, Index end) {
                      auto* y = output<std::byte>(arguments);
                      if (!op.in_place)
                        kernels.copy(input<std::byte>(arguments, 0) + begin * bytes, y + begin * bytes,
                                     static_cast<std::size_t>((end - begin) * bytes));
                      TensorShape at = TensorShape::filled(rank, 0);
                      Index base = 0;  // offset without the axis
                      for (Index u = 0; u < updates; ++u) {
                        const Index to = base + index_at(arguments.inputs[1], *index, u, op.x[axis]) * strides[axis];
                        if (to >= begin && to < end)
                          apply(op.reduction, y + to * bytes, input<std::byte>(arguments, 2) + u * bytes, 1);
                        for (std::size_t k = rank; k-- > 0;) {
                          if (k != axis) base += strides[k];
                          if (++at[k] < op.indices[k]) break;
                          if (k != axis) base -= strides[k] * op.indices[k];
                          at[k] = 0;
                        }
                      }
                    });
                  });
}

Result plans(const op::ScatterNd& op, const Context& context) {
  const auto index = index_class(op.index_type);
  const Apply apply = apply_of(op.reduction, op.type);
  if (bits(op.type) < 8 || !index || apply == nullptr) return unsupported(op.kind, op.type);
  const Index tuple = op.indices.back(), tuples = element_count(op.indices) / std::max<Index>(tuple, 1);
  const Index slice = product(op.x, static_cast<std::size_t>(tuple), op.x.size()),
              slices = element_count(op.x) / std::max<Index>(slice, 1);
  // A part is a range of slices or, if there are fewer slices than threads, a range of elements of each slice.
  return one_plan(context, op.operands(), "scatter:slices",
                  [=, &kernels = context.kernels, pool = context.pool, threads = context.threads,
                   bytes = static_cast<Index>(bytes_of(op.type))](const Arguments& arguments) {
                    pool->split(slices * slice, threads, 64, [&](Index begin, Index end) {
                      auto* y = output<std::byte>(arguments);
                      if (!op.in_place)
                        kernels.copy(input<std::byte>(arguments, 0) + begin * bytes, y + begin * bytes,
                                     static_cast<std::size_t>((end - begin) * bytes));
                      for (Index t = 0; t < tuples; ++t) {
                        Index at = 0;
                        for (Index i = 0; i < tuple; ++i) {
                          const Index limit = op.x[static_cast<std::size_t>(i)];
                          at = at * limit + index_at(arguments.inputs[1], *index, t * tuple + i, limit);
                        }
                        const Index first = std::max(at * slice, begin), past = std::min((at + 1) * slice, end);
                        if (first < past)
                          apply(op.reduction, y + first * bytes,
                                input<std::byte>(arguments, 2) + (t * slice + first - at * slice) * bytes,
                                past - first);
                      }
                    });
                  });
}

Result plans(const op::TensorScatter& op, const Context& context) {
  if (bits(op.type) < 8 || op.type == DataType::string) return unsupported(op.kind, op.type);
  const Index rows = op.x[2], caches = op.x[0] * op.x[1];
  const std::size_t row_bytes = static_cast<std::size_t>(op.x[3]) * bytes_of(op.type);
  return one_plan(
      context, op.operands(), "scatter:rows",
      [=, &kernels = context.kernels, pool = context.pool, threads = context.threads](const Arguments& arguments) {
        const Index each = op.in_place ? op.length : rows;  // rows of a cache that are written
        pool->split(caches * each, threads, 1, [&](Index begin, Index end) {
          for (Index i = begin; i < end; ++i) {
            const Index cache = i / each, first = op.indices ? input<std::int64_t>(arguments, 2)[cache / op.x[1]] : 0;
            const Index row = op.in_place ? (first + i % each) % rows : i % each;
            const Index updated = op.in_place ? i % each : (row - first + rows) % rows;
            const bool changes = updated < op.length && (op.circular || row >= first);
            const std::byte* from =
                changes
                    ? input<std::byte>(arguments, 1) + static_cast<std::size_t>(cache * op.length + updated) * row_bytes
                    : input<std::byte>(arguments, 0) + static_cast<std::size_t>(cache * rows + row) * row_bytes;
            copy_slice(kernels, from,
                       output<std::byte>(arguments) + static_cast<std::size_t>(cache * rows + row) * row_bytes,
                       row_bytes);
          }
        });
      },
      0, 0);
}

/// Each thread computes its rows of the table: it writes zeros, then adds the slices whose index selects one of its
/// rows.
Result plans(const op::GatherGradient& op, const Context& context) {
  const auto index = index_class(op.index_type);
  if (op.type != DataType::f32 || !index) return unsupported(op.kind, op.type);
  const Index outer = op.x[0], axis = op.x[1], inner = op.x[2], count = op.indices;
  return one_plan(
      context, op.operands(), "gather_gradient",
      [=, add = context.kernels.scale_add, pool = context.pool, threads = context.threads](const Arguments& arguments) {
        pool->split(axis, threads, 1, [&](Index begin, Index end) {
          for (Index o = 0; o < outer; ++o) {
            auto* const dx = output<float>(arguments) + o * axis * inner;
            const auto* const dy = input<float>(arguments, 0) + o * count * inner;
            std::memset(dx + begin * inner, 0, static_cast<std::size_t>((end - begin) * inner) * sizeof(float));
            for (Index i = 0; i < count; ++i) {
              const Index row = index_at(arguments.inputs[1], *index, i, axis);
              if (row < begin || row >= end) continue;
              if (inner == 1) dx[row] += dy[i];
              else add(dx + row * inner, dy + i * inner, 1, inner);
            }
          }
        });
      });
}

}  // namespace benanza::native
