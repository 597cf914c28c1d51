// SPDX-License-Identifier: Apache-2.0
// ModelLayers: a model's layers in both forms, the input of `analyze`. A LayerGraph has occurrences of layers with
// their edges. `make_layer_graph` builds the single form, `fuse` the fused form, `make_model_layers` both.
#pragma once

#include <benanza/model/critical_path.hpp>
#include <benanza/model/detail/dead_work.hpp>
#include <benanza/model/floor_exception.hpp>
#include <benanza/model/form.hpp>
#include <benanza/model/shared_layer.hpp>
#include <benanza/model/units.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace benanza {

using TensorId = std::size_t;

/// Bytes of a stored tensor that another tensor refers to (through views, slices, expansions).
struct Share {
  TensorId base = 0;
  Bytes bytes{};
};

struct LayerTensor {
  std::string name{};
  DataType type = DataType::f32;
  std::vector<std::int64_t> dims{};
  bool constant = false;
  bool trained = false;                  ///< a weight that every call updates
  bool output = false;                   ///< leaves the graph, or control flow reads it: fusion may not absorb it
  std::optional<Bytes> stored{};         ///< bytes that the file has for a sparse constant
  std::optional<double> scalar{};        ///< the number of a constant with one element
  double needed = 1;                     ///< the share that all of its readers need together
  std::vector<std::size_t> producers{};  ///< occurrences; two if branches join
  std::vector<std::size_t> consumers{};  ///< one entry per use: a value used twice is listed twice
  std::vector<Share> behind{};           ///< distinct elements that a reader of it has to fetch
  [[nodiscard]] Bytes bytes() const { return {static_cast<double>(element_count(dims)) * bits(type) / 8}; }
};

/// Layer for the members [first, first + count) of a group: one way to compute this part in one call.
struct Piece {
  std::size_t first = 0;
  std::size_t count = 0;
  SharedLayer layer{};
};

/// One branch of one If node.
struct Branch {
  std::size_t choice = 0;  ///< index into LayerGraph::choices
  std::size_t branch = 0;
  bool operator==(const Branch&) const = default;
};

struct Choice {
  std::string node{};
  std::vector<std::string> labels{};  ///< then_branch, else_branch
  std::vector<Branch> within{};       ///< the branches that enclose it
};

/// How much of an occurrence the outputs of the model need, as shares (live_elements.hpp).
struct LiveShare {
  double flops = 1;
  std::vector<double> inputs{};        ///< share of what it touches of each; empty: all of each
  std::vector<double> outputs{};       ///< the same
  double made = 1;                     ///< share of the first result that is neither known nor equal to other elements
  std::vector<std::string> readers{};  ///< readers of only a part of its results
  bool conditional = false;            ///< data determine whether more is needed: what does not count is not dead
  [[nodiscard]] double input(std::size_t k) const { return k < inputs.size() ? inputs[k] : 1; }
  [[nodiscard]] double output(std::size_t k) const { return k < outputs.size() ? outputs[k] : 1; }
};

/// Arithmetic and compulsory bytes: distinct elements of the tensors that views refer to.
struct Work {
  Flops flops{};
  Bytes weights{}, activations{}, written{};
};

struct Occurrence {
  SharedLayer layer{};
  std::vector<std::string> nodes{};  ///< ONNX node names, in order
  /// Occurrences of the single form that it covers, in order; in the single form, the occurrence itself. Empty for a
  /// Slice that moved strides need.
  std::vector<std::size_t> members{};
  /// Fused form, for groups: first the whole group, if one call can compute it, then parts that are one call too. The
  /// first piece has the layer of the group. A piece with one member replaces the layer of this member in the single
  /// form.
  std::vector<Piece> pieces{};
  std::vector<std::optional<TensorId>> inputs{};
  std::vector<TensorId> outputs{};
  std::vector<Predecessor> predecessors{};
  std::int64_t repeat = 1;                              ///< product of the trip counts of the enclosing loops
  std::int64_t serial_repeat = 1;                       ///< the part of it that a loop-carried value serialises
  std::vector<Branch> branches{};                       ///< enclosing branches, outermost first
  Bytes read_weights{}, read_activations{}, written{};  ///< compulsory: distinct elements that views refer to
  LiveShare live{};
  Flops absorbed{};  ///< arithmetic that a product absorbs (absorbed_steps.hpp)
  Work needed{};     ///< the rest without work that no output needs

  /// Whether member `k` has another layer here than in the single form.
  [[nodiscard]] bool replaces(std::size_t k) const {
    return std::any_of(pieces.begin(), pieces.end(),
                       [&](const Piece& piece) { return piece.first == k && piece.count == 1; });
  }
  [[nodiscard]] bool replaces_any() const {
    return std::any_of(pieces.begin(), pieces.end(), [](const Piece& piece) { return piece.count == 1; });
  }
};

/// Weights that passes of a recurrence read again, since each of them needs the result of the pass before it.
struct Reread {
  Bytes weights{};   ///< of one pass; what the caches hold of them need not be read
  double times = 0;  ///< passes after the first one
};

struct LayerGraph {
  std::string model{};
  std::string file{};
  Form form = Form::single;
  std::int64_t batch = 1;
  std::map<std::string, std::int64_t> dims{}, assumed{};
  std::vector<LayerTensor> tensors{};
  std::vector<Occurrence> layers{};  ///< topological order
  std::vector<Choice> choices{};
  std::vector<std::string> unknown{};   ///< why every bound is partial: trip counts and sizes that depend on data
  Bytes model_reads{}, model_writes{};  ///< inputs and weights that every run needs, each once; outputs
  std::vector<Reread> rereads{};        ///< by loops and recurrent layers, in addition to `model_reads`
  Bytes weights{};                      ///< touched, each once; includes those of all branches, of which only one runs
  std::vector<DeadWork> dead{};         ///< for the single form, largest first
  std::vector<FloorException> exceptions{};  ///< for the single form, largest first
};

struct ModelLayers {
  LayerGraph single{};  ///< a layer is an ONNX node
  LayerGraph fused{};   ///< a layer is a group of nodes that one library call can compute
};

}  // namespace benanza
