// SPDX-License-Identifier: Apache-2.0
// Executes expressions, block by block.
#include "elementwise_expression.hpp"
#include "quantization_cast.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace benanza::native {

namespace {

TensorShape coordinates_in(const TensorShape& dims, Index flat) {
  TensorShape at = TensorShape::filled(dims.size(), 0);
  for (std::size_t i = dims.size(); i-- > 0;) {
    at[i] = flat % dims[i];
    flat /= dims[i];
  }
  return at;
}

template <class T>
void expand_run_of(const std::byte* from, Index stride, Index n, std::byte* to) {
  const auto* x = reinterpret_cast<const T*>(from);
  auto* y = reinterpret_cast<T*>(to);
  if (stride == 0) std::fill_n(y, n, *x);
  else std::copy_n(x, n, y);
}

}  // namespace

Fold ExpressionProgram::fold_of(op::ReduceFn fn) {
  switch (fn) {
    case op::ReduceFn::max: return Fold::max;
    case op::ReduceFn::min: return Fold::min;
    case op::ReduceFn::prod: return Fold::prod;
    case op::ReduceFn::l1: return Fold::l1;
    case op::ReduceFn::sum_square: return Fold::sum_square;
    default: return Fold::sum;
  }
}
double ExpressionProgram::neutral(Fold fold) {
  if (fold == Fold::max) return -std::numeric_limits<double>::infinity();
  if (fold == Fold::min) return std::numeric_limits<double>::infinity();
  return fold == Fold::prod ? 1 : 0;
}
double ExpressionProgram::combined(Fold fold, double a, double b) {
  if (fold == Fold::max) return b > a || std::isnan(b) ? b : a;
  if (fold == Fold::min) return b < a || std::isnan(b) ? b : a;
  return fold == Fold::prod ? a * b : a + b;
}

std::byte* ExpressionProgram::place(const Thread& thread, const Instruction& at, Index element) const {
  const std::size_t size = bytes(at.value);
  if (at.place == Place::kept)
    return thread.memory + at.index * kept_size() + static_cast<std::size_t>(element - thread.first) * size;
  if (at.place == Place::output)
    return output<std::byte>(thread.arguments, at.index) + static_cast<std::size_t>(thread.row * row_ + element) * size;
  return buffer(thread, at.index);
}

Index ExpressionProgram::offset(std::size_t input, const TensorShape& at) const {
  const TensorShape& strides = strides_[input];
  Index offset = 0;
  for (std::size_t i = 0; i < at.size(); ++i) offset += at[i] * strides[i];
  return offset;
}

/// Writes elements of an input, from element `at` of the row on, as blocks have them.
void ExpressionProgram::make_input(Thread& thread, std::size_t input, Index at, Index n, std::byte* to) const {
  const DataType type = op_.in[input].type;
  const std::size_t size = bytes_of(type);
  const auto* data = static_cast<const std::byte*>(thread.arguments.inputs[input]);
  const Index flat = thread.row * row_ + at;
  const std::byte* from = data + static_cast<std::size_t>(flat) * size;
  if (!is_flat(input)) {
    const Index length = op_.x.back(), stride = strides_[input].back();
    std::byte* expanded = is_half(type) ? buffer(thread, buffer_count_) : to;
    from = expanded;
    for (Index done = 0; done < n;) {
      const TensorShape where = coordinates_in(op_.x, flat + done);
      const Index some = std::min(n - done, length - where.back());
      const std::byte* run = data + static_cast<std::size_t>(offset(input, where)) * size;
      switch (size) {
        case 1: expand_run_of<std::uint8_t>(run, stride, some, expanded); break;
        case 2: expand_run_of<std::uint16_t>(run, stride, some, expanded); break;
        case 4: expand_run_of<std::uint32_t>(run, stride, some, expanded); break;
        default: expand_run_of<std::uint64_t>(run, stride, some, expanded); break;
      }
      expanded += static_cast<std::size_t>(some) * size;
      done += some;
    }
  }
  if (is_half(type)) kernels_.to_f32[static_cast<std::size_t>(*stored(type))](from, to, n);
}

