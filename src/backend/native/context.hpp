// SPDX-License-Identifier: Apache-2.0
// What the operator families of the native backend share: where they run, and plans built from a function.
#pragma once

#include "isa.hpp"
#include "plan/thread_pool.hpp"
#include "plan/tolerance.hpp"
#include <benanza/plan/backend.hpp>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace benanza::native {

using Result = std::variant<Plans, Unsupported>;

struct Context {
  const Kernels& kernels;
  std::shared_ptr<const ThreadPool> pool{};
  int threads = 1;
  Parameters numbers{};  ///< the numbers that plans compute with
};

/// Results of at least this size are also offered with non-temporal stores; smaller ones are read back from a cache.
inline constexpr std::int64_t stream_bytes = 1 << 20;

class FunctionPlan final : public Plan {
 public:
  using Function = std::function<void(const Arguments&)>;
  FunctionPlan(Description description, Function function)
      : Plan(std::move(description)), function_(std::move(function)) {}
  using Plan::Description;

 private:
  void do_execute(const Arguments& arguments) const override { function_(arguments); }
  Function function_;
};

/// A plan on row-major operands; `algorithm` does not include its last key, the threads.
template <class Function>
void add_plan(Plans& plans, const Context& context, const Operands& operands, const std::string& algorithm,
              Function function, std::size_t workspace_bytes = 0, double tolerance = 1e-4,
              std::vector<std::size_t> overwritable = {}) {
  plans.push_back(std::make_unique<FunctionPlan>(
      FunctionPlan::Description{.algorithm = algorithm + ",threads=" + std::to_string(context.threads),
                                .threads = context.threads,
                                .inputs = plain_layouts(operands.inputs),
                                .outputs = plain_layouts(operands.outputs),
                                .workspace_bytes = workspace_bytes,
                                .tolerance = tolerance,
                                .overwritable = std::move(overwritable)},
      std::move(function)));
}
template <class Function>
[[nodiscard]] Plans one_plan(const Context& context, const Operands& operands, const std::string& algorithm,
                             Function function, std::size_t workspace_bytes = 0, double tolerance = 1e-4) {
  Plans plans;
  add_plan(plans, context, operands, algorithm, std::move(function), workspace_bytes, tolerance);
  return plans;
}

/// Position of an element size of 1, 2, 4, 8 or 16 bytes in the tables of movement kernels. Empty for others.
[[nodiscard]] std::optional<std::size_t> size_class(std::size_t bytes);
[[nodiscard]] std::optional<Stored> stored(DataType type);
/// The type used for arithmetic on `type`; f16 and bf16 are widened to f32.
[[nodiscard]] std::optional<Arithmetic> arithmetic(DataType type);
[[nodiscard]] inline std::size_t bytes_of(DataType type) { return static_cast<std::size_t>(bits(type)) / 8; }

/// Position of an index type in the tables of movement kernels. Empty for others.
[[nodiscard]] std::optional<std::size_t> index_class(DataType type);
/// Index `i`, counted from the end if negative.
[[nodiscard]] inline Index index_at(const void* indices, std::size_t index_class, Index i, Index limit) {
  const Index at =
      index_class == 0 ? static_cast<const std::int32_t*>(indices)[i] : static_cast<const std::int64_t*>(indices)[i];
  return at < 0 ? at + limit : at;
}

/// "no f64 Softmax in backend native".
[[nodiscard]] Unsupported unsupported(std::string_view kind, DataType type);

template <class T>
[[nodiscard]] const T* input(const Arguments& arguments, std::size_t i) {
  return static_cast<const T*>(arguments.inputs[i]);
}
template <class T>
[[nodiscard]] T* output(const Arguments& arguments, std::size_t i = 0) {
  return static_cast<T*>(arguments.outputs[i]);
}

