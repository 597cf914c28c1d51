// SPDX-License-Identifier: Apache-2.0
// Any bytes are a machine file or an error of Benanza's family, and a machine's figures are positive.
#include "memory_file.hpp"
#include <benanza/error.hpp>
#include <benanza/results/machine_file.hpp>

#include <cmath>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace benanza;
  const testing::MemoryFile file(data, size);
  try {
    for (const auto& ceiling : read_machine_file(file.path()).ceilings)
      if (!std::isfinite(ceiling.value) || ceiling.value <= 0) std::abort();
  } catch (const Error&) {
    // expected for a broken file
  }
  return 0;
}
