// SPDX-License-Identifier: Apache-2.0
#include "call_plans.hpp"

#include <benanza/model/layer_signature.hpp>

#include <algorithm>
#include <set>
#include <variant>

namespace benanza::execution {

namespace {

/// A row that takes more than this many times as long as the fastest is not a candidate, whatever its layouts are.
constexpr double slowest = 2;
constexpr std::size_t most_plans = 12;

std::optional<CallPlan> build(const Backend& backend, const Layer& layer, PlanDraft& draft) {
  auto built = draft.build();
  auto* plan = std::get_if<std::unique_ptr<Plan>>(&built);
  if (plan == nullptr) return std::nullopt;
  CallPlan result{
      .plan = std::move(*plan), .backend = std::string(backend.name()), .uses_openmp = backend.uses_openmp()};
  const Operands shapes = operands(layer);
  for (std::size_t i = 0; i < shapes.inputs.size(); ++i)
    result.inputs.push_back(arrangement_of(result.backend, result.plan->inputs()[i], shapes.inputs[i]));
  for (std::size_t i = 0; i < shapes.outputs.size(); ++i)
    result.outputs.push_back(arrangement_of(result.backend, result.plan->outputs()[i], shapes.outputs[i]));
  return result;
}

}  // namespace

std::vector<const Measurement*> CallPlans::fastest(const Layer& layer) const {
  std::vector<const Measurement*> result;
  const auto found = rows_.find(LayerSignature(layer).text());
  if (found == rows_.end()) return result;
  for (const auto& row : found->second)
    if (row.measured() && row.cache == CacheState::hot && row.threads <= threads_ && row.times &&
        row.times->p10.value > 0)
      result.push_back(&row);
  std::stable_sort(result.begin(), result.end(),
                   [](const auto* a, const auto* b) { return a->times->p10 < b->times->p10; });
  return result;
}

std::optional<Seconds> CallPlans::best_time(const Layer& layer) const {
  const auto rows = fastest(layer);
  return rows.empty() ? std::nullopt : std::optional(rows.front()->times->p10);
}

std::vector<CallPlan> CallPlans::of_rows(const Layer& layer, const Parameters& numbers, std::size_t most) const {
  std::vector<CallPlan> plans;
  const auto rows = fastest(layer);
  std::map<std::pair<const Backend*, int>, PlanDrafts> drafts;  // key: a backend and a number of threads
  for (const auto* row : rows) {
    if (plans.size() == most || row->times->p10 > rows.front()->times->p10 * slowest) break;
    for (const auto& backend : backends_) {
      if (backend->name() != row->backend) continue;
      const auto [list, first] = drafts.try_emplace({backend.get(), row->threads});
      if (first) {
        auto made = backend->drafts_with(layer, row->threads, numbers);
        if (auto* names = std::get_if<PlanDrafts>(&made)) list->second = std::move(*names);
      }
      for (auto& draft : list->second) {
        if (draft.algorithm != row->algorithm || !draft.build) continue;
        if (auto plan = build(*backend, layer, draft)) {
          plan->alone = row->times->p10;
          plans.push_back(std::move(*plan));
        }
        draft.build = nullptr;
        break;
      }
    }
  }
  return plans;
}

const std::vector<CallPlan>& CallPlans::of(const Layer& layer, const Parameters& numbers) {
  auto& built = built_[LayerSignature(layer).text()];
  for (const auto& one : built)
    if (one.numbers == numbers) return one.plans;
  std::vector<CallPlan>& plans = built.emplace_back(Built{.numbers = numbers}).plans;
  plans = of_rows(layer, numbers, most_plans);
  if (plans.empty())
    if (auto plan = first_offered(layer, numbers)) plans.push_back(std::move(*plan));
  return plans;
}

std::optional<CallPlan> CallPlans::first_offered(const Layer& layer, const Parameters& numbers) const {
  for (const auto& backend : backends_) {
    auto made = backend->drafts_with(layer, threads_, numbers);
    auto* list = std::get_if<PlanDrafts>(&made);
    for (std::size_t i = 0; list != nullptr && i < list->size(); ++i)
      if (auto plan = build(*backend, layer, (*list)[i])) return plan;
  }
  return std::nullopt;
}

std::optional<CallPlan> CallPlans::row_major_plan(const Layer& layer, const Parameters& numbers) const {
  const Operands shapes = operands(layer);
  const auto is_row_major = [&](const CallPlan& plan) {
    for (std::size_t i = 0; i < plan.inputs.size(); ++i)
      if (!shapes.inputs[i].constant && !plan.inputs[i].is_plain()) return false;
    return std::all_of(plan.outputs.begin(), plan.outputs.end(),
                       [](const Arrangement& form) { return form.is_plain(); });
  };
  auto plans = of_rows(layer, numbers, most_plans);
  if (plans.empty()) return first_offered(layer, numbers);
  const auto found = std::find_if(plans.begin(), plans.end(), is_row_major);
  return found != plans.end() ? *found : plans.front();
}

std::optional<CallPlan> CallPlans::fastest_plan(const Layer& layer) const {
  auto plans = of_rows(layer, parameters_of(layer), 1);
  return plans.empty() ? std::nullopt : std::optional(std::move(plans.front()));
}

std::vector<CallPlan> CallPlans::offered(const Layer& layer, bool on_one_thread) const {
  std::vector<CallPlan> result;
  for (const auto& backend : backends_) {
    auto made = backend->drafts(layer, on_one_thread ? 1 : threads_);
    auto* list = std::get_if<PlanDrafts>(&made);
    for (std::size_t i = 0; list != nullptr && i < list->size(); ++i)
      if (auto plan = build(*backend, layer, (*list)[i])) result.push_back(std::move(*plan));
  }
  return result;
}

}  // namespace benanza::execution
