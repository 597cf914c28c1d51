// SPDX-License-Identifier: Apache-2.0
#include "candidates.hpp"

#include "plan/transpose_matrices.hpp"

#include <algorithm>
#include <cstring>
#include <tuple>

namespace benanza::cudnn {

namespace {

class CallPlan final : public Plan {
 public:
  static constexpr const char* threads_key = ",threads=1";

  CallPlan(std::shared_ptr<const Handle> handle, Draft draft, const Operands& operands)
      : Plan({.algorithm = draft.algorithm + threads_key,
              .threads = 1,
              .inputs = layouts(operands.inputs, draft.inputs),
              .outputs = layouts(operands.outputs, draft.outputs),
              .workspace_bytes = draft.workspace_bytes,
              .saves_multiplications = draft.saves_multiplications,
              .tolerance = draft.tolerance}),
        handle_(std::move(handle)),
        draft_(std::move(draft)) {}

 private:
  using Others = std::vector<std::pair<std::size_t, OtherLayout>>;

  static std::vector<Layout> layouts(const std::vector<Operand>& operands, const Others& others) {
    std::vector<Layout> result = plain_layouts(operands);
    for (const auto& [i, other] : others) result.at(i) = other.layout;
    return result;
  }
  static const OtherLayout* other(const Others& others, std::size_t i) {
    const auto found = std::find_if(others.begin(), others.end(), [&](const auto& each) { return each.first == i; });
    return found == others.end() ? nullptr : &found->second;
  }

  void do_pack_input(std::size_t i, const void* plain, void* packed) const override {
    if (const OtherLayout* how = other(draft_.inputs, i)) how->relayout(plain, packed);
    else std::memcpy(packed, plain, inputs().at(i).bytes);
  }
  void do_unpack_output(std::size_t i, const void* packed, void* plain) const override {
    if (const OtherLayout* how = other(draft_.outputs, i)) how->relayout(packed, plain);
    else std::memcpy(plain, packed, outputs().at(i).bytes);
  }
  [[nodiscard]] std::optional<std::int64_t> do_output_position(std::size_t i, std::int64_t index) const override {
    const OtherLayout* how = other(draft_.outputs, i);
    if (how == nullptr) return index;
    return how->position ? std::optional(how->position(index)) : std::nullopt;
  }
  void do_execute(const Arguments& arguments) const override { draft_.execute(handle_->get(), arguments); }

