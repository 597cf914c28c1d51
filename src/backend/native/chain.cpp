// SPDX-License-Identifier: Apache-2.0
#include "chain.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace benanza::native {

namespace {

constexpr Index block_elements = 1024;  // with operands, two intermediates and the result well within 32 KiB
constexpr Index shortest_row = 32;      // if shorter, kernel calls per row cost more than expanding operands
constexpr std::size_t buffer_bytes = block_elements * 8;

/// Strides of a tensor that broadcasts to y.
TensorShape broadcast_strides(const TensorShape& shape, const TensorShape& y) {
  TensorShape strides = TensorShape::filled(y.size(), 0);
  Index stride = 1;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const std::size_t from = shape.size() - 1 - i, to = y.size() - 1 - i;
    strides[to] = shape[from] == 1 && y[to] != 1 ? 0 : stride;
    stride *= shape[from];
  }
  return strides;
}

TensorShape row_major(const TensorShape& dims) { return broadcast_strides(dims, dims); }

/// The offset of the first element of row number `row` of folded dimensions.
Index row_offset(const TensorShape& dims, const TensorShape& strides, Index row) {
  Index offset = 0;
  for (std::size_t i = dims.size() - 1; i-- > 0;) {
    offset += row % dims[i] * strides[i];
    row /= dims[i];
  }
  return offset;
}

template <class T>
void expand_row(const std::byte* from, Index stride, Index n, std::byte* to) {
  const auto* x = reinterpret_cast<const T*>(from);
  auto* y = reinterpret_cast<T*>(to);
  if (stride == 0) std::fill_n(y, n, *x);
  else std::copy_n(x, n, y);
}

bool is_half(DataType type) { return type == DataType::f16 || type == DataType::bf16; }

}  // namespace

Chain::Chain(const Kernels& kernels, DataType type, const TensorShape& y) : kernels_(kernels), type_(type), y_(y) {}

std::size_t Chain::add_input(std::size_t argument, DataType type, const TensorShape& shape) {
  inputs_.push_back({.argument = argument, .type = type, .strides = broadcast_strides(shape, y_)});
  return inputs_.size() - 1;
}
std::size_t Chain::add_parameter(std::size_t parameter, const TensorShape& shape) {
  const std::size_t i = add_input(parameter, DataType::f32, shape);
  inputs_[i].parameter = true;
  return i;
}

bool Chain::add_unary(ElementwiseFn fn, double alpha, double beta) {
  const auto type = arithmetic(type_);
  if (!type) return false;
  const UnaryKernel kernel = kernels_.unary[static_cast<std::size_t>(*type)][static_cast<std::size_t>(fn)];
  if (kernel == nullptr) return false;
  if (is_predicate(fn)) type_ = DataType::boolean;
  steps_.push_back(
      {.fn = fn, .type = *type, .alpha = static_cast<float>(alpha), .beta = static_cast<float>(beta), .unary = kernel});
  return true;
}
bool Chain::add_binary(ElementwiseFn fn, std::size_t operand, bool swapped) {
  const auto type = arithmetic(type_);
  if (!type || arithmetic(inputs_[operand].type) != type) return false;
  if (kernels_.binary[static_cast<std::size_t>(*type)][0][static_cast<std::size_t>(fn)] == nullptr) return false;
  if (is_predicate(fn)) type_ = DataType::boolean;
  steps_.push_back({.kind = Kind::binary, .fn = fn, .type = *type, .operand = operand, .swapped = swapped});
  return true;
}
bool Chain::add_scale(float factor) {
  if (arithmetic(type_) != Arithmetic::f32) return false;
  steps_.push_back({.kind = Kind::scale, .alpha = factor});
  return true;
}
void Chain::add_affine(std::size_t scale, std::size_t shift) {
  steps_.push_back({.kind = Kind::affine, .operand = scale, .second = shift});
}
bool Chain::set_where(std::size_t yes, std::size_t no, DataType type) {
  const auto size = size_class(bytes_of(type));
  if (!size || *size > 3) return false;
  type_ = type;
  steps_.push_back({.kind = Kind::where, .operand = yes, .second = no});
  return true;
}

