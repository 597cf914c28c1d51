// cuDNN: how a failed call is reported, and the one handle.
#pragma once

#include "device.hpp"

#include <cudnn.h>

#define CHECK_CUDNN(call)                                                    \
  do {                                                                       \
    if (const cudnnStatus_t status = (call); status != CUDNN_STATUS_SUCCESS) \
      failed(#call, cudnnGetErrorString(status));                            \
  } while (false)

inline cudnnHandle_t cudnn() {
  static const cudnnHandle_t made = [] {
    cudnnHandle_t result = nullptr;
    CHECK_CUDNN(cudnnCreate(&result));
    CHECK_CUDNN(cudnnSetStream(result, stream()));
    const auto version = cudnnGetVersion();
    name_library("cudnn", std::to_string(version / 10000) + "." + std::to_string(version % 10000 / 100) + "." +
                              std::to_string(version % 100));
    return result;
  }();
  return made;
}
