// SPDX-License-Identifier: Apache-2.0
// EngineWords: what an engine's name for an operator, a layer type or a kernel means in the terms of Layer.
#pragma once

#include <benanza/profile/engine_profile.hpp>

#include <string_view>
#include <vector>

namespace benanza::gap {

/// The kinds of Layer that a record may be, by its operator or else by its name; empty: the words say nothing.
[[nodiscard]] std::vector<std::string_view> kinds_of(const ProfileRecord& record);
/// A scope of PyTorch's autograd, of its optimizers or of what torch.compile made: the operators inside say what it
/// does, and its own time is the framework's.
[[nodiscard]] bool is_scope(const ProfileRecord& record);
/// Changes a layout or a type and computes nothing: by its activity, or by what reorders are called.
[[nodiscard]] bool is_conversion(const ProfileRecord& record);
/// A convolution by Winograd's algorithm or by FFT, or a step of one.
[[nodiscard]] bool saves_multiplications(const ProfileRecord& record);
/// Copies or sets bytes.
[[nodiscard]] bool is_copy(const ProfileRecord& record);

}  // namespace benanza::gap
