// SPDX-License-Identifier: Apache-2.0
// Schedule: when each call of a model would run. make_schedule.hpp makes it.
#pragma once

#include <benanza/bounds/timed_graph.hpp>

#include <cstddef>
#include <string_view>
#include <vector>

namespace benanza {

/// Which plan each call uses.
enum class PlanChoice : std::uint8_t { fastest, least_work, fastest_if_critical };
[[nodiscard]] constexpr std::array<std::string_view, 3> enum_names(PlanChoice) {
  return {"each layer by its fastest plan", "each layer by its plan of least work",
          "critical layers by their fastest plan, the others by their plan of least work"};
}

struct ScheduledCall {
  std::size_t layer = 0;             ///< index into TimedGraph::layers
  std::size_t call = 0;              ///< index into its calls
  Seconds start{}, time{};           ///< passes of loops that run in sequence are one call
  std::vector<std::size_t> lanes{};  ///< the threads that it occupies, from 0
};

struct Schedule {
  std::vector<ScheduledCall> calls{};  ///< by start
  Seconds length{};
  PlanChoice choice = PlanChoice::fastest;
};

}  // namespace benanza
