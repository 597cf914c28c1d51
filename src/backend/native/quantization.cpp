// SPDX-License-Identifier: Apache-2.0
// Cast, Quantize and Dequantize.
#include "quantization_cast.hpp"

#include <algorithm>
#include <cmath>

namespace benanza::native {

namespace {

constexpr Index block = 2048;

bool is_wide(Stored type) { return type != Stored::f32 && type != Stored::f16 && type != Stored::bf16; }

}  // namespace

Conversion conversion(const Kernels& kernels, Stored from, Stored to) {
  const auto f = static_cast<std::size_t>(from), t = static_cast<std::size_t>(to);
  if (from == Stored::f32) return {.second = kernels.from_f32[t]};
  if (to == Stored::f32) return {.second = kernels.to_f32[f]};
  const bool loses_fraction = from == Stored::f64 && to == Stored::boolean;
  if (is_wide(from) && is_wide(to) && !loses_fraction) {
    if (from == Stored::i64) return {.second = kernels.from_i64[t]};
    if (to == Stored::i64) return {.second = kernels.to_i64[f]};
    return {.first = kernels.to_i64[f], .second = kernels.from_i64[t], .hub_bytes = 8};
  }
  return {.first = kernels.to_f32[f], .second = kernels.from_f32[t]};
}

namespace {

/// Selects the quantising kernel: 0 for u8, 1 for i8.
std::optional<std::size_t> sign_class(DataType type) {
  if (type == DataType::u8) return 0;
  if (type == DataType::i8) return 1;
  return std::nullopt;
}
std::int32_t zero_point(const void* zero_points, std::size_t sign, Index i) {
  return sign == 0 ? static_cast<std::int32_t>(static_cast<const std::uint8_t*>(zero_points)[i])
                   : static_cast<const std::int8_t*>(zero_points)[i];
}

/// Calls `run(first, count, scale)` for the parts of [begin, end) that share a scale, or `each(first, count, scale)` if
/// adjacent elements have different ones, starting with `scale`; `shared` channels have the scales of one block.
template <class Run, class Each>
void by_scale(const TensorShape& x, Index shared, Index begin, Index end, const Run& run, const Each& each) {
  const Index channels = x[1], inner = x[2];
  const bool per_tensor = shared == 0 && x[0] == 1 && inner == 1;
  for (Index at = begin; at < end;) {
    Index n = end - at;
    if (per_tensor) {
      run(at, n, Index{0});
    } else if (shared > 0) {
      const Index c = at / inner % channels, i = at % inner;
      const Index scale = (at / inner / channels * ((channels + shared - 1) / shared) + c / shared) * inner + i;
      n = std::min(n, inner == 1 ? std::min(shared - c % shared, channels - c) : inner - i);
      if (inner == 1) run(at, n, scale);
      else each(at, n, scale);
    } else if (inner == 1) {
      n = std::min(n, channels - at % channels);
      each(at, n, at % channels);
    } else {
      n = std::min(n, inner - at % inner);
      run(at, n, at / inner % channels);
    }
    at += n;
  }
}

Plans dynamic_plans(const op::Quantize& op, const Context& context, std::size_t sign) {
  const Index count = element_count(op.x);
  const double least = sign == 0 ? 0 : -128, largest = sign == 0 ? 255 : 127;
  return one_plan(
      context, op.operands(), "quantize:dynamic",
      [=, &kernels = context.kernels, pool = context.pool, threads = context.threads](const Arguments& arguments) {
        const auto* x = input<float>(arguments, 0);
        auto* parts = static_cast<double*>(arguments.workspace);  // minimum and maximum of each thread
        pool->parallel(threads, [&](int thread) {
          const Range mine = share(count, threads, thread, 64);
          double low = 0, high = 0;
          for (Index at = mine.begin; at < mine.end; at += block) {  // both while the block is in the first-level cache
            const Index n = std::min(block, mine.end - at);
            low = std::min(low, kernels.fold[static_cast<std::size_t>(Fold::min)](x + at, n));
            high = std::max(high, kernels.fold[static_cast<std::size_t>(Fold::max)](x + at, n));
          }
          parts[2 * thread] = low;
          parts[2 * thread + 1] = high;
        });
        double low = 0, high = 0;
        for (int t = 0; t < threads; ++t) {
          low = std::min(low, parts[2 * t]);
          high = std::max(high, parts[2 * t + 1]);
        }
        const auto scale = static_cast<float>((high - low) / (largest - least));
        const double zero =
            scale == 0 ? 0 : std::clamp(std::nearbyint(least - low / static_cast<double>(scale)), least, largest);
        *output<float>(arguments, 1) = scale;
        if (sign == 0) *output<std::uint8_t>(arguments, 2) = static_cast<std::uint8_t>(zero);
        else *output<std::int8_t>(arguments, 2) = static_cast<std::int8_t>(zero);
        pool->split(count, threads, 64, [&](Index begin, Index end) {
          kernels.quantize[sign](x + begin, output<std::byte>(arguments) + begin, end - begin,
                                 scale == 0 ? 1.0F : scale, static_cast<std::int32_t>(zero));
        });
      },
      2 * sizeof(double) * static_cast<std::size_t>(context.threads));
}

}  // namespace

Result plans(const op::Cast& op, const Context& context) {
  const auto from = stored(op.type), to = stored(op.to);
  if (!from || !to || op.type == op.to)
    return Unsupported{"no Cast from " + std::string(name(op.type)) + " to " + std::string(name(op.to)) +
                       " in backend native"};
  const Conversion steps = conversion(context.kernels, *from, *to);
  if (steps.second == nullptr) return unsupported(op.kind, op.type);
  const auto runner = [&](bool stream) {
    return [=, &kernels = context.kernels, pool = context.pool, threads = context.threads, count = element_count(op.x),
            from_bytes = bytes_of(op.type), to_bytes = bytes_of(op.to)](const Arguments& arguments) {
      pool->parallel(threads, [&](int thread) {
        auto* hub = static_cast<std::byte*>(arguments.workspace) + static_cast<std::size_t>(thread) * 2 * block * 8;
        auto* narrow = hub + block * 8;
        const Range mine = share(count, threads, thread, 64);
        const Index step = steps.first != nullptr || stream ? block : count;
        for (Index at = mine.begin; at < mine.end; at += step) {
          const Index n = std::min(step, mine.end - at);
          const void* x = input<std::byte>(arguments, 0) + static_cast<std::size_t>(at) * from_bytes;
          std::byte* y = output<std::byte>(arguments) + static_cast<std::size_t>(at) * to_bytes;
          if (steps.first != nullptr) {
            steps.first(x, hub, n);
            x = hub;
          }
          steps.second(x, stream ? narrow : y, n);
          if (stream) kernels.stream(narrow, y, static_cast<std::size_t>(n) * to_bytes);
        }
        if (stream) kernels.fence();
      });
    };
  };
  const std::size_t workspace = 2 * block * 8 * static_cast<std::size_t>(context.threads);
  Plans plans = one_plan(context, op.operands(), "cast", runner(false), workspace);
  if (op.operands().outputs[0].bytes() >= stream_bytes)
    add_plan(plans, context, op.operands(), "cast,store=nontemporal", runner(true), workspace);
  return plans;
}

Result plans(const op::Quantize& op, const Context& context) {
  const auto sign = sign_class(op.to);
  if (op.type != DataType::f32 || !sign) return unsupported(op.kind, op.type != DataType::f32 ? op.type : op.to);
  if (op.dynamic) return dynamic_plans(op, context, *sign);
  return one_plan(
      context, op.operands(), "quantize",
      [=, &kernels = context.kernels, pool = context.pool, threads = context.threads](const Arguments& arguments) {
        const auto *x = input<float>(arguments, 0), *scale = input<float>(arguments, 1);
        const auto* zero = input<std::byte>(arguments, 2);
        auto* y = output<std::byte>(arguments);
        pool->split(element_count(op.x), threads, 64, [&](Index begin, Index end) {
          by_scale(
              op.x, op.block, begin, end,
              [&](Index at, Index n, Index c) {
                kernels.quantize[*sign](x + at, y + at, n, scale[c], zero_point(zero, *sign, c));
              },
              [&](Index at, Index n, Index c) {
                kernels.quantize_each[*sign](x + at, y + at, n, scale + c, zero + c);
              });
        });
      });
}

Result plans(const op::Dequantize& op, const Context& context) {
  const auto sign = sign_class(op.type);
  if (op.to != DataType::f32 || !sign) return unsupported(op.kind, op.to != DataType::f32 ? op.to : op.type);
  return one_plan(
      context, op.operands(), "dequantize",
      [=, &kernels = context.kernels, pool = context.pool, threads = context.threads](const Arguments& arguments) {
        const auto *x = input<std::byte>(arguments, 0), *zero = input<std::byte>(arguments, 2);
        const auto* scale = input<float>(arguments, 1);
        auto* y = output<float>(arguments);
        pool->split(element_count(op.x), threads, 64, [&](Index begin, Index end) {
          by_scale(
              op.x, op.block, begin, end,
              [&](Index at, Index n, Index c) {
                kernels.dequantize[*sign](x + at, y + at, n, scale[c], zero_point(zero, *sign, c));
              },
              [&](Index at, Index n, Index c) {
                kernels.dequantize_each[*sign](x + at, y + at, n, scale + c, zero + c);
              });
        });
      });
}

}  // namespace benanza::native
