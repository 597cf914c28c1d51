// SPDX-License-Identifier: Apache-2.0
// What the processor says of itself.
#pragma once

#include <string>

namespace benanza {

/// The widest vector extension that the processor and the system offer, in oneDNN's names: avx2, avx512_core_amx ...
/// A library may use another one: its version then says so (`Backend::version`).
[[nodiscard]] std::string processor_isa();
/// Who runs the processor as a virtual one: `KVM`, or `none`; empty: not known.
[[nodiscard]] std::string hypervisor();

}  // namespace benanza
