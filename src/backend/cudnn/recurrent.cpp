// SPDX-License-Identifier: Apache-2.0
// LSTM, GRU and RNN over a whole sequence. cuDNN requires all weights and biases in one space and reports their
// positions in it. That space uses the buffer of the last constant; the constants packed before it are also copied
// there. The buffers of the other constants stay unread.
#include "families.hpp"
#include "plan/transpose_matrices.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>

namespace benanza::cudnn {

namespace {

struct RecurrentAlgorithm {
  cudnnRNNAlgo_t algorithm;
  const char* name;
};
constexpr std::array recurrent_algorithms{
    RecurrentAlgorithm{CUDNN_RNN_ALGO_STANDARD, "rnn:standard"},
    RecurrentAlgorithm{CUDNN_RNN_ALGO_PERSIST_STATIC, "rnn:persist_static"},
    RecurrentAlgorithm{CUDNN_RNN_ALGO_PERSIST_STATIC_SMALL_H, "rnn:persist_static_small_h"},
    RecurrentAlgorithm{CUDNN_RNN_ALGO_PERSIST_DYNAMIC, "rnn:persist_dynamic"}};

/// For each of ONNX's gates (LSTM i o f c, GRU z r h), cuDNN's number of the gate's matrix that multiplies x (cuDNN,
/// cudnnGetRNNWeightParams: LSTM input, forget, new, output; GRU reset, update, new). The matrices that multiply h
/// follow after all of these.
std::vector<int> gate_numbers(op::Cell cell) {
  switch (cell) {
    case op::Cell::lstm: return {0, 3, 1, 2};
    case op::Cell::gru: return {1, 0, 2};
    case op::Cell::rnn: break;
  }
  return {0};
}

struct Descriptors {
  Owned<cudnnDropoutDescriptor_t> dropout{};
  Owned<cudnnRNNDescriptor_t> rnn{};
  Owned<cudnnRNNDataDescriptor_t> x{}, y{};
  TensorDescriptor state{};
};

Owned<cudnnRNNDataDescriptor_t> data(const Arithmetic& how, std::int64_t steps, std::int64_t batch, std::int64_t size) {
  auto result = own<cudnnRNNDataDescriptor_t>(calls().cudnnCreateRNNDataDescriptor,
                                              calls().cudnnDestroyRNNDataDescriptor, "cudnnCreateRNNDataDescriptor");
  const std::vector<int> lengths(static_cast<std::size_t>(batch), static_cast<int>(steps));
  check(calls().cudnnSetRNNDataDescriptor(result.get(), how.stored, CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED,
                                          static_cast<int>(steps), static_cast<int>(batch), static_cast<int>(size),
                                          lengths.data(), nullptr),
        "cudnnSetRNNDataDescriptor");
  return result;
}

/// Empty if cuDNN refuses the algorithm for these sizes.
std::optional<Descriptors> describe(const op::Recurrent& op, const Arithmetic& how, cudnnRNNAlgo_t algorithm,
                                    cudnnHandle_t handle) {
  Descriptors result;
  result.dropout = own<cudnnDropoutDescriptor_t>(calls().cudnnCreateDropoutDescriptor,
                                                 calls().cudnnDestroyDropoutDescriptor, "cudnnCreateDropoutDescriptor");
  check(calls().cudnnSetDropoutDescriptor(result.dropout.get(), handle, 0, nullptr, 0, 0), "cudnnSetDropoutDescriptor");
  result.rnn = own<cudnnRNNDescriptor_t>(calls().cudnnCreateRNNDescriptor, calls().cudnnDestroyRNNDescriptor,
                                         "cudnnCreateRNNDescriptor");
  const cudnnRNNMode_t mode = op.cell == op::Cell::lstm  ? CUDNN_LSTM
                              : op.cell == op::Cell::gru ? CUDNN_GRU
                                                         : CUDNN_RNN_TANH;
  if (calls().cudnnSetRNNDescriptor_v8(
          result.rnn.get(), algorithm, mode, op.bias ? CUDNN_RNN_DOUBLE_BIAS : CUDNN_RNN_NO_BIAS,
          op.directions == 2 ? CUDNN_BIDIRECTIONAL : CUDNN_UNIDIRECTIONAL, CUDNN_LINEAR_INPUT, how.stored,
          how.accumulated, how.math, static_cast<std::int32_t>(op.x[2]), static_cast<std::int32_t>(op.hidden),
          static_cast<std::int32_t>(op.hidden), 1, result.dropout.get(),
          CUDNN_RNN_PADDED_IO_DISABLED) != CUDNN_STATUS_SUCCESS)
    return std::nullopt;
  if (algorithm == CUDNN_RNN_ALGO_PERSIST_DYNAMIC &&
      calls().cudnnBuildRNNDynamic(handle, result.rnn.get(), static_cast<int>(op.x[1])) != CUDNN_STATUS_SUCCESS)
    return std::nullopt;
  result.x = data(how, op.x[0], op.x[1], op.x[2]);
  result.y = data(how, op.x[0], op.x[1], op.directions * op.hidden);
  result.state = tensor(how.stored, {op.directions, op.x[1], op.hidden});
  return result;
}

/// Writes ONNX's constants into cuDNN's weight space, in host memory.
class WeightSpace {
 public:
  WeightSpace(const op::Recurrent& op, Descriptors descriptors, cudnnHandle_t handle, std::size_t bytes)
      : op_(op),
        descriptors_(std::move(descriptors)),
        handle_(handle),
        bytes_(bytes),
        element_(static_cast<std::size_t>(bits(op.operands().inputs[1].type)) / 8) {}

  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  /// Stores a constant under its input number.
  void keep(std::size_t i, const void* plain, std::size_t bytes) {
    const auto* from = static_cast<const std::byte*>(plain);
    kept_[i].assign(from, from + bytes);
  }
  void write(void* space) const {
    std::memset(space, 0, bytes_);
    const std::vector<int> gates = gate_numbers(op_.cell);
    const auto count = static_cast<int>(gates.size());
    const auto hidden = static_cast<std::size_t>(op_.hidden), input = static_cast<std::size_t>(op_.x[2]);
    for (int direction = 0; direction < static_cast<int>(op_.directions); ++direction)
      for (int gate = 0; gate < count; ++gate)
        for (const bool recurrent : {false, true}) {
          auto matrix = own<cudnnTensorDescriptor_t>(
              calls().cudnnCreateTensorDescriptor, calls().cudnnDestroyTensorDescriptor, "cudnnCreateTensorDescriptor");
          auto vector = own<cudnnTensorDescriptor_t>(
              calls().cudnnCreateTensorDescriptor, calls().cudnnDestroyTensorDescriptor, "cudnnCreateTensorDescriptor");
          void *to_matrix = nullptr, *to_vector = nullptr;
          const int number = gates[static_cast<std::size_t>(gate)] + (recurrent ? count : 0);
          check(calls().cudnnGetRNNWeightParams(handle_, descriptors_.rnn.get(), direction, bytes_, space, number,
                                                matrix.get(), &to_matrix, vector.get(), &to_vector),
                "cudnnGetRNNWeightParams");
          const auto index = static_cast<std::size_t>(direction * count + gate);
          const std::size_t columns = recurrent ? hidden : input;
          copy(to_matrix, recurrent ? 2 : 1, index * hidden * columns, hidden * columns);
          const auto biases = static_cast<std::size_t>((2 * direction + (recurrent ? 1 : 0)) * count + gate);
          if (op_.bias) copy(to_vector, 3, biases * hidden, hidden);
        }
  }

