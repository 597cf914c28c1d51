// SPDX-License-Identifier: Apache-2.0
// The reference against ONNX Runtime 1.32 on a processor, for nodes of com.microsoft that can do more than ONNX's own.
#include "backend/node_run.hpp"
#include "support/catch.hpp"
#include "support/onnx_text.hpp"
#include <benanza/model/layer.hpp>

#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace {

using namespace benanza;
using test::Numbers;

/// The operands that ONNX Runtime was given: element i of graph input n is sin(0.7 i + n).
std::map<std::string, Numbers> waves(const Graph& graph) {
  std::map<std::string, Numbers> result;
  for (std::size_t n = 0; n < graph.inputs.size(); ++n) {
    const Value& value = graph.value(graph.inputs[n]);
    Numbers numbers{.type = value.type, .dims = value.dims};
    for (std::int64_t i = 0; i < value.elements(); ++i)
      numbers.values.push_back(std::sin(0.7 * static_cast<double>(i) + static_cast<double>(n)));
    result[value.name] = std::move(numbers);
  }
  return result;
}

/// Elements of the first output, by index.
void check(const std::string& model, const std::map<std::size_t, double>& expected) {
  const Graph graph = testing::import_text(model, {.executable = true});
  const auto outputs = test::run_graph(graph, waves(graph));
  REQUIRE(outputs.at(0));
  for (const auto& [place, value] : expected) {
    CAPTURE(place);
    CHECK(outputs[0]->values.at(place) == Approx(value).epsilon(1e-4));
  }
}

}  // namespace

TEST_CASE("a node that projects and attends is products and attention") {
  check(R"(m (float[1,3,4] x, float[4,12] w, float[12] b, float[2,1,2,2,2] past)
             => (float[1,3,4] y, float[2,1,2,5,2] present)
           { y, present = com.microsoft.Attention <num_heads = 2, unidirectional = 1> (x, w, b, , past) })",
        {{0, 0.442044},
         {1, 0.0626286},
         {2, -0.0912136},
         {3, 0.0424156},
         {4, 0.590785},
         {5, 0.213196},
         {6, -0.113638},
         {7, -0.186756},
         {8, 0.572954},
         {9, 0.330161},
         {10, 0.129812},
         {11, -0.0253397}});
  check(R"(m (float[1,3,4] x, float[4,10] w, float[10] b, float[1,2,3,3] bias) => (float[1,3,2] y)
           { y = com.microsoft.Attention <num_heads = 2, qkv_hidden_sizes = [4, 4, 2]> (x, w, b, , , bias) })",
        {{0, -0.501682}, {1, 0.31065}, {2, 1.40356}, {3, 0.958004}, {4, 0.190013}, {5, 0.310672}});
}

TEST_CASE("attention of groups sees a window behind its cache, with capped scores") {
  check(R"(m (float[1,2,32] q, float[1,2,16] k, float[1,2,16] v, float[1,1,3,16] pk, float[1,1,3,16] pv)
             => (float[1,2,32] y, float[1,1,5,16] rk, float[1,1,5,16] rv)
           <int32[1] last = {4}, int32 total = {5}>
           { y, rk, rv = com.microsoft.GroupQueryAttention <num_heads = 2, kv_num_heads = 1, local_window_size = 3,
                                                            softcap = 2.0> (q, k, v, pk, pv, last, total) })",
        {{0, 0.879482},
         {1, 0.60997},
         {15, -0.332615},
         {16, 0.861267},
         {31, -0.350207},
         {32, 0.793554},
         {33, 0.788562},
         {62, -0.767412},
         {63, -0.279264}});
}
