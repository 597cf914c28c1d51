// SPDX-License-Identifier: Apache-2.0
// Any bytes are a model or an error of Benanza's family, and the suites of a model can be written.
#include "memory_file.hpp"
#include <benanza/codegen.hpp>
#include <benanza/error.hpp>
#include <benanza/fusion/model_layers.hpp>
#include <benanza/onnx.hpp>

#include <sstream>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace benanza;
  const testing::MemoryFile file(data, size);
  try {
    SuiteSource source{.name = "fuzz",
                       .command = "benanza generate",
                       .backends = {"onednn", "openblas"},
                       .layers = measurable_layers(make_model_layers(import_onnx(file.path())))};
    static_cast<void>(standalone_suite(source));
    source.backends = {"cudnn", "cublas"};
    static_cast<void>(standalone_suite(source));
    std::ostringstream out;
    emit_suite(source, out);
  } catch (const Error&) {
    // expected for a broken model
  }
  return 0;
}
