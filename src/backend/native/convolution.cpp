// SPDX-License-Identifier: Apache-2.0
// Direct convolution, transposed or not. Each task computes some rows and columns of all grids of the result. It copies
// the part of x that they read into a strip. In the strip, zeros represent the padding, and elements separated by a
// stride become adjacent, so that all tiles are alike.
#include "context.hpp"
#include "convolution_plan.hpp"
#include "convolution_winograd.hpp"
#include "parts.hpp"
#include "tile_epilogue.hpp"

#include <algorithm>

namespace benanza::native {

namespace {

constexpr std::array<std::string_view, tile_kinds> kind_names{"blocked", "planar", "rows",       "depthwise",
                                                              "grouped", "lines",  "rows_4_bits"};
constexpr Index few_channels = 4;          // too few to fill a vector
constexpr Index strip_floats = 64 * 1024;  // a part of the second-level cache
constexpr Index window_floats = 5 * 1024;  // rows of a window that fit the first-level cache
constexpr Index least_rows = 16;           // enough to amortise reading the weights
constexpr Index few_rows = 4;              // enough if there are many channels
constexpr Index taps_of_tile = 9;          // enough to amortise reading and writing sums
constexpr Index tasks_of_thread = 4;       // enough to divide them evenly

/// How a convolution is divided into tasks, and the layout of a task's strip of x: [block][row of x][phase][column].
/// The rows of a task are `row_step` apart. With a dilation, that makes their windows overlap: rows that are a dilation
/// apart read the same rows of x, while adjacent ones have none in common.
struct Cut {
  bool in_place = false;                    ///< x is read without a copy
  Index panel = 1;                          ///< vectors of y for each panel of weights; channels for `lines`
  Index panels = 1, rows = 1, columns = 1;  ///< extent of a task
  Index row_step = 1;                       ///< distance of a task's rows, in y and in x
  Index blocks = 1;                         ///< blocks in a strip; sums over more pass through y
  Index slots = 1;                          ///< rows of x in a strip
  Index reach = 0;                          ///< columns of a phase beyond those of y
  Index phase = 0, line = 0, all = 0;       ///< floats of a phase, a slot, a strip
  std::vector<std::vector<Index>> taps{};   ///< for each grid, the offsets of its taps in a slot

