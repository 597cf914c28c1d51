// SPDX-License-Identifier: Apache-2.0
// Programs that measure independently of what their environment sets for OpenMP.
#pragma once

namespace benanza {

/// If a program contains a call of it, OMP_*, GOMP_* and KMP_* are removed from its environment before `main`, and
/// before any of its shared libraries reads them; the call itself does nothing. `benanza` and generated suites call it.
/// A shared library must not call it. Has no effect if this library is a shared one.
void ignore_openmp_environment();

}  // namespace benanza
