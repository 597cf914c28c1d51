// SPDX-License-Identifier: Apache-2.0
// The timeline of a CUDA device, and the profile of one pass that is computed from it; nsys.cpp reads it from a
// database.
#pragma once

#include "library_spans.hpp"
#include "source.hpp"
#include <benanza/profile/engine_profile.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace benanza::profile {

/// A call of the host.
struct Launch {
  std::int64_t start = 0;  ///< ns
  std::int64_t thread = 0;
};

/// A labelled range of a host thread.
struct Range {
  std::int64_t start = 0, end = 0;  ///< ns
  std::string text{};
  std::size_t parent = none;  ///< the range of the same thread that encloses it
  static constexpr std::size_t none = static_cast<std::size_t>(-1);
};

struct DeviceEvent {
  Activity activity = Activity::kernel;
  std::int64_t row = 0;
  std::int64_t start = 0, end = 0;  ///< ns
  std::int64_t stream = 0;
  std::string name{};
  std::string detail{};                    ///< demangled name
  std::string sizes{};                     ///< dimensions of the grid and its blocks; bytes of a copy
  std::string label{};                     ///< text of the innermost range around its launch
  std::optional<std::int64_t> launched{};  ///< when the host made the call, ns
  std::int64_t thread = 0;                 ///< the thread that made the call
  std::vector<std::string> chain{};        ///< callers of a call, innermost first
  bool between = false;                    ///< a call between two library calls of its thread
  bool between_libraries = false;          ///< as in ProfileRecord
  bool is_record = true;                   ///< false: only a part of EngineProfile::between
};

/// A range of a host thread that the profiler itself took.
struct Overhead {
  std::int64_t start = 0, end = 0;  ///< ns
};

struct DeviceTimeline {
  std::vector<DeviceEvent> events{};
  std::vector<DeviceEvent> calls{};  ///< host calls, by start; their stream is the thread
  std::vector<Overhead> overheads{};
  LibrarySpans libraries{};
  std::vector<std::string> warnings{};
};

/// Passes are the repetitions of the sequence of kernels, on any streams. A pass lasts from the launch of its first
/// kernel, or from the copies to the device just before it, to the end of its last kernel or of the copies to the host
/// after it. A call of the host belongs to the pass in which it starts, if this is before the next one starts.
[[nodiscard]] EngineProfile make_profile(const Source& source, DeviceTimeline timeline, const ProfileOptions& options);

}  // namespace benanza::profile
