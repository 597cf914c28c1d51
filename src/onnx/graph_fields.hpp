// SPDX-License-Identifier: Apache-2.0
// Field numbers of onnx.proto: a model, and what it consists of.
#pragma once

#include <cstdint>

namespace benanza::importer {

namespace model {
enum : std::uint32_t {
  ir_version = 1,
  producer_name = 2,
  graph = 7,
  opset_import = 8,
  metadata_props = 14,
  functions = 25
};
}
namespace graph {
enum : std::uint32_t {
  node = 1,
  name = 2,
  initializer = 5,
  input = 11,
  output = 12,
  value_info = 13,
  sparse_initializer = 15
};
}
namespace node {
enum : std::uint32_t {
  input = 1,
  output = 2,
  op_type = 4,
  attribute = 5,
  doc_string = 6,
  metadata_props = 9,
  device_configurations = 10
};
}
namespace attribute {
enum : std::uint32_t {
  name = 1,
  t = 5,
  g = 6,
  tensors = 10,
  graphs = 11,
  doc_string = 13,
  type = 20,
  sparse_tensor = 22,
  sparse_tensors = 23
};
}
namespace function {
enum : std::uint32_t { node = 7, doc_string = 8, attribute_proto = 11, metadata_props = 14 };
}
namespace sparse {
enum : std::uint32_t { values = 1, indices = 2, dims = 3 };
}

}  // namespace benanza::importer
