// SPDX-License-Identifier: Apache-2.0
// import_onnx: from an ONNX file to a Graph. Without protobuf: only src/onnx uses the ONNX library.
#pragma once

#include <benanza/model/graph.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace benanza {

/// An array for an input, as far as its header tells.
struct InputArray {
  std::vector<std::int64_t> dims{};
  std::string described{};  ///< for errors: `x.npy: f32 1x3`
};

struct ImportOptions {
  std::optional<std::int64_t> batch{};         ///< rewrites the first dimension of every real input that shares it
  std::map<std::string, std::int64_t> dims{};  ///< symbolic dimension -> size; `x.2` is the nameless third one of x
  std::map<std::string, std::vector<std::int64_t>> inputs{};  ///< input name (empty: the only one) -> full shape
  std::map<std::string, std::int64_t> values{};               ///< scalar input name -> its value, e.g. a trip count
  /// Input name -> its array, whose shape binds what is open of the input where nothing above says another size. One of
  /// another rank is an InputError where sizes are open. Names that the model does not have are passed over.
  std::map<std::string, InputArray> arrays{};
  /// What stands where nothing above says another size, the first before the second. Names that the model does not have
  /// are passed over here.
  std::vector<ImportOptions> defaults{};
  /// ONNX node, by its name or a value that it computes -> shapes of its inputs, as a profile of a run has them: they
  /// bind inputs that are open otherwise.
  std::map<std::string, std::vector<std::vector<std::int64_t>>> node_inputs{};
  /// Keeps what executing the graph needs and no bound does: nodes that constants alone compute, where the file has
  /// each tensor (`Value::stored`), numbers of any length, the sizes of what grows in a loop. Quantised operators are
  /// not folded: the nodes are those of the file.
  bool executable = false;
  /// Tells the weights that training changes from other constants (`Value::trained`), and keeps the nodes that compute
  /// with them: initializers of floating-point numbers, and fills with another number than 0 or 1, which stand for them
  /// in files without weights. A reshaped or converted weight is one too.
  bool training = false;
};

/// Dimensions are not bound, or shapes depend on the value of a scalar input, and the model does not tell them. The
/// message names them.
struct UnboundError : InputError {
  using InputError::InputError;
  std::vector<std::pair<std::string, std::int64_t>> likely{};  ///< a size for each, with which it can be imported
  std::vector<std::pair<std::string, std::int64_t>> values{};  ///< likewise for scalar inputs
  std::map<std::string, std::int64_t> assumed{};               ///< as in Graph
};

/// Reads, checks, binds, infers shapes, inlines functions and folds. Costs the structure of the file, not its weights:
/// tensor payloads are skipped on the wire, external data is never opened. A batch that nobody bound is 1, and a
/// dimension for which one size alone fits the graph has that size (`Graph::assumed`). Throws InputError (broken or
/// unbound model; the message starts with the file's name and says what was found and expected), UnboundError of it
/// where sizes are all that it lacks, and UsageError (an option names nothing in the model).
[[nodiscard]] Graph import_onnx(const std::filesystem::path& file, const ImportOptions& options = {});

}  // namespace benanza
