// SPDX-License-Identifier: Apache-2.0
#include "evaluate.hpp"
#include "function.hpp"
#include "index.hpp"

namespace benanza::reference {

namespace {

/// An index of ONNX: negative ones count from the end.
std::int64_t index_at(const ConstTensor& indices, std::int64_t i, std::int64_t limit) {
  const auto value = static_cast<std::int64_t>(indices[i]);
  const std::int64_t index = value < 0 ? value + limit : value;
  if (index < 0 || index >= limit)
    throw UsageError("reference: index " + std::to_string(value) + " is outside an axis of " + std::to_string(limit));
  return index;
}

double combine(op::ScatterReduction reduction, DataType type, double old, double update) {
  switch (reduction) {
    case op::ScatterReduction::add: return apply(ElementwiseFn::add, type, old, update);
    case op::ScatterReduction::mul: return apply(ElementwiseFn::mul, type, old, update);
    case op::ScatterReduction::max: return apply(ElementwiseFn::max, type, old, update);
    case op::ScatterReduction::min: return apply(ElementwiseFn::min, type, old, update);
    case op::ScatterReduction::none: break;
  }
  return update;
}

/// The requested elements of a scatter's output, found by flat index while the updates are applied in order.
class Targets {
 public:
  Targets(const Query& query, op::ScatterReduction reduction) : type_(query.input(0).type), reduction_(reduction) {
    for (auto flat : query.indices) elements_.emplace_back(flat, query.input(0)[flat]);
    std::sort(elements_.begin(), elements_.end());
    elements_.erase(
        std::unique(elements_.begin(), elements_.end(), [](auto& a, auto& b) { return a.first == b.first; }),
        elements_.end());
  }
  /// Writes `count` consecutive elements of `updates`, starting at `first`, to `flat` and the following elements.
  void write(std::int64_t flat, std::int64_t count, const ConstTensor& updates, std::int64_t first) {
    for (auto found = lower_bound(flat); found != elements_.end() && found->first < flat + count; ++found)
      found->second = combine(reduction_, type_, found->second, updates[first + found->first - flat]);
  }
  [[nodiscard]] Elements result(const Query& query) {
    return query.map([&](std::int64_t flat) { return lower_bound(flat)->second; });
  }

 private:
  std::vector<std::pair<std::int64_t, double>>::iterator lower_bound(std::int64_t flat) {
    return std::lower_bound(elements_.begin(), elements_.end(), flat,
                            [](const auto& element, std::int64_t index) { return element.first < index; });
  }

