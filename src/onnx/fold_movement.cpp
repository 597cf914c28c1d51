// SPDX-License-Identifier: Apache-2.0
// The part of the folding table that moves, makes and reduces elements.
#include "fold.hpp"
#include <benanza/error.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

namespace benanza::importer {
namespace {

using Ints = std::vector<std::int64_t>;
using Indices = std::vector<std::size_t>;

FoldResult one(Tensor tensor) { return std::vector{std::move(tensor)}; }

/// The elements `indices` of `x`, with shape `dims`.
Tensor taken(const Tensor& x, Ints dims, const Indices& indices) {
  Tensor result{.type = x.type, .dims = std::move(dims), .data = {}};
  for (const auto i : indices) {
    if (x.floating()) result.data.floats.push_back(x.data.floats.at(i));
    else result.data.ints.push_back(x.data.ints.at(i));
  }
  return result;
}

Indices strides_of(const Ints& dims) {
  Indices strides(dims.size(), 1);
  for (std::size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * to_size(dims[i]);
  return strides;
}

/// Calls `visit` with the coordinates of each element of `dims`, row-major.
template <class Visit>
void for_each_element(const Ints& dims, Visit&& visit) {
  if (element_count(dims) == 0) return;
  Indices at(dims.size(), 0);
  for (;;) {
    visit(at);
    std::size_t i = dims.size();
    while (i > 0 && ++at[i - 1] == to_size(dims[i - 1])) at[--i] = 0;
    if (i == 0) return;
  }
}

/// A tensor of shape `dims` whose elements are those of `x` at the positions given by `source`.
template <class Source>
FoldResult moved(const Tensor& x, const Ints& dims, Source&& source) {
  if (!small_enough(dims)) return std::nullopt;
  Indices indices;
  for_each_element(dims, [&](const Indices& at) { indices.push_back(source(at)); });
  return one(taken(x, dims, indices));
}

FoldResult reshaped(const Tensor& x, Ints dims) {
  Tensor result = x;
  result.dims = std::move(dims);
  return one(std::move(result));
}

std::size_t normal_index(std::int64_t index, std::int64_t size) {
  if (index < -size || index >= size)
    throw InputError("index " + std::to_string(index) + " into an axis of " + std::to_string(size));
  return to_size(index < 0 ? index + size : index);
}

std::int64_t whole_number(const Tensor& x, std::size_t i) {
  if (i >= x.data.ints.size()) throw InputError("it holds no whole numbers, expected indices");
  return x.data.ints[i];
}

FoldResult gather(const FoldArguments& a) {
  const Tensor &x = a.in(0), &indices = a.in(1);
  const std::size_t axis = normal_axis(a.node.attribute<std::int64_t>("axis", 0), x.dims.size());
  Ints dims(x.dims.begin(), x.dims.begin() + static_cast<std::ptrdiff_t>(axis));
  dims.insert(dims.end(), indices.dims.begin(), indices.dims.end());
  dims.insert(dims.end(), x.dims.begin() + static_cast<std::ptrdiff_t>(axis) + 1, x.dims.end());
  const Indices strides = strides_of(x.dims), index_strides = strides_of(indices.dims);
  const std::size_t index_rank = indices.dims.size();
  return moved(x, dims, [&](const Indices& at) {
    std::size_t source = 0, which = 0;
    for (std::size_t i = 0; i < axis; ++i) source += at[i] * strides[i];
    for (std::size_t i = 0; i < index_rank; ++i) which += at[axis + i] * index_strides[i];
    for (std::size_t i = axis + 1; i < x.dims.size(); ++i) source += at[i + index_rank - 1] * strides[i];
    return source + normal_index(whole_number(indices, which), x.dims[axis]) * strides[axis];
  });
}

FoldResult gather_elements(const FoldArguments& a) {
  const Tensor &x = a.in(0), &indices = a.in(1);
  const std::size_t axis = normal_axis(a.node.attribute<std::int64_t>("axis", 0), x.dims.size());
  if (x.dims.size() != indices.dims.size()) throw InputError("data and indices differ in rank");
  const Indices strides = strides_of(x.dims), index_strides = strides_of(indices.dims);
  return moved(x, indices.dims, [&](const Indices& at) {
    std::size_t source = 0, which = 0;
    for (std::size_t i = 0; i < at.size(); ++i) {
      which += at[i] * index_strides[i];
      if (i != axis) source += at[i] * strides[i];
    }
    return source + normal_index(whole_number(indices, which), x.dims[axis]) * strides[axis];
  });
}

FoldResult concat(const FoldArguments& a) {
  Ints dims = a.in(0).dims;
  const std::size_t axis = normal_axis(a.node.attribute<std::int64_t>("axis", 1), dims.size());
  dims[axis] = 0;
  for (std::size_t i = 0; i < a.inputs.size(); ++i) {
    const Ints& part = a.in(i).dims;
    if (part.size() != dims.size() || a.in(i).type != a.in(0).type) throw InputError("inputs differ in rank or type");
    for (std::size_t k = 0; k < dims.size(); ++k)
      if (k != axis && part[k] != dims[k])
        throw InputError("input " + std::to_string(i) + " has " + std::to_string(part[k]) + " on axis " +
                         std::to_string(k) + ", expected " + std::to_string(dims[k]));
    dims[axis] += part[axis];
  }
  if (!small_enough(dims)) return std::nullopt;
  Tensor result{.type = a.in(0).type, .dims = dims, .data = {}};
  const std::size_t outer = to_size(element_count(std::span(dims).first(axis)));
  for (std::size_t o = 0; o < outer; ++o)
    for (const Tensor* part : a.inputs) {
      const std::size_t chunk = part->size() / outer;
      for (std::size_t i = o * chunk; i < (o + 1) * chunk; ++i) {
        if (result.floating()) result.data.floats.push_back(part->data.floats[i]);
        else result.data.ints.push_back(part->data.ints.at(i));
      }
    }
  return one(std::move(result));
}

FoldResult unsqueeze(const FoldArguments& a) {
  const auto axes = ints_of(a, 1, "axes");
  if (!axes) throw InputError("no axes given");
  const std::size_t rank = a.in(0).dims.size() + axes->size();
  std::vector<bool> added(rank, false);
  for (const auto axis : *axes) added[normal_axis(axis, rank)] = true;
  if (to_size(std::count(added.begin(), added.end(), true)) != axes->size()) throw InputError("the same axis twice");
  Ints dims;
  std::size_t next = 0;
  for (std::size_t i = 0; i < rank; ++i) dims.push_back(added[i] ? 1 : a.in(0).dims[next++]);
  return reshaped(a.in(0), dims);
}

FoldResult squeeze(const FoldArguments& a) {
  const Tensor& x = a.in(0);
  const auto axes = ints_of(a, 1, "axes");
  std::vector<bool> dropped(x.dims.size(), false);
  for (std::size_t i = 0; i < x.dims.size(); ++i) dropped[i] = !axes && x.dims[i] == 1;
  if (axes)
    for (const auto axis : *axes) {
      const std::size_t i = normal_axis(axis, x.dims.size());
      if (x.dims[i] != 1)
        throw InputError("axis " + std::to_string(i) + " has " + std::to_string(x.dims[i]) + " elements, expected 1");
      dropped[i] = true;
    }
  Ints dims;
  for (std::size_t i = 0; i < x.dims.size(); ++i)
    if (!dropped[i]) dims.push_back(x.dims[i]);
  return reshaped(x, dims);
}

// Reshape's own rule has already been applied to the node's output. Only the elements are missing (build.cpp).
FoldResult flatten(const FoldArguments& a) {
  const Tensor& x = a.in(0);
  std::int64_t axis = a.node.attribute<std::int64_t>("axis", 1);
  const auto rank = static_cast<std::int64_t>(x.dims.size());
  if (axis < -rank || axis > rank)
    throw InputError("axis " + std::to_string(axis) + " of a tensor of rank " + std::to_string(rank));
  if (axis < 0) axis += rank;
  const std::int64_t rows = element_count(std::span(x.dims).first(to_size(axis)));
  return reshaped(x, {rows, element_count(std::span(x.dims).subspan(to_size(axis)))});
}

FoldResult slice(const FoldArguments& a) {
  const Tensor& x = a.in(0);
  const auto starts = ints_of(a, 1, "starts"), ends = ints_of(a, 2, "ends"),
             steps = a.has(4) ? ints_of(a, 4, "") : std::nullopt;
  const auto axes = ints_of(a, 3, "axes");
  if (!starts || !ends) throw InputError("starts or ends are missing");
  const auto [dims, first, step] = slice_bounds(x.dims, *starts, *ends, axes, steps);
  const Indices strides = strides_of(x.dims);
  return moved(x, dims, [&, &first = first, &step = step](const Indices& at) {
    std::size_t source = 0;
    for (std::size_t i = 0; i < at.size(); ++i)
      source += to_size(first[i] + static_cast<std::int64_t>(at[i]) * step[i]) * strides[i];
    return source;
  });
}

FoldResult transpose(const FoldArguments& a) {
  const Tensor& x = a.in(0);
  Ints order(x.dims.size());
  std::iota(order.rbegin(), order.rend(), 0);
  order = a.node.attribute<Ints>("perm", order);
  if (order.size() != x.dims.size())
    throw InputError("perm has " + std::to_string(order.size()) + " axes, expected " + std::to_string(x.dims.size()));
  const Indices strides = strides_of(x.dims);
  Ints dims;
  for (const auto axis : order) dims.push_back(x.dims[normal_axis(axis, x.dims.size())]);
  return moved(x, dims, [&](const Indices& at) {
    std::size_t source = 0;
    for (std::size_t i = 0; i < at.size(); ++i) source += at[i] * strides[normal_axis(order[i], x.dims.size())];
    return source;
  });
}

/// Expand and Tile differ only in the output's size: the source is at the coordinates modulo the input's size.
FoldResult repeated(const Tensor& x, const Ints& dims) {
  const std::size_t lead = dims.size() - x.dims.size();
  const Indices strides = strides_of(x.dims);
  return moved(x, dims, [&](const Indices& at) {
    std::size_t source = 0;
    for (std::size_t i = 0; i < x.dims.size(); ++i) source += at[lead + i] % to_size(x.dims[i]) * strides[i];
    return source;
  });
}

FoldResult expand(const FoldArguments& a) {
  const Ints &own = a.in(0).dims, &target = a.in(1).data.ints;
  Ints dims(std::max(own.size(), target.size()), 1);
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const std::int64_t da = i < own.size() ? own[own.size() - 1 - i] : 1,
                       db = i < target.size() ? target[target.size() - 1 - i] : 1;
    if (da != db && da != 1 && db != 1)
      throw InputError("cannot expand a dimension of " + std::to_string(da) + " to " + std::to_string(db));
    dims[dims.size() - 1 - i] = da == 1 ? db : da;
  }
  return repeated(a.in(0), dims);
}

FoldResult tile(const FoldArguments& a) {
  Ints dims = a.in(0).dims;
  const Ints& repeats = a.in(1).data.ints;
  if (repeats.size() != dims.size()) return std::nullopt;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (repeats[i] < 0 || repeats[i] > folded_elements || dims[i] > folded_elements) return std::nullopt;
    dims[i] *= repeats[i];
  }
  return repeated(a.in(0), dims);
}

FoldResult split(const FoldArguments& a) {
  const Tensor& x = a.in(0);
  const std::size_t axis = normal_axis(a.node.attribute<std::int64_t>("axis", 0), x.dims.size());
  const auto count = static_cast<std::int64_t>(a.node.outputs.size());
  Ints sizes = ints_of(a, 1, "split").value_or(Ints{});
  if (sizes.empty() && count > 0) {
    const std::int64_t chunk = (x.dims[axis] + count - 1) / count;
    for (std::int64_t i = 0; i < count; ++i)
      sizes.push_back(std::max<std::int64_t>(0, std::min(chunk, x.dims[axis] - i * chunk)));
  }
  std::int64_t total = 0;
  for (const auto size : sizes) {
    if (size < 0 || size > x.dims[axis]) return std::nullopt;
    total += size;
  }
  if (total != x.dims[axis] || to_size(count) != sizes.size())
    throw InputError("the parts hold " + std::to_string(total) + " elements of axis " + std::to_string(axis) +
                     ", expected " + std::to_string(x.dims[axis]));
  const Indices strides = strides_of(x.dims);
  std::vector<Tensor> parts;
  std::size_t start = 0;
  for (const auto size : sizes) {
    Ints dims = x.dims;
    dims[axis] = size;
    auto part = moved(x, dims, [&](const Indices& at) {
      std::size_t source = start * strides[axis];
      for (std::size_t i = 0; i < at.size(); ++i) source += at[i] * strides[i];
      return source;
    });
    if (!part) return std::nullopt;
    parts.push_back(std::move(part->front()));
    start += to_size(size);
  }
  return parts;
}

FoldResult range(const FoldArguments& a) {
  const Tensor &start = a.in(0), &limit = a.in(1), &delta = a.in(2);
  if (start.size() != 1 || limit.size() != 1 || delta.size() != 1)
    throw InputError("start, limit and delta must be scalars");
  if (limit.type != start.type || delta.type != start.type)
    throw InputError("start, limit and delta must have one type");
  Tensor result{.type = start.type, .dims = {}, .data = {}};
  if (start.floating()) {
    const double s = start.data.floats[0], d = delta.data.floats[0], n = std::ceil((limit.data.floats[0] - s) / d);
    if (!(n <= static_cast<double>(folded_elements))) return std::nullopt;
    for (double i = 0; i < n; ++i) result.data.floats.push_back(s + i * d);
  } else {
    const std::int64_t s = whole_number(start, 0), e = whole_number(limit, 0), d = whole_number(delta, 0);
    std::int64_t distance = 0;
    if (d == 0) throw InputError("a step of 0");
    if (__builtin_sub_overflow(e, s, &distance)) return std::nullopt;
    const std::int64_t n =
        d > 0 ? (distance <= 0 ? 0 : (distance - 1) / d + 1) : (distance >= 0 ? 0 : (distance + 1) / d + 1);
    if (n > folded_elements) return std::nullopt;
    for (std::int64_t i = 0; i < n; ++i) result.data.ints.push_back(s + i * d);
  }
  result.dims = {static_cast<std::int64_t>(result.size())};
  return one(std::move(result));
}

FoldResult constant_of_shape(const FoldArguments& a) {
  const Ints& dims = a.in(0).data.ints;
  const Tensor zero{.type = DataType::f32, .dims = {1}, .data = {.ints = {}, .floats = {0.0}}};
  const Tensor& value = a.value ? *a.value : zero;
  // A float tensor is a weight, not a shape: it stays a constant without numbers.
  if (value.size() != 1 || !small_enough(dims) || (value.floating() && element_count(dims) > 64)) return std::nullopt;
  return one(taken(value, dims, Indices(to_size(element_count(dims)), 0)));
}

FoldResult cum_sum(const FoldArguments& a) {
  Tensor x = a.in(0);
  if (x.floating() || a.in(1).data.ints.size() != 1) return std::nullopt;
  const std::size_t axis = normal_axis(a.in(1).data.ints[0], x.dims.size());
  const bool exclusive = a.node.attribute<std::int64_t>("exclusive", 0) != 0,
             reverse = a.node.attribute<std::int64_t>("reverse", 0) != 0;
  const Indices strides = strides_of(x.dims);
  const std::size_t length = to_size(x.dims[axis]);
  for_each_element(a.in(0).dims, [&](const Indices& at) {
    if (at[axis] != 0) return;
    std::size_t base = 0;
    for (std::size_t i = 0; i < at.size(); ++i) base += at[i] * strides[i];
    std::uint64_t sum = 0;
    for (std::size_t k = 0; k < length; ++k) {
      auto& element = x.data.ints[base + (reverse ? length - 1 - k : k) * strides[axis]];
      const auto own = static_cast<std::uint64_t>(element);
      if (!exclusive) sum += own;
      element = static_cast<std::int64_t>(sum);
      if (exclusive) sum += own;
    }
  });
  return one(std::move(x));
}

FoldResult non_zero(const FoldArguments& a) {
  const Tensor& x = a.in(0);
  std::vector<Indices> found;
  std::size_t flat = 0;
  for_each_element(x.dims, [&](const Indices& at) {
    if (x.floating() ? x.data.floats[flat] != 0 : x.data.ints[flat] != 0) found.push_back(at);
    ++flat;
  });
  Tensor result{.type = DataType::i64,
                .dims = {static_cast<std::int64_t>(x.dims.size()), static_cast<std::int64_t>(found.size())},
                .data = {}};
  for (std::size_t i = 0; i < x.dims.size(); ++i)
    for (const auto& at : found) result.data.ints.push_back(static_cast<std::int64_t>(at[i]));
  return one(std::move(result));
}

using Combine = std::int64_t (*)(std::int64_t, std::int64_t);

template <Combine combine>
FoldResult reduce(const FoldArguments& a) {
  const Tensor& x = a.in(0);
  if (x.floating()) return std::nullopt;
  const auto axes = ints_of(a, 1, "axes");
  const bool keep = a.node.attribute<std::int64_t>("keepdims", 1) != 0;
  const bool none = (!axes || axes->empty()) && a.node.attribute<std::int64_t>("noop_with_empty_axes", 0) != 0;
  std::vector<bool> reduced(x.dims.size(), !none && (!axes || axes->empty()));
  if (axes)
    for (const auto axis : *axes) reduced[normal_axis(axis, x.dims.size())] = true;
  Ints kept_dims = x.dims, dims;
  for (std::size_t i = 0; i < x.dims.size(); ++i) {
    if (reduced[i]) kept_dims[i] = 1;
    if (!reduced[i] || keep) dims.push_back(kept_dims[i]);
  }
  if (element_count(x.dims) == 0 || !small_enough(dims)) return std::nullopt;
  Tensor result{.type = x.type, .dims = dims, .data = {}};
  std::vector<bool> seen(to_size(element_count(kept_dims)), false);
  result.data.ints.resize(seen.size());
  const Indices strides = strides_of(kept_dims);
  std::size_t flat = 0;
  for_each_element(x.dims, [&](const Indices& at) {
    std::size_t target = 0;
    for (std::size_t i = 0; i < at.size(); ++i)
      if (!reduced[i]) target += at[i] * strides[i];
    const std::int64_t v = x.data.ints[flat++];
    result.data.ints[target] = seen[target] ? combine(result.data.ints[target], v) : v;
    seen[target] = true;
  });
  return one(std::move(result));
}

FoldResult scatter_nd(const FoldArguments& a) {
  Tensor x = a.in(0);
  const Tensor &indices = a.in(1), &updates = a.in(2);
  if (x.floating() || a.node.attribute<std::string>("reduction", "none") != "none" || indices.dims.empty())
    return std::nullopt;
  const std::size_t depth = to_size(indices.dims.back());
  if (depth == 0 || depth > x.dims.size()) return std::nullopt;
  const Indices strides = strides_of(x.dims);
  const std::size_t chunk = to_size(element_count(std::span(x.dims).subspan(depth)));
  const std::size_t count = indices.size() / depth;
  if (updates.size() != count * chunk)
    throw InputError("updates hold " + std::to_string(updates.size()) + " elements, expected " +
                     std::to_string(count * chunk));
  for (std::size_t k = 0; k < count; ++k) {
    std::size_t base = 0;
    for (std::size_t i = 0; i < depth; ++i)
      base += normal_index(whole_number(indices, k * depth + i), x.dims[i]) * strides[i];
    for (std::size_t i = 0; i < chunk; ++i) x.data.ints[base + i] = whole_number(updates, k * chunk + i);
  }
  return one(std::move(x));
}

/// Two shapes that are broadcast to a common one: the axes over which the gradient of each is summed.
FoldResult broadcast_gradient_args(const FoldArguments& a) {
  const Ints &x = a.in(0).data.ints, &y = a.in(1).data.ints;
  const std::size_t rank = std::max(x.size(), y.size());
  const auto axes = [&](const Ints& own, const Ints& other) {
    const std::size_t behind = rank - own.size();  // axes that only the other shape has
    Ints found;
    for (std::size_t i = 0; i < rank; ++i) {
      const std::int64_t size = i < rank - other.size() ? 1 : other[i + other.size() - rank];
      if (i < behind || (own[i - behind] == 1 && size != 1)) found.push_back(static_cast<std::int64_t>(i));
    }
    const auto count = static_cast<std::int64_t>(found.size());
    return Tensor{.type = DataType::i64, .dims = {count}, .data = {.ints = std::move(found), .floats = {}}};
  };
  return std::vector{axes(x, y), axes(y, x)};
}

std::int64_t wrapping(std::uint64_t v) { return static_cast<std::int64_t>(v); }

constexpr FoldEntry movement_table[] = {
    {"Concat", concat},
    {"ConstantOfShape", constant_of_shape},
    {"CumSum", cum_sum},
    {"Expand", expand},
    {"Flatten", flatten},
    {"Gather", gather},
    {"GatherElements", gather_elements},
    {"NonZero", non_zero},
    {"Range", range},
    {"ReduceMax", reduce<[](std::int64_t x, std::int64_t y) { return std::max(x, y); }>},
    {"ReduceMin", reduce<[](std::int64_t x, std::int64_t y) { return std::min(x, y); }>},
    {"ReduceProd", reduce<[](std::int64_t x, std::int64_t y) {
       return wrapping(static_cast<std::uint64_t>(x) * static_cast<std::uint64_t>(y));
     }>},
    {"ReduceSum", reduce<[](std::int64_t x, std::int64_t y) {
       return wrapping(static_cast<std::uint64_t>(x) + static_cast<std::uint64_t>(y));
     }>},
    {"ScatterND", scatter_nd},
    {"Slice", slice},
    {"Split", split},
    {"Squeeze", squeeze},
    {"Tile", tile},
    {"Transpose", transpose},
    {"Unsqueeze", unsqueeze},
    {"com.microsoft.BroadcastGradientArgs", broadcast_gradient_args},
};

}  // namespace

