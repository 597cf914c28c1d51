// SPDX-License-Identifier: Apache-2.0
// Layers in types that no kernel here computes in: their tensors are widened to f32, the f32 plan runs, and its results
// are rounded to the type. This is the best that a processor without 16-bit arithmetic can do without a kernel for each
// type; the conversions read and write caches if the tensors fit. Constants that the f32 plan packs are widened in the
// packing. Other operands have the order of elements of the f32 plan's layout.
#include "widened.hpp"

#include <algorithm>

namespace benanza::native {

namespace {

/// Rounds to nearest even and saturates, as quantised tensors require; f16 and bf16 use the conversion kernels.
struct Narrowing {
  ConvertKernel convert = nullptr;
  void (*quantize)(const float*, void*, Index, float, std::int32_t) = nullptr;

  void run(const float* x, void* y, Index n) const {
    if (quantize != nullptr) quantize(x, y, n, 1.0F, 0);
    else convert(x, y, n);
  }
};

/// An operand whose type is not the one that the f32 plan reads or writes.
struct WideOperand {
  std::size_t operand = 0, offset = 0;  // offset of the f32 copy in the workspace
  Index elements = 0, plain_elements = 0;
  std::size_t bytes = 4;  // size of an element in the given type
  ConvertKernel widen = nullptr;
  Narrowing narrow{};
  bool packed = false;                   // a constant that is widened when it is packed
  std::optional<std::size_t> adds_to{};  // offset of the output to which the f32 plan adds this operand
};

std::size_t rounded(std::size_t bytes) { return (bytes + 255) / 64 * 64; }  // whole vectors may be read

std::vector<WideOperand> wide_operands(const std::vector<Operand>& given, const std::vector<Operand>& wide,
                                       const std::vector<Layout>& layouts, const Kernels& kernels) {
  std::vector<WideOperand> result;
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (given[i].type == wide[i].type) continue;
    const auto type = static_cast<std::size_t>(*stored(given[i].type));
    WideOperand& made =
        result.emplace_back(WideOperand{.operand = i,
                                        .elements = static_cast<Index>(layouts[i].bytes / sizeof(float)),
                                        .plain_elements = given[i].elements(),
                                        .bytes = bytes_of(given[i].type),
                                        .widen = kernels.to_f32[type],
                                        .packed = given[i].constant && layouts[i].name != "plain"});
    if (is_8_bit(given[i].type)) made.narrow.quantize = kernels.quantize[given[i].type == DataType::i8];
    else made.narrow.convert = kernels.from_f32[type];
  }
  return result;
}

/// Layouts of the f32 plan for elements of the given types. Constants in a layout of their own stay in f32.
std::vector<Layout> narrow_layouts(std::vector<Layout> layouts, const std::vector<WideOperand>& operands) {
  for (const auto& each : operands) {
    Layout& layout = layouts[each.operand];
    if (each.packed) layout = {.name = "f32:" + layout.name, .bytes = layout.bytes};
    else layout.bytes = static_cast<std::size_t>(each.elements) * each.bytes;
  }
  return layouts;
}

std::size_t copies(const std::vector<WideOperand>& operands) {
  std::size_t bytes = 0;
  for (const auto& each : operands)
    if (!each.packed) bytes += rounded(static_cast<std::size_t>(each.elements) * sizeof(float));
  return bytes;
}

class WidenedPlan final : public Plan {
 public:
  WidenedPlan(std::unique_ptr<Plan> inner, std::vector<WideOperand> inputs, std::vector<WideOperand> outputs,
              const Context& context, double tolerance)
      : Plan({.algorithm = "widened:" + inner->algorithm(),
              .threads = inner->threads(),
              .inputs = narrow_layouts(inner->inputs(), inputs),
              .outputs = narrow_layouts(inner->outputs(), outputs),
              .workspace_bytes = rounded(inner->workspace_bytes()) + copies(inputs) + copies(outputs),
              .saves_multiplications = inner->saves_multiplications(),
              .tolerance = std::max(tolerance, inner->tolerance())}),
        inner_(std::move(inner)),
        pool_(context.pool),
        inputs_(std::move(inputs)),
        outputs_(std::move(outputs)) {
    std::size_t offset = rounded(inner_->workspace_bytes());
    for (auto* const operands : {&inputs_, &outputs_})
      for (auto& each : *operands) {
        if (each.packed) continue;
        each.offset = offset;
        offset += rounded(static_cast<std::size_t>(each.elements) * sizeof(float));
      }
    for (auto& input : inputs_)
      for (const auto& output : outputs_)
        if (inner_->sums_into(output.operand) == input.operand) input.adds_to = output.offset;
  }

