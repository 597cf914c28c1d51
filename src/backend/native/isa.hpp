// SPDX-License-Identifier: Apache-2.0
// Isa: the instruction sets that the kernels are compiled for.
#pragma once

#include "kernels.hpp"

#include <array>
#include <string_view>

namespace benanza::native {

enum class Isa : std::uint8_t { baseline, avx2, avx512 };
inline constexpr std::array<std::string_view, 3> isa_names{"baseline", "avx2", "avx512"};

/// Whether the instruction set is compiled in and supported by this processor and its operating system.
[[nodiscard]] bool runs_here(Isa isa);
[[nodiscard]] Isa widest_isa();
/// The table of an instruction set; throws UsageError unless runs_here(isa).
[[nodiscard]] const Kernels& kernels(Isa isa);

}  // namespace benanza::native
