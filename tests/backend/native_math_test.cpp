// SPDX-License-Identifier: Apache-2.0
// The vectorised elementary functions against the C library in double precision. The bounds are those that
// kernels/math.hpp states.
#include "backend/native/isa.hpp"
#include "support/catch.hpp"

#include <cmath>
#include <functional>
#include <string>
#include <vector>

namespace benanza {

namespace {

struct Case {
  ElementwiseFn fn = ElementwiseFn::exp;
  std::function<double(double)> exact{};
  double from = -1, to = 1, bound = 1e-6;
};

/// Largest relative error on a grid with a spacing that no binary fraction divides.
double largest_error(const native::Kernels& kernels, const Case& c) {
  constexpr int count = 300'007;
  std::vector<float> x(count), y(count);
  for (int i = 0; i < count; ++i)
    x[static_cast<std::size_t>(i)] = static_cast<float>(c.from + (c.to - c.from) * i / (count - 1));
  kernels.unary[0][static_cast<std::size_t>(c.fn)](x.data(), y.data(), count, 1, 0);
  double worst = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double expected = c.exact(static_cast<double>(x[i])), got = static_cast<double>(y[i]);
    worst = std::max(worst, expected == 0 ? std::fabs(got) : std::fabs(got - expected) / std::fabs(expected));
  }
  return worst;
}

}  // namespace

TEST_CASE("Vectorised elementary functions are as exact as they say", "[native]") {
  using enum ElementwiseFn;
  const auto logistic = [](double x) { return 1 / (1 + std::exp(-x)); };
  const auto soft_plus = [](double x) { return std::log1p(std::exp(x)); };
  const std::vector<Case> cases{{exp, [](double x) { return std::exp(x); }, -87, 88.5, 2e-7},
                                {exp, [](double x) { return std::exp(x); }, -1, 1, 2e-7},
                                {log, [](double x) { return std::log(x); }, 1e-30, 1e-3, 2e-7},
                                {log, [](double x) { return std::log(x); }, 0.3, 3, 2e-7},
                                {log, [](double x) { return std::log(x); }, 3, 1e30, 2e-7},
                                {tanh, [](double x) { return std::tanh(x); }, -12, 12, 5e-7},
                                {tanh, [](double x) { return std::tanh(x); }, 1e-6, 0.1, 5e-7},
                                {erf, [](double x) { return std::erf(x); }, -6, 6, 5e-7},
                                {erf, [](double x) { return std::erf(x); }, 1e-6, 0.1, 5e-7},
                                {sigmoid, logistic, -80, 80, 5e-7},
                                {softplus, soft_plus, -60, 60, 5e-7}};
  for (const auto isa : {native::Isa::baseline, native::Isa::avx2, native::Isa::avx512}) {
    if (!native::runs_here(isa)) continue;
    for (const auto& c : cases) {
      INFO(native::isa_names[static_cast<std::size_t>(isa)] << " " << enum_names(c.fn)[static_cast<std::size_t>(c.fn)]
                                                            << " on " << c.from << " ... " << c.to);
      CHECK(largest_error(native::kernels(isa), c) < c.bound);
    }
    for (double x = -80; x <= 80; x += 0.037) {  // with a parameter, which `largest_error` does not pass
      const auto given = static_cast<float>(x);
      float y = 0;
      native::kernels(isa).unary[0][static_cast<std::size_t>(swish)](&given, &y, 1, 1, 0);
      const double at = static_cast<double>(given), exact = at * logistic(at);
      CHECK(std::fabs(static_cast<double>(y) - exact) <= 5e-7 * std::fabs(exact));
      // Half of 1 + tanh(u) cancels if u is negative: its error is relative to x.
      native::kernels(isa).unary[0][static_cast<std::size_t>(gelu_tanh)](&given, &y, 1, 0, 0);
      const double u = std::sqrt(2 / std::acos(-1.0)) * (at + 0.044715 * at * at * at);
      CHECK(std::fabs(static_cast<double>(y) - 0.5 * at * (1 + std::tanh(u))) <= 5e-7 * std::fabs(at));
    }
    // If the exponential has no finite value, the result is the limit; the logarithm of infinity is not tested.
    for (const auto fn : {swish, gelu_tanh, mish, sigmoid}) {
      INFO(enum_names(fn)[static_cast<std::size_t>(fn)]);
      const std::vector<float> x{-3.4e38F, -1000, -100, 1000, 3.4e38F};
      std::vector<float> y(x.size());
      native::kernels(isa).unary[0][static_cast<std::size_t>(fn)](x.data(), y.data(),
                                                                  static_cast<std::int64_t>(x.size()), 1, 0);
      for (std::size_t i = 0; i < 3; ++i) CHECK(std::fabs(y[i]) < 1e-30F);
      for (std::size_t i = 3; i < 5; ++i) CHECK(y[i] == (fn == sigmoid ? 1 : x[i]));
    }
    // Sine and cosine have zeros: their error is absolute.
    for (const auto fn : {sin, cos}) {
      const std::vector<float> x{0, 1, -2, 3.14159274F, 100.5F, -3000.25F, 8000, 1e6F, -1e9F};
      std::vector<float> y(x.size());
      native::kernels(isa).unary[0][static_cast<std::size_t>(fn)](x.data(), y.data(),
                                                                  static_cast<std::int64_t>(x.size()), 0, 0);
      for (std::size_t i = 0; i < x.size(); ++i) {
        const double at = static_cast<double>(x[i]);
        CHECK(std::fabs(static_cast<double>(y[i]) - (fn == sin ? std::sin(at) : std::cos(at))) < 2e-7);
      }
    }
  }
}

TEST_CASE("Elementary functions keep infinities and NaN", "[native]") {
  const float infinity = INFINITY;
  const std::vector<float> x{infinity, -infinity, NAN, 0, 1e-42F, 100, -200};
  std::vector<float> y(x.size());
  const auto apply = [&](native::Isa isa, ElementwiseFn fn) {
    native::kernels(isa).unary[0][static_cast<std::size_t>(fn)](x.data(), y.data(), static_cast<std::int64_t>(x.size()),
                                                                1, 0);
  };
  for (const auto isa : {native::Isa::baseline, native::Isa::avx2, native::Isa::avx512}) {
    if (!native::runs_here(isa)) continue;
    apply(isa, ElementwiseFn::exp);
    CHECK((y[0] == infinity && y[1] == 0 && std::isnan(y[2]) && y[3] == 1 && y[5] == infinity && y[6] == 0));
    apply(isa, ElementwiseFn::log);
    CHECK((y[0] == infinity && std::isnan(y[1]) && std::isnan(y[2]) && y[3] == -infinity && std::isnan(y[6])));
    CHECK(std::fabs(y[4] + 96.6F) < 0.2F);  // log(1e-42), a denormal
    apply(isa, ElementwiseFn::tanh);
    CHECK((std::fabs(y[0] - 1) < 1e-6F && std::fabs(y[1] + 1) < 1e-6F && std::isnan(y[2]) && y[3] == 0));
    apply(isa, ElementwiseFn::sigmoid);
    CHECK((y[0] == 1 && y[1] < 1e-37F && std::isnan(y[2]) && y[3] == 0.5F));
  }
}

}  // namespace benanza
