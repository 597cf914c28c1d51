// SPDX-License-Identifier: Apache-2.0
// Models written as text in the ONNX library's own notation, which are written to files and imported from there.
#pragma once

#include <benanza/onnx.hpp>

#include <onnx/defs/parser.h>
#include <onnx/onnx_pb.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

namespace benanza::testing {

/// A file that is removed at the end of the test.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::string_view bytes = {}, const std::string& suffix = ".onnx") {
    static std::atomic<int> count{0};
    std::string name = "benanza_test_" + std::to_string(::getpid()) + "_" + std::to_string(++count);
    for (char& c : name)  // letters for digits: the importer reads sizes of images from a file's name
      if (c >= '0' && c <= '9') c = static_cast<char>(c - '0' + 'a');
    path_ = std::filesystem::temp_directory_path() / (name + suffix);
    std::ofstream(path_, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() { std::filesystem::remove(path_); }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_{};
};

inline onnx::ModelProto parse_model(
    const std::string& text,
    const std::string& header = R"(<ir_version: 10, opset_import: ["" : 20, "com.microsoft" : 1]>)") {
  onnx::ModelProto model;
  const std::string whole = header + "\n" + text;
  onnx::OnnxParser parser(whole.c_str());
  const auto status = parser.Parse(model);
  if (!status.IsOK()) throw std::runtime_error("a test's model: " + status.ErrorMessage());
  return model;
}

inline Graph import_model(const onnx::ModelProto& model, const ImportOptions& options = {}) {
  const TemporaryFile file(model.SerializeAsString());
  return import_onnx(file.path(), options);
}

inline Graph import_text(const std::string& text, const ImportOptions& options = {}) {
  return import_model(parse_model(text), options);
}

/// The message of the E that `call` throws; empty if it throws none.
template <class E>
std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const E& error) {
    return error.what();
  }
  return {};
}

inline std::vector<std::string> op_types(const Graph& graph) {
  std::vector<std::string> types;
  for (const auto& node : graph.nodes) types.push_back(node.op_type);
  return types;
}

inline const Value& value_named(const Graph& graph, std::string_view name) {
  for (const auto& value : graph.values)
    if (value.name == name) return value;
  throw std::runtime_error("no value '" + std::string(name) + "'");
}

}  // namespace benanza::testing
