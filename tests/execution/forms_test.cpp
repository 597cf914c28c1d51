// SPDX-License-Identifier: Apache-2.0
#include "execution/layout_changes.hpp"
#include "plan/cpu_set.hpp"
#include "plan/fill.hpp"
#include "plan/thread_pool.hpp"
#include "reference/reference.hpp"
#include "support/catch.hpp"
#include <benanza/model/layer_signature.hpp>
#include <benanza/plan/element_order.hpp>
#include <benanza/plan/openmp_team.hpp>
#include <benanza/session/backends.hpp>

#include <array>
#include <atomic>
#include <cstring>
#include <numeric>
#include <sched.h>
#include <span>
#include <string>
#include <thread>
#include <vector>

using namespace benanza;
using execution::layout_change_layer;

namespace {

/// x of 1x32x6x5 with channels in blocks of 16, and with channels last.
const ElementOrder blocked(std::vector<OrderDigit>{{1, 960}, {2, 480}, {6, 5}, {5, 1}, {16, 30}});
const ElementOrder channels_last(std::vector<OrderDigit>{{6, 5}, {5, 1}, {32, 30}});
constexpr std::int64_t elements = 960;

struct Aligned {
  explicit Aligned(std::size_t bytes) : memory(bytes + 256) {
    void* place = memory.data();
    std::size_t space = memory.size();
    data = std::align(256, bytes, place, space);
  }
  std::vector<std::byte> memory;
  void* data = nullptr;
};

}  // namespace

TEST_CASE("orders are equal where memory is, whatever the dimensions") {
  // The image is one dimension of 30: 6 rows of 5.
  CHECK(blocked.text() == "2*480,30*1,16*30");
  CHECK(channels_last.text() == "30*1,32*30");
  CHECK(blocked == ElementOrder(std::vector<OrderDigit>{{2, 480}, {30, 1}, {16, 30}}));
  CHECK(ElementOrder(std::vector<OrderDigit>{{32, 30}, {30, 1}}).is_row_major());
  // Half of the channels are half of the blocks: one block is left.
  REQUIRE(blocked.of_part(480));
  CHECK(blocked.of_part(480)->text() == "30*1,16*30");
  CHECK_FALSE(blocked.of_part(240));        // half a block
  CHECK_FALSE(channels_last.of_part(480));  // half of the channels of each pixel
  CHECK(ElementOrder().of_part(7)->is_row_major());
}

TEST_CASE("a change of layout is a transposition, which backends compute") {
  const ElementOrder row_major;
  struct Change {
    ElementOrder from, to;
    std::string layer;  // by hand: sizes in the order of `from`
  };
  // 32 channels of 30 pixels; 2 blocks of 30 pixels of 16 channels; 30 pixels of 32 channels.
  for (const auto& [from, to, layer] : {Change{row_major, blocked, "Transpose/f32/x=2x16x30/perm=0x2x1"},
                                        Change{blocked, row_major, "Transpose/f32/x=2x30x16/perm=0x2x1"},
                                        Change{row_major, channels_last, "Transpose/f32/x=32x30/perm=1x0"},
                                        Change{channels_last, blocked, "Transpose/f32/x=30x2x16/perm=1x0x2"}}) {
    CAPTURE(layer);
    const auto change =
        layout_change_layer(DataType::f32, elements, execution::arrangement_of(from), execution::arrangement_of(to));
    REQUIRE(change);
    REQUIRE(LayerSignature(*change).text() == layer);
    // The position of element (channel c, pixel p) in each order, by hand.
    const auto place = [](const ElementOrder& order, std::int64_t c, std::int64_t p) {
      if (order == blocked) return c / 16 * 480 + p * 16 + c % 16;
      return order == channels_last ? p * 32 + c : c * 30 + p;
    };
    int copied = 0;
    for (const auto& backend : usable_backends()) {
      const auto made = backend->plans(*change, 2);
      if (!std::holds_alternative<Plans>(made)) continue;
      for (const auto& plan : std::get<Plans>(made)) {
        CAPTURE(backend->name(), plan->algorithm());
        const Aligned x(elements * sizeof(float)), y(elements * sizeof(float)), workspace(plan->workspace_bytes());
        std::iota(static_cast<float*>(x.data), static_cast<float*>(x.data) + elements, 0.0F);
        const void* const inputs[] = {x.data};
        void* const outputs[] = {y.data};
        plan->execute({.inputs = inputs, .outputs = outputs, .workspace = workspace.data});
        int wrong = 0;
        for (std::int64_t c = 0; c < 32; ++c)
          for (std::int64_t p = 0; p < 30; ++p)
            wrong += static_cast<float*>(y.data)[place(to, c, p)] != static_cast<float>(place(from, c, p)) ? 1 : 0;
        CHECK(wrong == 0);
        ++copied;
      }
    }
    CHECK(copied >= 1);
  }
  CHECK_FALSE(layout_change_layer(DataType::f32, elements, execution::arrangement_of(blocked),
                                  execution::arrangement_of(blocked)));
  // 30 rows of 32 and 15 rows of 64 divide the tensor into digits that do not divide each other.
  CHECK_FALSE(order_change(ElementOrder(std::vector<OrderDigit>{{3, 1}, {320, 3}}),
                           ElementOrder(std::vector<OrderDigit>{{2, 1}, {480, 2}}), elements));
}

