// SPDX-License-Identifier: Apache-2.0
// Plans of expressions: which kernels they call, in which passes, and where results are stored meanwhile.
#include "elementwise_expression.hpp"

#include "quantization_cast.hpp"

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <utility>

namespace benanza::native {

TensorShape ExpressionProgram::broadcast_strides(const TensorShape& shape) const {
  TensorShape strides = TensorShape::filled(shape.size(), 0);
  Index stride = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    if (shape[i] != 1) strides[i] = stride;
    stride *= shape[i];
  }
  return strides;
}

bool ExpressionProgram::has_kernel(std::size_t value) const {
  if (is_input(value)) return stored(op_.in[value].type).has_value();
  const ExpressionStep& at = step(value);
  const DataType from = in_blocks(values_[at.of[0]].type), to = in_blocks(values_[value].type);
  const auto type = arithmetic(from);
  switch (at.kind) {
    case StepKind::reduction: return from == DataType::f32;
    case StepKind::choice: return size_class(bytes(value)).has_value();
    case StepKind::conversion: return from == to || conversion(kernels_, *stored(from), *stored(to)).second != nullptr;
    case StepKind::function: break;
  }
  if (!type) return false;
  const auto t = static_cast<std::size_t>(*type), fn = static_cast<std::size_t>(at.fn);
  return is_binary(at.fn) ? kernels_.binary[t][0][fn] != nullptr : kernels_.unary[t][fn] != nullptr;
}

/// Which output a value is; -1 if none.
Index ExpressionProgram::output_of(std::size_t value) const {
  const auto found = std::find(op_.out.begin(), op_.out.end(), static_cast<Index>(value));
  return found == op_.out.end() ? -1 : found - op_.out.begin();
}

bool ExpressionProgram::compile() {
  for (std::size_t value = 0; value < values_.size(); ++value)
    if (!has_kernel(value)) return false;
  absorb_products();
  order();
  kept_.assign(values_.size(), std::nullopt);
  const std::vector<Pass> empty = passes_;
  for (std::size_t pass = 0; pass < passes_.size(); ++pass) make_pass(pass, true);
  if (kept_count_ * kept_size() > kept_bytes) {
    passes_ = empty;
    kept_.assign(values_.size(), std::nullopt);
    kept_count_ = buffer_count_ = 0;
    for (std::size_t pass = 0; pass < passes_.size(); ++pass) make_pass(pass, false);
  }
  const auto fits = static_cast<Index>(cached_bytes / ((buffer_count_ + 1) * 4)) / 64 * 64;
  block_ = std::clamp(fits, least_block, block_);
  return true;
}

/// Finds products and squares that are read once, by a sum, a difference or a sum over the row.
void ExpressionProgram::absorb_products() {
  calls_.assign(values_.size(), {});
  is_absorbed_.assign(values_.size(), false);
  std::vector<std::size_t> uses(values_.size(), 0);
  for (const auto out : op_.out) uses[static_cast<std::size_t>(out)] += 2;
  for (const auto& each : op_.steps)
    for (std::size_t i = 0; i < each.operands(); ++i) ++uses[each.of[i]];
  const auto is_product = [&](std::size_t value) {
    if (is_input(value) || values_[value].by_row || uses[value] != 1) return false;
    const ExpressionStep& at = step(value);
    return in_blocks(values_[value].type) == DataType::f32 && at.kind == StepKind::function &&
           (at.fn == ElementwiseFn::mul || at.fn == ElementwiseFn::square);
  };
  for (std::size_t value = op_.in.size(); value < values_.size(); ++value) {
    const ExpressionStep& at = step(value);
    Call& call = calls_[value] = {.of = at.of, .operands = at.operands()};
    const bool reduces =
        at.kind == StepKind::reduction && (at.reduce == op::ReduceFn::sum || at.reduce == op::ReduceFn::mean);
    const bool adds = at.kind == StepKind::function && (at.fn == ElementwiseFn::add || at.fn == ElementwiseFn::sub);
    for (std::size_t i = 0; i < at.operands() && (reduces || adds) && !call.product; ++i) {
      if (!is_product(at.of[i])) continue;
      const ExpressionStep& product = step(at.of[i]);
      is_absorbed_[at.of[i]] = true;
      call.product = at.fn == ElementwiseFn::sub && adds ? 1 + i : 0;
      call.operands = reduces ? 2 : 3;
      call.of = {product.of[0], product.of[product.operands() - 1], reduces ? 0 : at.of[1 - i]};
    }
  }
}

