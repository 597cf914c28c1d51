// SPDX-License-Identifier: Apache-2.0
// What operators that move elements need of their operands for a part of their results.
#pragma once

#include <benanza/model/detail/known_bands.hpp>
#include <benanza/model/detail/live_rules.hpp>
#include <benanza/operators/lookup.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace benanza::detail {

[[nodiscard]] inline std::optional<LiveRule> slice(const SizedNode& at) {
  const auto box = op::Slice::taken_box(at.node, at.graph);
  if (!box || box->taken != at.y()) return std::nullopt;
  bool known = true;
  for (std::size_t i = 1; i < at.node.inputs.size(); ++i)
    known = known && (!at.node.has_input(i) || at.graph.input(at.node, i).literal);
  LiveRule rule{.operand = [at, box, known](std::size_t k, std::size_t, const Box& y) -> std::vector<Box> {
    Box result = whole_box(at.x(k));
    for (std::size_t i = 0; k == 0 && i < y.size(); ++i)
      if (known || box->taken[i] == at.x(0)[i]) result[i] = stepped(y[i], box->first[i], box->step[i], at.x(0)[i]);
    return {result};
  }};
  if (!known) return rule;
  rule.follows = [steps = box->step](std::size_t k) {
    FollowedAxes axes;
    for (std::size_t i = 0; k == 0 && i < steps.size(); ++i) axes.push_back(steps[i] == 1 ? i : whole_axis);
    return axes;
  };
  rule.begins.assign(box->first.begin(), box->first.end());
  return rule;
}

/// The positions that the constant indices of a Gather or of its gradient name along an axis of `size` elements, in
/// order. Empty if they are not known.
[[nodiscard]] inline std::vector<std::int64_t> places_along(const SizedNode& at, std::int64_t size) {
  const Value& indices = at.graph.input(at.node, 1);
  if (!indices.literal || static_cast<std::int64_t>(indices.literal->ints.size()) != indices.elements()) return {};
  std::vector<std::int64_t> places = indices.literal->ints;
  for (auto& place : places) {
    place += place < 0 ? size : 0;
    if (place < 0 || place >= size) return {};
  }
  return places;
}
[[nodiscard]] inline std::vector<std::int64_t> known_places(const SizedNode& at, std::size_t axis) {
  return places_along(at, at.x(0)[axis]);
}

/// The bits of each element of a constant as the file stores it. Views and Casts do not change which element it is.
[[nodiscard]] inline std::int64_t stored_bits(const Graph& graph, ValueId id) {
  for (std::size_t n = graph.constant_nodes.size(); n-- > 0;) {
    const Node& node = graph.constant_nodes[n];
    if (node.has_output(0) && *node.outputs[0] == id && node.has_input(0) && facts_of(node).keeps_each())
      id = *node.inputs[0];
  }
  return bits(graph.value(id).type);
}

/// The share of constant positions, such as the indices of a Gather, that has to be read as data. Zero for few
/// positions and for evenly increasing ones, which are part of a program's code. Otherwise, as many bits of each as
/// numbers below the size of the axis need.
[[nodiscard]] inline double read_positions(const SizedNode& at) {
  constexpr double most_bytes_in_code = 4096;
  if (at.facts.inputs[1] != InputRole::indices || !at.node.has_input(1)) return 1;
  const Value& positions = at.graph.input(at.node, 1);
  if (!positions.constant) return 1;
  const Dims& x = at.x(0);
  const auto axis = to_axis(at.node.attribute<std::int64_t>("axis", 0), x.size());
  const bool slices = at.node.op_type.ends_with("ND");
  std::int64_t size = axis && !slices ? x[*axis] : 1;
  for (std::size_t i = 0; slices && i < x.size(); ++i) size = std::max(size, x[i]);
  const auto each =
      static_cast<double>(std::bit_width(static_cast<std::uint64_t>(std::max<std::int64_t>(size, 2) - 1)));
  std::vector<Ramp> ramps = positions.ramps;
  if (positions.literal && std::ssize(positions.literal->ints) == positions.elements())
    if (auto ramp = find_ramp(positions.dims,
                              [&](std::int64_t i) { return positions.literal->ints[static_cast<std::size_t>(i)]; }))
      ramps.push_back(std::move(*ramp));
  const bool even = std::any_of(ramps.begin(), ramps.end(), [](const Ramp& ramp) {
    return std::any_of(ramp.steps.begin(), ramp.steps.end(), [](auto step) { return step != 0; });
  });
  if (even || static_cast<double>(positions.elements()) * each / 8 <= most_bytes_in_code) return 0;
  return std::min(1.0, each / static_cast<double>(stored_bits(at.graph, *at.node.inputs[1])));
}

