// SPDX-License-Identifier: Apache-2.0
#include "library.hpp"

#include "plan/shared_library.hpp"
#include <benanza/error.hpp>

#include <memory>
#include <string_view>

namespace benanza::nccl {

const std::variant<Calls, std::string>& library() {
  using Result = std::variant<Calls, std::string>;
  static const Result result = []() -> Result {
    static const auto opened = SharedLibrary::open({"libnccl.so.2"});  // open until the program ends
    if (const auto* reason = std::get_if<std::string>(&opened)) return "no NCCL 2: " + *reason;
    const SharedLibrary& file = *std::get<std::unique_ptr<SharedLibrary>>(opened);
    Calls calls;
    std::string missing;
    const auto find = [&](auto& call, const char* name) {
      using Function = std::remove_pointer_t<std::remove_reference_t<decltype(call)>>;
      call = file.function<Function>(name);
      if (call == nullptr && missing.empty()) missing = name;
    };
#define BENANZA_FIND(name) find(calls.name, #name);
    BENANZA_NCCL_CALLS(BENANZA_FIND)
#undef BENANZA_FIND
    if (!missing.empty()) return "the NCCL that was found lacks " + missing;
    return calls;
  }();
  return result;
}

const Calls& calls() {
  if (const auto* reason = std::get_if<std::string>(&library())) throw EnvironmentError(*reason);
  return std::get<Calls>(library());
}

std::string version() {
  const auto* found = std::get_if<Calls>(&library());
  int number = 0;
  if (found == nullptr || found->ncclGetVersion(&number) != ncclSuccess) return "none";
  return std::to_string(number / 10000) + "." + std::to_string(number % 10000 / 100) + "." +
         std::to_string(number % 100);  // 22809 is 2.28.9
}

void check(ncclResult_t status, const char* call, const char* file, int line) {
  if (status == ncclSuccess) return;
  const std::string_view path(file);
  throw EnvironmentError(std::string(call) + " failed at " + std::string(path.substr(path.rfind('/') + 1)) + ":" +
                         std::to_string(line) + ": " + calls().ncclGetErrorString(status));
}

}  // namespace benanza::nccl
