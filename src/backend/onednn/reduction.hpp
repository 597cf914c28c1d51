// SPDX-License-Identifier: Apache-2.0
// The reduction primitive, for reductions and for pooling over whole planes.
#pragma once

#include "families.hpp"
#include "post_ops.hpp"

namespace benanza::onednn {

/// Adds y = reduction of x over the dimensions that are 1 in y, both row-major, with an epilogue without operands. `p`
/// is the order of the norms.
void add_reduction(dnnl::algorithm algorithm, float p, const Dims& x, const Dims& y, const PostOps& post, Type type,
                   Candidates& candidates);

}  // namespace benanza::onednn
