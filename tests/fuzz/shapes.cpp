// SPDX-License-Identifier: Apache-2.0
// Any bytes are a file of sizes (--shapes) or an error of Benanza's family, and no size is negative.
#include "memory_file.hpp"
#include "tool/sizes.hpp"
#include <benanza/error.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace benanza;
  const testing::MemoryFile file(data, size);
  try {
    for (const ImportOptions& options : tool::ShapesFile(file.path()).defaults("detector.onnx")) {
      for (const auto& [name, value] : options.dims)
        if (value < 0) std::abort();
      for (const auto& [name, shape] : options.inputs)
        for (const std::int64_t value : shape)
          if (value < 0) std::abort();
    }
  } catch (const Error&) {
    // expected for a broken file
  }
  return 0;
}
