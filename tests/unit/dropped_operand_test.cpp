// SPDX-License-Identifier: Apache-2.0
// Every operand counts in a check: a plan that is right except for one operand, which it leaves out, is excluded.
#include "measure/workplace.hpp"
#include "plan/fill.hpp"
#include "plan/tolerance.hpp"
#include "reference/reference.hpp"
#include "support/catch.hpp"
#include "support/fake_host.hpp"
#include <benanza/model/layer_signature.hpp>
#include <benanza/model/quantization.hpp>
#include <benanza/plan/element.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace {

using namespace benanza;
using namespace benanza::measure;
using namespace benanza::sampling;

/// An operand, and the value that has no effect in its place.
struct Dropped {
  std::size_t operand = 0;
  double neutral = 0;
};

/// The reference's result, rounded to the output's type, with the dropped operand filled with its neutral value.
class FromReference final : public Plan {
 public:
  FromReference(const Layer& layer, std::optional<Dropped> dropped)
      : Plan({.algorithm = "reference,threads=1",
              .inputs = plain_layouts(operands(layer).inputs),
              .outputs = plain_layouts(operands(layer).outputs),
              .tolerance =
                  std::max(benanza::tolerance(type(layer)), benanza::tolerance(operands(layer).outputs[0].type))}),
        layer_(layer),
        dropped_(dropped) {}

 private:
  void do_execute(const Arguments& arguments) const override {
    const Operands shapes = operands(layer_);
    std::vector<const void*> given(arguments.inputs.begin(), arguments.inputs.end());
    std::vector<std::byte> neutral;
    if (dropped_) {
      const Operand& operand = shapes.inputs.at(dropped_->operand);
      neutral.resize(static_cast<std::size_t>(operand.bytes()));
      for (std::int64_t i = 0; i < operand.elements(); ++i) store(neutral.data(), operand.type, i, dropped_->neutral);
      given.at(dropped_->operand) = neutral.data();
    }
    for (std::size_t y = 0; y < shapes.outputs.size(); ++y) {
      const auto values = reference::evaluate_all(layer_, given, y, reference::parameters_of(layer_));
      for (std::size_t i = 0; i < values.size(); ++i)
        store(arguments.outputs[y], shapes.outputs[y].type, static_cast<std::int64_t>(i), values[i]);
    }
  }

  Layer layer_;
  std::optional<Dropped> dropped_;
};

/// The status that a session gives to such a plan.
RowStatus status_of(const Layer& layer, std::optional<Dropped> dropped) {
  test::FakeHost host;
  const test::FakeBackend backend(host, {});
  const MeasureOptions options;
  Workplace place(host, options);
  const TuningTask task{.layer = layer, .signature = LayerSignature(layer).text(), .operands = operands(layer)};
  PlanDraft draft{.algorithm = "reference,threads=1",
                  .build = [&]() -> std::variant<std::unique_ptr<Plan>, Unsupported> {
                    return std::make_unique<FromReference>(layer, dropped);
                  }};
  Candidate candidate{.backend = &backend, .plan = std::make_shared<LazyPlan>(std::move(draft), Seconds{})};
  candidate.build(host);
  const auto expected = place.expected(task);
  Work work = place.work(task, candidate, true);
  static_cast<void>(place.check(task, candidate, work, expected, false));
  return candidate.row.status;
}

void check_each(const Layer& layer, const std::vector<Dropped>& operands_dropped) {
  INFO(LayerSignature(layer).text());
  CHECK(status_of(layer, std::nullopt) == RowStatus::measured);
  for (const auto& dropped : operands_dropped) {
    INFO("without operand " << dropped.operand);
    CHECK(status_of(layer, dropped) == RowStatus::wrong);
  }
}

const PostOp residual{ElementwiseFn::add, TensorShape{}};
const PostOp scale = per_channel(ElementwiseFn::mul);

}  // namespace

