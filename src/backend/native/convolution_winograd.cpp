// SPDX-License-Identifier: Apache-2.0
// Convolution with 3x3 taps by Winograd's minimal filtering. Patches of x and the taps are transformed to points, each
// point is a product of matrices, and sums of products at the points are transformed to tiles of y. A tile of n x n
// results needs (n + 2)^2 multiplications for each pair of channels instead of 9 n^2. A task transforms some tiles of x
// once. Then it takes panel by panel of y, whose sums stay in the second-level cache. With a dilation, the rows and
// columns of a tile are a dilation apart.
#include "convolution_winograd.hpp"

#include "context.hpp"
#include "convolution_plan.hpp"
#include "parts.hpp"
#include "tile_epilogue.hpp"

#include <algorithm>
#include <array>

namespace benanza::native {

namespace {

constexpr double least_saving = 1.5;        // transforms take time, too
constexpr Index point_floats = 512 * 1024;  // transformed tiles of x of a task, which stay in a cache
constexpr Index least_tiles = 24;           // enough to amortise reading the weights
constexpr Index most_points = 6;            // along an axis
constexpr Index line_floats = 16;           // moves points to different sets of a cache

/// The transform of three taps along an axis.
struct TapTransform {
  Index points = 4;
  std::array<std::array<double, 3>, most_points> of{};
};
// Lavin and Gray, "Fast algorithms for convolutional neural networks" (CVPR 2016), as in kernels/winograd.cpp.
constexpr TapTransform to_4_points{4, {{{1, 0, 0}, {0.5, 0.5, 0.5}, {0.5, -0.5, 0.5}, {0, 0, 1}}}};
constexpr TapTransform to_6_points{6,
                                   {{{1.0 / 4, 0, 0},
                                     {-1.0 / 6, -1.0 / 6, -1.0 / 6},
                                     {-1.0 / 6, 1.0 / 6, -1.0 / 6},
                                     {1.0 / 24, 1.0 / 12, 1.0 / 6},
                                     {1.0 / 24, -1.0 / 12, 1.0 / 6},
                                     {0, 0, 1}}}};

/// The first element of each tile along one axis of y, phase by phase of the dilation.
std::vector<Index> starts(const detail::Window& window, Index results) {
  std::vector<Index> first;
  for (Index phase = 0; phase < std::min(window.dilation, window.outputs()); ++phase)
    for (Index at = phase; at < window.outputs(); at += results * window.dilation) first.push_back(at);
  return first;
}

/// How the tiles are divided into tasks.
struct WinogradCut {
  Index results = 2;  ///< of a tile, along an axis
  std::vector<Index> rows{}, columns{};
  Index tiles = 1;       ///< in all images
  Index some = 1;        ///< tiles of a task
  Index panel = 1;       ///< vectors of y whose weights are together
  Index panel_sets = 1;  ///< tasks that share their tiles and have different panels

  WinogradCut(const ConvolutionShape& shape, Index results_of_tile, Index vectors, int threads)
      : results(results_of_tile),
        rows(starts(shape.rows, results)),
        columns(starts(shape.columns, results)),
        tiles(shape.images * std::ssize(rows) * std::ssize(columns)),
        panel(vectors) {
    const Index most = std::max(least_tiles, point_floats / (points() * shape.blocks * shape.lanes));
    Index tasks = parts_of(tiles, most);
    if (shape.parts % threads != 0 && tasks % threads != 0) {
      if (tiles >= least_tiles * round_up(tasks, threads)) tasks = round_up(tasks, threads);
      else panel_sets = std::min<Index>(threads, panels(shape));
    }
    some = parts_of(tiles, tasks);
  }
  [[nodiscard]] Index points() const { return (results + 2) * (results + 2); }
  [[nodiscard]] Index panels(const ConvolutionShape& shape) const { return parts_of(shape.vectors, panel); }
  [[nodiscard]] Index tasks(const ConvolutionShape& shape) const {
    return shape.parts * parts_of(tiles, some) * panel_sets;
  }
  /// The multiplications of the direct algorithm for each one of this.
  [[nodiscard]] double saving(const ConvolutionShape& shape) const {
    return static_cast<double>(shape.images * shape.y_plane() * shape.kernel_taps) /
           static_cast<double>(tiles * points());
  }
  /// Floats of a point, of its tiles of x and of a panel of y.
  [[nodiscard]] Index x_point(const ConvolutionShape& shape) const {
    return shape.blocks * some * shape.lanes + line_floats;
  }
  [[nodiscard]] Index y_point(const ConvolutionShape& shape) const { return panel * some * shape.lanes + line_floats; }
};

class WinogradPlan final : public ConvolutionPlan {
 public:
  WinogradPlan(const ConvolutionOperands& operands, const Context& context, const ConvolutionShape& shape,
               const WinogradCut& cut, Index positions, const TileEpilogue& epilogue)
      : ConvolutionPlan({.algorithm = "winograd:" + name(cut) + ",tile=" + std::to_string(positions) + "x" +
                                      std::to_string(cut.panel) + ",threads=" + std::to_string(context.threads),
                         .threads = context.threads,
                         .inputs = operands.inputs(weights(shape, cut)),
                         .outputs = {operands.output()},
                         .workspace_bytes = static_cast<std::size_t>(context.threads) * workspace(shape, cut, epilogue),
                         .saves_multiplications = true},
                        operands),
        shape_(shape),
        cut_(cut),
        positions_(positions),
        epilogue_(epilogue),
        kernels_(context.kernels),
        pool_(context.pool) {}

