// SPDX-License-Identifier: Apache-2.0
// Tiles of products: the sums of some positions and some vectors stay in registers while all of their factors pass.
// Direct convolutions in several layouts and matrix products differ only in the location of a tile's factors.
#include "kernels.hpp"
#include "kernels/simd.hpp"

namespace benanza::native::BENANZA_NATIVE_ISA {
namespace {

#if defined(__AVX512F__) || defined(__AVX2__)

/// The number of vectors of sums that leaves registers for the factors: 28 of 32, 12 of 16.
constexpr int most_sums = lanes == 16 ? 28 : 12;

/// Lane i takes lane `from[i]`.
inline F permute(F v, I from) {
#if defined(__AVX512F__)
  return _mm512_permutexvar_ps(bits<__m512i>(from), v);
#else
  return _mm256_permutevar8x32_ps(v, bits<__m256i>(from));
#endif
}
/// The first lane of each lane's group.
inline I first_of_groups(Index channels) {
  I first;
  for (int i = 0; i < lanes; ++i) first[i] = i / static_cast<int>(channels) * static_cast<int>(channels);
  return first;
}

template <int positions, int vectors>
struct Sums {
  F of[positions][vectors];

  /// acc += x[p * step] times vectors of w, for each position p.
  inline void add(const float* x, Index step, const float* w) {
    F factor[vectors];
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) factor[v] = load(w + v * lanes);
#pragma GCC unroll 14
    for (int p = 0; p < positions; ++p) {
      const F element = splat(x[p * step]);
#pragma GCC unroll 4
      for (int v = 0; v < vectors; ++v) of[p][v] += element * factor[v];
    }
  }

  /// The same for one row of w, or for two that are stored together in 4 bits, in the layout of `expand`.
  template <int rows>
  inline void add_4_bits(const float* x, Index step, const std::uint8_t* w) {
    F factor[2 * vectors];
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) {
      const I both = load_bytes(w + v * lanes);
      factor[2 * v] = to_float(both & 15);
      factor[2 * v + 1] = to_float(both >> 4);
    }
#pragma GCC unroll 2
    for (int row = 0; row < rows; ++row)
#pragma GCC unroll 4
      for (int p = 0; p < positions; ++p) {
        const F element = splat(x[p * step + row]);
#pragma GCC unroll 4
        for (int v = 0; v < vectors; ++v) of[p][v] += element * factor[row * vectors + v];
      }
  }
};

template <TileKind kind, int positions, int vectors>
inline void add_tap(const TileArguments& a, const float* x, const float* w, [[maybe_unused]] I first_lane,
                    Sums<positions, vectors>& sums) {
  if constexpr (kind == TileKind::blocked) {
    for (int c = 0; c < lanes; ++c) sums.add(x + c, lanes, w + c * vectors * lanes);
  } else if constexpr (kind == TileKind::planar) {
    sums.add(x, 1, w);
  } else if constexpr (kind == TileKind::rows) {
    for (Index c = 0; c < a.inner; ++c) sums.add(x + c, a.x_position, w + c * vectors * lanes);
  } else if constexpr (kind == TileKind::rows_4_bits) {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(w);
    Index c = 0;
    for (; c + 2 <= a.inner; c += 2, bytes += vectors * lanes) sums.template add_4_bits<2>(x + c, a.x_position, bytes);
    if (c < a.inner) sums.template add_4_bits<1>(x + c, a.x_position, bytes);
  } else if constexpr (kind == TileKind::lines) {
    sums.add(w, 1, x);
  } else if constexpr (kind == TileKind::depthwise) {
    const F factor = load(w);
#pragma GCC unroll 14
    for (int p = 0; p < positions; ++p) sums.of[p][0] += load(x + p * lanes) * factor;
  } else {
    for (Index c = 0; c < a.inner; ++c) {
      const F factor = load(w + c * lanes);
      const I from = first_lane + static_cast<std::int32_t>(c);
#pragma GCC unroll 14
      for (int p = 0; p < positions; ++p) sums.of[p][0] += permute(load(x + p * lanes), from) * factor;
    }
  }
}

/// Calls `visit(position, vector, its offset in y, whether it is a whole vector)`.
template <int positions, int vectors, class Visit>
inline void for_each_sum(const TileArguments& a, Visit visit) {
#pragma GCC unroll 14
  for (int p = 0; p < positions; ++p)
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v)
      visit(p, v, p * a.y_position + v * a.y_vector, v + 1 < vectors || a.last == lanes);
}

