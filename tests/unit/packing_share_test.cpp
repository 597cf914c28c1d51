// SPDX-License-Identifier: Apache-2.0
// A layer's share of the time for first visits, if plans have to pack its weights first.
#include "measure/tuning_session.hpp"
#include "support/catch.hpp"
#include "support/fake_host.hpp"
#include <benanza/measure/measure.hpp>
#include <benanza/model/layer_signature.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace {

using namespace benanza;
using namespace benanza::measure;
using test::FakeHost;

op::MatMul product(std::int64_t k, std::int64_t n) { return {.a = {1, k}, .b = {k, n}, .b_constant = true}; }

/// Two plans for products of one row. A call takes 20 ms; packing the weights takes 1 s per 4 MiB.
class Packer final : public Backend {
 public:
  explicit Packer(FakeHost& host) : host_(host) {}
  [[nodiscard]] std::string_view name() const override { return "packer"; }
  [[nodiscard]] std::string version() const override { return "1"; }
  [[nodiscard]] std::variant<Plans, Unsupported> plans(const Layer& layer, int threads) const override {
    Plans result;
    for (const char* plan : {"first", "second"})
      result.push_back(std::make_unique<Product>(host_, plan, std::get<op::MatMul>(layer), threads));
    return result;
  }

 private:
  class Product final : public Plan {
   public:
    Product(FakeHost& host, const std::string& name, const op::MatMul& op, int threads)
        : Plan({.algorithm = name + ",threads=" + std::to_string(threads),
                .threads = threads,
                .inputs = layouts(name, op),
                .outputs = plain_layouts(op.operands().outputs)}),
          host_(host),
          k_(op.k()),
          n_(op.n()) {}

   private:
    static std::vector<Layout> layouts(const std::string& name, const op::MatMul& op) {
      auto result = plain_layouts(op.operands().inputs);
      result[1].name = "of_" + name;
      return result;
    }
    void do_pack_input(std::size_t i, const void* plain, void* packed) const override {
      std::memcpy(packed, plain, inputs()[i].bytes);
      host_.spend(static_cast<double>(inputs()[i].bytes) / (4 << 20));
    }
    void do_execute(const Arguments& arguments) const override {
      const auto* const a = static_cast<const float*>(arguments.inputs[0]);
      const auto* const b = static_cast<const float*>(arguments.inputs[1]);
      auto* const y = static_cast<float*>(arguments.outputs[0]);
      std::fill_n(y, n_, 0.0F);
      for (std::int64_t k = 0; k < k_; ++k)
        for (std::int64_t n = 0; n < n_; ++n) y[n] += a[k] * b[k * n_ + n];
      host_.spend(20e-3);
    }

    FakeHost& host_;
    std::int64_t k_, n_;
  };

  FakeHost& host_;
};

}  // namespace

// Selection gets 60 % of 10 s. The large layer claims 2.5 ms, 0.5 ms for a call and 4.2 ms for 4.2 MB of weights. Each
// of the nine small layers claims 2.5 ms. So the large layer gets 7.2 / 29.7 of 6 s, which is 1.4 s. Packing for its
// first plan takes 1 s, and a few calls follow; then there is time for the second plan. Without the weights, the layer
// would get 3.0 / 25.5 of 6 s, which is 0.7 s: too little for a second plan.
TEST_CASE("a layer with many weights gets time to pack them for more than one plan") {
  FakeHost host;
  const std::vector<std::shared_ptr<const Backend>> backends{std::make_shared<Packer>(host)};
  const Layer large = product(1024, 1024);
  std::vector<Wanted> wanted{{.layer = large}};
  for (std::int64_t k = 4; k < 13; ++k) wanted.push_back({.layer = product(k, 4)});
  MeasureOptions options;
  options.caches = {CacheState::hot};
  options.budget = {10};
  const auto rows = run_tuning_session(host, wanted, backends, options, 1);
  const std::string signature = LayerSignature(large).text();
  REQUIRE(std::count_if(rows.begin(), rows.end(), [&](const auto& m) { return m.signature == signature; }) == 2);
  for (const auto& m : rows) {
    INFO(m.name() << " " << m.reason);
    if (m.signature == signature) CHECK(m.measured());
  }
}