// Sums of 1 to 25088 products, as in VGG's first fully connected layer.
TEST_CASE("a plan that leaves out a bias, a residual or a scale is wrong in every type of a product") {
  for (const auto type : {DataType::f64, DataType::f32, DataType::tf32, DataType::f16, DataType::bf16, DataType::f8e4m3,
                          DataType::f8e5m2, DataType::i8, DataType::u8}) {
    for (const std::int64_t depth : {1, 64, 1000, 25088})
      check_each(op::MatMul{.type = type,
                            .a = {3, depth},
                            .b = {depth, 20},
                            .b_constant = true,
                            .b_type = type == DataType::u8 ? std::optional(DataType::i8) : std::nullopt,
                            .post = {bias, ElementwiseFn::relu, residual, scale}},
                 {{2, 0}, {3, 0}, {4, 1}});
  }
}

TEST_CASE("a plan that leaves out a bias, a residual or a scale is wrong with weights of few bits") {
  for (const auto weights : {DataType::u2, DataType::u4, DataType::u8})
    for (const std::int64_t depth : {1, 64, 1000, 25088})
      check_each(op::MatMul{.a = {3, depth},
                            .b = {depth, 20},
                            .b_constant = true,
                            .b_type = weights,
                            .post = {bias, ElementwiseFn::relu, residual, scale}},
                 {{2, 0}, {3, 0}, {4, 1}});
}

TEST_CASE("a plan that leaves out a bias, a residual or a scale is wrong in every type of a convolution") {
  for (const auto type : {DataType::f64, DataType::f32, DataType::tf32, DataType::f16, DataType::bf16, DataType::f8e4m3,
                          DataType::f8e5m2, DataType::i8, DataType::u8}) {
    for (const std::int64_t group : {1, 256}) {
      check_each(op::Conv{.type = type,
                          .x = {1, 256, 3, 3},
                          .w = {256, 256 / group, 3, 3},
                          .pads = {1, 1, 1, 1},
                          .group = group,
                          .post = {scale, bias, residual}},
                 {{2, 1}, {3, 0}, {4, 0}});
    }
    check_each(
        op::ConvTranspose{
            .type = type, .x = {1, 256, 3, 3}, .w = {256, 16, 4, 4}, .strides = {2, 2}, .post = {bias, residual}},
        {{2, 0}, {3, 0}});
  }
}

TEST_CASE("a plan of 8-bit operands that leaves out an addend is wrong in every type of its result") {
  for (const auto type : {DataType::i8, DataType::u8})
    for (const auto result : {DataType::i32, DataType::f32, DataType::f16, DataType::bf16})
      check_each(
          op::Conv{.type = type, .x = {1, 512, 3, 3}, .w = {16, 512, 3, 3}, .y_type = result, .post = {bias, residual}},
          {{2, 0}, {3, 0}});
}

// The mean of a product is 0 or more, so that sums may grow with their depth, and no result is 0 for any bias.
TEST_CASE("a plan of 8-bit operands that leaves out a bias, a residual or a scale is wrong with any zero points") {
  for (const auto a : {DataType::i8, DataType::u8})
    for (const auto b : {DataType::i8, DataType::u8})
      for (const bool a_zero : {false, true})
        for (const bool b_zero : {false, true})
          for (const std::int64_t depth : {1, 64, 1000, 25088})
            check_each(op::MatMul{.type = a,
                                  .a = {3, depth},
                                  .b = {depth, 20},
                                  .b_constant = true,
                                  .b_type = a == b ? std::nullopt : std::optional(b),
                                  .a_zero = a_zero,
                                  .b_zero = b_zero,
                                  .post = {bias, ElementwiseFn::relu, residual, scale}},
                       {{2, 0}, {3, 0}, {4, 1}});
}

TEST_CASE("a plan that leaves out an operand is wrong after an activation") {
  for (const auto type : {DataType::f64, DataType::f32, DataType::tf32, DataType::f16, DataType::bf16})
    for (const auto fn : {ElementwiseFn::sigmoid, ElementwiseFn::tanh, ElementwiseFn::gelu, ElementwiseFn::hard_swish})
      check_each(op::MatMul{.type = type, .a = {3, 4096}, .b = {4096, 20}, .post = {bias, fn, residual}},
                 {{2, 0}, {3, 0}});
}

