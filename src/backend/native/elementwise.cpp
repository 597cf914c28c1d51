// SPDX-License-Identifier: Apache-2.0
// Unary, Binary, Nary, Where and BatchNorm as chains.
#include "chain.hpp"
#include <benanza/plan/element.hpp>

#include <cmath>

namespace benanza::native {

namespace {

/// Plans of a finished chain: with ordinary stores and, if the result is large, with non-temporal ones.
Plans plans_of(Chain chain, const Context& context, const Operands& operands, const std::string& family) {
  chain.finish();
  const std::size_t scratch = (chain.scratch_bytes() + 63) / 64 * 64;
  const auto runner = [&](bool stream) {
    return [chain, scratch, stream, pool = context.pool, threads = context.threads](const Arguments& arguments) {
      pool->parallel(threads, [&](int thread) {
        const Range mine = share(chain.elements(), threads, thread, 64);
        if (mine.size() > 0)
          chain.run(arguments, {}, mine.begin, mine.end, stream,
                    static_cast<std::byte*>(arguments.workspace) + static_cast<std::size_t>(thread) * scratch);
      });
    };
  };
  const std::size_t workspace = scratch * static_cast<std::size_t>(context.threads);
  const double tolerance = benanza::tolerance(operands.inputs[0].type);
  std::vector<std::size_t> overwritable;
  if (bits(operands.outputs[0].type) == bits(chain.result_type())) overwritable = chain.overwritable();
  Plans plans;
  add_plan(plans, context, operands, family, runner(false), workspace, tolerance, overwritable);
  if (operands.outputs[0].bytes() >= stream_bytes)
    add_plan(plans, context, operands, family + ",store=nontemporal", runner(true), workspace, tolerance, overwritable);
  return plans;
}

Unsupported no_kernel(std::string_view kind, ElementwiseFn fn, DataType type) {
  return {"no " + std::string(name(type)) + " " + std::string(kind) + " " +
          std::string(enum_names(fn)[static_cast<std::size_t>(fn)]) + " (with its epilogue) in backend native"};
}

}  // namespace

namespace {

/// Whether ONNX defines the function on integers, which wrap around.
bool is_of_integers(ElementwiseFn fn) {
  using enum ElementwiseFn;
  return fn == ElementwiseFn::abs || fn == neg || fn == sign || fn == square;
}

/// A function of an 8-bit tensor as a table of its 256 values: computed in f32 when a plan is made, then only looked
/// up. Empty if a step has another operand or no kernel.
std::optional<std::vector<std::uint8_t>> table_of(const op::Unary& op, const Kernels& kernels) {
  std::vector<PostOp> steps{PostOp(op.fn, op.alpha, op.beta)};
  steps.insert(steps.end(), op.post.begin(), op.post.end());
  std::vector<std::uint8_t> codes(256), table(256);
  std::vector<float> values(256), results(256);
  for (std::size_t i = 0; i < codes.size(); ++i) {
    codes[i] = static_cast<std::uint8_t>(i);
    values[i] = static_cast<float>(load(codes.data(), op.type, static_cast<Index>(i)));
  }
  bool wraps = true;
  for (const auto& step : steps) {
    if (is_binary(step.fn) || is_predicate(step.fn)) return std::nullopt;
    const UnaryKernel kernel =
        kernels.unary[static_cast<std::size_t>(Arithmetic::f32)][static_cast<std::size_t>(step.fn)];
    if (kernel == nullptr) return std::nullopt;
    kernel(values.data(), results.data(), static_cast<Index>(values.size()), static_cast<float>(step.alpha),
           static_cast<float>(step.beta));
    values.swap(results);
    wraps = wraps && is_of_integers(step.fn);
    if (wraps)
      for (float& value : values) {
        const auto code = static_cast<std::uint8_t>(static_cast<std::int64_t>(value));
        value = static_cast<float>(load(&code, op.type, 0));
      }
  }
  for (std::size_t i = 0; i < table.size(); ++i)
    store(table.data(), op.type, static_cast<Index>(i), static_cast<double>(values[i]));
  return table;
}

}  // namespace

Result plans(const op::Unary& op, const Context& context) {
  if (is_8_bit(op.type)) {
    auto table = table_of(op, context.kernels);
    if (!table) return no_kernel(op.kind, op.fn, op.type);
    return one_plan(context, op.operands(), "table",
                    [table = std::move(*table), count = element_count(op.x), pool = context.pool,
                     threads = context.threads](const Arguments& arguments) {
                      pool->split(count, threads, 64, [&](Index begin, Index end) {
                        const auto* x = input<std::uint8_t>(arguments, 0);
                        auto* y = output<std::uint8_t>(arguments);
                        const std::uint8_t* const of = table.data();
                        for (Index i = begin; i < end; ++i) y[i] = of[x[i]];
                      });
                    });
  }
  Chain chain(context.kernels, op.type, op.x);
  chain.add_input(0, op.type, op.x);
  if (!chain.add_unary(op.fn, op.alpha, op.beta) || !chain.add_epilogue(op.post, 1, 0))
    return no_kernel(op.kind, op.fn, op.type);
  return plans_of(std::move(chain), context, op.operands(), "elementwise");
}

Result plans(const op::Binary& op, const Context& context) {
  Chain chain(context.kernels, op.type, op.y());
  const std::size_t a = chain.add_input(0, op.type, op.a);
  const std::size_t b = op.same ? a : chain.add_input(1, op.type, op.b);
  if (!chain.add_binary(op.fn, b, false) || !chain.add_epilogue(op.post, op.same ? 1 : 2, 0))
    return no_kernel(op.kind, op.fn, op.type);
  return plans_of(std::move(chain), context, op.operands(), "elementwise");
}

Result plans(const op::Nary& op, const Context& context) {
  Chain chain(context.kernels, op.type, op.x);
  for (std::int64_t i = 0; i < op.count; ++i) {
    const std::size_t operand = chain.add_input(static_cast<std::size_t>(i), op.type, op.x);
    if (i > 0 && !chain.add_binary(op.fn, operand, false)) return no_kernel(op.kind, op.fn, op.type);
  }
  if (op.mean && !chain.add_scale(1.0F / static_cast<float>(op.count))) return no_kernel(op.kind, op.fn, op.type);
  return plans_of(std::move(chain), context, op.operands(), "elementwise");
}

Result plans(const op::Where& op, const Context& context) {
  Chain chain(context.kernels, op.type, op.output());
  chain.add_input(0, DataType::boolean, op.c);
  const std::size_t yes = chain.add_input(1, op.type, op.x), no = chain.add_input(2, op.type, op.y);
  if (!chain.set_where(yes, no, op.type)) return unsupported(op.kind, op.type);
  return plans_of(std::move(chain), context, op.operands(), "elementwise");
}

Result plans(const op::BatchNorm& op, const Context& context) {
  if (op.type != DataType::f32) return unsupported(op.kind, op.type);
  Chain chain(context.kernels, op.type, op.x);
  chain.add_input(0, op.type, op.x);
  const TensorShape per_channel{op.x[1], 1};
  chain.add_affine(chain.add_parameter(0, per_channel), chain.add_parameter(1, per_channel));
  if (!chain.add_epilogue(op.post, 5, 1)) return Unsupported{"no such epilogue of a BatchNorm in backend native"};
  chain.finish();

  const std::int64_t channels = op.x[1], inner = op.x[2];
  const std::size_t vectors = (static_cast<std::size_t>(channels) * 2 * sizeof(float) + 63) / 64 * 64;
  const std::size_t scratch = vectors + (chain.scratch_bytes() + 63) / 64 * 64;
  const auto runner = [&](bool stream) {
    return [chain, channels, inner, vectors, scratch, stream, pool = context.pool, threads = context.threads,
            epsilon = static_cast<float>(context.numbers.epsilon)](const Arguments& arguments) {
      pool->parallel(threads, [&](int thread) {
        const Range mine = share(chain.elements(), threads, thread, 64);
        if (mine.size() <= 0) return;
        // Each thread folds the four vectors into two for the channels that it processes, so none waits for another.
        auto* workspace = static_cast<std::byte*>(arguments.workspace) + static_cast<std::size_t>(thread) * scratch;
        auto* factor = reinterpret_cast<float*>(workspace);
        float* shift = factor + channels;
        const auto *scale = input<float>(arguments, 1), *b = input<float>(arguments, 2),
                   *mean = input<float>(arguments, 3), *var = input<float>(arguments, 4);
        const auto fold = [&](std::int64_t begin, std::int64_t end) {
          for (std::int64_t c = begin; c < end; ++c) {
            factor[c] = scale[c] / std::sqrt(var[c] + epsilon);
            shift[c] = b[c] - mean[c] * factor[c];
          }
        };
        const std::int64_t first = mine.begin / inner, last = (mine.end - 1) / inner;  // rows of one channel each
        if (last - first + 1 >= channels) {
          fold(0, channels);
        } else if (first % channels <= last % channels) {
          fold(first % channels, last % channels + 1);
        } else {
          fold(first % channels, channels);
          fold(0, last % channels + 1);
        }
        const float* const parameters[] = {factor, shift};
        chain.run(arguments, parameters, mine.begin, mine.end, stream, workspace + vectors);
      });
    };
  };
  const std::size_t workspace = scratch * static_cast<std::size_t>(context.threads);
  const double tolerance = benanza::tolerance(op.type);
  Plans plans;
  add_plan(plans, context, op.operands(), "elementwise", runner(false), workspace, tolerance, chain.overwritable());
  if (op.operands().outputs[0].bytes() >= stream_bytes)
    add_plan(plans, context, op.operands(), "elementwise,store=nontemporal", runner(true), workspace, tolerance,
             chain.overwritable());
  return plans;
}

}  // namespace benanza::native
