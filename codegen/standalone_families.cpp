// SPDX-License-Identifier: Apache-2.0
#include "standalone.hpp"
#include "standalone_templates.hpp"

namespace benanza::codegen {

namespace {

constexpr std::string_view with_cudnn = "-I$CUDA_HOME/include -L$CUDA_HOME/lib64 -lcudnn -lnvrtc -lcudart",
                           with_cublas = "-I$CUDA_HOME/include -L$CUDA_HOME/lib64 -lcublas -lcublasLt -lcudart";
constexpr StandaloneInterface onednn{"onednn", "onednn", "-fopenmp -ldnnl"};
constexpr StandaloneInterface openblas{"openblas", "processor", "-fopenmp -lopenblas"};
constexpr StandaloneInterface cudnn{"cudnn", "cudnn_legacy", with_cudnn};
constexpr StandaloneInterface cudnn_graphs{"cudnn", "cudnn_backend", with_cudnn, "graph:"};
constexpr StandaloneInterface cudnn_frontend{"cudnn", "cudnn", with_cudnn, "graph:"};
constexpr StandaloneInterface cublas{"cublas", "device", with_cublas};
constexpr StandaloneInterface cublaslt{"cublas", "device", with_cublas, "lt"};

}  // namespace

std::span<const StandaloneFamily> standalone_families() {
  static const StandaloneFamily families[] = {
      {onednn, "onednn_convolution", text::onednn_convolution, onednn_convolution_row},
      {onednn, "onednn_transposed", text::onednn_transposed, onednn_transposed_row},
      {onednn, "onednn_product", text::onednn_product, onednn_product_row},
      {onednn, "onednn_backward", text::onednn_backward, onednn_backward_row},
      {onednn, "onednn_pooling", text::onednn_pooling, onednn_pooling_row},
      {onednn, "onednn_normalization", text::onednn_normalization, onednn_normalization_row},
      {onednn, "onednn_softmax", text::onednn_softmax, onednn_softmax_row},
      {onednn, "onednn_activation", text::onednn_activation, onednn_activation_row},
      {onednn, "onednn_binary", text::onednn_binary, onednn_binary_row},
      {onednn, "onednn_attention", text::onednn_attention, onednn_attention_row},
      {onednn, "onednn_reduction", text::onednn_reduction, onednn_reduction_row},
      {onednn, "onednn_recurrent", text::onednn_recurrent, onednn_recurrent_row},
      {openblas, "openblas_product", text::openblas_product, openblas_product_row},
      {cudnn, "cudnn_convolution", text::cudnn_convolution, cudnn_convolution_row},
      {cudnn, "cudnn_backward", text::cudnn_backward, cudnn_backward_row},
      {cudnn, "cudnn_pooling", text::cudnn_pooling, cudnn_pooling_row},
      {cudnn, "cudnn_normalization", text::cudnn_normalization, cudnn_normalization_row},
      {cudnn, "cudnn_softmax", text::cudnn_softmax, cudnn_softmax_row},
      {cudnn, "cudnn_activation", text::cudnn_activation, cudnn_activation_row},
      {cudnn, "cudnn_reduction", text::cudnn_reduction, cudnn_reduction_row},
      {cudnn, "cudnn_recurrent", text::cudnn_recurrent, cudnn_recurrent_row},
      {cudnn_graphs, "cudnn_graph", text::cudnn_graph, cudnn_graph_row},
      {cudnn_frontend, "cudnn_attention", text::cudnn_attention, cudnn_attention_row},
      {cublas, "cublas_product", text::cublas_product, cublas_product_row},
      {cublaslt, "cublaslt_product", text::cublaslt_product, cublaslt_product_row},
  };
  return families;
}

}  // namespace benanza::codegen