// One overload for each operator that has native kernels, in the file of its family.
[[nodiscard]] Result plans(const op::Unary& op, const Context& context);
[[nodiscard]] Result plans(const op::Binary& op, const Context& context);
[[nodiscard]] Result plans(const op::Nary& op, const Context& context);
[[nodiscard]] Result plans(const op::Where& op, const Context& context);
[[nodiscard]] Result plans(const op::Expression& op, const Context& context);
[[nodiscard]] Result plans(const op::BatchNorm& op, const Context& context);
[[nodiscard]] Result plans(const op::Transpose& op, const Context& context);
[[nodiscard]] Result plans(const op::Concat& op, const Context& context);
[[nodiscard]] Result plans(const op::Split& op, const Context& context);
[[nodiscard]] Result plans(const op::Slice& op, const Context& context);
[[nodiscard]] Result plans(const op::Expand& op, const Context& context);
[[nodiscard]] Result plans(const op::Tile& op, const Context& context);
[[nodiscard]] Result plans(const op::Pad& op, const Context& context);
[[nodiscard]] Result plans(const op::Gather& op, const Context& context);
[[nodiscard]] Result plans(const op::GatherElements& op, const Context& context);
[[nodiscard]] Result plans(const op::GatherNd& op, const Context& context);
[[nodiscard]] Result plans(const op::ScatterElements& op, const Context& context);
[[nodiscard]] Result plans(const op::ScatterNd& op, const Context& context);
[[nodiscard]] Result plans(const op::Softmax& op, const Context& context);
[[nodiscard]] Result plans(const op::LayerNorm& op, const Context& context);
[[nodiscard]] Result plans(const op::GroupNorm& op, const Context& context);
[[nodiscard]] Result plans(const op::Lrn& op, const Context& context);
[[nodiscard]] Result plans(const op::Reduce& op, const Context& context);
[[nodiscard]] Result plans(const op::TopK& op, const Context& context);
[[nodiscard]] Result plans(const op::TreeEnsemble& op, const Context& context);
[[nodiscard]] Result plans(const op::Pool& op, const Context& context);
[[nodiscard]] Result plans(const op::Resize& op, const Context& context);
[[nodiscard]] Result plans(const op::Cast& op, const Context& context);
[[nodiscard]] Result plans(const op::Quantize& op, const Context& context);
[[nodiscard]] Result plans(const op::Dequantize& op, const Context& context);
[[nodiscard]] Result plans(const op::Einsum& op, const Context& context);
[[nodiscard]] Result plans(const op::Attention& op, const Context& context);
[[nodiscard]] Result plans(const op::Rotary& op, const Context& context);
[[nodiscard]] Result plans(const op::Recurrent& op, const Context& context);
[[nodiscard]] Result plans(const op::RecurrentGradient& op, const Context& context);
[[nodiscard]] Result plans(const op::Cumulative& op, const Context& context);
[[nodiscard]] Result plans(const op::AxisNorm& op, const Context& context);
[[nodiscard]] Result plans(const op::ChannelNorm& op, const Context& context);
[[nodiscard]] Result plans(const op::Loss& op, const Context& context);
[[nodiscard]] Result plans(const op::UnaryGradient& op, const Context& context);
[[nodiscard]] Result plans(const op::SoftmaxGradient& op, const Context& context);
[[nodiscard]] Result plans(const op::NormGradient& op, const Context& context);
[[nodiscard]] Result plans(const op::PoolGradient& op, const Context& context);
[[nodiscard]] Result plans(const op::LossGradient& op, const Context& context);
[[nodiscard]] Result plans(const op::GatherGradient& op, const Context& context);
[[nodiscard]] Result plans(const op::ResizeGradient& op, const Context& context);
[[nodiscard]] Result plans(const op::OptimizerStep& op, const Context& context);
[[nodiscard]] Result plans(const op::Fourier& op, const Context& context);
[[nodiscard]] Result plans(const op::GridSample& op, const Context& context);
[[nodiscard]] Result plans(const op::RoiAlign& op, const Context& context);
[[nodiscard]] Result plans(const op::DeformConv& op, const Context& context);
[[nodiscard]] Result plans(const op::TensorScatter& op, const Context& context);
[[nodiscard]] Result plans(const op::OneHot& op, const Context& context);
[[nodiscard]] Result plans(const op::Trilu& op, const Context& context);
[[nodiscard]] Result plans(const op::Generate& op, const Context& context);
[[nodiscard]] Result plans(const op::Conv& op, const Context& context);
[[nodiscard]] Result plans(const op::ConvGradient& op, const Context& context);
[[nodiscard]] Result plans(const op::ConvTranspose& op, const Context& context);
[[nodiscard]] Result plans(const op::MatMul& op, const Context& context);

// Plans for 8-bit integers, in a separate file.
[[nodiscard]] Result integer_plans(const op::Conv& op, const Context& context);
[[nodiscard]] Result integer_plans(const op::MatMul& op, const Context& context);

// Plans for types without vector kernels, in a separate file.
[[nodiscard]] Result scalar_plans(const op::Reduce& op, const Context& context);
[[nodiscard]] Result scalar_plans(const op::Softmax& op, const Context& context);

/// Layers that libraries handle well, or that are not work.
template <Operator Op>
[[nodiscard]] Result plans(const Op&, const Context&) {
  return Unsupported{"no " + std::string(Op::kind) + " in backend native"};
}

}  // namespace benanza::native