/// Gather: the positions are needed if they are known, otherwise the whole axis.
[[nodiscard]] inline std::optional<LiveRule> gather(const SizedNode& at) {
  const auto axis = to_axis(at.node.attribute<std::int64_t>("axis", 0), at.x(0).size());
  const std::size_t rank = at.x(1).size();
  if (!axis || at.y().size() + 1 != at.x(0).size() + rank) return std::nullopt;
  const std::vector<std::int64_t> places = known_places(at, *axis);
  const auto named_by = [places](const Positions& indices) {
    std::vector<Positions::Run> runs;
    for (const auto& run : indices.runs())
      for (auto i = run.begin; i < run.end; ++i) {
        const std::int64_t place = places[static_cast<std::size_t>(i)];
        runs.push_back({place, place + 1});
      }
    return Positions(std::move(runs));
  };
  const Positions every = Positions::whole(element_count(at.x(1)));
  const Positions all = places.empty() ? Positions::whole(at.x(0)[*axis]) : named_by(every);
  return LiveRule{.operand = [at, every, all, rank, named_by, known = !places.empty(), first = *axis](
                                 std::size_t k, std::size_t j, const Box& y) -> std::vector<Box> {
    FollowedAxes axes;
    if (k == 1) {
      for (std::size_t i = 0; i < rank; ++i) axes.push_back(first + i);
      return {follow(axes, at.x(1), at.y(j), y)};
    }
    for (std::size_t i = 0; i < at.x(0).size(); ++i)
      axes.push_back(i < first ? i : i == first ? whole_axis : i + rank - 1);
    Box result = follow(axes, at.x(0), at.y(j), y);
    const Positions wanted = folded(std::span(y).subspan(first, rank), at.x(1));
    result[first] = known && wanted != every ? named_by(wanted) : all;
    return {result};
  }};
}

