// SPDX-License-Identifier: Apache-2.0
// Convolutions and matrix products of 8-bit integers with zero points on either side. Operands read by rows (a, and the
// weights of a convolution) and by panels of columns (b, and the windows) are packed into units of 32 bits. Constants
// are packed before anything is timed. For other columns, a thread packs a panel and multiplies it by all rows while it
// is in the cache. Sums are exact in 32 bits.
#include "plan/batch_offset.hpp"
#include "product_integer_columns.hpp"
#include <benanza/model/quantization.hpp>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

namespace benanza::native {

namespace {

/// Rows of a task, a multiple of what every kernel processes at once. Their sums fit the first-level cache, and there
/// is enough work to divide among the threads even with few panels.
constexpr Index rows_of_task = 96;

/// One side of the product.
struct Side {
  std::size_t input = 0;
  bool constant = false, has_sign = false;
  Index matrices = 1;
  std::int32_t subtract = 0;  ///< subtracted from each element during packing
  std::int32_t zero = 0;      ///< the zero point after packing
};

/// The matrices that form one matrix of the result: the number of each side's matrix, and the offset of the result.
struct Entry {
  Index rows = 0, columns = 0, y = 0, bias = 0;
};

struct Problem {
  Index rows = 0, depth = 0, columns = 0;
  Index row_stride = 0, stride = 1;  ///< between rows, and between elements of a row
  Index columns_matrix = 0;          ///< elements from one matrix of columns to the next
  Side row_side{}, column_side{};
  std::vector<Entry> entries{};
  Columns source{};
  bool has_bias = false, bias_by_rows = false;
  DataType y_type = DataType::i32;
  float rescale = 1;
  std::int32_t y_zero = 0;
};

void set_zero_points(Problem& problem, const Quantization& numbers, bool weights_are_rows, bool bytes) {
  const double of_rows = weights_are_rows ? numbers.w_zero : numbers.x_zero;
  const double of_columns = weights_are_rows ? numbers.x_zero : numbers.w_zero;
  const auto set = [&](Side& side, double zero_point, std::int32_t into_range) {
    const auto zero = static_cast<std::int32_t>(zero_point);
    side.subtract = bytes ? into_range : zero;
    side.zero = zero - side.subtract;
  };
  set(problem.row_side, of_rows, problem.row_side.has_sign ? 0 : 128);            // signed bytes
  set(problem.column_side, of_columns, problem.column_side.has_sign ? -128 : 0);  // unsigned bytes
}

class IntegerPlan final : public Plan {
 public:
  IntegerPlan(Problem problem, const Operands& operands, const Context& context, const IntegerProduct& kernel,
              const std::string& algorithm)
      : Plan({.algorithm = algorithm + ",threads=" + std::to_string(context.threads),
              .threads = context.threads,
              .inputs = layouts(problem, operands, kernel),
              .outputs = plain_layouts(operands.outputs),
              .workspace_bytes = sizes(problem, kernel).workspace(context.threads)}),
        problem_(std::move(problem)),
        kernel_(kernel),
        sizes_(sizes(problem_, kernel)),
        kernels_(context.kernels),
        pool_(context.pool) {}

 private:
  /// In bytes, except for the first two.
  struct Sizes {
    Index units = 0, panels = 0;
    std::size_t row = 0, panel = 0;  ///< packed
    std::size_t rows = 0;            ///< packed during the call
    std::size_t buffer = 0, tile = 0, floats = 0;

    [[nodiscard]] std::size_t of_thread() const { return panel + buffer + tile + floats; }
    [[nodiscard]] std::size_t workspace(int threads) const {
      return rows + static_cast<std::size_t>(threads) * of_thread();
    }
  };