/// Finds after how many passes each value is known.
void ExpressionProgram::order() {
  ready_.assign(values_.size(), 0);
  for (std::size_t value = op_.in.size(); value < values_.size(); ++value) {
    for (std::size_t i = 0; i < calls_[value].operands; ++i)
      ready_[value] = std::max(ready_[value], ready_[calls_[value].of[i]]);
    if (step(value).kind == StepKind::reduction) ++ready_[value];
  }
  std::size_t last = 0;  // pass that has work
  for (const auto number : op_.out) {
    const auto value = static_cast<std::size_t>(number);
    if (!values_[value].by_row) last = std::max(last, ready_[value]);
  }
  for (std::size_t value = op_.in.size(); value < values_.size(); ++value)
    if (step(value).kind == StepKind::reduction) last = std::max(last, ready_[value] - 1);
  passes_.resize(last + 1);
  for (std::size_t value = op_.in.size(); value < values_.size(); ++value) {
    if (!values_[value].by_row) continue;
    (ready_[value] == 0 ? first_by_row_ : passes_[ready_[value] - 1].by_row).push_back(value);
    if (step(value).kind == StepKind::reduction) passes_[ready_[value] - 1].reductions.push_back(value);
  }
}

void ExpressionProgram::make_pass(std::size_t number, bool keeps) {
  Pass& pass = passes_[number];
  // What the pass computes, from its reductions and outputs back to what earlier passes have kept.
  std::vector<bool> is_needed(values_.size(), false), is_known(values_.size(), false);
  for (std::size_t earlier = 0; earlier < number; ++earlier)
    for (const auto& made : passes_[earlier].code)
      if (made.place == Place::kept || (made.place == Place::output && !stream_)) is_known[made.value] = true;
  for (const auto value : pass.reductions)
    for (std::size_t i = 0; i < calls_[value].operands; ++i) is_needed[calls_[value].of[i]] = true;
  for (const auto out : op_.out) {
    const auto value = static_cast<std::size_t>(out);
    if (!values_[value].by_row && ready_[value] == number) is_needed[value] = true;
  }
  for (std::size_t value = values_.size(); value-- > op_.in.size();) {
    if (!is_needed[value] || values_[value].by_row || is_known[value]) continue;
    for (std::size_t i = 0; i < calls_[value].operands; ++i) is_needed[calls_[value].of[i]] = true;
  }
  // What later passes need again, if rows are kept.
  const auto is_used_later = [&](std::size_t value) {
    for (std::size_t other = op_.in.size(); other < values_.size(); ++other) {
      const bool is_later = values_[other].by_row ? ready_[other] > number + 1 : ready_[other] > number;
      if (!is_later || is_absorbed_[other]) continue;
      const auto of = std::span(calls_[other].of).first(calls_[other].operands);
      if (std::find(of.begin(), of.end(), value) != of.end()) return true;
    }
    return false;
  };
  std::vector<std::size_t> last_use(values_.size(), 0);
  for (std::size_t value = op_.in.size(); value < values_.size(); ++value)
    if (is_needed[value] && !values_[value].by_row && !is_known[value])
      for (std::size_t i = 0; i < calls_[value].operands; ++i) last_use[calls_[value].of[i]] = value;
  for (const auto value : pass.reductions)
    for (std::size_t i = 0; i < calls_[value].operands; ++i) last_use[calls_[value].of[i]] = values_.size();

  std::vector<bool> is_free(buffer_count_, true);
  std::vector<std::pair<std::size_t, std::size_t>> taken;  // value, buffer
  const auto take_buffer = [&](std::size_t value) {
    auto free = std::find(is_free.begin(), is_free.end(), true);
    if (free == is_free.end()) free = is_free.insert(is_free.end(), true);
    *free = false;
    buffer_count_ = std::max(buffer_count_, is_free.size());
    taken.emplace_back(value, static_cast<std::size_t>(free - is_free.begin()));
    return taken.back().second;
  };
  const auto release = [&](std::size_t now) {
    std::erase_if(taken, [&](const auto& each) {
      const bool is_over = last_use[each.first] <= now;
      if (is_over) is_free[each.second] = true;
      return is_over;
    });
  };
  std::vector<bool> is_there(values_.size(), false);
  const auto enter = [&](std::size_t value) {
    if (is_there[value] || values_[value].by_row) return;
    is_there[value] = true;
    if (is_input(value)) {
      if (is_made(value)) pass.code.push_back({value, Place::block, take_buffer(value)});
      else pass.inputs.push_back(value);
    } else if (is_known[value]) {
      pass.earlier.push_back(kept_[value]
                                 ? Instruction{value, Place::kept, *kept_[value]}
                                 : Instruction{value, Place::output, static_cast<std::size_t>(output_of(value))});
    }
  };
  for (std::size_t value = op_.in.size(); value < values_.size(); ++value) {
    if (!is_needed[value] || values_[value].by_row || is_known[value]) continue;
    for (std::size_t i = 0; i < calls_[value].operands; ++i) enter(calls_[value].of[i]);
    const Index output = ready_[value] == number ? output_of(value) : -1;
    Instruction made{value};
    if (output >= 0 && !stream_ && !is_half(values_[value].type)) {
      made.place = Place::output;
      made.index = static_cast<std::size_t>(output);
    } else if (keeps && is_used_later(value)) {
      kept_[value] = kept_count_++;
      made.place = Place::kept;
      made.index = *kept_[value];
    } else {
      if (output >= 0) last_use[value] = values_.size();  // converted at the end of the block
      made.index = take_buffer(value);
    }
    if (output >= 0 && made.place != Place::output) pass.outputs.push_back(static_cast<std::size_t>(output));
    pass.code.push_back(made);
    is_there[value] = true;
    release(value);
  }
  for (const auto value : pass.reductions)
    for (std::size_t i = 0; i < calls_[value].operands; ++i) enter(calls_[value].of[i]);
}

