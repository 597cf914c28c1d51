// SPDX-License-Identifier: Apache-2.0
#include "joint.hpp"

#include "causes.hpp"
#include <benanza/model/data_type.hpp>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <string>
#include <utility>

namespace benanza::gap {

namespace {

constexpr double rounding_of_latency = 1e-9;  // rounding error of sums of parts, not a gain

class Chain {
 public:
  Chain(const Gap& gap, DataType type) : gap_(gap), made_{.type = type, .latency = *gap.latency} {}

  void down_to(std::string what, std::optional<Change> change, Seconds after) {
    const Seconds gain = made_.latency - after;
    if (std::fabs(gain.value) <= rounding_of_latency * gap_.latency->value) return;
    made_.latency = after;
    made_.steps.push_back({.what = std::move(what), .change = change, .gain = gain, .latency = after});
  }
  void without(std::string what, Change change, std::initializer_list<Cause> causes) {
    Seconds after = made_.latency;
    for (const Cause cause : causes)
      if (const GapPart* part = gap_.part(cause)) after = after - part->time;
    down_to(std::move(what), change, after);
  }
  JointGain& made() { return made_; }

 private:
  const Gap& gap_;
  JointGain made_;
};

/// What the target takes less what parallel branches save; empty if it is not known.
std::optional<Seconds> side_by_side(const Analysis& analysis, RungName target) {
  const auto whole = analysis[target].median, one = analysis[RungName::library_fused].median,
             many = analysis[RungName::library_fused_parallel].median;
  return whole && one && many ? *whole - std::max(Seconds{}, *one - *many) : whole;
}

/// The target, or what stands for it if the other type lacks it.
RungName in_other(const Analysis& other, RungName target) {
  return other[target].median ? target : RungName::library_fused;
}

/// The fastest of the other types that have rows for all layers; null if none is faster than `latency`.
const Analysis* faster_type(const std::vector<Analysis>& others, const Gap& gap, RungName target, Seconds latency) {
  const Analysis* best = nullptr;
  for (const auto& other : others) {
    const bool measured = std::any_of(gap.types.begin(), gap.types.end(),
                                      [&](const TypeGain& type) { return type.type == other.type && type.measured; });
    const auto time = side_by_side(other, in_other(other, target));
    if (!measured || !time || *time >= latency) continue;
    latency = *time;
    best = &other;
  }
  return best;
}

}  // namespace

std::optional<JointGain> joint_gain(const Analysis& analysis, const std::vector<Analysis>& others, const Gap& gap) {
  const bool resident = gap.rung == RungName::library_fused_resident || gap.rung == RungName::library_resident;
  const RungName target = resident ? RungName::library_fused_resident : RungName::library_fused;
  const auto fused = gap.ratio(target).bound, apart = gap.ratio(gap.rung).bound;
  if (!gap.gap || !gap.latency || !fused) return std::nullopt;
  Chain chain(gap, analysis.type);
  chain.without("no overhead between layers", Change::overhead,
                {Cause::between_layers, Cause::calls, Cause::between_calls, Cause::host, Cause::waits});
  chain.without("only what the model asks for", Change::extra,
                {Cause::conversions, Cause::copies, Cause::views, Cause::extra_calls});
  chain.without("without what slows all layers alike", Change::conditions, {Cause::throughout});
  chain.without("best algorithms", Change::algorithm, {Cause::slower_layers});
  chain.without("fused", Change::fusion, {Cause::not_fused});
  // The parts of a bound by layers do not include fusion, so its gain comes from the rungs.
  const bool by_layer = form_of(gap.rung) == Form::single && apart;
  chain.down_to("other parts of the gap", std::nullopt, by_layer ? *apart : *fused);
  chain.down_to("fused", Change::fusion, *fused);
  if (gap.parallel.gain) chain.down_to("branches in parallel", Change::parallel, *fused - *gap.parallel.gain);
  const Analysis* other = faster_type(others, gap, target, chain.made().latency);
  JointGain& joint = chain.made();
  if (other) {
    chain.down_to("in " + std::string(name(other->type)), Change::type,
                  *side_by_side(*other, in_other(*other, target)));
    joint.type = other->type;
  }
  const Rung& last = other ? (*other)[in_other(*other, target)] : analysis[target];
  if (last.median) joint.uncertainty = joint.latency * last.uncertainty;
  return joint;
}

}  // namespace benanza::gap
