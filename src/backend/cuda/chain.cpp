// SPDX-License-Identifier: Apache-2.0
// Element-wise operators and their epilogues as chains of steps.
#include "context.hpp"
#include <benanza/base/detail/collapse.hpp>

namespace benanza::cuda {

namespace {

/// Functions that the kernel implements; the others are for truth values and integers.
bool has(ElementwiseFn fn) {
  using enum ElementwiseFn;
  switch (fn) {
    case bitwise_not:
    case bitwise_and:
    case bitwise_or:
    case bitwise_xor:
    case shift_left:
    case shift_right: return false;
    default: return !is_predicate(fn);
  }
}

/// Builds a chain: shapes are folded once all operands are known.
class Builder {
 public:
  explicit Builder(const TensorShape& y) : y_(y) {}

  /// Adds the next operand, from input `argument` of the layer. Returns its number.
  int operand(std::size_t argument, const TensorShape& shape, bool truth = false) {
    arguments_.push_back(argument);
    shapes_.push_back(shape);
    truths_.push_back(truth);
    return static_cast<int>(shapes_.size()) - 1;
  }
  void step(ChainStep step) { steps_.push_back(step); }

  /// Adds the steps of an epilogue, whose operands are inputs from `argument` on. Returns false if the kernel lacks a
  /// function.
  [[nodiscard]] bool epilogue(const Epilogue& post, std::size_t argument, std::size_t channel_axis) {
    for (const auto& op : post) {
      if (!has(op.fn)) return false;
      ChainStep next{.fn = static_cast<std::int32_t>(op.fn),
                     .swapped = op.swapped,
                     .alpha = static_cast<float>(op.alpha),
                     .beta = static_cast<float>(op.beta)};
      if (is_binary(op.fn)) {
        TensorShape shape = op.shape.empty() ? y_ : op.shape;
        if (op.channel) {
          shape = TensorShape::filled(y_.size(), 1);
          shape[channel_axis] = y_[channel_axis];
        }
        next.operand = operand(argument++, shape);
      }
      step(next);
    }
    return true;
  }

  /// Empty if there are more operands or steps than a launch takes.
  [[nodiscard]] std::optional<Result> plans(const Context& context, const Operands& operands, Element element,
                                            const std::string& algorithm) const {
    if (shapes_.size() > most_operands || steps_.size() > most_steps) return std::nullopt;
    std::vector<TensorShape> all = shapes_;
    all.push_back(y_);
    const std::vector<TensorShape> folded = detail::collapse(all);
    const TensorShape& y = folded.back();
    Chain chain{.rank = static_cast<int>(y.size()),
                .operands = static_cast<int>(shapes_.size()),
                .steps = static_cast<int>(steps_.size()),
                .elements = element_count(y)};
    for (std::size_t k = 0; k < y.size(); ++k) chain.sizes[k] = y[k];
    for (std::size_t i = 0; i < shapes_.size(); ++i) {
      std::int64_t stride = 1;
      for (std::size_t k = y.size(); k-- > 0;) {
        chain.strides[i][k] = folded[i][k] == 1 && y[k] != 1 ? 0 : stride;
        stride *= folded[i][k];
      }
      chain.flat[i] = folded[i] == y;
      chain.truth[i] = truths_[i];
    }
    for (std::size_t s = 0; s < steps_.size(); ++s) chain.step[s] = steps_[s];
    return cuda::one_plan(
        context, operands, algorithm,
        [chain, element, arguments = arguments_, stream = context.stream()](const Arguments& a) {
          ChainBuffers buffers{.y = a.outputs[0]};
          for (std::size_t i = 0; i < arguments.size(); ++i) buffers.operand[i] = a.inputs[arguments[i]];
          run_chain(chain, element, buffers, stream);
        },
        tolerance_of(element));
  }

