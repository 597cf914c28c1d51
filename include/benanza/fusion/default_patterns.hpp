// SPDX-License-Identifier: Apache-2.0
// The default patterns, in the order in which they are applied: functions written out in parts become one layer again,
// attention is grouped, convolutions take over their padding, epilogues absorb the layers that follow, products that
// read the same input are merged, as are a gate's product and the product that it gates, remaining sums join their
// norms, and what is left of element-wise layers becomes expressions.
#pragma once

#include <benanza/fusion/pattern.hpp>

#include <vector>

namespace benanza {

/// The patterns, in order: SiLU, GELU (erf and tanh forms), hard-swish, RMS and layer norm, and rotary embeddings that
/// are written out in parts; scale-mask-softmax attention; zeros around a convolution; then convolution, matrix
/// product, resize, batch norm or an element-wise function with everything that follows in its epilogue; products that
/// share an input; a gated product; a norm with the sum before it, if that is still single; finally expressions of
/// element-wise layers and reductions over rows.
[[nodiscard]] std::vector<Pattern> default_patterns();

}  // namespace benanza

#ifndef BENANZA_COMPILED
#include <benanza/impl/fusion/default_patterns_inl.hpp>
#endif
