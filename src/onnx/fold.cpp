// SPDX-License-Identifier: Apache-2.0
// The element-wise part of the table, and the lookup.
#include "fold.hpp"

#include <benanza/error.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

namespace benanza::importer {
namespace {

using Ints = std::vector<std::int64_t>;

/// An integer as its type stores it: arithmetic wraps as it does at run time.
std::int64_t wrapped(DataType type, std::int64_t v) {
  switch (type) {
    case DataType::boolean: return v != 0;
    case DataType::i8: return static_cast<std::int8_t>(v);
    case DataType::u8: return static_cast<std::uint8_t>(v);
    case DataType::i16: return static_cast<std::int16_t>(v);
    case DataType::u16: return static_cast<std::uint16_t>(v);
    case DataType::i32: return static_cast<std::int32_t>(v);
    case DataType::u32: return static_cast<std::uint32_t>(v);
    default: return v;
  }
}

double rounded(DataType type, double v) {
  return type == DataType::f64 ? v : static_cast<double>(static_cast<float>(v));
}

std::int64_t to_integer(double v) {
  if (std::isnan(v)) return 0;
  constexpr double limit = 9223372036854775808.0;  // 2^63
  if (v >= limit) return std::numeric_limits<std::int64_t>::max();
  if (v < -limit) return std::numeric_limits<std::int64_t>::min();
  return static_cast<std::int64_t>(v);
}

std::optional<Ints> broadcast_dims(const Ints& a, const Ints& b) {
  Ints dims(std::max(a.size(), b.size()), 1);
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const std::int64_t da = i < a.size() ? a[a.size() - 1 - i] : 1, db = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (da != db && da != 1 && db != 1) return std::nullopt;
    dims[dims.size() - 1 - i] = da == 1 ? db : da;
  }
  return small_enough(dims) ? std::optional(dims) : std::nullopt;
}

/// For each element of `dims`, the index of the element of a tensor of shape `from` that broadcasting puts there.
std::vector<std::size_t> broadcast_indices(const Ints& from, const Ints& dims) {
  std::vector<std::size_t> result(static_cast<std::size_t>(element_count(dims)));
  for (std::size_t flat = 0; flat < result.size(); ++flat) {
    std::size_t rest = flat, index = 0, stride = 1;
    for (std::size_t k = 0; k < dims.size(); ++k) {
      const auto size = static_cast<std::size_t>(dims[dims.size() - 1 - k]);
      const std::size_t at = rest % size;
      rest /= size;
      if (k >= from.size()) continue;
      const auto own = static_cast<std::size_t>(from[from.size() - 1 - k]);
      if (own != 1) index += at * stride;
      stride *= own;
    }
    result[flat] = index;
  }
  return result;
}

// The integer function returns an empty result if ONNX leaves it undefined (a division by zero). The node is then kept.
using IntFunction = std::optional<std::int64_t> (*)(std::int64_t, std::int64_t);
using FloatFunction = double (*)(double, double);

FoldResult binary(const Tensor& a, const Tensor& b, DataType type, IntFunction on_ints, FloatFunction on_floats) {
  const auto dims = broadcast_dims(a.dims, b.dims);
  if (!dims || a.floating() != b.floating()) return std::nullopt;
  const auto ia = broadcast_indices(a.dims, *dims), ib = broadcast_indices(b.dims, *dims);
  Tensor result{.type = type, .dims = *dims, .data = {}};
  for (std::size_t i = 0; i < ia.size(); ++i) {
    if (a.floating()) {
      if (!on_floats) return std::nullopt;
      const double v = on_floats(a.data.floats[ia[i]], b.data.floats[ib[i]]);
      if (result.floating()) result.data.floats.push_back(rounded(type, v));
      else result.data.ints.push_back(v != 0);
    } else {
      const auto v = on_ints ? on_ints(a.data.ints[ia[i]], b.data.ints[ib[i]]) : std::nullopt;
      if (!v) return std::nullopt;
      result.data.ints.push_back(wrapped(type, *v));
    }
  }
  return std::vector{std::move(result)};
}

std::int64_t as_signed(std::uint64_t v) { return static_cast<std::int64_t>(v); }
std::uint64_t as_unsigned(std::int64_t v) { return static_cast<std::uint64_t>(v); }

std::optional<std::int64_t> add(std::int64_t a, std::int64_t b) { return as_signed(as_unsigned(a) + as_unsigned(b)); }
std::optional<std::int64_t> sub(std::int64_t a, std::int64_t b) { return as_signed(as_unsigned(a) - as_unsigned(b)); }
std::optional<std::int64_t> mul(std::int64_t a, std::int64_t b) { return as_signed(as_unsigned(a) * as_unsigned(b)); }
bool undefined_division(std::int64_t a, std::int64_t b) {
  return b == 0 || (a == std::numeric_limits<std::int64_t>::min() && b == -1);
}
std::optional<std::int64_t> divide(std::int64_t a, std::int64_t b) {
  return undefined_division(a, b) ? std::nullopt : std::optional(a / b);
}
std::optional<std::int64_t> remainder_of(std::int64_t a, std::int64_t b) {
  return undefined_division(a, b) ? std::nullopt : std::optional(a % b);
}
// Python's modulo, with the sign of the divisor (ONNX Mod, fmod = 0).
std::optional<std::int64_t> modulo(std::int64_t a, std::int64_t b) {
  if (undefined_division(a, b)) return std::nullopt;
  const std::int64_t r = a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
std::optional<std::int64_t> power(std::int64_t a, std::int64_t b) {
  if (b < 0) return std::nullopt;
  std::uint64_t result = 1, base = as_unsigned(a);
  for (; b > 0; b >>= 1, base *= base)
    if (b & 1) result *= base;
  return as_signed(result);
}

template <IntFunction on_ints, FloatFunction on_floats>
FoldResult arithmetic(const FoldArguments& a) {
  return binary(a.in(0), a.in(1), a.in(0).type, on_ints, on_floats);
}

template <IntFunction on_ints, FloatFunction on_floats>
FoldResult comparison(const FoldArguments& a) {
  return binary(a.in(0), a.in(1), DataType::boolean, on_ints, on_floats);
}

template <IntFunction on_ints, FloatFunction on_floats>
FoldResult variadic(const FoldArguments& a) {
  Tensor result = a.in(0);
  for (std::size_t i = 1; i < a.inputs.size(); ++i) {
    auto next = binary(result, a.in(i), result.type, on_ints, on_floats);
    if (!next) return std::nullopt;
    result = std::move(next->front());
  }
  return std::vector{std::move(result)};
}

FoldResult mod(const FoldArguments& a) {
  const bool fmod = a.node.attribute<std::int64_t>("fmod", 0) != 0;
  return binary(a.in(0), a.in(1), a.in(0).type, fmod ? remainder_of : modulo,
                fmod ? [](double x, double y) { return std::fmod(x, y); } : FloatFunction{});
}

double real_power(double x, double y) { return std::pow(x, y); }

FoldResult pow_fold(const FoldArguments& a) {
  // Pow is the only operator whose two inputs may differ in type.
  if (a.in(0).floating() == a.in(1).floating()) return arithmetic<power, real_power>(a);
  if (!a.in(0).floating()) return std::nullopt;
  Tensor exponent{.type = a.in(0).type, .dims = a.in(1).dims, .data = {}};
  for (const auto v : a.in(1).data.ints) exponent.data.floats.push_back(static_cast<double>(v));
  return binary(a.in(0), exponent, a.in(0).type, nullptr, real_power);
}

using UnaryInt = std::int64_t (*)(std::int64_t);
using UnaryFloat = double (*)(double);

template <UnaryInt on_ints, UnaryFloat on_floats>
FoldResult unary(const FoldArguments& a) {
  Tensor result = a.in(0);
  if (result.floating() ? on_floats == nullptr : on_ints == nullptr) return std::nullopt;
  if constexpr (on_floats != nullptr)
    for (auto& v : result.data.floats) v = rounded(result.type, on_floats(v));
  if constexpr (on_ints != nullptr)
    for (auto& v : result.data.ints) v = wrapped(result.type, on_ints(v));
  return std::vector{std::move(result)};
}

FoldResult identity(const FoldArguments& a) { return std::vector{a.in(0)}; }

FoldResult cast(const FoldArguments& a) {
  // Operator sets before 6 have the type as a string.
  const auto found = a.node.attributes.find("to");
  const auto* number = found == a.node.attributes.end() ? nullptr : std::get_if<std::int64_t>(&found->second);
  const auto type =
      number && *number > 0 && *number < 64 ? data_type_from_onnx(static_cast<int>(*number)) : std::nullopt;
  if (!type || *type == DataType::string || a.in(0).type == DataType::string || bits(*type) < 8) return std::nullopt;
  const Tensor& x = a.in(0);
  Tensor result{.type = *type, .dims = x.dims, .data = {}};
  if (result.floating() && bits(*type) < 16) return std::nullopt;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (result.floating())
      result.data.floats.push_back(
          rounded(*type, x.floating() ? x.data.floats[i] : static_cast<double>(x.data.ints[i])));
    else if (x.floating())
      result.data.ints.push_back(*type == DataType::boolean ? x.data.floats[i] != 0
                                                            : wrapped(*type, to_integer(x.data.floats[i])));
    else result.data.ints.push_back(wrapped(*type, x.data.ints[i]));
  }
  return std::vector{std::move(result)};
}

FoldResult where(const FoldArguments& a) {
  const Tensor &condition = a.in(0), &x = a.in(1), &y = a.in(2);
  if (x.type != y.type || condition.floating()) return std::nullopt;
  const auto pair = broadcast_dims(x.dims, y.dims);
  const auto dims = pair ? broadcast_dims(condition.dims, *pair) : std::nullopt;
  if (!dims) return std::nullopt;
  const auto ic = broadcast_indices(condition.dims, *dims), ix = broadcast_indices(x.dims, *dims),
             iy = broadcast_indices(y.dims, *dims);
  Tensor result{.type = x.type, .dims = *dims, .data = {}};
  for (std::size_t i = 0; i < ic.size(); ++i) {
    const bool first = condition.data.ints[ic[i]] != 0;
    if (x.floating()) result.data.floats.push_back(first ? x.data.floats[ix[i]] : y.data.floats[iy[i]]);
    else result.data.ints.push_back(first ? x.data.ints[ix[i]] : y.data.ints[iy[i]]);
  }
  return std::vector{std::move(result)};
}

FoldResult clip(const FoldArguments& a) {
  if (!a.has(1) && !a.has(2)) return std::nullopt;
  FoldResult result = std::vector{a.in(0)};
  if (a.has(1))
    result = binary(
        result->front(), a.in(1), a.in(0).type,
        [](std::int64_t x, std::int64_t y) { return std::optional(std::max(x, y)); },
        [](double x, double y) { return std::max(x, y); });
  if (result && a.has(2))
    result = binary(
        result->front(), a.in(2), a.in(0).type,
        [](std::int64_t x, std::int64_t y) { return std::optional(std::min(x, y)); },
        [](double x, double y) { return std::min(x, y); });
  return result;
}

// ONNX Round: half to even.
double round_even(double x) { return std::nearbyint(x); }

/// X and a number of any type by which it is multiplied or divided.
FoldResult scale(const FoldArguments& a) {
  const Tensor &x = a.in(0), &by = a.in(1);
  if (!x.floating() || by.data.floats.size() + by.data.ints.size() != 1) return std::nullopt;
  const double number = by.floating() ? by.data.floats[0] : static_cast<double>(by.data.ints[0]);
  const bool down = a.node.attribute<std::int64_t>("scale_down", 0) != 0;
  Tensor result = x;
  for (double& v : result.data.floats) v = rounded(x.type, down ? v / number : v * number);
  return std::vector{std::move(result)};
}

constexpr FoldEntry elementwise_table[] = {
    {"Abs", unary<[](std::int64_t x) { return x < 0 ? as_signed(0 - as_unsigned(x)) : x; },
                  [](double x) { return std::abs(x); }>},
    {"Add", arithmetic<add, [](double x, double y) { return x + y; }>},
    {"And", comparison<[](std::int64_t x, std::int64_t y) { return std::optional<std::int64_t>(x && y); }, nullptr>},
    {"Cast", cast},
    {"Ceil", unary<nullptr, [](double x) { return std::ceil(x); }>},
    {"Clip", clip},
    {"Div", arithmetic<divide, [](double x, double y) { return x / y; }>},
    {"Equal", comparison<[](std::int64_t x, std::int64_t y) { return std::optional<std::int64_t>(x == y); },
                         [](double x, double y) { return double(x == y); }>},
    {"Exp", unary<nullptr, [](double x) { return std::exp(x); }>},
    {"Floor", unary<nullptr, [](double x) { return std::floor(x); }>},
    {"Greater", comparison<[](std::int64_t x, std::int64_t y) { return std::optional<std::int64_t>(x > y); },
                           [](double x, double y) { return double(x > y); }>},
    {"GreaterOrEqual", comparison<[](std::int64_t x, std::int64_t y) { return std::optional<std::int64_t>(x >= y); },
                                  [](double x, double y) { return double(x >= y); }>},
    {"Identity", identity},
    {"Less", comparison<[](std::int64_t x, std::int64_t y) { return std::optional<std::int64_t>(x < y); },
                        [](double x, double y) { return double(x < y); }>},
    {"LessOrEqual", comparison<[](std::int64_t x, std::int64_t y) { return std::optional<std::int64_t>(x <= y); },
                               [](double x, double y) { return double(x <= y); }>},
    {"Log", unary<nullptr, [](double x) { return std::log(x); }>},
    {"Max", variadic<[](std::int64_t x, std::int64_t y) { return std::optional(std::max(x, y)); },
                     [](double x, double y) { return std::max(x, y); }>},
    {"Min", variadic<[](std::int64_t x, std::int64_t y) { return std::optional(std::min(x, y)); },
                     [](double x, double y) { return std::min(x, y); }>},
    {"Mod", mod},
    {"Mul", arithmetic<mul, [](double x, double y) { return x * y; }>},
    {"Neg", unary<[](std::int64_t x) { return as_signed(0 - as_unsigned(x)); }, [](double x) { return -x; }>},
    {"Not", unary<[](std::int64_t x) { return std::int64_t{x == 0}; }, nullptr>},
    {"Or", comparison<[](std::int64_t x, std::int64_t y) { return std::optional<std::int64_t>(x || y); }, nullptr>},
    {"Pow", pow_fold},
    {"Reciprocal", unary<nullptr, [](double x) { return 1 / x; }>},
    {"Relu",
     unary<[](std::int64_t x) { return std::max<std::int64_t>(x, 0); }, [](double x) { return std::max(x, 0.0); }>},
    {"Round", unary<nullptr, round_even>},
    {"Sign", unary<[](std::int64_t x) { return std::int64_t{(x > 0) - (x < 0)}; },
                   [](double x) { return double((x > 0) - (x < 0)); }>},
    {"Sqrt", unary<nullptr, [](double x) { return std::sqrt(x); }>},
    {"Sub", arithmetic<sub, [](double x, double y) { return x - y; }>},
    {"Sum", variadic<add, [](double x, double y) { return x + y; }>},
    {"Where", where},
    {"Xor", comparison<[](std::int64_t x, std::int64_t y) { return std::optional<std::int64_t>((x != 0) != (y != 0)); },
                       nullptr>},
    {"com.microsoft.Scale", scale},
};

}  // namespace

std::span<const FoldEntry> elementwise_folds() { return elementwise_table; }

Fold find_fold(std::string_view op_type) {
  static const auto all = [] {
    std::unordered_map<std::string_view, Fold> folds;
    for (const auto& part : {elementwise_folds(), movement_folds(), search_folds()})
      for (const auto& entry : part) folds.emplace(entry.op_type, entry.fold);
    return folds;
  }();
  const auto found = all.find(op_type);
  return found == all.end() ? nullptr : found->second;
}

}  // namespace benanza::importer
