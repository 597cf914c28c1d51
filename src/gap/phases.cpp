// SPDX-License-Identifier: Apache-2.0
#include "phases.hpp"

#include "causes.hpp"
#include "record_tree.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <string_view>

namespace benanza::gap {

namespace {

/// The phase that a record's own name indicates (torch/csrc/autograd/engine.cpp, torch/optim/optimizer.py).
std::optional<Phase> said_by(const ProfileRecord& record) {
  const std::string_view name = record.name;
  if (name.starts_with("autograd::engine::evaluate_function")) return Phase::backward;
  if (name.starts_with("Optimizer.step#") || name.starts_with("Optimizer.zero_grad#")) return Phase::update;
  return std::nullopt;
}

/// The loss is not a separate phase here, because PyTorch does not mark where it begins.
Phase merged(Phase phase) { return phase == Phase::loss ? Phase::forward : phase; }

class PhaseSums {
 public:
  void add(Phase phase, Cause cause, Seconds time) { causes_[place(phase)][static_cast<std::size_t>(cause)] += time; }
  void add_engine(Phase phase, Seconds time) { engine_[place(phase)] += time; }
  void add_bound(Phase phase, Seconds time) { bound_[place(phase)] += time; }

  [[nodiscard]] std::vector<PhaseGap> gaps() const {
    std::vector<PhaseGap> result;
    for (const Phase phase : {Phase::forward, Phase::backward, Phase::update}) {
      const std::size_t at = place(phase);
      PhaseGap made{.phase = phase, .engine = engine_[at], .bound = bound_[at]};
      for (std::size_t c = 0; c < cause_count; ++c)
        if (causes_[at][c].value != 0) made.causes.emplace_back(static_cast<Cause>(c), causes_[at][c]);
      std::stable_sort(made.causes.begin(), made.causes.end(), [](const auto& a, const auto& b) {
        return std::fabs(a.second.value) > std::fabs(b.second.value);
      });
      result.push_back(std::move(made));
    }
    return result;
  }

 private:
  static std::size_t place(Phase phase) { return static_cast<std::size_t>(merged(phase)); }

  static constexpr std::size_t phase_count = enum_names(Phase{}).size();
  std::array<Seconds, phase_count> engine_{}, bound_{};
  std::array<std::array<Seconds, cause_count>, phase_count> causes_{};
};

}  // namespace

std::vector<std::optional<Phase>> phases_of(const std::vector<ProfileRecord>& records) {
  std::vector<std::optional<Phase>> result(records.size());
  bool marked = false;
  const auto above = nearest_above(records, [&](std::size_t r) { return said_by(records[r]).has_value(); });
  for (std::size_t r = 0; r < records.size(); ++r) {
    result[r] = said_by(records[r]);
    if (!result[r] && above[r] != no_record) result[r] = said_by(records[above[r]]);
    marked = marked || result[r] == Phase::backward;
  }
  if (!marked) return std::vector<std::optional<Phase>>(records.size());
  for (auto& phase : result)
    if (!phase) phase = Phase::forward;
  return result;
}

bool may_be(const std::optional<Phase>& record, const std::optional<Phase>& layer) {
  return !record || !layer || merged(*record) == merged(*layer);
}

std::vector<PhaseGap> phase_gaps(const Gap& gap, const Analysis& analysis, const ModelLayers& model,
                                 const std::vector<ProfileRecord>& records, const std::vector<Phase>& phases) {
  const Form form = form_of(gap.rung);
  const LayerGraph& layers = form == Form::single ? model.single : model.fused;
  const TimedGraph& timed = *timed_graph_of(analysis, form);
  const auto phase_of = [&](std::size_t layer) {
    const auto& members = layers.layers[layer].members;
    return members.empty() ? Phase::forward : phases[members.back()];
  };
  PhaseSums sums;
  std::set<std::size_t> served;
  for (const auto& group : gap.groups) {
    const Phase phase = phase_of(group.layers.front());
    served.insert(group.layers.begin(), group.layers.end());
    sums.add_engine(phase, group.engine);
    sums.add_bound(phase, group.bound);
    sums.add(phase, Cause::not_fused, group.not_fused);
    sums.add(phase, Cause::throughout, group.throughout);
    sums.add(phase, group.cause, group.rest());
  }
  const Cause of_missed = gap.incomplete                               ? Cause::unexplained
                          : gap.part(Cause::not_in_profile) != nullptr ? Cause::not_in_profile
                                                                       : Cause::unmatched;
  for (std::size_t i = 0; i < timed.layers.size(); ++i) {
    if (served.contains(i)) continue;
    sums.add_bound(phase_of(i), time_of(timed.layers[i]));
    sums.add(phase_of(i), of_missed, time_of(timed.layers[i]) * -1);
  }
  const auto marked = phases_of(records);
  for (const auto& record : gap.records) {
    if (record.group || !marked[record.record]) continue;
    sums.add_engine(*marked[record.record], record.time);
    sums.add(*marked[record.record], record.cause, record.time);
  }
  return sums.gaps();
}

}  // namespace benanza::gap
