// SPDX-License-Identifier: Apache-2.0
#include "execution/arena.hpp"
#include "plan/cpu_set.hpp"
#include "support/catch.hpp"
#include "support/fake_host.hpp"
#include "support/witness_of.hpp"
#include <benanza/plan/openmp_team.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

using namespace benanza;
using testing::witness_of;

namespace {

constexpr std::uint64_t seed = 7;

/// Constants of a batch normalisation with 16 channels.
const std::string norm_constants = R"(
  c = Constant<value = int64[1] {16}>()
  scale = ConstantOfShape<value = float[1] {1.5}>(c)
  shift = ConstantOfShape<value = float[1] {0.5}>(c)
  mean = ConstantOfShape<value = float[1] {0.25}>(c)
  var = ConstantOfShape<value = float[1] {3.0}>(c)
)";

const std::string block = "m (float[1,16,10,10] x) => (float[1,5] y) {" + norm_constants + R"(
  s = Constant<value = int64[4] {16, 16, 3, 3}>()
  g = Constant<value = int64[2] {800, 5}>()
  one = Constant<value = float[1] {1.0}>()
  w = ConstantOfShape<value = float[1] {1.0}>(s)
  v = ConstantOfShape<value = float[1] {2.0}>(s)
  f = ConstantOfShape<value = float[1] {1.0}>(g)
  a = Conv<pads = [1, 1, 1, 1]>(x, w)
  n = BatchNormalization(a, scale, shift, mean, var)
  r = Relu(n)
  b = Conv<pads = [1, 1, 1, 1]>(r, v)
  bn = BatchNormalization(b, scale, shift, mean, var)
  sum = Add(bn, x)
  t = Sigmoid(sum)
  u = Mul(sum, t)
  j = Concat<axis = 1>(u, r)
  p = MaxPool<kernel_shape = [2, 2], strides = [2, 2]>(j)
  h = Flatten(p)
  y = MatMul(h, f)
})";

/// The larger of 0 and each of some floats: in row-major order, or with the last element first.
class TwoWays final : public Backend {
 public:
  TwoWays(std::vector<std::string> ways, bool unpacks) : ways_(std::move(ways)), unpacks_(unpacks) {}
  [[nodiscard]] std::string_view name() const override { return "ways"; }
  [[nodiscard]] std::string version() const override { return "1"; }
  [[nodiscard]] std::variant<Plans, Unsupported> plans(const Layer& layer, int) const override {
    Plans result;
    for (const auto& way : ways_) result.push_back(std::make_unique<Relu>(way, operands(layer), unpacks_));
    return result;
  }

 private:
  class Relu final : public Plan {
   public:
    Relu(const std::string& way, const Operands& operands, bool unpacks)
        : Plan({.algorithm = way + ",threads=1",
                .inputs = plain_layouts(operands.inputs),
                .outputs = {{.name = way, .bytes = plain_layouts(operands.outputs)[0].bytes}}}),
          unpacks_(unpacks) {}

   private:
    [[nodiscard]] std::size_t size() const { return outputs()[0].bytes / sizeof(float); }
    void do_execute(const Arguments& arguments) const override {
      const auto* x = static_cast<const float*>(arguments.inputs[0]);
      auto* y = static_cast<float*>(arguments.outputs[0]);
      const bool is_reversed = outputs()[0].name == "reversed";
      for (std::size_t i = 0; i < size(); ++i) y[is_reversed ? size() - 1 - i : i] = std::max(x[i], 0.0F);
    }
    void do_unpack_output(std::size_t, const void* packed, void* plain) const override {
      if (!unpacks_) throw InputError("it is not unpacked");
      const auto* y = static_cast<const float*>(packed);
      std::reverse_copy(y, y + size(), static_cast<float*>(plain));
    }
    bool unpacks_;
  };

  std::vector<std::string> ways_;
  bool unpacks_;
};

bool computes(const WitnessCall& call, std::size_t nodes) { return call.nodes.size() == nodes; }

}  // namespace

