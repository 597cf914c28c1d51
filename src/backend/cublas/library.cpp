// SPDX-License-Identifier: Apache-2.0
#include "library.hpp"

#include <new>
#include <string_view>
#include <type_traits>

namespace benanza::cublas {

namespace {

using Opened = std::variant<std::unique_ptr<SharedLibrary>, std::string>;

/// Opens the library of the headers' major version by its file name.
Opened open(const std::string& name) {
  const std::string file = name + ".so." + std::to_string(CUBLAS_VER_MAJOR);
  Opened opened = SharedLibrary::open({file});
  if (const auto* reason = std::get_if<std::string>(&opened))
    return "no cuBLAS " + std::to_string(CUBLAS_VER_MAJOR) + ": " + *reason;
  return opened;
}

}  // namespace

const std::variant<Calls, std::string>& library() {
  using Result = std::variant<Calls, std::string>;
  static const Result result = []() -> Result {
    static Opened lt = open("libcublasLt"), blas = open("libcublas");  // open until the program ends
    for (const auto* opened : {&lt, &blas})
      if (const auto* reason = std::get_if<std::string>(opened)) return *reason;
    Calls calls;
    std::string missing;
    const auto find = [&](auto& call, const Opened& opened, const char* name) {
      using Function = std::remove_pointer_t<std::remove_reference_t<decltype(call)>>;
      call = std::get<std::unique_ptr<SharedLibrary>>(opened)->function<Function>(name);
      if (call == nullptr && missing.empty()) missing = name;
    };
#define BENANZA_FIND(name) find(calls.name, blas, #name);
    BENANZA_CUBLAS_CALLS(BENANZA_FIND)
    BENANZA_FIND(cublasGemmEx)
    BENANZA_FIND(cublasGemmStridedBatchedEx)
#undef BENANZA_FIND
#define BENANZA_FIND(name) find(calls.name, lt, #name);
    BENANZA_CUBLASLT_CALLS(BENANZA_FIND)
#undef BENANZA_FIND
    if (!missing.empty()) return "the cuBLAS that was found lacks " + missing;
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
  if (found == nullptr) return "none";
  const std::size_t number = found->cublasLtGetVersion();  // 130100 is 13.1.0
  return std::to_string(number / 10000) + "." + std::to_string(number % 10000 / 100) + "." +
         std::to_string(number % 100);
}

void check(cublasStatus_t status, const char* call, const char* file, int line) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  if (status == CUBLAS_STATUS_ALLOC_FAILED) throw std::bad_alloc();
  const std::string_view path(file);
  throw EnvironmentError(std::string(call) + " failed at " + std::string(path.substr(path.rfind('/') + 1)) + ":" +
                         std::to_string(line) + ": " + calls().cublasGetStatusString(status));
}

Handles::Handles(std::shared_ptr<Device> device) : device_(std::move(device)) {
  check(calls().cublasCreate_v2(&blas_), "cublasCreate");
  check(calls().cublasSetStream_v2(blas_, stream()), "cublasSetStream");
  // 16-bit types are summed in f32 even if a product is split.
  constexpr auto math_mode =
      static_cast<cublasMath_t>(CUBLAS_DEFAULT_MATH | CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION);
  check(calls().cublasSetMathMode(blas_, math_mode), "cublasSetMathMode");
  check(calls().cublasLtCreate(&lt_), "cublasLtCreate");
}

cublasHandle_t Handles::blas_with(void* workspace) const {
  check(calls().cublasSetWorkspace_v2(blas_, workspace, workspace_bytes), "cublasSetWorkspace");
  return blas_;
}

Handles::~Handles() {
  static_cast<void>(calls().cublasLtDestroy(lt_));
  static_cast<void>(calls().cublasDestroy_v2(blas_));
}

}  // namespace benanza::cublas
