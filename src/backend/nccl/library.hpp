// SPDX-License-Identifier: Apache-2.0
// The NCCL that is loaded at run time: calls, statuses as exceptions.
#pragma once

#include <nccl.h>

#include <string>
#include <type_traits>
#include <variant>

namespace benanza::nccl {

/// Every call that is used. It is a macro because the names are looked up as text.
// clang-format off
#define BENANZA_NCCL_CALLS(X) \
  X(ncclGetVersion) X(ncclGetErrorString) X(ncclCommInitAll) X(ncclCommDestroy) X(ncclGroupStart) X(ncclGroupEnd) \
  X(ncclAllReduce) X(ncclReduceScatter) X(ncclAllGather)
// clang-format on

struct Calls {
#define BENANZA_DECLARE(name) std::add_pointer_t<decltype(::name)> name = nullptr;
  BENANZA_NCCL_CALLS(BENANZA_DECLARE)
#undef BENANZA_DECLARE
};

/// The calls of the process's library, or the reason why there are none.
[[nodiscard]] const std::variant<Calls, std::string>& library();
/// Throws EnvironmentError without a library.
[[nodiscard]] const Calls& calls();
/// `2.28.9`; `none` without a library.
[[nodiscard]] std::string version();

/// Turns a failure status into an exception: EnvironmentError with the call and its location.
void check(ncclResult_t status, const char* call, const char* file = __builtin_FILE(), int line = __builtin_LINE());

}  // namespace benanza::nccl