 private:
  static std::string name(const WinogradCut& cut) {
    return std::to_string(cut.results) + "x" + std::to_string(cut.results);
  }
  static Layout weights(const ConvolutionShape& shape, const WinogradCut& cut) {
    return {.name = "winograd" + name(cut) + "_" + std::to_string(cut.panel) + "x" + std::to_string(shape.lanes),
            .bytes = static_cast<std::size_t>(shape.parts * part_floats(shape, cut)) * sizeof(float)};
  }
  static Index part_floats(const ConvolutionShape& shape, const WinogradCut& cut) {
    return cut.points() * shape.blocks * shape.lanes * shape.vectors * shape.lanes;
  }
  static std::size_t workspace(const ConvolutionShape& shape, const WinogradCut& cut, const TileEpilogue& epilogue) {
    const Index floats = cut.points() * (cut.x_point(shape) + cut.y_point(shape));
    return static_cast<std::size_t>(round_up(floats, line_floats)) * sizeof(float) +
           (epilogue.scratch_bytes() + 63) / 64 * 64;
  }

  /// Packs the weights by part, panel, point, block, channel of x, vector.
  void pack_weights(const float* w, float* packed) const override {
    const TapTransform& transform = cut_.results == 2 ? to_4_points : to_6_points;
    const Index depth = shape_.blocks * shape_.lanes, points = cut_.points();
    std::fill_n(packed, shape_.parts * part_floats(shape_, cut_), 0.0F);
    for (Index part = 0; part < shape_.parts; ++part)
      for (Index to = 0; to < shape_.y_channels; ++to) {
        const Index first = to / shape_.lanes / cut_.panel * cut_.panel;
        const Index width = std::min(cut_.panel, shape_.vectors - first) * shape_.lanes;
        float* const of_panel = packed + part * part_floats(shape_, cut_) + first * shape_.lanes * points * depth;
        for (Index from = 0; from < shape_.x_channels; ++from) {
          const float* const taps = w + ((part * shape_.y_channels + to) * shape_.x_channels + from) * 9;
          std::array<std::array<double, 3>, most_points> by_row{};
          const auto side = static_cast<std::size_t>(transform.points);
          for (std::size_t p = 0; p < side; ++p)
            for (std::size_t column = 0; column < 3; ++column)
              for (std::size_t row = 0; row < 3; ++row)
                by_row[p][column] += transform.of[p][row] * taps[row * 3 + column];
          for (Index p = 0; p < points; ++p) {
            double sum = 0;
            const auto point = static_cast<std::size_t>(p);
            for (std::size_t column = 0; column < 3; ++column)
              sum += by_row[point / side][column] * transform.of[point % side][column];
            of_panel[(p * depth + from) * width + to - first * shape_.lanes] = static_cast<float>(sum);
          }
        }
      }
  }

  void do_execute(const Arguments& arguments) const override {
    const std::size_t bytes = workspace_bytes() / static_cast<std::size_t>(threads());
    pool_->parallel(threads(), [&](int thread) {
      auto* const space = static_cast<std::byte*>(arguments.workspace) + static_cast<std::size_t>(thread) * bytes;
      const Range mine = share(cut_.tasks(shape_), threads(), thread);
      for (Index task = mine.begin; task < mine.end; ++task) run(task, arguments, space);
    });
  }

