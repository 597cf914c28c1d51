// SPDX-License-Identifier: Apache-2.0
// What the operator families of Benanza's own kernels share: plans built from a function, tables in device memory.
#pragma once

#include "kernels.hpp"
#include <benanza/plan/backend.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace benanza::cuda {

using Result = std::variant<Plans, Unsupported>;

struct Context {
  std::shared_ptr<Device> device{};
  [[nodiscard]] cudaStream_t stream() const { return static_cast<cudaStream_t>(device->stream()); }
};

inline constexpr float epsilon = 1e-5F;

/// A plan on row-major operands; failed launches are detected after the call.
[[nodiscard]] Plans one_plan(const Context& context, const Operands& operands, const std::string& algorithm,
                             std::function<void(const Arguments&)> launch, double tolerance,
                             std::size_t workspace_bytes = 0);

/// Constants of a plan in device memory.
[[nodiscard]] std::shared_ptr<const void> device_table(const Context& context, const void* data, std::size_t bytes);

/// The element type for arithmetic on a type. Empty for types that these kernels do not compute with.
[[nodiscard]] std::optional<Element> element_of(DataType type);
/// The same, but also for quantised tensors, i8 and u8.
[[nodiscard]] std::optional<Element> quantized_element_of(DataType type);
[[nodiscard]] double tolerance_of(Element element);
/// Bytes of an element that is only moved: 1, 2, 4, 8 or 16. Empty for others.
[[nodiscard]] std::optional<std::size_t> movable_bytes(DataType type);
/// "no f64 Softmax in backend cuda".
[[nodiscard]] Unsupported unsupported(std::string_view kind, DataType type);

// One overload for each operator that has kernels, in the file of its family.
[[nodiscard]] Result plans(const op::Conv& op, const Context& context);
[[nodiscard]] Result plans(const op::Unary& op, const Context& context);
[[nodiscard]] Result plans(const op::Binary& op, const Context& context);
[[nodiscard]] Result plans(const op::Nary& op, const Context& context);
[[nodiscard]] Result plans(const op::Where& op, const Context& context);
[[nodiscard]] Result plans(const op::BatchNorm& op, const Context& context);
[[nodiscard]] Result plans(const op::Cast& op, const Context& context);
[[nodiscard]] Result plans(const op::Quantize& op, const Context& context);
[[nodiscard]] Result plans(const op::Dequantize& op, const Context& context);
[[nodiscard]] Result plans(const op::Pool& op, const Context& context);
[[nodiscard]] Result plans(const op::Transpose& op, const Context& context);
[[nodiscard]] Result plans(const op::Concat& op, const Context& context);
[[nodiscard]] Result plans(const op::Split& op, const Context& context);
[[nodiscard]] Result plans(const op::Slice& op, const Context& context);
[[nodiscard]] Result plans(const op::Expand& op, const Context& context);
[[nodiscard]] Result plans(const op::Tile& op, const Context& context);
[[nodiscard]] Result plans(const op::Pad& op, const Context& context);
[[nodiscard]] Result plans(const op::Resize& op, const Context& context);
[[nodiscard]] Result plans(const op::Gather& op, const Context& context);
[[nodiscard]] Result plans(const op::GatherElements& op, const Context& context);
[[nodiscard]] Result plans(const op::GatherNd& op, const Context& context);
[[nodiscard]] Result plans(const op::ScatterElements& op, const Context& context);
[[nodiscard]] Result plans(const op::ScatterNd& op, const Context& context);
[[nodiscard]] Result plans(const op::Softmax& op, const Context& context);
[[nodiscard]] Result plans(const op::LayerNorm& op, const Context& context);
[[nodiscard]] Result plans(const op::GroupNorm& op, const Context& context);
[[nodiscard]] Result plans(const op::Lrn& op, const Context& context);
[[nodiscard]] Result plans(const op::Rotary& op, const Context& context);
[[nodiscard]] Result plans(const op::Reduce& op, const Context& context);

/// Layers that libraries handle well, or that are not work.
template <Operator Op>
[[nodiscard]] Result plans(const Op&, const Context&) {
  return Unsupported{"no " + std::string(Op::kind) + " in backend cuda"};
}

}  // namespace benanza::cuda