SliceBounds slice_bounds(const Ints& x, const Ints& starts, const Ints& ends, std::optional<Ints> axes,
                         const std::optional<Ints>& steps) {
  if (starts.size() != ends.size()) throw InputError("starts and ends differ in length");
  if (!axes) {
    axes.emplace(starts.size());
    std::iota(axes->begin(), axes->end(), 0);
  }
  if (axes->size() != starts.size() || (steps && steps->size() != starts.size()))
    throw InputError("starts, axes and steps differ in length");
  SliceBounds result{x, Ints(x.size(), 0), Ints(x.size(), 1)};
  for (std::size_t k = 0; k < axes->size(); ++k) {
    const std::size_t i = normal_axis((*axes)[k], x.size());
    const std::int64_t size = x[i], step = steps ? (*steps)[k] : 1;
    if (step == 0) throw InputError("a step of 0");
    const auto clamp = [&](std::int64_t v, std::int64_t least) {
      if (v < 0) v += size;
      return std::max(least, std::min(v, step > 0 ? size : size - 1));
    };
    const std::int64_t begin = clamp(starts[k], 0), end = clamp(ends[k], step > 0 ? 0 : -1);
    const std::int64_t span = step > 0 ? end - begin : begin - end;
    const std::int64_t stride =
        step == std::numeric_limits<std::int64_t>::min() ? std::numeric_limits<std::int64_t>::max() : std::abs(step);
    result.first[i] = begin;
    result.step[i] = step;
    result.dims[i] = span <= 0 || size == 0 ? 0 : (span - 1) / stride + 1;
  }
  return result;
}

std::span<const FoldEntry> movement_folds() { return movement_table; }

}  // namespace benanza::importer