TEST_CASE("plans compute with the numbers that they are made for") {
  struct Case {
    Layer layer{};
    Parameters numbers{};
  };
  Parameters epsilon, scale, lrn, padding, quantized;
  epsilon.epsilon = 0.5;
  scale.attention_scale = 2.5;
  lrn.lrn_alpha = 2;
  lrn.lrn_bias = 3;
  padding.pad_value = -7;
  quantized.zero_point_a = 3;
  quantized.zero_point_b = 1;
  quantized.zero_point_y = 90;
  quantized.rescale = 0.011;
  const std::vector<Case> cases{
      {op::LayerNorm{.x = {6, 40}, .bias = true}, epsilon},
      {op::BatchNorm{.x = {1, 32, 30}}, epsilon},
      {op::GroupNorm{.x = {2, 8, 30}, .groups = 2}, epsilon},
      {op::Attention{.q = {1, 2, 12, 16}, .k = {1, 2, 20, 16}, .v = {1, 2, 20, 16}}, scale},
      {op::Lrn{.x = {1, 16, 30}}, lrn},
      {op::Pad{.x = {4, 5}, .begins = {0, 1}, .ends = {0, 2}, .nonzero = true}, padding},
      {op::Conv{.type = DataType::u8,
                .x = {1, 8, 6, 6},
                .w = {16, 8, 3, 3},
                .w_type = DataType::i8,
                .x_zero = true,
                .w_zero = true},
       quantized},
  };
  for (const auto& [layer, numbers] : cases) {
    CAPTURE(LayerSignature(layer).text());
    int made = 0;
    for (const auto& backend : usable_backends()) {
      auto drafts = backend->drafts_with(layer, 1, numbers);
      auto* list = std::get_if<PlanDrafts>(&drafts);
      auto usual = backend->drafts(layer, 1);
      if (list == nullptr) continue;
      REQUIRE(std::holds_alternative<PlanDrafts>(usual));
      REQUIRE(list->size() == std::get<PlanDrafts>(usual).size());
      const Operands shapes = operands(layer);
      for (std::size_t i = 0; i < list->size(); ++i) {
        CHECK((*list)[i].algorithm == std::get<PlanDrafts>(usual)[i].algorithm);
        auto built = (*list)[i].build();
        if (std::holds_alternative<Unsupported>(built)) continue;
        const auto& plan = *std::get<std::unique_ptr<Plan>>(built);
        CAPTURE(backend->name(), plan.algorithm());
        std::vector<Aligned> plain, packed;
        std::vector<const void*> given, inputs;
        for (std::size_t k = 0; k < shapes.inputs.size(); ++k) {
          plain.emplace_back(static_cast<std::size_t>(shapes.inputs[k].bytes()));
          fill(shapes.inputs[k], plain.back().data, k + 1);
          packed.emplace_back(plan.inputs()[k].bytes);
          plan.pack_input(k, plain.back().data, packed.back().data);
          given.push_back(plain.back().data);
          inputs.push_back(packed.back().data);
        }
        const Aligned result(plan.outputs()[0].bytes), y(static_cast<std::size_t>(shapes.outputs[0].bytes())),
            workspace(plan.workspace_bytes());
        if (const auto start = starts_as(plan, shapes.outputs[0], 0))
          std::memcpy(result.data, inputs[*start], plan.outputs()[0].bytes);
        void* const outputs[] = {result.data};
        plan.execute({.inputs = inputs, .outputs = outputs, .workspace = workspace.data});
        plan.unpack_output(0, result.data, y.data);
        const auto all = reference::sample_indices(shapes.outputs[0].elements(), 200);
        const auto expected = reference::evaluate(layer, given, 0, all, numbers);
        CHECK(reference::agree(layer, 0, expected, reference::read(shapes.outputs[0], y.data, all), plan.tolerance()));
        // The effect of the numbers is visible.
        CHECK(reference::difference(expected, reference::evaluate(layer, given, 0, all)) > 1e-3);
        ++made;
      }
    }
    CHECK(made >= 1);
  }
}

TEST_CASE("plans on OpenMP's team give the same results, and say so") {
  const OpenmpTeam team;
  if (!team.exists()) {
    WARN("skipped: no OpenMP runtime in this process");
    return;
  }
  const ThreadPool pool(team, 2);
  std::atomic<int> calls{0}, threads{0};
  for (int i = 0; i < 100; ++i) pool.parallel(2, [&](int thread) { ++calls, threads += thread; });
  CHECK(calls == 200);
  CHECK(threads == 100);
  for (const auto& backend : usable_backends())
    if (const auto other = backend->on_openmp()) {
      CHECK_FALSE(backend->uses_openmp());
      CHECK(other->uses_openmp());
      CHECK(other->name() == backend->name());
    }
}

TEST_CASE("a team of two is bound to two processors, its caller too") {
  const std::vector<int> where = cpus();
  const OpenmpTeam team;
  if (!team.exists() || where.size() < 2) {
    WARN("skipped: no OpenMP runtime in this process, or one processor");
    return;
  }
  struct Seen {
    std::array<int, 2> processors{}, allowed{};
  } seen;
  std::thread([&] {  // its affinity ends with the thread
    team.bind(std::span(where).first(2));
    team.run(
        2,
        [](const void* context, int thread) {
          auto& all = *static_cast<Seen*>(const_cast<void*>(context));
          cpu_set_t set;
          CPU_ZERO(&set);
          if (sched_getaffinity(0, sizeof set, &set) != 0) return;
          all.allowed.at(static_cast<std::size_t>(thread)) = CPU_COUNT(&set);
          all.processors.at(static_cast<std::size_t>(thread)) = sched_getcpu();
        },
        &seen);
    team.end();
  })
      .join();
  CHECK(seen.allowed == std::array{1, 1});
  CHECK(seen.processors == std::array{where[0], where[1]});
}
