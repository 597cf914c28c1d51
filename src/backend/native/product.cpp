// SPDX-License-Identifier: Apache-2.0
// Matrix products with weights: b is packed into panels of some vectors of columns. A block of rows of a stays in the
// second-level cache while the panels pass one after another; the few rows of a single tile stay there over their whole
// length. Rows at a distance of a multiple of the page size would map to the same few lines of the first-level cache,
// so a separate plan first copies them closer together. Weights of few bits stay as narrow as they are in memory. A
// thread expands a piece of a panel to floats and multiplies it while it is in the first-level cache; for few rows, the
// floats stay in registers.
#include "parts.hpp"
#include "product_batched.hpp"
#include "tile_epilogue.hpp"

#include <algorithm>
#include <cstring>

namespace benanza::native {

namespace {

constexpr Index block_rows = 96, block_depth = 512;
constexpr Index line_floats = 16;        // floats in a cache line
constexpr Index expanded_floats = 4096;  // size of a piece of a panel
constexpr Index rows_of_bytes = 4;       // rows of a panel that fill whole vectors of bytes, for any narrow type

constexpr Index whole_bytes(Index rows) { return round_up(rows, rows_of_bytes); }

/// Types that `Kernels::expand` supports.
bool is_narrow(DataType type) { return type == DataType::u2 || type == DataType::u4 || type == DataType::u8; }

/// How a plan reads rows of a, and weights of 4 bits.
enum class ProductWay : std::uint8_t { as_they_are, copied_rows, narrow_weights };

class ProductPlan final : public Plan {
 public:
  ProductPlan(const op::MatMul& op, const Context& context, Index positions, Index vectors, ProductWay way,
              const TileEpilogue& epilogue)
      : Plan({.algorithm = name_of(op, way) + ":" + std::to_string(positions) + "x" + std::to_string(vectors) +
                           ",threads=" + std::to_string(context.threads),
              .threads = context.threads,
              .inputs = layouts(op, vectors, context.kernels.lanes),
              .outputs = plain_layouts(op.operands().outputs),
              .workspace_bytes = static_cast<std::size_t>(context.threads) *
                                 thread_bytes(epilogue, copied_floats(op, way), op.b_type.has_value())}),
        m_(element_count(op.a) / op.k()),
        n_(op.n()),
        k_(op.k()),
        lanes_(context.kernels.lanes),
        positions_(positions),
        vectors_(vectors),
        copied_(copied_floats(op, way)),
        narrow_bits_(op.b_type ? bits(*op.b_type) : 0),
        kind_(way == ProductWay::narrow_weights ? TileKind::rows_4_bits : TileKind::rows),
        epilogue_(epilogue),
        kernels_(context.kernels),
        pool_(context.pool) {}

 private:
  static std::string name_of(const op::MatMul& op, ProductWay way) {
    if (way == ProductWay::narrow_weights) return "narrow_product";
    return std::string(way == ProductWay::copied_rows ? "copied_" : "") + (op.b_type ? "expanded_product" : "product");
  }
  /// Distance between two copied rows, in floats.
  static Index copied_stride(Index depth) { return round_up(even(depth, block_depth), line_floats) + line_floats; }
  static Index copied_floats(const op::MatMul& op, ProductWay way) {
    return way == ProductWay::copied_rows ? block_rows * copied_stride(op.k()) : 0;
  }
  static std::size_t scratch(const TileEpilogue& epilogue) { return (epilogue.scratch_bytes() + 63) / 64 * 64; }
  static std::size_t thread_bytes(const TileEpilogue& epilogue, Index copied, bool expands) {
    return scratch(epilogue) + static_cast<std::size_t>(copied + (expands ? expanded_floats : 0)) * sizeof(float);
  }
  static std::vector<Layout> layouts(const op::MatMul& op, Index vectors, Index lanes) {
    auto result = plain_layouts(op.operands().inputs);
    const Index depth = op.b_type ? whole_bytes(op.k()) : op.k(), columns = round_up(op.n(), lanes);
    result[1] = {.name = (op.b_type ? std::string(benanza::name(*op.b_type)) + "_panels" : std::string("panels")) +
                         std::to_string(vectors) + "x" + std::to_string(lanes),
                 .bytes = static_cast<std::size_t>(columns * depth * bits(op.b_type.value_or(op.type)) / 8)};
    return result;
  }
  /// Columns of a panel.
  [[nodiscard]] Index width() const { return vectors_ * lanes_; }
  [[nodiscard]] Index vectors_of(Index panel) const {
    return std::min(vectors_, parts_of(n_, lanes_) - panel * vectors_);
  }

