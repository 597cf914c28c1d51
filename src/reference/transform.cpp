// SPDX-License-Identifier: Apache-2.0
// Discrete Fourier transforms by definition, one sum per requested number.
#include "evaluate.hpp"
#include "index.hpp"

#include <cmath>
#include <complex>
#include <numbers>

namespace benanza::reference {

namespace {

using Complex = std::complex<double>;

/// The numbers of one transform, windowed and padded with zeros.
std::vector<Complex> frame_of(const op::Fourier& fourier, const Query& query, std::int64_t outer, std::int64_t frame,
                              std::int64_t inner) {
  const std::int64_t parts = fourier.real ? 1 : 2;
  std::vector<Complex> numbers(static_cast<std::size_t>(fourier.needed()));
  for (std::int64_t i = 0; i < fourier.needed(); ++i) {
    const std::int64_t at = frame * fourier.step + i;
    if (at >= fourier.x[1]) break;
    const std::int64_t flat = ((outer * fourier.x[1] + at) * fourier.x[2] + inner) * parts;
    Complex& number = numbers[static_cast<std::size_t>(i)];
    number = {query.input(0)[flat], fourier.real ? 0 : query.input(0)[flat + 1]};
    if (fourier.window) number *= query.input(1)[i];
  }
  return numbers;
}

/// ONNX DFT. In a one-sided inverse, the numbers beyond the middle are the conjugates of those before it.
Complex transformed(const op::Fourier& fourier, std::span<const Complex> numbers, std::int64_t bin) {
  const std::int64_t n = fourier.length;
  const double direction = fourier.inverse ? 1 : -1;
  Complex sum = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const bool mirrored = i >= static_cast<std::int64_t>(numbers.size());
    Complex number = numbers[static_cast<std::size_t>(mirrored ? n - i : i)];
    if (mirrored) number = std::conj(number);
    if (fourier.is_real_result() && (i == 0 || 2 * i == n)) number = number.real();
    const double angle = 2 * std::numbers::pi * static_cast<double>(i * bin % n) / static_cast<double>(n);
    sum += number * std::polar(1.0, direction * angle);
  }
  return fourier.inverse ? sum / static_cast<double>(n) : sum;
}

}  // namespace

Elements compute(const op::Fourier& fourier, const Query& query) {
  const TensorShape y = fourier.y();
  Elements result(query.size());
  const auto transform_of = [&](std::int64_t flat) {
    const TensorShape at = coordinates(y, flat);
    return (at[0] * y[1] + at[1]) * y[3] + at[3];
  };
  query.for_each_group(transform_of, [&](std::int64_t which, std::span<const std::size_t> positions) {
    const auto numbers = frame_of(fourier, query, which / y[3] / y[1], which / y[3] % y[1], which % y[3]);
    for (auto position : positions) {
      const TensorShape at = coordinates(y, query.indices[position]);
      const Complex number = transformed(fourier, numbers, at[2]);
      result[position] = at[4] == 0 ? number.real() : number.imag();
    }
  });
  return result;
}

}  // namespace benanza::reference