bool Chain::add_epilogue(const Epilogue& post, std::size_t argument, std::size_t channel_axis) {
  for (const auto& op : post) {
    if (!is_binary(op.fn)) {
      if (!add_unary(op.fn, op.alpha, op.beta)) return false;
      continue;
    }
    TensorShape shape = op.shape.empty() ? y_ : op.shape;
    if (op.channel) {
      shape = TensorShape::filled(y_.size(), 1);
      shape[channel_axis] = y_[channel_axis];
    }
    if (!add_binary(op.fn, add_input(argument++, type_, shape), op.swapped)) return false;
  }
  return true;
}

void Chain::finish() {
  // An activation after an addition or a batch normalisation costs nothing in the same loop.
  for (std::size_t s = 0; s + 1 < steps_.size(); ++s) {
    const Step& next = steps_[s + 1];
    if (next.kind != Kind::unary || next.fn != ElementwiseFn::relu || next.type != Arithmetic::f32) continue;
    if (steps_[s].kind == Kind::binary && steps_[s].fn == ElementwiseFn::add) steps_[s].kind = Kind::add_relu;
    else if (steps_[s].kind == Kind::affine) steps_[s].then_relu = true;
    else continue;
    steps_.erase(steps_.begin() + static_cast<std::ptrdiff_t>(s) + 1);
  }
  // Drop dimensions of 1, then merge adjacent dimensions whose strides are contiguous in every input.
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < y_.size(); ++i)
    if (y_[i] != 1) kept.push_back(i);
  std::vector<TensorShape> strides(inputs_.size());
  for (const std::size_t i : kept) {
    bool merges = !dims_.empty();
    for (std::size_t k = 0; k < inputs_.size() && merges; ++k)
      merges = strides[k].back() == inputs_[k].strides[i] * y_[i];
    if (merges) {
      dims_[dims_.size() - 1] *= y_[i];
      for (std::size_t k = 0; k < inputs_.size(); ++k) strides[k][dims_.size() - 1] = inputs_[k].strides[i];
    } else {
      dims_.push_back(y_[i]);
      for (std::size_t k = 0; k < inputs_.size(); ++k) strides[k].push_back(inputs_[k].strides[i]);
    }
  }
  if (dims_.empty()) {
    dims_.push_back(1);
    for (auto& s : strides) s.push_back(1);
  }
  bool half = is_half(type_);
  for (std::size_t k = 0; k < inputs_.size(); ++k) {
    inputs_[k].strides = strides[k];
    inputs_[k].flat = strides[k] == row_major(dims_);
    half |= is_half(inputs_[k].type) && steps_[0].kind != Kind::where;
  }
  by_rows_ = dims_.size() == 1 || dims_.back() >= shortest_row;
  direct_ = steps_.size() == 1 && !half && by_rows_;
}

std::vector<std::size_t> Chain::overwritable() const {
  for (const Step& step : steps_)  // these kernels read their operand again after writing the result
    if (step.kind == Kind::unary && (step.fn == ElementwiseFn::sin || step.fn == ElementwiseFn::cos)) return {};
  std::vector<std::size_t> arguments;
  for (const Input& input : inputs_)
    if (!input.parameter && input.flat && bytes_of(input.type) == bytes_of(type_)) arguments.push_back(input.argument);
  return arguments;
}

// Scratch: views and cursors, then the expanded and the widened block of each input, then two intermediates and the
// result.
std::size_t Chain::scratch_bytes() const {
  return (inputs_.size() * 32 + 63) / 64 * 64 + (2 * inputs_.size() + 3) * buffer_bytes;
}
std::byte* Chain::buffer(std::byte* scratch, std::size_t i) const {
  return scratch + (inputs_.size() * 32 + 63) / 64 * 64 + i * buffer_bytes;
}