  Cut(const ConvolutionShape& shape, TileShape tile, int threads);
  /// The number of sets of rows that are `row_step` apart, and of rows in each, at most.
  [[nodiscard]] Index row_sets(const ConvolutionShape& shape) const { return std::min(row_step, shape.rows.outputs()); }
  [[nodiscard]] Index rows_of_set(const ConvolutionShape& shape) const {
    return parts_of(shape.rows.outputs(), row_step);
  }
  [[nodiscard]] Index row_tasks(const ConvolutionShape& shape) const {
    return row_sets(shape) * parts_of(rows_of_set(shape), rows);
  }
  [[nodiscard]] Index column_tasks(const ConvolutionShape& shape) const {
    return parts_of(shape.columns.outputs(), columns);
  }
  [[nodiscard]] Index panel_tasks(const ConvolutionShape& shape) const {
    return parts_of(parts_of(shape.vectors, panel), panels);
  }
  [[nodiscard]] Index tasks(const ConvolutionShape& shape) const {
    return shape.images * shape.parts * panel_tasks(shape) * row_tasks(shape) * column_tasks(shape);
  }
};

Cut::Cut(const ConvolutionShape& shape, TileShape tile, int threads) {
  const auto &h = shape.rows, &w = shape.columns;
  const bool lines = shape.kind == TileKind::lines;
  const Index step = lines ? tile.vectors * shape.lanes : tile.positions;  // columns of a tile
  in_place = !lines && w.stride == 1 && w.pad_begin == 0 && w.pad_end <= 0;
  if (!in_place && h.stride == 1 && !shape.transposed) row_step = h.dilation;
  panel = lines ? tile.positions : tile.vectors;
  panels = parts_of(shape.vectors, panel);
  reach = (w.kernel - 1) * w.dilation / w.stride;

  const auto cut_columns = [&](Index count) {
    columns = round_up(even(w.outputs(), count), lines ? shape.lanes : 1);
    phase = (columns + reach + 1) * shape.x_unit();
    line = in_place ? w.size * shape.x_unit() : w.stride * phase;
  };
  const auto seen = [&](Index of_rows) {
    return std::min(parts_of(h.size, row_step),
                    parts_of((of_rows - 1) * row_step * h.stride + (h.kernel - 1) * h.dilation + 1, row_step));
  };
  const auto read = [&] { return w.stride * phase; };  // floats of a slot that a task reads
  // Rows share a task's weights; blocks share the sums in registers.
  const Index grids = std::ssize(shape.grids);
  const Index least = std::min(shape.blocks, parts_of(taps_of_tile * grids, std::max<Index>(shape.taps(), 1)));
  cut_columns(w.outputs());
  const auto exceed = [&] {  // x exceeds the strip, or a panel of y, which the epilogue reads again, half of it
    if (shape.kind == TileKind::depthwise && h.kernel * read() > window_floats) return true;  // each tap reads it once
    const Index y_floats = panel * shape.row_step * columns * shape.column_step * shape.y_unit();
    return std::max({h.kernel * read(), least * read(), 2 * y_floats}) > strip_floats;
  };
  while (exceed() && columns > 2 * step) cut_columns(columns / 2);
  rows = std::min(rows_of_set(shape), least_rows);
  while (rows > few_rows && least * seen(rows) * read() > strip_floats) --rows;
  blocks = even(shape.blocks, std::clamp(strip_floats / (seen(rows) * read()), least, shape.blocks));
  while (rows < rows_of_set(shape) && blocks * seen(rows + 1) * read() <= strip_floats) ++rows;
  rows = even(rows_of_set(shape), rows);
  while (tasks(shape) % threads != 0 && tasks(shape) < tasks_of_thread * threads) {
    if (panels > 2) panels = (panels + 1) / 2;
    else if (rows > 1) rows = even(rows_of_set(shape), rows - 1);
    else if (columns > 2 * step) cut_columns(columns / 2);
    else if (panels > 1) panels = 1;
    else break;
  }
  slots = seen(rows);
  all = in_place ? 0 : round_up(blocks * slots * line, 16);
  for (const auto& grid : shape.grids) {
    auto& offsets = taps.emplace_back();
    for (Index tap = 0; tap < grid.columns.window.kernel; ++tap) {
      const Index at = w.pad_begin - grid.columns.window.pad_begin + tap * grid.columns.window.dilation;
      offsets.push_back(in_place ? at * shape.x_unit() : at % w.stride * phase + at / w.stride * shape.x_unit());
    }
  }
}

/// The work of a task: some rows and columns of each grid.
struct Task {
  Index image = 0, part = 0, first_panel = 0, last_panel = 0;
  Range rows{};  ///< each `row_step`-th of them
  Range columns{};
};

class DirectConvolutionPlan final : public ConvolutionPlan {
 public:
  DirectConvolutionPlan(const ConvolutionOperands& operands, const Context& context, const ConvolutionShape& shape,
                        TileShape tile, const Cut& cut, const TileEpilogue& epilogue)
      : ConvolutionPlan({.algorithm = "direct:" + std::string(cut.row_step > 1 ? "dilated_" : "") + name(shape) +
                                      std::to_string(tile.positions) + "x" + std::to_string(tile.vectors) +
                                      ",threads=" + std::to_string(context.threads),
                         .threads = context.threads,
                         .inputs = operands.inputs(weights(shape, cut)),
                         .outputs = {operands.output()},
                         .workspace_bytes = static_cast<std::size_t>(context.threads) * workspace(cut, epilogue)},
                        operands),
        shape_(shape),
        tile_(tile),
        cut_(cut),
        epilogue_(epilogue),
        kernels_(context.kernels),
        pool_(context.pool) {}

 private:
  static std::string name(const ConvolutionShape& shape) {
    return (shape.transposed ? "transposed_" : "") + std::string(kind_names[static_cast<std::size_t>(shape.kind)]);
  }
  static std::size_t workspace(const Cut& cut, const TileEpilogue& epilogue) {
    return static_cast<std::size_t>(cut.all) * sizeof(float) + (epilogue.scratch_bytes() + 63) / 64 * 64;
  }
  static Layout weights(const ConvolutionShape& shape, const Cut& cut) {
    return {.name = name(shape) + std::to_string(cut.panel) + "x" + std::to_string(shape.y_unit()),
            .bytes = static_cast<std::size_t>(shape.parts * shape.part_floats()) * sizeof(float)};
  }

  void pack_weights(const float* w, float* packed) const override { shape_.pack_weights(cut_.panel, w, packed); }