/// GatherND and GatherElements: the positions are needed if they are known, otherwise all elements.
[[nodiscard]] inline std::optional<LiveRule> gather_places(const SizedNode& at) {
  const bool slices = at.node.op_type == "GatherND";
  const Dims &x = at.x(0), &indices = at.x(1), &y = at.y();
  const auto& literal = at.graph.input(at.node, 1).literal;
  if (!literal || indices.empty() || static_cast<std::int64_t>(literal->ints.size()) != element_count(indices) ||
      (slices && indices.back() < 1))
    return std::nullopt;
  // The axes that x and the indices share, followed by those that an index refers to.
  const std::int64_t batches = slices ? at.node.attribute<std::int64_t>("batch_dims", 0) : 0;
  if (batches < 0 || batches >= static_cast<std::int64_t>(indices.size())) return std::nullopt;
  const auto shared = static_cast<std::size_t>(batches);
  const auto axis = to_axis(at.node.attribute<std::int64_t>("axis", 0), x.size());
  const auto named = slices ? static_cast<std::size_t>(indices.back()) : std::size_t{1};
  const std::size_t depth = slices ? shared + named : x.size();
  const std::size_t outer = slices ? indices.size() - 1 : indices.size();  // axes of y that the indices have
  if (!axis || depth > x.size() || outer + x.size() - depth != y.size() || (!slices && indices.size() != x.size()))
    return std::nullopt;
  const std::vector<std::int64_t> places = literal->ints;
  return LiveRule{.operand = [at, places, slices, shared, named, depth, outer, along = *axis](
                                 std::size_t k, std::size_t, const Box& y) -> std::vector<Box> {
    if (k > 0) return {whole_box(at.x(k))};
    const Dims &x = at.x(0), &indices = at.x(1);
    std::set<Dims> taken;  // positions along the first axes of x
    Dims at_y(outer, 0);
    const std::int64_t count = element_count(std::span(indices).first(outer));
    for (std::int64_t flat = 0; flat < count; ++flat) {
      std::int64_t rest = flat;
      bool wanted = true;
      for (std::size_t i = outer; i-- > 0; rest /= indices[i]) {
        at_y[i] = rest % indices[i];
        wanted = wanted && contains(y[i], Positions::run(at_y[i], at_y[i] + 1));
      }
      if (!wanted) continue;
      Dims place = slices ? Dims(depth, 0) : at_y;
      const auto from_end = [&](std::int64_t index, std::size_t axis) { return index < 0 ? index + x[axis] : index; };
      if (!slices) place[along] = from_end(places[static_cast<std::size_t>(flat)], along);
      for (std::size_t i = 0; slices && i < shared; ++i) place[i] = at_y[i];
      for (std::size_t i = 0; slices && i < named; ++i)
        place[shared + i] = from_end(places[static_cast<std::size_t>(flat) * named + i], shared + i);
      taken.insert(std::move(place));
    }
    std::vector<Box> boxes;
    for (const Dims& place : taken) {
      Box box = whole_box(x);
      for (std::size_t i = 0; i < depth; ++i) box[i] = Positions::run(place[i], place[i] + 1);
      for (std::size_t i = depth; i < x.size(); ++i) box[i] = y[outer + i - depth];
      boxes.push_back(std::move(box));
    }
    return boxes;
  }};
}

/// The positions along the first axes of x to which a scatter's constant indices refer, in order. Empty if they depend
/// on data.
[[nodiscard]] inline std::optional<std::vector<Dims>> named_places(const SizedNode& at) {
  const bool slices = at.node.op_type == "ScatterND";
  const Dims &x = at.x(0), &indices = at.x(1);
  const auto& literal = at.graph.input(at.node, 1).literal;
  const auto axis = to_axis(at.node.attribute<std::int64_t>("axis", 0), x.size());
  if (!literal || indices.empty() || static_cast<std::int64_t>(literal->ints.size()) != element_count(indices) ||
      !axis ||
      (slices ? indices.back() < 1 || indices.back() > static_cast<std::int64_t>(x.size())
              : indices.size() != x.size()))
    return std::nullopt;
  const std::size_t depth = slices ? static_cast<std::size_t>(indices.back()) : x.size();
  std::vector<Dims> places;
  const std::size_t each = slices ? depth : 1;
  for (std::size_t n = 0; n + each <= literal->ints.size(); n += each) {
    Dims place(depth);
    auto rest = static_cast<std::int64_t>(n);
    for (std::size_t i = depth; !slices && i-- > 0; rest /= indices[i]) place[i] = rest % indices[i];
    for (std::size_t i = 0; i < each; ++i) {
      const std::size_t along = slices ? i : *axis;
      const std::int64_t index = literal->ints[n + i];
      place[along] = index < 0 ? index + x[along] : index;
    }
    places.push_back(std::move(place));
  }
  return places;
}

/// Boxes along the first axes of x in which a scatter keeps elements. One box of all if they depend on data, if updates
/// are combined with the previous elements, or if there are many boxes.
[[nodiscard]] inline std::vector<Box> kept_boxes(const SizedNode& at) {
  const auto places = named_places(at);
  if (!places || places->empty() || at.node.attribute<std::string>("reduction", "none") != "none") return {Box{}};
  const std::span<const std::int64_t> first = std::span(at.x(0)).first(places->front().size());
  std::set<std::int64_t> written;  // positions along the one axis that the first axes fold into
  for (const Dims& place : *places) {
    std::int64_t flat = 0;
    bool inside = true;
    for (std::size_t i = 0; i < place.size(); ++i) {
      inside = inside && place[i] >= 0 && place[i] < first[i];
      flat = flat * first[i] + place[i];
    }
    if (inside) written.insert(flat);
  }
  std::vector<Positions::Run> kept;
  std::int64_t begin = 0;
  for (const std::int64_t flat : written) {
    if (begin < flat) kept.push_back({begin, flat});
    begin = flat + 1;
  }
  if (const std::int64_t end = element_count(first); begin < end) kept.push_back({begin, end});
  return kept.empty() ? std::vector<Box>{} : unfolded(Positions(std::move(kept)), first);
}