  void do_pack_input(std::size_t i, const void* plain, void* packed) const override {
    if (i != 1) {
      std::memcpy(packed, plain, inputs()[i].bytes);
      return;
    }
    if (narrow_bits_ > 0) return pack_narrow(static_cast<const std::uint8_t*>(plain), packed);
    const auto* const b = static_cast<const float*>(plain);
    auto* to = static_cast<float*>(packed);
    for (Index panel = 0; panel * width() < n_; ++panel) {
      const Index row = vectors_of(panel) * lanes_, there = std::min(row, n_ - panel * width());
      for (Index k = 0; k < k_; ++k, to += row) {
        std::copy_n(b + k * n_ + panel * width(), there, to);
        std::fill_n(to + there, row - there, 0.0F);
      }
    }
  }

  /// Each panel ends with rows of zeros if its own rows do not fill whole vectors of bytes.
  void pack_narrow(const std::uint8_t* b, void* packed) const {
    std::memset(packed, 0, inputs()[1].bytes);
    auto* const to = static_cast<std::uint8_t*>(packed);
    const Index in_byte = 8 / narrow_bits_;
    const unsigned mask = (1U << narrow_bits_) - 1U;
    for (Index k = 0; k < k_; ++k)
      for (Index column = 0; column < n_; ++column) {
        const Index bit = (k * n_ + column) * narrow_bits_, panel = column / width();
        const unsigned element = static_cast<unsigned>(b[bit / 8]) >> (bit % 8) & mask;
        const Index vector =
            panel * vectors_ * whole_bytes(k_) + k * vectors_of(panel) + (column - panel * width()) / lanes_;
        std::uint8_t& byte = to[vector / in_byte * lanes_ + column % lanes_];
        byte = static_cast<std::uint8_t>(byte | element << (vector % in_byte * narrow_bits_));
      }
  }

  void do_execute(const Arguments& arguments) const override {
    const Index panels = parts_of(n_, width());
    const bool by_rows = m_ >= 2 * positions_ * threads() || panels < threads();
    pool_->parallel(threads(), [&](int thread) {
      const Range rows = by_rows ? share(m_, threads(), thread) : Range{0, m_},
                  mine = by_rows ? Range{0, panels} : share(panels, threads(), thread);
      auto* const workspace = static_cast<std::byte*>(arguments.workspace) +
                              static_cast<std::size_t>(thread) * thread_bytes(epilogue_, copied_, narrow_bits_ > 0);
      const Index step = rows.size() > 0 ? even(rows.size(), block_rows) : 1;
      for (Index row = rows.begin; row < rows.end; row += step)
        multiply({row, std::min(row + step, rows.end)}, mine, arguments, workspace);
    });
  }

  void multiply(Range rows, Range panels, const Arguments& arguments, std::byte* workspace) const {
    // Rows of one tile use a weight once and read a panel to its end: memory is faster in one long run.
    const bool once = rows.size() <= positions_ && copied_ == 0;
    const Index most = once ? k_ : even(k_, block_depth), depth = narrow_bits_ > 0 ? whole_bytes(most) : most;
    auto* const copied = reinterpret_cast<float*>(workspace + scratch(epilogue_));
    for (Index k = 0; k < k_; k += depth) {
      const Range some{k, std::min(k + depth, k_)};
      const float* const a = input<float>(arguments, 0) + rows.begin * k_ + k;
      if (copied_ > 0)
        for (Index row = 0; row < rows.size(); ++row)
          std::copy_n(a + row * k_, some.size(), copied + row * copied_stride(k_));
      const float* const x = copied_ > 0 ? copied : a;
      for (Index panel = panels.begin; panel < panels.end; ++panel) {
        const Index at = panel * width() * (narrow_bits_ > 0 ? whole_bytes(k_) : k_) + k * vectors_of(panel) * lanes_;
        if (narrow_bits_ == 0) {
          multiply_panel(rows, some, panel, x, input<float>(arguments, 1) + at, arguments);
          continue;
        }
        const auto* const w = input<std::uint8_t>(arguments, 1) + at * narrow_bits_ / 8;
        if (kind_ == TileKind::rows) multiply_expanded(rows, some, panel, x, w, copied + copied_, arguments);
        else multiply_panel(rows, some, panel, x, reinterpret_cast<const float*>(w), arguments);
      }
    }
    if (!epilogue_.finishes()) return;
    const Index first = panels.begin * width(), last = std::min(panels.end * width(), n_);
    if (last - first == n_) return epilogue_.finish(arguments, rows.begin * n_, rows.size() * n_, workspace);
    for (Index row = rows.begin; row < rows.end; ++row)
      epilogue_.finish(arguments, row * n_ + first, last - first, workspace);
  }

