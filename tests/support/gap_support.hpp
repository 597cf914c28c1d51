// SPDX-License-Identifier: Apache-2.0
// A model of three layers with times by hand, and profiles with one record per line.
//
//   Conv_0 (with bias) 100 us, Relu_1 20 us, Softmax_2 30 us; Conv_0 and Relu_1 fused 105 us
//   library = 100 + 20 + 30 = 150 us, library_fused = 105 + 30 = 135 us
#pragma once

#include "support/catch.hpp"
#include "support/graph_builder.hpp"
#include <benanza/base/detail/quantile.hpp>
#include <benanza/bounds/analyze.hpp>
#include <benanza/fusion/model_layers.hpp>
#include <benanza/gap/gap.hpp>
#include <benanza/model/layer_signature.hpp>

#include <set>
#include <string>
#include <utility>
#include <vector>

namespace gap_support {

using namespace benanza;

inline constexpr double us = 1e-6;

/// The time of a layer: conv 100 us, fused with relu 105 us, other element-wise layers 20 us, softmax 30 us.
inline double time_of(const Layer& layer) {
  if (std::holds_alternative<op::Conv>(layer))
    return signature(layer).text().find("relu") != std::string::npos ? 105 * us : 100 * us;
  if (std::holds_alternative<op::Softmax>(layer)) return 30 * us;
  return 20 * us;
}

struct Case {
  ModelLayers model{};
  ResultDatabase results{};
  Analysis analysis{};
};

/// Every layer of a graph has one row, `lib a,threads=1`, of `time_of`. With ceilings: 1 TFLOP/s and 1 TB/s.
inline Case make_case(const Graph& graph, bool with_ceilings = false, const std::vector<Measurement>& more = {},
                      const Machine& machine = {.device = "fake", .isa = "none", .cores = 1}) {
  Case made;
  made.model = make_model_layers(graph);
  Run run;
  run.machine = machine;
  run.backends = {{"lib", "1"}};
  if (with_ceilings) {
    run.ceilings = {{.quantity = CeilingQuantity::peak(DataType::f32), .value = 1e12},
                    {.quantity = CeilingQuantity::bandwidth("memory"), .value = 1e12}};
  }
  std::set<std::string> done;
  const auto add = [&](const Layer& layer) {
    const std::string text = signature(layer).text();
    if (is_free(layer) || !done.insert(text).second) return;
    const double seconds = time_of(layer);
    run.rows.push_back({.backend = "lib",
                        .algorithm = "a,threads=1",
                        .signature = text,
                        .samples = 10,
                        .times = MeasuredTimes{.p10 = {seconds}, .median = {seconds}},
                        .rounds_s = std::vector<double>(8, seconds)});
  };
  for (const auto& layer : made.model.single.layers) add(layer.layer);
  for (const auto& layer : made.model.fused.layers)
    for (const auto& piece : layer.pieces) add(piece.layer);
  run.rows.insert(run.rows.end(), more.begin(), more.end());
  made.results.add(std::move(run));
  made.analysis = analyze(made.model, made.results, {.threads = 1, .candidates = true});
  return made;
}

inline Case make_case(benanza::testing::GraphBuilder& graph, bool with_ceilings = false,
                      const std::vector<Measurement>& more = {}) {
  return make_case(graph.graph(), with_ceilings, more);
}

inline Case three_layers(bool with_ceilings = false, const std::vector<Measurement>& more = {}) {
  benanza::testing::GraphBuilder g;
  const auto x = g.map("Relu", {g.conv(g.input({1, 8, 10, 10}), 8, true)});
  g.output(g.map("Softmax", {x}));
  return make_case(g, with_ceilings, more);
}

inline ProfileRecord record(std::string name, double microseconds, std::string op = {}) {
  return {.name = std::move(name), .op = std::move(op), .times = {Seconds{microseconds * us}}};
}

inline EngineProfile profile(double latency_us, std::vector<ProfileRecord> records) {
  EngineProfile made;
  made.engine = "onnxruntime";
  made.format = "by hand";
  if (latency_us > 0) made.latencies = {Seconds{latency_us * us}};
  made.records = std::move(records);
  return made;
}

/// Places the records on their lane one after the other, the first at the start of the pass.
inline EngineProfile one_after_another(EngineProfile made) {
  Seconds end{};
  for (auto& each : made.records) {
    each.start = end;
    end += each.times.at(0);
  }
  return made;
}

/// Records of the three layers of `three_layers`: 193 us.
inline EngineProfile three_records(double latency_us = 200) {
  return one_after_another(profile(
      latency_us, {record("Conv_0", 140, "Conv"), record("Relu_1", 25, "Relu"), record("Softmax_2", 28, "Softmax")}));
}

inline double part_us(const Gap& gap, Cause cause) {
  const GapPart* part = gap.part(cause);
  return part ? part->time.value / us : 0;
}

/// Checks the invariant of every gap: its parts add up to the gap, and the items of a part add up to the part.
inline void check_sums(const Gap& gap) {
  REQUIRE(gap.gap);
  Seconds sum{};
  for (const auto& part : gap.parts) {
    sum += part.time;
    if (part.items.empty()) continue;
    Seconds items{};
    for (const auto& item : part.items) items += item.time;
    CHECK(items.value == Approx(part.time.value).margin(1e-12));
  }
  CHECK(sum.value == Approx(gap.gap->value).margin(1e-11));
  CHECK(gap.gap->value == Approx((*gap.latency - *gap.bound).value).margin(1e-15));
}

}  // namespace gap_support