  void do_execute(const Arguments& arguments) const override {
    const std::size_t bytes = workspace_bytes() / static_cast<std::size_t>(threads());
    pool_->parallel(threads(), [&](int thread) {
      auto* const strip = reinterpret_cast<float*>(static_cast<std::byte*>(arguments.workspace) +
                                                   static_cast<std::size_t>(thread) * bytes);
      const Range mine = share(cut_.tasks(shape_), threads(), thread);
      for (Index i = mine.begin; i < mine.end; ++i) run(task(i), arguments, strip);
    });
  }

  [[nodiscard]] Task task(Index i) const {
    const auto next = [&i](Index count) {
      const Index at = i % count;
      i /= count;
      return at;
    };
    const Index column = next(cut_.column_tasks(shape_)) * cut_.columns;
    const Index first_row = next(cut_.row_sets(shape_));
    const Index row = first_row + next(cut_.row_tasks(shape_) / cut_.row_sets(shape_)) * cut_.rows * cut_.row_step;
    const Index panel = next(cut_.panel_tasks(shape_)) * cut_.panels, part = next(shape_.parts);
    return {.image = i,
            .part = part,
            .first_panel = panel,
            .last_panel = std::min(panel + cut_.panels, parts_of(shape_.vectors, cut_.panel)),
            .rows = {row, std::min(row + cut_.rows * cut_.row_step, shape_.rows.outputs())},
            .columns = {column, std::min(column + cut_.columns, shape_.columns.outputs())}};
  }

  void run(const Task& task, const Arguments& arguments, float* strip) const {
    if (task.rows.size() <= 0) return;  // this set has fewer rows than others
    for (Index block = 0; block < shape_.blocks; block += cut_.blocks) {
      const Index some = std::min(cut_.blocks, shape_.blocks - block);
      if (!cut_.in_place) fill(task, block, some, input<float>(arguments, 0), strip);
      for (Index panel = task.first_panel; panel < task.last_panel; ++panel) {
        for (Index row = task.rows.begin; row < task.rows.end; row += cut_.row_step)
          for (std::size_t grid = 0; grid < shape_.grids.size(); ++grid)
            multiply(task, block, some, panel, grid, row, arguments, strip);
        if (block + some == shape_.blocks && epilogue_.finishes())
          finish(task, panel, arguments, reinterpret_cast<std::byte*>(strip + cut_.all));
      }
    }
  }

  /// The rest of the epilogue, over a panel that is still in a cache.
  void finish(const Task& task, Index panel, const Arguments& arguments, std::byte* scratch) const {
    const Index first = panel * cut_.panel, end = std::min(first + cut_.panel, shape_.vectors);
    const Range rows = of_all_grids(task.rows, shape_.row_step, shape_.y_rows),
                columns = of_all_grids(task.columns, shape_.column_step, shape_.y_columns);
    const bool contiguous = cut_.row_step == 1 && columns.size() == shape_.y_columns;
    const Index some = contiguous ? rows.size() : 1;
    for (Index vector = first; vector < end; ++vector)
      for (Index row = rows.begin; row < rows.end; row += contiguous ? some : cut_.row_step)
        epilogue_.finish(arguments, y_at(task, vector, row, columns.begin), some * columns.size() * shape_.y_unit(),
                         scratch);
  }
  /// The rows or columns of y that correspond to a range of the grids.
  static Range of_all_grids(Range range, Index step, Index y_size) {
    return {range.begin * step, std::min(range.end * step, y_size)};
  }

  /// The first row of x in a task's strip.
  [[nodiscard]] Index first_slot(const Task& task) const {
    const Index first = task.rows.begin * shape_.rows.stride - shape_.rows.pad_begin;
    return first + parts_of(std::max<Index>(-first, 0), cut_.row_step) * cut_.row_step;
  }
  [[nodiscard]] Index x_block(const Task& task, Index block) const {
    return ((task.image * shape_.parts + task.part) * shape_.blocks + block) * shape_.rows.size * shape_.columns.size *
           shape_.x_unit();
  }
  [[nodiscard]] Index y_at(const Task& task, Index vector, Index row, Index column) const {
    const Index at = row * shape_.y_columns + column;
    return (((task.image * shape_.parts + task.part) * shape_.vectors + vector) * shape_.y_plane() + at) *
           shape_.y_unit();
  }

