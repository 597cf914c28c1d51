// SPDX-License-Identifier: Apache-2.0
// Transpose, Slice, Split, Concat, Expand and Tile as strided copies; Pad.
#include "strided_copy.hpp"
#include <benanza/base/detail/saturated.hpp>
#include <benanza/plan/index_maps.hpp>

#include <algorithm>
#include <cstring>

namespace benanza::native {

namespace {

/// One copy between a pair of arguments.
struct Move {
  std::size_t from = 0, to = 0;
  StridedCopy copy;
};

Result plans_of(std::vector<Move> moves, const Context& context, const Operands& operands, std::string_view kind,
                DataType type) {
  if (bits(type) < 8 || type == DataType::string) return unsupported(kind, type);
  const std::string name = "copy:" + moves.front().copy.kernel();
  Index bytes = 0;
  for (const auto& move : moves) detail::add_saturated(bytes, move.copy.bytes());
  const auto runner = [&](bool stream) {
    return [moves, stream, &kernels = context.kernels, pool = context.pool,
            threads = context.threads](const Arguments& arguments) {
      pool->parallel(threads, [&](int thread) {
        for (const auto& move : moves)
          move.copy.run(kernels, arguments.inputs[move.from], arguments.outputs[move.to], threads, thread, stream);
      });
    };
  };
  Plans plans = one_plan(context, operands, name, runner(false), 0, 0);
  const bool can_stream = name == "copy:runs" || name == "copy:transpose";
  if (can_stream && bytes >= stream_bytes)
    add_plan(plans, context, operands, name + ",store=nontemporal", runner(true), 0, 0);
  return plans;
}

bool movable(DataType type) { return bits(type) >= 8 && type != DataType::string; }

template <class Op>
Result copies(const Op& op, const Context& context) {
  if (!movable(op.type)) return unsupported(op.kind, op.type);
  std::vector<Move> moves;
  for (auto& move : strided_moves(op))
    moves.push_back(
        {move.from, move.to, StridedCopy(std::move(move.dimensions), bytes_of(op.type), move.x_offset, move.y_offset)});
  if (moves.empty()) return Unsupported{"nothing to move"};
  return plans_of(std::move(moves), context, op.operands(), op.kind, op.type);
}

}  // namespace

Result plans(const op::Transpose& op, const Context& context) { return copies(op, context); }
Result plans(const op::Slice& op, const Context& context) { return copies(op, context); }
Result plans(const op::Concat& op, const Context& context) { return copies(op, context); }
Result plans(const op::Split& op, const Context& context) { return copies(op, context); }
Result plans(const op::Expand& op, const Context& context) { return copies(op, context); }
Result plans(const op::Tile& op, const Context& context) { return copies(op, context); }

Result plans(const op::Pad& op, const Context& context) {
  const auto size = size_class(bytes_of(op.type));
  if (!movable(op.type) || !size) return unsupported(op.kind, op.type);
  const TensorShape y = op.y();
  const TensorShape strides = detail::row_major_strides(op.x);
  const std::size_t last = y.size() - 1;
  std::vector<std::vector<Index>> sources(y.size());
  for (std::size_t i = 0; i < y.size(); ++i)
    for (Index k = 0; k < y[i]; ++k) sources[i].push_back(padded_source(k, op.begins[i], op.x[i], op.mode));
  // The part [inside, inside + run) of a row is a single copy; the borders use the table.
  const Index inside = std::clamp<Index>(op.begins[last], 0, y[last]);
  const Index run = std::max<Index>(
      0, std::min(op.x[last] + std::min<Index>(op.begins[last], 0) + std::min<Index>(op.ends[last], 0), y[last]));
  const auto run_from = run > 0 ? sources[last][static_cast<std::size_t>(inside)] : 0;

  return one_plan(
      context, op.operands(), "pad",
      [=, sources = std::move(sources), &kernels = context.kernels, pool = context.pool, threads = context.threads,
       bytes = bytes_of(op.type), pad_value = static_cast<float>(context.numbers.pad_value),
       is_f32 = op.type == DataType::f32, length = y[last],
       rows = element_count(y) / std::max<Index>(y[last], 1)](const Arguments& arguments) {
        std::uint64_t zero[2] = {};
        if (is_f32) std::memcpy(zero, &pad_value, sizeof pad_value);
        pool->split(rows, threads, 1, [&](Index begin, Index end) {
          for (Index row = begin; row < end; ++row) {
            Index rest = row, from = 0;
            bool padding = false;
            for (std::size_t k = last; k-- > 0;) {
              const Index at = sources[k][static_cast<std::size_t>(rest % y[k])];
              rest /= y[k];
              padding |= at == padding_cell;
              from += at * strides[k];
            }
            std::byte* to = output<std::byte>(arguments) + row * length * static_cast<Index>(bytes);
            if (padding) {
              kernels.fill[*size](zero, to, length);
              continue;
            }
            const std::byte* x = input<std::byte>(arguments, 0) + from * static_cast<Index>(bytes);
            const auto border = [&](Index first, Index past) {
              if (op.mode == op::PadMode::constant)
                return kernels.fill[*size](zero, to + first * static_cast<Index>(bytes), past - first);
              for (Index i = first; i < past; ++i)
                std::copy_n(x + sources[last][static_cast<std::size_t>(i)] * static_cast<Index>(bytes), bytes,
                            to + i * static_cast<Index>(bytes));
            };
            border(0, inside);
            kernels.copy(x + run_from * static_cast<Index>(bytes), to + inside * static_cast<Index>(bytes),
                         static_cast<std::size_t>(run) * bytes);
            border(inside + run, length);
          }
        });
      },
      0, 0);
}

}  // namespace benanza::native
