// SPDX-License-Identifier: Apache-2.0
// Work: a plan with its buffers, ready to be called. Rotation: makes each call find its constants, or everything,
// outside the caches.
//
// A flush between calls would leave dirty lines that the timed call pays for, and needs a clock that can time a single
// call. Instead, calls traverse a region of more than three times the size of all caches: what a call touches was last
// touched a whole region ago. One position serves a whole session, since otherwise the first copies of one plan would
// be those that the previous plan has just left in the caches. Copies lie one after another, so that hardware
// prefetchers may fetch a little of the next one, as they do in a network: a bound must not be too high.
#pragma once

#include "host.hpp"
#include "plan/accompanied.hpp"
#include <benanza/plan/backend.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace benanza::sampling {

/// How a Work's buffers move from one call to the next. Without a step, they stay where they are.
struct Rotation {
  std::size_t* position = nullptr;               ///< the session's: where in the region the next copy lies
  std::size_t step = 0;                          ///< bytes of one copy of the operands that move
  std::size_t region = 0;                        ///< size in bytes of the region that contains the copies
  std::vector<std::size_t> inputs{}, outputs{};  ///< indices of the operands that move
  bool workspace = false;  ///< moves by the same amount, so that the workspaces of two calls may overlap
};

/// Valid until the next one is requested.
struct Work {
  std::shared_ptr<const Plan> plan{};
  Runtime runtime = Runtime::own;
  std::string kind{};  ///< key under which the sentinel compares it: backend and operator
  std::string row{};   ///< key under which the memory sentinel compares it; empty if its data fit into the caches
  std::vector<const void*> inputs{};
  std::vector<void*> outputs{};
  void* workspace = nullptr;
  Rotation rotation{};

  /// To be called before calls, outside of timed regions: others may take part in them.
  void announce(std::int64_t calls) const {
    if (const auto* const accompanied = dynamic_cast<const AccompaniedPlan*>(plan.get()))
      accompanied->announce({.inputs = inputs, .outputs = outputs, .workspace = workspace}, calls);
  }
  [[nodiscard]] bool accompanied() const { return dynamic_cast<const AccompaniedPlan*>(plan.get()) != nullptr; }
  void call() {
    plan->execute({.inputs = inputs, .outputs = outputs, .workspace = workspace});
    if (rotation.step == 0) return;
    const std::size_t next = *rotation.position + rotation.step;
    move_to(next + rotation.step > rotation.region ? 0 : next);
  }
  /// The next call uses the copy at this position; only with a step.
  void move_to(std::size_t position) {
    const auto distance = static_cast<std::ptrdiff_t>(position) - static_cast<std::ptrdiff_t>(*rotation.position);
    *rotation.position = position;
    const auto moved = [&](auto* pointer) { return pointer + distance; };
    for (const auto i : rotation.inputs) inputs[i] = moved(static_cast<const std::byte*>(inputs[i]));
    for (const auto i : rotation.outputs) outputs[i] = moved(static_cast<std::byte*>(outputs[i]));
    if (rotation.workspace) workspace = moved(static_cast<std::byte*>(workspace));
  }
};

}  // namespace benanza::sampling
