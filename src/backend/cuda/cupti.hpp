// SPDX-License-Identifier: Apache-2.0
// CUPTI, loaded on first use: a machine without it can still measure.
#pragma once

#include "plan/shared_library.hpp"

#include <cuda_runtime_api.h>
#include <cupti.h>

#include <memory>
#include <string>
#include <variant>

namespace benanza::cuda {

/// The library of this build's toolkit, or one line with the reason why it cannot be loaded. It stays loaded.
[[nodiscard]] const std::variant<std::unique_ptr<SharedLibrary>, std::string>& cupti();

/// One line for the result of a call: what has to be changed if the driver restricts counters to administrators,
/// otherwise the name of the error.
[[nodiscard]] std::string failure_of(const char* call, CUptiResult result);

}  // namespace benanza::cuda
