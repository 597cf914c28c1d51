// SPDX-License-Identifier: Apache-2.0
// The text of standalone suites, embedded from the files in standalone/.
#pragma once

#include <string_view>

namespace benanza::codegen::text {

extern const std::string_view cmake_lists, cmake_device, cmake_onednn, cmake_openblas, cmake_cudnn, cmake_cublas;
extern const std::string_view suite_hpp, processor_hpp, device_hpp, onednn_hpp, cudnn_hpp, cudnn_legacy_hpp,
    cudnn_backend_hpp;
extern const std::string_view suite_cpp, processor_cpp, device_cpp, onednn_cpp, cudnn_legacy_cpp, cudnn_backend_cpp;
extern const std::string_view main_cpp, refusals_cpp;
extern const std::string_view onednn_convolution, onednn_transposed, onednn_product, onednn_backward, onednn_pooling,
    onednn_normalization, onednn_softmax, onednn_activation, onednn_binary, onednn_attention, onednn_reduction,
    onednn_recurrent, openblas_product, cudnn_convolution, cudnn_backward, cudnn_pooling, cudnn_normalization,
    cudnn_softmax, cudnn_activation, cudnn_reduction, cudnn_recurrent, cudnn_graph, cudnn_attention, cublas_product,
    cublaslt_product;

}  // namespace benanza::codegen::text