void ExpressionProgram::convert(const void* from, DataType of, DataType to, Index n, void* result,
                                std::byte* spare) const {
  const DataType start = in_blocks(of), end = in_blocks(to);
  const auto rounds = is_half(to) && of != to;
  void* wide = result;
  if (start == end) {
    kernels_.copy(from, result, static_cast<std::size_t>(n) * bytes_of(end));
  } else {
    const Conversion steps = conversion(kernels_, *stored(start), *stored(end));
    if (steps.first != nullptr) {
      steps.first(from, spare, n);
      from = spare;
    }
    steps.second(from, wide, n);
  }
  if (!rounds) return;
  kernels_.from_f32[static_cast<std::size_t>(*stored(to))](wide, spare, n);
  kernels_.to_f32[static_cast<std::size_t>(*stored(to))](spare, result, n);
}

void ExpressionProgram::multiply_add(const Thread& thread, const Call& call, Index n, std::byte* to) const {
  View a = thread.views[call.of[0]], b = thread.views[call.of[1]];
  const View c = thread.views[call.of[2]];
  if (a.stride == 0) std::swap(a, b);
  const auto *p = static_cast<const float*>(a.data), *q = static_cast<const float*>(b.data),
             *r = static_cast<const float*>(c.data);
  auto* y = reinterpret_cast<float*>(to);
  if (a.stride != 0 || n == 1)
    return kernels_.product_sum[*call.product][b.stride == 0 && n > 1 ? 1 : 0][c.stride == 0 && n > 1 ? 1 : 0](p, q, r,
                                                                                                               y, n);
  const float product = *p * *q;
  const auto& table = kernels_.binary[static_cast<std::size_t>(Arithmetic::f32)];
  const auto fn = static_cast<std::size_t>(*call.product == 0 ? ElementwiseFn::add : ElementwiseFn::sub);
  if (*call.product == 2) return table[static_cast<std::size_t>(Form::scalar_b)][fn](r, &product, y, n);
  table[static_cast<std::size_t>(Form::scalar_a)][fn](&product, r, y, n);
}

/// Computes n elements of a step, or one if `n` is 1.
void ExpressionProgram::compute(Thread& thread, std::size_t value, Index n, std::byte* to) const {
  if (calls_[value].product) return multiply_add(thread, calls_[value], n, to);
  const ExpressionStep& at = step(value);
  const View &a = thread.views[at.of[0]], &b = thread.views[at.of[1]], &c = thread.views[at.of[2]];
  switch (at.kind) {
    case StepKind::choice: {
      const std::size_t size = *size_class(bytes(value));
      if (a.stride != 0)
        return kernels_.where[size](static_cast<const std::uint8_t*>(a.data), b.data, b.stride, c.data, c.stride, to,
                                    n);
      const View taken = *static_cast<const std::uint8_t*>(a.data) != 0 ? b : c;
      if (taken.stride == 0) return kernels_.fill[size](taken.data, to, n);
      return kernels_.copy(taken.data, to, static_cast<std::size_t>(n) * bytes(value));
    }
    case StepKind::conversion:
      return convert(a.data, values_[at.of[0]].type, at.to, n, to, buffer(thread, buffer_count_ + 1));
    case StepKind::reduction: return;
    case StepKind::function: break;
  }
  const auto type = static_cast<std::size_t>(*arithmetic(in_blocks(values_[at.of[0]].type)));
  const auto fn = static_cast<std::size_t>(at.fn);
  if (!is_binary(at.fn))
    return kernels_.unary[type][fn](a.data, to, n, static_cast<float>(at.alpha), static_cast<float>(at.beta));
  const Form form = a.stride == 0 && n > 1 ? Form::scalar_a : b.stride == 0 && n > 1 ? Form::scalar_b : Form::vectors;
  kernels_.binary[type][static_cast<std::size_t>(form)][fn](a.data, b.data, to, n);
}

/// The elements of a value one after another, in a spare buffer if they are only one number.
const void* ExpressionProgram::filled(Thread& thread, std::size_t value, Index n, std::size_t spare) const {
  const View view = thread.views[value];
  if (view.stride != 0 || n == 1) return view.data;
  std::byte* to = buffer(thread, spare);
  kernels_.fill[*size_class(bytes(value))](view.data, to, n);
  return to;
}

