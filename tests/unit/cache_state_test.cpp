// SPDX-License-Identifier: Apache-2.0
// Cache states: where calls find their weights, on a fake host and a fake backend.
#include "measure/tuning_session.hpp"
#include "support/catch.hpp"
#include "support/fake_host.hpp"
#include <benanza/measure/measure.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <set>

namespace {

using namespace benanza;
using namespace benanza::measure;
using test::FakeHost;

constexpr std::int64_t side = 16;
constexpr double hot_time = 100e-6, cold_time = 150e-6;
const op::MatMul product{.a = {side, side}, .b = {side, side}, .b_constant = true};

/// Where one call's buffers were.
struct Touched {
  const void *activation = nullptr, *weights = nullptr;
  void* output = nullptr;
};

/// Multiplies. A call whose weights differ from those of the previous call takes longer.
class Multiplier final : public Backend {
 public:
  explicit Multiplier(FakeHost& host, bool wrong = false) : host_(host), wrong_(wrong) {}
  [[nodiscard]] std::string_view name() const override { return "fake"; }
  [[nodiscard]] std::string version() const override { return "1"; }
  [[nodiscard]] std::variant<Plans, Unsupported> plans(const Layer& layer, int threads) const override {
    Plans result;
    result.push_back(std::make_unique<Product>(*this, operands(layer), threads));
    return result;
  }
  mutable std::vector<Touched> calls{};

 private:
  class Product final : public Plan {
   public:
    Product(const Multiplier& backend, const Operands& operands, int threads)
        : Plan({.algorithm = "product,threads=" + std::to_string(threads),
                .threads = threads,
                .inputs = plain_layouts(operands.inputs),
                .outputs = plain_layouts(operands.outputs)}),
          backend_(backend) {}

   private:
    void do_execute(const Arguments& arguments) const override {
      const auto* a = static_cast<const float*>(arguments.inputs[0]);
      const auto* b = static_cast<const float*>(arguments.inputs[1]);
      auto* y = static_cast<float*>(arguments.outputs[0]);
      for (std::int64_t m = 0; m < side; ++m)
        for (std::int64_t n = 0; n < side; ++n) {
          float sum = backend_.wrong_ ? 1.0F : 0.0F;
          for (std::int64_t k = 0; k < side; ++k) sum += a[m * side + k] * b[k * side + n];
          y[m * side + n] = sum;
        }
      const bool warm = !backend_.calls.empty() && backend_.calls.back().weights == b;
      backend_.calls.push_back({a, b, y});
      backend_.host_.spend(warm ? hot_time : cold_time);
    }
    const Multiplier& backend_;
  };

  FakeHost& host_;
  bool wrong_;
};

std::vector<Measurement> run(FakeHost& host, const std::shared_ptr<const Multiplier>& backend,
                             std::vector<CacheState> caches, std::vector<Measurement> known = {}) {
  MeasureOptions options;
  options.caches = std::move(caches);
  options.budget = {2};
  const std::array<std::shared_ptr<const Backend>, 1> backends{backend};
  const std::vector<Wanted> wanted{{.layer = product, .known = std::move(known)}};
  return run_tuning_session(host, wanted, backends, options, 1);
}

}  // namespace

TEST_CASE("a layer with weights gets a row in each cache state, with that state's time") {
  FakeHost host;
  const auto rows = run(host, std::make_shared<Multiplier>(host), {CacheState::hot, CacheState::cold_weights});
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].cache == CacheState::hot);
  CHECK(rows[0].times->p10.value == Approx(hot_time));
  CHECK(rows[1].cache == CacheState::cold_weights);
  CHECK(rows[1].times->p10.value == Approx(cold_time));
  CHECK(rows[1].rounds_s.size() == rows[0].rounds_s.size());
  CHECK_THAT(rows[1].name(), Catch::Contains("fake/product,threads=1/cold-weights/MatMul/f32"));
}

TEST_CASE("with cold weights, a call's weights were last touched three caches ago; nothing else moves") {
  FakeHost host;
  const auto backend = std::make_shared<Multiplier>(host);
  static_cast<void>(run(host, backend, {CacheState::cold_weights}));
  constexpr double bytes = side * side * sizeof(float);
  std::map<const void*, std::size_t> last;
  std::set<const void*> activations, outputs;
  for (std::size_t i = 1; i < backend->calls.size(); ++i) {  // the first call is the check
    const Touched& call = backend->calls[i];
    if (const auto before = last.find(call.weights); before != last.end())
      REQUIRE(static_cast<double>(i - before->second) * bytes >= 3 * host.cached().value);
    last[call.weights] = i;
    activations.insert(call.activation);
    outputs.insert(call.output);
  }
  CHECK(last.size() > 100);
  CHECK(activations.size() == 1);
  CHECK(outputs.size() == 1);
}

TEST_CASE("everything moves in the cold state") {
  FakeHost host;
  const auto backend = std::make_shared<Multiplier>(host);
  static_cast<void>(run(host, backend, {CacheState::cold}));
  std::set<const void*> activations, weights, outputs;
  for (std::size_t i = 1; i < backend->calls.size(); ++i) {
    activations.insert(backend->calls[i].activation);
    weights.insert(backend->calls[i].weights);
    outputs.insert(backend->calls[i].output);
  }
  CHECK(activations.size() > 100);
  CHECK(outputs.size() == activations.size());
  for (const void* address : activations) CHECK_FALSE(weights.contains(address));
}

TEST_CASE("a plan that is wrong is excluded in every cache state") {
  FakeHost host;
  const auto rows = run(host, std::make_shared<Multiplier>(host, true), {CacheState::hot, CacheState::cold_weights});
  REQUIRE(rows.size() == 2);
  for (const auto& row : rows) CHECK_FALSE(row.measured());
}

TEST_CASE("a layer that is known in one cache state only is selected again") {
  FakeHost host;
  const auto backend = std::make_shared<Multiplier>(host);
  const std::vector<CacheState> both{CacheState::hot, CacheState::cold_weights};
  auto known = run(host, backend, both);
  REQUIRE(run(host, backend, both, known).size() == 2);
  known.pop_back();
  const auto rows = run(host, backend, both, known);
  REQUIRE(rows.size() == 2);
  CHECK(rows[1].times->p10.value == Approx(cold_time));
}