 private:
  static const WideOperand* find(const std::vector<WideOperand>& operands, std::size_t i) {
    const auto found =
        std::find_if(operands.begin(), operands.end(), [i](const WideOperand& each) { return each.operand == i; });
    return found == operands.end() ? nullptr : &*found;
  }

  void do_pack_input(std::size_t i, const void* plain, void* packed) const override {
    const WideOperand* const operand = find(inputs_, i);
    if (operand == nullptr) return inner_->pack_input(i, plain, packed);
    std::vector<float> wide(static_cast<std::size_t>(operand->plain_elements));
    operand->widen(plain, wide.data(), operand->plain_elements);
    if (operand->packed) return inner_->pack_input(i, wide.data(), packed);
    std::vector<float> in_layout(static_cast<std::size_t>(operand->elements));
    inner_->pack_input(i, wide.data(), in_layout.data());
    operand->narrow.run(in_layout.data(), packed, operand->elements);
  }
  void do_unpack_output(std::size_t i, const void* packed, void* plain) const override {
    const WideOperand* const operand = find(outputs_, i);
    if (operand == nullptr) return inner_->unpack_output(i, packed, plain);
    std::vector<float> in_layout(static_cast<std::size_t>(operand->elements));
    operand->widen(packed, in_layout.data(), operand->elements);
    std::vector<float> wide(static_cast<std::size_t>(operand->plain_elements));
    inner_->unpack_output(i, in_layout.data(), wide.data());
    operand->narrow.run(wide.data(), plain, operand->plain_elements);
  }
  [[nodiscard]] std::optional<std::int64_t> do_output_position(std::size_t i, std::int64_t index) const override {
    return inner_->output_position(i, index);
  }

  void do_execute(const Arguments& arguments) const override {
    auto* const workspace = static_cast<std::byte*>(arguments.workspace);
    std::vector<const void*> in(arguments.inputs.begin(), arguments.inputs.end());
    std::vector<void*> out(arguments.outputs.begin(), arguments.outputs.end());
    for (const auto& each : inputs_) {
      if (each.packed) continue;
      auto* const wide = reinterpret_cast<float*>(workspace + each.adds_to.value_or(each.offset));
      const auto* const given = static_cast<const std::byte*>(in[each.operand]);
      in[each.operand] = wide;
      pool_->split(each.elements, threads(), 64, [&](Index begin, Index end) {
        each.widen(given + static_cast<std::size_t>(begin) * each.bytes, wide + begin, end - begin);
      });
    }
    for (const auto& each : outputs_) out[each.operand] = workspace + each.offset;
    inner_->execute({.inputs = in, .outputs = out, .workspace = workspace});
    for (const auto& each : outputs_) {
      const auto* const wide = reinterpret_cast<const float*>(workspace + each.offset);
      auto* const wanted = static_cast<std::byte*>(arguments.outputs[each.operand]);
      pool_->split(each.elements, threads(), 64, [&](Index begin, Index end) {
        each.narrow.run(wide + begin, wanted + static_cast<std::size_t>(begin) * each.bytes, end - begin);
      });
    }
  }

