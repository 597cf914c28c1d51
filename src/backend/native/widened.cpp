// SPDX-License-Identifier: Apache-2.0
// Layers in types that no kernel here computes in: their tensors are widened to f32, the f32 plan runs, and its results
// are rounded to the type. This is the best that a processor without 16-bit arithmetic can do without a kernel for each
// type; the conversions read and write caches if the tensors fit.
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

struct WideOperand {
  std::size_t operand = 0, offset = 0;  // offset of the f32 copy in the workspace
  Index elements = 0;
  std::size_t bytes = 4;  // size of an element in the given type
  ConvertKernel widen = nullptr;
  Narrowing narrow{};
};

class WidenedPlan final : public Plan {
 public:
  WidenedPlan(std::unique_ptr<Plan> inner, const Operands& operands, const Operands& wide, const Context& context,
              double tolerance)
      : Plan({.algorithm = "widened:" + inner->algorithm(),
              .threads = inner->threads(),
              .inputs = plain_layouts(operands.inputs),
              .outputs = plain_layouts(operands.outputs),
              .workspace_bytes = rounded(inner->workspace_bytes()) + copies(operands.inputs, wide.inputs) +
                                 copies(operands.outputs, wide.outputs),
              .tolerance = tolerance}),
        inner_(std::move(inner)),
        pool_(context.pool) {
    std::size_t offset = rounded(inner_->workspace_bytes());
    const auto collect = [&](const std::vector<Operand>& given, const std::vector<Operand>& as) {
      std::vector<WideOperand> result;
      for (std::size_t i = 0; i < given.size(); ++i) {
        if (given[i].type == as[i].type) continue;
        const auto type = static_cast<std::size_t>(*stored(given[i].type));
        WideOperand made{.operand = i,
                         .offset = offset,
                         .elements = given[i].elements(),
                         .bytes = bytes_of(given[i].type),
                         .widen = context.kernels.to_f32[type]};
        if (is_8_bit(given[i].type)) made.narrow.quantize = context.kernels.quantize[given[i].type == DataType::i8];
        else made.narrow.convert = context.kernels.from_f32[type];
        result.push_back(made);
        offset += rounded(static_cast<std::size_t>(as[i].bytes()));
      }
      return result;
    };
    inputs_ = collect(operands.inputs, wide.inputs);
    outputs_ = collect(operands.outputs, wide.outputs);
  }

 private:
  static std::size_t rounded(std::size_t bytes) { return (bytes + 255) / 64 * 64; }  // whole vectors may be read
  static std::size_t copies(const std::vector<Operand>& given, const std::vector<Operand>& as) {
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < given.size(); ++i)
      if (given[i].type != as[i].type) bytes += rounded(static_cast<std::size_t>(as[i].bytes()));
    return bytes;
  }

  void do_execute(const Arguments& arguments) const override {
    auto* const workspace = static_cast<std::byte*>(arguments.workspace);
    std::vector<const void*> in(arguments.inputs.begin(), arguments.inputs.end());
    std::vector<void*> out(arguments.outputs.begin(), arguments.outputs.end());
    for (const auto& each : inputs_) {
      auto* const wide = reinterpret_cast<float*>(workspace + each.offset);
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
      std::holds_alternative<op::ResizeGradient>(layer))
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
  return wide;
}

Plans widen(Plans plans, const Layer& layer, const Layer& wide, const Context& context) {
  const double slack = std::holds_alternative<op::Attention>(layer) ? 4 : 1;
  const auto plain = [](const std::vector<Layout>& layouts) {
    return std::all_of(layouts.begin(), layouts.end(), [](const Layout& layout) { return layout.name == "plain"; });
  };
  Plans result;
  for (auto& plan : plans)
    if (plain(plan->inputs()) && plain(plan->outputs()))  // copies have the layout of the operands
      result.push_back(std::make_unique<WidenedPlan>(std::move(plan), operands(layer), operands(wide), context,
                                                     slack * benanza::tolerance(type(layer))));
  return result;
}

}  // namespace benanza::native