const std::byte* Chain::base(const Input& input, const Arguments& arguments,
                             std::span<const float* const> parameters) const {
  return static_cast<const std::byte*>(input.parameter ? static_cast<const void*>(parameters[input.argument])
                                                       : arguments.inputs[input.argument]);
}

void Chain::expand(std::size_t input, const std::byte* base, Index begin, Index n, std::byte* to) const {
  const auto& strides = inputs_[input].strides;
  const std::size_t size = bytes_of(inputs_[input].type);
  const Index length = dims_.back(), stride = strides.back();
  Index row = begin / length, column = begin % length;
  while (n > 0) {
    const Index some = std::min(n, length - column);
    const std::byte* from = base + static_cast<std::size_t>(row_offset(dims_, strides, row) + column * stride) * size;
    switch (size) {
      case 1: expand_row<std::uint8_t>(from, stride, some, to); break;
      case 2: expand_row<std::uint16_t>(from, stride, some, to); break;
      case 4: expand_row<std::uint32_t>(from, stride, some, to); break;
      default: expand_row<std::uint64_t>(from, stride, some, to); break;
    }
    to += static_cast<std::size_t>(some) * size;
    n -= some;
    column = 0;
    ++row;
  }
}

void Chain::run(const Arguments& arguments, std::span<const float* const> parameters, Index begin, Index end,
                bool stream, std::byte* scratch) const {
  auto* y = output<std::byte>(arguments);
  const std::span views(reinterpret_cast<View*>(scratch), inputs_.size());
  const std::span cursors(reinterpret_cast<Cursor*>(scratch + inputs_.size() * sizeof(View)), inputs_.size());
  for (std::size_t k = 0; k < inputs_.size(); ++k)
    cursors[k] = {base(inputs_[k], arguments, parameters), static_cast<Index>(bytes_of(inputs_[k].type))};
  if (by_rows_) {
    run_rows(cursors, views, y, begin, end, stream, scratch);
  } else {
    const auto y_bytes = static_cast<Index>(bytes_of(type_));
    for (Index at = begin; at < end; at += block_elements) {
      const Index n = std::min(block_elements, end - at);
      for (std::size_t k = 0; k < inputs_.size(); ++k) {
        if (inputs_[k].flat) {
          views[k] = {cursors[k].row + at * cursors[k].bytes, 1};
        } else {
          expand(k, cursors[k].row, at, n, buffer(scratch, k));
          views[k] = {buffer(scratch, k), 1};
        }
      }
      block(views, n, y + at * y_bytes, stream, scratch);
    }
  }
  if (stream) kernels_.fence();
}

void Chain::run_rows(std::span<Cursor> cursors, std::span<View> views, std::byte* y, Index begin, Index end,
                     bool stream, std::byte* scratch) const {
  const auto y_bytes = static_cast<Index>(bytes_of(type_));
  const bool direct = direct_ && !stream;
  const Index length = dims_.back(), limit = direct ? length : block_elements;
  const std::size_t outer = dims_.size() - 1;
  std::array<Index, TensorShape::capacity> index{};
  Index row = begin / length, column = begin % length;
  for (std::size_t i = outer; i-- > 0;) {
    index[i] = row % dims_[i];
    row /= dims_[i];
    for (std::size_t k = 0; k < inputs_.size(); ++k)
      cursors[k].row += index[i] * inputs_[k].strides[i] * cursors[k].bytes;
  }
  for (Index at = begin; at < end;) {
    const Index n = std::min({limit, end - at, length - column});
    for (std::size_t k = 0; k < inputs_.size(); ++k) {
      const Index stride = inputs_[k].strides[outer];
      views[k] = {cursors[k].row + column * stride * cursors[k].bytes, stride};
    }
    if (direct) apply(steps_[0], views[0], views, y + at * y_bytes, n);
    else block(views, n, y + at * y_bytes, stream, scratch);
    at += n;
    column += n;
    if (column < length) continue;
    column = 0;
    for (std::size_t i = outer; i-- > 0;) {
      for (std::size_t k = 0; k < inputs_.size(); ++k) cursors[k].row += inputs_[k].strides[i] * cursors[k].bytes;
      if (++index[i] < dims_[i]) break;
      index[i] = 0;
      for (std::size_t k = 0; k < inputs_.size(); ++k)
        cursors[k].row -= dims_[i] * inputs_[k].strides[i] * cursors[k].bytes;
    }
  }
}

