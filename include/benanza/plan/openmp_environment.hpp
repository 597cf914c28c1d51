// SPDX-License-Identifier: Apache-2.0
// Programs that measure whatever their environment says of OpenMP.
#pragma once

namespace benanza {

/// A program that contains a call of it has OMP_*, GOMP_* and KMP_* taken out of its environment before `main`, and
/// before any of its shared libraries reads them; the call itself does nothing. `benanza` and generated suites call it.
/// A shared library must not call it. Without effect where this library is a shared one.
void ignore_openmp_environment();

}  // namespace benanza