  /// `multiply_panel` piece by piece; `expanded` holds the weights of one piece.
  void multiply_expanded(Range rows, Range depth, Index panel, const float* a, const std::uint8_t* w, float* expanded,
                         const Arguments& arguments) const {
    const Index row = vectors_of(panel) * lanes_, step = expanded_floats / width() / rows_of_bytes * rows_of_bytes;
    const auto expand = kernels_.expand[narrow_bits_ == 2 ? 0 : narrow_bits_ == 4 ? 1 : 2];
    for (Index k = depth.begin; k < depth.end; k += step) {
      const Range piece{k, std::min(k + step, depth.end)};
      expand(w + (k - depth.begin) * row * narrow_bits_ / 8, expanded, whole_bytes(piece.size()) * row);
      multiply_panel(rows, piece, panel, a + (k - depth.begin), expanded, arguments);
    }
  }

  /// `a` points to the first of the rows at the start of the depth, `w` to the panel's weights.
  void multiply_panel(Range rows, Range depth, Index panel, const float* a, const float* w,
                      const Arguments& arguments) const {
    static constexpr Index tap = 0;
    const Index first = panel * width(), vectors = vectors_of(panel);
    const Index a_stride = copied_ > 0 ? copied_stride(k_) : k_;  // between rows
    TileArguments tile{.x_position = a_stride,
                       .taps = &tap,
                       .inner = depth.size(),
                       .w = w,
                       .y_position = n_,
                       .y_vector = lanes_,
                       .last = std::min(n_ - first - (vectors - 1) * lanes_, lanes_),
                       .more = depth.begin > 0};
    const Index step = even(rows.size(), positions_);
    for (Index row = rows.begin; row < rows.end; row += step) {
      const Index y = row * n_ + first;
      tile.x = a + (row - rows.begin) * a_stride;
      tile.y = output<float>(arguments) + y;
      epilogue_.set(tile, arguments, first, y, depth.end == k_);
      const Index positions = std::min(step, rows.end - row);
      kernels_.tile[static_cast<std::size_t>(kind_)][vectors - 1][positions - 1](tile);
    }
  }

  Index m_, n_, k_, lanes_, positions_, vectors_, copied_;
  Index narrow_bits_;  // bits of an element of b; 0 for floats
  TileKind kind_;
  TileEpilogue epilogue_;
  const Kernels& kernels_;
  std::shared_ptr<const ThreadPool> pool_;
};

}  // namespace

Result plans(const op::MatMul& op, const Context& context) {
  if (is_8_bit(op.type)) return integer_plans(op, context);
  if (op.type != DataType::f32 || (op.b_type && !is_narrow(*op.b_type)) || op.y_type)
    return unsupported(op.kind, op.type);
  if (context.kernels.tile[0][0][0] == nullptr) return Unsupported{"no MatMul without AVX2 in backend native"};
  if (!op.b_constant || op.trans_a || element_count(op.b) != op.k() * op.n()) {
    if (!op.b_type) return batched_plans(op, context);
    return Unsupported{"no MatMul of weights of few bits but of rows with one matrix in backend native"};
  }
  const TensorShape y = op.y();
  TensorShape columns = TensorShape::filled(y.size(), 1);
  columns[y.size() - 1] = op.n();
  const auto epilogue =
      TileEpilogue::make(op.post, context.kernels, y, columns, [](const TensorShape& shape) { return shape; });
  if (!epilogue) return Unsupported{"no MatMul with this epilogue in backend native"};
  Plans plans;
  const Index rows = element_count(op.a) / op.k();
  for (Index vectors = 2; vectors <= static_cast<Index>(most_tile_vectors); ++vectors) {
    const auto positions = [&](TileKind kind) -> Index {
      const auto& tiles = context.kernels.tile[static_cast<std::size_t>(kind)][vectors - 1];
      return std::find(std::begin(tiles), std::end(tiles), nullptr) - std::begin(tiles);
    };
    const auto add = [&](ProductWay way, Index most) {
      plans.push_back(std::make_unique<ProductPlan>(op, context, most, vectors, way, *epilogue));
    };
    const Index most = positions(TileKind::rows), most_narrow = positions(TileKind::rows_4_bits);
    add(ProductWay::as_they_are, most);
    if (rows > most) add(ProductWay::copied_rows, most);
    if (op.b_type == DataType::u4 && rows <= most_narrow) add(ProductWay::narrow_weights, most_narrow);
  }
  return plans;
}

}  // namespace benanza::native
