// SPDX-License-Identifier: Apache-2.0
// Any text is a layer's signature or an error of Benanza's family. A canonical text is its own canonical text, and the
// layer has a cost.
#include <benanza/error.hpp>
#include <benanza/model/layer.hpp>
#include <benanza/model/layer_signature.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace benanza;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::optional<Layer> layer;
  try {
    layer = parse_layer(text);
  } catch (const Error&) {
    return 0;
  }
  const LayerSignature canonical(*layer);
  if (LayerSignature::parse(canonical.text()) != canonical) std::abort();
  static_cast<void>(cost(*layer));
  return 0;
}