  static std::size_t lines(Index bytes) { return static_cast<std::size_t>((bytes + 63) / 64 * 64); }
  static Sizes sizes(const Problem& p, const IntegerProduct& kernel) {
    const Index units = (p.depth + kernel.elements - 1) / kernel.elements;
    Sizes z{.units = units, .panels = (p.columns + kernel.columns - 1) / kernel.columns};
    z.row = static_cast<std::size_t>(units + 1) * 4;
    z.panel = lines((units + 1) * kernel.columns * 4);
    if (!p.row_side.constant) z.rows = lines(p.row_side.matrices * p.rows * static_cast<Index>(z.row));
    z.buffer = lines(p.depth * kernel.columns);
    z.tile = lines(rows_of_task * kernel.columns * 4);
    z.floats = lines(kernel.columns * 4);
    return z;
  }
  static std::vector<Layout> layouts(const Problem& p, const Operands& operands, const IntegerProduct& kernel) {
    const Sizes z = sizes(p, kernel);
    auto result = plain_layouts(operands.inputs);
    const std::string units = "units" + std::to_string(kernel.elements);
    if (p.row_side.constant)
      result[p.row_side.input] = {units, static_cast<std::size_t>(p.row_side.matrices * p.rows) * z.row};
    if (p.column_side.constant)
      result[p.column_side.input] = {units + "-panels" + std::to_string(kernel.columns),
                                     static_cast<std::size_t>(p.column_side.matrices * z.panels) * z.panel};
    return result;
  }

  void do_pack_input(std::size_t i, const void* plain, void* packed) const override {
    const Problem& p = problem_;
    const auto* const x = static_cast<const std::uint8_t*>(plain);
    if (i == p.row_side.input && p.row_side.constant) {
      pack_rows(x, 0, p.row_side.matrices * p.rows, packed);
    } else if (i == p.column_side.input && p.column_side.constant) {
      std::vector<std::uint8_t> buffer(sizes_.buffer);
      for (Index matrix = 0; matrix < p.column_side.matrices; ++matrix)
        for (Index panel = 0; panel < sizes_.panels; ++panel)
          pack_panel(x, matrix, panel, buffer.data(), panel_of(packed, matrix, panel));
    } else {
      std::memcpy(packed, plain, inputs()[i].bytes);
    }
  }

  template <class Void>
  Void* panel_of(Void* packed, Index matrix, Index panel) const {
    using Byte = std::conditional_t<std::is_const_v<Void>, const std::byte, std::byte>;
    return static_cast<Byte*>(packed) + static_cast<std::size_t>(matrix * sizes_.panels + panel) * sizes_.panel;
  }

  /// Packs rows [begin, end) of all matrices.
  void pack_rows(const std::uint8_t* x, Index begin, Index end, void* packed) const {
    const Problem& p = problem_;
    for (Index row = begin; row < end; ++row)
      kernel_.pack_rows({.x = x + row / p.rows * p.rows * p.depth + row % p.rows * p.row_stride,
                         .stride = p.stride,
                         .rows = 1,
                         .depth = p.depth,
                         .has_sign = p.row_side.has_sign,
                         .subtract = p.row_side.subtract,
                         .zero = p.row_side.zero,
                         .other_zero = p.column_side.zero,
                         .packed = static_cast<std::int32_t*>(packed) + row * (sizes_.units + 1)});
  }

  void pack_panel(const std::uint8_t* x, Index matrix, Index panel, std::uint8_t* buffer, void* packed) const {
    const Problem& p = problem_;
    const Index first = panel * kernel_.columns, count = std::min(kernel_.columns, p.columns - first);
    const ByteRows rows = p.source(x + matrix * p.columns_matrix, first, count, buffer);
    kernel_.pack_columns({.x = rows.data,
                          .stride = rows.stride,
                          .depth = p.depth,
                          .has_sign = p.column_side.has_sign,
                          .subtract = p.column_side.subtract,
                          .other_zero = p.row_side.zero,
                          .packed = static_cast<std::int32_t*>(packed)});
  }

