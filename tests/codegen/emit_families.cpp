// SPDX-License-Identifier: Apache-2.0
// Writes a stand-alone suite that has a layer of each family of some libraries, and a layer that each of them refuses.
//
//   emit_families FOLDER BACKEND...
#include "codegen/standalone.hpp"
#include <benanza/model/layer_signature.hpp>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>

int main(int argc, char** argv) {
  using namespace benanza;
  SuiteSource source{.name = "families", .command = "benanza generate", .backends = {argv + 2, argv + argc}};
  for (const char* signature :
       {"Conv/f32/x=1x16x14x14/w=16x16x3x3/pads=1x1x1x1/post=bias,relu", "Conv/f32/x=1x16x14x14/w=16x16x1x1/post=bias",
        "ConvTranspose/f32/x=1x16x7x7/w=16x8x2x2/strides=2x2", "ConvGradient/f32/of=weights/x=1x3x8x8/w=4x3x3x3",
        "MatMul/f32/a=8x64/b=64x32/b_constant=1", "Pool/f32/x=1x8x28x28/kernel=2x2/strides=2x2",
        "BatchNorm/f32/x=1x64x3136", "Softmax/f32/x=1x1000x1", "Unary/f32/fn=tanh/x=64",
        "Binary/f32/a=128x768/b=128x768", "Attention/f16/q=1x8x64x64/k=1x8x64x64/v=1x8x64x64",
        "Attention/f32/q=2x3x13x16/k=2x3x11x16/v=2x3x11x24", "Reduce/f32/x=2x12/axes=1",
        "Recurrent/f32/cell=rnn/x=50x2x40/hidden=32", "Resize/f32/x=1x3x8x8/y=1x3x16x16"})
    source.layers.add(parse_layer(signature), "model", "node", 1);
  const auto files = standalone_suite(source);
  for (const auto& file : files) {
    std::ofstream out(std::filesystem::path(argv[1]) / file.name);
    if (!(out << file.text).flush()) return 1;
  }
  bool complete = true;
  for (const auto& family : codegen::standalone_families()) {
    const auto is_wanted = [&](const std::string& backend) { return backend == family.by.backend; };
    const auto is_of_family = [&](const SourceFile& file) { return file.name == std::string(family.name) + ".cpp"; };
    if (std::none_of(source.backends.begin(), source.backends.end(), is_wanted)) continue;
    if (std::any_of(files.begin(), files.end(), is_of_family)) continue;
    std::fprintf(stderr, "%s: no layer here is of family %s\n", argv[0], std::string(family.name).c_str());
    complete = false;
  }
  return complete ? 0 : 1;
}
