// SPDX-License-Identifier: Apache-2.0
// The part of the protobuf wire format that is needed to skip over a message:
// https://protobuf.dev/programming-guides/encoding/ Reading allocates nothing and checks every length against the
// available bytes.
#pragma once

#include <benanza/error.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace benanza::importer {

/// One field of a message: its number, and either a number or bytes.
struct WireField {
  enum class Kind : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };
  std::uint32_t number = 0;
  Kind kind = Kind::varint;
  std::uint64_t value = 0;   ///< set for a varint or a fixed-size field
  std::string_view bytes{};  ///< set for a length-delimited field
  std::string_view whole{};  ///< the field as in the file, including its tag
};

/// Iterates over the fields of one message.
class WireReader {
 public:
  /// `file` is the start of the whole file: error messages give positions in it.
  WireReader(std::string_view message, const char* file) : rest_(message), file_(file) {}

  /// The next field, or empty at the end. Throws InputError on bytes that are not protobuf.
  [[nodiscard]] std::optional<WireField> next() {
    if (rest_.empty()) return std::nullopt;
    const char* begin = rest_.data();
    WireField field;
    const std::uint64_t tag = varint();
    field.number = static_cast<std::uint32_t>(tag >> 3);
    if (field.number == 0 || tag >> 32 != 0) fail(begin, "found a field tag that ONNX files do not have");
    switch (tag & 7) {
      case 0: field.value = varint(); break;
      case 1: field.value = fixed(8, begin); break;
      case 5: field.value = fixed(4, begin); break;
      case 2: {
        const std::uint64_t length = varint();
        if (length > rest_.size())
          fail(begin, "a field of " + std::to_string(length) + " bytes, but only " + std::to_string(rest_.size()) +
                          " are left");
        field.bytes = take(static_cast<std::size_t>(length));
        break;
      }
      default: fail(begin, "found wire type " + std::to_string(tag & 7) + ", expected 0, 1, 2 or 5");
    }
    field.kind = static_cast<WireField::Kind>(tag & 7);
    field.whole = {begin, static_cast<std::size_t>(rest_.data() - begin)};
    return field;
  }

  /// A varint at the current position, as in packed fields. Throws InputError if it does not end.
  [[nodiscard]] std::uint64_t varint() {
    if (!rest_.empty() && static_cast<unsigned char>(rest_.front()) < 0x80) {  // most are one byte
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      return byte;
    }
    const char* begin = rest_.data();
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (rest_.empty()) fail(begin, "the file ends in the middle of a number");
      const auto byte = static_cast<unsigned char>(take(1).front());
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    fail(begin, "found a number of more than 10 bytes");
  }

  [[nodiscard]] bool done() const { return rest_.empty(); }

 private:
  std::string_view take(std::size_t count) {
    const std::string_view head = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return head;
  }
  std::uint64_t fixed(std::size_t size, const char* begin) {
    if (rest_.size() < size) fail(begin, "the file ends in the middle of a number");
    std::uint64_t value = 0;
    const std::string_view raw = take(size);
    for (std::size_t i = 0; i < size; ++i)
      value |= static_cast<std::uint64_t>(static_cast<unsigned char>(raw[i])) << (8 * i);
    return value;
  }
  [[noreturn]] void fail(const char* at, const std::string& found) const {
    throw InputError("not a readable ONNX file: at byte " + std::to_string(at - file_) + " " + found);
  }

  std::string_view rest_;
  const char* file_;
};

/// The bytes of a field that has to have some. `file` is the start of the whole file.
[[nodiscard]] inline std::string_view bytes_of(const WireField& field, const char* file) {
  if (field.kind != WireField::Kind::bytes)
    throw InputError("not a readable ONNX file: at byte " + std::to_string(field.whole.data() - file) +
                     " found a number where a message is expected");
  return field.bytes;
}

inline void write_varint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(static_cast<unsigned char>(value | 0x80));
  out += static_cast<char>(static_cast<unsigned char>(value));
}

inline void write_number(std::string& out, std::uint32_t number, std::uint64_t value) {
  write_varint(out, std::uint64_t{number} << 3);
  write_varint(out, value);
}

inline void write_bytes(std::string& out, std::uint32_t number, std::string_view bytes) {
  write_varint(out, std::uint64_t{number} << 3 | 2);
  write_varint(out, bytes.size());
  out += bytes;
}

}  // namespace benanza::importer
