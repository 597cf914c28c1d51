// SPDX-License-Identifier: Apache-2.0
// Scaled dot-product attention in one pass. For a block of rows: the scores of a chunk of keys, their softmax with a
// running maximum and sum (Milakov and Gimelshein, "Online normalizer calculation for softmax", 2018; Dao et al.,
// "FlashAttention", 2022), and the products with the values. No score ever leaves the caches.
#include "kernels.hpp"
#include "kernels/math.hpp"
#include "kernels/movement_transpose_block.hpp"
#include "kernels/product.hpp"

namespace benanza::native::BENANZA_NATIVE_ISA {
namespace {

constexpr int panel_rows = rows_at_once<2>;
constexpr Index panel_keys = 2 * lanes;
constexpr Index block_rows = 4 * panel_rows;
constexpr Index chunk_keys = 256;  // scores of a block: 24 KiB
constexpr Index few_rows = 4;
constexpr float lowest = -3.402823466e+38F;

constexpr Index round_up(Index n, Index to) { return (n + to - 1) / to * to; }

Index packed_floats(Index keys, Index depth) { return round_up(keys, panel_keys) * depth; }
/// Scaled rows, scores of a chunk (of all keys if there are few rows), results.
Index scratch_floats(Index depth, Index value_depth) {
  return block_rows * (depth + chunk_keys + round_up(value_depth, lanes)) + 64;
}

/// Panels of `panel_keys` keys, with depth outermost: panel[d][key]. Missing keys are zero.
void pack(const AttentionArguments& a) {
  for (Index first = 0; first < a.keys; first += panel_keys) {
    float* panel = a.packed_k + first * a.depth;
    const Index some = a.keys - first < panel_keys ? a.keys - first : panel_keys;
    if (a.k_transposed) {
      for (Index d = 0; d < a.depth; ++d)
        for (Index j = 0; j < panel_keys; ++j)
          panel[d * panel_keys + j] = j < some ? a.k[d * a.keys + first + j] : 0.0F;
      continue;
    }
    const float* k = a.k + first * a.k_stride;
    Index d = 0;
    if (some == panel_keys) {
      for (; d + lanes <= a.depth; d += lanes)
        for (int half = 0; half < 2; ++half)
          transpose_block(reinterpret_cast<const std::uint32_t*>(k + half * lanes * a.k_stride + d), a.k_stride,
                          reinterpret_cast<std::uint32_t*>(panel + d * panel_keys + half * lanes), panel_keys);
    }
    for (; d < a.depth; ++d)
      for (Index j = 0; j < panel_keys; ++j) panel[d * panel_keys + j] = j < some ? k[j * a.k_stride + d] : 0.0F;
  }
}

/// Probabilities of rows times values; y has whole vectors in each row.
void weigh(Index rows, const float* p, Index p_stride, const float* v, Index v_stride, Index value_depth, Index n,
           float* y, Index y_stride, bool add) {
  for (Index r = 0; r < rows; r += panel_rows) {
    const Index some = rows - r < panel_rows ? rows - r : panel_rows;
    const float* x = p + r * p_stride;
    float* out = y + r * y_stride;
    Index c = 0;
    if (some == 1)
      for (; c + 8 * lanes <= value_depth; c += 8 * lanes)
        product<1, 8>(x, p_stride, v + c, v_stride, n, out + c, y_stride, add);
    for (; c + 2 * lanes <= value_depth; c += 2 * lanes)
      product_of_rows<2>(some, x, p_stride, v + c, v_stride, n, out + c, y_stride, add);
    for (; c + lanes <= value_depth; c += lanes)
      product_of_rows<1>(some, x, p_stride, v + c, v_stride, n, out + c, y_stride, add);
    if (c < value_depth)
      for (Index i = 0; i < some; ++i)
        product_tail(x + i * p_stride, v + c, v_stride, n, out + i * y_stride + c, value_depth - c, add);
  }
}

struct Running {
  float largest = lowest, total = 0;

