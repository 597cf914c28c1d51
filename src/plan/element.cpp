// SPDX-License-Identifier: Apache-2.0
#include <benanza/error.hpp>
#include <benanza/plan/element.hpp>

#include <algorithm>
#include <string>

namespace benanza {

namespace {

[[noreturn]] void throw_no_number(DataType type) {
  throw UsageError("elements of type " + std::string(name(type)) + " cannot be read as numbers");
}

/// Element `i` of elements that are packed bit by bit, low bits first; an element of 6 bits may end in the next byte.
std::uint32_t read_bits(const void* data, DataType type, std::int64_t i) {
  const std::int64_t width = bits(type), byte = i * width / 8, shift = i * width % 8;
  std::uint32_t both = detail::read<std::uint8_t>(data, byte);
  if (shift + width > 8) both |= std::uint32_t{detail::read<std::uint8_t>(data, byte + 1)} << 8;
  return both >> shift & ((1U << width) - 1U);
}

double read_signed(const void* data, DataType type, std::int64_t i) {
  const std::uint32_t half = 1U << (bits(type) - 1), number = read_bits(data, type, i);
  return static_cast<double>(number) - (number < half ? 0 : 2.0 * half);
}

template <class T>
void write(void* data, std::int64_t i, T value) {
  std::memcpy(static_cast<std::byte*>(data) + static_cast<std::size_t>(i) * sizeof(T), &value, sizeof(T));
}

void write_bits(void* data, DataType type, std::int64_t i, std::uint32_t element) {
  const std::int64_t width = bits(type), byte = i * width / 8, shift = i * width % 8;
  const std::uint32_t mask = (1U << width) - 1U;
  const auto put = [&](std::int64_t at, std::uint32_t cleared, std::uint32_t set) {
    write(data, at, static_cast<std::uint8_t>((detail::read<std::uint8_t>(data, at) & ~cleared) | set));
  };
  put(byte, mask << shift, (element & mask) << shift);
  if (shift + width > 8) put(byte + 1, mask >> (8 - shift), (element & mask) >> (8 - shift));
}

/// f8e8m0 holds a power of two. The exponent is rounded up, as by default in ONNX's cast, so that no scale is too
/// small.
std::uint8_t encode_power(double value) {
  if (std::isnan(value)) return 0xFF;
  if (value <= 0x1p-127) return 0;
  int exponent = 0;
  const double fraction = std::frexp(std::min(value, 0x1p127), &exponent);
  return static_cast<std::uint8_t>(exponent - (fraction == 0.5 ? 1 : 0) + 127);
}

template <class T>
void write_saturated(void* data, DataType type, std::int64_t i, double value) {
  const auto [least, largest] = integer_range(type);
  const double rounded = std::nearbyint(value);
  if (std::isnan(rounded)) return write(data, i, T{0});
  if (rounded <= least) return write(data, i, std::numeric_limits<T>::min());
  if (rounded >= largest) return write(data, i, std::numeric_limits<T>::max());
  write(data, i, static_cast<T>(rounded));
}

}  // namespace

double detail::load_rare(const void* data, DataType type, std::int64_t i) {
  switch (type) {
    case DataType::i16: return read<std::int16_t>(data, i);
    case DataType::u16: return read<std::uint16_t>(data, i);
    case DataType::u32: return read<std::uint32_t>(data, i);
    case DataType::u64: return static_cast<double>(read<std::uint64_t>(data, i));
    case DataType::boolean: return read<std::uint8_t>(data, i) != 0 ? 1 : 0;
    case DataType::u2:
    case DataType::u4: return read_bits(data, type, i);
    case DataType::i2:
    case DataType::i4: return read_signed(data, type, i);
    case DataType::f4e2m1:
    case DataType::f6e2m3:
    case DataType::f6e3m2: return decode(small_float(type), read_bits(data, type, i));
    case DataType::f8e8m0: {
      const auto bits = read<std::uint8_t>(data, i);
      return bits == 0xFF ? std::numeric_limits<double>::quiet_NaN() : std::ldexp(1.0, bits - 127);
    }
    case DataType::f8e4m3:
    case DataType::f8e4m3fnuz:
    case DataType::f8e5m2:
    case DataType::f8e5m2fnuz: return decode(small_float(type), read<std::uint8_t>(data, i));
    default: throw_no_number(type);
  }
}

void store(void* data, DataType type, std::int64_t i, double value) {
  switch (type) {
    case DataType::f32:
    case DataType::tf32: return write(data, i, static_cast<float>(value));
    case DataType::f64: return write(data, i, value);
    case DataType::f16:
    case DataType::bf16:
      return write(data, i, static_cast<std::uint16_t>(detail::encode(detail::small_float(type), value, false)));
    case DataType::f8e4m3:
    case DataType::f8e4m3fnuz:
    case DataType::f8e5m2:
    case DataType::f8e5m2fnuz:
      return write(data, i, static_cast<std::uint8_t>(detail::encode(detail::small_float(type), value, true)));
    case DataType::f8e8m0: return write(data, i, encode_power(value));
    case DataType::f4e2m1:
    case DataType::f6e2m3:
    case DataType::f6e3m2: return write_bits(data, type, i, detail::encode(detail::small_float(type), value, true));
    case DataType::i8: return write_saturated<std::int8_t>(data, type, i, value);
    case DataType::u8: return write_saturated<std::uint8_t>(data, type, i, value);
    case DataType::i16: return write_saturated<std::int16_t>(data, type, i, value);
    case DataType::u16: return write_saturated<std::uint16_t>(data, type, i, value);
    case DataType::i32: return write_saturated<std::int32_t>(data, type, i, value);
    case DataType::u32: return write_saturated<std::uint32_t>(data, type, i, value);
    case DataType::i64: return write_saturated<std::int64_t>(data, type, i, value);
    case DataType::u64: return write_saturated<std::uint64_t>(data, type, i, value);
    case DataType::boolean: return write(data, i, static_cast<std::uint8_t>(value != 0 ? 1 : 0));
    case DataType::i2:
    case DataType::u2:
    case DataType::i4:
    case DataType::u4: {
      const auto [least, largest] = integer_range(type);
      const double number = std::isnan(value) ? 0 : std::clamp(std::nearbyint(value), least, largest);
      return write_bits(data, type, i, static_cast<std::uint32_t>(static_cast<std::int32_t>(number)));
    }
    default: throw_no_number(type);
  }
}

double round_to(DataType type, double value) {
  if (type == DataType::f64) return value;
  if (stored_type(type) == DataType::f32) return static_cast<double>(static_cast<float>(value));
  std::byte buffer[8]{};
  store(buffer, type, 0, value);
  return load(buffer, type, 0);
}

IntegerRange integer_range(DataType type) {
  switch (type) {
    case DataType::i2: return {-2, 1};
    case DataType::u2: return {0, 3};
    case DataType::i4: return {-8, 7};
    case DataType::u4: return {0, 15};
    case DataType::i8: return {-128, 127};
    case DataType::u8: return {0, 255};
    case DataType::i16: return {-0x1p15, 0x1p15 - 1};
    case DataType::u16: return {0, 0x1p16 - 1};
    case DataType::i32: return {-0x1p31, 0x1p31 - 1};
    case DataType::u32: return {0, 0x1p32 - 1};
    case DataType::i64: return {-0x1p63, 0x1p63};
    case DataType::u64: return {0, 0x1p64};
    case DataType::boolean: return {0, 1};
    default: throw UsageError("type " + std::string(name(type)) + " is not an integer type");
  }
}

}  // namespace benanza
