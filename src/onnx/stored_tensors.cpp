// SPDX-License-Identifier: Apache-2.0
#include "external_data.hpp"
#include "mapped_file.hpp"
#include "tensor_fields.hpp"
#include "wire.hpp"
#include <benanza/onnx/stored_tensors.hpp>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace benanza {

namespace {

using importer::ExternalData;
using importer::MappedFile;
using importer::WireField;
using importer::WireReader;
namespace fields = importer::tensor;

/// The elements of one message.
class TensorMessage {
 public:
  TensorMessage(std::string_view message, const char* file, DataType type)
      : type_(type), external_(importer::external_data(message, file)) {
    for (WireReader reader(message, file); auto field = reader.next();) take(*field, file);
  }

  [[nodiscard]] std::uint64_t type() const { return number_; }
  [[nodiscard]] const std::optional<ExternalData>& external() const { return external_; }
  /// The elements, if they have the same layout in the file as in memory.
  [[nodiscard]] std::string_view in_place() const { return in_place_; }
  [[nodiscard]] std::string& collected() { return collected_; }

 private:
  void take(const WireField& field, const char* file) {
    switch (field.number) {
      case fields::data_type: number_ = field.value; break;
      case fields::raw_data:
      case fields::float_data:
      case fields::double_data: add_plain(field); break;
      case fields::int32_data:
      case fields::int64_data:
      case fields::uint64_data: add_numbers(field, file); break;
      default: break;
    }
  }

  void add_plain(const WireField& field) {
    if (field.kind == WireField::Kind::bytes && in_place_.empty() && collected_.empty()) {
      in_place_ = field.bytes;
      return;
    }
    collected_.append(std::exchange(in_place_, {}));  // elements one by one, or lists in several parts
    if (field.kind == WireField::Kind::bytes) collected_.append(field.bytes);
    else append(field.value, field.kind == WireField::Kind::fixed64 ? 8 : 4);
  }

  void add_numbers(const WireField& field, const char* file) {
    const auto size = static_cast<std::size_t>(std::max(1, bits(type_) / 8));
    if (field.kind != WireField::Kind::bytes) return append(field.value, size);
    for (WireReader packed(field.bytes, file); !packed.done();) append(packed.varint(), size);
  }

  /// Appends the low bytes (little-endian).
  void append(std::uint64_t value, std::size_t size) {
    collected_.append(reinterpret_cast<const char*>(&value), std::min(size, sizeof value));
  }

  DataType type_;
  std::uint64_t number_ = 0;
  std::optional<ExternalData> external_;
  std::string_view in_place_{};
  std::string collected_{};
};

StoredBytes viewed(std::shared_ptr<const void> owner, std::string_view bytes, DataType type) {
  return {std::move(owner), std::as_bytes(std::span(bytes.data(), bytes.size())), type};
}

/// The message, read with its own type, which may be a different floating-point type from the model's.
std::pair<TensorMessage, DataType> read_message(std::string_view message, const char* file, DataType expected) {
  TensorMessage read(message, file, expected);
  if (read.type() > 63) throw InputError("the file has changed");
  const auto type = data_type_from_onnx(static_cast<int>(read.type()));
  if (type == expected) return {std::move(read), expected};
  if (!type) throw InputError("the file has changed");
  if (!is_float(*type) || !is_float(expected))
    throw InputError("its elements are " + std::string(name(*type)) + " in the file and " +
                     std::string(name(expected)) + " in the model");
  return {TensorMessage(message, file, *type), *type};
}

}  // namespace

class StoredTensors::Files {
 public:
  [[nodiscard]] std::shared_ptr<const MappedFile> open(const std::filesystem::path& model) {
    return kept(model, [&] { return std::make_shared<MappedFile>(model); });
  }
  /// A file that the model names.
  [[nodiscard]] std::shared_ptr<const MappedFile> open(const std::filesystem::path& model,
                                                       const std::filesystem::path& location) {
    return kept(model.parent_path() / location, [&] { return std::make_shared<MappedFile>(model, location); });
  }

 private:
  template <class Make>
  std::shared_ptr<const MappedFile> kept(const std::filesystem::path& path, Make&& make) {
    auto& file = files_[path];
    if (!file) file = make();
    return file;
  }
  std::map<std::filesystem::path, std::shared_ptr<const MappedFile>> files_{};
};

StoredTensors::StoredTensors(std::filesystem::path file) : file_(std::move(file)), files_(std::make_unique<Files>()) {
  try {
    (void)files_->open(file_);
  } catch (const InputError& error) {
    throw InputError(file_.string() + ": " + error.what());
  }
}

StoredTensors::~StoredTensors() = default;

StoredBytes StoredTensors::read(const Value& value) {
  const auto refuse = [&](const std::string& why) {
    throw InputError(file_.string() + ": tensor '" + value.name + "': " + why);
  };
  const std::shared_ptr<const MappedFile> model = files_->open(file_);
  if (!value.stored) refuse("its numbers are not in the file as one tensor");
  if (value.type == DataType::string) refuse("strings are not executed");
  try {
    const std::string_view whole = model->bytes();
    const auto [offset, size] = *value.stored;
    if (offset > whole.size() || size > whole.size() - offset) throw InputError("the file has changed");
    auto [message, type] = read_message(whole.substr(offset, size), whole.data(), value.type);
    const auto needed = static_cast<std::size_t>((checked_product(value.elements(), bits(type)) + 7) / 8);
    const auto sized = [&, needed](std::string_view bytes) {
      if (bytes.size() != needed)
        refuse(std::to_string(bytes.size()) + " bytes of data, expected " + std::to_string(needed));
      return bytes;
    };
    if (const std::optional<ExternalData>& external = message.external()) {
      if (external->location.empty()) throw InputError("external data without a location");
      const std::filesystem::path path = file_.parent_path() / external->location;
      if (external->length && *external->length != needed)
        throw InputError("external data of " + std::to_string(*external->length) + " bytes, expected " +
                         std::to_string(needed));
      std::shared_ptr<const MappedFile> data;
      try {
        data = files_->open(file_, external->location);
      } catch (const InputError& error) {
        throw InputError("external data in " + path.string() + ": " + error.what());
      }
      const std::string_view all = data->bytes();
      if (external->offset > all.size() || needed > all.size() - external->offset)
        throw InputError("external data in " + path.string() + ": " + std::to_string(all.size()) + " bytes, expected " +
                         std::to_string(needed) + " from byte " + std::to_string(external->offset) + " on");
      return viewed(data, all.substr(external->offset, needed), type);
    }
    if (!message.in_place().empty()) return viewed(model, sized(message.in_place()), type);
    const auto copy = std::make_shared<const std::string>(std::move(message.collected()));
    return viewed(copy, sized(*copy), type);
  } catch (const InputError& error) {
    const std::string what = error.what();
    if (what.starts_with(file_.string())) throw;
    refuse(what);
  }
  return {};
}

}  // namespace benanza
