// SPDX-License-Identifier: Apache-2.0
// Plans of convolutions by Winograd's algorithm.
#pragma once

#include "context.hpp"
#include "convolution_operands.hpp"
#include "tile_epilogue.hpp"

namespace benanza::native {

/// Adds plans that compute the products by tiles of this shape, if the algorithm applies (3x3 taps, stride 1, channels
/// in blocks) and saves enough multiplications.
void add_winograd_plans(Plans& plans, const ConvolutionOperands& operands, const ConvolutionShape& shape,
                        TileShape tile, const TileEpilogue& epilogue, const Context& context);

}  // namespace benanza::native
