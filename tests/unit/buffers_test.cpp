// SPDX-License-Identifier: Apache-2.0
#include "../../src/measure/buffers.hpp"

#include "support/catch.hpp"
#include <benanza/model/layer.hpp>

#include <cstdint>
#include <cstring>
#include <new>
#include <set>
#include <tuple>

namespace {

using namespace benanza;
using namespace benanza::bench;

/// Aligned as a device's is, and no more.
class FakeMemory final : public Memory {
 public:
  [[nodiscard]] void* allocate(std::size_t bytes) override { return ::operator new(bytes + 1, alignment); }
  void release(void* data) noexcept override { ::operator delete(data, alignment); }
  void upload(void* to, const void* from, std::size_t bytes) override { std::memcpy(to, from, bytes); }
  void download(void* to, const void* from, std::size_t bytes) override { std::memcpy(to, from, bytes); }
  void set(void* to, unsigned char byte, std::size_t bytes) override { std::memset(to, byte, bytes); }
  [[nodiscard]] Bytes available() const override { return {1e9}; }

 private:
  static constexpr std::align_val_t alignment{256};
};

class FakePlan final : public Plan {
 public:
  FakePlan(const Operands& operands, std::size_t workspace)
      : Plan({.algorithm = "nothing,threads=1",
              .inputs = plain_layouts(operands.inputs),
              .outputs = plain_layouts(operands.outputs),
              .workspace_bytes = workspace}) {}

 private:
  void do_execute(const Arguments&) const override {}
};

std::uintptr_t address(const void* data) { return reinterpret_cast<std::uintptr_t>(data); }

// Outputs of 300 bytes; of 3 * 2 * 12 and 3 * 5 * 12 floats.
const Layer relu = op::Unary{.fn = ElementwiseFn::relu, .x = {75}};
const Layer split = op::Split{.outer = 3, .sizes = {2, 5}, .inner = 12};

}  // namespace

// cuBLAS documentation, cublasSetWorkspace: a pointer that is not aligned to 256 bytes is refused.
TEST_CASE("a workspace is aligned to 256 bytes behind any outputs") {
  FakeMemory memory;
  Buffers buffers(1 << 20, 10000, &memory);
  for (const auto& layer : {relu, split}) {
    const FakePlan plan(operands(layer), 40);
    const auto [outputs, workspace] = buffers.outputs(plan);
    CHECK(address(workspace) % 256 == 0);
    CHECK(address(workspace) >= address(outputs.back()) + plan.outputs().back().bytes);
  }
}

TEST_CASE("a workspace is aligned to 256 bytes wherever a walk has taken it") {
  FakeMemory memory;
  Buffers buffers(1 << 20, 10000, &memory);
  const Operands shapes = operands(relu);
  const FakePlan without(shapes, 0), with(shapes, 40);
  const auto rotated = [&](const FakePlan& plan) {
    Work work{.plan = &plan};
    std::tie(work.outputs, work.workspace) = buffers.outputs(plan);
    buffers.rotate("relu", "fake", shapes.inputs, CacheState::cold, work);
    return work;
  };
  Work before = rotated(without);
  for (int i = 0; i < 3; ++i) before.call();  // 3 steps of 300 bytes, rounded up to 320: at no multiple of 256
  Work work = rotated(with);
  std::size_t wrong = 0;
  for (int i = 0; i < 40; ++i) {  // more than one walk of 10000 bytes
    wrong += address(work.workspace) % 256 != 0 || address(work.workspace) < address(work.outputs[0]) + 300;
    work.call();
  }
  CHECK(wrong == 0);
}

// cuBLAS claims 32 MiB for every product and uses none of it for most.
TEST_CASE("a walk is as long as its operands alone make it, whatever workspace a plan claims") {
  FakeMemory memory;
  Buffers buffers(1 << 20, 10000, &memory);
  const Operands shapes = operands(relu);
  const FakePlan plan(shapes, 1 << 20);
  Work work{.plan = &plan};
  std::tie(work.outputs, work.workspace) = buffers.outputs(plan);
  buffers.rotate("relu", "fake", shapes.inputs, CacheState::cold, work);
  // x and y of 300 bytes lie in regions of their own, and a workspace begins at multiples of 256.
  CHECK(work.rotation.step == 512);
  std::set<const void*> places;
  bool apart = true;
  for (int i = 0; i < 100; ++i) {
    places.insert(work.inputs[0]);
    std::memset(work.workspace, 0, plan.workspace_bytes());  // inside what was allocated
    apart = apart && address(work.workspace) >= address(work.outputs[0]) + 300;
    work.call();
  }
  CHECK(places.size() >= 10000 / 512);
  CHECK(apart);
}
