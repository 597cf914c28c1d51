// SPDX-License-Identifier: Apache-2.0
// Inputs as a file declares them: sizes, and a name for each open size.
#pragma once

#include <onnx/onnx_pb.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace benanza::importer {

/// A dimension: a size or a symbol.
struct Dim {
  std::optional<std::int64_t> size{};
  std::string symbol{};
  /// The file gives no name, but `?`, nothing or a negative number. The symbol is made from the input and the axis,
  /// such as `x.2`, and is unique.
  bool anonymous = false;
};

struct DeclaredInput {
  const onnx::ValueInfoProto* proto = nullptr;
  std::optional<std::vector<Dim>> dims{};  ///< empty if not even the rank is known
};

/// The inputs that are not initializers, in order.
[[nodiscard]] std::vector<DeclaredInput> declared_inputs(const onnx::GraphProto& graph);

/// Whether the name of a symbol means the number of items in a batch: `batch_size`, `bs`.
[[nodiscard]] bool says_batch(std::string_view symbol);

/// Whether the name of a symbol means some other size: `sequence_length`, `height`.
[[nodiscard]] bool says_other(std::string_view symbol);

/// The names in a sum, `past + sequence` or `past + 1`, and the number in it; empty if it is not a sum.
struct Sum {
  std::vector<std::string> symbols{};
  std::int64_t number = 0;
};
[[nodiscard]] std::optional<Sum> as_sum(std::string_view symbol);

}  // namespace benanza::importer
