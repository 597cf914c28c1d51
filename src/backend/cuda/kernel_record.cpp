// SPDX-License-Identifier: Apache-2.0
#include "kernel_record.hpp"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace benanza::cuda {

namespace {

std::string demangled(const char* name) {
  if (name == nullptr) return "unnamed";
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(name, nullptr, nullptr, &status), std::free);
  return status == 0 ? text.get() : name;
}

}  // namespace

KernelLaunch launch_of(const KernelRecord& record) {
  return {.name = demangled(record.name),
          .grid = {record.gridX, record.gridY, record.gridZ},
          .block = {record.blockX, record.blockY, record.blockZ},
          .registers_per_thread = record.registersPerThread,
          .static_shared_bytes = record.staticSharedMemory,
          .dynamic_shared_bytes = record.dynamicSharedMemory,
          .time = nanoseconds(static_cast<double>(record.end - record.start))};
}

}  // namespace benanza::cuda
