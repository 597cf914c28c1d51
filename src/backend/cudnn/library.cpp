// SPDX-License-Identifier: Apache-2.0
#include "library.hpp"

#include <cuda_runtime_api.h>

#include <array>
#include <new>
#include <string_view>

namespace benanza::cudnn {

namespace {

std::string version_text(std::size_t version) {
  return std::to_string(version / 10000) + "." + std::to_string(version % 10000 / 100) + "." +
         std::to_string(version % 100);
}

}  // namespace

const std::variant<std::unique_ptr<const Library>, std::string>& Library::get() {
  using Result = std::variant<std::unique_ptr<const Library>, std::string>;
  static const Result result = []() -> Result {
    const std::string major = std::to_string(CUDNN_MAJOR), cuda = std::to_string(CUDART_VERSION / 1000);
    // cuDNN opens these by name alone, which finds a library that is already open. Without them there are fewer plans.
    for (const char* name : {"libcublasLt.so.", "libnvrtc.so."}) static_cast<void>(SharedLibrary::open({name + cuda}));
    auto opened = SharedLibrary::open({"libcudnn.so." + major});
    if (const auto* reason = std::get_if<std::string>(&opened)) return "no cuDNN " + major + ": " + *reason;
    auto library = std::make_unique<Library>();
    library->file_ = std::move(std::get<std::unique_ptr<SharedLibrary>>(opened));
    std::string missing;
    const auto find = [&](auto*& call, const char* name) {
      call = library->file_->function<std::remove_pointer_t<std::remove_reference_t<decltype(call)>>>(name);
      if (call == nullptr && missing.empty()) missing = name;
    };
#define BENANZA_FIND(name) find(library->calls_.name, #name);
    BENANZA_CUDNN_CALLS(BENANZA_FIND)
#undef BENANZA_FIND
    if (!missing.empty()) return "the cuDNN that was found lacks " + missing;
    const std::size_t version = library->calls_.cudnnGetVersion();
    if (version / 10000 != CUDNN_MAJOR)
      return "cuDNN " + version_text(version) + " was found, one of major version " + major + " expected";
    return std::unique_ptr<const Library>(std::move(library));
  }();
  return result;
}

std::string Library::version() const { return version_text(calls_.cudnnGetVersion()); }

const Calls& calls() {
  const auto& library = Library::get();
  if (const auto* reason = std::get_if<std::string>(&library)) throw EnvironmentError(*reason);
  return std::get<std::unique_ptr<const Library>>(library)->calls();
}

void check(cudnnStatus_t status, const char* call, const char* file, int line) {
  if (status == CUDNN_STATUS_SUCCESS) return;
  if (status == CUDNN_STATUS_ALLOC_FAILED) throw std::bad_alloc();
  std::array<char, 512> details{};
  calls().cudnnGetLastErrorString(details.data(), details.size());
  const std::string_view path(file);
  std::string message = std::string(call) + " failed at " + std::string(path.substr(path.rfind('/') + 1)) + ":" +
                        std::to_string(line) + ": " + calls().cudnnGetErrorString(status);
  if (details.front() != '\0') message += std::string(" (") + details.data() + ")";
  throw EnvironmentError(message);
}

Handle::Handle(std::shared_ptr<Device> device) : device_(std::move(device)) {
  check(calls().cudnnCreate(&handle_), "cudnnCreate");
  check(calls().cudnnSetStream(handle_, static_cast<cudaStream_t>(device_->stream())), "cudnnSetStream");
}

Handle::~Handle() { static_cast<void>(calls().cudnnDestroy(handle_)); }

}  // namespace benanza::cudnn
