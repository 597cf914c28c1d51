// SPDX-License-Identifier: Apache-2.0
#include "group.hpp"
#include "plan/accompanied.hpp"
#include <benanza/backend/cuda.hpp>
#include <benanza/backend/nccl.hpp>
#include <benanza/error.hpp>

#include <algorithm>
#include <mutex>
#include <optional>
#include <string>
#include <variant>

namespace benanza::nccl {

namespace {

std::optional<ncclDataType_t> datatype(DataType type) {
  switch (type) {
    case DataType::f32: return ncclFloat32;
    case DataType::f64: return ncclFloat64;
    case DataType::f16: return ncclFloat16;
    case DataType::bf16: return ncclBfloat16;
    case DataType::i8: return ncclInt8;
    case DataType::u8: return ncclUint8;
    case DataType::i32: return ncclInt32;
    case DataType::i64: return ncclInt64;
    default: return std::nullopt;
  }
}

template <op::CollectiveKind K>
class CollectivePlan final : public AccompaniedPlan {
 public:
  CollectivePlan(const op::Collective<K>& op, ncclDataType_t type, bool in_place, std::shared_ptr<const Group> group)
      : AccompaniedPlan({.algorithm = std::string("decided") + (in_place ? ":in_place" : "") + ",threads=1",
                         .inputs = plain_layouts(op.operands().inputs),
                         .outputs = plain_layouts(op.operands().outputs),
                         .advised = !in_place,
                         .tolerance = op.type == DataType::f16 || op.type == DataType::bf16 ? 2e-2 : 1e-4}),
        op_(op),
        type_(type),
        in_place_(in_place),
        group_(std::move(group)) {
    for (int rank = 1; rank < group_->ranks(); ++rank) {
      inputs_.emplace_back(rank, inputs()[0].bytes);
      outputs_.emplace_back(rank, outputs()[0].bytes);
    }
  }