 private:
  void copy(void* to, std::size_t i, std::size_t offset, std::size_t count) const {
    const auto found = kept_.find(i);
    if (found == kept_.end())
      throw EnvironmentError("a constant of cuDNN's weight space was not packed before the last one");
    std::memcpy(to, found->second.data() + offset * element_, count * element_);
  }

  op::Recurrent op_;
  Descriptors descriptors_;
  cudnnHandle_t handle_;
  std::size_t bytes_;
  std::size_t element_;
  std::map<std::size_t, std::vector<std::byte>> kept_{};
};

void add(const op::Recurrent& op, const Arithmetic& how, const RecurrentAlgorithm& algorithm, Candidates& candidates) {
  const auto described = describe(op, how, algorithm.algorithm, candidates.handle());
  if (!described) return;
  std::size_t weights = 0, workspace = 0, reserve = 0;
  check(calls().cudnnGetRNNWeightSpaceSize(candidates.handle(), described->rnn.get(), &weights),
        "cudnnGetRNNWeightSpaceSize");
  if (calls().cudnnGetRNNTempSpaceSizes(candidates.handle(), described->rnn.get(), CUDNN_FWD_MODE_INFERENCE,
                                        described->x.get(), &workspace, &reserve) != CUDNN_STATUS_SUCCESS)
    return;
  const std::size_t constants = op.bias ? 3 : 2, last = constants, first_state = constants + 1;
  const bool lstm = op.cell == op::Cell::lstm;
  Draft draft{.algorithm = algorithm.name,
              .execute =
                  [=, d = *described, initial = op.initial_state](cudnnHandle_t handle, const Arguments& a) {
                    check(calls().cudnnRNNForward(handle, d.rnn.get(), CUDNN_FWD_MODE_INFERENCE, nullptr, d.x.get(),
                                                  a.inputs[0], d.y.get(), a.outputs[0], d.state.get(),
                                                  initial ? a.inputs[first_state] : nullptr, a.outputs[1],
                                                  d.state.get(), initial && lstm ? a.inputs[first_state + 1] : nullptr,
                                                  lstm ? a.outputs[2] : nullptr, weights, a.inputs[last], workspace,
                                                  a.workspace, 0, nullptr),
                          "cudnnRNNForward");
                  },
              .workspace_bytes = workspace,
              .tolerance = how.tolerance};
  auto space = std::make_shared<WeightSpace>(op, *described, candidates.handle(), weights);
  for (std::size_t i = 1; i <= constants; ++i) {
    const auto plain_bytes = static_cast<std::size_t>(candidates.operands().inputs[i].bytes());
    const bool whole = i == last;
    const std::string name = std::string(algorithm.name).substr(4) + (whole ? "-weights" : "-in-weights");
    draft.inputs.emplace_back(
        i, OtherLayout{{.name = name, .bytes = whole ? weights : 1}, [=](const void* from, void* to) {
                         space->keep(i, from, plain_bytes);
                         if (whole) space->write(to);
                       }});
  }
  if (op.directions == 2) {
    // From cuDNN's sequence, batch, direction to ONNX's sequence, direction, batch; rows of hidden units stay as they
    // are.
    const Operand& y = candidates.operands().outputs[0];
    const std::int64_t steps = op.x[0], batch = op.x[1], hidden = op.hidden;
    const std::size_t row = static_cast<std::size_t>(hidden * bits(y.type)) / 8;
    draft.outputs.emplace_back(
        0, OtherLayout{{.name = "sequence-batch-direction", .bytes = static_cast<std::size_t>(y.bytes())},
                       [=](const void* from, void* to) { transpose_matrices(from, to, steps, batch, 2, row); },
                       [=](std::int64_t index) {
                         return transposed_index(index / hidden, 2, batch) * hidden + index % hidden;
                       }});
  }
  candidates.add(std::move(draft));
}

}  // namespace

void add_plans(const op::Recurrent& op, Candidates& candidates) {
  if (const auto part = op.rare_part(); !part.empty())
    return candidates.refuse("no recurrent call of cuDNN with " + std::string(part));
  const auto how = arithmetic(op.type);
  if (!how) return candidates.refuse("no recurrent call of cuDNN for " + std::string(name(op.type)));
  if (op.reverse) return candidates.refuse("cuDNN has no recurrence from the end alone");
  if (op.cell == op::Cell::gru && !op.linear_before_reset)
    return candidates.refuse("cuDNN's GRU resets after the product (linear_before_reset), not before it");
  for (const auto& algorithm : recurrent_algorithms) add(op, *how, algorithm, candidates);
}

}  // namespace benanza::cudnn
