// SPDX-License-Identifier: Apache-2.0
// Executor: a model with its weights, run once per call. A plan of the given backends runs a layer if it computes what
// the node asks for; otherwise the reference runs it, in double precision. A node that neither can compute is refused:
// no result is that of another model. An executor is not an engine: it fuses nothing.
#pragma once

#include <benanza/execution/not_executable.hpp>
#include <benanza/execution/tensor.hpp>
#include <benanza/model/units.hpp>
#include <benanza/onnx.hpp>
#include <benanza/plan/backend.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace benanza {

struct ExecutorOptions {
  ImportOptions import{};                                  ///< sizes; `executable` is set by the executor
  std::vector<std::shared_ptr<const Backend>> backends{};  ///< the processor's, preferred first; empty: reference
  int threads = 1;                                         ///< of each plan
  /// For files without weights: random numbers (`random_weights`) replace the output of a ConstantOfShape whose shape
  /// is an initializer.
  std::optional<std::uint64_t> weight_seed{};
};

/// An input or an output of the model.
struct TensorInfo {
  std::string name{};
  DataType type = DataType::f32;
  Tensor::Dims dims{};          ///< the minimum if they depend on data
  bool data_dependent = false;  ///< whether they do
};

/// The execution of one node. Nodes of a loop's body occur once per iteration.
struct NodeRun {
  std::string node{}, op_type{};
  /// `onednn brgconv:avx2,threads=1`; `reference`, also for what the executor computes itself; empty for nodes that
  /// compute nothing (views, sizes).
  std::string plan{};
  Seconds time{};
};

/// A plan whose result differs from the reference's.
struct Disagreement {
  std::string node{}, plan{};
  double difference = 0, tolerance = 0;  ///< relative to the largest magnitude
};

struct RunOptions {
  bool check = false;  ///< every plan's outputs are compared with the reference, at samples, on the same inputs
};

struct Execution {
  std::map<std::string, Tensor> outputs{};  ///< by name
  std::vector<std::string> not_computed{};  ///< outputs that no layer has, such as the mean of a LayerNormalization
  std::vector<NodeRun> nodes{};             ///< in the order of the calls
  Seconds time{};                           ///< the whole run, without checks
  std::size_t checked = 0;                  ///< outputs of plans that were compared
  std::vector<Disagreement> disagreements{};

  /// The time that the reference took.
  [[nodiscard]] Seconds by_reference() const;
};

class Executor {
 public:
  /// Imports the model, maps its weights, computes constant values once, and prepares plans. Throws as `import_onnx`
  /// does, InputError for missing weights and for constant indices out of range, UsageError for a backend of a device,
  /// and NotExecutable if this can be seen before data is known.
  [[nodiscard]] static Executor load(const std::filesystem::path& file, ExecutorOptions options = {});
  /// The same for a graph that was imported with `executable`; its file is read if it has weights.
  [[nodiscard]] static Executor load(Graph graph, ExecutorOptions options = {});
  ~Executor();
  Executor(Executor&& other) noexcept;
  Executor& operator=(Executor&& other) noexcept;

  [[nodiscard]] const Graph& graph() const;
  [[nodiscard]] const std::vector<TensorInfo>& inputs() const;
  [[nodiscard]] const std::vector<TensorInfo>& outputs() const;

  /// Runs the model once. Every input must be given, with its type and size. Must not be called by two threads at a
  /// time. Throws InputError for inputs that are missing, unknown or of another type or size, for values that are not
  /// finite if results are checked, and for data that does not fit the model (an index out of range), and
  /// NotExecutable.
  [[nodiscard]] Execution run(const std::map<std::string, Tensor>& inputs, const RunOptions& options = {});

 private:
  class State;
  explicit Executor(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace benanza
