// SPDX-License-Identifier: Apache-2.0
// A separate object file in its library, compiled by itself: a program contains it only if it refers to it.
#include "openmp_environment.inc"

#include <benanza/plan/openmp_environment.hpp>

namespace benanza {

void ignore_openmp_environment() {}

}  // namespace benanza
