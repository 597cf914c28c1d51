// SPDX-License-Identifier: Apache-2.0
// The reference: plain loops in double precision for every operator. Results of other backends are checked against it,
// and it is never part of a bound. It is checked against ONNX's own node-test vectors. Callers can ask for single
// output elements, so that a plan is checked at the real shape of its layer: for a smaller shape a library would choose
// another kernel.
#pragma once

#include <benanza/plan/parameters.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace benanza::reference {

using benanza::Parameters;
using benanza::parameters_of;

/// Elements `indices` (flat, row-major) of output `output`, from row-major inputs in the order of `operands(layer)`.
/// What the operator shares between outputs (rows of a softmax, statistics, a whole recurrence) is computed once per
/// call, so ask for all samples at once. Floating-point results are not rounded to their type. Integer results are
/// rounded to nearest even; they saturate if the operator accumulates (convolution, product, quantisation) and wrap
/// around if it is element-wise. If a scatter without reduction writes an element twice, the later update wins. A bias
/// is added to the accumulator of a quantised product before it is rescaled, and the further steps follow after that
/// (ONNX QLinearConv). Throws UsageError for an Opaque layer, for inputs or an output that do not match the layer and
/// for indices out of range.
[[nodiscard]] std::vector<double> evaluate(const Layer& layer, std::span<const void* const> inputs, std::size_t output,
                                           std::span<const std::int64_t> indices, const Parameters& parameters);
/// The same with `parameters_of(layer)`.
[[nodiscard]] std::vector<double> evaluate(const Layer& layer, std::span<const void* const> inputs, std::size_t output,
                                           std::span<const std::int64_t> indices);

/// All elements of an output; for tests.
[[nodiscard]] std::vector<double> evaluate_all(const Layer& layer, std::span<const void* const> inputs,
                                               std::size_t output, const Parameters& parameters = {});

/// At most `samples` distinct flat indices of a tensor of `elements`, in ascending order; equal seeds give equal
/// indices. They include the first and the last element, where border cases occur.
[[nodiscard]] std::vector<std::int64_t> sample_indices(std::int64_t elements, std::size_t samples,
                                                       std::uint64_t seed = 0);

/// Where to check an output: at most `samples` of all its elements, and as many of those that a scatter updates or that
/// the first step of a recurrence with an initial state gives; ascending and distinct. `inputs` as for `evaluate`.
[[nodiscard]] std::vector<std::int64_t> checked_indices(const Layer& layer, std::span<const void* const> inputs,
                                                        std::size_t output, std::size_t samples);

/// Elements of a row-major output buffer, for comparison with `evaluate`.
[[nodiscard]] std::vector<double> read(const Operand& operand, const void* data, std::span<const std::int64_t> indices);

/// Largest |got - expected| over the largest finite |expected|; absolute if all expected values are 0. Infinite if
/// anything is NaN, or infinite on one side only, or if the counts differ.
[[nodiscard]] double difference(std::span<const double> expected, std::span<const double> got);

/// Whether an output is right. Floating-point outputs: the difference is at most `tolerance`. Integer and boolean
/// outputs: they are equal, but a difference of one unit is accepted if the operator rounds to 8 bits (quantised
/// convolution and product, quantisation, averages, interpolation).
[[nodiscard]] bool agree(const Layer& layer, std::size_t output, std::span<const double> expected,
                         std::span<const double> got, double tolerance);

}  // namespace benanza::reference