/// The share of the updates that a scatter certainly combines with different elements, relative to the case in which
/// all positions differ: indices may repeat.
[[nodiscard]] inline double certain_places(const SizedNode& at) {
  const auto combines = [](const auto* layer) {
    return layer != nullptr && layer->reduction != op::ScatterReduction::none;
  };
  if (!combines(std::get_if<op::ScatterNd>(&at.layer)) && !combines(std::get_if<op::ScatterElements>(&at.layer)))
    return 1;
  const bool slices = at.node.op_type == "ScatterND";
  const Dims &x = at.x(0), &indices = at.x(1);
  const auto axis = to_axis(at.node.attribute<std::int64_t>("axis", 0), x.size());
  const std::int64_t named = slices ? product(indices, 0, indices.size() - 1) : element_count(indices),
                     all = slices ? product(x, 0, static_cast<std::size_t>(indices.back())) : element_count(x);
  if (named < 1 || all < 1 || !axis) return 1;
  std::int64_t certain = slices ? 1 : named / indices[*axis];  // at least one along the axis of indices
  if (const auto places = named_places(at))
    certain = static_cast<std::int64_t>(std::set<Dims>(places->begin(), places->end()).size());
  return std::min(1.0, static_cast<double>(certain) / static_cast<double>(std::min(named, all)));
}

/// A ScatterND that assigns its updates to a slice that begins at `first`.
[[nodiscard]] inline LiveRule assignment(const SizedNode& at, const Dims& first) {
  return {.operand = [at, first, all = same_axes(at)](std::size_t k, std::size_t j, const Box& y) -> std::vector<Box> {
    if (k == 1) return all.operand(k, j, y);
    const Dims& updates = at.x(2);
    Box box = y;
    if (k == 2) {
      for (std::size_t i = 0; i < first.size(); ++i) box[i] = stepped(y[i], -first[i], 1, updates[i]);
      return {box};
    }
    std::vector<Box> beside;  // what is left along each axis
    for (std::size_t i = 0; i < first.size(); ++i) {
      const Positions inside = Positions::run(first[i], first[i] + updates[i]);
      beside.push_back(box);
      beside.back()[i] = without(box[i], inside);
      box[i] = common(box[i], inside);
    }
    return beside;
  }};
}

