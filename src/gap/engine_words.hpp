// SPDX-License-Identifier: Apache-2.0
// EngineWords: translates an engine's names for operators, layer types and kernels into the terms of Layer.
#pragma once

#include <benanza/profile/engine_profile.hpp>

#include <string_view>
#include <vector>

namespace benanza::gap {

/// The kinds of Layer that a record may be, by its operator or otherwise by its name; empty if the words say nothing.
[[nodiscard]] std::vector<std::string_view> kinds_of(const ProfileRecord& record);
/// A scope of PyTorch's autograd, of its optimizers or of code that torch.compile generated. The operators inside it
/// say what it does; its own time is the framework's.
[[nodiscard]] bool is_scope(const ProfileRecord& record);
/// Changes a layout or a type and computes nothing; recognized by its activity or by the usual names of reorders.
[[nodiscard]] bool is_conversion(const ProfileRecord& record);
/// Copies or sets bytes.
[[nodiscard]] bool is_copy(const ProfileRecord& record);

}  // namespace benanza::gap
