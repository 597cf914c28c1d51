// LSTM, GRU and RNN over a whole sequence by every algorithm of cuDNN's call.
#include "cudnn_legacy.hpp"

namespace {

struct Recurrent {
  const char* signature;
  Work work;
  cudnnDataType_t type, sums;
  cudnnMathType_t math;
  cudnnRNNMode_t cell;
  int steps, batch, inputs, hidden, directions;
  bool bias = false, initial_state = false;
};

struct Algorithm {
  const char* name;
  cudnnRNNAlgo_t value;
};
constexpr Algorithm algorithms[] = {
    {"rnn:standard", CUDNN_RNN_ALGO_STANDARD},
    {"rnn:persist_static", CUDNN_RNN_ALGO_PERSIST_STATIC},
    {"rnn:persist_static_small_h", CUDNN_RNN_ALGO_PERSIST_STATIC_SMALL_H},
    {"rnn:persist_dynamic", CUDNN_RNN_ALGO_PERSIST_DYNAMIC},
};

Owned<cudnnRNNDataDescriptor_t> sequence(const Recurrent& layer, int size) {
  auto result = own<cudnnRNNDataDescriptor_t>(cudnnCreateRNNDataDescriptor, cudnnDestroyRNNDataDescriptor);
  const std::vector<int> lengths(static_cast<std::size_t>(layer.batch), layer.steps);
  CHECK_CUDNN(cudnnSetRNNDataDescriptor(result.get(), layer.type, CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED, layer.steps,
                                        layer.batch, size, lengths.data(), nullptr));
  return result;
}

Ready recurrent(const Recurrent& layer, const Algorithm& algorithm, Cache cache) {
  const auto dropout = own<cudnnDropoutDescriptor_t>(cudnnCreateDropoutDescriptor, cudnnDestroyDropoutDescriptor);
  CHECK_CUDNN(cudnnSetDropoutDescriptor(dropout.get(), cudnn(), 0, nullptr, 0, 0));
  const auto how = own<cudnnRNNDescriptor_t>(cudnnCreateRNNDescriptor, cudnnDestroyRNNDescriptor);
  const auto offered = [](cudnnStatus_t status) {
    if (status != CUDNN_STATUS_SUCCESS) throw Skipped(std::string("not offered: ") + cudnnGetErrorString(status));
  };
  offered(cudnnSetRNNDescriptor_v8(
      how.get(), algorithm.value, layer.cell, layer.bias ? CUDNN_RNN_DOUBLE_BIAS : CUDNN_RNN_NO_BIAS,
      layer.directions == 2 ? CUDNN_BIDIRECTIONAL : CUDNN_UNIDIRECTIONAL, CUDNN_LINEAR_INPUT, layer.type, layer.sums,
      layer.math, layer.inputs, layer.hidden, layer.hidden, 1, dropout.get(), CUDNN_RNN_PADDED_IO_DISABLED));
  if (algorithm.value == CUDNN_RNN_ALGO_PERSIST_DYNAMIC) offered(cudnnBuildRNNDynamic(cudnn(), how.get(), layer.batch));
  const auto x_data = sequence(layer, layer.inputs), y_data = sequence(layer, layer.directions * layer.hidden);
  const auto state = tensor(layer.type, {layer.directions, layer.batch, layer.hidden}, CUDNN_TENSOR_NCHW, 3);
  std::size_t weights_bytes = 0, workspace_bytes = 0, reserve_bytes = 0;
  CHECK_CUDNN(cudnnGetRNNWeightSpaceSize(cudnn(), how.get(), &weights_bytes));
  offered(cudnnGetRNNTempSpaceSizes(cudnn(), how.get(), CUDNN_FWD_MODE_INFERENCE, x_data.get(), &workspace_bytes,
                                    &reserve_bytes));
  const Memory workspace(workspace_bytes);
  const cudaDataType_t type = cuda_type(layer.type);
  const std::int64_t bytes = layer.type == CUDNN_DATA_DOUBLE ? 8 : layer.type == CUDNN_DATA_FLOAT ? 4 : 2;
  const auto buffers = std::make_shared<Buffers>(cache);
  const auto add = [&](std::int64_t count, bool weights) { return buffers->add(elements(type, count), weights); };
  const std::int64_t states = std::int64_t{layer.directions} * layer.batch * layer.hidden;
  const std::size_t x = add(std::int64_t{layer.steps} * layer.batch * layer.inputs, false),
                    y = add(layer.steps * states, false),
                    w = add((static_cast<std::int64_t>(weights_bytes) + bytes - 1) / bytes, true),
                    h = add(states, false), c = add(states, false), y_h = add(states, false), y_c = add(states, false);
  buffers->spread();
  const bool lstm = layer.cell == CUDNN_LSTM;
  return {
      .call =
          [=](std::size_t copy) {
            static_cast<void>(dropout);  // the descriptor of the network refers to it
            CHECK_CUDNN(cudnnRNNForward(cudnn(), how.get(), CUDNN_FWD_MODE_INFERENCE, nullptr, x_data.get(),
                                        buffers->at(x, copy), y_data.get(), buffers->at(y, copy), state.get(),
                                        layer.initial_state ? buffers->at(h, copy) : nullptr, buffers->at(y_h, copy),
                                        state.get(), layer.initial_state && lstm ? buffers->at(c, copy) : nullptr,
                                        lstm ? buffers->at(y_c, copy) : nullptr, weights_bytes, buffers->at(w, copy),
                                        workspace_bytes, workspace.get(), 0, nullptr));
          },
      .copies = buffers->copies()};
}

constexpr Recurrent layers[] = {
    // @rows@
};

}  // namespace

void add_cudnn_recurrent() {
  static_cast<void>(cudnn());
  for (const Recurrent& layer : layers)
    for (const Algorithm& algorithm : algorithms)
      add_row(std::string("cudnn/") + algorithm.name + ",threads=1", layer.signature, layer.work, true,
              [=](Cache cache) { return recurrent(layer, algorithm, cache); });
}
