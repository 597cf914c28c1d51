// SPDX-License-Identifier: Apache-2.0
#include "plan_choice.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

namespace benanza::execution {

namespace {

/// The assumed cost of a layout change for which there is no plan: bytes read and written at a rate between those of
/// caches and memory, plus the time of the call.
constexpr BytesPerSecond rate{4e9};
constexpr Seconds one_change{5e-6};
/// Threads of GNU OpenMP poll for about this long while the threads of another library need their processors.
constexpr Seconds one_switch{200e-6};
constexpr int most_choice_passes = 20;
constexpr Seconds unknown{-1};

constexpr FormKind kinds[] = {FormKind::row_major, FormKind::in_blocks, FormKind::other};

constexpr std::uint8_t bit_of(FormKind kind) { return static_cast<std::uint8_t>(kind); }

}  // namespace

PlanSearch::PlanSearch(const Graph& graph, const ModelCalls& model, LayoutChanges& changes)
    : model_(model),
      changes_(changes),
      touched_(model.calls.size()),
      ends_(model.calls.size()),
      in_place_(model.calls.size()) {
  const auto tensor_of = [&](ValueId id) -> std::size_t {
    const ValueId root = model.root(id);
    const auto [found, added] = known_.try_emplace(root, tensors_.size());
    if (added) tensors_.push_back({.value = &graph.value(root), .forms = {Arrangement{}}});
    return found->second;
  };
  const auto touch = [&](std::size_t call, std::size_t tensor) {
    auto& list = touched_[call];
    if (std::find(list.begin(), list.end(), tensor) == list.end()) list.push_back(tensor);
  };
  for (std::size_t i = 0; i < model.calls.size(); ++i) {
    const GroupCall& group = model.calls[i].group;
    const bool is_node = model.calls[i].plans.empty();
    std::vector<std::optional<ValueId>> reads, writes;
    if (is_node) {
      reads = graph.nodes[group.nodes.front()].inputs;
    } else {
      for (const auto& operand : group.operands)
        reads.push_back(operand.constant ? std::nullopt : std::optional(operand.value));
      writes = group.outputs;
    }
    ends_[i].resize(model.calls[i].plans.size());
    in_place_[i].assign(model.calls[i].plans.size(), unknown);
    for (auto& ends : ends_[i]) {
      ends.inputs.assign(reads.size(), 0);
      ends.outputs.assign(writes.size(), 0);
    }
    const auto note = [&](const std::vector<std::optional<ValueId>>& ids, bool is_read) {
      for (std::size_t k = 0; k < ids.size(); ++k) {
        if (!ids[k]) continue;
        const std::size_t at = tensor_of(*ids[k]);
        touch(i, at);
        if (is_read) tensors_[at].readers.push_back({i, k});
        else tensors_[at].maker = {i, k};
        for (std::size_t p = 0; p < ends_[i].size(); ++p) {
          const CallPlan& plan = model.calls[i].plans[p];
          const Arrangement& form = is_read ? plan.inputs[k] : plan.outputs[k];
          (is_read ? ends_[i][p].inputs : ends_[i][p].outputs)[k] = place_in(tensors_[at], form);
          ends_[i][p].kinds |= bit_of(kind_of(form));
        }
      }
    };
    note(reads, true);
    note(writes, false);
  }
  for (const auto id : graph.outputs)
    if (const auto found = known_.find(model.root(id)); found != known_.end()) tensors_[found->second].is_output = true;
  for (auto& tensor : tensors_) {
    tensor.changes.assign(tensor.forms.size() * tensor.forms.size(), unknown);
    tensor.in_place.assign(tensor.changes.size(), unknown);
  }
}

std::size_t PlanSearch::place_in(Tensor& tensor, const Arrangement& form) {
  const auto place =
      static_cast<std::size_t>(std::find(tensor.forms.begin(), tensor.forms.end(), form) - tensor.forms.begin());
  if (place == tensor.forms.size()) tensor.forms.push_back(form);
  return place;
}

const CallPlan* PlanSearch::plan(std::size_t call) const {
  const auto& plans = model_.calls[call].plans;
  return plans.empty() ? nullptr : &plans[choice_[call]];
}

Seconds PlanSearch::change(Tensor& tensor, std::size_t from, std::size_t to) {
  Seconds& known = tensor.changes[from * tensor.forms.size() + to];
  if (known.value >= 0) return known;
  const Arrangement &before = tensor.forms[from], &after = tensor.forms[to];
  const Value& value = *tensor.value;
  if (before.order && after.order) {
    if (const auto row = changes_.row_time(value.type, value.elements(), before, after)) return known = *row;
    // One size stands for all of about that size: models have hundreds of sizes, and each would be timed.
    const auto size = static_cast<double>(value.elements());
    const auto [rate_of, added] = seconds_of_element_.try_emplace(
        {value.type, bit_of(kind_of(before)), bit_of(kind_of(after)), std::ilogb(std::max(size, 1.0))}, unknown);
    if (added)
      if (const auto* how = changes_.find(value.type, value.elements(), before, after))
        rate_of->second = how->call.alone * (1 / size);
    if (rate_of->second.value >= 0) return known = rate_of->second * size;
  }
  const double bytes = static_cast<double>(value.elements()) * bits(value.type) / 8;
  const Seconds once = Bytes{2 * bytes} / rate + one_change;
  return known = once * ((before.is_plain() ? 0.0 : 1.0) + (after.is_plain() ? 0.0 : 1.0));
}

/// Readers share the result of a layout change.
Seconds PlanSearch::cost_of(Tensor& tensor) {
  const auto form_at = [&](const End& end, bool is_read) -> std::size_t {
    if (ends_[end.call].empty()) return 0;
    const Ends& ends = ends_[end.call][choice_[end.call]];
    return is_read ? ends.inputs[end.operand] : ends.outputs[end.operand];
  };
  const std::size_t made = tensor.maker ? form_at(*tensor.maker, false) : 0;
  std::uint64_t done = std::uint64_t{1} << (made % 64);
  Seconds cost{};
  const auto want = [&](std::size_t form) {
    const std::uint64_t bit = std::uint64_t{1} << (form % 64);
    if ((done & bit) != 0) return;
    done |= bit;
    const Seconds seen = tensor.in_place[made * tensor.forms.size() + form];
    cost += seen.value >= 0 ? seen : change(tensor, made, form) * change_in_place_over_alone_;
  };
  for (const auto& reader : tensor.readers) want(form_at(reader, true));
  if (tensor.is_output) want(0);
  return cost;
}

Seconds PlanSearch::switch_between(std::size_t a, std::size_t b) const {
  const CallPlan *const first = plan(a), *const second = plan(b);
  if (first == nullptr || second == nullptr || first->threads() == 1 || second->threads() == 1) return {};
  return first->uses_openmp != second->uses_openmp ? one_switch : Seconds{};
}

/// The time of the chosen plan of a call. If it has not been executed there, an estimate from its row.
Seconds PlanSearch::time_of(std::size_t call) const {
  const CallPlan* const chosen = plan(call);
  if (chosen == nullptr) return {};
  const Seconds seen = in_place_[call][choice_[call]];
  return seen.value >= 0 ? seen : chosen->alone * in_place_over_alone_;
}

/// The part of the sum that depends on the plan of one call.
Seconds PlanSearch::cost_at(std::size_t call) {
  Seconds cost = time_of(call);
  for (const auto tensor : touched_[call]) cost += cost_of(tensors_[tensor]);
  if (call > 0) cost += switch_between(call - 1, call);
  if (call + 1 < choice_.size()) cost += switch_between(call, call + 1);
  return cost;
}

Seconds PlanSearch::cost(const PlanChoice& choice) {
  choice_ = choice;
  Seconds sum{};
  for (std::size_t i = 0; i < choice_.size(); ++i) {
    sum += time_of(i);
    if (i > 0) sum += switch_between(i - 1, i);
  }
  for (auto& tensor : tensors_) sum += cost_of(tensor);
  return sum;
}

void PlanSearch::change_one_at_a_time() {
  bool is_better = true;
  for (int pass = 0; pass < most_choice_passes && is_better; ++pass) {
    is_better = false;
    for (std::size_t i = 0; i < choice_.size(); ++i) {
      const std::size_t before = choice_[i];
      Seconds least = cost_at(i);
      std::size_t best = before;
      for (const std::size_t plan : usable_[i]) {
        choice_[i] = plan;
        if (const Seconds cost = cost_at(i); cost < least) {
          least = cost;
          best = plan;
        }
      }
      choice_[i] = best;
      is_better = is_better || best != before;
    }
  }
}

/// Changes that pay off only together: a layout is worthwhile if neighbours have it too.
bool PlanSearch::change_some_in_a_row() {
  bool is_better = false;
  Seconds least = cost(PlanChoice(choice_));
  for (const FormKind each : kinds) {
    const std::uint8_t kind = bit_of(each), plain = bit_of(FormKind::row_major);
    std::vector<std::optional<std::size_t>> wanted(choice_.size());  // the fastest plan of that kind, or near it
    for (std::size_t i = 0; i < choice_.size(); ++i)
      for (const std::size_t p : usable_[i]) {
        if ((ends_[i][p].kinds & ~(kind | plain)) != 0 || (ends_[i][p].kinds & kind) == 0) continue;
        const auto& plans = model_.calls[i].plans;
        const bool is_pure = ends_[i][p].kinds == kind;
        if (!wanted[i] || (is_pure && ends_[i][*wanted[i]].kinds != kind) ||
            (is_pure == (ends_[i][*wanted[i]].kinds == kind) && plans[p].alone < plans[*wanted[i]].alone))
          wanted[i] = p;
      }
    for (std::size_t length = 2; length / 2 < choice_.size(); length *= 2)
      for (std::size_t first = 0; first < choice_.size(); first += std::max<std::size_t>(1, length / 2)) {
        const PlanChoice before = choice_;
        for (std::size_t i = first; i < std::min(first + length, choice_.size()); ++i)
          if (wanted[i]) choice_[i] = *wanted[i];
        if (choice_ == before) continue;
        if (const Seconds now = cost(PlanChoice(choice_)); now < least) {
          least = now;
          is_better = true;
        } else {
          choice_ = before;
        }
      }
  }
  return is_better;
}

PlanChoice PlanSearch::run(const Allowed& allowed) {
  usable_.assign(model_.calls.size(), {});
  choice_.assign(model_.calls.size(), 0);
  for (std::size_t i = 0; i < model_.calls.size(); ++i) {
    const auto& plans = model_.calls[i].plans;
    for (std::size_t p = 0; p < plans.size(); ++p)
      if (allowed(plans[p])) usable_[i].push_back(p);
    if (usable_[i].empty()) {
      usable_[i].resize(plans.size());
      std::iota(usable_[i].begin(), usable_[i].end(), std::size_t{0});
    }
    if (!usable_[i].empty()) choice_[i] = usable_[i].front();
  }
  search();
  return choice_;
}

PlanChoice PlanSearch::improve(const PlanChoice& choice) {
  for (std::size_t i = 0; i < usable_.size(); ++i) {
    usable_[i].resize(model_.calls[i].plans.size());
    std::iota(usable_[i].begin(), usable_[i].end(), std::size_t{0});
  }
  choice_ = choice;
  search();
  return choice_;
}

void PlanSearch::search() {
  constexpr int most_rounds = 3;
  change_one_at_a_time();
  for (int round = 0; round < most_rounds && change_some_in_a_row(); ++round) change_one_at_a_time();
}

void PlanSearch::observe(const PlanChoice& choice, std::span<const StepOwner> owners, std::span<const Seconds> times) {
  std::vector<Seconds> of_calls(choice.size());
  const auto ratio_of = [](Seconds together, Seconds alone) {
    return alone.value > 0 ? std::max(1.0, together / alone) : 1.0;
  };
  for (std::size_t i = 0; i < owners.size(); ++i) {
    const auto& change = owners[i].change;
    if (!change) {
      of_calls[owners[i].call] += times[i];
      continue;
    }
    Tensor& tensor = tensors_[known_.at(change->root)];
    const std::size_t at = place_in(tensor, change->from) * tensor.forms.size() + place_in(tensor, change->to);
    Seconds& known = tensor.in_place[at];
    known = known.value >= 0 ? std::min(known, times[i]) : times[i];
  }
  Seconds together{}, alone{};
  for (auto& tensor : tensors_)
    for (std::size_t at = 0; at < tensor.in_place.size(); ++at)
      if (tensor.in_place[at].value >= 0) {
        together += tensor.in_place[at];
        alone += change(tensor, at / tensor.forms.size(), at % tensor.forms.size());
      }
  change_in_place_over_alone_ = ratio_of(together, alone);
  together = alone = {};
  for (std::size_t i = 0; i < choice.size(); ++i) {
    if (in_place_[i].empty()) continue;
    Seconds& known = in_place_[i][choice[i]];
    known = known.value >= 0 ? std::min(known, of_calls[i]) : of_calls[i];
  }
  for (std::size_t i = 0; i < choice.size(); ++i)
    for (std::size_t p = 0; p < in_place_[i].size(); ++p)
      if (const Seconds row = model_.calls[i].plans[p].alone; in_place_[i][p].value >= 0 && row.value > 0) {
        together += in_place_[i][p];
        alone += row;
      }
  in_place_over_alone_ = ratio_of(together, alone);
}

}  // namespace benanza::execution
