// SPDX-License-Identifier: Apache-2.0
#include "context.hpp"

namespace benanza::native {

std::optional<std::size_t> size_class(std::size_t bytes) {
  switch (bytes) {
    case 1: return 0;
    case 2: return 1;
    case 4: return 2;
    case 8: return 3;
    case 16: return 4;
    default: return std::nullopt;
  }
}

std::optional<Stored> stored(DataType type) {
  switch (type) {
    case DataType::f32: return Stored::f32;
    case DataType::f16: return Stored::f16;
    case DataType::bf16: return Stored::bf16;
    case DataType::f64: return Stored::f64;
    case DataType::i8: return Stored::i8;
    case DataType::u8: return Stored::u8;
    case DataType::i16: return Stored::i16;
    case DataType::u16: return Stored::u16;
    case DataType::i32: return Stored::i32;
    case DataType::u32: return Stored::u32;
    case DataType::i64: return Stored::i64;
    case DataType::u64: return Stored::u64;
    case DataType::boolean: return Stored::boolean;
    default: return std::nullopt;
  }
}

std::optional<Arithmetic> arithmetic(DataType type) {
  switch (type) {
    case DataType::f32:
    case DataType::f16:
    case DataType::bf16: return Arithmetic::f32;
    case DataType::f64: return Arithmetic::f64;
    case DataType::i32: return Arithmetic::i32;
    case DataType::i64: return Arithmetic::i64;
    case DataType::boolean: return Arithmetic::boolean;
    default: return std::nullopt;
  }
}

std::optional<std::size_t> index_class(DataType type) {
  if (type == DataType::i32) return 0;
  if (type == DataType::i64) return 1;
  return std::nullopt;
}

Unsupported unsupported(std::string_view kind, DataType type) {
  return {"no " + std::string(name(type)) + " " + std::string(kind) + " in backend native"};
}

}  // namespace benanza::native
