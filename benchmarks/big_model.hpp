// SPDX-License-Identifier: Apache-2.0
// BigModel: an ONNX file of any size, written byte by byte: a chain of products whose weights are inside the file, in a
// file beside it, or nowhere.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace benanza::benchmarks {

/// Where the values of the weights are stored.
enum class Weights : std::uint8_t { none, inside, external };

/// A message of the protobuf wire format (https://protobuf.dev/programming-guides/encoding/); field numbers are those
/// of onnx.proto.
class Message {
 public:
  Message& number(std::uint32_t field, std::uint64_t value) {
    varint(field << 3);
    varint(value);
    return *this;
  }
  Message& bytes(std::uint32_t field, const std::string& value) {
    head(field, value.size());
    text_ += value;
    return *this;
  }
  Message& message(std::uint32_t field, const Message& value) { return bytes(field, value.text_); }
  /// The header of a field of `size` bytes.
  Message& head(std::uint32_t field, std::uint64_t size) {
    varint(field << 3 | 2);
    varint(size);
    return *this;
  }
  /// Bytes without a header.
  Message& raw(const std::string& text) {
    text_ += text;
    return *this;
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) text_ += static_cast<char>(static_cast<unsigned char>(value | 0x80));
    text_ += static_cast<char>(static_cast<unsigned char>(value));
  }
  std::string text_{};
};

/// `layers` products of 1 x 4096 with 4096 x 4096, f32: each with 64 MiB of weights.
class BigModel {
 public:
  BigModel(const std::filesystem::path& folder, int layers, Weights weights)
      : file_(folder /
              ("model_" + std::to_string(layers) + "_" + std::to_string(static_cast<int>(weights)) + ".onnx")) {
    Message before, after;  // the graph around its initializers
    for (int i = 0; i < layers; ++i)
      before.message(1, Message()
                            .bytes(1, value(i))
                            .bytes(1, weight(i))
                            .bytes(2, value(i + 1))
                            .bytes(3, "product" + std::to_string(i))
                            .bytes(4, "MatMul"));
    before.bytes(2, "big");
    after.message(11, tensor_type(value(0))).message(12, tensor_type(value(layers)));
    std::vector<Message> heads;
    std::uint64_t size = before.text().size() + after.text().size();
    for (int i = 0; i < layers; ++i) {
      heads.push_back(initializer(i, weights));
      size += heads.back().text().size() + (weights == Weights::inside ? payload : 0);
    }
    std::ofstream out(file_, std::ios::binary);
    const Message opset = Message().number(2, 17);
    out << Message().number(1, 8).message(8, opset).head(7, size).text() << before.text();
    for (int i = 0; i < layers; ++i) {
      out << heads[static_cast<std::size_t>(i)].text();
      if (weights == Weights::inside) write_numbers(out, i);
    }
    out << after.text();
    if (weights == Weights::external) {
      std::ofstream data(folder / "weights.bin", std::ios::binary);
      for (int i = 0; i < layers; ++i) write_numbers(data, i);
    }
  }
  [[nodiscard]] const std::filesystem::path& file() const { return file_; }

 private:
  static constexpr std::uint64_t edge = 4096, payload = edge * edge * 4;

  static std::string value(int i) { return "v" + std::to_string(i); }
  static std::string weight(int i) { return "w" + std::to_string(i); }

  static Message tensor_type(const std::string& name) {
    const Message one = Message().number(1, 1), many = Message().number(1, edge);
    const Message shape = Message().message(1, one).message(1, many);
    const Message type = Message().message(1, Message().number(1, 1).message(2, shape));
    return Message().bytes(1, name).message(2, type);
  }
  /// The field of the graph, up to the position of the values in the file. Without weights, it is a graph input of the
  /// same name and shape.
  static Message initializer(int i, Weights weights) {
    if (weights == Weights::none) {
      const Message dim = Message().number(1, edge);
      const Message shape = Message().message(1, dim).message(1, dim);
      const Message type = Message().message(1, Message().number(1, 1).message(2, shape));
      return Message().message(11, Message().bytes(1, weight(i)).message(2, type));
    }
    Message tensor;
    tensor.number(1, edge).number(1, edge).number(2, 1).bytes(8, weight(i));
    if (weights == Weights::external) {
      const auto entry = [](const std::string& key, const std::string& text) {
        return Message().bytes(1, key).bytes(2, text);
      };
      tensor.message(13, entry("location", "weights.bin"))
          .message(13, entry("offset", std::to_string(static_cast<std::uint64_t>(i) * payload)))
          .message(13, entry("length", std::to_string(payload)))
          .number(14, 1);
      return Message().message(5, tensor);
    }
    tensor.head(9, payload);
    const std::string text = Message().head(5, tensor.text().size() + payload).text() + tensor.text();
    return Message().raw(text);
  }
  /// Values that no file system or memory can store in less space than they take.
  static void write_numbers(std::ofstream& out, int seed) {
    std::vector<std::uint64_t> block(1 << 17);
    std::uint64_t state = static_cast<std::uint64_t>(seed) * 2 + 1;
    for (std::uint64_t written = 0; written < payload; written += block.size() * 8) {
      for (auto& word : block) {
        state = state * 6364136223846793005U + 1442695040888963407U;  // Knuth's MMIX generator
        word = (state & 0x807fffff807fffffU) | 0x3f0000003f000000U;   // two floats of magnitude 1/2 to 1
      }
      out.write(reinterpret_cast<const char*>(block.data()), static_cast<std::streamsize>(block.size() * 8));
    }
  }

  std::filesystem::path file_;
};

}  // namespace benanza::benchmarks
