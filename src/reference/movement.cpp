// SPDX-License-Identifier: Apache-2.0
#include "evaluate.hpp"
#include "index.hpp"

#include <cmath>
#include <numbers>

namespace benanza::reference {

Elements compute(const op::Transpose& transpose, const Query& query) {
  const TensorShape y = transpose.y();
  return query.map([&](std::int64_t flat) {
    const TensorShape at = coordinates(y, flat);
    TensorShape from = TensorShape::filled(at.size(), 0);
    for (std::size_t i = 0; i < at.size(); ++i) from[static_cast<std::size_t>(transpose.perm[i])] = at[i];
    return query.input(0)[flat_index(transpose.x, from)];
  });
}

Elements compute(const op::Concat& concat, const Query& query) {
  return query.map([&](std::int64_t flat) {
    const TensorShape at = coordinates({concat.outer, concat.total(), concat.inner}, flat);
    if (concat.in_place && at[1] < concat.sizes[0]) return query.input(0)[flat];
    std::size_t which = 0;
    std::int64_t row = at[1];
    for (; row >= concat.sizes[which]; ++which) row -= concat.sizes[which];
    return query.input(which)[(at[0] * concat.sizes[which] + row) * concat.inner + at[2]];
  });
}

Elements compute(const op::Split& split, const Query& query) {
  std::int64_t total = 0, begin = 0;
  for (std::size_t i = 0; i < split.sizes.size(); ++i) {
    if (i < query.output) begin += split.sizes[i];
    total += split.sizes[i];
  }
  return query.map([&](std::int64_t flat) {
    const TensorShape at = coordinates({split.outer, split.sizes[query.output], split.inner}, flat);
    return query.input(0)[(at[0] * total + begin + at[1]) * split.inner + at[2]];
  });
}

Elements compute(const op::Slice& slice, const Query& query) {
  return query.map([&](std::int64_t flat) {
    TensorShape at = coordinates(slice.y, flat);
    for (std::size_t i = 0; i < at.size(); ++i)
      at[i] = slice.starts[i] + at[i] * (slice.steps.empty() ? 1 : slice.steps[i]);
    return query.input(0)[flat_index(slice.x, at)];
  });
}

namespace {

/// The index from which a cell at `i` outside [0, size) takes its element.
std::int64_t padded(op::PadMode mode, std::int64_t i, std::int64_t size) {
  switch (mode) {
    case op::PadMode::edge: return std::clamp<std::int64_t>(i, 0, size - 1);
    case op::PadMode::wrap: return ((i % size) + size) % size;
    case op::PadMode::reflect: {
      if (size == 1) return 0;
      const std::int64_t period = 2 * (size - 1), folded = ((i % period) + period) % period;
      return folded < size ? folded : period - folded;
    }
    case op::PadMode::constant: break;
  }
  return i;
}

}  // namespace

Elements compute(const op::Pad& pad, const Query& query) {
  const TensorShape y = pad.y();
  return query.map([&](std::int64_t flat) {
    TensorShape at = coordinates(y, flat);
    for (std::size_t i = 0; i < at.size(); ++i) {
      at[i] = padded(pad.mode, at[i] - pad.begins[i], pad.x[i]);
      if (at[i] < 0 || at[i] >= pad.x[i]) return query.parameters.pad_value;
    }
    return query.input(0)[flat_index(pad.x, at)];
  });
}

Elements compute(const op::Expand& expand, const Query& query) {
  return query.map(
      [&](std::int64_t flat) { return query.input(0)[broadcast_index(expand.x, coordinates(expand.y, flat))]; });
}

Elements compute(const op::Tile& tile, const Query& query) {
  const TensorShape y = tile.y();
  return query.map([&](std::int64_t flat) {
    TensorShape at = coordinates(y, flat);
    for (std::size_t i = 0; i < at.size(); ++i) at[i] %= tile.x[i];
    return query.input(0)[flat_index(tile.x, at)];
  });
}

Elements compute(const op::View&, const Query& query) {
  return query.map([&](std::int64_t flat) { return query.input(0)[flat]; });
}

Elements compute(const op::Trilu& trilu, const Query& query) {
  return query.map([&](std::int64_t flat) {
    const TensorShape at = coordinates(trilu.x, flat);
    const std::int64_t behind = at[2] - at[1];
    const bool kept = trilu.upper ? behind >= trilu.diagonal : behind <= trilu.diagonal;
    return kept ? query.input(0)[flat] : 0.0;
  });
}

Elements compute(const op::Generate& generate, const Query& query) {
  const Parameters& parameters = query.parameters;
  const auto period = static_cast<double>(generate.y[0] - (parameters.periodic ? 0 : 1));
  const auto turn = [&](std::int64_t i) {  // cosine at a position in the window
    return [angle = 2 * std::numbers::pi * static_cast<double>(i) / period](double turns) {
      return std::cos(turns * angle);
    };
  };
  return query.map([&](std::int64_t i) {
    switch (generate.fn) {
      case op::GenerateFn::range: return query.input(0)[0] + static_cast<double>(i) * query.input(1)[0];
      case op::GenerateFn::eye: return i % generate.y[1] - i / generate.y[1] == parameters.eye_diagonal ? 1.0 : 0.0;
      case op::GenerateFn::hann: return 0.5 - 0.5 * turn(i)(1);
      case op::GenerateFn::hamming: return 25.0 / 46 - 21.0 / 46 * turn(i)(1);
      case op::GenerateFn::blackman: return 0.42 - 0.5 * turn(i)(1) + 0.08 * turn(i)(2);
      case op::GenerateFn::constant: break;
    }
    return parameters.generated_value;
  });
}

}  // namespace benanza::reference
