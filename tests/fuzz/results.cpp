// SPDX-License-Identifier: Apache-2.0
// Any bytes are a run or an error of Benanza's family; a run that was read is written and read again without loss.
#include "memory_file.hpp"
#include "results/run_text.hpp"
#include <benanza/error.hpp>
#include <benanza/results/result_check.hpp>
#include <benanza/results/results.hpp>

#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace benanza;
  const testing::MemoryFile file(data, size);
  Run run;
  try {
    run = read_run(file.path());
  } catch (const Error&) {
    return 0;
  }
  static_cast<void>(check(run));
  const std::string text = run_text(run);
  const testing::MemoryFile copy(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  if (read_run(copy.path()).rows.size() != run.rows.size()) std::abort();
  return 0;
}
