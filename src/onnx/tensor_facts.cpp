// SPDX-License-Identifier: Apache-2.0
#include "tensor_facts.hpp"

#include "external_data.hpp"
#include "tensor_fields.hpp"
#include <benanza/error.hpp>
#include <benanza/model/tensor_shape.hpp>

#include <string>

namespace benanza::importer {
namespace {

constexpr std::size_t highest_scanned_rank = 64;

void check_rank(const std::vector<std::int64_t>& dims) {
  if (dims.size() > highest_scanned_rank)
    throw InputError("a tensor of rank above " + std::to_string(highest_scanned_rank));
}

/// The field of a tensor in which numbers of this type may be, other than raw_data.
std::uint32_t field_of(DataType type) {
  switch (type) {
    case DataType::f32: return tensor::float_data;
    case DataType::f64: return tensor::double_data;
    case DataType::i64: return tensor::int64_data;
    case DataType::u32:
    case DataType::u64: return tensor::uint64_data;
    default: return tensor::int32_data;
  }
}

}  // namespace

void TensorReader::append_dims(std::vector<std::int64_t>& dims, const WireField& field) const {
  if (field.kind == WireField::Kind::bytes)
    for (WireReader packed = read(field.bytes); !packed.done();)
      dims.push_back(static_cast<std::int64_t>(packed.varint())), check_rank(dims);
  else dims.push_back(static_cast<std::int64_t>(field.value)), check_rank(dims);
}

TensorFacts TensorReader::facts(std::string_view message) const {
  TensorFacts facts;
  bool external = false;
  for (auto fields = read(message); auto field = fields.next();) {
    switch (field->number) {
      case tensor::dims: append_dims(facts.dims, *field); break;
      case tensor::data_type: facts.type = field->value; break;
      case tensor::name: facts.name = bytes_of(*field, file_); break;
      case tensor::raw_data:
        facts.raw = bytes_of(*field, file_);
        facts.raw_bytes += facts.raw.size();
        break;
      case tensor::float_data:
      case tensor::int32_data:
      case tensor::string_data:
      case tensor::int64_data:
      case tensor::double_data:
      case tensor::uint64_data: facts.other_bytes += field->whole.size(); break;
      case tensor::external_data:
      case tensor::data_location: external = true; break;
      default: break;
    }
  }
  if (external) facts.external = is_external(message, facts.name);
  return facts;
}

TensorFacts TensorReader::facts_and_numbers(std::string_view message) const {
  TensorFacts found = facts(message);
  const std::int64_t elements = checked_elements(found);
  const auto type = found.known_type();
  if (!type || *type == DataType::string) return found;
  constexpr std::int64_t most = std::int64_t{1} << 48;  // no file has as many
  if (elements > most) return found;
  const auto size = static_cast<std::size_t>((checked_product(elements, bits(*type)) + 7) / 8);
  if (found.external) {
    const ExternalData place = *external_data(message, file_);
    if (place.length.value_or(size) == size) found.numbers = external_.bytes(place, size);
  } else if (found.other_bytes == 0) {
    if (found.raw_bytes == size && found.raw.size() == size) found.numbers = found.raw;
  } else if (const int width = bits(*type); found.raw_bytes == 0 && width % 8 == 0 && width <= 64 &&
                                            static_cast<std::size_t>(elements) <= found.other_bytes) {
    read_typed_fields(found, message, *type, size);
  }
  return found;
}

/// Sets `numbers` from the fields of the tensor's type, if they have as many as expected.
void TensorReader::read_typed_fields(TensorFacts& found, std::string_view message, DataType type,
                                     std::size_t size) const {
  const std::uint32_t number = field_of(type);
  const bool fixed = number == tensor::float_data || number == tensor::double_data;
  const auto each = static_cast<std::size_t>(bits(type) / 8);
  std::string all;
  const auto append = [&](std::uint64_t value) { all.append(reinterpret_cast<const char*>(&value), each); };
  for (auto fields = read(message); auto field = fields.next();) {
    if (field->number != number) continue;
    if (field->kind != WireField::Kind::bytes) {
      append(field->value);
    } else if (fixed) {
      if (all.empty() && field->bytes.size() == size) {  // all of them, as they are
        found.numbers = field->bytes;
        return;
      }
      all += field->bytes;
    } else {
      all.reserve(size);
      for (WireReader packed = read(field->bytes); !packed.done() && all.size() <= size;) append(packed.varint());
    }
  }
  if (all.size() != size) return;
  found.converted = std::make_shared<const std::string>(std::move(all));
  found.numbers = *found.converted;
}

bool TensorReader::is_external(std::string_view tensor, std::string_view name) const {
  try {
    return external_data(tensor, file_).has_value();
  } catch (const InputError& error) {
    throw InputError("tensor '" + std::string(name) + "': " + error.what());
  }
}

std::int64_t TensorReader::checked_elements(const TensorFacts& facts) {
  for (const auto dim : facts.dims)
    if (dim < 0)
      throw InputError("tensor '" + std::string(facts.name) + "': dimension " + std::to_string(dim) +
                       ", expected 0 or more");
  try {
    return element_count(facts.dims);
  } catch (const InputError&) {
    throw InputError("tensor '" + std::string(facts.name) + "': its element count overflows 64 bits");
  }
}

}  // namespace benanza::importer
