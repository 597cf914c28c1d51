// SPDX-License-Identifier: Apache-2.0
// Contest: one layer and the plans that compete for it.
#pragma once

#include "sampler.hpp"
#include <benanza/layer.hpp>
#include <benanza/measurement.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace benanza::bench {

/// One plan and what was seen of it. A rival that has no plan (unsupported, failed, dropped) is only a row.
struct Rival {
  const Backend* backend = nullptr;
  std::unique_ptr<Plan> plan{};
  Measurement row{};
  std::vector<Sample> samples{};                ///< of the selection
  std::vector<std::optional<Sample>> rounds{};  ///< of the estimate; nothing where every try was contended or failed
  int visits = 0;
  bool chosen = false;

  /// May still win.
  [[nodiscard]] bool competes() const { return plan != nullptr && !row.excluded; }
  void exclude(std::string reason) {
    row.excluded = std::move(reason);
    plan.reset();
    chosen = false;
  }
};

struct Contest {
  Layer layer{};
  std::string signature{};
  Operands operands{};
  double weight = 1;
  bool known = false;  ///< chosen from the database's rows
  std::vector<Rival> rivals{};
};

/// Times of the samples that count; with `contended` of those that do not.
[[nodiscard]] std::vector<double> times(const std::vector<Sample>& samples, const Sampler& sampler,
                                        bool contended = false);
/// What a rival is judged by so far: the first decile of its samples that count, else of all, else the time that the
/// database has.
[[nodiscard]] std::optional<Seconds> standing(const Rival& rival, const Sampler& sampler);

/// Drops rivals that are slower than `margin` times the best and also do more than `margin` times the least work
/// (threads x time): they stay as rows.
void drop_losers(Contest& contest, double margin, const Sampler& sampler);
/// Marks the rival of the best time and the one of the least work; ties go to the name.
void choose(Contest& contest, const Sampler& sampler);

}  // namespace benanza::bench
