// SPDX-License-Identifier: Apache-2.0
// Operator: the requirements that every operator fulfils. An operator is an aggregate of named, defaulted fields
// that holds everything that affects its speed and nothing else. `fields` visits them in order; signature, parser, code
// emission, JSON and the round-trip tests are written once over it. `from` reads a node of one of the `onnx_types`, or
// returns nothing if the operator cannot describe the node; `consistent` checks whether the fields match, so that
// shapes and costs can be computed. `family` is what reports and bounds need to treat similar operators alike. An
// operator that only moves elements, so that a consumer could read through it, declares
// `static constexpr bool transparent = true`. The concept counts visited fields against aggregate members, because a
// forgotten field would merge different layers.
#pragma once

#include <benanza/model/data_type.hpp>
#include <benanza/model/tensor_shape.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace benanza {

struct Graph;
struct Node;
struct Value;

/// Operators that look alike to a reader. The page gives each family a colour.
enum class Family : std::uint8_t {
  convolution,
  product,  ///< multiplies matrices, in one way or another
  window,
  normalization,
  elementwise,
  other,
};
/// The names that the page shows.
[[nodiscard]] constexpr std::array<std::string_view, 6> enum_names(Family) {
  return {"convolution", "matrix product", "window or reduction", "normalisation", "elementwise", "movement and other"};
}

/// What a tensor is filled with when it is measured or checked.
enum class Contents : std::uint8_t {
  uniform,   ///< random, non-zero, scaled so that nothing overflows or becomes denormal
  positive,  ///< random in [0.5, 1.5], for 8-bit floats in [0.25, 4]: variances, scales, divisors
  indices,   ///< uniform in [0, limit)
  boolean,   ///< 0 or 1
  even,      ///< non-zero even integers: libraries that halve 8-bit weights to keep sums in range stay exact
  settling,  ///< uniform, divided by sqrt(`limit`): weights of that many units that feed back on themselves
};

/// One tensor that a layer reads or writes. Plans take their buffers in this order.
struct Operand {
  std::string_view name{};  ///< the ONNX specification's letter or word
  DataType type = DataType::f32;
  TensorShape shape{};
  bool constant = false;  ///< known before the first call: may be re-laid out outside the timed region
  Contents contents = Contents::uniform;
  std::int64_t limit = 0;                 ///< indices are below it; for settling weights the number of units
  std::optional<std::int64_t> touched{};  ///< distinct elements really accessed, if fewer than all (a gather's rows)
  /// For an output that is updated in place: the index of the input whose elements it has before a call. Both have the
  /// same type and shape. Plans take both in the plain layout.
  std::optional<std::size_t> starts_as{};
  /// When results are checked, values are multiplied by two to this power, so that anything that a plan leaves out is
  /// detected.
  int exponent = 0;

  /// Whether it holds numbers that are known before the first call: what an engine keeps in memory between requests.
  [[nodiscard]] bool is_weight() const {
    return constant && contents != Contents::indices && contents != Contents::boolean;
  }
  [[nodiscard]] std::int64_t elements() const { return element_count(shape); }
  [[nodiscard]] std::int64_t bytes() const { return (checked_product(elements(), bits(type)) + 7) / 8; }
  [[nodiscard]] std::int64_t touched_bytes() const {
    return (checked_product(touched.value_or(elements()), bits(type)) + 7) / 8;
  }
};

struct Operands {
  std::vector<Operand> inputs{};
  std::vector<Operand> outputs{};
};

/// Arithmetic of one call.
struct Arithmetic {
  std::int64_t macs = 0;  ///< nominal multiply-adds of convolutions and matrix products, including taps in the padding:
                          ///< the figure usually quoted
  /// What the direct algorithm has to compute: in-range taps only, two per multiply-add, one per element-wise function.
  double flops = 0;
  /// What every known algorithm has to compute, if some save multiplications (Winograd, FFT). Empty: `flops`.
  std::optional<double> least_flops{};
};

namespace detail {

struct ConvertibleToAny {
  template <class T>
  operator T() const;  // never defined: used in unevaluated operands only
};

template <class T, std::size_t... I>
constexpr bool initializable_with(std::index_sequence<I...>) {
  return requires { T{(static_cast<void>(I), ConvertibleToAny{})...}; };
}

template <class T>
consteval std::size_t visited_fields() {
  std::size_t count = 0;
  T op{};
  T::fields(op, [&count](std::string_view, auto&) { ++count; });
  return count;
}

/// Whether `fields` visits as many fields as the aggregate has members: the aggregate can be initialised with that many
/// values, but not with one more.
template <class T>
consteval bool visits_every_member() {
  constexpr std::size_t count = visited_fields<T>();
  return initializable_with<T>(std::make_index_sequence<count>{}) &&
         !initializable_with<T>(std::make_index_sequence<count + 1>{});
}

}  // namespace detail

template <class T>
concept Operator = std::is_aggregate_v<T> && requires(const T& op, const Node& node, const Graph& graph) {
  { T::kind } -> std::convertible_to<std::string_view>;
  { T::family } -> std::convertible_to<Family>;
  { op.operands() } -> std::same_as<Operands>;
  { op.arithmetic() } -> std::same_as<Arithmetic>;
  { op.type } -> std::convertible_to<DataType>;
  { op.consistent() } -> std::same_as<bool>;
  {std::string_view(*T::onnx_types.begin())};
  { T::from(node, graph) } -> std::same_as<std::optional<T>>;
} && detail::visits_every_member<T>();

}  // namespace benanza