void Chain::block(std::span<View> views, Index n, std::byte* y, bool stream, std::byte* scratch) const {
  if (steps_[0].kind != Kind::where) {
    for (std::size_t k = 0; k < inputs_.size(); ++k) {
      if (!is_half(inputs_[k].type)) continue;
      std::byte* to = buffer(scratch, inputs_.size() + k);
      kernels_.to_f32[static_cast<std::size_t>(*stored(inputs_[k].type))](views[k].data, to,
                                                                          views[k].stride == 0 ? 1 : n);
      views[k].data = to;
    }
  }
  const bool narrows = is_half(type_) && steps_[0].kind != Kind::where;
  std::byte* result = stream ? buffer(scratch, 2 * inputs_.size() + 2) : y;
  View value = views[0];
  for (std::size_t s = 0; s < steps_.size(); ++s) {
    const bool last = s + 1 == steps_.size();
    std::byte* to = last && !narrows ? result : buffer(scratch, 2 * inputs_.size() + s % 2);
    apply(steps_[s], value, views, to, n);
    value = {to, 1};
  }
  if (narrows) kernels_.from_f32[static_cast<std::size_t>(*stored(type_))](value.data, result, n);
  if (stream) kernels_.stream(result, y, static_cast<std::size_t>(n) * bytes_of(type_));
}

void Chain::apply(const Step& step, View value, std::span<const View> views, void* y, Index n) const {
  switch (step.kind) {
    case Kind::unary: return step.unary(value.data, y, n, step.alpha, step.beta);
    case Kind::scale:
      return kernels_.binary[0][static_cast<std::size_t>(Form::scalar_b)][static_cast<std::size_t>(ElementwiseFn::mul)](
          value.data, &step.alpha, y, n);
    case Kind::binary:
    case Kind::add_relu: {
      View a = value, b = views[step.operand];
      if (step.swapped) std::swap(a, b);
      const Form form = a.stride == 0 && n > 1   ? Form::scalar_a
                        : b.stride == 0 && n > 1 ? Form::scalar_b
                                                 : Form::vectors;
      if (step.kind == Kind::add_relu) return kernels_.add_relu[static_cast<std::size_t>(form)](a.data, b.data, y, n);
      return kernels_.binary[static_cast<std::size_t>(step.type)][static_cast<std::size_t>(form)]
                            [static_cast<std::size_t>(step.fn)](a.data, b.data, y, n);
    }
    case Kind::affine: {
      const auto *scale = static_cast<const float*>(views[step.operand].data),
                 *shift = static_cast<const float*>(views[step.second].data);
      const auto* x = static_cast<const float*>(value.data);
      const std::size_t relu = step.then_relu ? 1 : 0;
      if (views[step.operand].stride == 0)
        return kernels_.affine_scalar[relu](x, *scale, *shift, static_cast<float*>(y), n);
      return kernels_.affine[relu](x, scale, shift, static_cast<float*>(y), n);
    }
    case Kind::where: {
      const auto size = *size_class(bytes_of(inputs_[step.operand].type));
      const View a = views[step.operand], b = views[step.second];
      if (value.stride != 0)
        return kernels_.where[size](static_cast<const std::uint8_t*>(value.data), a.data, a.stride, b.data, b.stride, y,
                                    n);
      const View taken = *static_cast<const std::uint8_t*>(value.data) != 0 ? a : b;
      if (taken.stride == 0) return kernels_.fill[size](taken.data, y, n);
      return kernels_.copy(taken.data, y, static_cast<std::size_t>(n) * bytes_of(inputs_[step.operand].type));
    }
  }
}

}  // namespace benanza::native
