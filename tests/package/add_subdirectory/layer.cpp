// SPDX-License-Identifier: Apache-2.0
// Reads the signature of a layer and prints it. The library that reads it is compiled as a part of this project.
#include <benanza/model/layer.hpp>
#include <benanza/model/layer_signature.hpp>

#include <cstdio>

int main() {
  const benanza::Layer layer = benanza::parse_layer("Conv/f32/w=4x3x3x3/x=1x3x8x8");
  std::puts(benanza::LayerSignature(layer).text().c_str());
  return benanza::cost(layer).macs == 4 * 6 * 6 * 3 * 3 * 3 ? 0 : 1;  // outputs, and taps of each
}
