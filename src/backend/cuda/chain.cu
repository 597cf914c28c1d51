// SPDX-License-Identifier: Apache-2.0
// Element-wise steps in one pass over memory: a thread takes as many adjacent elements as fit one 16-byte access
// through all steps. The differences between steps are the same for all threads, so nothing diverges.
#include "launch.cuh"
#include <benanza/model/elementwise.hpp>

namespace benanza::cuda {

namespace {

/// Each function as ONNX defines it; alpha and beta as in ElementwiseFn. Not inlined for each element of a thread: the
/// code would be many times as large, and these functions take longer than a call.
__device__ __noinline__ float long_unary(ElementwiseFn fn, float x, float alpha, float beta) {
  switch (fn) {
    case ElementwiseFn::acos: return acosf(x);
    case ElementwiseFn::acosh: return acoshf(x);
    case ElementwiseFn::asin: return asinf(x);
    case ElementwiseFn::asinh: return asinhf(x);
    case ElementwiseFn::atan: return atanf(x);
    case ElementwiseFn::atanh: return atanhf(x);
    case ElementwiseFn::ceil: return ceilf(x);
    case ElementwiseFn::celu: return fmaxf(x, 0.0F) + fminf(alpha * expm1f(x / alpha), 0.0F);
    case ElementwiseFn::cos: return cosf(x);
    case ElementwiseFn::cosh: return coshf(x);
    case ElementwiseFn::elu: return x < 0 ? alpha * expm1f(x) : x;
    case ElementwiseFn::erf: return erff(x);
    case ElementwiseFn::exp: return expf(x);
    case ElementwiseFn::floor: return floorf(x);
    case ElementwiseFn::gelu: return 0.5F * x * (1 + erff(x * 0.70710678F));
    case ElementwiseFn::gelu_tanh: return 0.5F * x * (1 + tanhf(0.79788456F * (x + 0.044715F * x * x * x)));
    case ElementwiseFn::log: return logf(x);
    case ElementwiseFn::mish: return x * tanhf(x > 20 ? x : log1pf(expf(x)));
    case ElementwiseFn::round: return rintf(x);
    case ElementwiseFn::selu: return beta * (x > 0 ? x : alpha * expm1f(x));
    case ElementwiseFn::shrink: return x < -beta ? x + alpha : x > beta ? x - alpha : 0.0F;
    case ElementwiseFn::sigmoid: return 1 / (1 + expf(-x));
    case ElementwiseFn::sign: return static_cast<float>((x > 0) - (x < 0));
    case ElementwiseFn::sin: return sinf(x);
    case ElementwiseFn::sinh: return sinhf(x);
    case ElementwiseFn::softplus: return x > 20 ? x : log1pf(expf(x));
    case ElementwiseFn::softsign: return x / (1 + fabsf(x));
    case ElementwiseFn::swish: return x / (1 + expf(-alpha * x));
    case ElementwiseFn::tan: return tanf(x);
    case ElementwiseFn::tanh: return tanhf(x);
    case ElementwiseFn::thresholded_relu: return x > alpha ? x : 0.0F;
    default: return x;
  }
}

__device__ float unary(ElementwiseFn fn, float x, float alpha, float beta) {
  switch (fn) {
    case ElementwiseFn::abs: return fabsf(x);
    case ElementwiseFn::clip: return fminf(fmaxf(x, alpha), beta);
    case ElementwiseFn::hard_sigmoid: return fmaxf(0.0F, fminf(1.0F, alpha * x + beta));
    case ElementwiseFn::hard_swish: return x * fmaxf(0.0F, fminf(1.0F, x / 6 + 0.5F));
    case ElementwiseFn::leaky_relu: return x < 0 ? alpha * x : x;
    case ElementwiseFn::neg: return -x;
    case ElementwiseFn::reciprocal: return 1 / x;
    case ElementwiseFn::relu: return fmaxf(x, 0.0F);
    case ElementwiseFn::sqrt: return sqrtf(x);
    case ElementwiseFn::square: return x * x;
    default: return long_unary(fn, x, alpha, beta);
  }
}

__device__ __noinline__ float long_binary(ElementwiseFn fn, float a, float b) {
  switch (fn) {
    case ElementwiseFn::pow: return powf(a, b);
    case ElementwiseFn::fmod: return fmodf(a, b);
    case ElementwiseFn::mod: {
      const float r = fmodf(a, b);
      return r != 0 && (r < 0) != (b < 0) ? r + b : r;
    }
    default: return a;
  }
}

__device__ float binary(ElementwiseFn fn, float a, float b) {
  switch (fn) {
    case ElementwiseFn::add: return a + b;
    case ElementwiseFn::sub: return a - b;
    case ElementwiseFn::mul: return a * b;
    case ElementwiseFn::div: return a / b;
    case ElementwiseFn::max: return fmaxf(a, b);
    case ElementwiseFn::min: return fminf(a, b);
    case ElementwiseFn::prelu: return a < 0 ? a * b : a;
    default: return long_binary(fn, a, b);
  }
}

/// Offset in an operand of the element at a flat index of y.
__device__ std::int64_t offset(const Chain& chain, int operand, std::int64_t i) {
  std::int64_t rest = i, at = 0;
#pragma unroll
  for (int k = most_dims - 1; k > 0; --k) {
    if (k >= chain.rank) continue;
    at += take(rest, chain.sizes[k]) * chain.strides[operand][k];
  }
  return at + rest * chain.strides[operand][0];
}

template <class T, int n>
__device__ void load_operand(const Chain& chain, const ChainBuffers& buffers, int operand, std::int64_t i,
                             float (&value)[n]) {
  const void* const data = buffers.operand[operand];
  if (chain.truth[operand]) {
    const auto* bytes = static_cast<const std::uint8_t*>(data);
    if (chain.flat[operand]) return load(bytes + i, value);
    for (int j = 0; j < n; ++j) value[j] = bytes[offset(chain, operand, i + j)];
    return;
  }
  const auto* elements = static_cast<const T*>(data);
  if (chain.flat[operand]) return load(elements + i, value);
  // All n elements are in one row of y, so their positions in the operand differ by its innermost stride.
  const std::int64_t at = offset(chain, operand, i), step = chain.strides[operand][chain.rank - 1];
  for (int j = 0; j < n; ++j) value[j] = to_f32(elements[at + j * step]);
}

/// n divides the innermost dimension of y.
template <class T, int n>
__global__ void __launch_bounds__(threads_per_block) chain_kernel(Chain chain, ChainBuffers buffers) {
  for (std::int64_t i = first_item() * n; i < chain.elements; i += item_step() * n) {
    float value[n], other[n];
    load_operand<T>(chain, buffers, 0, i, value);
    for (int s = 0; s < chain.steps; ++s) {
      const ChainStep step = chain.step[s];
      if (step.operand >= 0) load_operand<T>(chain, buffers, step.operand, i, other);
      if (step.fn == step_select) {
        float no[n];
        load_operand<T>(chain, buffers, step.operand + 1, i, no);
        for (int j = 0; j < n; ++j) value[j] = value[j] != 0 ? other[j] : no[j];
      } else if (step.fn == step_rsqrt) {
        for (int j = 0; j < n; ++j) value[j] *= rsqrtf(other[j] + step.alpha);
      } else if (step.fn == step_scale) {
        for (int j = 0; j < n; ++j) value[j] *= step.alpha;
      } else if (step.operand >= 0) {
        for (int j = 0; j < n; ++j)
          value[j] = step.swapped ? binary(static_cast<ElementwiseFn>(step.fn), other[j], value[j])
                                  : binary(static_cast<ElementwiseFn>(step.fn), value[j], other[j]);
      } else {
        for (int j = 0; j < n; ++j)
          value[j] = unary(static_cast<ElementwiseFn>(step.fn), value[j], step.alpha, step.beta);
      }
    }
    store(static_cast<T*>(buffers.y) + i, value);
  }
}

}  // namespace

void run_chain(const Chain& chain, Element element, const ChainBuffers& buffers, cudaStream_t stream) {
  with_element(element, [&](auto zero) {
    using T = decltype(zero);
    with_pack<T>(chain.elements, chain.sizes[chain.rank - 1], [&](auto n, unsigned blocks) {
      chain_kernel<T, n><<<blocks, threads_per_block, 0, stream>>>(chain, buffers);
    });
  });
}

}  // namespace benanza::cuda
