// SPDX-License-Identifier: Apache-2.0
#include "fastest_sequence.hpp"

#include "plan_choice.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <limits>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

namespace benanza::execution {

namespace {

/// The number of sequences that are compared with each other. Each has its own packed weights.
constexpr std::size_t most_in_turns = 3;
/// Weights in the layouts of all plans may take this many times the memory of those of the first sequence.
constexpr std::size_t most_packed = 6;
/// A sequence whose sum of times is more than this many times the least is not executed.
constexpr double most_expected = 1.5;
constexpr std::size_t least_executions = 3, most_executions = 200;
/// Shares of the time: for the sequences that rows suggest, for those that executions suggest, for the last comparison.
constexpr double share_by_rows = 0.3, share_by_executions = 0.4, share_in_turns = 0.3;
/// The share of one sequence that executions suggest.
constexpr double share_of_one = 0.04;

Seconds now() { return {std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count()}; }

struct Executed {
  PlanChoice choice{};
  std::unique_ptr<Sequence> sequence{};
  Seconds time{};
};

bool is_faster(const Executed& a, const Executed& b) { return a.time < b.time; }

class Finder {
 public:
  Finder(const Sequence::Model& model, TeamSentinel& sentinel, Seconds budget)
      : model_(model), sentinel_(sentinel), budget_(budget), search_(model.graph, model.calls, model.changes) {}

  [[nodiscard]] FastestSequence find() {
    try_those_of_rows();
    if (best_.empty()) std::rethrow_exception(refused_);
    try_those_of_executions(now() + budget_ * share_by_executions);
    time_in_turns(now() + budget_ * share_in_turns);
    Executed& winner = *std::min_element(best_.begin(), best_.end(), is_faster);
    return {.sequence = std::move(winner.sequence), .choice = std::move(winner.choice), .tried = executed_};
  }

 private:
  void try_those_of_rows() {
    const auto any = [](const CallPlan&) { return true; };
    const auto one_thread = [](const CallPlan& plan) { return plan.threads() == 1; };
    const auto only = [](FormKind kind) {
      return [kind](const CallPlan& plan) {
        const auto is_of_kind = [kind](const Arrangement& form) { return kind_of(form) == kind; };
        return std::all_of(plan.outputs.begin(), plan.outputs.end(), is_of_kind);
      };
    };
    std::set<PlanChoice> choices{search_.run(any), search_.run(only(FormKind::row_major)),
                                 search_.run(only(FormKind::in_blocks)), search_.run(only(FormKind::other)),
                                 search_.run(one_thread)};
    Seconds least{std::numeric_limits<double>::infinity()};
    for (const auto& choice : choices) least = std::min(least, search_.cost(choice));
    std::erase_if(choices, [&](const PlanChoice& choice) { return search_.cost(choice) > least * most_expected; });
    const Seconds slot = budget_ * (share_by_rows / static_cast<double>(choices.size()));
    for (const auto& choice : choices) execute(choice, slot);
  }

  /// Plans that take longer in their places than their rows say are replaced by others, which are executed in turn.
  void try_those_of_executions(Seconds end) {
    while (now() < end && model_.packed.bytes() <= most_packed * first_packed_) {
      const PlanChoice choice = search_.improve(best_.front().choice);
      if (tried_.contains(choice)) return;
      execute(choice, budget_ * share_of_one);
    }
  }

  /// Skips a choice that cannot be built or does not run.
  void execute(const PlanChoice& choice, Seconds slot) {
    tried_.insert(choice);
    Executed one{.choice = choice};
    try {
      one.sequence = std::make_unique<Sequence>(model_, choice);
      one.sequence->run();
    } catch (const std::exception&) {  // no plan for a layout change, or memory is short; another choice may run
      refused_ = std::current_exception();
      return;
    }
    ++executed_;
    if (first_packed_ == 0) first_packed_ = model_.packed.bytes();
    std::vector<std::vector<double>> steps(one.sequence->calls().size());
    std::vector<double> sums;
    const Seconds end = now() + slot;
    sentinel_.restart();
    while (sums.size() < most_executions && (sums.size() < least_executions || now() < end)) {
      sentinel_.begin();
      const auto times = one.sequence->run_timed();
      sentinel_.end();
      for (std::size_t i = 0; i < times.size(); ++i) steps[i].push_back(times[i].value);
      sums.push_back(std::accumulate(times.begin(), times.end(), Seconds{}).value);
    }
    const auto counted = sentinel_.counted();
    std::vector<Seconds> in_place;
    for (auto& times : steps) in_place.push_back(p10_of(std::move(times), counted));
    search_.observe(choice, one.sequence->owners(), in_place);
    one.time = p10_of(std::move(sums), counted);
    best_.insert(std::upper_bound(best_.begin(), best_.end(), one, is_faster), std::move(one));
    if (best_.size() > most_in_turns) best_.pop_back();
  }

  /// Times in turns, so that a slow phase of the machine does not decide between them.
  void time_in_turns(Seconds end) {
    constexpr int in_one_turn = 3;
    if (best_.size() == 1) return;
    std::vector<std::vector<double>> times(best_.size());
    sentinel_.restart();
    for (std::size_t turn = 0; turn < most_executions && (turn == 0 || now() < end); ++turn) {
      sentinel_.begin();
      for (std::size_t i = 0; i < best_.size(); ++i) {
        best_[i].sequence->run();  // warms up its weights and its threads
        for (int run = 0; run < in_one_turn; ++run) {
          const Seconds before = now();
          best_[i].sequence->run();
          times[i].push_back((now() - before).value);
        }
      }
      sentinel_.end();
    }
    std::vector<bool> counted;
    for (const bool turn : sentinel_.counted()) counted.insert(counted.end(), in_one_turn, turn);
    for (std::size_t i = 0; i < best_.size(); ++i) best_[i].time = p10_of(std::move(times[i]), counted);
  }

  const Sequence::Model& model_;
  TeamSentinel& sentinel_;
  Seconds budget_;
  PlanSearch search_;
  std::vector<Executed> best_{};  ///< the fastest first
  std::set<PlanChoice> tried_{};
  std::size_t executed_ = 0;      ///< the number of those that ran
  std::exception_ptr refused_{};  ///< why the last of the others did not run
  std::size_t first_packed_ = 0;  ///< bytes of the first sequence's constants
};

}  // namespace

FastestSequence find_fastest_sequence(const Sequence::Model& model, TeamSentinel& sentinel, Seconds budget) {
  return Finder(model, sentinel, budget).find();
}

}  // namespace benanza::execution
