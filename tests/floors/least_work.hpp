// SPDX-License-Identifier: Apache-2.0
// The arithmetic and the bytes that a floor counts for a model, for tests that count them by hand.
#pragma once

#include "support/catch.hpp"
#include "support/onnx_text.hpp"
#include <benanza/fusion/model_layers.hpp>

#include <numeric>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace benanza::testing {

/// A tensor of the file, filled with zeros or with `raw`.
struct Stored {
  std::string name{};
  onnx::TensorProto::DataType type = onnx::TensorProto::FLOAT;
  std::vector<std::int64_t> dims{};
  double bytes_each = 4;
  std::string raw{};
};

inline ModelLayers least_layers(const std::string& text, const std::vector<Stored>& tensors = {}, int opset = 21) {
  auto model = parse_model("g " + text, "<ir_version: 10, opset_import: [\"\" : " + std::to_string(opset) +
                                            ", \"com.microsoft\" : 1, \"ai.onnx.ml\" : 4]>");
  for (const auto& stored : tensors) {
    auto& tensor = *model.mutable_graph()->add_initializer();
    tensor.set_name(stored.name);
    tensor.set_data_type(stored.type);
    double bytes = stored.bytes_each;
    for (const auto dim : stored.dims) {
      tensor.add_dims(dim);
      bytes *= static_cast<double>(dim);
    }
    tensor.set_raw_data(stored.raw.empty() ? std::string(static_cast<std::size_t>(bytes), '\0') : stored.raw);
  }
  return make_model_layers(import_model(model));
}

/// The least work of an engine.
struct Least {
  double flops = 0, reads = 0, writes = 0;
};
/// Operations on other types than the one that an expression counts.
inline double uncounted(const ModelLayers& model, const Occurrence& at) {
  double flops = 0;
  if (!std::holds_alternative<op::Expression>(*at.layer)) return flops;
  for (const auto member : at.members) {
    const Occurrence& part = model.single.layers[member];
    if (type(part.layer) != type(at.layer)) flops += part.needed.flops.value;
  }
  return flops;
}
inline void check_least(const ModelLayers& model, const Least& least) {
  for (const auto* graph : {&model.single, &model.fused})
    CHECK(std::accumulate(graph->layers.begin(), graph->layers.end(), 0.0, [&](double sum, const Occurrence& at) {
            return sum + (at.needed.flops.value + uncounted(model, at)) * static_cast<double>(at.repeat);
          }) == Approx(least.flops));
  CHECK(model.single.model_reads.value == Approx(least.reads));
  CHECK(model.single.model_writes.value == Approx(least.writes));
}

}  // namespace benanza::testing
