// SPDX-License-Identifier: Apache-2.0
// The native backend on a chosen instruction set; tests try each that the processor has.
#pragma once

#include "isa.hpp"
#include <benanza/backend/native.hpp>
#include <benanza/plan/backend.hpp>

namespace benanza::native {

[[nodiscard]] std::shared_ptr<const Backend> backend(Isa isa);

}  // namespace benanza::native