  void fill(const Task& task, Index first_block, Index blocks, const float* x, float* strip) const {
    const auto &h = shape_.rows, &w = shape_.columns;
    const Index begin_row = first_slot(task);
    const Index last_of_y = task.rows.begin + (task.rows.size() - 1) / cut_.row_step * cut_.row_step;
    const Index end_row = std::min(h.size, last_of_y * h.stride - h.pad_begin + (h.kernel - 1) * h.dilation + 1);
    const Index count = task.columns.size() + cut_.reach + 1;
    const auto frame = kernels_.frame[shape_.x_blocked() ? 1 : 0];
    for (Index block = 0; block < blocks; ++block)
      for (Index row = begin_row; row < end_row; row += cut_.row_step) {
        const float* const from = x + x_block(task, first_block + block) + row * w.size * shape_.x_unit();
        for (Index phase = 0; phase < std::min(w.stride, (w.kernel - 1) * w.dilation + 1); ++phase) {
          const Index first = task.columns.begin * w.stride - w.pad_begin + phase;
          const Index begin = std::clamp<Index>(parts_of(std::max<Index>(-first, 0), w.stride), 0, count),
                      end = std::clamp<Index>(parts_of(std::max<Index>(w.size - first, 0), w.stride), begin, count);
          frame(from + (first + begin * w.stride) * shape_.x_unit(), w.stride, begin, end - begin, count - end,
                strip + (block * cut_.slots + (row - begin_row) / cut_.row_step) * cut_.line + phase * cut_.phase);
        }
      }
  }

  /// Multiplies one row of a panel and a grid.
  void multiply(const Task& task, Index first_block, Index blocks, Index panel, std::size_t of_grid, Index row,
                const Arguments& arguments, const float* strip) const {
    const Grid& grid = shape_.grids[of_grid];
    const auto &rows = grid.rows.window, &columns = grid.columns.window;
    const Range range{task.columns.begin, std::min(task.columns.end, grid.columns.outputs)};
    if (row >= grid.rows.outputs || range.begin >= range.end) return;
    const bool lines = shape_.kind == TileKind::lines;
    const Index first = panel * cut_.panel, some = std::min(cut_.panel, shape_.vectors - first);
    const Range window = grid.rows.taps(row, row + 1);
    TileArguments tile{.taps = cut_.taps[of_grid].data(),
                       .blocks = blocks,
                       .rows = window.size(),
                       .inner = shape_.inner,
                       .y_position = lines ? shape_.y_plane() : shape_.column_step * shape_.lanes,
                       .y_vector = lines ? shape_.lanes : shape_.y_plane() * shape_.lanes,
                       .last = shape_.lanes,
                       .more = first_block > 0};
    const Index x_row = row * rows.stride - rows.pad_begin + window.begin * rows.dilation;
    const float* x = nullptr;
    if (cut_.in_place) {
      x = input<float>(arguments, 0) + x_block(task, first_block) + x_row * cut_.line + range.begin * shape_.x_unit();
      tile.x_block = x_block(task, 1) - x_block(task, 0);
    } else {
      x = strip + (x_row - first_slot(task)) / cut_.row_step * cut_.line;
      tile.x_block = cut_.slots * cut_.line;
    }
    tile.x_row = rows.dilation / cut_.row_step * cut_.line;
    tile.w_tap = shape_.tap_floats(some);
    tile.w_row = columns.kernel * tile.w_tap;
    tile.w_block = rows.kernel * tile.w_row;
    tile.w = input<float>(arguments, 1) + task.part * shape_.part_floats() +
             shape_.blocks * (shape_.taps() * shape_.tap_floats(first) + grid.taps_before * tile.w_tap) +
             first_block * tile.w_block + window.begin * tile.w_row;

    const Index bias = (task.part * shape_.vectors + first) * shape_.y_unit();
    const bool whole = first_block + blocks == shape_.blocks;
    const Index width = lines ? round_up(even(range.size(), tile_.vectors * shape_.lanes), shape_.lanes)
                              : even(range.size(), tile_.positions);
    for (Index column = range.begin; column < range.end; column += width) {
      const Index end = std::min(column + width, range.end), count = end - column;
      const Range taps = grid.columns.taps(column, end);
      tile.x = x + (column - range.begin) * shape_.x_unit();
      tile.first_tap = taps.begin;
      tile.last_tap = taps.end;
      const Index y =
          y_at(task, first, grid.rows.first + row * shape_.row_step, grid.columns.first + column * shape_.column_step);
      tile.y = output<float>(arguments) + y;
      epilogue_.set(tile, arguments, bias, y, whole);
      const Index vectors = lines ? parts_of(count, shape_.lanes) : some, positions = lines ? some : count;
      if (lines) tile.last = count - (vectors - 1) * shape_.lanes;
      kernels_.tile[static_cast<std::size_t>(shape_.kind)][vectors - 1][positions - 1](tile);
    }
  }

