// SPDX-License-Identifier: Apache-2.0
// What LSTM, GRU and RNN need of their operands for a part of their results: a direction computes the steps up to the
// last one that is read, and each direction has weights of its own.
#pragma once

#include <benanza/model/detail/live_rules.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace benanza::detail {

/// The steps that one direction has to compute.
[[nodiscard]] inline Positions steps_of(const Positions& read, std::int64_t sequence, bool backward) {
  if (read.empty()) return {};
  return backward ? Positions::run(read.runs().front().begin, sequence) : Positions::run(0, read.runs().back().end);
}

/// Sequences that lie first. Results: Y (sequence, directions, batch, hidden), and the last states (directions, batch,
/// hidden). All units of a state go into the next one.
[[nodiscard]] inline std::optional<LiveRule> recurrence(const SizedNode& at) {
  const auto& layer = std::get<op::Recurrent>(at.layer);
  if (layer.batch_first || at.node.has_input(4) || at.x(0).size() != 3) return std::nullopt;
  const std::int64_t sequence = at.x(0)[0];
  // Steps of each direction for a box of result j.
  const auto steps = [sequence, layer](std::size_t j, const Box& y) {
    std::vector<Positions> result(static_cast<std::size_t>(layer.directions));
    const Positions read = j == 0 ? y[0] : Positions::whole(sequence);
    for (std::size_t d = 0; d < result.size(); ++d) {
      const bool backward = layer.reverse || d == 1;
      const auto direction = static_cast<std::int64_t>(d);
      if (common(y[j == 0 ? 1 : 0], Positions::run(direction, direction + 1)).empty()) continue;
      // The last state is the one behind all steps.
      result[d] = j == 0 ? steps_of(read, sequence, backward) : Positions::whole(sequence);
    }
    return result;
  };
  return LiveRule{.operand = [at, steps, layer](std::size_t k, std::size_t j, const Box& y) -> std::vector<Box> {
                    const Dims& x = at.x(k);
                    const Positions& directions = y[j == 0 ? 1 : 0];
                    const Positions& batch = y[j == 0 ? 2 : 1];
                    if (k == 0) {
                      std::vector<Box> boxes;
                      for (const auto& of_direction : steps(j, y))
                        if (!of_direction.empty()) boxes.push_back({of_direction, batch, Positions::whole(x[2])});
                      return boxes;
                    }
                    Box box = whole_box(x);
                    if (!box.empty()) box[0] = directions;  // weights, biases, peepholes and initial states
                    if (k == 2 && !layer.initial_state) {   // a first step has no state to multiply
                      std::vector<Positions::Run> runs;
                      const auto of_each = steps(j, y);
                      for (std::size_t d = 0; d < of_each.size(); ++d)
                        if (of_each[d].count() > 1)
                          runs.push_back({static_cast<std::int64_t>(d), static_cast<std::int64_t>(d) + 1});
                      box[0] = Positions(std::move(runs));
                    }
                    if ((k == 5 || k == 6) && box.size() == 3) box[1] = batch;  // initial states
                    return {box};
                  },
                  .flops =
                      [at, steps, sequence, layer](std::span<const Region> y, const Region&) {
                        double needed = 0, of_batch = 0;
                        std::vector<Positions> all(static_cast<std::size_t>(layer.directions));
                        for (std::size_t j = 0; j < y.size(); ++j)
                          for (const auto& box : y[j].boxes()) {
                            const auto of_box = steps(j, box);
                            for (std::size_t d = 0; d < all.size(); ++d) all[d] = unite(all[d], of_box[d]);
                            of_batch = std::max(of_batch, static_cast<double>(box[j == 0 ? 2 : 1].count()));
                          }
                        const double whole = layer.arithmetic().flops,
                                     first = layer.initial_state ? 0 : layer.first_step_flops(),
                                     directions = static_cast<double>(layer.directions);
                        const double step = (whole / directions + first) / static_cast<double>(sequence);
                        for (const auto& of_direction : all)
                          if (!of_direction.empty()) needed += static_cast<double>(of_direction.count()) * step - first;
                        return needed / whole * of_batch / static_cast<double>(at.x(0)[1]);
                      }};
}

}  // namespace benanza::detail
