// SPDX-License-Identifier: Apache-2.0
// Parses, checks and infers the shapes of ONNX files with the ONNX library alone, as a baseline for `benanza layers`.
#include <onnx/checker.h>
#include <onnx/onnx_pb.h>
#include <onnx/shape_inference/implementation.h>

#include <cstdio>
#include <fstream>

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    std::ifstream file(argv[i], std::ios::binary);
    onnx::ModelProto model;
    if (!model.ParseFromIstream(&file)) {
      std::fprintf(stderr, "%s: cannot be parsed\n", argv[i]);
      return 1;
    }
    onnx::checker::check_model(model);
    onnx::shape_inference::InferShapes(model);
  }
  return 0;
}