void ExpressionProgram::run_block(Thread& thread, const Pass& pass, Index at, Index n) const {
  const Index flat = thread.row * row_ + at;
  const TensorShape where = op_.x.size() > 1 ? coordinates_in(op_.x, flat) : TensorShape{flat};
  for (const auto input : pass.inputs) {
    const auto* data = static_cast<const std::byte*>(thread.arguments.inputs[input]);
    const bool is_whole = is_flat(input);
    thread.views[input] = {
        data + static_cast<std::size_t>(is_whole ? flat : offset(input, where)) * bytes_of(op_.in[input].type),
        is_whole ? 1 : strides_[input].back()};
  }
  for (const auto& earlier : pass.earlier) thread.views[earlier.value] = {place(thread, earlier, at), 1};
  for (const auto& made : pass.code) {
    std::byte* to = place(thread, made, at);
    if (is_input(made.value)) {
      make_input(thread, made.value, at, n, to);
      thread.views[made.value] = {to, 1};
      continue;
    }
    const ExpressionStep& at_step = step(made.value);
    const Call& call = calls_[made.value];
    bool is_one = made.place == Place::block, any_vector = false;  // all operands are one number
    for (std::size_t i = 0; i < call.operands; ++i) any_vector = any_vector || thread.views[call.of[i]].stride != 0;
    is_one = is_one && !any_vector;
    const View first = thread.views[call.of[0]];
    if (!is_one && !any_vector && at_step.kind != StepKind::choice)
      thread.views[call.of[0]] = {filled(thread, call.of[0], n, buffer_count_ + 2), 1};
    compute(thread, made.value, is_one ? 1 : n, to);
    thread.views[call.of[0]] = first;
    thread.views[made.value] = {to, is_one ? 0 : 1};
  }
  for (const auto value : pass.reductions) {
    const Call& call = calls_[value];
    const Fold fold = fold_of(step(value).reduce);
    const auto* x = static_cast<const float*>(filled(thread, call.of[0], n, buffer_count_));
    double total = 0;
    if (call.product && call.of[0] == call.of[1]) {
      total = kernels_.fold[static_cast<std::size_t>(Fold::sum_square)](x, n);
    } else if (call.product) {
      total =
          kernels_.sum_of_products(x, static_cast<const float*>(filled(thread, call.of[1], n, buffer_count_ + 1)), n);
    } else {
      total = kernels_.fold[static_cast<std::size_t>(fold)](x, n);
    }
    thread.totals[value] = combined(fold, thread.totals[value], total);
  }
  for (const auto number : pass.outputs) {
    const auto value = static_cast<std::size_t>(op_.out[number]);
    const DataType type = values_[value].type;
    const auto size = static_cast<std::size_t>(n) * bytes_of(type);
    auto* y = output<std::byte>(thread.arguments, number) + static_cast<std::size_t>(flat) * bytes_of(type);
    const void* x = filled(thread, value, n, buffer_count_);
    if (is_half(type)) {
      std::byte* narrow = stream_ ? buffer(thread, buffer_count_ + 1) : y;
      kernels_.from_f32[static_cast<std::size_t>(*stored(type))](x, narrow, n);
      x = narrow;
    }
    if (stream_) kernels_.stream(x, y, size);
    else if (x != y) kernels_.copy(x, y, size);
  }
}

void ExpressionProgram::run_part(Thread& thread, const Pass& pass, Index begin, Index end) const {
  const Index length = op_.x.back();
  for (Index at = begin; at < end;) {
    Index n = std::min(block_, end - at);
    if (by_runs_ && op_.x.size() > 1) n = std::min(n, length - (thread.row * row_ + at) % length);
    run_block(thread, pass, at, n);
    at += n;
  }
}

/// Reads what there is one of for each row, and computes what needs no pass.
void ExpressionProgram::begin_row(Thread& thread) const {
  const TensorShape where = coordinates_in(op_.x, thread.row * row_);
  for (std::size_t value = 0; value < values_.size(); ++value) {
    std::byte* slot = thread.slots + value * 8;
    if (values_[value].by_row) thread.views[value] = {slot, 0};
    if (is_input(value) && values_[value].by_row) {
      const DataType type = op_.in[value].type;
      const auto* from = static_cast<const std::byte*>(thread.arguments.inputs[value]) +
                         static_cast<std::size_t>(offset(value, where)) * bytes_of(type);
      if (is_half(type)) kernels_.to_f32[static_cast<std::size_t>(*stored(type))](from, slot, 1);
      else std::copy_n(from, bytes_of(type), slot);
    }
    if (!is_input(value) && step(value).kind == StepKind::reduction)
      thread.totals[value] = neutral(fold_of(step(value).reduce));
  }
  for (const auto value : first_by_row_) compute(thread, value, 1, thread.slots + value * 8);
}

