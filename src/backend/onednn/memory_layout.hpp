// SPDX-License-Identifier: Apache-2.0
// Memory descriptors from Benanza's shapes, and Benanza's names for them.
#pragma once

#include <benanza/plan/backend.hpp>

#include <oneapi/dnnl/dnnl.hpp>

#include <optional>
#include <string>

namespace benanza::onednn {

using Desc = dnnl::memory::desc;
using Dims = dnnl::memory::dims;
using Type = dnnl::memory::data_type;

/// oneDNN's name of an element type. Empty for a type that it lacks.
[[nodiscard]] std::optional<Type> element_type(DataType type);

/// The memory layout of a tensor whose second dimension is its channels.
enum class Form { plain, channels_last, blocked };

[[nodiscard]] Dims dims(const TensorShape& shape);
/// Strides of a dense row-major tensor.
[[nodiscard]] Dims row_major_strides(const Dims& dims);
[[nodiscard]] Desc row_major(const Dims& dims, Type type = Type::f32);
/// Row-major, with the last two dimensions exchanged in memory.
[[nodiscard]] Desc transposed(const Dims& dims, Type type = Type::f32);
[[nodiscard]] Desc strided(const Dims& dims, const Dims& strides, Type type = Type::f32);
/// The layout that oneDNN prefers.
[[nodiscard]] Desc any(const Dims& dims, Type type = Type::f32);
/// Empty for a form that the tensor does not have, or that is the same memory as the plain one.
[[nodiscard]] std::optional<Desc> in_form(const Dims& dims, Form form, Type type = Type::f32);

/// Layout of an operand that broadcasts to a tensor of the given form: row-major, except that blocked channels of the
/// tensor require blocked channels of the operand. If the operand has no further dimensions, both are the same memory.
[[nodiscard]] Desc broadcast_to(Form form, const Dims& operand, Type type = Type::f32);

/// Whether two descriptors of equal dimensions place every element at the same position, without padding. Strides of
/// dimensions of 1 do not count.
[[nodiscard]] bool same_memory(const Desc& a, const Desc& b);
/// Whether the layout is one of oneDNN's own hidden formats, as opposed to strides and blocks.
[[nodiscard]] bool is_opaque(const Desc& desc);
/// The position in `desc` of the element that a dense `plain` without blocks has at `index`, both in elements. Empty
/// for hidden formats, or if the elements are not the same.
[[nodiscard]] std::optional<std::int64_t> position_in(const Desc& desc, const Desc& plain, std::int64_t index);
/// The order in which `desc` places the elements of a dense, row-major `plain`. Empty for hidden formats, or if there
/// is padding or a gap.
[[nodiscard]] std::optional<ElementOrder> order_of(const Desc& desc, const Desc& plain);
/// "plain" when `desc` places the elements as `plain` does; otherwise in oneDNN's spelling (`aBcd8b`).
[[nodiscard]] std::string layout_name(const Desc& desc, const Desc& plain);

}  // namespace benanza::onednn
