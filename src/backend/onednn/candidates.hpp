// SPDX-License-Identifier: Apache-2.0
// Candidates: the plans of one layer, not built yet, as a family of operators collects them; each is named and kept
// once.
#pragma once

#include "primitive_plan.hpp"

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace benanza::onednn {

class Candidates {
 public:
  Candidates(std::shared_ptr<const Library> library, const Layer& layer, int threads, const Parameters& numbers);

  [[nodiscard]] const dnnl::engine& engine() const { return library_->engine; }
  [[nodiscard]] const Operands& operands() const { return operands_; }
  [[nodiscard]] int threads() const { return threads_; }
  /// The numbers that plans compute with.
  [[nodiscard]] const Parameters& numbers() const { return numbers_; }
  [[nodiscard]] float epsilon() const { return static_cast<float>(numbers_.epsilon); }
  /// The tolerance for rounding results to their type.
  [[nodiscard]] double tolerance() const;

  /// Adds the draft of a plan unless one of the same name (implementation, layouts, threads) is there already.
  void add(Draft draft);
  /// Sets the reason why there may be no plan. It is returned if no draft is added.
  void refuse(std::string reason) { reason_ = std::move(reason); }
  [[nodiscard]] std::variant<PlanDrafts, Unsupported> result() &&;

 private:
  std::shared_ptr<const Library> library_;
  Operands operands_;
  int threads_;
  Parameters numbers_;
  std::string reason_;
  std::set<std::string> names_{};
  PlanDrafts drafts_{};
};

/// Attributes of every primitive: f32 stays f32, and the scratchpad is a part of the plan's workspace.
[[nodiscard]] dnnl::primitive_attr common_attributes();

/// Whether an implementation is one of oneDNN's references. They take seconds, and no one runs them.
[[nodiscard]] bool is_reference(std::string_view implementation);

/// Visits (descriptor, name) of every implementation of a problem except references, starting with the one that oneDNN
/// prefers; of reorder, sum and concat it reports only that one. An empty descriptor has none. `reference_too` is for
/// primitives whose implementation of that name is fast.
template <class Descriptor, class Visit>
void for_each_implementation(Descriptor descriptor, Visit&& visit, bool reference_too = false) {
  if (!descriptor) return;
  const auto next = [&] {
    if constexpr (requires { descriptor.next_impl(); }) return descriptor.next_impl();
    else return false;
  };
  do {
    const std::string name = descriptor.impl_info_str();
    if (reference_too || !is_reference(name)) visit(std::as_const(descriptor), name);
  } while (next());
}

}  // namespace benanza::onednn
