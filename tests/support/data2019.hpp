// SPDX-License-Identifier: Apache-2.0
// The data of the original Benanza (tests/data/2019, from the public repositories rai-project/dlperf and
// onnx_examples).
#pragma once

#include <benanza/onnx.hpp>
#include <benanza/original2019/results.hpp>

#include <filesystem>
#include <string>

namespace data2019 {

inline std::filesystem::path file(const std::string& name) {
  return std::filesystem::path(BENANZA_TEST_DATA) / "2019" / name;
}
inline benanza::Graph model(const std::string& name, std::int64_t batch = 1) {
  benanza::ImportOptions options;
  if (batch != 1) options.batch = batch;
  return benanza::import_onnx(std::filesystem::path(BENANZA_MODELS) / "zoo2019" / (name + ".onnx"), options);
}
inline benanza::original2019::Results results(const std::string& name, const std::string& device = {}) {
  const std::filesystem::path path = file(name);
  return benanza::original2019::read_results({&path, 1}, device);
}

}  // namespace data2019