void ExpressionProgram::finish_pass(Thread& thread, const Pass& pass) const {
  for (const auto value : pass.by_row) {
    std::byte* slot = thread.slots + value * 8;
    if (step(value).kind != StepKind::reduction) {
      compute(thread, value, 1, slot);
      continue;
    }
    const double total = thread.totals[value];
    *reinterpret_cast<float*>(slot) =
        static_cast<float>(step(value).reduce == op::ReduceFn::mean ? total / static_cast<double>(row_) : total);
  }
}

void ExpressionProgram::store_row(Thread& thread) const {
  for (std::size_t number = 0; number < op_.out.size(); ++number) {
    const auto value = static_cast<std::size_t>(op_.out[number]);
    if (!values_[value].by_row) continue;
    const DataType type = values_[value].type;
    auto* y = output<std::byte>(thread.arguments, number) + static_cast<std::size_t>(thread.row) * bytes_of(type);
    const std::byte* slot = thread.slots + value * 8;
    if (is_half(type)) kernels_.from_f32[static_cast<std::size_t>(*stored(type))](slot, y, 1);
    else std::copy_n(slot, bytes_of(type), y);
  }
}

void ExpressionProgram::run_rows(Thread& thread, Index begin, Index end) const {
  for (thread.row = begin; thread.row < end; ++thread.row) {
    begin_row(thread);
    for (const Pass& pass : passes_) {
      run_part(thread, pass, 0, row_);
      finish_pass(thread, pass);
    }
    store_row(thread);
  }
}

/// Each row is divided among the threads, which meet after each pass.
void ExpressionProgram::run_divided(const Arguments& arguments, const ThreadPool& pool, std::byte* memory) const {
  const std::size_t each = values_.size() * 8;
  auto* totals = reinterpret_cast<double*>(memory);
  std::byte* slots = memory + each * static_cast<std::size_t>(threads_ + 1);
  std::byte* own = memory + shared_bytes();
  const auto thread_of = [&](int number) {
    return Thread{.arguments = arguments,
                  .slots = slots,
                  .totals = totals + values_.size() * static_cast<std::size_t>(number),
                  .memory = own + rounded(scratch_bytes()) * static_cast<std::size_t>(number)};
  };
  for (Index row = 0; row < rows_; ++row) {
    for (int number = 0; number < threads_; ++number) {
      Thread thread = thread_of(number);
      thread.row = row;
      begin_row(thread);
    }
    for (const Pass& pass : passes_) {
      pool.parallel(threads_, [&](int number) {
        Thread thread = thread_of(number);
        const Range mine = share(row_, threads_, number, static_cast<Index>(line));
        thread.row = row;
        thread.first = mine.begin;
        for (std::size_t value = 0; value < values_.size(); ++value)
          if (values_[value].by_row) thread.views[value] = {slots + value * 8, 0};
        run_part(thread, pass, mine.begin, mine.end);
        if (stream_) kernels_.fence();
      });
      Thread main = thread_of(0);
      main.row = row;
      for (std::size_t value = 0; value < values_.size(); ++value)
        if (values_[value].by_row) main.views[value] = {slots + value * 8, 0};
      for (const auto value : pass.reductions)
        for (int number = 1; number < threads_; ++number)
          totals[value] = combined(fold_of(step(value).reduce), totals[value],
                                   totals[values_.size() * static_cast<std::size_t>(number) + value]);
      finish_pass(main, pass);
    }
    Thread main = thread_of(0);
    main.row = row;
    store_row(main);
  }
}

void ExpressionProgram::run(const Arguments& arguments, const ThreadPool& pool) const {
  auto* memory = static_cast<std::byte*>(arguments.workspace);
  if (divides_rows_) return run_divided(arguments, pool, memory);
  pool.parallel(threads_, [&](int number) {
    const Range mine = share(rows_, threads_, number);
    std::byte* own = memory + shared_bytes() + rounded(scratch_bytes()) * static_cast<std::size_t>(number);
    Thread thread{.arguments = arguments,
                  .slots = own,
                  .totals = reinterpret_cast<double*>(own + values_.size() * 8),
                  .memory = own + rounded(values_.size() * 16)};
    if (mine.size() > 0) run_rows(thread, mine.begin, mine.end);
    if (stream_) kernels_.fence();
  });
}

}  // namespace benanza::native
