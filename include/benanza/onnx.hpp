// SPDX-License-Identifier: Apache-2.0
// import_onnx: reads an ONNX file into a Graph. OnnxFile: a file that is read once for several graphs. Callers do not
// need protobuf: only src/onnx uses the ONNX library.
#pragma once

#include <benanza/model/graph.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace benanza {

/// An array for an input, as described by its header.
struct InputArray {
  std::vector<std::int64_t> dims{};
  std::string described{};  ///< for errors: `x.npy: f32 1x3`
};

struct ImportOptions {
  std::optional<std::int64_t> batch{};         ///< sets the batch of every input that shares it (docs/program.md)
  std::map<std::string, std::int64_t> dims{};  ///< symbolic dimension -> size; `x.2` is the unnamed third one of x
  std::map<std::string, std::vector<std::int64_t>> inputs{};  ///< input name (empty: the only one) -> full shape
  std::map<std::string, std::int64_t> values{};               ///< scalar input name -> its value, e.g. a trip count
  /// Input name -> its array. The array's shape binds those dimensions of the input to which no option above gives a
  /// size. If sizes are open, an array of another rank is an InputError. Names that the model does not have are
  /// ignored.
  std::map<std::string, InputArray> arrays{};
  /// Used if no option above gives a size; earlier entries take precedence. Names that the model does not have are
  /// ignored here.
  std::vector<ImportOptions> defaults{};
  /// ONNX node, by its name or by a value that it computes -> shapes of its inputs, as the profile of a run records
  /// them: they bind inputs that are otherwise open.
  std::map<std::string, std::vector<std::vector<std::int64_t>>> node_inputs{};
  /// Keeps what is needed to execute the graph but not to compute a bound: nodes that only constants feed, if the file
  /// has each tensor (`Value::stored`), literals of any length, and the sizes of what grows in a loop. Quantised
  /// operators are not folded: the nodes are those of the file.
  bool executable = false;
  /// Distinguishes the weights that training changes from other constants (`Value::trained`), and keeps the nodes that
  /// compute with them. These weights are initializers of floating-point numbers, and fills with a number other than 0
  /// or 1, which stand for weights in files without them. A reshaped or converted weight counts too.
  bool training = false;
};

/// Dimensions are not bound, or shapes depend on the value of a scalar input, and the model does not determine them.
/// The message names them.
struct UnboundError : InputError {
  using InputError::InputError;
  std::vector<std::pair<std::string, std::int64_t>> likely{};  ///< a size for each, with which it can be imported
  std::vector<std::pair<std::string, std::int64_t>> values{};  ///< the same for scalar inputs
  std::map<std::string, std::int64_t> assumed{};               ///< as in Graph
};

/// Reads, checks and binds the model, infers shapes, inlines functions and folds. The cost depends on the structure of
/// the file, not on its weights: tensor payloads are skipped on the wire, except for the ends of large tensors and for
/// those that seem to be equal. External data is opened only for this, if it is there. An unbound
/// batch dimension is 1, and a dimension for which only one size fits the graph gets that size (`Graph::assumed`).
/// Throws InputError (broken or unbound model; the message starts with the file's name and says what was found and
/// expected), its subclass UnboundError if only sizes are missing, and UsageError (an option names nothing in the
/// model).
[[nodiscard]] Graph import_onnx(const std::filesystem::path& file, const ImportOptions& options = {});

/// An ONNX file that is read and checked once. Graphs at different sizes are built from it.
class OnnxFile {
 public:
  /// `executable`: whether its graphs are to be executed, as in ImportOptions. Throws InputError, as import_onnx does.
  explicit OnnxFile(const std::filesystem::path& file, bool executable = false);
  OnnxFile(OnnxFile&&) noexcept;
  OnnxFile& operator=(OnnxFile&&) noexcept;
  ~OnnxFile();

  /// What import_onnx returns for these options and throws for them; `executable` is that of the file. `again`: graphs
  /// at other batches will follow, for which what is known of this one is kept.
  [[nodiscard]] Graph graph(const ImportOptions& options = {}, bool again = false) const;

 private:
  struct Parsed;
  std::unique_ptr<Parsed> parsed_;
};

}  // namespace benanza