  DataType type_;
  op::ScatterReduction reduction_;
  std::vector<std::pair<std::int64_t, double>> elements_{};
};

/// Flat position of the slice that an index tuple selects, in units of slices. The tuple's axes start at `first_axis`.
std::int64_t slice_position(const ConstTensor& indices, std::int64_t tuple, const TensorShape& x,
                            std::size_t first_axis, std::int64_t prefix) {
  const std::int64_t length = indices.shape.back();
  std::int64_t position = prefix;
  for (std::int64_t i = 0; i < length; ++i) {
    const std::int64_t limit = x[first_axis + static_cast<std::size_t>(i)];
    position = position * limit + index_at(indices, tuple * length + i, limit);
  }
  return position;
}

/// The element of the output to which an element of the updates is written.
std::int64_t place(const op::ScatterElements& scatter, const ConstTensor& indices, std::int64_t update) {
  const auto axis = static_cast<std::size_t>(scatter.axis);
  TensorShape to = coordinates(scatter.indices, update);
  to[axis] = index_at(indices, update, scatter.x[axis]);
  return flat_index(scatter.x, to);
}
std::int64_t place(const op::ScatterNd& scatter, const ConstTensor& indices, std::int64_t update) {
  const std::int64_t slice =
      element_count(part(scatter.x, static_cast<std::size_t>(scatter.indices.back()), scatter.x.size()));
  return slice_position(indices, update / slice, scatter.x, 0, 0) * slice + update % slice;
}

}  // namespace

Elements compute(const op::Gather& gather, const Query& query) {
  return query.map([&](std::int64_t flat) {
    const TensorShape at = coordinates({gather.x[0], gather.indices, gather.x[2]}, flat);
    const std::int64_t row = index_at(query.input(1), at[1], gather.x[1]);
    return query.input(0)[(at[0] * gather.x[1] + row) * gather.x[2] + at[2]];
  });
}

Elements compute(const op::GatherElements& gather, const Query& query) {
  const auto axis = static_cast<std::size_t>(gather.axis);
  return query.map([&](std::int64_t flat) {
    TensorShape at = coordinates(gather.indices, flat);
    at[axis] = index_at(query.input(1), flat, gather.x[axis]);
    return query.input(0)[flat_index(gather.x, at)];
  });
}

Elements compute(const op::GatherNd& gather, const Query& query) {
  const auto batch_dims = static_cast<std::size_t>(gather.batch_dims);
  const std::int64_t slice = element_count(gather.slice());
  const std::int64_t tuples = element_count(part(gather.indices, 0, gather.indices.size() - 1));
  const std::int64_t tuples_of_batch = tuples / std::max<std::int64_t>(element_count(part(gather.x, 0, batch_dims)), 1);
  return query.map([&](std::int64_t flat) {
    const std::int64_t tuple = flat / slice;
    const std::int64_t position = slice_position(query.input(1), tuple, gather.x, batch_dims, tuple / tuples_of_batch);
    return query.input(0)[position * slice + flat % slice];
  });
}

Elements compute(const op::ScatterElements& scatter, const Query& query) {
  Targets targets(query, scatter.reduction);
  for (std::int64_t update = 0; update < element_count(scatter.indices); ++update)
    targets.write(place(scatter, query.input(1), update), 1, query.input(2), update);
  return targets.result(query);
}

Elements compute(const op::ScatterNd& scatter, const Query& query) {
  const std::int64_t updates = element_count(scatter.updates()),
                     tuples = element_count(scatter.indices) / scatter.indices.back();
  const std::int64_t slice = updates / std::max<std::int64_t>(tuples, 1);
  Targets targets(query, scatter.reduction);
  for (std::int64_t update = 0; update < updates; update += slice)
    targets.write(place(scatter, query.input(1), update), slice, query.input(2), update);
  return targets.result(query);
}

Elements compute(const op::TensorScatter& scatter, const Query& query) {
  return query.map([&](std::int64_t flat) {
    TensorShape at = coordinates(scatter.x, flat);
    const std::int64_t first = scatter.indices ? static_cast<std::int64_t>(query.input(2)[at[0]]) : 0;
    std::int64_t row = at[2] - first;
    if (scatter.circular) row = (row % scatter.x[2] + scatter.x[2]) % scatter.x[2];
    if (row < 0 || row >= scatter.length) return query.input(0)[flat];
    at[2] = row;
    return query.input(1)[flat_index(scatter.update(), at)];
  });
}

Elements compute(const op::OneHot& one_hot, const Query& query) {
  const std::int64_t depth = one_hot.y[1];
  return query.map([&](std::int64_t flat) {
    const TensorShape at = coordinates(one_hot.y, flat);
    double index = query.input(0)[at[0] * one_hot.y[2] + at[2]];
    if (index < 0) index += static_cast<double>(depth);
    return query.input(1)[index == static_cast<double>(at[1]) ? 1 : 0];
  });
}

std::vector<std::int64_t> checked_indices(const Layer& layer, std::span<const void* const> inputs, std::size_t output,
                                          std::size_t samples) {
  const Operands all = operands(layer);
  auto result = sample_indices(all.outputs.at(output).elements(), samples, output);
  const auto add_updates = [&](const auto* scatter) {
    if (scatter == nullptr) return;
    const ConstTensor indices{inputs[1], all.inputs[1].type, all.inputs[1].shape};
    for (const auto update : sample_indices(all.inputs[2].elements(), samples))
      result.push_back(place(*scatter, indices, update));
  };
  add_updates(std::get_if<op::ScatterElements>(&layer));
  add_updates(std::get_if<op::ScatterNd>(&layer));
  if (const auto* scatter = std::get_if<op::TensorScatter>(&layer); scatter != nullptr) {
    const TensorShape update = scatter->update();
    for (const auto place : sample_indices(element_count(update), samples)) {
      TensorShape at = coordinates(update, place);
      if (scatter->indices) at[2] += static_cast<const std::int64_t*>(inputs[2])[at[0]];
      at[2] %= scatter->x[2];
      result.push_back(flat_index(scatter->x, at));
    }
  }
  if (const auto* recurrent = std::get_if<op::Recurrent>(&layer);
      recurrent != nullptr && recurrent->initial_state && output == 0 && !result.empty()) {
    // After many steps, results do not show whether the initial state was read.
    const TensorShape &y = all.outputs[0].shape, &state = all.outputs[1].shape;
    const std::size_t ways = recurrent->batch_first ? 1 : 0;  // axis of directions in the states, of steps in y
    for (const auto place : sample_indices(element_count(state), samples)) {
      const TensorShape in_state = coordinates(state, place);
      const bool from_end = recurrent->reverse || in_state[ways] == 1;
      TensorShape at;
      for (std::size_t axis = 0; axis < state.size(); ++axis) {
        if (axis == ways) at.push_back(from_end ? recurrent->x[0] - 1 : 0);
        at.push_back(in_state[axis]);
      }
      result.push_back(flat_index(y, at));
    }
  }
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

}  // namespace benanza::reference
