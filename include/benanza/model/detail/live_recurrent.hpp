// SPDX-License-Identifier: Apache-2.0
// What LSTM, GRU and RNN need of their operands for a part of their results. A direction computes the steps up to the
// last one that is read, and in this step only the units that are read. Each direction has its own weights. Gates that
// change nothing are left out. Behind the end of a sequence, results are zeros.
#pragma once

#include <benanza/model/detail/live_rules.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
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

/// Axes of x, of Y (result 0), and of states (other results, initial states).
struct RecurrentAxes {
  bool batch_first = false;                                               ///< ONNX's layout = 1
  [[nodiscard]] std::size_t step() const { return batch_first ? 1 : 0; }  ///< of x and Y
  [[nodiscard]] std::size_t batch_of_x() const { return batch_first ? 0 : 1; }
  [[nodiscard]] std::size_t direction(std::size_t j) const { return (j == 0 ? 1 : 0) + (batch_first ? 1 : 0); }
  [[nodiscard]] std::size_t batch(std::size_t j) const { return batch_first ? 0 : j == 0 ? 2 : 1; }
};

/// Sequences of one length.
struct SequenceGroup {
  Positions items{};  ///< of the batch
  std::int64_t length = 0;
};
[[nodiscard]] inline std::vector<SequenceGroup> sequence_groups(const op::Recurrent& layer, const SizedNode& at) {
  if (!layer.rows) return {{Positions::whole(layer.x[1]), layer.x[0]}};
  std::map<std::int64_t, std::vector<Positions::Run>> by_length;
  const auto& lengths = optional_input(at.node, at.graph, 4)->literal->ints;
  for (std::int64_t i = 0; i < layer.x[1]; ++i) by_length[lengths[static_cast<std::size_t>(i)]].push_back({i, i + 1});
  std::vector<SequenceGroup> groups;
  for (auto& [length, items] : by_length) groups.push_back({Positions(std::move(items)), length});
  return groups;
}

/// What one direction computes for one sequence. Gates are in ONNX's order: input, output, forget and cell for an LSTM;
/// update, reset and hidden for a GRU.
struct DirectionWork {
  op::Recurrent layer{};
  bool hidden = true, cell = true;  ///< whether the first step multiplies a hidden and a cell state
  bool leaves_gates = false;        ///< leaves out gates that meet a state of 0, or that nothing needs
  std::int64_t steps = 0;
  bool last_hidden = true;  ///< whether the hidden state after the last step is needed, not only the cell state

  static constexpr std::int64_t output_gate = 1, forget_gate = 2, reset_gate = 1;

  [[nodiscard]] bool skips_first(std::int64_t gate) const {
    if (!leaves_gates) return false;
    if (layer.cell == op::Cell::lstm) return gate == forget_gate && !cell;
    // A reset gate before the product meets only the state; one after the product also meets the bias.
    return layer.cell == op::Cell::gru && gate == reset_gate && !hidden && !(layer.linear_before_reset && layer.bias);
  }
  [[nodiscard]] bool skips_last(std::int64_t gate) const {
    return leaves_gates && layer.cell == op::Cell::lstm && gate == output_gate && !last_hidden;
  }
  /// Number of steps in which a gate is computed.
  [[nodiscard]] std::int64_t computed(std::int64_t gate) const {
    return steps - (skips_first(gate) ? 1 : 0) - (skips_last(gate) ? 1 : 0);
  }
  /// Number of these steps that multiply a hidden state.
  [[nodiscard]] std::int64_t with_state(std::int64_t gate) const {
    if (hidden) return computed(gate);
    return steps - 1 - (skips_last(gate) && steps > 1 ? 1 : 0);
  }

  [[nodiscard]] double flops() const {
    if (steps == 0) return 0;
    const auto units = static_cast<double>(layer.hidden), inputs = static_cast<double>(layer.x[2]);
    double products = 0;
    for (std::int64_t gate = 0; gate < layer.gates(); ++gate)
      products += 2 * (inputs * static_cast<double>(computed(gate)) + units * static_cast<double>(with_state(gate)));
    // In an LSTM, the forget gate takes a sigmoid, a product and a sum, the output gate a sigmoid, a tanh and a
    // product. In a GRU, the state takes a product and a sum, the reset gate a sigmoid and a product. A peephole takes
    // a product and a sum.
    const bool lstm = layer.cell == op::Cell::lstm, gru = layer.cell == op::Cell::gru;
    const double peephole = layer.peepholes ? 2 : 0;
    double pointwise = (lstm ? 9 : gru ? 8 : 2) + 3 * peephole;
    pointwise *= static_cast<double>(steps);
    if (skips_first(forget_gate) && lstm) pointwise -= 3 + 2 * peephole;
    if (gru && leaves_gates && !hidden) pointwise -= skips_first(reset_gate) ? 4 : 2;
    if (skips_last(output_gate)) pointwise -= 3 + peephole;
    return units * (products + pointwise);
  }

