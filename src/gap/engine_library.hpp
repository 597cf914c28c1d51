// SPDX-License-Identifier: Apache-2.0
// EngineLibrary: the library whose kernels an engine runs, if known, and the engines' names for oneDNN's kernels.
#pragma once

#include "record_times.hpp"
#include <benanza/gap/gap.hpp>
#include <benanza/profile/engine_profile.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace benanza::gap {

/// The library that a record's kernel comes from, as the name of its backend here; empty if not known.
[[nodiscard]] std::string_view library_of(const ProfileRecord& record);

/// Sums of the own times of the counted records, grouped by the library whose call launched them or that `library_of`
/// finds.
[[nodiscard]] std::vector<LibraryTime> time_by_library(const EngineProfile& profile, const RecordTimes& times);

/// Kernel family and instruction set of a oneDNN implementation; the same for oneDNN's own name
/// (`brgconv_1x1:avx512_core`) and for OpenVINO's name (`brgconv_avx512_1x1_f32`). Empty if the name does not contain
/// the family.
[[nodiscard]] std::string onednn_kernel(std::string_view implementation);

}  // namespace benanza::gap
