// SPDX-License-Identifier: Apache-2.0
// Field numbers of onnx.proto: a tensor, and an entry of a list of strings by name.
#pragma once

#include <cstdint>

namespace benanza::importer {

namespace tensor {
enum : std::uint32_t {
  dims = 1,
  data_type = 2,
  float_data = 4,
  int32_data = 5,
  string_data = 6,
  int64_data = 7,
  name = 8,
  raw_data = 9,
  double_data = 10,
  uint64_data = 11,
  doc_string = 12,
  external_data = 13,
  data_location = 14
};
}
namespace entry {
enum : std::uint32_t { key = 1, value = 2 };
}

}  // namespace benanza::importer
