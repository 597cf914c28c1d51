// SPDX-License-Identifier: Apache-2.0
// Any bytes are a model or an error of Benanza's family, and a model needs a known number of bytes.
#include "memory_file.hpp"
#include <benanza/error.hpp>
#include <benanza/memory/make_memory_profile.hpp>
#include <benanza/onnx.hpp>

#include <cmath>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace benanza;
  const testing::MemoryFile file(data, size);
  try {
    const Graph graph = import_onnx(file.path());
    for (const Saved saved : {Saved::least, Saved::eager}) {
      const double peak = make_memory_profile(graph, {.saved = saved}).peak_bytes();
      if (!std::isfinite(peak) || peak < 0) std::abort();
    }
  } catch (const Error&) {
    // expected for a broken model
  }
  return 0;
}
