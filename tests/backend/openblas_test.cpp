// SPDX-License-Identifier: Apache-2.0
#include "backend/plan_support.hpp"
#include <benanza/backend/openblas.hpp>
#include <benanza/model/layer_signature.hpp>

using namespace benanza;

TEST_CASE("OpenBLAS's matrix products agree with the reference") {
  struct Case {
    op::MatMul layer{};
    std::size_t plans = 1;
  };
  const std::vector<Case> cases{
      {{.a = {37, 64}, .b = {64, 48}}},
      {{.a = {37, 64}, .b = {64, 48}, .b_constant = true}},
      {{.a = {19, 21}, .b = {21, 23}, .trans_a = true}},
      {{.a = {19, 21}, .b = {21, 23}, .trans_b = true}},
      {{.a = {19, 21}, .b = {21, 23}, .trans_a = true, .trans_b = true}},
      {{.a = {1, 70}, .b = {70, 33}}, 2},
      {{.a = {1, 70}, .b = {70, 33}, .trans_b = true}, 2},
      {{.a = {33, 70}, .b = {70, 1}}, 2},
      {{.a = {33, 70}, .b = {70, 1}, .trans_a = true}, 2},
      {{.a = {1, 7}, .b = {7, 1}}, 2},
      {{.a = {3, 17, 16}, .b = {3, 16, 19}, .trans_b = true}},
      {{.a = {2, 4, 9, 16}, .b = {4, 16, 9}}},
      {{.a = {1, 4, 9, 16}, .b = {2, 1, 16, 9}}},
      {{.a = {5, 2, 1, 9, 16}, .b = {2, 3, 16, 9}}},
      {{.type = DataType::f64, .a = {19, 21}, .b = {21, 23}, .trans_b = true}},
      {{.type = DataType::f64, .a = {1, 70}, .b = {70, 33}}, 2},
  };
  const auto backend = openblas::backend();
  for (const auto& [layer, plans] : cases)
    for (int threads : {1, 2}) {
      INFO(LayerSignature(layer).text());
      CHECK(test::check_plans(*backend, layer, threads) == plans);
    }
}

TEST_CASE("what OpenBLAS lacks is unsupported with its reason") {
  const auto reason = [](const Layer& layer) {
    return std::get<Unsupported>(openblas::backend()->plans(layer, 1)).reason;
  };
  CHECK(reason(op::MatMul{.a = {4, 4}, .b = {4, 4}, .post = {bias}}) == "no epilogue in OpenBLAS");
  CHECK(reason(op::Softmax{.x = {4, 4, 1}}) == "no Softmax in OpenBLAS");
  CHECK(reason(op::MatMul{.type = DataType::f16, .a = {4, 4}, .b = {4, 4}}) ==
        "backend openblas runs f32 and f64 only");
}