/// Scatters keep what they do not overwrite, and need the updates of needed positions. If data tell where these are,
/// all may lie beside a part that is read, so that none is combined with it.
/// `alone`: the updates are all that is not one number, and its readers together read them.
[[nodiscard]] inline LiveRule scatter(const SizedNode& at, bool alone) {
  if (const auto first = assigned_slice(at)) return assignment(at, *first);
  LiveRule rule{.operand = [at, alone, all = same_axes(at), kept = kept_boxes(at), places = named_places(at)](
                               std::size_t k, std::size_t j, const Box& y) -> std::vector<Box> {
    const std::size_t depth = places && !places->empty() ? places->front().size() : 0;
    if (k == 2 && depth > 0 && y.size() == at.x(0).size() && at.x(2).size() + depth >= y.size()) {
      std::vector<Positions::Run> read;
      for (std::size_t n = 0; n < places->size(); ++n) {
        bool wanted = true;
        for (std::size_t i = 0; i < depth; ++i)
          wanted = wanted && contains(y[i], Positions::run((*places)[n][i], (*places)[n][i] + 1));
        const auto update = static_cast<std::int64_t>(n);
        if (wanted) read.push_back({update, update + 1});
      }
      if (read.empty()) return {};
      const std::size_t named = at.x(2).size() + depth - y.size();  // axes of the updates that the indices have
      std::vector<Box> boxes = unfolded(Positions(std::move(read)), std::span(at.x(2)).first(named));
      for (Box& box : boxes) box.insert(box.end(), y.begin() + static_cast<std::ptrdiff_t>(depth), y.end());
      return boxes;
    }
    if (k > 0 && !places && !alone && y != whole_box(at.y())) {  // any update may hit, so that none is certain
      if (k == 2) return {};
      Box box = whole_box(at.x(k));
      const std::size_t axis = to_axis(at.node.attribute<std::int64_t>("axis", 0), box.size()).value_or(box.size());
      for (std::size_t i = 0; at.node.op_type != "ScatterND" && i < std::min(box.size(), y.size()); ++i)
        if (i != axis) box[i] = common(box[i], y[i]);
      return {box};
    }
    if (k > 0 || y.size() != at.x(0).size()) return all.operand(k, j, y);
    std::vector<Box> boxes;
    for (const Box& box : kept) {
      boxes.push_back(y);
      for (std::size_t i = 0; i < box.size(); ++i) boxes.back()[i] = common(y[i], box[i]);
    }
    return boxes;
  }};
  rule.flops = [at, operand = rule.operand, known = named_places(at).has_value()](std::span<const Region> y,
                                                                                  const Region&) {
    if (!known) return y[0].is_whole() ? 1.0 : 0.0;
    Region updates(at.x(2));
    for (const Box& box : y[0].certain())
      for (Box& part : operand(2, 0, box)) updates.add(std::move(part));
    return updates.share();
  };
  return rule;
}

/// ReverseSequence: for each batch, the steps at the mirrored positions. No step is certain if the lengths depend on
/// data.
[[nodiscard]] inline std::optional<LiveRule> reversal(const SizedNode& at) {
  const auto batch = to_axis(at.node.attribute<std::int64_t>("batch_axis", 1), at.x(0).size()),
             time = to_axis(at.node.attribute<std::int64_t>("time_axis", 0), at.x(0).size());
  if (!batch || !time || batch == time || at.y() != at.x(0)) return std::nullopt;
  const auto& literal = at.graph.input(at.node, 1).literal;
  const bool known = literal && static_cast<std::int64_t>(literal->ints.size()) == at.x(0)[*batch];
  return LiveRule{.operand = [at, batch = *batch, time = *time, known,
                              lengths = known ? literal->ints : std::vector<std::int64_t>{}](
                                 std::size_t k, std::size_t, const Box& y) -> std::vector<Box> {
    if (k > 0 && known) return {};
    if (k > 0) return {at.x(k).size() == 1 ? Box{y[batch]} : whole_box(at.x(k))};
    Box box = y;
    box[time] = Positions::whole(at.x(0)[time]);
    if (!known) return y[time] == box[time] ? std::vector<Box>{box} : std::vector<Box>{};
    std::map<std::int64_t, std::vector<Positions::Run>> by_length;
    for (const auto& run : y[batch].runs())
      for (auto b = run.begin; b < run.end; ++b) by_length[lengths[static_cast<std::size_t>(b)]].push_back({b, b + 1});
    std::vector<Box> boxes;
    for (auto& [length, batches] : by_length) {
      std::vector<Positions::Run> steps;
      for (const auto& run : y[time].runs()) {
        steps.push_back({length - std::min(run.end, length), length - run.begin});
        steps.push_back({std::max(run.begin, length), run.end});
      }
      box[batch] = Positions(std::move(batches));
      box[time] = common(Positions(std::move(steps)), Positions::whole(at.x(0)[time]));
      boxes.push_back(box);
    }
    return boxes;
  }};
}