  void do_execute(const Arguments& arguments) const override {
    const Problem& p = problem_;
    auto* const workspace = static_cast<std::byte*>(arguments.workspace);
    const void* rows = arguments.inputs[p.row_side.input];
    if (!p.row_side.constant) {
      const auto* const x = static_cast<const std::uint8_t*>(rows);
      pool_->split(p.row_side.matrices * p.rows, threads(), 1,
                   [&](Index begin, Index end) { pack_rows(x, begin, end, workspace); });
      rows = workspace;
    }
    const Index chunks = (p.rows + rows_of_task - 1) / rows_of_task;
    pool_->parallel(threads(), [&](int thread) {
      const Range mine = share(static_cast<Index>(p.entries.size()) * sizes_.panels * chunks, threads(), thread);
      std::byte* const scratch = workspace + sizes_.rows + static_cast<std::size_t>(thread) * sizes_.of_thread();
      Index packed = -1;  // the panel now in the scratch space
      for (Index task = mine.begin; task < mine.end; ++task) {
        const Index number = task / chunks, panel = number % sizes_.panels;
        const Entry& entry = p.entries[static_cast<std::size_t>(number / sizes_.panels)];
        const void* columns = nullptr;
        if (p.column_side.constant) {
          columns = panel_of(arguments.inputs[p.column_side.input], entry.columns, panel);
        } else {
          if (std::exchange(packed, number) != number)
            pack_panel(input<std::uint8_t>(arguments, p.column_side.input), entry.columns, panel,
                       reinterpret_cast<std::uint8_t*>(scratch + sizes_.panel), scratch);
          columns = scratch;
        }
        const Index first_row = task % chunks * rows_of_task;
        multiply(arguments, entry, panel, first_row, std::min(rows_of_task, p.rows - first_row), rows, columns,
                 scratch + sizes_.panel + sizes_.buffer);
      }
    });
  }

  void multiply(const Arguments& arguments, const Entry& entry, Index panel, Index first_row, Index row_count,
                const void* rows, const void* columns, std::byte* scratch) const {
    const Problem& p = problem_;
    const Index first = panel * kernel_.columns, count = std::min(kernel_.columns, p.columns - first);
    const bool in_place = p.y_type == DataType::i32 && !p.has_bias && count == kernel_.columns;
    const Index y_at = entry.y + first_row * p.columns + first;
    auto* const tile = in_place ? output<std::int32_t>(arguments) + y_at : reinterpret_cast<std::int32_t*>(scratch);
    const Index stride = in_place ? p.columns : kernel_.columns;
    kernel_.multiply(
        {.rows = static_cast<const std::int32_t*>(rows) + (entry.rows * p.rows + first_row) * (sizes_.units + 1),
         .columns = static_cast<const std::int32_t*>(columns),
         .row_count = row_count,
         .units = sizes_.units,
         .y = tile,
         .y_stride = stride});
    if (in_place) return;
    const std::int32_t* const biases = p.has_bias ? input<std::int32_t>(arguments, 2) + entry.bias : nullptr;
    for (Index r = 0; r < row_count; ++r) {
      std::int32_t* const sums = tile + r * stride;
      if (biases != nullptr)
        for (Index j = 0; j < count; ++j) sums[j] += biases[p.bias_by_rows ? first_row + r : first + j];
      finish(sums, count, arguments, y_at + r * p.columns, reinterpret_cast<float*>(scratch + sizes_.tile));
    }
  }

  /// Rescales, rounds and stores `count` sums as elements of y from number `at` on.
  void finish(const std::int32_t* sums, Index count, const Arguments& arguments, Index at, float* floats) const {
    if (problem_.y_type == DataType::i32)
      return void(std::memcpy(output<std::int32_t>(arguments) + at, sums, static_cast<std::size_t>(count) * 4));
    const bool is_float = problem_.y_type == DataType::f32;
    float* const values = is_float ? output<float>(arguments) + at : floats;
    kernels_.to_f32[static_cast<std::size_t>(Stored::i32)](sums, values, count);
    if (is_float)
      for (Index j = 0; j < count; ++j) values[j] *= problem_.rescale;
    else
      kernels_.quantize[problem_.y_type == DataType::i8](values, output<std::uint8_t>(arguments) + at, count,
                                                         1 / problem_.rescale, problem_.y_zero);
  }