  ConvolutionShape shape_;
  TileShape tile_;
  Cut cut_;
  TileEpilogue epilogue_;
  const Kernels& kernels_;
  std::shared_ptr<const ThreadPool> pool_;
};

/// Kinds that suit the channels of x and y.
std::vector<TileKind> kinds_for(Index x, Index y, Index group) {
  if (group > 1 && x == group && y == group) return {TileKind::depthwise};
  std::vector<TileKind> kinds{TileKind::blocked};
  if (group > 1) kinds.push_back(TileKind::grouped);
  else if (x <= few_channels) kinds = {TileKind::planar};
  if (y / group <= few_channels) kinds.push_back(TileKind::lines);
  return kinds;
}

/// The largest tiles of a kind: those with fewer vectors have more positions.
std::vector<TileShape> tiles_for(const ConvolutionShape& shape, const Kernels& kernels) {
  std::vector<TileShape> tiles;
  const auto& table = kernels.tile[static_cast<std::size_t>(shape.kind)];
  const bool lines = shape.kind == TileKind::lines;
  for (Index vectors = 1; vectors <= static_cast<Index>(most_tile_vectors); ++vectors) {
    const auto& of_vectors = table[vectors - 1];
    const Index positions = std::find(std::begin(of_vectors), std::end(of_vectors), nullptr) - std::begin(of_vectors);
    if (lines && positions >= shape.vectors) tiles = {{.positions = shape.vectors, .vectors = vectors}};
    if (!lines && positions > 0 && vectors <= shape.vectors && (vectors > 1 || shape.vectors == 1))
      tiles.push_back({.positions = positions, .vectors = vectors});
  }
  return tiles;
}

template <class Op>
Result direct_plans(const Op& op, const Context& context) {
  const std::string kind_of_op(Op::kind);
  if (context.kernels.tile[0][0][0] == nullptr)
    return Unsupported{"no " + kind_of_op + " without AVX2 in backend native"};
  if (op.x.size() != 4) return Unsupported{"no " + kind_of_op + " of three axes in backend native"};
  if (!op.w_constant) return Unsupported{"no " + kind_of_op + " with weights that are computed in backend native"};
  const Index lanes = context.kernels.lanes;
  const TensorShape y = op.y(), one{1, y[1], 1, 1};
  Plans plans;
  for (const TileKind kind : kinds_for(op.x[1], y[1], op.group)) {
    const auto shape = ConvolutionShape::make(op, kind, lanes);
    if (!shape) continue;
    const ConvolutionOperands operands(op.operands(), *shape);
    const auto lies = [&operands](const TensorShape& operand) { return operands.in_memory(operand); };
    const auto epilogue = TileEpilogue::make(op.post, context.kernels, lies(y), lies(one), lies);
    if (!epilogue) return Unsupported{"no " + kind_of_op + " with this epilogue in backend native"};
    for (const TileShape tile : tiles_for(*shape, context.kernels)) {
      plans.push_back(std::make_unique<DirectConvolutionPlan>(operands, context, *shape, tile,
                                                              Cut(*shape, tile, context.threads), *epilogue));
      add_winograd_plans(plans, operands, *shape, tile, *epilogue, context);
    }
  }
  if (plans.empty())
    return Unsupported{"no tile of backend native suits a " + kind_of_op + " with groups of " +
                       std::to_string(op.x[1] / op.group) + " channels"};
  return plans;
}

}  // namespace

Result plans(const op::Conv& op, const Context& context) {
  if (is_8_bit(op.type)) return integer_plans(op, context);
  if (op.type != DataType::f32 || op.w_type || op.y_type) return unsupported(op.kind, op.type);
  return direct_plans(op, context);
}

Result plans(const op::ConvTranspose& op, const Context& context) {
  if (op.type != DataType::f32) return unsupported(op.kind, op.type);
  return direct_plans(op, context);
}

}  // namespace benanza::native
