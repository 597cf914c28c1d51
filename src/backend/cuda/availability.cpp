// SPDX-License-Identifier: Apache-2.0
#include "availability.hpp"

#include "check.hpp"

namespace benanza::cuda {

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

std::optional<std::string> reason_of(const Answers& answers, int runtime) {
  if (answers.driver == 0) return "no NVIDIA driver on this machine (no libcuda.so.1)";
  if (answers.counted == cudaErrorInsufficientDriver || answers.driver / 1000 < runtime / 1000)
    return "the NVIDIA driver is for CUDA " + version_text(answers.driver) + ", at least " +
           version_text(runtime / 1000 * 1000) + " expected";
  if (answers.counted != cudaSuccess) return std::string("no CUDA device: ") + text_of(answers.counted);
  if (answers.count == 0) return "no CUDA device that CUDA_VISIBLE_DEVICES leaves";
  const int least = runtime < 13000 ? 70 : 75;  // CUDA 13 does not compile for older devices
  if (answers.capability < least)
    return answers.device + " has compute capability " + std::to_string(answers.capability / 10) + "." +
           std::to_string(answers.capability % 10) + ", at least " + std::to_string(least / 10) + "." +
           std::to_string(least % 10) + " expected";
  return std::nullopt;
}

}  // namespace benanza::cuda
