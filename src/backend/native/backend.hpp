// SPDX-License-Identifier: Apache-2.0
// The native backend on a chosen instruction set; tests try every set that the processor supports.
#pragma once

#include "isa.hpp"
#include <benanza/backend/native.hpp>
#include <benanza/plan/backend.hpp>

namespace benanza::native {

[[nodiscard]] std::shared_ptr<const Backend> backend(Isa isa);

}  // namespace benanza::native
