// Reductions by cuDNN's legacy call.
#include "cudnn_legacy.hpp"

namespace {

struct Reduction {
  const char* signature;
  Work work;
  cudnnDataType_t type, sums;
  cudnnReduceTensorOp_t function;
  Sizes x, y;
};

Ready reduction(const Reduction& layer, Cache cache) {
  const auto how =
      own<cudnnReduceTensorDescriptor_t>(cudnnCreateReduceTensorDescriptor, cudnnDestroyReduceTensorDescriptor);
  CHECK_CUDNN(cudnnSetReduceTensorDescriptor(how.get(), layer.function, layer.sums, CUDNN_PROPAGATE_NAN,
                                             CUDNN_REDUCE_TENSOR_NO_INDICES, CUDNN_32BIT_INDICES));
  const auto x_tensor = tensor(layer.type, layer.x), y_tensor = tensor(layer.type, layer.y);
  std::size_t workspace_bytes = 0;
  CHECK_CUDNN(cudnnGetReductionWorkspaceSize(cudnn(), how.get(), x_tensor.get(), y_tensor.get(), &workspace_bytes));
  const Memory workspace(workspace_bytes);
  const auto buffers = std::make_shared<Buffers>(cache);
  const std::size_t x = buffers->add(elements(cuda_type(layer.type), product(layer.x)), false),
                    y = buffers->add(elements(cuda_type(layer.type), product(layer.y)), false);
  buffers->spread();
  const Factor one(layer.type, 1), zero(layer.type, 0);
  return {.call =
              [=](std::size_t copy) {
                CHECK_CUDNN(cudnnReduceTensor(cudnn(), how.get(), nullptr, 0, workspace.get(), workspace_bytes,
                                              one.get(), x_tensor.get(), buffers->at(x, copy), zero.get(),
                                              y_tensor.get(), buffers->at(y, copy)));
              },
          .copies = buffers->copies()};
}

constexpr Reduction reductions[] = {
    // @rows@
};

}  // namespace

void add_cudnn_reduction() {
  static_cast<void>(cudnn());
  for (const Reduction& layer : reductions)
    add_row("cudnn/reduce_tensor,threads=1", layer.signature, layer.work, false,
            [=](Cache cache) { return reduction(layer, cache); });
}