TEST_CASE("a plan that leaves out a scale or a bias of a normalisation is wrong, and one without an attention's mask") {
  for (const auto type :
       {DataType::f64, DataType::f32, DataType::f16, DataType::bf16, DataType::f8e4m3, DataType::f8e5m2}) {
    check_each(op::LayerNorm{.type = type, .x = {4, 768}, .bias = true}, {{1, 1}, {2, 0}});
    check_each(
        op::LayerNorm{.type = type, .x = {4, 768}, .bias = true, .residual = op::Residual::added, .x_bias = true},
        {{1, 0}, {2, 0}, {3, 1}, {4, 0}});
    // One step of f8e5m2 may be larger than the contribution of one of four operands.
    if (type != DataType::f8e5m2)
      check_each(op::BatchNorm{.type = type, .x = {2, 64, 9}}, {{1, 1}, {2, 0}, {3, 0}, {4, 1}});
    check_each(op::GroupNorm{.type = type, .x = {2, 64, 25}, .groups = 8}, {{1, 1}, {2, 0}});
    check_each(
        op::Attention{
            .type = type, .q = {1, 2, 64, 64}, .k = {1, 2, 64, 64}, .v = {1, 2, 64, 64}, .mask = {1, 1, 64, 64}},
        {{3, 0}});
  }
}

TEST_CASE("a recurrence that leaves out its biases, an initial state or its peepholes is wrong in every type") {
  for (const auto type : {DataType::f64, DataType::f32, DataType::tf32, DataType::f16, DataType::bf16}) {
    op::Recurrent layer{.type = type, .x = {5, 3, 16}, .hidden = 32, .directions = 2, .initial_state = true};
    for (const bool batch_first : {false, true}) {
      layer.batch_first = batch_first;
      layer.cell = op::Cell::rnn;
      check_each(layer, {{3, 0}, {4, 0}});
      layer.cell = op::Cell::gru;
      for (const bool linear : {false, true}) {
        layer.linear_before_reset = linear;
        check_each(layer, {{3, 0}, {4, 0}});
      }
      layer.linear_before_reset = false;
      layer.cell = op::Cell::lstm;
      layer.peepholes = true;
      check_each(layer, {{3, 0}, {4, 0}, {5, 0}, {6, 0}});
      layer.peepholes = false;
    }
  }
  for (const auto weights : {DataType::i8, DataType::u8})
    check_each(op::Recurrent{.type = DataType::u8,
                             .x = {5, 3, 16},
                             .hidden = 32,
                             .directions = 2,
                             .initial_state = true,
                             .weight_type = weights},
               {{3, 0}, {4, 0}, {5, 0}});
}

TEST_CASE("a recurrence that leaves out an initial state is wrong after many steps, from either end") {
  for (const auto type : {DataType::f16, DataType::bf16})
    for (const bool reverse : {false, true})
      check_each(
          op::Recurrent{.type = type, .x = {1000, 1, 16}, .hidden = 32, .reverse = reverse, .initial_state = true},
          {{4, 0}, {5, 0}});
}

TEST_CASE("values of a product lie where activations bend") {
  const op::MatMul product{.type = DataType::bf16, .a = {3, 4096}, .b = {4096, 20}};
  const Operands shapes = operands(product);
  std::vector<std::vector<std::byte>> buffers;
  std::vector<const void*> inputs;
  for (const auto& operand : shapes.inputs) {
    buffers.emplace_back(static_cast<std::size_t>(operand.bytes()));
    fill(operand, buffers.back().data(), buffers.size());
    inputs.push_back(buffers.back().data());
  }
  double square = 0;
  const auto values = reference::evaluate_all(product, inputs, 0);
  for (const double value : values) square += value * value / static_cast<double>(values.size());
  // 4096 products of two numbers of uniform magnitude: a deviation of 64 / 3, times 2^-6.
  CHECK(square == Approx(1.0 / 9).epsilon(0.5));
}
