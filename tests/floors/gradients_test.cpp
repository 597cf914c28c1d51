// SPDX-License-Identifier: Apache-2.0
// Gradients that are 0 at rows which no output reads.
#include "least_work.hpp"
#include <benanza/training/derive_training.hpp>

namespace zero_gradients {

using benanza::ModelLayers;
using benanza::Occurrence;

using Weights = std::vector<std::pair<std::string, std::vector<std::int64_t>>>;

ModelLayers iteration(const std::string& text, const Weights& weights, benanza::TrainingOptions options) {
  onnx::ModelProto model = benanza::testing::parse_model(text);
  for (const auto& [name, dims] : weights) {
    auto& tensor = *model.mutable_graph()->add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(onnx::TensorProto::FLOAT);
    for (const auto dim : dims) tensor.add_dims(dim);
    const std::int64_t count = benanza::element_count(dims);
    for (std::int64_t i = 0; i < count; ++i) tensor.add_float_data(static_cast<float>(i % 7) - 2.5F);
  }
  options.loss = benanza::TrainingLoss::mse;
  return make_model_layers(
      benanza::derive_training(benanza::testing::import_model(model, {.training = true}), options).graph);
}

/// An iteration of a model that computes rows of 32 numbers by a product, `middle` of them, and from one row q four
/// numbers by another product.
ModelLayers iteration(const std::string& rows, const std::string& middle) {
  return iteration("g (float[" + rows +
                       ", 16] x) => (float[1, 4] y) <int64[1] a = {0}, int64[1] b = {1}, int64 z = {0}> " +
                       "{ h = MatMul(x, w1) " + middle + " y = MatMul(q, w2) }",
                   {{"w1", {16, 32}}, {"w2", {32, 4}}, {"s", {32}}, {"t", {32}}}, {});
}

template <class Counts>
double flops_of(const ModelLayers& model, Counts counts) {
  return std::accumulate(model.single.layers.begin(), model.single.layers.end(), 0.0,
                         [&](double sum, const Occurrence& at) {
                           const double flops = at.needed.flops.value * static_cast<double>(at.repeat);
                           return counts(at) ? sum + flops : sum;
                         });
}

TEST_CASE("rows that no output reads cost nothing in training", "[floors]") {
  // One row: h and the gradient of w1 take 2 x 16 x 32 each; y and the gradients of q and w2 take 2 x 32 x 4 each.
  const double products = 2 * (2 * 16 * 32) + 3 * (2 * 32 * 4);
  const auto check = [&](const std::string& middle) {
    INFO(middle);
    const ModelLayers many = iteration("8", middle), one = iteration("1", middle);
    const auto is_product = [](const Occurrence& at) { return std::holds_alternative<benanza::op::MatMul>(*at.layer); };
    const auto all = [](const Occurrence&) { return true; };
    CHECK(flops_of(many, is_product) == Approx(products));
    CHECK(flops_of(many, all) == Approx(flops_of(one, all)));
    CHECK(many.single.model_reads.value == Approx(one.single.model_reads.value));
  };
  for (const std::string fn : {"Relu", "Sigmoid", "Tanh", "Erf", "Exp", "Gelu", "Neg", "Softmax", "LogSoftmax"})
    check("r = " + fn + "(h) q = Slice(r, a, b, a)");
  check("r = LayerNormalization(h, s, t) q = Slice(r, a, b, a)");
  check("r = Relu(h) g = Gather(r, z) q = Unsqueeze(g, a)");
  check("r = Relu(h) u = Add(r, h) q = Slice(u, a, b, a)");
  check("m = ReduceMean(h, b) d = Sub(h, m) q = Slice(d, a, b, a)");
}

TEST_CASE("pairs that a causal mask hides cost nothing in training, however the mask is written") {
  // One head of 64 tokens of depth 16. The projections of x: three products, and three for the gradients of their
  // weights. Scores and sums of values: a product each forward, and two each backward, for 64 x 65 / 2 pairs. The
  // result takes a product, and one for each of its gradients.
  constexpr double tokens = 64, depth = 16, pairs = tokens * (tokens + 1) / 2, of_weights = tokens * depth * depth;
  const double products = 2 * (6 * of_weights + 6 * pairs * depth + 3 * of_weights);
  const std::string apart = " m = Transpose<perm = [0, 1, 3, 2]>(k) r = MatMul(q, m) ";
  for (const std::string& attention :
       {std::string(" o = Attention<is_causal = 1>(q, k, v) "),
        std::string(" o = Attention<is_causal = 1, softcap = 20.0>(q, k, v) "),
        apart + "c = Clip(r, low) s = Where(seen, c, low) p = Softmax(s) o = MatMul(p, v) ",
        apart + "s = Where(seen, r, low) p = Softmax(s) d = Dropout(p, half, yes) o = MatMul(d, v) ",
        apart + "s = Where(seen, r, low) p = Softmax(s) o = MatMul(p, v) ",
        apart + "s = Add(r, hidden) p = Softmax(s) o = MatMul(p, v) "}) {
    INFO(attention);
    onnx::ModelProto model = benanza::testing::parse_model(
        "g (float[1, 1, 64, 16] x) => (float[1, 1, 64, 16] y) <float low = {-1e30}, float half = {0.5}, bool yes = "
        "{1}> { q = MatMul(x, wq) k = MatMul(x, "
        "wk) "
        "v = MatMul(x, wv)" +
            attention + "y = MatMul(o, wo) }",
        "<ir_version: 10, opset_import: [\"\" : 23]>");
    const auto add = [&model](const std::string& name, int type, std::int64_t rows, std::int64_t columns,
                              auto&& number) {
      auto& tensor = *model.mutable_graph()->add_initializer();
      tensor.set_name(name);
      tensor.set_data_type(type);
      tensor.add_dims(rows);
      tensor.add_dims(columns);
      for (std::int64_t i = 0; i < rows * columns; ++i)
        if (type == onnx::TensorProto::BOOL) tensor.add_int32_data(static_cast<int>(number(i / columns, i % columns)));
        else tensor.add_float_data(static_cast<float>(number(i / columns, i % columns)));
    };
    for (const char* name : {"wq", "wk", "wv", "wo"})
      add(name, onnx::TensorProto::FLOAT, 16, 16,
          [](auto row, auto column) { return static_cast<double>((row * 16 + column) % 7) - 2.5; });
    if (attention.find("seen") != std::string::npos)
      add("seen", onnx::TensorProto::BOOL, 64, 64, [](auto row, auto column) { return column <= row ? 1 : 0; });
    if (attention.find("hidden") != std::string::npos)
      add("hidden", onnx::TensorProto::FLOAT, 64, 64, [](auto row, auto column) { return column <= row ? 0 : -1e30; });
    const ModelLayers layers =
        make_model_layers(benanza::derive_training(benanza::testing::import_model(model, {.training = true}),
                                                   {.loss = benanza::TrainingLoss::mse})
                              .graph);
    const auto is_product = [](const Occurrence& at) { return std::holds_alternative<benanza::op::MatMul>(*at.layer); };
    CHECK(flops_of(layers, is_product) == Approx(products));
  }
}

TEST_CASE("plain SGD changes at least one row of an embedding, other optimizers all", "[floors]") {
  const auto table_bytes = [](benanza::Optimizer optimizer) {
    const ModelLayers model = iteration("g (int64[6] i) => (float[6, 4] y) { h = Gather(table, i) y = MatMul(h, w) }",
                                        {{"table", {100, 16}}, {"w", {16, 4}}}, {.optimizer = optimizer});
    double written = 0;
    for (const Occurrence& at : model.single.layers)
      if (std::holds_alternative<benanza::op::OptimizerStep>(*at.layer) ||
          std::holds_alternative<benanza::op::GatherGradient>(*at.layer))
        written += at.needed.written.value;
    return written;
  };
  // All six indices may be the same. A row has 16 floats: that of the gradient and that of the table. w has 64 floats.
  CHECK(table_bytes(benanza::Optimizer::sgd) == 2 * 16 * 4 + 64 * 4);
  // The velocity of a row decays without a gradient: the gradient, all rows and all velocities are written.
  CHECK(table_bytes(benanza::Optimizer::momentum) == (1600 + 2 * (1600 + 64)) * 4);
}

}  // namespace zero_gradients
