// SPDX-License-Identifier: Apache-2.0
#include "memory_layout.hpp"

#include "library.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

namespace benanza::onednn {
namespace {

/// Block size of a dimension over all levels: 16 for a in `ABcd4a16b4a`.
std::int64_t block_of(const Desc& desc, std::size_t dim) {
  const Dims blocks = desc.get_inner_blks(), indices = desc.get_inner_idxs();
  std::int64_t block = 1;
  for (std::size_t i = 0; i < blocks.size(); ++i)
    if (indices[i] == static_cast<std::int64_t>(dim)) block *= blocks[i];
  return block;
}

std::vector<std::size_t> outermost_first(const Dims& strides) {
  std::vector<std::size_t> order(strides.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](auto i, auto j) { return strides[i] > strides[j]; });
  return order;
}

/// Whether at most one dimension differs from 1, without gaps or padding.
bool is_dense_vector(const Desc& desc) {
  const Dims dims = desc.get_dims();
  const auto elements = static_cast<std::size_t>(element_count(dims));
  return std::count(dims.begin(), dims.end(), 1) + 1 >= static_cast<std::ptrdiff_t>(dims.size()) &&
         desc.get_size() == elements * dnnl::memory::data_type_size(desc.get_data_type());
}

}  // namespace

std::optional<Type> element_type(DataType type) {
  switch (type) {
    case DataType::f32: return Type::f32;
    case DataType::f16: return Type::f16;
    case DataType::bf16: return Type::bf16;
    case DataType::i32: return Type::s32;
    case DataType::i8: return Type::s8;
    case DataType::u8: return Type::u8;
    default: return std::nullopt;
  }
}

Dims dims(const TensorShape& shape) { return {shape.begin(), shape.end()}; }