 private:
  void do_announce(const Arguments& arguments, std::int64_t calls) const override {
    const std::size_t bytes = inputs()[0].bytes;
    if (calls == 1 || std::exchange(held_, arguments.inputs[0]) != arguments.inputs[0]) {
      std::vector<std::byte> elements(bytes);
      check(cudaMemcpy(elements.data(), arguments.inputs[0], bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
      const auto place = static_cast<std::ptrdiff_t>(bytes / static_cast<std::size_t>(op_.elements_in()) % bytes);
      for (const auto& input : inputs_) {  // each rotated by one more element
        std::rotate(elements.begin(), elements.begin() + place, elements.end());
        check(cudaMemcpy(input.data(), elements.data(), bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
      }
    }
    if (!in_place_) return;
    check(cudaMemcpy(arguments.outputs[0], arguments.inputs[0], bytes, cudaMemcpyDeviceToDevice), "cudaMemcpy");
    for (std::size_t i = 0; i < inputs_.size(); ++i)
      check(cudaMemcpy(outputs_[i].data(), inputs_[i].data(), bytes, cudaMemcpyDeviceToDevice), "cudaMemcpy");
  }

  void do_execute(const Arguments& arguments) const override {
    cudaStreamCaptureStatus capturing = cudaStreamCaptureStatusNone;
    check(cudaStreamIsCapturing(group_->stream(0), &capturing), "cudaStreamIsCapturing");
    if (capturing != cudaStreamCaptureStatusNone)
      throw EnvironmentError("the other GPUs' streams are not recorded: NCCL takes all of a group or none");
    check(calls().ncclGroupStart(), "ncclGroupStart");
    for (int rank = 0; rank < group_->ranks(); ++rank) {
      const auto other = static_cast<std::size_t>(rank) - 1;
      void* const to = rank == 0 ? arguments.outputs[0] : outputs_[other].data();
      const void* const from = in_place_ ? to : rank == 0 ? arguments.inputs[0] : inputs_[other].data();
      enqueue(from, to, group_->communicator(rank), group_->stream(rank));
    }
    check(calls().ncclGroupEnd(), "ncclGroupEnd");
  }

  void enqueue(const void* from, void* to, ncclComm_t communicator, cudaStream_t stream) const {
    const auto in = static_cast<std::size_t>(op_.elements_in()), out = static_cast<std::size_t>(op_.elements_out());
    if constexpr (K == op::CollectiveKind::all_reduce)
      check(calls().ncclAllReduce(from, to, in, type_, ncclSum, communicator, stream), "ncclAllReduce");
    else if constexpr (K == op::CollectiveKind::reduce_scatter)
      check(calls().ncclReduceScatter(from, to, out, type_, ncclSum, communicator, stream), "ncclReduceScatter");
    else check(calls().ncclAllGather(from, to, in, type_, communicator, stream), "ncclAllGather");
  }

  op::Collective<K> op_;
  ncclDataType_t type_;
  bool in_place_;
  std::shared_ptr<const Group> group_;
  std::vector<Buffer> inputs_{}, outputs_{};  // buffers of the GPUs after the first one
  mutable const void* held_ = nullptr;        // the input that they hold
};

class NcclBackend final : public Backend {
 public:
  [[nodiscard]] std::string_view name() const override { return "nccl"; }
  [[nodiscard]] std::string version() const override { return nccl::version(); }
  [[nodiscard]] bool on_device() const override { return true; }
  [[nodiscard]] std::shared_ptr<Device> device() const override { return device_.get(); }
  [[nodiscard]] std::variant<std::monostate, Unsupported> availability() const override {
    if (auto state = cuda::availability(); std::holds_alternative<Unsupported>(state)) return state;
    if (const auto* reason = std::get_if<std::string>(&library())) return Unsupported{*reason};
    if (const int gpus = visible_gpus(); gpus < 2)
      return Unsupported{std::to_string(gpus) + " GPU is here, a collective takes two"};
    return {};
  }
  [[nodiscard]] std::variant<Plans, Unsupported> plans(const Layer& layer, int) const override {
    if (auto state = availability(); auto* why = std::get_if<Unsupported>(&state)) return *why;
    if (const auto* const op = std::get_if<op::AllReduce>(&layer)) return plans_of(*op);
    if (const auto* const op = std::get_if<op::ReduceScatter>(&layer)) return plans_of(*op);
    if (const auto* const op = std::get_if<op::AllGather>(&layer)) return plans_of(*op);
    return Unsupported{"no " + std::string(kind(layer)) + " in NCCL"};
  }

 private:
  template <op::CollectiveKind K>
  [[nodiscard]] std::variant<Plans, Unsupported> plans_of(const op::Collective<K>& op) const {
    const auto type = datatype(op.type);
    if (!type) return Unsupported{"NCCL adds up no " + std::string(benanza::name(op.type))};
    const auto group = this->group();
    if (op.ranks != group->ranks())
      return Unsupported{std::to_string(group->ranks()) + " GPUs are visible, the layer has " +
                         std::to_string(op.ranks) + " ranks: CUDA_VISIBLE_DEVICES names as many"};
    Plans plans;
    plans.push_back(std::make_unique<CollectivePlan<K>>(op, *type, false, group));
    if (K == op::CollectiveKind::all_reduce)
      plans.push_back(std::make_unique<CollectivePlan<K>>(op, *type, true, group));
    return plans;
  }
  /// Created with the first plan.
  [[nodiscard]] std::shared_ptr<const Group> group() const {
    const std::lock_guard lock(mutex_);
    if (group_ == nullptr) group_ = std::make_shared<const Group>(device_.get());
    return group_;
  }

  cuda::DeviceShare device_{};
  mutable std::mutex mutex_;
  mutable std::shared_ptr<const Group> group_;
};

}  // namespace

std::shared_ptr<const Backend> backend() { return std::make_shared<const NcclBackend>(); }

}  // namespace benanza::nccl
