// SPDX-License-Identifier: Apache-2.0
// Any bytes are a NumPy file or an error of Benanza's family, and every element of a tensor can be read.
#include "execution/npy.hpp"

#include "memory_file.hpp"
#include <benanza/error.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace benanza;
  const testing::MemoryFile file(data, size);
  try {
    const Tensor tensor = read_npy(file.path());
    if (tensor.bytes() > size || tensor.values().size() != static_cast<std::size_t>(tensor.elements())) std::abort();
  } catch (const Error&) {
    // expected for a broken file
  }
  return 0;
}
