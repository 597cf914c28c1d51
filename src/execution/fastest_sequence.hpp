// SPDX-License-Identifier: Apache-2.0
// FastestSequence: the plans by which a model is executed. Rows give the time of a plan alone; executions give its time
// in its place, and decide.
#pragma once

#include "sequence.hpp"
#include "team_sentinel.hpp"

#include <cstddef>
#include <memory>

namespace benanza::execution {

struct FastestSequence {
  std::unique_ptr<Sequence> sequence{};
  PlanChoice choice{};
  std::size_t tried = 0;  ///< sequences that were executed
};

/// Executes sequences for about `budget`. Throws NotExecutable.
[[nodiscard]] FastestSequence find_fastest_sequence(const Sequence::Model& model, TeamSentinel& sentinel,
                                                    Seconds budget);

}  // namespace benanza::execution
