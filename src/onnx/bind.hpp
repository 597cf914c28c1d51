// SPDX-License-Identifier: Apache-2.0
// Binding: turns the inputs that a file declares, and what the caller asks for, into inputs of known shape.
#pragma once

#include <benanza/onnx.hpp>

#include <onnx/onnx_pb.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace benanza::importer {

struct BoundInput {
  const onnx::ValueInfoProto* proto = nullptr;
  DataType type = DataType::f32;
  std::vector<std::int64_t> dims{};
  bool opaque = false;                  ///< a sequence, a map or an optional: no shape
  std::optional<std::int64_t> value{};  ///< bound to a number: a constant, not an input any more
};

struct Binding {
  std::vector<BoundInput> inputs{};
  std::map<std::string, std::int64_t> dims{};
  std::map<std::string, std::int64_t> assumed{};  ///< those of `dims` that are 1 because they look like the batch
  std::set<std::string> batch_symbols{};          ///< those of `dims` that are the batch
  std::vector<std::string> open{};                ///< symbols that stay unbound; 1 in `inputs`
  std::vector<std::string> unbound{};             ///< everything unbound, in words, including shapes of unknown rank
  std::int64_t batch = 1;
  bool leads = true;            ///< the batch is the first axis of its input
  bool is_frozen = false;       ///< the file gives the batch as a number
  bool is_asked = false;        ///< a batch was requested
  bool may_be_second = false;   ///< nothing says which axis is the batch, and the first one is frozen and not 1
  std::size_t untold_axis = 0;  ///< the axis that was assumed
  /// The batch that the file was made for, if another one is requested; 1 if the file leaves it open.
  std::optional<std::int64_t> old_batch{};
  bool executable = false;  ///< as in ImportOptions
  bool training = false;    ///< as in ImportOptions
};

/// `axis`: the batch of an input if neither the name of a dimension nor a recurrent operator says which axis it is.
/// Throws InputError for an invalid size, and UsageError if an option names nothing in the model.
[[nodiscard]] Binding bind_inputs(const onnx::GraphProto& graph, const ImportOptions& options, std::size_t axis = 0);

/// The same inputs with the batch that the file was made for.
[[nodiscard]] Binding at_old_batch(const Binding& binding, const ImportOptions& options, const onnx::GraphProto& graph);

}  // namespace benanza::importer
