// SPDX-License-Identifier: Apache-2.0
// Programs that measure whatever their environment says of OpenMP.
#pragma once

namespace benanza {

/// A program that contains a call of it has OMP_*, GOMP_* and KMP_* taken out of its environment before `main`, and
/// before any of its shared libraries reads them; the call itself does nothing. `benanza` and generated suites call it.
/// Without effect where this library, or the code that calls it, is a shared library.
void ignore_openmp_environment();

}  // namespace benanza
