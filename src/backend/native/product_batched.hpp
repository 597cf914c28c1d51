// SPDX-License-Identifier: Apache-2.0
// Plans for batched matrix products, and for products without weights.
#pragma once

#include "context.hpp"

namespace benanza::native {

/// Plans for f32. Unsupported, with the reason, if the product of one entry has no plan.
[[nodiscard]] Result batched_plans(const op::MatMul& op, const Context& context);

}  // namespace benanza::native