TEST_CASE("a witness computes groups in one call, and what single nodes compute") {
  const Witness witness = witness_of(block);
  CAPTURE(witness.refused);
  REQUIRE(witness.given());
  CHECK(witness.difference <= 1e-5);
  CHECK(witness.executions >= 5);
  // Conv + BatchNormalization + Relu; Conv + BatchNormalization + Add + SiLU, which is two nodes.
  CHECK(std::count_if(witness.calls.begin(), witness.calls.end(), [](const auto& c) { return computes(c, 3); }) == 1);
  CHECK(std::count_if(witness.calls.begin(), witness.calls.end(), [](const auto& c) { return computes(c, 5); }) == 1);
  CHECK(witness.representative());
  CHECK(witness.peak < witness.all_tensors);
  CHECK(witness.p10.value > 0);
}

TEST_CASE("a witness computes a normalisation whose epsilon is not the one of plans") {
  // Rows of a variance of 1e-8 or so: 1e-5 and 1e-12 differ by a factor of 30.
  const Witness witness = witness_of(R"(m (float[8, 64] x) => (float[8, 64] y) {
    small = Constant<value = float[1] {0.0001}>()
    c = Constant<value = int64[1] {64}>()
    scale = ConstantOfShape<value = float[1] {1.0}>(c)
    s = Mul(x, small)
    y = LayerNormalization<epsilon = 1e-12>(s, scale)
  })");
  CAPTURE(witness.refused);
  REQUIRE(witness.given());
  CHECK(witness.difference <= 1e-5);
  CHECK(std::none_of(witness.calls.begin(), witness.calls.end(), [](const auto& c) { return c.plan == "reference"; }));
}

// The sum s is read by two later sums, x is an input and z an output of the graph: only u may overwrite s. In the first
// sum a convolution reads the tensor to which it adds. j holds u and z in one piece of memory.
TEST_CASE("sums in place write over nothing that is read later") {
  const Witness witness = witness_of(
      "m (float[1,16,9,9] x) => (float[1,16,9,9] z, float[1,16,9,9] o, float[1,32,9,9] k) {"
      R"(
    d = Constant<value = int64[4] {16, 16, 3, 3}>()
    w = ConstantOfShape<value = float[1] {1.0}>(d)
    r = Sigmoid(x)
    a = Conv<pads = [1, 1, 1, 1]>(r, w)
    s = Add(a, r)
    b = Conv<pads = [1, 1, 1, 1]>(s, w)
    t = Add(b, s)
    c = Conv<pads = [1, 1, 1, 1]>(t, w)
    u = Add(c, s)
    e = Conv<pads = [1, 1, 1, 1]>(u, w)
    z = Add(e, x)
    f = Conv<pads = [1, 1, 1, 1]>(z, w)
    o = Add(f, z)
    j = Concat<axis = 1>(u, z)
    g = Conv<pads = [2, 2, 2, 2], dilations = [2, 2]>(u, w)
    h = Add(g, u)
    i = Concat<axis = 1>(h, u)
    k = Add(i, j)
  })",
      true);
  CAPTURE(witness.refused);
  REQUIRE(witness.given());
  CHECK(witness.difference <= 1e-5);
  const auto adds = [](const WitnessCall& call) { return call.plan.find(",sum=in_place") != std::string::npos; };
  CHECK(std::count_if(witness.calls.begin(), witness.calls.end(), adds) == 6);
}

// All that follows the softmax over columns is one call, and the largest of each column is another.
TEST_CASE("element-wise calls write over what is not read later") {
  const Witness witness = witness_of(
      R"(m (float[576,256] x, float[1,256] s) => (float[1,256] t) <int64[1] rows = {0}> {
    p = Softmax<axis = 0>(x)
    a = Mul(p, s)
    c = Sigmoid(a)
    d = Add(c, a)
    t = ReduceMax(d, rows)
  })");
  CAPTURE(witness.refused);
  REQUIRE(witness.given());
  CHECK(witness.difference <= 1e-5);
  // x and p, over which d is written; with memory of its own for d there would be three.
  constexpr double tensor = 576 * 256 * 4;
  CHECK(witness.peak.value < 2.7 * tensor);
  CHECK(witness.peak.value >= 2 * tensor);
}

