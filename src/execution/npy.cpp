// SPDX-License-Identifier: Apache-2.0
#include "npy.hpp"

#include <benanza/base/detail/regular_file.hpp>
#include <benanza/results/whole_file.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <fstream>
#include <string_view>

namespace benanza {

namespace {

struct NpyType {
  std::string_view code;
  DataType type;
};
constexpr std::array npy_types{
    NpyType{"f2", DataType::f16}, NpyType{"f4", DataType::f32}, NpyType{"f8", DataType::f64},
    NpyType{"i1", DataType::i8},  NpyType{"i2", DataType::i16}, NpyType{"i4", DataType::i32},
    NpyType{"i8", DataType::i64}, NpyType{"u1", DataType::u8},  NpyType{"u2", DataType::u16},
    NpyType{"u4", DataType::u32}, NpyType{"u8", DataType::u64}, NpyType{"b1", DataType::boolean}};

/// What follows `'key':` in the text of a header, without leading blanks.
std::optional<std::string_view> entry_of(std::string_view text, std::string_view key) {
  const auto at = text.find("'" + std::string(key) + "':");
  if (at == std::string_view::npos) return std::nullopt;
  text.remove_prefix(at + key.size() + 3);
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  return text;
}

/// `(1, 3, 224, 224)`, `(5,)` or `()`; empty for any other text.
std::optional<Tensor::Dims> tuple_of(std::string_view text) {
  Tensor::Dims dims;
  if (text.empty() || text.front() != '(') return std::nullopt;
  for (text.remove_prefix(1); !text.empty() && text.front() != ')';) {
    if (text.front() == ' ' || text.front() == ',') {
      text.remove_prefix(1);
      continue;
    }
    std::int64_t size = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
    if (error != std::errc{} || size < 0) return std::nullopt;
    dims.push_back(size);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  }
  return text.empty() ? std::nullopt : std::optional(dims);
}

void read_descr(NpyHeader& header, std::string_view text) {
  const char quote = text.empty() ? '\0' : text.front();
  const auto end = text.find(quote, 1);
  if ((quote != '\'' && quote != '"') || end == std::string_view::npos) return;  // a list: a record
  header.descr = text.substr(1, end - 1);
  std::string_view code = header.descr;
  header.big_endian = code.starts_with('>');
  if (!code.empty() && std::string_view("<>=|").find(code.front()) != std::string_view::npos) code.remove_prefix(1);
  for (const auto& known : npy_types)
    if (known.code == code) header.type = known.type;
}

/// Row-major elements from elements whose first index varies fastest.
Tensor from_fortran_order(const Tensor& given, const Tensor::Dims& dims) {
  Tensor result(given.type(), dims);
  const auto width = static_cast<std::size_t>(bits(given.type()) / 8);
  Tensor::Dims at(dims.size(), 0);
  auto* to = static_cast<std::byte*>(result.writable());
  for (std::int64_t i = 0; i < result.elements(); ++i) {
    std::int64_t from = 0;
    for (std::size_t k = dims.size(); k-- > 0;) from = from * dims[k] + at[k];
    std::memcpy(to + static_cast<std::size_t>(i) * width,
                static_cast<const std::byte*>(given.data()) + static_cast<std::size_t>(from) * width, width);
    for (std::size_t k = dims.size(); k-- > 0 && ++at[k] == dims[k];) at[k] = 0;
  }
  return result;
}

}  // namespace

NpyHeader read_npy_header(const std::filesystem::path& file) {
  try {
    static_cast<void>(detail::RegularFile(file));
  } catch (const InputError& error) {
    throw InputError(file.string() + ": cannot be opened: " + error.what());
  }
  std::ifstream in(file, std::ios::binary);
  std::string head(12, '\0');
  in.read(head.data(), 12);
  if (!in || !head.starts_with("\x93NUMPY")) throw InputError(file.string() + ": not a NumPy file");
  const auto byte = [&](std::size_t i) { return static_cast<std::size_t>(static_cast<unsigned char>(head[i])); };
  if (byte(6) < 1 || byte(6) > 3)
    throw InputError(file.string() + ": version " + std::to_string(byte(6)) + " of NumPy's format, expected 1 to 3");
  // The length of the text has two bytes in version 1 and four in later versions.
  const bool old = byte(6) == 1;
  std::size_t length = byte(8) + (byte(9) << 8);
  if (!old) length += (byte(10) << 16) + (byte(11) << 24);
  constexpr std::size_t longest = 1 << 20;
  std::string text = old ? head.substr(10) : std::string();
  if (length <= longest && length > text.size()) {
    const std::size_t had = text.size();
    text.resize(length);
    in.read(text.data() + had, static_cast<std::streamsize>(length - had));
  }
  NpyHeader header{.data_begin = (old ? 10 : 12) + length};
  const auto shape = entry_of(text, "shape");
  const auto dims = shape ? tuple_of(*shape) : std::nullopt;
  if (!in || !dims) throw InputError(file.string() + ": its header has no shape");
  header.dims = *dims;
  constexpr std::int64_t widest = 64;
  try {
    static_cast<void>(checked_product(element_count(header.dims), widest));
  } catch (const InputError&) {
    throw InputError(file.string() + ": the number of its elements overflows");
  }
  if (const auto descr = entry_of(text, "descr")) read_descr(header, *descr);
  if (const auto order = entry_of(text, "fortran_order")) header.fortran_order = order->starts_with("True");
  return header;
}

Tensor read_npy(const std::filesystem::path& file) {
  const NpyHeader header = read_npy_header(file);
  const auto refuse = [&](const std::string& why) { throw InputError(file.string() + ": " + why); };
  if (!header.type) refuse("elements of type '" + header.descr + "', expected floats, integers or booleans");
  const auto needed = static_cast<std::uintmax_t>(checked_product(element_count(header.dims), bits(*header.type)) / 8);
  const std::uintmax_t there = std::filesystem::file_size(file);
  if (there < header.data_begin || there - header.data_begin != needed)
    refuse(std::to_string(there < header.data_begin ? 0 : there - header.data_begin) + " bytes of data, expected " +
           std::to_string(needed) + " of " + described(*header.type, header.dims));
  Tensor result(*header.type, header.dims);
  std::ifstream in(file, std::ios::binary);
  in.seekg(static_cast<std::streamoff>(header.data_begin));
  auto* bytes = static_cast<char*>(result.writable());
  in.read(bytes, static_cast<std::streamsize>(needed));
  if (!in) refuse("cannot be read");
  const auto width = static_cast<std::size_t>(bits(*header.type) / 8);
  if (header.big_endian)
    for (std::size_t at = 0; at < needed; at += width) std::reverse(bytes + at, bytes + at + width);
  return header.fortran_order && header.dims.size() > 1 ? from_fortran_order(result, header.dims) : result;
}

void write_npy(const std::filesystem::path& file, const Tensor& tensor) {
  const auto found = std::find_if(npy_types.begin(), npy_types.end(),
                                  [&](const NpyType& known) { return known.type == tensor.type(); });
  if (found == npy_types.end()) {
    if (!is_float(tensor.type()))
      throw InputError(file.string() + ": NumPy has no elements of type " + std::string(name(tensor.type())));
    return write_npy(file, Tensor::of(DataType::f32, tensor.dims(), tensor.values()));
  }
  std::string text = "{'descr': '" + std::string(bits(tensor.type()) == 8 ? "|" : "<") + std::string(found->code) +
                     "', 'fortran_order': False, 'shape': (";
  const auto& dims = tensor.dims();
  for (std::size_t i = 0; i < dims.size(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(dims[i]);
  text += dims.size() == 1 ? ",), }" : "), }";
  constexpr std::size_t prefix = 10, alignment = 64;  // as in NumPy
  text.append((alignment - (prefix + text.size() + 1) % alignment) % alignment, ' ');
  text += '\n';
  std::string whole("\x93NUMPY\x01\x00", 8);
  whole += static_cast<char>(text.size() & 0xff);
  whole += static_cast<char>(text.size() >> 8);
  whole += text;
  whole.append(static_cast<const char*>(tensor.data()), tensor.bytes());
  write_whole(file, whole);
}

}  // namespace benanza