 private:
  TensorShape y_;
  std::vector<std::size_t> arguments_{};
  std::vector<TensorShape> shapes_{};
  std::vector<bool> truths_{};
  std::vector<ChainStep> steps_{};
};

template <class Op>
Result finish(const Builder& builder, const Op& op, const Context& context, Element element) {
  auto plans = builder.plans(context, op.operands(), element, "chain");
  return plans ? std::move(*plans) : Result(Unsupported{"more operands or steps than a launch of backend cuda takes"});
}

}  // namespace

Result plans(const op::Unary& op, const Context& context) {
  const auto element = quantized_element_of(op.type);
  // On 8-bit integers, some functions wrap around, but the kernel saturates.
  const bool wraps = op.fn == ElementwiseFn::abs || op.fn == ElementwiseFn::neg || op.fn == ElementwiseFn::square;
  if (!element || !has(op.fn) || (is_8_bit(op.type) && (wraps || !op.post.empty())))
    return unsupported(op.kind, op.type);
  Builder builder(op.x);
  builder.operand(0, op.x);
  builder.step({.fn = static_cast<std::int32_t>(op.fn),
                .alpha = static_cast<float>(op.alpha),
                .beta = static_cast<float>(op.beta)});
  if (!builder.epilogue(op.post, 1, 0)) return unsupported(op.kind, op.type);
  return finish(builder, op, context, *element);
}

Result plans(const op::Binary& op, const Context& context) {
  const auto element = quantized_element_of(op.type);
  if (!element || !has(op.fn) || (is_8_bit(op.type) && !op.scaled)) return unsupported(op.kind, op.type);
  Builder builder(op.y());
  builder.operand(0, op.a);
  const int second = op.same ? builder.operand(0, op.a) : builder.operand(1, op.b);
  builder.step({.fn = static_cast<std::int32_t>(op.fn), .operand = second});
  if (!builder.epilogue(op.post, op.same ? 1 : 2, 0)) return unsupported(op.kind, op.type);
  return finish(builder, op, context, *element);
}

Result plans(const op::Nary& op, const Context& context) {
  const auto element = element_of(op.type);
  if (!element || !has(op.fn)) return unsupported(op.kind, op.type);
  Builder builder(op.x);
  builder.operand(0, op.x);
  for (std::int64_t i = 1; i < op.count; ++i)
    builder.step(
        {.fn = static_cast<std::int32_t>(op.fn), .operand = builder.operand(static_cast<std::size_t>(i), op.x)});
  if (op.mean) builder.step({.fn = step_scale, .alpha = 1 / static_cast<float>(op.count)});
  return finish(builder, op, context, *element);
}

Result plans(const op::Where& op, const Context& context) {
  const auto element = quantized_element_of(op.type);
  if (!element) return unsupported(op.kind, op.type);
  Builder builder(op.output());
  builder.operand(0, op.c, true);
  const int yes = builder.operand(1, op.x);
  builder.operand(2, op.y);
  builder.step({.fn = step_select, .operand = yes});
  return finish(builder, op, context, *element);
}

Result plans(const op::BatchNorm& op, const Context& context) {
  const auto element = element_of(op.type);
  if (!element) return unsupported(op.kind, op.type);
  const TensorShape channels{1, op.x[1], 1};
  Builder builder(op.x);
  builder.operand(0, op.x);
  const auto with = [&](std::int32_t fn, std::size_t argument) {
    builder.step({.fn = fn, .operand = builder.operand(argument, channels), .alpha = epsilon});
  };
  with(static_cast<std::int32_t>(ElementwiseFn::sub), 3);  // mean
  with(step_rsqrt, 4);                                     // variance
  with(static_cast<std::int32_t>(ElementwiseFn::mul), 1);  // scale
  with(static_cast<std::int32_t>(ElementwiseFn::add), 2);  // b
  if (!builder.epilogue(op.post, 5, 1)) return unsupported(op.kind, op.type);
  return finish(builder, op, context, *element);
}

}  // namespace benanza::cuda
