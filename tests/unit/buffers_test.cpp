// SPDX-License-Identifier: Apache-2.0
#include "sampling/buffers.hpp"

#include "support/catch.hpp"
#include <benanza/model/layer.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <set>
#include <tuple>

namespace {

using namespace benanza;
using namespace benanza::sampling;

/// Aligned like the memory of a device, and no more than that.
class FakeMemory final : public Memory {
 public:
  [[nodiscard]] void* allocate(std::size_t bytes) override { return ::operator new(bytes + 1, alignment); }
  void release(void* data) noexcept override { ::operator delete(data, alignment); }
  void upload(void* to, const void* from, std::size_t bytes) override { std::memcpy(to, from, bytes); }
  void download(void* to, const void* from, std::size_t bytes) override { std::memcpy(to, from, bytes); }
  void gather(void* to, const void* from, std::span<const std::int64_t> positions, std::size_t width) override {
    for (std::size_t i = 0; i < positions.size(); ++i)
      std::memcpy(static_cast<std::byte*>(to) + i * width,
                  static_cast<const std::byte*>(from) + static_cast<std::size_t>(positions[i]) * width, width);
  }
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

/// Takes every input and returns every output with the last element first; elements are floats. Counts what it packs.
class ReversedPlan final : public Plan {
 public:
  explicit ReversedPlan(const Operands& operands)
      : Plan({.algorithm = "reversed,threads=1",
              .inputs = reversed(operands.inputs),
              .outputs = reversed(operands.outputs)}) {}

  mutable int packed = 0;