/// Tile: the positions of the operand from which positions of the result are copied.
[[nodiscard]] inline std::optional<LiveRule> tiling(const SizedNode& at) {
  if (at.x(0).size() != at.y().size()) return std::nullopt;
  return LiveRule{.operand = [at](std::size_t k, std::size_t, const Box& y) -> std::vector<Box> {
    Box result = whole_box(at.x(k));
    for (std::size_t i = 0; k == 0 && i < y.size(); ++i) result[i] = wrapped(y[i], at.x(0)[i]);
    return {result};
  }};
}

/// Concat: an operand has the positions of the result from its offset on. Split: the reverse. QLinearConcat has a scale
/// and a zero point for its result, and each operand is followed by its own.
[[nodiscard]] inline std::optional<LiveRule> joined(const SizedNode& at, bool splits) {
  const Dims& all = splits ? at.x(0) : at.y();
  const auto& parts = splits ? at.node.outputs : at.node.inputs;
  const auto axis = to_axis(at.node.attribute<std::int64_t>("axis", 0), all.size());
  if (!axis) return std::nullopt;
  const bool quantized = at.node.op_type == "QLinearConcat";
  std::vector<std::optional<std::int64_t>> offsets(parts.size());  // empty: not a part
  std::int64_t end = 0;
  for (std::size_t i = quantized ? 2 : 0; i < parts.size(); i += quantized ? 3 : 1) {
    if (!parts[i] || at.graph.value(*parts[i]).dims.size() != all.size()) return std::nullopt;
    offsets[i] = end;
    end += at.graph.value(*parts[i]).dims[*axis];
  }
  if (end != all[*axis]) return std::nullopt;
  return LiveRule{
      .operand = [at, offsets, splits, along = *axis](std::size_t k, std::size_t j, const Box& y) -> std::vector<Box> {
        const auto offset = splits ? offsets[j] : offsets[k];
        if (!offset || (splits && k > 0)) return {whole_box(at.x(k))};
        Box result = y;
        result[along] = stepped(y[along], splits ? *offset : -*offset, 1, at.x(k)[along]);
        return {result};
      }};
}

/// The elements of an axis of `size` elements that positions of the padded axis show, in a mode other than constant.
/// All elements if the pads are longer than one reflection or wrap-around.
[[nodiscard]] inline Positions shown(const Positions& padded, std::int64_t before, std::int64_t behind,
                                     std::int64_t size, std::string_view mode) {
  const std::int64_t longest = mode == "edge" ? std::max(before, behind) : mode == "reflect" ? size - 1 : size;
  const bool crops = before < 0 || behind < 0;  // a reflection or wrap-around then begins elsewhere
  if ((crops && mode != "edge") || size < 1 || std::max(before, behind) > longest) return Positions::whole(size);
  std::vector<Positions::Run> runs;
  for (const auto& [first, last] : padded.runs()) {
    const std::int64_t begin = first - before, end = last - before;
    runs.push_back({std::max<std::int64_t>(begin, 0), std::min(end, size)});
    const Positions::Run front{begin, std::min<std::int64_t>(end, 0)}, back{std::max(begin, size), end};
    for (const auto& [from, to] : {front, back}) {
      if (from >= to) continue;
      const std::int64_t edge = from < 0 ? 0 : size - 1;
      if (mode == "edge") runs.push_back({edge, edge + 1});
      else if (mode == "reflect") runs.push_back({2 * edge - to + 1, 2 * edge - from + 1});
      else runs.push_back({from + (from < 0 ? size : -size), to + (from < 0 ? size : -size)});
    }
  }
  return Positions(std::move(runs));
}

/// A crop reads the elements that it keeps, and a pad the elements that its result shows.
[[nodiscard]] inline std::optional<LiveRule> padding(const SizedNode& at) {
  if (at.node.op_type == "Pad") {
    const auto pads = given_ints(at.node, at.graph, at.node.opset < 2 ? "paddings" : "pads", 1);
    if (!pads.known || !given_ints(at.node, at.graph, "axes", 3).known) return std::nullopt;
  }
  const auto cells = op::Pad::padding(at.node, at.graph);
  if (!cells) return std::nullopt;
  const std::string mode = at.node.attribute<std::string>("mode", "constant");
  return LiveRule{.operand = [at, cells, mode](std::size_t k, std::size_t, const Box& y) -> std::vector<Box> {
    Box result = whole_box(at.x(k));
    for (std::size_t i = 0; k == 0 && i < result.size(); ++i) {
      const std::int64_t before = cells->before[i], behind = cells->behind[i], size = at.x(0)[i];
      result[i] = mode == "constant" || (before <= 0 && behind <= 0) ? stepped(y[i], -before, 1, size)
                                                                     : shown(y[i], before, behind, size, mode);
    }
    return {result};
  }};
}