  std::shared_ptr<const Handle> handle_;
  Draft draft_;
};

}  // namespace

Candidates::Candidates(std::shared_ptr<const Handle> handle, const Layer& layer, const Parameters& numbers)
    : handle_(std::move(handle)),
      operands_(benanza::operands(layer)),
      numbers_(numbers),
      no_call_("no call of cuDNN does this " + std::string(kind(layer))) {}

void Candidates::refuse(const std::string& reason) {
  if (reasons_.find(reason) != std::string::npos) return;
  reasons_ += (reasons_.empty() ? "" : "; ") + reason;
}

std::variant<PlanDrafts, Unsupported> Candidates::result() && {
  if (drafts_.empty()) return Unsupported{reasons_.empty() ? no_call_ : reasons_};
  std::stable_sort(drafts_.begin(), drafts_.end(), [](const auto& a, const auto& b) {
    return std::tie(a.second.compiled_here, a.first) < std::tie(b.second.compiled_here, b.first);
  });
  PlanDrafts result;
  for (auto& [rank, draft] : drafts_) {
    PlanDraft plan{.algorithm = draft.algorithm + CallPlan::threads_key, .advised = draft.advised};
    plan.build = [handle = handle_, operands = operands_,
                  draft = std::move(draft)]() mutable -> std::variant<std::unique_ptr<Plan>, Unsupported> {
      if (draft.finalize)
        if (auto why = draft.finalize(draft)) return Unsupported{std::move(*why)};
      return std::make_unique<CallPlan>(std::move(handle), std::move(draft), operands);
    };
    result.push_back(std::move(plan));
  }
  return result;
}

void put_channels_last(Draft& draft, const Operands& operands, std::size_t i, bool is_output) {
  const Operand& operand = (is_output ? operands.outputs : operands.inputs).at(i);
  if (operand.shape.size() < 3) return;
  const std::int64_t outer = operand.shape[0], channels = operand.shape[1];
  const std::int64_t places = element_count(operand.shape) / std::max<std::int64_t>(1, outer * channels);
  if (channels == 1 || places == 1) return;
  const auto bytes = static_cast<std::size_t>(bits(operand.type)) / 8;
  const Layout layout{.name = "nhwc",
                      .bytes = static_cast<std::size_t>(operand.bytes()),
                      .order = transposed_order(outer, channels, places)};
  auto& others = is_output ? draft.outputs : draft.inputs;
  others.emplace_back(i, OtherLayout{layout,
                                     [=](const void* from, void* to) {
                                       transpose_matrices(from, to, outer, is_output ? places : channels,
                                                          is_output ? channels : places, bytes);
                                     },
                                     [=](std::int64_t index) { return transposed_index(index, channels, places); }});
}

std::optional<TensorShape> leading_ones(const TensorShape& shape, std::size_t rank) {
  if (shape.size() > rank || rank > 5) return std::nullopt;
  TensorShape result = TensorShape::filled(rank, 1);
  for (std::size_t i = 0; i < shape.size(); ++i) result[rank - shape.size() + i] = shape[i];
  return result;
}

std::optional<std::vector<EpilogueCall>> epilogue_calls(const Epilogue& post, const TensorShape& y,
                                                        std::size_t channel_axis, std::size_t operand, Order order,
                                                        const Arithmetic& arithmetic, std::string& why) {
  const std::size_t rank = std::max<std::size_t>(4, y.size());
  // A result with fewer than four dimensions gets its 1s at the end, so that channels stay the second dimension.
  const TensorShape whole = with_rank(y, rank);
  std::vector<EpilogueCall> result;
  if (rank > 5) {
    why = "cuDNN's element-wise calls take at most 5 dimensions";
    return std::nullopt;
  }
  const TensorDescriptor y_descriptor = tensor(arithmetic.stored, whole, order);
  const Factor one(arithmetic, 1), minus(arithmetic, -1), zero(arithmetic, 0);
  for (const auto& step : post) {
    why = "no call of cuDNN does " + std::string(enum_names(step.fn)[static_cast<std::size_t>(step.fn)]);
    if (!is_binary(step.fn)) {
      const auto function = activation(step.fn, step.alpha, step.beta);
      if (!function) return std::nullopt;
      result.push_back([=](cudnnHandle_t handle, const Arguments&, void* data) {
        check(calls().cudnnActivationForward(handle, function->get(), one.get(), y_descriptor.get(), data, zero.get(),
                                             y_descriptor.get(), data),
              "cudnnActivationForward");
      });
      continue;
    }
    const auto op = op_tensor(step.fn);
    if (!op) return std::nullopt;
    TensorShape shape = whole;
    if (step.channel) {
      shape = TensorShape::filled(rank, 1);
      shape[channel_axis] = whole[channel_axis];
    } else if (!step.shape.empty()) {
      const auto led = leading_ones(step.shape, y.size());
      if (!led) return std::nullopt;
      shape = with_rank(*led, rank);
    }
    const TensorDescriptor other = tensor(arithmetic.stored, shape, order);
    const auto descriptor = make_op_tensor(*op, arithmetic);
    const bool subtracts = step.fn == ElementwiseFn::sub;
    const Factor of_y = subtracts && step.swapped ? minus : one, of_other = subtracts && !step.swapped ? minus : one;
    result.push_back([=](cudnnHandle_t handle, const Arguments& arguments, void* data) {
      check(calls().cudnnOpTensor(handle, descriptor.get(), of_y.get(), y_descriptor.get(), data, of_other.get(),
                                  other.get(), arguments.inputs[operand], zero.get(), y_descriptor.get(), data),
            "cudnnOpTensor");
    });
    ++operand;
  }
  return result;
}

}  // namespace benanza::cudnn