  Problem problem_;
  const IntegerProduct& kernel_;
  Sizes sizes_;
  const Kernels& kernels_;
  std::shared_ptr<const ThreadPool> pool_;
};

/// The plan of a problem whose zero points and source of columns are not set yet; `weights_are_rows`: w is the side
/// with the rows.
template <class Op, class MakeColumns>
Result plan_of(const Op& op, Problem problem, bool weights_are_rows, const Context& context, MakeColumns make_columns) {
  const bool bytes = context.kernels.integer_bytes.elements != 0;
  const IntegerProduct& kernel = bytes ? context.kernels.integer_bytes : context.kernels.integer_words;
  const Quantization numbers{.x_zero = context.numbers.zero_point_a,
                             .w_zero = context.numbers.zero_point_b,
                             .rescale = context.numbers.rescale};
  const Operands operands = op.operands();
  problem.row_side.has_sign = operands.inputs[problem.row_side.input].type == DataType::i8;
  problem.column_side.has_sign = operands.inputs[problem.column_side.input].type == DataType::i8;
  problem.row_side.constant = operands.inputs[problem.row_side.input].constant;
  problem.column_side.constant = operands.inputs[problem.column_side.input].constant;
  problem.y_type = operands.outputs[0].type;
  problem.rescale = static_cast<float>(numbers.rescale);
  problem.y_zero = static_cast<std::int32_t>(context.numbers.zero_point_y);
  problem.has_bias = !op.post.empty();
  set_zero_points(problem, numbers, weights_are_rows, bytes);
  problem.source = make_columns(kernel.columns, numbers);
  Plans plans;
  plans.push_back(std::make_unique<IntegerPlan>(std::move(problem), operands, context, kernel,
                                                bytes ? "integer_product:bytes" : "integer_product:words"));
  return plans;
}

template <class Op>
std::optional<Unsupported> refused(const Op& op, std::optional<DataType> weights) {
  const DataType w = weights.value_or(op.type), y = op.y_type.value_or(op.type);
  if (!is_8_bit(w)) return unsupported(Op::kind, w);
  if (y != DataType::i32 && y != DataType::f32 && !is_8_bit(y)) return unsupported(Op::kind, y);
  if (!op.post.empty() && !(op.post.size() == 1 && op.post[0] == bias))
    return Unsupported{"no epilogue but a bias in backend native"};
  return std::nullopt;
}

}  // namespace

Result integer_plans(const op::MatMul& op, const Context& context) {
  if (auto why = refused(op, op.b_type)) return *std::move(why);
  const Index m = op.m(), k = op.k(), n = op.n();
  Problem problem{.rows = m,
                  .depth = k,
                  .columns = n,
                  .row_stride = op.trans_a ? 1 : k,
                  .stride = op.trans_a ? m : 1,
                  .columns_matrix = k * n,
                  .row_side = {.input = 0, .matrices = element_count(op.a) / (m * k)},
                  .column_side = {.input = 1, .matrices = element_count(op.b) / (k * n)}};
  const TensorShape batch = op.batch();
  for (Index i = 0; i < element_count(batch); ++i)
    problem.entries.push_back({.rows = batch_offset(batch, i, op.a, m * k) / (m * k),
                               .columns = batch_offset(batch, i, op.b, k * n) / (k * n),
                               .y = i * m * n});
  return plan_of(op, std::move(problem), false, context,
                 [&](Index width, const Quantization&) { return matrix_columns(k, n, width, op.trans_b); });
}

Result integer_plans(const op::Conv& op, const Context& context) {
  if (auto why = refused(op, op.w_type)) return *std::move(why);
  const TensorShape y = op.y();
  const Index plane = element_count(op.x) / (op.x[0] * op.x[1]), y_plane = element_count(y) / (y[0] * y[1]);
  const Index rows = op.w[0] / op.group;
  Problem problem{.rows = rows,
                  .depth = op.depth(),
                  .columns = y_plane,
                  .row_stride = op.depth(),
                  .columns_matrix = op.w[1] * plane,
                  .row_side = {.input = 1, .matrices = op.group},
                  .column_side = {.input = 0, .matrices = op.x[0] * op.group},
                  .bias_by_rows = true};
  for (Index i = 0; i < op.x[0] * op.group; ++i)
    problem.entries.push_back(
        {.rows = i % op.group, .columns = i, .y = i * rows * y_plane, .bias = i % op.group * rows});
  return plan_of(op, std::move(problem), true, context, [&](Index width, const Quantization& numbers) {
    return window_columns(op, static_cast<std::uint8_t>(static_cast<std::int32_t>(numbers.x_zero)), width);
  });
}

}  // namespace benanza::native