  void run(Index task, const Arguments& arguments, std::byte* space) const {
    const Index panel_set = task % cut_.panel_sets, of_tiles = parts_of(cut_.tiles, cut_.some);
    const Index chunk = task / cut_.panel_sets % of_tiles, part = task / cut_.panel_sets / of_tiles;
    const Range tiles{chunk * cut_.some, std::min((chunk + 1) * cut_.some, cut_.tiles)};
    auto* const x = reinterpret_cast<float*>(space);
    float* const sums = x + cut_.points() * cut_.x_point(shape_);
    auto* const scratch = reinterpret_cast<std::byte*>(
        x + round_up(cut_.points() * (cut_.x_point(shape_) + cut_.y_point(shape_)), line_floats));
    for (Index tile = tiles.begin; tile < tiles.end; ++tile)
      transform_patch(part, tile, arguments, x + (tile - tiles.begin) * shape_.lanes);
    const Range panels = share(cut_.panels(shape_), static_cast<int>(cut_.panel_sets), static_cast<int>(panel_set));
    for (Index panel = panels.begin; panel < panels.end; ++panel) {
      const Index first = panel * cut_.panel, some = std::min(cut_.panel, shape_.vectors - first);
      multiply(part, first, some, tiles.size(), arguments, x, sums);
      for (Index tile = tiles.begin; tile < tiles.end; ++tile)
        finish_tile(part, first, some, tile, arguments, sums + (tile - tiles.begin) * shape_.lanes);
      if (epilogue_.finishes())
        for (Index vector = first; vector < first + some; ++vector)
          finish_lines(part, vector, tiles, arguments, scratch);
    }
  }

  /// The first row and column of a tile in y, and its image.
  struct Place {
    Index image = 0, row = 0, column = 0;
  };
  [[nodiscard]] Place place(Index tile) const {
    const Index columns = std::ssize(cut_.columns), of_image = std::ssize(cut_.rows) * columns;
    return {.image = tile / of_image,
            .row = cut_.rows[static_cast<std::size_t>(tile % of_image / columns)],
            .column = cut_.columns[static_cast<std::size_t>(tile % columns)]};
  }
  /// The offset of vector `vector` of a part of y.
  [[nodiscard]] Index y_at(Index image, Index part, Index vector) const {
    return ((image * shape_.parts + part) * shape_.vectors + vector) * shape_.y_plane() * shape_.lanes;
  }

  void transform_patch(Index part, Index tile, const Arguments& arguments, float* points) const {
    const auto &h = shape_.rows, &w = shape_.columns;
    const Place at = place(tile);
    std::array<Index, most_points * most_points> elements{};
    for (Index row = 0; row < cut_.results + 2; ++row)
      for (Index column = 0; column < cut_.results + 2; ++column) {
        const Index x_row = at.row - h.pad_begin + row * h.dilation,
                    x_column = at.column - w.pad_begin + column * w.dilation;
        const bool inside = x_row >= 0 && x_row < h.size && x_column >= 0 && x_column < w.size;
        elements[static_cast<std::size_t>(row * (cut_.results + 2) + column)] =
            inside ? (x_row * w.size + x_column) * shape_.lanes : -1;
      }
    const Index block = h.size * w.size * shape_.lanes;
    kernels_.winograd_patch[form()](
        {.x = input<float>(arguments, 0) + (at.image * shape_.parts + part) * shape_.blocks * block,
         .elements = elements.data(),
         .blocks = shape_.blocks,
         .x_block = block,
         .points = points,
         .point = cut_.x_point(shape_),
         .points_block = cut_.some * shape_.lanes});
  }