  std::unique_ptr<Plan> inner_;
  std::shared_ptr<const ThreadPool> pool_;
  std::vector<WideOperand> inputs_{}, outputs_{};
};

/// Whether the operator means the same in f32; it does not if integers wrap around.
bool widens(const Layer& layer) {
  const DataType type = benanza::type(layer);
  const bool half = type == DataType::f16 || type == DataType::bf16;
  if (std::holds_alternative<op::Softmax>(layer) || std::holds_alternative<op::LayerNorm>(layer) ||
      std::holds_alternative<op::GroupNorm>(layer) || std::holds_alternative<op::Lrn>(layer) ||
      std::holds_alternative<op::BatchNorm>(layer) || std::holds_alternative<op::Attention>(layer) ||
      std::holds_alternative<op::Rotary>(layer) || std::holds_alternative<op::Einsum>(layer) ||
      std::holds_alternative<op::TopK>(layer) || std::holds_alternative<op::Cumulative>(layer) ||
      std::holds_alternative<op::AxisNorm>(layer) || std::holds_alternative<op::ChannelNorm>(layer) ||
      std::holds_alternative<op::Loss>(layer) || std::holds_alternative<op::Fourier>(layer) ||
      std::holds_alternative<op::GridSample>(layer) || std::holds_alternative<op::RoiAlign>(layer) ||
      std::holds_alternative<op::DeformConv>(layer) || std::holds_alternative<op::Generate>(layer) ||
      std::holds_alternative<op::UnaryGradient>(layer) || std::holds_alternative<op::SoftmaxGradient>(layer) ||
      std::holds_alternative<op::NormGradient>(layer) || std::holds_alternative<op::PoolGradient>(layer) ||
      std::holds_alternative<op::LossGradient>(layer) || std::holds_alternative<op::GatherGradient>(layer) ||
      std::holds_alternative<op::ResizeGradient>(layer) || std::holds_alternative<op::Conv>(layer) ||
      std::holds_alternative<op::ConvTranspose>(layer) || std::holds_alternative<op::MatMul>(layer) ||
      std::holds_alternative<op::Recurrent>(layer))
    return half;
  const bool quantized = is_8_bit(type);
  if (std::holds_alternative<op::Pool>(layer) || std::holds_alternative<op::Resize>(layer)) return half || quantized;
  if (const auto* reduce = std::get_if<op::Reduce>(&layer)) {
    using enum op::ReduceFn;
    return half || (quantized && (reduce->fn == mean || reduce->fn == max || reduce->fn == min));
  }
  if (std::holds_alternative<op::Unary>(layer)) return quantized;
  const auto* binary = std::get_if<op::Binary>(&layer);
  return binary != nullptr && binary->scaled && quantized;
}

}  // namespace

std::optional<Layer> widened(const Layer& layer) {
  if (!widens(layer)) return std::nullopt;
  Layer wide = layer;
  std::visit([](auto& op) { op.type = DataType::f32; }, wide);
  if (auto* binary = std::get_if<op::Binary>(&wide)) binary->scaled = false;
  const auto forget_same_type = [](auto* op) {
    if (op != nullptr && op->y_type == op->type) op->y_type.reset();
  };
  forget_same_type(std::get_if<op::Conv>(&wide));
  forget_same_type(std::get_if<op::MatMul>(&wide));
  return wide;
}

Plans widen(Plans plans, const Layer& layer, const Layer& wide, const Context& context) {
  const double slack = std::holds_alternative<op::Attention>(layer) ? 4 : 1;
  const Operands given = operands(layer), in_f32 = operands(wide);
  Plans result;
  for (auto& plan : plans) {
    auto inputs = wide_operands(given.inputs, in_f32.inputs, plan->inputs(), context.kernels);
    auto outputs = wide_operands(given.outputs, in_f32.outputs, plan->outputs(), context.kernels);
    result.push_back(std::make_unique<WidenedPlan>(std::move(plan), std::move(inputs), std::move(outputs), context,
                                                   slack * benanza::tolerance(type(layer))));
  }
  return result;
}

}  // namespace benanza::native
