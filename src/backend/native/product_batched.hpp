// SPDX-License-Identifier: Apache-2.0
// Plans for matrix products of a batch, and for those without weights.
#pragma once

#include "context.hpp"

namespace benanza::native {

/// For f32. Why there is none, if the product of one entry has no plan.
[[nodiscard]] Result batched_plans(const op::MatMul& op, const Context& context);

}  // namespace benanza::native