TEST_CASE("a witness with moved strides computes what the unchanged model computes") {
  const Witness witness =
      witness_of("m (float[1,16,9,9] x) => (float[1,8,5,5] y, float[1,4,3,3] z) {" + norm_constants + R"(
    s3 = Constant<value = int64[4] {16, 16, 3, 3}>()
    s1 = Constant<value = int64[4] {8, 16, 1, 1}>()
    s4 = Constant<value = int64[4] {4, 16, 1, 1}>()
    w = ConstantOfShape<value = float[1] {1.0}>(s3)
    v = ConstantOfShape<value = float[1] {1.0}>(s1)
    u = ConstantOfShape<value = float[1] {1.0}>(s4)
    r = Relu(x)
    a = Conv<pads = [1, 1, 1, 1]>(r, w)
    b = Conv<auto_pad = "SAME_UPPER">(a, w)
    n = BatchNormalization(b, scale, shift, mean, var)
    p = MaxPool<kernel_shape = [3, 3], pads = [1, 1, 1, 1]>(n)
    sum = Add(p, r)
    t = Relu(sum)
    y = Conv<strides = [2, 2]>(t, v)
    z = Conv<strides = [4, 4]>(t, u)
  })");
  CAPTURE(witness.refused);
  REQUIRE(witness.given());
  CHECK(witness.difference <= 1e-5);
  CHECK(std::any_of(witness.calls.begin(), witness.calls.end(),
                    [](const auto& call) { return call.nodes.front().ends_with("/slice"); }));
}

TEST_CASE("a witness says that its threads were far from each other during all executions") {
  constexpr int threads = 2;
  const auto backends = usable_backends();
  const Graph graph = testing::import_text(block, {.executable = true});
  if (!OpenmpTeam().exists() || cpus().size() < threads) return;
  // No round trip is shorter than the first of these, and none is as long as the second.
  for (const double usual : {1e-12, 1.0}) {
    ResultDatabase rows = testing::rows_for(graph, backends, false, threads);
    rows.add(Run{.ceilings = {{.quantity = CeilingQuantity::timer("round_trip"),
                               .algorithm = "cache_line,threads=2",
                               .threads = threads,
                               .value = usual}}});
    const Witness witness =
        make_witness(graph, rows, {.backends = backends, .threads = threads, .budget = {0.01}, .weight_seed = seed});
    CAPTURE(witness.refused);
    REQUIRE(witness.given());
    CHECK(witness.threads == threads);
    CHECK(witness.executions >= 5);
    CHECK(witness.usual_round_trip.value == usual);
    CHECK(witness.round_trip.value > 0);
    CHECK(witness.distant() == (usual < 1e-9));
  }
}

TEST_CASE("a check compares every call of a witness with the reference") {
  const auto backends = usable_backends();
  const Graph graph = testing::import_text(block, {.executable = true});
  const Witness witness = make_witness(graph, testing::rows_for(graph, backends),
                                       {.backends = backends, .budget = {0.01}, .weight_seed = seed, .check = true});
  CAPTURE(witness.refused);
  REQUIRE(witness.given());
  REQUIRE(witness.check);
  // Convolution with its Relu; convolution with its sum and SiLU; Concat, pooling and product. Flatten is a view.
  CHECK(witness.check->calls == 5);
  CHECK(witness.check->wrong == 0);
  CHECK(witness.check->difference <= witness.check->tolerance);
  CHECK_FALSE(witness.check->nodes.empty());
  CHECK_FALSE(witness_of(block).check);
}

TEST_CASE("plans that cannot be joined give way to others") {
  const Graph graph = testing::import_text("m (float[64] x) => (float[64] y) { y = Relu(x) }", {.executable = true});
  const auto row = [](const std::string& way, double time) {
    return Measurement{.backend = "ways",
                       .algorithm = way + ",threads=1",
                       .signature = LayerSignature(parse_layer("Unary/f32/fn=relu/x=64")).text(),
                       .samples = 1,
                       .times = MeasuredTimes{.p10 = {time}, .median = {time}}};
  };
  ResultDatabase rows;
  rows.add(Run{.rows = {row("reversed", 1e-3), row("plain", 1.4e-3)}});
  const std::vector<std::shared_ptr<const Backend>> backends{
      std::make_shared<TwoWays>(std::vector<std::string>{"plain", "reversed"}, false)};
  const Witness witness = make_witness(graph, rows, {.backends = backends, .budget = {0.01}});
  CAPTURE(witness.refused);
  REQUIRE(witness.given());
  CHECK(witness.tried == 1);  // the fastest plan's result could not be read
  REQUIRE(witness.calls.size() == 1);
  CHECK(witness.calls[0].plan == "ways plain,threads=1");
}