  /// The factor that scales the row's results. The largest weight of a row is 1, but a row that sees no key has none.
  [[nodiscard]] float factor() const { return total < 0.5F ? 0.0F : 1.0F / total; }
};

constexpr Index least(Index a, Index b) { return a < b ? a : b; }
constexpr Index most(Index a, Index b) { return a < b ? b : a; }

/// Scores of keys [first, first + n) of one row become exp(score + mask - largest); keys that are not seen, and missing
/// ones up to `padded`, become 0. Returns the factor that scales the row's earlier results.
inline float soften(const AttentionArguments& a, Index row, float* s, Index first, Index n, Index padded,
                    Running& running) {
  const Index query = a.query_of(row), head = a.head_of(row);
  const Index begin = most(0, least(n, a.first_key(query) - first)),
              valid = most(0, least(n, a.last_key(query) - first));
  if (a.cap != 0)
    for (Index j = 0; j < padded; j += lanes) store(s + j, tanh(load(s + j) * (1.0F / a.cap)) * a.cap);
  for (Index j = 0; j < begin; ++j) s[j] = -__builtin_inff();
  for (Index j = valid; j < padded; ++j) s[j] = -__builtin_inff();
  const Index of_mask = head * a.mask_head_stride + query * a.mask_query_stride + first * a.mask_key_stride;
  const float* mask = a.mask == nullptr ? nullptr : a.mask + of_mask;
  if (a.seen != nullptr)
    for (Index j = begin; j < valid; ++j)
      if (a.seen[of_mask + j * a.mask_key_stride] == 0) s[j] = -__builtin_inff();
  F largest = splat(running.largest);
  Index i = 0;
  if (mask != nullptr && a.mask_key_stride == 1) {
    for (; i + lanes <= valid; i += lanes) {
      const F v = load(s + i) + load(mask + i);
      store(s + i, v);
      largest = max(largest, v);
    }
    for (; i < valid; ++i) s[i] += mask[i];
    i = valid / lanes * lanes;  // the last vector is read again as a whole
  } else if (mask != nullptr) {
    for (Index j = 0; j < valid; ++j) s[j] += *mask;
  }
  for (; i < padded; i += lanes) largest = max(largest, load(s + i));
  const float now = max_of(largest);
  const F shift = splat(now);
  F total[2] = {};
  for (i = 0; i + 2 * lanes <= padded; i += 2 * lanes) {
    const F e0 = exp_bounded(load(s + i) - shift), e1 = exp_bounded(load(s + i + lanes) - shift);
    store(s + i, e0);
    store(s + i + lanes, e1);
    total[0] += e0;
    total[1] += e1;
  }
  const float change = exp_bounded(splat(running.largest - now))[0];
  running.total = running.total * change + sum(total[0] + total[1]);
  running.largest = now;
  return change;
}

/// Queries times the scale, one row after another.
void scale_rows(const AttentionArguments& a, Index first_row, Index rows, float* q) {
  for (Index r = 0; r < rows; ++r) {
    const float* from = a.q_of(first_row + r);
    for (Index d = 0; d < a.depth; ++d) q[r * a.depth + d] = from[d] * a.scale;
  }
}

struct Keys {
  Index begin = 0, end = 0;
};
/// Keys that are seen by some of the rows; at least one.
Keys seen_keys(const AttentionArguments& a, Index first_row, Index rows) {
  Keys range{a.keys, 1};
  for (Index r = 0; r < rows; ++r) {
    const Index query = a.query_of(first_row + r);
    range = {least(range.begin, a.first_key(query)), most(range.end, a.last_key(query))};
  }
  return {least(range.begin, range.end - 1), range.end};
}

/// One block of at most `block_rows` rows.
void attend(const AttentionArguments& a, Index first_row, Index rows) {
  float* q = a.scratch;
  float* s = q + block_rows * a.depth;
  float* o = s + block_rows * chunk_keys;
  const Index o_stride = round_up(a.value_depth, lanes);
  scale_rows(a, first_row, rows, q);
  const Keys some = seen_keys(a, first_row, rows);
  const Index begin = some.begin / panel_keys * panel_keys, keys = some.end;
  Running running[block_rows];
  for (Index first = begin; first < keys; first += chunk_keys) {
    const Index n = keys - first < chunk_keys ? keys - first : chunk_keys;
    const Index padded = round_up(n, panel_keys);
    for (Index j = 0; j < padded; j += panel_keys)
      for (Index r = 0; r < rows; r += panel_rows)
        product_of_rows<2>(rows - r < panel_rows ? rows - r : panel_rows, q + r * a.depth, a.depth,
                           a.packed_k + (first + j) * a.depth, panel_keys, a.depth, s + r * chunk_keys + j, chunk_keys,
                           false);
    for (Index r = 0; r < rows; ++r) {
      const float change = soften(a, first_row + r, s + r * chunk_keys, first, n, padded, running[r]);
      if (first == begin || change == 1.0F) continue;
      for (Index c = 0; c < o_stride; c += lanes) store(o + r * o_stride + c, load(o + r * o_stride + c) * change);
    }
    weigh(rows, s, chunk_keys, a.v + first * a.v_stride, a.v_stride, a.value_depth, n, o, o_stride, first != begin);
  }
  for (Index r = 0; r < rows; ++r) {
    const F factor = splat(running[r].factor());
    float* y = a.y_of(first_row + r);
    for (Index c = 0; c < a.value_depth; c += lanes) {
      const F v = load(o + r * o_stride + c) * factor;
      if (c + lanes <= a.value_depth) store(y + c, v);
      else store_some(y + c, v, a.value_depth - c);
    }
  }
}

void attention(const AttentionArguments& a) {
  for (Index r = 0; r < a.rows; r += block_rows) attend(a, r, a.rows - r < block_rows ? a.rows - r : block_rows);
}

/// Scores of one row, with k in place: dot products along the depth, one vector of keys at a time; or, if transposed,
/// sums of scaled rows.
void scores_in_place(const AttentionArguments& a, const float* q, Index first, Index n, float* s) {
  if (a.k_transposed) {
    Index j = 0;
    for (; j + 8 * lanes <= n; j += 8 * lanes) product<1, 8>(q, 0, a.k + first + j, a.keys, a.depth, s + j, 0, false);
    for (; j + lanes <= n; j += lanes) product<1, 1>(q, 0, a.k + first + j, a.keys, a.depth, s + j, 0, false);
    if (j < n) product_tail(q, a.k + first + j, a.keys, a.depth, s + j, n - j, false);
    return;
  }
  const Index whole = a.depth / lanes * lanes;
  for (Index j = 0; j < n; j += lanes) {
    const Index some = n - j < lanes ? n - j : lanes;
    float partial[lanes * lanes];
    for (Index i = 0; i < some; ++i) {
      const float* k = a.k + (first + j + i) * a.k_stride;
      F acc[2] = {};
      Index d = 0;
      for (; d + 2 * lanes <= whole; d += 2 * lanes) {
        acc[0] += load(k + d) * load(q + d);
        acc[1] += load(k + d + lanes) * load(q + d + lanes);
      }
      if (d < whole) acc[0] += load(k + d) * load(q + d);
      if (whole < a.depth)
        acc[1] += load_some(k + whole, a.depth - whole, 0.0F) * load_some(q + whole, a.depth - whole, 0.0F);
      store(partial + i * lanes, acc[0] + acc[1]);
    }
    for (Index i = some; i < lanes; ++i) store(partial + i * lanes, splat(0.0F));
    float columns[lanes * lanes];
    transpose_block(reinterpret_cast<const std::uint32_t*>(partial), lanes, reinterpret_cast<std::uint32_t*>(columns),
                    lanes);
    F total = load(columns);
    for (int i = 1; i < lanes; ++i) total += load(columns + i * lanes);
    store(s + j, total);
  }
}

void attention_few_rows(const AttentionArguments& a) {
  float* q = a.scratch;
  float* s = q + block_rows * a.depth;
  float* o = s + block_rows * chunk_keys;
  const Index o_stride = round_up(a.value_depth, lanes);
  for (Index begin = 0; begin < a.rows;
       begin += few_rows) {  // rows that share the keys and values of a chunk while it is in the caches
    const Index rows = a.rows - begin < few_rows ? a.rows - begin : few_rows;
    scale_rows(a, begin, rows, q);
    const Keys keys = seen_keys(a, begin, rows);
    Running running[few_rows];
    for (Index first = keys.begin; first < keys.end; first += chunk_keys) {
      const Index n = keys.end - first < chunk_keys ? keys.end - first : chunk_keys;
      for (Index r = 0; r < rows; ++r) {
        scores_in_place(a, q + r * a.depth, first, n, s + r * chunk_keys);
        const float change = soften(a, begin + r, s + r * chunk_keys, first, n, round_up(n, panel_keys), running[r]);
        if (first == keys.begin || change == 1.0F) continue;
        for (Index c = 0; c < o_stride; c += lanes) store(o + r * o_stride + c, load(o + r * o_stride + c) * change);
      }
      weigh(rows, s, chunk_keys, a.v + first * a.v_stride, a.v_stride, a.value_depth, n, o, o_stride,
            first != keys.begin);
    }
    for (Index r = 0; r < rows; ++r) {
      const float factor = running[r].factor();
      float* y = a.y_of(begin + r);
      for (Index c = 0; c < a.value_depth; ++c) y[c] = o[r * o_stride + c] * factor;
    }
  }
}

}  // namespace

void add_attention(Kernels& kernels) {
  kernels.attention_packed_floats = packed_floats;
  kernels.attention_scratch_floats = scratch_floats;
  kernels.attention_pack = pack;
  kernels.attention = attention;
  kernels.attention_few_rows = attention_few_rows;
}

}  // namespace benanza::native::BENANZA_NATIVE_ISA
