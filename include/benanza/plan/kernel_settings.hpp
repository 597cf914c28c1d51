// SPDX-License-Identifier: Apache-2.0
// Environment variables that change the kernels of libraries: ONEDNN_MAX_CPU_ISA, OPENBLAS_CORETYPE, OMP_PROC_BIND ...
// (src/plan/engine_variables.inc). A measurement ignores them, or is made in another identity (`Machine::settings`).
#pragma once

#include <string>
#include <string_view>

namespace benanza {

/// If a program contains a call of it, these variables are removed from its environment before `main`, and before any
/// of its shared libraries reads them; the call itself does nothing. `benanza` and generated suites call it. A shared
/// library must not call it. Has no effect if this library is a shared one. GLIBC_TUNABLES and LD_PRELOAD, which the
/// loader reads first, remain.
void ignore_kernel_settings();

/// Whether `NAME=value` is such a variable, or GLIBC_TUNABLES: the environment of a worker lacks it.
[[nodiscard]] bool is_kernel_setting(std::string_view variable);

/// The variables that have an effect in this process, or in a worker that it starts: those that its environment has,
/// and LD_PRELOAD. `NAME=value`, by name, with a space in between; empty if there are none.
[[nodiscard]] std::string kernel_settings(bool of_worker = false);

}  // namespace benanza
