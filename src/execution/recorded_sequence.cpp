// SPDX-License-Identifier: Apache-2.0
#include "recorded_sequence.hpp"

#include "plan_choice.hpp"
#include "time_of_calls.hpp"
#include <benanza/base/detail/quantile.hpp>

#include <algorithm>
#include <exception>
#include <limits>
#include <set>
#include <utility>

namespace benanza::execution {

RecordedSequence::RecordedSequence(const Sequence::Model& model, const PlanChoice& choice)
    : device_(*model.device), sequence_(std::make_unique<Sequence>(model, choice)) {
  sequence_->run();
  device_.finish();
  recording_ = device_.record([this] { sequence_->run(); });
}

Seconds RecordedSequence::run() {
  return time_of_calls(nullptr, [this] {
    if (recording_) recording_->replay();
    else sequence_->run();
    device_.finish();
  });
}

FastestRecorded find_fastest_recorded(const Sequence::Model& model, Seconds budget) {
  constexpr std::size_t least = 3, most = 200;
  const auto is_plain = [](const Arrangement& form) { return form.is_plain(); };
  const auto any = [](const CallPlan&) { return true; };
  const auto plain = [&](const CallPlan& plan) {
    return std::all_of(plan.outputs.begin(), plan.outputs.end(), is_plain) &&
           std::all_of(plan.inputs.begin(), plan.inputs.end(), is_plain);
  };
  const auto other = [&](const CallPlan& plan) { return !plain(plan); };
  PlanSearch search(model.graph, model.calls, model.changes);
  const std::set<PlanChoice> choices{search.run(any), search.run(plain), search.run(other)};
  FastestRecorded best;
  Seconds least_time{std::numeric_limits<double>::infinity()};
  std::exception_ptr refused;
  for (const auto& choice : choices) {
    std::unique_ptr<RecordedSequence> one;
    std::vector<double> times;
    try {
      one = std::make_unique<RecordedSequence>(model, choice);
      double sum = 0;
      const double slot = budget.value / static_cast<double>(choices.size());
      while (times.size() < most && (times.size() < least || sum < slot)) {
        times.push_back(one->run().value);
        sum += times.back();
      }
    } catch (const DeviceLost&) {
      throw;
    } catch (const std::exception&) {  // a call fails or memory is short; another choice may run
      refused = std::current_exception();
      continue;
    }
    ++best.tried;
    const Seconds time{detail::quantile(times, 0.1)};
    if (least_time <= time) continue;
    least_time = time;
    best.sequence = std::move(one);
    best.choice = choice;
  }
  if (!best.sequence) std::rethrow_exception(refused);
  return best;
}

}  // namespace benanza::execution
