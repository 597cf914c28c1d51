// SPDX-License-Identifier: Apache-2.0
// Turns measured ceilings, which are stored as rows, into those that an analysis uses. Ceilings are running maxima: a
// layer's row that beats one by a little shows that the ceiling was measured too low, and raises it. A row that beats
// one by more contradicts it: its FLOPs or bytes are counted too high. A row that exceeds one many times over is
// damaged.
#pragma once

#include <benanza/results/ceiling_row.hpp>
#include <benanza/results/machine.hpp>
#include <benanza/results/measurement.hpp>

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace benanza {

/// For each quantity and thread count: the highest row; for a timer the least row; for what each session reads anew
/// (the round trip and the memory's times) the 25th percentile. Ordered by quantity and thread count.
[[nodiscard]] std::vector<CeilingRow> highest_ceilings(std::span<const CeilingRow> rows);

/// What this many threads can reach: for each quantity that was measured with them, the highest row at any count up to
/// theirs, since more threads can do what fewer did. A quantity that was not measured with them has no ceiling. A row
/// that a layer raised counts up to `CeilingCheck::most_raise` times what loops and products reached. `timer_floor` is
/// the least value at any count. `round_trip` is the 25th percentile of the values with this many threads: each session
/// reads it anew, and a session may run while the threads are far from each other.
[[nodiscard]] Ceilings ceilings_of(std::span<const CeilingRow> rows, int threads);

/// Checks rows of layers against ceilings.
class CeilingCheck {
 public:
  explicit CeilingCheck(std::span<const CeilingRow> rows);
  ~CeilingCheck();

  /// Why a row cannot be true: it beats a ceiling more than `implausible` times over. Empty if it can be true.
  [[nodiscard]] std::string damage(const Measurement& row);
  /// One row, named after the layer's row, for each ceiling that it beats, with up to `most_raise` times what loops and
  /// products reached; these rows count from now on. Rows that save multiplications raise no peak; excluded, contended
  /// and damaged ones raise nothing. A type whose peak was not measured gets none from a layer.
  [[nodiscard]] std::vector<CeilingRow> raise(const Measurement& row);
  /// The ceilings that a row contradicts, one line each: it beats them by more than it may raise them. Such a row
  /// raises no ceiling. Excluded, contended and damaged rows contradict nothing.
  [[nodiscard]] std::vector<std::string> contradictions(const Measurement& row);

  static constexpr double implausible = 10;
  static constexpr double most_raise = 1.03;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Adds what `CeilingCheck::raise` returns for the rows.
void raise_ceilings(std::vector<CeilingRow>& ceilings, std::span<const Measurement> rows);

}  // namespace benanza
