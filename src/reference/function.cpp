// SPDX-License-Identifier: Apache-2.0
#include "function.hpp"

#include <benanza/error.hpp>
#include <benanza/plan/element.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>

namespace benanza::reference {

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

namespace {

bool is_integer(DataType type) { return !is_float(type) && type != DataType::boolean; }

double softplus(double x) { return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)); }

/// NaN if either operand is NaN, as in NumPy's maximum and minimum.
template <class Less>
double extreme(double a, double b, Less less) {
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<double>::quiet_NaN();
  return less(a, b) ? b : a;
}

/// The bit pattern of a number of an integer type.
std::uint64_t pattern(DataType type, double value) {
  if (integer_range(type).least < 0) return static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
  return static_cast<std::uint64_t>(value);
}

/// The number of an integer type that the low bits of a pattern represent.
double number(DataType type, std::uint64_t bits_of_value) {
  const int unused = 64 - bits(type);
  const std::uint64_t high = bits_of_value << unused;
  if (integer_range(type).least < 0) return static_cast<double>(static_cast<std::int64_t>(high) >> unused);
  return static_cast<double>(high >> unused);
}

double integer_function(ElementwiseFn fn, DataType type, double a, double b) {
  using enum ElementwiseFn;
  const std::uint64_t x = pattern(type, a), y = pattern(type, b);
  const bool has_sign = integer_range(type).least < 0;
  const auto sx = static_cast<std::int64_t>(x), sy = static_cast<std::int64_t>(y);
  switch (fn) {
    case add: return number(type, x + y);
    case sub: return number(type, x - y);
    case mul: return number(type, x * y);
    case bitwise_and: return number(type, x & y);
    case bitwise_or: return number(type, x | y);
    case bitwise_xor: return number(type, x ^ y);
    // A negative number shifts by all bits or more, which leaves zeros or, to the right, only the sign (ONNX BitShift).
    case shift_left: return y >= 64 ? 0 : number(type, x << y);
    case shift_right:
      if (y >= 64) return has_sign && sx < 0 ? -1 : 0;
      return number(type, has_sign ? static_cast<std::uint64_t>(sx >> y) : x >> y);
    case div:  // truncates
      if (y == 0) return 0;
      if (has_sign && sy == -1) return number(type, 0 - x);
      return number(type, has_sign ? static_cast<std::uint64_t>(sx / sy) : x / y);
    case mod:
    case fmod: {  // the sign of the divisor (mod) or of the dividend (fmod)
      if (y == 0 || (has_sign && sy == -1)) return 0;
      if (!has_sign) return number(type, x % y);
      std::int64_t rest = sx % sy;
      if (fn == mod && rest != 0 && (rest < 0) != (sy < 0)) rest += sy;
      return static_cast<double>(rest);
    }
    case pow: {
      if (has_sign && sy < 0) return std::trunc(std::pow(a, b));
      std::uint64_t power = 1, base = x;
      for (std::uint64_t e = y; e != 0; e >>= 1, base *= base)
        if ((e & 1U) != 0) power *= base;
      return number(type, power);
    }
    default: return 0;
  }
}

}  // namespace

double wrap(DataType type, double value) {
  if (!is_integer(type)) return value;
  const double modulus = std::ldexp(1.0, bits(type));
  const auto [least, largest] = integer_range(type);
  if (value >= least && value <= largest) return value;
  const double rest = value - std::floor(value / modulus) * modulus;
  return least < 0 && rest >= modulus / 2 ? rest - modulus : rest;
}

double apply(ElementwiseFn fn, DataType type, double x, double alpha, double beta) {
  using enum ElementwiseFn;
  switch (fn) {
    case abs: return wrap(type, std::fabs(x));
    case acos: return std::acos(x);
    case acosh: return std::acosh(x);
    case asin: return std::asin(x);
    case asinh: return std::asinh(x);
    case atan: return std::atan(x);
    case atanh: return std::atanh(x);
    case bitwise_not: return number(type, ~pattern(type, x));
    case ceil: return std::ceil(x);
    case celu: return std::max(0.0, x) + std::min(0.0, alpha * std::expm1(x / alpha));
    case clip: return std::min(std::max(x, alpha), beta);
    case cos: return std::cos(x);
    case cosh: return std::cosh(x);
    case elu: return x > 0 ? x : alpha * std::expm1(x);
    case erf: return std::erf(x);
    case exp: return std::exp(x);
    case floor: return std::floor(x);
    case gelu: return 0.5 * x * (1 + std::erf(x / std::numbers::sqrt2));
    case gelu_tanh: {  // ONNX Gelu, approximate = tanh
      const double inner = std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x);
      return 0.5 * x * (1 + std::tanh(inner));
    }
    case hard_sigmoid: return std::clamp(alpha * x + beta, 0.0, 1.0);
    case hard_swish: return x * std::clamp(x / 6 + 0.5, 0.0, 1.0);
    case is_inf: return std::isinf(x) ? 1 : 0;
    case is_nan: return std::isnan(x) ? 1 : 0;
    case leaky_relu: return x < 0 ? alpha * x : x;
    case log: return std::log(x);
    case logical_not: return x == 0 ? 1 : 0;
    case mish: return x * std::tanh(reference::softplus(x));
    case neg: return wrap(type, -x);
    case reciprocal: return 1 / x;
    case relu: return x > 0 || std::isnan(x) ? x : 0;
    case round: return std::nearbyint(x);  // ties to even
    case selu: return beta * (x > 0 ? x : alpha * std::expm1(x));
    case shrink: return x < -beta ? x + alpha : x > beta ? x - alpha : 0;
    case sigmoid: return reference::sigmoid(x);
    case sign: return x > 0 ? 1 : x < 0 ? -1 : x;
    case sin: return std::sin(x);
    case sinh: return std::sinh(x);
    case softplus: return reference::softplus(x);
    case softsign: return x / (1 + std::fabs(x));
    case sqrt: return std::sqrt(x);
    case square: return is_integer(type) ? integer_function(mul, type, x, x) : x * x;
    case swish: return x * reference::sigmoid(alpha * x);
    case tan: return std::tan(x);
    case tanh: return std::tanh(x);
    case thresholded_relu: return x > alpha ? x : 0;
    default: throw UsageError("an element-wise function of two operands was given one");
  }
}

double apply(ElementwiseFn fn, DataType type, double a, double b) {
  using enum ElementwiseFn;
  switch (fn) {
    case equal: return a == b ? 1 : 0;
    case greater: return a > b ? 1 : 0;
    case greater_or_equal: return a >= b ? 1 : 0;
    case less: return a < b ? 1 : 0;
    case less_or_equal: return a <= b ? 1 : 0;
    case logical_and: return a != 0 && b != 0 ? 1 : 0;
    case logical_or: return a != 0 || b != 0 ? 1 : 0;
    case logical_xor: return (a != 0) != (b != 0) ? 1 : 0;
    case max: return extreme(a, b, [](double x, double y) { return x < y; });
    case min: return extreme(a, b, [](double x, double y) { return x > y; });
    case prelu: return wrap(type, a < 0 ? a * b : a);
    default: break;
  }
  if (is_integer(type)) return integer_function(fn, type, a, b);
  switch (fn) {
    case add: return a + b;
    case sub: return a - b;
    case mul: return a * b;
    case div: return a / b;
    case pow: return std::pow(a, b);
    case fmod: return std::fmod(a, b);
    case mod: {  // the sign of the divisor, as in Python
      const double rest = std::fmod(a, b);
      return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
    }
    default:
      throw UsageError("an element-wise function of one operand was given two, or one of integers was given floats");
  }
}

}  // namespace benanza::reference