  /// The same layer without its last step: the hidden state after the other steps is needed.
  [[nodiscard]] DirectionWork earlier() const {
    DirectionWork result = *this;
    result.steps = std::max<std::int64_t>(0, steps - 1);
    result.last_hidden = true;
    return result;
  }
  /// Whether the last step needs the reset gate of all units, as it scales the state before a product.
  [[nodiscard]] bool resets_all() const {
    return layer.cell == op::Cell::gru && !layer.linear_before_reset && (hidden || steps > 1);
  }
  /// Arithmetic for a batch in which some units of the last step are needed. Units are counted over all items: `any`
  /// units are needed of either state, `shown` units of the hidden state. `items` is the number of items of which any
  /// unit is needed.
  [[nodiscard]] double flops(double batch, double items, double any, double shown) const {
    const auto units = static_cast<double>(layer.hidden), inputs = static_cast<double>(layer.x[2]);
    DirectionWork silent = *this, whole = *this;
    silent.last_hidden = false;
    whole.last_hidden = true;
    const double before = earlier().flops();
    const double reset = resets_all() ? (2 * (inputs + units) + 2) * (items * units - any) : 0;  // the other units
    const double last = any * (silent.flops() - before) + shown * (whole.flops() - silent.flops());
    return batch * before + last / units + reset;
  }

  /// The parts of weights (inputs 1 and 2), biases (3) and peepholes (7) that are needed, in units of the hidden size.
  /// A constant bias of the recurrence is merged into the bias of the input.
  [[nodiscard]] std::vector<std::int64_t> parts_of(std::size_t input, bool constant) const {
    std::vector<std::int64_t> parts;
    if (steps == 0) return parts;
    if (input == 7) {
      const bool any_cell = steps > 1 || cell || !leaves_gates;
      for (const std::int64_t gate : {0, 1, 2})  // input, output, forget
        if (gate == output_gate ? computed(output_gate) > 0 : any_cell) parts.push_back(gate);
      return parts;
    }
    for (std::int64_t gate = 0; gate < layer.gates(); ++gate)
      if (input == 2 ? with_state(gate) > 0 : computed(gate) > 0) {
        parts.push_back(gate);
        const bool apart = layer.linear_before_reset && gate == 2;
        if (input == 3 && (apart || !constant || !leaves_gates)) parts.push_back(layer.gates() + gate);
      }
    return parts;
  }
};

/// Results: Y (sequence, directions, batch, hidden), and the last states (directions, batch, hidden), or the same with
/// the batch first. All units of a hidden state are needed for the next one; after the last step, only units that are
/// read count. A constant initial state may be 0, and what is computed from it is merged into the bias: it counts as
/// not given.
[[nodiscard]] inline std::optional<LiveRule> recurrence(const SizedNode& at) {
  const auto& layer = std::get<op::Recurrent>(at.layer);
  if (at.x(0).size() != 3) return std::nullopt;
  const bool informed = !at.known.empty();
  const auto is_given = [&](std::size_t k) {
    return informed ? at.node.has_input(k) && !at.graph.input(at.node, k).constant : layer.initial_state;
  };
  const DirectionWork start{.layer = layer, .hidden = is_given(5), .cell = is_given(6), .leaves_gates = informed};
  const RecurrentAxes axes{at.node.attribute<std::int64_t>("layout", 0) != 0};
  const auto groups = sequence_groups(layer, at);
  // Steps of a direction and a group for a box of result j.
  const auto steps = [layer, axes](std::size_t j, const Box& y, std::int64_t direction,
                                   const SequenceGroup& group) -> Positions {
    if (common(y[axes.direction(j)], Positions::run(direction, direction + 1)).empty()) return {};
    if (common(y[axes.batch(j)], group.items).empty()) return {};
    if (j > 0) return Positions::whole(group.length);  // the last state is the one after all steps
    return steps_of(common(y[axes.step()], Positions::whole(group.length)), group.length,
                    layer.reverse || direction == 1);
  };
  return LiveRule{
      .operand = [at, steps, axes, start, groups, informed](std::size_t k, std::size_t j,
                                                            const Box& y) -> std::vector<Box> {
        const Dims& x = at.x(k);
        const bool constant = at.graph.input(at.node, k).constant, state = k == 5 || k == 6;
        if (k == 4 || (state && informed && constant)) return {};  // lengths are known
        std::vector<Box> boxes;
        for (std::int64_t d = 0; d < start.layer.directions; ++d)
          for (const SequenceGroup& group : groups) {
            const Positions of_direction = steps(j, y, d, group);
            if (of_direction.empty()) continue;
            Box box = whole_box(x);
            const std::size_t direction = state ? axes.direction(1) : 0;
            if (k == 0) {
              box[axes.step()] = of_direction;
            } else if (direction < x.size() && x[direction] == start.layer.directions) {
              box[direction] = Positions::run(d, d + 1);
            }
            if (k == 0 || (state && x.size() == 3))
              box[k == 0 ? axes.batch_of_x() : axes.batch(1)] = common(y[axes.batch(j)], group.items);
            DirectionWork work = start;
            work.steps = of_direction.count();
            work.last_hidden = j != 2;
            // Weights of com.microsoft's layer are transposed.
            const std::size_t gates = !at.node.domain.empty() && k < 3 ? 2 : 1;
            if (((k >= 1 && k <= 3) || k == 7) && gates < x.size()) {
              const std::int64_t units = start.layer.hidden;
              std::vector<Positions::Run> runs;
              const auto before = work.earlier().parts_of(k, constant);
              for (const auto part : work.parts_of(k, constant)) {
                const bool all = std::find(before.begin(), before.end(), part) != before.end() ||
                                 (work.resets_all() && part % work.layer.gates() == DirectionWork::reset_gate);
                const Positions read = all ? Positions::whole(units) : y.back();
                for (const auto& run : read.runs()) runs.push_back({part * units + run.begin, part * units + run.end});
              }
              box[gates] = common(box[gates], Positions(std::move(runs)));
            }
            if (k == 6 && of_direction.count() == 1 && x.size() == 3) box.back() = y.back();  // each unit needs its own
            boxes.push_back(std::move(box));
          }
        return boxes;
      },
      .flops =
          [steps, axes, start, groups](std::span<const Region> y, const Region&) {
            double needed = 0;
            const auto add = [&](std::int64_t d, const SequenceGroup& group) {
              DirectionWork work = start;
              double of_batch = 0;
              for (std::size_t j = 0; j < y.size(); ++j)
                for (const auto& box : y[j].boxes()) {
                  of_batch = std::max(of_batch, static_cast<double>(common(box[axes.batch(j)], group.items).count()));
                  work.steps = std::max(work.steps, steps(j, box, d, group).count());
                }
              if (work.steps == 0) return;
              const Dims last{start.layer.x[1], start.layer.hidden};  // for each item, the units after the last step
              Region any(last), shown(last);
              Positions items;
              for (std::size_t j = 0; j < y.size(); ++j)
                for (const auto& box : y[j].boxes()) {
                  if (steps(j, box, d, group).count() < work.steps) continue;
                  const Positions of_box = common(box[axes.batch(j)], group.items);
                  items = unite(items, of_box);
                  any.add(Box{of_box, box.back()});
                  if (j != 2) shown.add(Box{of_box, box.back()});
                }
              needed += work.flops(of_batch, static_cast<double>(items.count()), any.count(), shown.count());
            };
            for (std::int64_t d = 0; d < start.layer.directions; ++d)
              for (const SequenceGroup& group : groups) add(d, group);
            const double all = start.layer.arithmetic().flops;
            return all > 0 ? needed / all : 1;
          }};
}

