// SPDX-License-Identifier: Apache-2.0
// Classifies the events of PyTorch's traces by their categories and names.
#pragma once

#include <benanza/profile/engine_profile.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace benanza::profile {

enum class TraceKind : std::uint8_t { op, annotation, call, kernel, copy, other };

/// Kind for a category, as current traces and those before 2022 name it (libkineto/src/ActivityType.cpp).
[[nodiscard]] TraceKind trace_kind(std::string_view category);

/// Type for c10's name of a tensor's type, as record_shapes writes it; empty if it is not a tensor.
[[nodiscard]] std::optional<DataType> torch_type(std::string_view name);

/// The description of an event, stored once for all events of a name.
struct TraceDescription {
  std::string name{};
  TraceKind kind = TraceKind::other;
  bool graph = false;  ///< launched as part of a CUDA graph
  std::vector<ProfiledTensor> inputs{};
};

[[nodiscard]] Activity activity_of(const TraceDescription& what);

}  // namespace benanza::profile