template <TileKind kind, int positions, int vectors>
void tile(const TileArguments& a) {
  Sums<positions, vectors> sums;
  const auto read = [&a](const float* from, bool whole) { return whole ? load(from) : load_some(from, a.last, 0.0F); };
  for_each_sum<positions, vectors>(a, [&](int p, int v, Index at, bool whole) {
    F& sum = sums.of[p][v];
    if (a.more) sum = read(a.y + at, whole);
    else if (a.bias == nullptr) sum = splat(0.0F);
    else if constexpr (kind == TileKind::lines) sum = splat(a.bias[p]);
    else sum = read(a.bias + v * lanes, whole);
  });

  const I first_lane = kind == TileKind::grouped ? first_of_groups(a.inner) : splat(0);
  for (Index block = 0; block < a.blocks; ++block)
    for (Index row = 0; row < a.rows; ++row) {
      const float* const x = a.x + block * a.x_block + row * a.x_row;
      const float* w = a.w + block * a.w_block + row * a.w_row + a.first_tap * a.w_tap;
      for (Index tap = a.first_tap; tap < a.last_tap; ++tap, w += a.w_tap)
        add_tap<kind>(a, x + a.taps[tap], w, first_lane, sums);
    }

  if (a.addend != nullptr)
    for_each_sum<positions, vectors>(
        a, [&](int p, int v, Index at, bool whole) { sums.of[p][v] += read(a.addend + at, whole); });
  if (a.least > -__builtin_inff() || a.most < __builtin_inff()) {
    const F least = splat(a.least), most = splat(a.most);
    for_each_sum<positions, vectors>(
        a, [&](int p, int v, Index, bool) { sums.of[p][v] = min(most, max(least, sums.of[p][v])); });
  }
  for_each_sum<positions, vectors>(a, [&](int p, int v, Index at, bool whole) {
    if (whole) store(a.y + at, sums.of[p][v]);
    else store_some(a.y + at, sums.of[p][v], a.last);
  });
}

/// Positions of `lines` are channels, and there are few of them; more channels would be faster with a lane for each.
/// More positions of `rows_4_bits` would be faster with weights that are expanded once for all.
template <TileKind kind>
constexpr int most_positions = kind == TileKind::lines || kind == TileKind::rows_4_bits ? 4 : most_tile_positions;

template <TileKind kind, int vectors, int positions = 1>
void add_tiles(Kernels& kernels) {
  constexpr int fit = most_sums / vectors, most = fit < most_positions<kind> ? fit : most_positions<kind>;
  kernels.tile[static_cast<std::size_t>(kind)][vectors - 1][positions - 1] = tile<kind, positions, vectors>;
  if constexpr (positions < most) add_tiles<kind, vectors, positions + 1>(kernels);
}
template <TileKind... kinds>
void add_all_vectors(Kernels& kernels) {
  ((add_tiles<kinds, 1>(kernels), add_tiles<kinds, 2>(kernels), add_tiles<kinds, 3>(kernels),
    add_tiles<kinds, 4>(kernels)),
   ...);
}
#endif

void frame_line(const float* x, Index stride, Index before, Index count, Index after, float* y) {
  for (Index i = 0; i < before; ++i) y[i] = 0;
  y += before;
  if (stride == 1) {
    Index i = 0;
    for (; i + lanes <= count; i += lanes) store(y + i, load(x + i));
    if (i < count) store_some(y + i, load_some(x + i, count - i, 0.0F), count - i);
  } else {
    for (Index i = 0; i < count; ++i) y[i] = x[i * stride];
  }
  for (Index i = count; i < count + after; ++i) y[i] = 0;
}

void frame_blocks(const float* x, Index stride, Index before, Index count, Index after, float* y) {
  for (Index i = 0; i < before; ++i, y += lanes) store(y, splat(0.0F));
  for (Index i = 0; i < count; ++i, y += lanes) store(y, load(x + i * stride * lanes));
  for (Index i = 0; i < after; ++i, y += lanes) store(y, splat(0.0F));
}

}  // namespace

void add_tile([[maybe_unused]] Kernels& kernels) {
#if defined(__AVX512F__) || defined(__AVX2__)
  add_all_vectors<TileKind::blocked, TileKind::planar, TileKind::rows, TileKind::lines, TileKind::rows_4_bits>(kernels);
  add_tiles<TileKind::depthwise, 1>(kernels);
  add_tiles<TileKind::grouped, 1>(kernels);
#endif
  kernels.frame[0] = frame_line;
  kernels.frame[1] = frame_blocks;
}

}  // namespace benanza::native::BENANZA_NATIVE_ISA