Dims row_major_strides(const Dims& dims) {
  Dims strides(dims.size(), 1);
  for (std::size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * dims[i];
  return strides;
}

Desc strided(const Dims& dims, const Dims& strides, Type type) { return {dims, type, strides}; }

Desc row_major(const Dims& dims, Type type) { return strided(dims, row_major_strides(dims), type); }

Desc transposed(const Dims& dims, Type type) {
  Dims stored = dims;
  std::swap(stored[stored.size() - 1], stored[stored.size() - 2]);
  Dims strides = row_major_strides(stored);
  std::swap(strides[strides.size() - 1], strides[strides.size() - 2]);
  return strided(dims, strides, type);
}

Desc any(const Dims& dims, Type type) { return {dims, type, dnnl::memory::format_tag::any}; }

Desc broadcast_to(Form form, const Dims& operand, Type type) {
  using Tag = dnnl::memory::format_tag;
  const int block = Library::channel_block();
  if (form != Form::blocked || operand[1] == 1) return row_major(operand, type);
  const std::size_t rank = operand.size() - 3;
  return {operand, type,
          block == 8 ? std::array{Tag::aBc8b, Tag::aBcd8b, Tag::aBcde8b}[rank]
                     : std::array{Tag::aBc16b, Tag::aBcd16b, Tag::aBcde16b}[rank]};
}

std::optional<Desc> in_form(const Dims& dims, Form form, Type type) {
  using Tag = dnnl::memory::format_tag;
  if (form == Form::plain) return row_major(dims, type);
  if (dims.size() < 3 || dims.size() > 5 || dims[1] == 1) return std::nullopt;
  if (std::all_of(dims.begin() + 2, dims.end(), [](auto dim) { return dim == 1; })) return std::nullopt;
  const std::size_t rank = dims.size() - 3;
  if (form == Form::channels_last) return Desc{dims, type, std::array{Tag::acb, Tag::acdb, Tag::acdeb}[rank]};
  if (dims[1] % Library::channel_block() != 0) return std::nullopt;
  return broadcast_to(Form::blocked, dims, type);
}

bool is_opaque(const Desc& desc) { return desc.get_format_kind() != dnnl::memory::format_kind::blocked; }

bool same_memory(const Desc& a, const Desc& b) {
  if (is_opaque(a) || is_opaque(b) || a.get_dims() != b.get_dims()) return false;
  if (is_dense_vector(a) && is_dense_vector(b)) return true;  // whether blocked or not
  if (a.get_inner_nblks() != 0 || b.get_inner_nblks() != 0) return false;
  const Dims sizes = a.get_dims(), as = a.get_strides(), bs = b.get_strides();
  for (std::size_t i = 0; i < sizes.size(); ++i)
    if (sizes[i] != 1 && as[i] != bs[i]) return false;
  return true;
}

// oneDNN documentation, "Understanding Memory Formats": inner blocks are nested inside the strided blocks.
std::optional<std::int64_t> position_in(const Desc& desc, const Desc& plain, std::int64_t index) {
  if (is_opaque(desc) || is_opaque(plain) || plain.get_inner_nblks() != 0 || desc.get_dims() != plain.get_dims() ||
      desc.get_data_type() != plain.get_data_type())
    return std::nullopt;
  const Dims sizes = plain.get_dims(), from = plain.get_strides(), to = desc.get_strides();
  Dims at(sizes.size(), 0);
  for (const auto i : outermost_first(from))
    if (sizes[i] != 1) at[i] = std::exchange(index, index % from[i]) / from[i];
  std::int64_t position = desc.get_submemory_offset(), width = 1;
  const Dims blocks = desc.get_inner_blks(), indices = desc.get_inner_idxs();
  for (std::size_t b = blocks.size(); b-- > 0; width *= blocks[b]) {
    auto& coordinate = at[static_cast<std::size_t>(indices[b])];
    position += std::exchange(coordinate, coordinate / blocks[b]) % blocks[b] * width;
  }
  for (std::size_t i = 0; i < at.size(); ++i) position += at[i] * to[i];
  return position;
}

std::optional<ElementOrder> order_of(const Desc& desc, const Desc& plain) {
  if (is_opaque(desc) || is_opaque(plain) || plain.get_inner_nblks() != 0 || desc.get_dims() != plain.get_dims() ||
      desc.get_padded_dims() != desc.get_dims() || desc.get_submemory_offset() != 0)
    return std::nullopt;
  const Dims sizes = desc.get_dims(), strides = desc.get_strides(), logical = plain.get_strides();
  const Dims blocks = desc.get_inner_blks(), indices = desc.get_inner_idxs();
  Dims unit = logical;  // what the next digit of a dimension counts, starting with the innermost
  std::vector<OrderDigit> digits;
  std::int64_t width = 1;
  for (std::size_t b = blocks.size(); b-- > 0; width *= blocks[b]) {
    auto& stride = unit[static_cast<std::size_t>(indices[b])];
    digits.push_back({blocks[b], stride});
    stride *= blocks[b];
  }
  std::vector<std::size_t> order = outermost_first(strides);
  std::reverse(order.begin(), order.end());
  for (const auto i : order) {
    const std::int64_t extent = sizes[i] / block_of(desc, i);
    if (extent == 1) continue;
    if (strides[i] != width) return std::nullopt;
    digits.push_back({extent, unit[i]});
    width *= extent;
  }
  std::reverse(digits.begin(), digits.end());
  return ElementOrder(digits);
}

std::string layout_name(const Desc& desc, const Desc& plain) {
  if (same_memory(desc, plain)) return "plain";
  if (is_opaque(desc)) return "opaque" + std::to_string(desc.get_size());
  std::string name;
  for (auto i : outermost_first(desc.get_strides()))
    name += static_cast<char>((block_of(desc, i) > 1 ? 'A' : 'a') + static_cast<int>(i));
  const Dims blocks = desc.get_inner_blks(), indices = desc.get_inner_idxs();
  for (std::size_t i = 0; i < blocks.size(); ++i)
    name += std::to_string(blocks[i]) + static_cast<char>('a' + indices[i]);
  return name;
}

}  // namespace benanza::onednn
