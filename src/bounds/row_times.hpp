// SPDX-License-Identifier: Apache-2.0
// RowTimes: for every layer the rows that its figures are of, and their time in each common round.
#pragma once

#include <benanza/bounds/analysis.hpp>

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace benanza::analysis {

/// The two figures of a rung. A bound leaves launches out of a time, since an engine may launch otherwise; what to
/// expect has them in. Each has its own best rows and its own cheapest partition: three kernels of 8.2 us in all may be
/// less work than one fused kernel of 6.0 us, and are not faster. Where there is only a clock, both are the same.
enum class Figure : std::uint8_t { bound, expected };

/// What a figure counts of one call of a row.
[[nodiscard]] Seconds time_of(const Measurement& row, Figure figure);

/// One layer's best rows.
struct BestRows {
  struct Of {
    const Measurement* fastest = nullptr;  ///< least time over thread counts
    const Measurement* cold = nullptr;     ///< least time with its weights out of the caches
  };
  Of bound{}, expected{};
  const Measurement* least_work = nullptr;  ///< least threads x expected time

  [[nodiscard]] const Of& of(Figure figure) const { return figure == Figure::bound ? bound : expected; }
  [[nodiscard]] std::array<const Measurement*, 5> all() const {
    return {bound.fastest, expected.fastest, bound.cold, expected.cold, least_work};
  }
};

class RowTimes {
 public:
  /// Rows of at most `threads` threads of the named backends. `needed`: the signatures that one total is summed over;
  /// the run that timed all of them that have rows at all in common rounds is used, if there is one.
  RowTimes(const ResultDatabase& results, const std::set<std::string>& needed, int threads,
           std::span<const std::string> backends);
  /// No rows at all, and every signature has that reason.
  explicit RowTimes(std::string reason) : reason_of_all_(std::move(reason)) {}

  [[nodiscard]] const BestRows* find(const std::string& signature) const;
  /// Why a signature has no valid row; empty if nothing was ever tried.
  [[nodiscard]] std::string reason(const std::string& signature) const;
  /// How many plans of a signature, each thread count and cache state for itself, a budget left untried that might be
  /// the best.
  [[nodiscard]] std::int64_t untried(const std::string& signature) const;
  /// Whether no library has it: there are rows, and none is of a plan, failed or not.
  [[nodiscard]] bool unsupported(const std::string& signature) const;

  /// Whether nothing was to be measured.
  [[nodiscard]] bool analytic() const { return !reason_of_all_.empty(); }

  /// Indices of the rounds that count; empty without common rounds.
  [[nodiscard]] const std::vector<std::size_t>& rounds() const { return rounds_; }
  /// Time of a row in a common round; the row's median where that one sample was contended.
  [[nodiscard]] Seconds in_round(const Measurement& row, std::size_t round) const;
  /// How often the rows were seen in addition to the common rounds: in visits of the selection, long before, and in
  /// rounds that are too few to count.
  [[nodiscard]] std::size_t observations() const { return visits_ + few_rounds_; }
  /// Time of a row in such an observation; its expected one where none of it counts.
  [[nodiscard]] Seconds in_observation(const Measurement& row, std::size_t observation) const;
  /// How far the processor's speed wandered in the sessions of the rows, relative.
  [[nodiscard]] double wander() const { return wander_; }
  /// What one call may take in addition to the row's p10, which only shows with samples enough: the row's median, and
  /// of a row with fewer its p10 and the spread that the other rows have on average, 5 % at least; twice the p10 where
  /// none has.
  [[nodiscard]] Seconds doubtful(const Measurement& row) const;

 private:
  void count_observations();

  std::map<std::string, BestRows> best_{};
  std::map<std::string, std::string> reasons_{};
  std::set<std::string> tried_{};  ///< signatures with a row of a plan that failed or was not timed
  std::map<std::string, std::int64_t> untried_{};
  std::string reason_of_all_{};
  std::vector<std::size_t> rounds_{};
  double wander_ = 0;
  std::size_t visits_ = 0, few_rounds_ = 0;
  double spread_ = 1;  ///< (median - p10) / p10 over the best rows with samples enough
};

}  // namespace benanza::analysis