 private:
  static std::vector<Layout> reversed(const std::vector<Operand>& operands) {
    std::vector<Layout> result = plain_layouts(operands);
    for (auto& layout : result) layout.name = "reversed";
    return result;
  }
  void do_pack_input(std::size_t i, const void* plain, void* to) const override {
    ++packed;
    const auto* x = static_cast<const float*>(plain);
    std::reverse_copy(x, x + inputs()[i].bytes / sizeof(float), static_cast<float*>(to));
  }
  void do_unpack_output(std::size_t, const void*, void*) const override { FAIL("not needed"); }
  [[nodiscard]] std::optional<std::int64_t> do_output_position(std::size_t i, std::int64_t index) const override {
    return static_cast<std::int64_t>(outputs()[i].bytes / sizeof(float)) - 1 - index;
  }
  void do_execute(const Arguments&) const override {}
};

std::uintptr_t address(const void* data) { return reinterpret_cast<std::uintptr_t>(data); }

// relu has an output of 300 bytes; split has outputs of 3 * 2 * 12 and 3 * 5 * 12 floats.
const Layer relu = op::Unary{.fn = ElementwiseFn::relu, .x = {75}};
const Layer split = op::Split{.outer = 3, .sizes = {2, 5}, .inner = 12};

}  // namespace

// cuBLAS documentation, cublasSetWorkspace: a pointer that is not aligned to 256 bytes is refused.
TEST_CASE("a workspace is aligned to 256 bytes after any outputs") {
  FakeMemory memory;
  Buffers buffers(1 << 20, 10000, &memory);
  for (const auto& layer : {relu, split}) {
    const FakePlan plan(operands(layer), 40);
    const auto [outputs, workspace] = buffers.outputs(plan);
    CHECK(address(workspace) % 256 == 0);
    CHECK(address(workspace) >= address(outputs.back()) + plan.outputs().back().bytes);
  }
}

TEST_CASE("every buffer on a device is aligned to 256 bytes, hot and in a walk") {
  FakeMemory memory;
  Buffers buffers(1 << 20, 10000, &memory);
  const Operands shapes = operands(split);
  const FakePlan plan(shapes, 40);
  Work work{.plan = std::shared_ptr<const Plan>(std::shared_ptr<const void>(), &plan),
            .inputs = buffers.inputs("split", "fake", shapes.inputs, plan, false)};
  std::tie(work.outputs, work.workspace) = buffers.outputs(plan);
  const auto is_aligned = [&] {
    const auto aligned = [](const void* buffer) { return address(buffer) % 256 == 0; };
    return std::all_of(work.inputs.begin(), work.inputs.end(), aligned) &&
           std::all_of(work.outputs.begin(), work.outputs.end(), aligned);
  };
  CHECK(is_aligned());
  buffers.rotate("split", "fake", shapes.inputs, CacheState::cold, work);
  for (int i = 0; i < 40; ++i) {  // more than one traversal of 10000 bytes
    CHECK(is_aligned());
    work.call();
  }
}

TEST_CASE("a workspace is aligned to 256 bytes wherever a walk has taken it") {
  Buffers buffers(1 << 20, 10000);
  const Operands shapes = operands(relu);
  const FakePlan without(shapes, 0), with(shapes, 40);
  const auto rotated = [&](const FakePlan& plan) {
    Work work{.plan = std::shared_ptr<const Plan>(std::shared_ptr<const void>(), &plan)};
    std::tie(work.outputs, work.workspace) = buffers.outputs(plan);
    buffers.rotate("relu", "fake", shapes.inputs, CacheState::cold, work);
    return work;
  };
  Work before = rotated(without);
  for (int i = 0; i < 3; ++i) before.call();  // 3 steps of 300 bytes, rounded up to 320: not multiples of 256
  Work work = rotated(with);
  std::size_t wrong = 0;
  for (int i = 0; i < 40; ++i) {  // more than one traversal of 10000 bytes
    wrong += address(work.workspace) % 256 != 0 || address(work.workspace) < address(work.outputs[0]) + 300;
    work.call();
  }
  CHECK(wrong == 0);
}

// cuBLAS requests 32 MiB for every product and uses none of it for most.
TEST_CASE("a walk is as long as its operands alone make it, whatever workspace a plan claims") {
  FakeMemory memory;
  Buffers buffers(1 << 20, 10000, &memory);
  const Operands shapes = operands(relu);
  const FakePlan plan(shapes, 1 << 20);
  Work work{.plan = std::shared_ptr<const Plan>(std::shared_ptr<const void>(), &plan)};
  std::tie(work.outputs, work.workspace) = buffers.outputs(plan);
  buffers.rotate("relu", "fake", shapes.inputs, CacheState::cold, work);
  // x and y of 300 bytes lie in separate regions, and a workspace begins at a multiple of 256.
  CHECK(work.rotation.step == 512);
  std::set<const void*> places;
  bool apart = true;
  for (int i = 0; i < 100; ++i) {
    places.insert(work.inputs[0]);
    std::memset(work.workspace, 0, plan.workspace_bytes());  // within the allocation
    apart = apart && address(work.workspace) >= address(work.outputs[0]) + 300;
    work.call();
  }
  CHECK(places.size() >= 10000 / 512);
  CHECK(apart);
}

TEST_CASE("plans of one layout share what is packed: constants for good, activations until another layer comes") {
  const Operands shapes = operands(op::MatMul{.a = {4, 6}, .b = {6, 8}, .b_constant = true});
  for (const bool on_device : {false, true}) {
    CAPTURE(on_device);
    FakeMemory memory;
    Buffers buffers(1 << 20, 10000, on_device ? &memory : nullptr);
    const ReversedPlan first(shapes), second(shapes), third(shapes);
    const auto packed = buffers.inputs("one", "fake", shapes.inputs, first, true);
    CHECK(buffers.inputs("one", "fake", shapes.inputs, second, true) == packed);
    CHECK(first.packed == 2);
    CHECK(second.packed == 0);
    static_cast<void>(buffers.inputs("two", "fake", shapes.inputs, second, false));
    CHECK(second.packed == 1);  // its constant
    static_cast<void>(buffers.inputs("one", "fake", shapes.inputs, third, true));
    CHECK(third.packed == 1);  // the activation that was evicted
    static_cast<void>(buffers.inputs("one", "other", shapes.inputs, third, true));
    CHECK(third.packed == 3);  // another library's layout with the same name
  }
}

TEST_CASE("a packed operand makes room for others, not for those of its own call") {
  const Operands shapes = operands(op::MatMul{.a = {4, 6}, .b = {6, 8}, .b_constant = true});
  Buffers buffers(100, 10000);
  const ReversedPlan plan(shapes);
  const auto plain = buffers.plain_inputs(shapes.inputs);
  const auto packed = buffers.inputs("one", "fake", shapes.inputs, plan, true);
  for (std::size_t i = 0; i < 2; ++i) {  // both hold their values, although one alone exceeds the limit
    const auto* x = static_cast<const float*>(plain[i]);
    const auto count = shapes.inputs[i].elements();
    CHECK(std::equal(x, x + count, std::reverse_iterator(static_cast<const float*>(packed[i]) + count)));
  }
  static_cast<void>(buffers.inputs("two", "fake", shapes.inputs, plan, true));
  static_cast<void>(buffers.inputs("one", "fake", shapes.inputs, plan, true));
  CHECK(plan.packed == 6);
}

TEST_CASE("elements of an output are read where its layout has them") {
  const Operands shapes = operands(Layer(op::Unary{.fn = ElementwiseFn::relu, .x = {5}}));
  FakeMemory memory;
  Buffers on_processor(1000, 1000), on_device(1000, 1000, &memory);
  const std::vector<float> output{10, 11, 12, 13, 14};
  const std::vector<std::int64_t> indices{0, 3};
  const ReversedPlan plan(shapes);
  const std::vector<double> expected{14, 11};  // elements 4 - 0 and 4 - 3
  CHECK(on_processor.sampled(shapes.outputs[0], plan, 0, output.data(), indices) == expected);
  CHECK(on_device.sampled(shapes.outputs[0], plan, 0, output.data(), indices) == expected);
}

TEST_CASE("an input region that grows for a larger layer does not repeat what it holds") {
  Buffers buffers(0, 0);
  const auto input = [](std::int64_t elements) {
    return std::vector<Operand>{{.type = DataType::i8, .shape = {elements}}};
  };
  constexpr std::int64_t small = 4096, large = 40000, length = 64;
  static_cast<void>(buffers.plain_inputs(input(small)));
  const auto* values = static_cast<const std::int8_t*>(buffers.plain_inputs(input(large)).front());
  // With six possible values, the same 64 in a row appear twice by chance once in 6^64.
  for (std::int64_t i = small; i + length <= large; i += length) {
    const auto* const run = values + i;
    CHECK(std::search(values, values + small, run, run + length) == values + small);
  }
}
