// SPDX-License-Identifier: Apache-2.0
// EngineLibrary: the library whose kernels an engine runs, where that is known, and engines' names for oneDNN's
// kernels.
#pragma once

#include "timeline.hpp"
#include <benanza/gap/gap.hpp>
#include <benanza/profile/engine_profile.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace benanza::gap {

/// The library that a record's kernel is of, by the name of its backend here; empty: not known.
[[nodiscard]] std::string_view library_of(const ProfileRecord& record);

/// Own times of the records that are counted, by the library whose call launched them or that `library_of` finds.
[[nodiscard]] std::vector<LibraryTime> time_by_library(const EngineProfile& profile, const Timeline& timeline);

/// Kernel family and instruction set of one of oneDNN's implementations, the same for oneDNN's own name of it
/// (`brgconv_1x1:avx512_core`) and for OpenVINO's (`brgconv_avx512_1x1_f32`). Empty: the name does not tell the family.
[[nodiscard]] std::string onednn_kernel(std::string_view implementation);

}  // namespace benanza::gap
