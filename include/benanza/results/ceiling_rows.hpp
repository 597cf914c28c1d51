// SPDX-License-Identifier: Apache-2.0
// From measured ceilings, kept as rows, to those that an analysis takes. Ceilings are running maxima: a layer's row
// that beats one shows that the ceiling was measured too low, and raises it; one that exceeds it many times over is
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

/// The highest row of each quantity at each thread count, the least row of a timer; ordered by both.
[[nodiscard]] std::vector<CeilingRow> highest_ceilings(std::span<const CeilingRow> rows);

/// What this many threads can reach: for each quantity that was measured with them, the highest row at any count up to
/// theirs, since more threads can do what fewer did. A quantity that was not measured with them has no ceiling.
/// `timer_floor` is the least seen at any count.
[[nodiscard]] Ceilings ceilings_of(std::span<const CeilingRow> rows, int threads);

/// Checks rows of layers against ceilings.
class CeilingCheck {
 public:
  explicit CeilingCheck(std::span<const CeilingRow> rows);
  ~CeilingCheck();

  /// Why a row cannot be true: it beats a ceiling `too_often` times. Empty if it can.
  [[nodiscard]] std::string damage(const Measurement& row);
  /// A row, named after the layer's, for each ceiling that it beats; they count from now on. Rows that save
  /// multiplications raise no peak; excluded, contended and damaged ones raise nothing. A type whose peak was not
  /// measured gets none from a layer.
  [[nodiscard]] std::vector<CeilingRow> raise(const Measurement& row);

  static constexpr double too_often = 10;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Adds what `CeilingCheck::raise` says of the rows.
void raise_ceilings(std::vector<CeilingRow>& ceilings, std::span<const Measurement> rows);

}  // namespace benanza
