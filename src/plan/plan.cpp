// SPDX-License-Identifier: Apache-2.0
#include <benanza/plan/backend.hpp>

#include <cstring>

namespace benanza {

void Plan::do_pack_input(std::size_t i, const void* plain, void* packed) const {
  std::memcpy(packed, plain, inputs_.at(i).bytes);
}
void Plan::do_unpack_output(std::size_t i, const void* packed, void* plain) const {
  std::memcpy(plain, packed, outputs_.at(i).bytes);
}
std::optional<std::int64_t> Plan::do_output_position(std::size_t i, std::int64_t index) const {
  return outputs_.at(i).name == "plain" ? std::optional(index) : std::nullopt;
}

std::optional<std::size_t> starts_as(const Plan& plan, const Operand& output, std::size_t i) {
  return output.starts_as ? output.starts_as : plan.sums_into(i);
}

std::vector<Layout> plain_layouts(std::span<const Operand> operands) {
  std::vector<Layout> result;
  for (const auto& operand : operands) result.push_back({.bytes = static_cast<std::size_t>(operand.bytes())});
  return result;
}

std::variant<Plans, Unsupported> build_all(std::variant<PlanDrafts, Unsupported> drafts) {
  if (auto* unsupported = std::get_if<Unsupported>(&drafts)) return std::move(*unsupported);
  Plans plans;
  Unsupported last;
  for (const auto& draft : std::get<PlanDrafts>(drafts)) {
    auto built = draft.build();
    if (auto* plan = std::get_if<std::unique_ptr<Plan>>(&built)) plans.push_back(std::move(*plan));
    else last = std::move(std::get<Unsupported>(built));
  }
  if (plans.empty()) return last;
  return plans;
}

std::variant<PlanDrafts, Unsupported> Backend::drafts(const Layer& layer, int threads) const {
  return drafts_of(plans(layer, threads));
}

std::variant<PlanDrafts, Unsupported> drafts_of(std::variant<Plans, Unsupported> all) {
  if (auto* unsupported = std::get_if<Unsupported>(&all)) return std::move(*unsupported);
  PlanDrafts drafts;
  for (auto& plan : std::get<Plans>(all)) {
    PlanDraft draft{.algorithm = plan->algorithm(), .threads = plan->threads(), .advised = plan->advised()};
    draft.build = [built = std::make_shared<std::unique_ptr<Plan>>(std::move(plan))] { return std::move(*built); };
    drafts.push_back(std::move(draft));
  }
  return drafts;
}

std::variant<PlanDrafts, Unsupported> Backend::drafts_with(const Layer& layer, int threads,
                                                           const Parameters& numbers) const {
  if (numbers == parameters_of(layer)) return drafts(layer, threads);
  return Unsupported{"no other numbers than those of the measurement for " + std::string(kind(layer)) + " in backend " +
                     std::string(name())};
}

}  // namespace benanza
