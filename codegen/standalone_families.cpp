// SPDX-License-Identifier: Apache-2.0
#include "standalone.hpp"
#include "standalone_templates.hpp"

#include <array>

namespace benanza::codegen {

namespace {

constexpr std::string_view onednn_link = "-fopenmp -ldnnl", openblas_link = "-fopenmp -lopenblas",
                           cudnn_link = "-I$CUDA_HOME/include -L$CUDA_HOME/lib64 -lcudnn -lnvrtc -lcudart",
                           cublas_link = "-I$CUDA_HOME/include -L$CUDA_HOME/lib64 -lcublas -lcublasLt -lcudart";

}  // namespace

std::span<const StandaloneFamily> standalone_families() {
  static const std::array families{
      StandaloneFamily{"onednn", "onednn_convolution", "onednn.hpp", text::onednn_convolution, onednn_convolution_row,
                       onednn_link},
      StandaloneFamily{"onednn", "onednn_product", "onednn.hpp", text::onednn_product, onednn_product_row, onednn_link},
      StandaloneFamily{"onednn", "onednn_backward", "onednn.hpp", text::onednn_backward, onednn_backward_row,
                       onednn_link},
      StandaloneFamily{"onednn", "onednn_pooling", "onednn.hpp", text::onednn_pooling, onednn_pooling_row, onednn_link},
      StandaloneFamily{"onednn", "onednn_normalisation", "onednn.hpp", text::onednn_normalisation,
                       onednn_normalisation_row, onednn_link},
      StandaloneFamily{"onednn", "onednn_softmax", "onednn.hpp", text::onednn_softmax, onednn_softmax_row, onednn_link},
      StandaloneFamily{"onednn", "onednn_activation", "onednn.hpp", text::onednn_activation, onednn_activation_row,
                       onednn_link},
      StandaloneFamily{"onednn", "onednn_binary", "onednn.hpp", text::onednn_binary, onednn_binary_row, onednn_link},
      StandaloneFamily{"onednn", "onednn_attention", "onednn.hpp", text::onednn_attention, onednn_attention_row,
                       onednn_link},
      StandaloneFamily{"onednn", "onednn_reduction", "onednn.hpp", text::onednn_reduction, onednn_reduction_row,
                       onednn_link},
      StandaloneFamily{"onednn", "onednn_recurrent", "onednn.hpp", text::onednn_recurrent, onednn_recurrent_row,
                       onednn_link},
      StandaloneFamily{"openblas", "openblas_product", "processor.hpp", text::openblas_product, openblas_product_row,
                       openblas_link},
      StandaloneFamily{"cudnn", "cudnn_convolution", "cudnn_legacy.hpp", text::cudnn_convolution, cudnn_convolution_row,
                       cudnn_link},
      StandaloneFamily{"cudnn", "cudnn_backward", "cudnn_legacy.hpp", text::cudnn_backward, cudnn_backward_row,
                       cudnn_link},
      StandaloneFamily{"cudnn", "cudnn_pooling", "cudnn_legacy.hpp", text::cudnn_pooling, cudnn_pooling_row,
                       cudnn_link},
      StandaloneFamily{"cudnn", "cudnn_normalisation", "cudnn_legacy.hpp", text::cudnn_normalisation,
                       cudnn_normalisation_row, cudnn_link},
      StandaloneFamily{"cudnn", "cudnn_softmax", "cudnn_legacy.hpp", text::cudnn_softmax, cudnn_softmax_row,
                       cudnn_link},
      StandaloneFamily{"cudnn", "cudnn_activation", "cudnn_legacy.hpp", text::cudnn_activation, cudnn_activation_row,
                       cudnn_link},
      StandaloneFamily{"cudnn", "cudnn_reduction", "cudnn_legacy.hpp", text::cudnn_reduction, cudnn_reduction_row,
                       cudnn_link},
      StandaloneFamily{"cudnn", "cudnn_recurrent", "cudnn_legacy.hpp", text::cudnn_recurrent, cudnn_recurrent_row,
                       cudnn_link},
      StandaloneFamily{"cudnn", "cudnn_graph", "cudnn.hpp", text::cudnn_graph, cudnn_graph_row, cudnn_link, "graph:"},
      StandaloneFamily{"cublas", "cublas_product", "device.hpp", text::cublas_product, cublas_product_row, cublas_link},
      StandaloneFamily{"cublas", "cublaslt_product", "device.hpp", text::cublaslt_product, cublaslt_product_row,
                       cublas_link, "lt"},
  };
  return families;
}

}  // namespace benanza::codegen
