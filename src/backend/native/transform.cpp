// SPDX-License-Identifier: Apache-2.0
// Fourier: radix 2 (Cooley and Tukey 1965); other lengths as a convolution with a chirp (Bluestein 1970).
#include "context.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
#include <vector>

namespace benanza::native {

namespace {

struct Complex {
  float re = 0, im = 0;
};
Complex operator*(Complex a, Complex b) { return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }
Complex operator+(Complex a, Complex b) { return {a.re + b.re, a.im + b.im}; }
Complex operator-(Complex a, Complex b) { return {a.re - b.re, a.im - b.im}; }
Complex conjugate(Complex a) { return {a.re, -a.im}; }
/// exp(i pi turns).
Complex root(double turns) {
  return {static_cast<float>(std::cos(std::numbers::pi * turns)),
          static_cast<float>(std::sin(std::numbers::pi * turns))};
}

/// Forward transforms whose length is a power of two, in place.
class PowerOfTwo {
 public:
  explicit PowerOfTwo(Index n) : roots_(static_cast<std::size_t>(n)), reversed_(static_cast<std::size_t>(n)) {
    for (Index half = 1; half < n; half *= 2)
      for (Index i = 0; i < half; ++i)
        roots_[static_cast<std::size_t>(half + i)] = root(-static_cast<double>(i) / static_cast<double>(half));
    for (std::size_t i = 1; i < reversed_.size(); ++i)
      reversed_[i] = reversed_[i / 2] / 2 + (i % 2 == 0 ? 0 : reversed_.size() / 2);
  }
  void run(Complex* data) const {
    const std::size_t n = reversed_.size();
    for (std::size_t i = 0; i < n; ++i)
      if (i < reversed_[i]) std::swap(data[i], data[reversed_[i]]);
    for (std::size_t half = 1; half < n; half *= 2)
      for (std::size_t begin = 0; begin < n; begin += 2 * half)
        for (std::size_t i = 0; i < half; ++i) {
          const Complex a = data[begin + i], b = data[begin + half + i] * roots_[half + i];
          data[begin + i] = a + b;
          data[begin + half + i] = a - b;
        }
  }

 private:
  std::vector<Complex> roots_;
  std::vector<std::size_t> reversed_;
};

/// Forward transforms of any length, in place. They use `numbers()` values of the buffer; the first n are the operand
/// and the result.
class Transform {
 public:
  explicit Transform(Index n)
      : n_(static_cast<std::size_t>(n)),
        padded_(std::bit_ceil(std::has_single_bit(n_) ? n_ : 2 * n_ - 1)),
        inner_(static_cast<Index>(padded_)) {
    if (n_ == padded_) return;
    chirp_.resize(n_);
    filter_.resize(padded_);
    const std::size_t turn = 2 * n_;
    for (std::size_t i = 0; i < n_; ++i) {
      chirp_[i] = root(-static_cast<double>(i * i % turn) / static_cast<double>(n_));
      filter_[i] = filter_[(padded_ - i) % padded_] = conjugate(chirp_[i]);
    }
    inner_.run(filter_.data());
  }
  [[nodiscard]] std::size_t numbers() const { return padded_; }
  void run(Complex* data) const {
    if (n_ == padded_) return inner_.run(data);
    for (std::size_t i = 0; i < n_; ++i) data[i] = data[i] * chirp_[i];
    std::fill(data + n_, data + padded_, Complex{});
    inner_.run(data);
    for (std::size_t i = 0; i < padded_; ++i) data[i] = conjugate(data[i] * filter_[i]);  // inverse by conjugates
    inner_.run(data);
    const auto scale = 1 / static_cast<float>(padded_);
    for (std::size_t i = 0; i < n_; ++i) {
      const Complex sum = conjugate(data[i]) * chirp_[i];
      data[i] = {sum.re * scale, sum.im * scale};
    }
  }

 private:
  std::size_t n_, padded_;
  PowerOfTwo inner_;
  std::vector<Complex> chirp_{}, filter_{};
};

/// Collects the numbers of one transform, conjugated if it is an inverse one.
void gather(const op::Fourier& op, const float* x, const float* window, Index frame, Complex* data) {
  const Index parts = op.real ? 1 : 2, stride = op.x[2] * parts;
  const Index given = std::min(op.needed(), op.x[1] - frame * op.step);
  const float* from = x + frame * op.step * stride;
  for (Index i = 0; i < given; ++i, from += stride) {
    data[i] = {from[0], op.real ? 0 : from[1]};
    if (window != nullptr) data[i] = {data[i].re * window[i], data[i].im * window[i]};
  }
  std::fill(data + given, data + op.length, Complex{});
  if (op.is_real_result()) {
    data[0].im = 0;
    if (op.length % 2 == 0) data[op.length / 2].im = 0;
    for (Index i = op.needed(); i < op.length; ++i) data[i] = conjugate(data[op.length - i]);
  }
  if (op.inverse)
    for (Index i = 0; i < op.length; ++i) data[i] = conjugate(data[i]);
}

}  // namespace

Result plans(const op::Fourier& op, const Context& context) {
  if (op.type != DataType::f32) return unsupported(op.kind, op.type);
  const auto transform = std::make_shared<const Transform>(op.length);
  const std::size_t scratch = (transform->numbers() * sizeof(Complex) + 63) / 64 * 64;
  return one_plan(
      context, op.operands(), std::has_single_bit(static_cast<std::uint64_t>(op.length)) ? "fft:radix2" : "fft:chirp",
      [=, pool = context.pool, threads = context.threads](const Arguments& arguments) {
        const Index inner = op.x[2], bins = op.bins(), x_parts = op.real ? 1 : 2, parts = op.is_real_result() ? 1 : 2;
        const float* window = op.window ? input<float>(arguments, 1) : nullptr;
        const float scale = op.inverse ? 1 / static_cast<float>(op.length) : 1;
        pool->parallel(threads, [&](int thread) {
          auto* data = reinterpret_cast<Complex*>(static_cast<std::byte*>(arguments.workspace) +
                                                  static_cast<std::size_t>(thread) * scratch);
          const Range mine = share(op.x[0] * op.frames * inner, threads, thread);
          for (Index t = mine.begin; t < mine.end; ++t) {
            const Index row = t / inner, i = t % inner;
            const float* x = input<float>(arguments, 0) + (row / op.frames * op.x[1] * inner + i) * x_parts;
            gather(op, x, window, row % op.frames, data);
            transform->run(data);
            float* y = output<float>(arguments) + (row * bins * inner + i) * parts;
            for (Index b = 0; b < bins; ++b, y += inner * parts) {
              y[0] = data[b].re * scale;
              if (parts == 2) y[1] = (op.inverse ? -data[b].im : data[b].im) * scale;
            }
          }
        });
      },
      scratch * static_cast<std::size_t>(context.threads));
}

}  // namespace benanza::native
