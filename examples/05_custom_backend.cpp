// SPDX-License-Identifier: Apache-2.0
// A library of your own among the candidates: derive from Backend and hand an instance to `measure`. Every plan is
// checked against the reference before its time counts. What the backend cannot do becomes a row with the reason.
// Suites take such an instance too (bench/run_suite.hpp). docs/backends.md explains this file step by step.
#include <benanza/measure/measure.hpp>
#include <benanza/model/layer_signature.hpp>
#include <benanza/plan/backend.hpp>

#include <cstdio>

namespace {

using namespace benanza;

class ReluPlan final : public Plan {
 public:
  explicit ReluPlan(const Operands& operands)
      : Plan({.algorithm = "loop,threads=1",
              .inputs = plain_layouts(operands.inputs),
              .outputs = plain_layouts(operands.outputs)}),
        elements_(operands.outputs[0].elements()) {}

 private:
  void do_execute(const Arguments& arguments) const override {
    const auto* x = static_cast<const float*>(arguments.inputs[0]);
    auto* y = static_cast<float*>(arguments.outputs[0]);
    for (std::int64_t i = 0; i < elements_; ++i) y[i] = x[i] > 0 ? x[i] : 0;
  }
  std::int64_t elements_;
};

class MyBackend final : public Backend {
 public:
  [[nodiscard]] std::string_view name() const override { return "mine"; }
  [[nodiscard]] std::string version() const override { return "1.0"; }
  [[nodiscard]] std::variant<Plans, Unsupported> plans(const Layer& layer, int threads) const override {
    const auto* unary = std::get_if<op::Unary>(&layer);
    if (!unary || unary->fn != ElementwiseFn::relu || !unary->post.empty() || unary->type != DataType::f32)
      return Unsupported{"mine does relu alone"};
    if (threads != 1) return Unsupported{"mine has one thread"};
    Plans plans;
    plans.push_back(std::make_unique<ReluPlan>(unary->operands()));
    return plans;
  }
};

}  // namespace

int main() {
  const std::vector<measure::Wanted> wanted{{.layer = op::Unary{.fn = ElementwiseFn::relu, .x = {4096}}},
                                            {.layer = op::Softmax{.x = {1, 1000, 1}}}};
  const std::vector<std::shared_ptr<const Backend>> backends{std::make_shared<MyBackend>()};
  const Run run = measure::measure(wanted, backends, {.threads = 1, .budget = Seconds{10}});

  for (const auto& row : run.rows)
    std::printf("%s: %s\n", row.signature.c_str(),
                !row.measured() ? row.reason.c_str()
                : row.times     ? "measured"
                                : "no time");
}
