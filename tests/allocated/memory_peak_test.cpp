// SPDX-License-Identifier: Apache-2.0
// Expected values: what the executor really allocates. This program counts the tensors that are alive: only tensors are
// allocated by aligned_alloc.
#include "support/catch.hpp"
#include <benanza/execution/executor.hpp>
#include <benanza/execution/random_tensor.hpp>
#include <benanza/memory/make_memory_profile.hpp>
#include <benanza/onnx.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>

extern "C" void __libc_free(void* data);  // glibc's own

namespace {

/// The allocations of aligned_alloc, by address, with their bytes. One thread of the test allocates tensors.
class Allocated {
 public:
  void add(const void* data, std::size_t bytes) {
    for (std::size_t i = slot(data);; i = (i + 1) % slots) {
      if (entries_[i].data != nullptr && entries_[i].data != gone) continue;
      entries_[i] = {data, bytes};
      live += bytes;
      most = std::max(most, live);
      return;
    }
  }
  void remove(const void* data) {
    for (std::size_t i = slot(data); entries_[i].data != nullptr; i = (i + 1) % slots) {
      if (entries_[i].data != data) continue;
      live -= entries_[i].bytes;
      entries_[i] = {gone, 0};
      return;
    }
  }
  std::size_t live = 0, most = 0;

 private:
  struct Entry {
    const void* data = nullptr;
    std::size_t bytes = 0;
  };
  static constexpr std::size_t slots = 1U << 16;
  static constexpr std::uintptr_t mark = 1;
  static inline const void* const gone = reinterpret_cast<const void*>(mark);
  static std::size_t slot(const void* data) { return reinterpret_cast<std::uintptr_t>(data) / 64 % slots; }
  std::array<Entry, slots> entries_{};
};
constinit Allocated allocated{};

}  // namespace

extern "C" void* aligned_alloc(std::size_t alignment, std::size_t bytes) noexcept {
  void* data = nullptr;
  if (posix_memalign(&data, alignment, bytes) != 0) return nullptr;
  allocated.add(data, bytes);
  return data;
}
extern "C" void free(void* data) noexcept {
  if (data != nullptr && reinterpret_cast<std::uintptr_t>(data) % 64 == 0) allocated.remove(data);
  __libc_free(data);
}

namespace {

using namespace benanza;
using Category = MemoryCategory;

/// Bytes in addition to weights and inputs: those of the profile, and those that a run allocated.
struct Peak {
  double predicted = 0, counted = 0;
  std::size_t tensors = 0;
};

Peak peak_of(const std::string& file) {
  // With the reference the executor overwrites nothing and uses no workspace.
  const MemoryProfile profile = make_memory_profile(import_onnx(file), {.overwrite = false});
  Peak peak;
  double inputs = 0;
  for (const auto& block : profile.blocks)
    if (block.category == Category::inputs_outputs && block.first == 0 && block.layer.empty()) inputs += block.bytes;
  for (const auto& step : profile.steps) {
    const auto of = [&](Category category) { return step.bytes[static_cast<std::size_t>(category)]; };
    peak.predicted = std::max(peak.predicted, of(Category::temporaries) + of(Category::inputs_outputs) - inputs);
  }
  peak.tensors = profile.blocks.size();

  Executor executor = Executor::load(file, {.weight_seed = 1});
  std::map<std::string, Tensor> given;
  for (const auto& info : executor.inputs()) given[info.name] = random_input(info.type, info.dims, info.name, 1);
  static_cast<void>(executor.run(given));  // the first run prepares
  const std::size_t before = allocated.live;
  allocated.most = before;
  const Execution execution = executor.run(given);
  peak.counted = static_cast<double>(allocated.most - before);
  return peak;
}

}  // namespace

TEST_CASE("the executor allocates as much as the profile of inference says") {
  const std::string models = std::string(BENANZA_MODELS) + "/zoo2019/";
  for (const char* name : {"MNIST.onnx", "Squeezenet-v1.1.onnx"}) {
    INFO(name);
    const Peak peak = peak_of(models + name);
    CHECK(peak.predicted > 0);
    // Allocation sizes are multiples of 64 bytes.
    CHECK(peak.counted >= peak.predicted);
    CHECK(peak.counted <= peak.predicted + 64.0 * static_cast<double>(peak.tensors));
  }
}
