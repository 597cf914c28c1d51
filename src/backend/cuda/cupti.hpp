// SPDX-License-Identifier: Apache-2.0
// CUPTI, which is loaded when it is first asked for: a machine without it measures all the same.
#pragma once

#include <benanza/plan/shared_library.hpp>

#include <cuda_runtime_api.h>
#include <cupti.h>

#include <memory>
#include <string>
#include <variant>

namespace benanza::cuda {

/// The library of this build's toolkit, or one line that says why it cannot be loaded. It stays loaded.
[[nodiscard]] const std::variant<std::unique_ptr<SharedLibrary>, std::string>& cupti();

/// One line for what a call answered: what has to be changed where the driver keeps counters to administrators, the
/// name of the error otherwise.
[[nodiscard]] std::string failure_of(const char* call, CUptiResult result);

}  // namespace benanza::cuda
