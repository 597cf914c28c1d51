// SPDX-License-Identifier: Apache-2.0
// The reason why there is no device, from the runtime's answers.
#pragma once

#include <cuda_runtime_api.h>

#include <optional>
#include <string>

namespace benanza::cuda {

struct Answers {
  int driver = 0;                     ///< answer of cudaDriverGetVersion; 0 if there is no driver
  cudaError_t counted = cudaSuccess;  ///< answer of cudaGetDeviceCount
  int count = 0;                      ///< device count from cudaGetDeviceCount
  std::string device{};               ///< the name of the first device
  int capability = 0;                 ///< compute capability of the first device; 90 is 9.0
};

/// Empty if there is a device that programs built with this runtime (13000 is 13.0) can use.
[[nodiscard]] std::optional<std::string> reason_of(const Answers& answers, int runtime);

/// Versions as the runtime counts them: 13000 is 13.0.
[[nodiscard]] std::string version_text(int version);

}  // namespace benanza::cuda