/// For recurrent layers whose arithmetic is not known: a direction computes the steps up to the last one that is read,
/// by its own weights, and each item has its own steps and states. Steps beyond the longest sequence are not read if
/// the lengths are known. Coupled gates need the weights of only one gate.
[[nodiscard]] inline std::optional<LiveRule> other_recurrence(const SizedNode& at) {
  if (!at.node.has_input(2) || at.x(0).size() != 3 || at.x(2).size() != 3) return std::nullopt;
  const RecurrentAxes axes{at.node.attribute<std::int64_t>("layout", 0) != 0};
  const Value* given = optional_input(at.node, at.graph, 4);
  const bool known = given != nullptr && given->literal && !given->literal->ints.empty();
  const std::int64_t units = at.x(2)[2], steps = known ? std::ranges::max(given->literal->ints) : at.x(0)[axes.step()];
  const bool coupled = at.node.op_type == "LSTM" && at.node.attribute<std::int64_t>("input_forget", 0) != 0;
  const bool reverse = at.node.attribute<std::string>("direction", "forward") == "reverse";
  return LiveRule{.operand = [=](std::size_t k, std::size_t j, const Box& y) -> std::vector<Box> {
    const bool weights = (k >= 1 && k <= 3) || k == 7, state = k == 5 || k == 6;
    if (k == 4 && known) return {};
    std::vector<Box> boxes;
    for (std::int64_t d = 0; d < at.x(2)[0]; ++d) {
      const Positions own = Positions::run(d, d + 1), all = Positions::run(0, steps);
      if (common(y[axes.direction(j)], own).empty()) continue;
      const Positions computed = j == 0 ? steps_of(common(y[axes.step()], all), steps, reverse || d == 1) : all;
      if (computed.empty()) continue;                                          // zeros behind the end
      if (k == 2 && computed.count() == 1 && !at.node.has_input(5)) continue;  // there is no state to multiply
      const Positions& items = y[axes.batch(j)];
      Box box = whole_box(at.x(k));
      if (k == 0) {
        box[axes.step()] = computed;
        box[axes.batch_of_x()] = items;
      }
      if (k == 4) box[0] = items;
      if (weights) box[0] = own;
      if (state && box.size() == 3) {
        box[axes.direction(1)] = own;
        box[axes.batch(1)] = items;
      }
      if (coupled && weights && box.size() > 1)  // the forget gate; for biases, in both halves
        for (const std::int64_t gate : {2, 6})
          box[1] = without(box[1], Positions::run(gate * units, (gate + 1) * units));
      boxes.push_back(std::move(box));
    }
    return boxes;
  }};
}

}  // namespace benanza::detail