namespace {

/// The inputs whose elements the last pass reads before it writes the only result there.
std::vector<std::size_t> overwritable_by(const op::Expression& op, const Operands& operands) {
  if (op.out.size() != 1 || operands.outputs[0].shape != op.x) return {};
  const ExpressionStep& last = op.steps[static_cast<std::size_t>(op.out[0]) - op.in.size()];
  const bool reads_again =
      last.kind == StepKind::function && (last.fn == ElementwiseFn::sin || last.fn == ElementwiseFn::cos);
  std::vector<std::size_t> inputs;
  for (std::size_t i = 0; i < op.in.size() && !reads_again; ++i)
    if (op.in[i].shape.empty() && bits(op.in[i].type) == bits(operands.outputs[0].type)) inputs.push_back(i);
  return inputs;
}

}  // namespace

Result plans(const op::Expression& op, const Context& context) {
  const Operands operands = op.operands();
  double tolerance = 0;
  for (const auto& value : op.values()) tolerance = std::max(tolerance, benanza::tolerance(value.type));
  Plans plans;
  const auto add = [&](bool stream, Index block) {
    auto program = std::make_shared<ExpressionProgram>(op, context.kernels, stream, block, context.threads);
    if (!program->compile()) return false;
    const std::size_t workspace = program->shared_bytes() + ExpressionProgram::rounded(program->scratch_bytes()) *
                                                                static_cast<std::size_t>(context.threads);
    const std::string algorithm = "expression,block=" + std::to_string(block) + (stream ? ",store=nontemporal" : "");
    add_plan(
        plans, context, operands, algorithm,
        [program, pool = context.pool](const Arguments& arguments) { program->run(arguments, *pool); }, workspace,
        tolerance, overwritable_by(op, operands));
    return true;
  };
  const auto is_large = [](const std::vector<Operand>& list) {
    return std::any_of(list.begin(), list.end(),
                       [](const Operand& operand) { return operand.bytes() >= stream_bytes; });
  };
  if (!add(false, ExpressionProgram::long_block))
    return Unsupported{"no kernel for a step of an Expression in backend native"};
  const bool reads_much = is_large(operands.inputs), writes_much = is_large(operands.outputs);
  if (writes_much) static_cast<void>(add(true, ExpressionProgram::long_block));
  if (reads_much || writes_much) static_cast<void>(add(false, ExpressionProgram::short_block));
  if (writes_much) static_cast<void>(add(true, ExpressionProgram::short_block));
  return plans;
}

}  // namespace benanza::native
