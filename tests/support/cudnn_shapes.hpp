// SPDX-License-Identifier: Apache-2.0
// Output shapes as cuDNN's descriptors compute them, which needs the library and no device.
#pragma once

#include "backend/cudnn/descriptors.hpp"
#include "support/catch.hpp"
#include <benanza/model/layer.hpp>

#include <optional>
#include <string>
#include <vector>

namespace benanza::test {

/// Whether the library is installed; its descriptors need no device.
inline bool has_cudnn() {
  const auto* reason = std::get_if<std::string>(&cudnn::Library::get());
  if (reason == nullptr) return true;
  WARN("cuDNN's descriptors are skipped: " << *reason);
  return false;
}

inline TensorShape shape_of(const std::vector<int>& sizes) {
  TensorShape shape;
  for (const int size : sizes) shape.push_back(size);
  return shape;
}

/// The shape that cuDNN computes. Empty if cuDNN's convolutions cannot pad in this way.
inline std::optional<TensorShape> output_of(const op::Conv& op) {
  const auto how = cudnn::arithmetic(op.type);
  const auto convolution = cudnn::convolution(op.pads, op.strides, op.dilations, op.x.size() - 2, op.group, *how);
  if (!convolution) return std::nullopt;
  std::vector<int> sizes(op.x.size());
  cudnn::check(cudnn::calls().cudnnGetConvolutionNdForwardOutputDim(
                   convolution->get(), cudnn::tensor(how->stored, op.x).get(), cudnn::filter(how->stored, op.w).get(),
                   static_cast<int>(sizes.size()), sizes.data()),
               "cudnnGetConvolutionNdForwardOutputDim");
  return shape_of(sizes);
}

inline std::optional<TensorShape> output_of(const op::Pool& op) {
  const std::size_t spatial = op.x.size() - 2;
  const auto pads = cudnn::even_pads(op.pads, spatial);
  if (!pads || spatial != 2) return std::nullopt;
  auto pooling = cudnn::own<cudnnPoolingDescriptor_t>(cudnn::calls().cudnnCreatePoolingDescriptor,
                                                      cudnn::calls().cudnnDestroyPoolingDescriptor,
                                                      "cudnnCreatePoolingDescriptor");
  const auto kernel = cudnn::ints(op.kernel), strides = cudnn::entries(op.strides, spatial);
  cudnn::check(cudnn::calls().cudnnSetPoolingNdDescriptor(pooling.get(), CUDNN_POOLING_MAX, CUDNN_PROPAGATE_NAN,
                                                          static_cast<int>(spatial), kernel.data(), pads->data(),
                                                          strides.data()),
               "cudnnSetPoolingNdDescriptor");
  std::vector<int> sizes(op.x.size());
  cudnn::check(
      cudnn::calls().cudnnGetPoolingNdForwardOutputDim(pooling.get(), cudnn::tensor(CUDNN_DATA_FLOAT, op.x).get(),
                                                       static_cast<int>(sizes.size()), sizes.data()),
      "cudnnGetPoolingNdForwardOutputDim");
  return shape_of(sizes);
}

}  // namespace benanza::test
