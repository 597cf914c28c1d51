// SPDX-License-Identifier: Apache-2.0
#include "proto.hpp"

#include "scan.hpp"
#include <benanza/error.hpp>

#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>

namespace benanza::importer {
namespace {

DataType known_type(int number, const std::string& name) {
  const auto type = data_type_from_onnx(number);
  if (!type)
    throw InputError("tensor '" + name + "': element type " + std::to_string(number) + " is not one of ONNX's");
  return *type;
}

template <class T>
T read_as(std::string_view raw, std::size_t index) {
  static_assert(std::endian::native == std::endian::little, "raw_data is little-endian");
  T value{};
  std::memcpy(&value, raw.data() + index * sizeof(T), sizeof(T));
  return value;
}

double from_half(std::uint16_t h) {
  const int exponent = (h >> 10) & 31, mantissa = h & 1023;
  double v = 0;
  if (exponent == 31) v = mantissa != 0 ? std::nan("") : HUGE_VAL;
  else v = exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(mantissa + 1024, exponent - 25);
  return (h >> 15) != 0 ? -v : v;
}

double from_bfloat(std::uint16_t h) { return std::bit_cast<float>(static_cast<std::uint32_t>(h) << 16); }

}  // namespace

double raw_number(std::string_view raw, DataType type, std::size_t index) {
  switch (type) {
    case DataType::f64: return read_as<double>(raw, index);
    case DataType::f16: return from_half(read_as<std::uint16_t>(raw, index));
    case DataType::bf16: return from_bfloat(read_as<std::uint16_t>(raw, index));
    default: return read_as<float>(raw, index);
  }
}

namespace {

template <class T>
void append_integers(std::string_view raw, std::size_t count, Literal& literal) {
  for (std::size_t i = 0; i < count; ++i) literal.ints.push_back(static_cast<std::int64_t>(read_as<T>(raw, i)));
}

void decode_raw(std::string_view raw, DataType type, std::size_t count, Literal& literal) {
  if (is_float(type)) {
    literal.floats.reserve(count);
    for (std::size_t i = 0; i < count; ++i) literal.floats.push_back(raw_number(raw, type, i));
    return;
  }
  literal.ints.reserve(count);
  switch (type) {
    case DataType::i8: return append_integers<std::int8_t>(raw, count, literal);
    case DataType::u8:
    case DataType::boolean: return append_integers<std::uint8_t>(raw, count, literal);
    case DataType::i16: return append_integers<std::int16_t>(raw, count, literal);
    case DataType::u16: return append_integers<std::uint16_t>(raw, count, literal);
    case DataType::i32: return append_integers<std::int32_t>(raw, count, literal);
    case DataType::u32: return append_integers<std::uint32_t>(raw, count, literal);
    default: return append_integers<std::int64_t>(raw, count, literal);
  }
}

void decode_fields(const onnx::TensorProto& tensor, DataType type, Literal& literal) {
  switch (type) {
    case DataType::f32: literal.floats.assign(tensor.float_data().begin(), tensor.float_data().end()); break;
    case DataType::f64: literal.floats.assign(tensor.double_data().begin(), tensor.double_data().end()); break;
    case DataType::f16:
      for (const auto v : tensor.int32_data()) literal.floats.push_back(from_half(static_cast<std::uint16_t>(v)));
      break;
    case DataType::bf16:
      for (const auto v : tensor.int32_data()) literal.floats.push_back(from_bfloat(static_cast<std::uint16_t>(v)));
      break;
    case DataType::i64: literal.ints.assign(tensor.int64_data().begin(), tensor.int64_data().end()); break;
    case DataType::u32:
    case DataType::u64:
      for (const auto v : tensor.uint64_data()) literal.ints.push_back(static_cast<std::int64_t>(v));
      break;
    default: literal.ints.assign(tensor.int32_data().begin(), tensor.int32_data().end());
  }
}

bool has_numbers(DataType type) {
  switch (type) {
    case DataType::f32:
    case DataType::f64:
    case DataType::f16:
    case DataType::bf16:
    case DataType::i64:
    case DataType::i32:
    case DataType::i16:
    case DataType::i8:
    case DataType::u64:
    case DataType::u32:
    case DataType::u16:
    case DataType::u8:
    case DataType::boolean: return true;
    default: return false;
  }
}

}  // namespace

Constant decode(const onnx::TensorProto& tensor) {
  Constant constant{.type = known_type(tensor.data_type(), tensor.name())};
  const std::string& mark = tensor.doc_string();
  if (mark.starts_with(stand_in_mark)) {
    const auto numbers = [](std::string_view text) {
      std::vector<std::int64_t> result;
      for (const char *at = text.data(), *end = at + text.size(); at < end;) {
        std::int64_t number = 0;
        at = std::from_chars(at, end, number).ptr + 1;
        result.push_back(number);
      }
      return result;
    };
    const std::string_view text = std::string_view(mark).substr(stand_in_mark.size());
    const std::size_t place_at = text.find(';'), band_at = text.find(band_mark), sparse_at = text.find(sparse_mark);
    constant.dims = numbers(text.substr(0, text.find_first_not_of("0123456789,")));
    if (sparse_at != std::string_view::npos) {
      const auto stored = numbers(text.substr(sparse_at + sparse_mark.size()));
      constant.sparse =
          SparseNumbers{.bytes = static_cast<double>(stored[0]) + static_cast<double>(stored[1]), .numbers = stored[2]};
    }
    if (const std::size_t at = text.find(kind_mark); at != std::string_view::npos)
      constant.kind = static_cast<ConstantKind>(numbers(text.substr(at + kind_mark.size()))[0]);
    if (is_uniform(constant.kind)) constant.number = raw_number(tensor.raw_data(), constant.type, 0);
    if (const std::size_t at = text.find(equal_mark); at != std::string_view::npos)
      constant.same_bytes_as = static_cast<std::size_t>(numbers(text.substr(at + equal_mark.size()))[0]);
    if (place_at != std::string_view::npos) {
      const auto place = numbers(text.substr(place_at + 1));
      constant.stored =
          StoredPlace{.offset = static_cast<std::uint64_t>(place[0]), .size = static_cast<std::uint64_t>(place[1])};
    }
    if (const std::size_t at = text.find(ramps_mark); at != std::string_view::npos) {
      const auto all = numbers(text.substr(at + ramps_mark.size()));
      const std::size_t each = 1 + constant.dims.size();
      for (std::size_t i = 0; i + each <= all.size(); i += each) {
        const auto begin = all.begin() + static_cast<std::ptrdiff_t>(i);
        constant.ramps.push_back({*begin, {begin + 1, begin + static_cast<std::ptrdiff_t>(each)}});
      }
    }
    if (band_at == std::string_view::npos || !has_numbers(constant.type)) return constant;
    const auto band = numbers(text.substr(band_at + band_mark.size()));
    Literal both;
    decode_raw(tensor.raw_data(), constant.type, 2, both);
    const auto number = [&](std::size_t i) {
      return both.floats.empty() ? static_cast<double>(both.ints[i]) : both.floats[i];
    };
    constant.banded = BandedNumbers{{band[0], band[1]}, number(0), number(1), band[2] != 0};
    return constant;
  }
  constant.dims.assign(tensor.dims().begin(), tensor.dims().end());
  if (!has_numbers(constant.type)) return constant;
  const auto count = static_cast<std::size_t>(element_count(constant.dims));
  Literal literal;
  // The pre-scan has compared the size of raw_data with the dimensions.
  if (tensor.has_raw_data())
    decode_raw(tensor.raw_data(), constant.type,
               std::min(count, tensor.raw_data().size() * 8 / static_cast<std::size_t>(bits(constant.type))), literal);
  else decode_fields(tensor, constant.type, literal);
  const std::size_t found = is_float(constant.type) ? literal.floats.size() : literal.ints.size();
  if (found != count)
    throw InputError("tensor '" + tensor.name() + "': " + std::to_string(found) + " elements of data, expected " +
                     std::to_string(count));
  if (is_float(constant.type))
    constant.kind =
        constant_kind(constant.dims, [&](std::int64_t at) { return literal.floats[static_cast<std::size_t>(at)]; });
  if (is_uniform(constant.kind)) constant.number = literal.floats[0];
  constant.literal = std::move(literal);
  return constant;
}

std::optional<onnx::TensorProto> encode(DataType type, const std::vector<std::int64_t>& dims, const Literal& literal) {
  onnx::TensorProto tensor;
  for (const auto dim : dims) tensor.add_dims(dim);
  tensor.set_data_type(benanza::detail::data_type_facts[static_cast<std::size_t>(type)].onnx);
  switch (type) {
    case DataType::f32:
      for (const auto v : literal.floats) tensor.add_float_data(static_cast<float>(v));
      break;
    case DataType::f64:
      for (const auto v : literal.floats) tensor.add_double_data(v);
      break;
    case DataType::i64:
      for (const auto v : literal.ints) tensor.add_int64_data(v);
      break;
    case DataType::u32:
    case DataType::u64:
      for (const auto v : literal.ints) tensor.add_uint64_data(static_cast<std::uint64_t>(v));
      break;
    case DataType::i32:
    case DataType::i16:
    case DataType::i8:
    case DataType::u16:
    case DataType::u8:
    case DataType::boolean:
      for (const auto v : literal.ints) tensor.add_int32_data(static_cast<std::int32_t>(v));
      break;
    default: return std::nullopt;
  }
  return tensor;
}

onnx::TypeProto make_type(DataType type, const std::vector<std::int64_t>& dims) {
  onnx::TypeProto proto;
  auto& tensor = *proto.mutable_tensor_type();
  tensor.set_elem_type(benanza::detail::data_type_facts[static_cast<std::size_t>(type)].onnx);
  auto& shape = *tensor.mutable_shape();
  for (const auto dim : dims)
    if (auto& added = *shape.add_dim(); dim >= 0) added.set_dim_value(dim);
  return proto;
}

std::optional<DataType> element_type(const onnx::TypeProto& type) {
  switch (type.value_case()) {
    case onnx::TypeProto::kTensorType: return data_type_from_onnx(type.tensor_type().elem_type());
    case onnx::TypeProto::kSparseTensorType: return data_type_from_onnx(type.sparse_tensor_type().elem_type());
    case onnx::TypeProto::kSequenceType: return element_type(type.sequence_type().elem_type());
    case onnx::TypeProto::kOptionalType: return element_type(type.optional_type().elem_type());
    case onnx::TypeProto::kMapType: return element_type(type.map_type().value_type());
    default: return std::nullopt;
  }
}

void copy_attributes(const onnx::NodeProto& from, Node& to) {
  for (const auto& attribute : from.attribute()) {
    using Proto = onnx::AttributeProto;
    const auto put = [&](Attribute value) { to.attributes.insert_or_assign(attribute.name(), std::move(value)); };
    switch (attribute.type()) {
      case Proto::INT: put(attribute.i()); break;
      case Proto::FLOAT: put(static_cast<double>(attribute.f())); break;
      case Proto::STRING: put(attribute.s()); break;
      case Proto::INTS: put(std::vector<std::int64_t>(attribute.ints().begin(), attribute.ints().end())); break;
      case Proto::FLOATS: put(std::vector<double>(attribute.floats().begin(), attribute.floats().end())); break;
      case Proto::STRINGS: put(std::vector<std::string>(attribute.strings().begin(), attribute.strings().end())); break;
      case Proto::TENSOR:
        if (auto constant = decode(attribute.t()); constant.literal) put(std::move(*constant.literal));
        break;
      default: break;
    }
  }
}

std::size_t node_count(const onnx::GraphProto& graph) {
  auto count = static_cast<std::size_t>(graph.node_size());
  for (const auto& node : graph.node())
    for (const auto& attribute : node.attribute())
      if (attribute.has_g()) count += node_count(attribute.g());
  return count;
}

const onnx::AttributeProto* find_attribute(const onnx::NodeProto& node, std::string_view name) {
  for (const auto& attribute : node.attribute())
    if (attribute.name() == name) return &attribute;
  return nullptr;
}

std::string one_line(std::string_view message) {
  std::string line;
  for (const char c : message) {
    const bool space = c == '\n' || c == '\r' || c == '\t' || c == ' ';
    if (!space) line += c;
    else if (!line.empty() && line.back() != ' ') line += ' ';
  }
  while (!line.empty() && line.back() == ' ') line.pop_back();
  return line;
}

}  // namespace benanza::importer
