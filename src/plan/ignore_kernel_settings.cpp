// SPDX-License-Identifier: Apache-2.0
// A separate object file in its library, compiled by itself: a program contains it only if it refers to it.
#include "engine_variables.inc"
#include "remove_variables.inc"
#include <benanza/plan/kernel_settings.hpp>

namespace benanza {

void ignore_kernel_settings() {}

}  // namespace benanza