[[nodiscard]] inline std::optional<LiveRule> transposition(const SizedNode& at) {
  const std::size_t rank = at.x(0).size();
  auto perm = at.node.attribute<Dims>("perm", {});
  for (std::size_t i = rank; perm.size() < rank; --i) perm.push_back(static_cast<std::int64_t>(i) - 1);
  FollowedAxes axes(rank, whole_axis);
  for (std::size_t i = 0; i < rank; ++i) {
    if (perm[i] < 0 || perm[i] >= static_cast<std::int64_t>(rank)) return std::nullopt;
    axes[static_cast<std::size_t>(perm[i])] = i;
  }
  return LiveRule{.operand = [at, axes](std::size_t k, std::size_t j, const Box& y) -> std::vector<Box> {
                    return {follow(axes, at.x(k), at.y(j), y)};
                  },
                  .follows = [axes](std::size_t) { return axes; }};
}

[[nodiscard]] inline LiveRule reshape(const SizedNode& at) {
  return {.operand = [at](std::size_t k, std::size_t j, const Box& y) -> std::vector<Box> {
            return k == 0 ? reshaped(y, at.y(j), at.x(0)) : std::vector<Box>{whole_box(at.x(k))};
          },
          .follows = [at](std::size_t k) -> FollowedAxes {
            const Dims &x = at.x(k), &y = at.y();
            const bool matrices =
                k == 0 && x.size() >= 2 && y.size() >= 2 && std::equal(x.end() - 2, x.end(), y.end() - 2);
            return matrices ? last_axes(x.size(), y.size()) : FollowedAxes{};
          }};
}

/// DepthToSpace and SpaceToDepth: a transposition between two reshapes.
[[nodiscard]] inline std::optional<LiveRule> blocks(const SizedNode& at) {
  const std::int64_t size = at.node.attribute<std::int64_t>("blocksize", 0);
  const bool to_space = at.node.op_type == "DepthToSpace";
  const Dims& wide = to_space ? at.y() : at.x(0);  // few channels, many positions
  if (size < 1 || wide.size() != 4 || wide[2] % size != 0 || wide[3] % size != 0) return std::nullopt;
  const std::int64_t n = wide[0], c = wide[1], h = wide[2] / size, w = wide[3] / size;
  const bool by_column = to_space && at.node.attribute<std::string>("mode", "DCR") == "CRD";
  // Dimensions in the order of the wide tensor, and for each axis of the deep tensor the corresponding one of them.
  const Dims inside{n, c, h, size, w, size};
  const std::vector<std::size_t> order =
      by_column ? std::vector<std::size_t>{0, 1, 3, 5, 2, 4} : std::vector<std::size_t>{0, 3, 5, 1, 2, 4};
  return LiveRule{
      .operand = [at, to_space, inside, order](std::size_t, std::size_t j, const Box& y) -> std::vector<Box> {
        Dims deep(6);
        for (std::size_t i = 0; i < 6; ++i) deep[i] = inside[order[i]];
        std::vector<Box> result;
        for (const Box& from : reshaped(y, at.y(j), to_space ? inside : deep)) {
          Box turned(6);
          for (std::size_t i = 0; i < 6; ++i) (to_space ? turned[i] : turned[order[i]]) = from[to_space ? order[i] : i];
          for (Box& box : reshaped(turned, to_space ? deep : inside, at.x(0))) result.push_back(std::move(box));
        }
        return result;
      }};
}

}  // namespace benanza::detail
