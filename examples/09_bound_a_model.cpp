// SPDX-License-Identifier: Apache-2.0
// The main job as a library call: measures what a model's bounds need on this machine, and keeps the rows in a folder,
// so that later runs measure nothing but plans that are in doubt. On a busy machine the bounds of one session may be
// provisional, and further sessions refine them. `benanza bound MODEL` does the same and shows more of the answer.
#include <benanza/onnx.hpp>
#include <benanza/session/session.hpp>

#include <cstdio>

int main(int argc, char** argv) {
  using namespace benanza;
  const ModelLayers model = make_model_layers(import_onnx(argc > 1 ? argv[1] : "examples/models/zoo2019/MNIST.onnx"));
  Session session = Session::open({.database = argc > 2 ? argv[2] : default_database()});
  Analysis analysis = session.bound(model, {.budget = Seconds{12}});
  for (int again = 0; again < 3 && (analysis.partial() || analysis.provisional()); ++again)
    analysis = session.bound(model, {.budget = Seconds{12}});

  const auto& layer_by_layer = analysis[RungName::library].bound;
  const auto& fused = analysis[RungName::library_fused].bound;
  const auto headline = analysis.bound().latency;
  if (analysis.partial() || !layer_by_layer || !fused || !headline) return 1;
  std::fprintf(stderr, "bound %.1f us; %.1f us layer by layer, %.1f us fused\n", headline->value * 1e6,
               layer_by_layer->value * 1e6, fused->value * 1e6);
  std::printf("fused is %s layer by layer\n", *fused <= *layer_by_layer ? "at most" : "more than");
}
