// SPDX-License-Identifier: Apache-2.0
// A file of its own in its library, compiled by itself: a program has it only if it asks for it.
#include "openmp_environment.inc"

#include <benanza/plan/openmp_environment.hpp>

namespace benanza {

void ignore_openmp_environment() {}

}  // namespace benanza
