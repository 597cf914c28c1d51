// SPDX-License-Identifier: Apache-2.0
// Graph: an ONNX model as Benanza processes it: shapes are inferred, symbolic dimensions are bound, functions are
// inlined, shape arithmetic is folded, dead nodes and common subexpressions are removed, and nodes are in topological
// order. Created by `import_onnx`.
#pragma once

#include <benanza/base/detail/boxed.hpp>
#include <benanza/error.hpp>
#include <benanza/model/data_type.hpp>
#include <benanza/model/detail/band.hpp>
#include <benanza/model/ramp.hpp>
#include <benanza/model/tensor_shape.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace benanza {

/// Index into `Graph::values`.
using ValueId = std::size_t;

/// Numbers of a small constant tensor, row-major. Integers and booleans are in `ints`, floating-point ones in `floats`.
struct Literal {
  std::vector<std::int64_t> ints{};
  std::vector<double> floats{};
  bool operator==(const Literal&) const = default;
};

/// The location of a tensor in a file: its message, in bytes from the start of the file.
struct StoredPlace {
  std::uint64_t offset = 0, size = 0;
  bool operator==(const StoredPlace&) const = default;
};

/// What the file stores for a sparse tensor.
struct SparseNumbers {
  double bytes = 0;          ///< numbers and their indices
  std::int64_t numbers = 0;  ///< all other elements are 0
};

/// A tensor of the graph.
struct Value {
  std::string name{};
  DataType type = DataType::f32;
  std::vector<std::int64_t> dims{};       ///< any rank; layers of rank above 8 are only modelled
  bool constant = false;                  ///< an initializer, or computed from constants alone
  bool trained = false;                   ///< a weight that training changes; set only by imports for training
  std::optional<Literal> literal{};       ///< its numbers, if it is constant, small and needed to build layers
  detail::Boxed<BandedNumbers> banded{};  ///< its numbers, if constant and many, and if they form a triangle or band
  detail::Boxed<SparseNumbers> sparse{};  ///< set if the file stores only numbers other than 0
  /// Constants of the file from which it is computed, if these take fewer bytes than it does: f16 weights before a
  /// Cast, 4-bit weights before DequantizeLinear. A reader of this value can read these instead.
  std::vector<ValueId> origins{};
  /// The dimensions depend on data (NonZero, branches of different shape, scans over an unknown trip count), directly
  /// or through the inputs: `dims` are the smallest that the value can have, so that a bound stays a lower bound. A
  /// tensor sequence has dims {0}.
  bool data_dependent = false;
  /// Sizes become unknown at the node that makes this value: some of `dims` are 0 because the number is not known.
  /// False for values computed from such a value, whose sizes follow from its sizes.
  bool unknown_size = false;
  std::optional<StoredPlace> stored{};  ///< location of a constant without a literal; only in executable imports
  /// Its numbers, indexed by column - row from the last row on, if it is constant, has many, and they depend only on
  /// that.
  std::shared_ptr<const std::vector<double>> diagonals{};
  /// Its integers, if it is constant and has many: one ramp for all, or one per position along the last axis.
  std::vector<Ramp> ramps{};
  [[nodiscard]] std::int64_t elements() const { return element_count(dims); }
  [[nodiscard]] double bytes() const { return static_cast<double>(elements()) * bits(type) / 8; }
};

/// An attribute of a node. Tensor attributes are kept as literals if they are small, and always in executable imports.
/// Graphs are in `Node::bodies`.
using Attribute = std::variant<std::int64_t, double, std::string, std::vector<std::int64_t>, std::vector<double>,
                               std::vector<std::string>, Literal>;

struct Body;

struct Node {
  std::string name{};    ///< unique in the graph; made from type and output if the file has none
  std::string domain{};  ///< "" is ai.onnx
  std::string op_type{};
  int opset = 0;                                 ///< version of the domain's operator set that the model imports
  std::vector<std::optional<ValueId>> inputs{};  ///< empty for an optional input that is left out
  std::vector<std::optional<ValueId>> outputs{};
  std::map<std::string, Attribute, std::less<>> attributes{};
  std::vector<Body> bodies;                  ///< If: then_branch, else_branch; Loop and Scan: body
  std::optional<std::int64_t> trip_count{};  ///< Loop and Scan, if known

  [[nodiscard]] bool has_input(std::size_t i) const { return i < inputs.size() && inputs[i].has_value(); }
  [[nodiscard]] bool has_output(std::size_t i) const { return i < outputs.size() && outputs[i].has_value(); }

  /// The attribute's value, or `otherwise` if it is absent. Throws InputError if it is present with another type.
  template <class T>
  [[nodiscard]] T attribute(std::string_view key, T otherwise) const {
    const auto found = attributes.find(key);
    if (found == attributes.end()) return otherwise;
    if (const T* value = std::get_if<T>(&found->second)) return *value;
    throw InputError("node '" + name + "' (" + op_type + "): attribute '" + std::string(key) +
                     "' has an unexpected type");
  }
};

/// A loop whose passes stand in a graph one after the other, in place of the loop.
struct UnrolledLoop {
  /// What the loop carries: before its first pass, between passes and after the last one. Empty if nothing needs it.
  std::vector<std::vector<std::optional<ValueId>>> states{};
};

struct Graph {
  std::string name{};  ///< the stem of the file name; tables use it as the name of the model
  std::string file{};  ///< as given
  std::vector<Value> values{};
  std::vector<Node> nodes{};  ///< topological order
  /// Nodes that compute constants from constants, before a request arrives. They are not layers, but what they read
  /// determines how much of the file a constant needs. In topological order, before `nodes`. Only inputs and outputs
  /// are guaranteed to be present.
  std::vector<Node> constant_nodes{};
  std::vector<ValueId> inputs{};  ///< real inputs (no initializers)
  std::vector<ValueId> outputs{};
  std::vector<std::string> output_names{};        ///< as in the file: two of them may be one value; empty for bodies
  std::int64_t batch = 1;                         ///< of the first input that has dimensions, else 1
  std::map<std::string, std::int64_t> dims{};     ///< symbolic dimensions and the sizes they are bound to
  std::map<std::string, std::int64_t> assumed{};  ///< those of `dims` that were not bound explicitly
  std::vector<std::string> warnings{};            ///< parts of the file that are left out or read differently, and why
  std::vector<std::pair<ValueId, ValueId>> captures{};  ///< for a body: (value in here, value of the enclosing graph)
  std::vector<UnrolledLoop> unrolled{};

  [[nodiscard]] const Value& value(ValueId id) const { return values.at(id); }
  /// Input or output `i` of a node. Throws InputError with the node's name if it is left out.
  [[nodiscard]] const Value& input(const Node& node, std::size_t i) const {
    if (!node.has_input(i))
      throw InputError("node '" + node.name + "' (" + node.op_type + "): input " + std::to_string(i) + " is missing");
    return values.at(*node.inputs[i]);
  }
  [[nodiscard]] const Value& output(const Node& node, std::size_t i) const {
    if (!node.has_output(i))
      throw InputError("node '" + node.name + "' (" + node.op_type + "): output " + std::to_string(i) + " is missing");
    return values.at(*node.outputs[i]);
  }
};

/// A graph inside a node.
struct Body {
  std::string label{};  ///< then_branch, else_branch, body
  Graph graph{};
};

}  // namespace benanza