  /// Sums of products at all points, for a panel of y.
  void multiply(Index part, Index first, Index some, Index tiles, const Arguments& arguments, const float* x,
                float* sums) const {
    static constexpr Index no_offset = 0;
    const Index of_point = shape_.blocks * shape_.lanes * some * shape_.lanes, step = even(tiles, positions_);
    const float* const w = input<float>(arguments, 1) + part * part_floats(shape_, cut_) +
                           first * shape_.lanes * cut_.points() * shape_.blocks * shape_.lanes;
    TileArguments tile{.x_block = cut_.some * shape_.lanes,
                       .taps = &no_offset,
                       .blocks = shape_.blocks,
                       .inner = shape_.lanes,
                       .w_block = shape_.lanes * some * shape_.lanes,
                       .y_position = shape_.lanes,
                       .y_vector = cut_.some * shape_.lanes,
                       .last = shape_.lanes};
    for (Index point = 0; point < cut_.points(); ++point)
      for (Index position = 0; position < tiles; position += step) {
        tile.x = x + point * cut_.x_point(shape_) + position * shape_.lanes;
        tile.w = w + point * of_point;
        tile.y = sums + point * cut_.y_point(shape_) + position * shape_.lanes;
        const Index count = std::min(step, tiles - position);
        kernels_.tile[static_cast<std::size_t>(TileKind::blocked)][some - 1][count - 1](tile);
      }
  }

  void finish_tile(Index part, Index first, Index some, Index tile, const Arguments& arguments,
                   const float* sums) const {
    const Index row_step = shape_.rows.dilation, column_step = shape_.columns.dilation;
    const Place at = place(tile);
    std::array<Index, most_points * most_points> results{};
    for (Index row = 0; row < cut_.results; ++row)
      for (Index column = 0; column < cut_.results; ++column) {
        const Index y_row = at.row + row * row_step, y_column = at.column + column * column_step;
        const bool inside = y_row < shape_.y_rows && y_column < shape_.y_columns;
        results[static_cast<std::size_t>(row * cut_.results + column)] =
            inside ? (y_row * shape_.y_columns + y_column) * shape_.lanes : -1;
      }
    const Index y = y_at(at.image, part, first);
    TileArguments last{};
    epilogue_.set(last, arguments, (part * shape_.vectors + first) * shape_.lanes, y, true);
    kernels_.winograd_tile[form()]({.sums = sums,
                                    .point = cut_.y_point(shape_),
                                    .sums_vector = cut_.some * shape_.lanes,
                                    .results = results.data(),
                                    .y = output<float>(arguments) + y,
                                    .vectors = some,
                                    .y_vector = shape_.y_plane() * shape_.lanes,
                                    .bias = last.bias,
                                    .addend = last.addend,
                                    .least = last.least,
                                    .most = last.most});
  }

  /// The rest of the epilogue, over the rows of y that adjacent tiles share.
  void finish_lines(Index part, Index vector, Range tiles, const Arguments& arguments, std::byte* scratch) const {
    const Index columns = std::ssize(cut_.columns);
    for (Index tile = tiles.begin; tile < tiles.end;) {
      const Index end = std::min((tile / columns + 1) * columns, tiles.end);
      const Place at = place(tile);
      const Index past = std::min(place(end - 1).column + cut_.results, shape_.y_columns);
      for (Index row = at.row; row < std::min(at.row + cut_.results, shape_.y_rows); ++row)
        epilogue_.finish(arguments, y_at(at.image, part, vector) + (row * shape_.y_columns + at.column) * shape_.lanes,
                         (past - at.column) * shape_.lanes, scratch);
      tile = end;
    }
  }

  [[nodiscard]] std::size_t form() const { return cut_.results == 2 ? 0 : 1; }

  ConvolutionShape shape_;
  WinogradCut cut_;
  Index positions_;
  TileEpilogue epilogue_;
  const Kernels& kernels_;
  std::shared_ptr<const ThreadPool> pool_;
};

}  // namespace

void add_winograd_plans(Plans& plans, const ConvolutionOperands& operands, const ConvolutionShape& shape,
                        TileShape tile, const TileEpilogue& epilogue, const Context& context) {
  const auto &h = shape.rows, &w = shape.columns;
  if (shape.kind != TileKind::blocked || shape.transposed || h.kernel != 3 || w.kernel != 3) return;
  if (h.stride != 1 || w.stride != 1) return;
  if (epilogue.finishes() && (h.dilation > 1 || w.dilation > 1)) return;  // a tile has no whole line of y
  for (const Index results : {4, 2}) {
    if (tile.vectors > (results == 4 ? 3 : 2)) continue;  // never clearly faster
    const WinogradCut cut(shape, results, tile.vectors, context.threads);
    if (cut.saving(shape) >= least_saving)
      plans.push_back(std::make_unique<WinogradPlan>(operands, context, shape, cut, tile.positions, epilogue));
  }
}

}  // namespace benanza::native
