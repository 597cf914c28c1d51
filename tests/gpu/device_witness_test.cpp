// SPDX-License-Identifier: Apache-2.0
// Models that are executed on a device. Compiled twice: for the program that runs on a device, and for the program
// whose device is tests/emulated.
#include "execution/make_witness.hpp"
#include "plan/memory_block.hpp"
#include "support/device_support.hpp"
#include "support/onnx_text.hpp"
#include "support/witness_rows.hpp"
#include <benanza/backend/cuda.hpp>

#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <vector>

using namespace benanza;

namespace {

constexpr std::uint64_t seed = 7;

Witness on_device(const std::string& text) {
  const std::vector<std::shared_ptr<const Backend>> backends{cuda::backend()};
  const Graph graph = testing::import_text(text, {.executable = true});
  return make_witness(graph, testing::rows_for(graph, backends),
                      {.backends = backends, .budget = {0.01}, .weight_seed = seed});
}

}  // namespace

TEST_CASE("a model is executed on a device as one graph", "[gpu]") {
  if (!test::has_device(*cuda::backend())) return;
  const Witness witness = on_device(R"(m (float[1,8,10,12] x) => (float[1,30,16] y, float[1,16,5,6] z) {
    s = Constant<value = int64[1] {8}>()
    k = Constant<value = int64[3] {16, 1, 1}>()
    shape = Constant<value = int64[3] {1, 16, 30}>()
    scale = ConstantOfShape<value = float[1] {1.5}>(s)
    shift = ConstantOfShape<value = float[1] {0.5}>(s)
    mean = ConstantOfShape<value = float[1] {0.25}>(s)
    var = ConstantOfShape<value = float[1] {3.0}>(s)
    c = ConstantOfShape<value = float[1] {2.0}>(k)
    a = BatchNormalization(x, scale, shift, mean, var)
    r = Relu(a)
    j = Concat<axis = 1>(r, x)
    p = MaxPool<kernel_shape = [2, 2], strides = [2, 2]>(j)
    q = Reshape(p, shape)
    t = Transpose<perm = [0, 2, 1]>(q)
    y = Softmax<axis = -1>(t)
    z = Add(p, c)
  })");
  CAPTURE(witness.refused);
  REQUIRE(witness.given());
  CHECK(witness.one_graph);
  CHECK(witness.difference <= 1e-5);
  CHECK(witness.executions >= 5);
  CHECK(witness.peak < witness.all_tensors);
  CHECK(std::all_of(witness.calls.begin(), witness.calls.end(), [](const WitnessCall& call) {
    return call.plan.starts_with("cuda ") || call.plan == "in place" || call.plan == "layout";
  }));
}

TEST_CASE("a node that no plan of the device runs is refused by name", "[gpu]") {
  if (!test::has_device(*cuda::backend())) return;
  const Witness witness = on_device(R"(m (float[4,8] x) => (float[4,8] y) {
    k = Constant<value = int64[2] {8, 8}>()
    w = ConstantOfShape<value = float[1] {1.0}>(k)
    r = Relu(x)
    y = MatMul(r, w)
  })");
  CHECK_FALSE(witness.given());
  CHECK(witness.refused.find("(MatMul): cannot be executed: no plan of the device runs it") != std::string::npos);
}

TEST_CASE("a model whose sizes data decides has no witness on a device, and a reason", "[gpu]") {
  if (!test::has_device(*cuda::backend())) return;
  const Witness witness = on_device(R"(m (float[4] x) => (int64[N] y) {
    z = NonZero(x)
    k = Constant<value = int64[1] {-1}>()
    y = Reshape(z, k)
  })");
  CHECK_FALSE(witness.given());
  CHECK(witness.refused.find("data decides the size") != std::string::npos);
}

TEST_CASE("a device changes a layout", "[gpu]") {
  const auto backend = cuda::backend();
  if (!test::has_device(*backend)) return;
  // From 2 x 3 x 20 to 2 x 20 x 3: channels last.
  const auto plans = std::get<Plans>(backend->plans(op::Transpose{.x = {2, 3, 20}, .perm = {0, 2, 1}}, 1));
  REQUIRE(plans.size() == 1);
  std::vector<float> x(120), y(120);
  std::iota(x.begin(), x.end(), 0.0F);
  const auto device = backend->device();
  detail::MemoryBlock from(480, device.get()), to(480, device.get());
  device->upload(from.data(), x.data(), 480);
  const std::array<const void*, 1> inputs{from.data()};
  const std::array<void*, 1> outputs{to.data()};
  plans[0]->execute({.inputs = inputs, .outputs = outputs});
  device->finish();
  device->download(y.data(), to.data(), 480);
  for (std::size_t n = 0; n < 2; ++n)
    for (std::size_t c = 0; c < 3; ++c)
      for (std::size_t i = 0; i < 20; ++i) CHECK(y[n * 60 + i * 3 + c] == x[n * 60 + c * 20 + i]);
}
