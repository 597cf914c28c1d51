// SPDX-License-Identifier: Apache-2.0
// The cuDNN that is loaded at run time: its calls, its single handle on the device's stream, its statuses as
// exceptions.
#pragma once

#include "plan/shared_library.hpp"
#include <benanza/plan/device.hpp>

#include <cudnn.h>

#include <memory>
#include <string>
#include <variant>

namespace benanza::cudnn {

/// Every call that is used. It is a macro because the names are looked up as text.
// clang-format off
#define BENANZA_CUDNN_CALLS(X) \
  X(cudnnGetVersion) X(cudnnGetErrorString) X(cudnnGetLastErrorString) X(cudnnCreate) X(cudnnDestroy) \
  X(cudnnSetStream) X(cudnnCreateTensorDescriptor) X(cudnnSetTensorNdDescriptor) X(cudnnDestroyTensorDescriptor) \
  X(cudnnCreateFilterDescriptor) X(cudnnSetFilterNdDescriptor) X(cudnnDestroyFilterDescriptor) \
  X(cudnnCreateConvolutionDescriptor) X(cudnnSetConvolutionNdDescriptor) X(cudnnSetConvolutionGroupCount) \
  X(cudnnSetConvolutionMathType) X(cudnnDestroyConvolutionDescriptor) X(cudnnGetConvolutionNdForwardOutputDim) \
  X(cudnnGetConvolutionForwardWorkspaceSize) X(cudnnConvolutionForward) X(cudnnConvolutionBiasActivationForward) \
  X(cudnnGetConvolutionBackwardDataWorkspaceSize) X(cudnnConvolutionBackwardData) X(cudnnAddTensor) \
  X(cudnnGetConvolutionBackwardFilterWorkspaceSize) X(cudnnConvolutionBackwardFilter) X(cudnnSoftmaxBackward) \
  X(cudnnActivationBackward) X(cudnnBatchNormalizationBackward) \
  X(cudnnCreateActivationDescriptor) X(cudnnSetActivationDescriptor) X(cudnnSetActivationDescriptorSwishBeta) \
  X(cudnnDestroyActivationDescriptor) X(cudnnActivationForward) X(cudnnCreatePoolingDescriptor) \
  X(cudnnSetPoolingNdDescriptor) X(cudnnDestroyPoolingDescriptor) X(cudnnGetPoolingNdForwardOutputDim) \
  X(cudnnPoolingForward) X(cudnnSoftmaxForward) X(cudnnBatchNormalizationForwardInference) \
  X(cudnnCreateOpTensorDescriptor) X(cudnnSetOpTensorDescriptor) X(cudnnDestroyOpTensorDescriptor) \
  X(cudnnOpTensor) X(cudnnCreateReduceTensorDescriptor) X(cudnnSetReduceTensorDescriptor) \
  X(cudnnDestroyReduceTensorDescriptor) X(cudnnGetReductionWorkspaceSize) X(cudnnReduceTensor) \
  X(cudnnCreateLRNDescriptor) X(cudnnSetLRNDescriptor) X(cudnnDestroyLRNDescriptor) X(cudnnLRNCrossChannelForward) \
  X(cudnnTransformTensor) X(cudnnCreateDropoutDescriptor) X(cudnnSetDropoutDescriptor) \
  X(cudnnDestroyDropoutDescriptor) X(cudnnCreateRNNDescriptor) X(cudnnSetRNNDescriptor_v8) \
  X(cudnnDestroyRNNDescriptor) X(cudnnCreateRNNDataDescriptor) X(cudnnSetRNNDataDescriptor) \
  X(cudnnDestroyRNNDataDescriptor) X(cudnnGetRNNWeightSpaceSize) X(cudnnGetRNNWeightParams) \
  X(cudnnGetRNNTempSpaceSizes) X(cudnnBuildRNNDynamic) X(cudnnRNNForward)
// clang-format on

struct Calls {
#define BENANZA_DECLARE(name) decltype(&::name) name = nullptr;
  BENANZA_CUDNN_CALLS(BENANZA_DECLARE)
#undef BENANZA_DECLARE
};

class Library {
 public:
  /// The library of the process, or the reason why there is none: it was not found, its major version differs from that
  /// of the headers, or it lacks a call.
  [[nodiscard]] static const std::variant<std::unique_ptr<const Library>, std::string>& get();

  [[nodiscard]] const Calls& calls() const { return calls_; }
  [[nodiscard]] std::string version() const;
  [[nodiscard]] const SharedLibrary& file() const { return *file_; }

 private:
  std::unique_ptr<SharedLibrary> file_{};
  Calls calls_{};
};

/// The calls; throws EnvironmentError without a library.
[[nodiscard]] const Calls& calls();

/// Turns a failure status into an exception: EnvironmentError with the call, its location and cuDNN's own message.
void check(cudnnStatus_t status, const char* call, const char* file = __builtin_FILE(), int line = __builtin_LINE());

/// The handle of a device, on its stream.
class Handle {
 public:
  explicit Handle(std::shared_ptr<Device> device);
  ~Handle();
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  [[nodiscard]] cudnnHandle_t get() const { return handle_; }
  [[nodiscard]] Device& device() const { return *device_; }

 private:
  std::shared_ptr<Device> device_;
  cudnnHandle_t handle_ = nullptr;
};

}  // namespace benanza::cudnn