TEST_CASE("a check reads results in layouts that only their plan understands") {
  const Graph graph = testing::import_text("m (float[64] x) => (float[64] y) { y = Relu(x) }", {.executable = true});
  const std::vector<std::shared_ptr<const Backend>> backends{
      std::make_shared<TwoWays>(std::vector<std::string>{"reversed"}, true)};
  const Witness witness = make_witness(graph, {}, {.backends = backends, .budget = {0.01}, .check = true});
  CAPTURE(witness.refused);
  REQUIRE(witness.given());
  REQUIRE(witness.check);
  CHECK(witness.check->calls == 1);
  CHECK(witness.check->plan == "ways reversed,threads=1");
  CHECK(witness.check->difference == 0);  // the larger of two floats is exact
}

// Single nodes run with the same wrong plan, so that the outputs agree.
TEST_CASE("a check finds a wrong plan that the outputs do not show") {
  test::FakeHost host;
  const Graph graph = testing::import_text("m (float[64] x) => (float[64] y) { y = Relu(x) }", {.executable = true});
  for (const bool wrong : {false, true})
    for (const bool check : {false, true}) {
      const std::vector<std::shared_ptr<const Backend>> backends{
          std::make_shared<test::FakeBackend>(host, std::vector<test::FakePlan>{{.name = "relu", .wrong = wrong}})};
      const Witness witness = make_witness(graph, {}, {.backends = backends, .budget = {0.01}, .check = check});
      CAPTURE(wrong, check, witness.refused);
      CHECK(witness.given() == !(wrong && check));
      CHECK(witness.difference == 0);
      REQUIRE(witness.check.has_value() == check);
      if (!check) continue;
      CHECK(witness.check->calls == 1);
      CHECK(witness.check->wrong == (wrong ? 1U : 0U));
      CHECK((witness.check->difference > witness.check->tolerance) == wrong);
      CHECK((witness.refused.find("(fake relu,threads=1) differs by") != std::string::npos) == wrong);
    }
}

TEST_CASE("what a sequence does not need of the bound is no part of library chained") {
  const Witness witness{.calls = {{.plan = "onednn a", .alone = {5e-3}, .fastest = {3e-3}},    // 2 ms slower
                                  {.plan = "in place", .fastest = {4e-3}},                     // saves 4 ms
                                  {.plan = "native b", .alone = {1e-3}, .fastest = {1.5e-3}},  // saves 0.5 ms
                                  {.plan = "native c", .fastest = {9e-3}},                     // has no row
                                  {.plan = "layout", .alone = {0.25e-3}}},
                        .switches = {0.5e-3}};
  CHECK(witness.slower_plans().value == Approx(2e-3));
  CHECK(witness.saved_by_orders().value == Approx(4.5e-3));
  CHECK(witness.chained({10e-3}).value == Approx(12.75e-3));  // 10 + 2 + 0.25 + 0.5
}

TEST_CASE("regions of an arena that are alive together do not overlap") {
  using execution::MemoryNeed;
  const std::vector<MemoryNeed> regions{{1000, 0, 2}, {300, 1, 3}, {5000, 2, 4},
                                        {1000, 3, 3}, {10, 0, 5},  {5000, 5, 6}};
  const execution::Arena arena(regions);
  std::size_t sum = 0;
  for (std::size_t i = 0; i < regions.size(); ++i) {
    sum += regions[i].bytes;
    CHECK(reinterpret_cast<std::uintptr_t>(arena.at(i)) % execution::Arena::alignment == 0);
    for (std::size_t j = 0; j < i; ++j) {
      if (regions[i].last < regions[j].first || regions[j].last < regions[i].first) continue;
      const std::byte *const a = arena.at(i), *const b = arena.at(j);
      CHECK((a + regions[i].bytes <= b || b + regions[j].bytes <= a));
    }
  }
  CHECK(arena.bytes() < sum);  // 5000 and 5000 are never alive together
}
