// SPDX-License-Identifier: Apache-2.0
#include "cupti.hpp"

namespace benanza::cuda {

const std::variant<std::unique_ptr<SharedLibrary>, std::string>& cupti() {
  static const auto opened = SharedLibrary::open({"libcupti.so." + std::to_string(CUDART_VERSION / 1000)});
  return opened;
}

std::string failure_of(const char* call, CUptiResult result) {
  switch (result) {
    case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES:
      return "the driver permits hardware counters to administrators alone (ERR_NVGPUCTRPERM): run as root, or load it "
             "with NVreg_RestrictProfilingToAdminUsers=0";
    case CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED:
    case CUPTI_ERROR_HARDWARE_BUSY: return "another profiler is at work on the device";
    default: break;
  }
  const char* name = nullptr;
  if (const auto* library = std::get_if<std::unique_ptr<SharedLibrary>>(&cupti()))
    if (auto* text = (*library)->function<decltype(cuptiGetResultString)>("cuptiGetResultString"))
      static_cast<void>(text(result, &name));
  return std::string(call) + ": " + (name != nullptr ? name : "error " + std::to_string(result));
}

}  // namespace benanza::cuda
