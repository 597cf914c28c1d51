// SPDX-License-Identifier: Apache-2.0
// TimedGraph: the layers of one form with their edges and the times that the bounds use for them. Critical paths,
// schedules and pictures of the graph are made from it.
#pragma once

#include <benanza/model/critical_path.hpp>
#include <benanza/model/form.hpp>
#include <benanza/model/units.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace benanza {

/// One way to run a call.
struct TimedPlan {
  Seconds time{};   ///< expected, of one call
  int threads = 1;  ///< that it occupies
  bool operator==(const TimedPlan&) const = default;
};

/// One library call of a layer; a group may be split into several.
struct TimedCall {
  std::size_t row = 0;     ///< index into Analysis::rows
  TimedPlan fastest{};     ///< least time over thread counts
  TimedPlan least_work{};  ///< least threads x time
};

/// One occurrence of a layer.
struct TimedLayer {
  std::string name{};                       ///< the first of its ONNX nodes
  std::int64_t nodes = 1;                   ///< how many it covers
  std::vector<TimedCall> calls{};           ///< in sequence; empty for a layer that is free
  std::vector<Predecessor> predecessors{};  ///< indices into TimedGraph::layers
  std::int64_t repeat = 1;                  ///< trip counts of the enclosing loops, multiplied
  std::int64_t serial_repeat = 1;           ///< the part of it that runs in sequence
  bool runs = true;                         ///< false in a branch that the cheapest execution does not take
  bool critical = false;                    ///< on the critical path of the library's parallel rung
  Seconds floor{};                          ///< analytic, without weights: its time in `roofline_parallel`
  double dead = 0;                          ///< share of its arithmetic that no output of the model needs
  Seconds needed_floor{};                   ///< analytic, of the rest, with weights
  bool critical_floor = false;              ///< on the critical path of `roofline_parallel`; fused form only
  /// Expected time of one pass, with its calls at their fastest.
  [[nodiscard]] Seconds time() const {
    Seconds sum{};
    for (const auto& call : calls) sum += call.fastest.time;
    return sum;
  }
};

struct TimedGraph {
  Form form = Form::single;
  std::vector<TimedLayer> layers{};  ///< topological order
};

}  // namespace benanza
