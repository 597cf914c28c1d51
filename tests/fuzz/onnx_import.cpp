// SPDX-License-Identifier: Apache-2.0
// Any bytes are a model or an error of Benanza's family, and a model has layers in both forms.
#include "memory_file.hpp"
#include <benanza/error.hpp>
#include <benanza/fusion/model_layers.hpp>
#include <benanza/onnx.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace benanza;
  const testing::MemoryFile file(data, size);
  try {
    static_cast<void>(make_model_layers(import_onnx(file.path())));
  } catch (const Error&) {
    // expected for a broken model
  }
  return 0;
}
