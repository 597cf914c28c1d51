// SPDX-License-Identifier: Apache-2.0
// LazyPlan: a plan that is built when the tuner first needs it, once for all cache states in which it competes.
#pragma once

#include "sampling/host.hpp"
#include <benanza/error.hpp>
#include <benanza/model/units.hpp>
#include <benanza/plan/backend.hpp>

#include <memory>
#include <optional>
#include <utility>

namespace benanza::measure {

class LazyPlan {
 public:
  /// `listing`: this draft's share of the time that listing all drafts took.
  LazyPlan(PlanDraft draft, Seconds listing) : draft_(std::move(draft)), preparation_(listing) {}

  /// Builds the plan at the first call. Returns the reason if there is none. Throws what the backend throws, and an
  /// EnvironmentError at later calls.
  [[nodiscard]] std::optional<Unsupported> build(const sampling::Host& host) {
    if (draft_.build) {
      const auto build = std::exchange(draft_.build, nullptr);
      const Seconds start = host.now();
      auto built = build();
      preparation_ += host.now() - start;
      if (auto* plan = std::get_if<std::unique_ptr<Plan>>(&built)) plan_ = std::move(*plan);
      else why_ = std::move(std::get<Unsupported>(built));
    }
    if (plan_ == nullptr && !why_) throw EnvironmentError("could not be built in another cache state");
    return why_;
  }
  /// Only after it is built.
  [[nodiscard]] const Plan& get() const { return *plan_; }
  [[nodiscard]] Seconds preparation() const { return preparation_; }

 private:
  PlanDraft draft_;
  Seconds preparation_;
  std::unique_ptr<const Plan> plan_{};
  std::optional<Unsupported> why_{};
};

}  // namespace benanza::measure
