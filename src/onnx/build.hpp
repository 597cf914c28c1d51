// SPDX-License-Identifier: Apache-2.0
// Builder: traverses a checked model once, in order. On the way it infers, folds, removes common subexpressions and
// emits nodes. In topological order one pass is a fixed point: when a node is visited, everything that can be known
// about its inputs is known.
#pragma once

#include "bind.hpp"
#include "frame.hpp"
#include "rebatch.hpp"
#include "rules.hpp"
#include <benanza/model/graph.hpp>
#include <benanza/operators/facts.hpp>

#include <onnx/defs/schema.h>
#include <onnx/onnx_pb.h>

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace benanza::importer {

/// Shapes that do not fit each other, as opposed to something broken or unknown.
struct ShapeError : InputError {
  using InputError::InputError;
};

/// An error that already names its place.
struct LocatedError : InputError {
  explicit LocatedError(const std::string& what, bool of_shapes = false) : InputError(what), of_shapes(of_shapes) {}
  bool of_shapes;  ///< it was a ShapeError
};

/// How many nodes an import may visit more often than once in each pass over the file. A loop whose passes change sizes
/// is visited for each pass, and each level of nested loops doubles the visits.
struct Visits {
  std::size_t nodes = 0;  ///< of the file, with those of its bodies
  std::size_t more = 0;   ///< visits that are left for all passes together

  explicit Visits(const onnx::ModelProto& model);
};

class Builder {
 public:
  /// `before` is what a pass at the file's own batch has recorded; that pass fills `record`.
  Builder(const onnx::ModelProto& model, const Binding& binding, Visits& visits, LazyHistory* before = nullptr,
          History* record = nullptr);

  [[nodiscard]] Graph build();

  /// How many nodes `build` has visited, even if it threw.
  [[nodiscard]] std::size_t visited() const { return visited_; }
  /// Sizes in the constants read by the first node that could not be built.
  [[nodiscard]] const std::vector<std::int64_t>& sizes_at_error() const { return sizes_at_error_; }
  /// Inputs of one integer without a value that this node depends on.
  [[nodiscard]] const std::vector<std::string>& scalars_at_error() const { return scalars_at_error_; }
  /// Whether some node may combine the items of a batch: a product of two computed tensors, or a recurrent operator.
  [[nodiscard]] bool may_combine_items() const { return may_combine_items_; }
  /// `'name' (MatMul)`: the first node that does, if such nodes take a hundredth or more of all products. A product
  /// does if its work grows faster than the batch; a recurrent operator if its sequences become longer. Empty if there
  /// is none.
  [[nodiscard]] std::string combines_items() const;
  /// Whether the batch changes the size of some output of the model.
  [[nodiscard]] bool batch_reaches_output() const;

 private:
  using Ids = std::vector<std::optional<ValueId>>;
  using Types = std::vector<onnx::TypeProto>;

  /// What is known about an operator: the library's schema (nullptr if it has none), and Benanza's own rule if it takes
  /// precedence over the library's.
  struct Operator {
    const onnx::OpSchema* schema = nullptr;
    Rule rule = nullptr;
    const OperatorFacts* facts = nullptr;  ///< never nullptr after find_operator
  };

  /// One node during the passes.
  struct Step {
    const onnx::NodeProto& proto;
    Scope& scope;
    Ids inputs{};
    Node node{};
    Operator op{};
    bool constant = false;             ///< computed from constants alone
    bool trained = false;              ///< reads a weight that training changes
    bool before_weights = true;        ///< reads nothing that depends on such a weight
    bool data_dependent = false;       ///< some input is data dependent
    bool merge = true;                 ///< may be merged with an equal node
    std::optional<Literal> literal{};  ///< value of its output, if the node is kept nevertheless
    std::optional<Within> within{};    ///< position of the new batch in the output of a Reshape
  };

  // build.cpp
  void add_initializers(Scope& scope);
  void walk(Scope& scope);
  void visit(Scope& scope, const onnx::NodeProto& proto);
  [[nodiscard]] Operator find_operator(const std::string& domain, const std::string& op_type, int opset);
  ValueId add_stored(Scope& scope, const void* place, Value value);
  void note_sizes(const Scope& scope, const onnx::NodeProto& proto);
  void note_scalars(const Scope& scope, const onnx::NodeProto& proto);
  [[nodiscard]] int opset_of(const onnx::NodeProto& node) const;
  [[nodiscard]] bool deterministic(const Step& step) const;
  void settle_untrained(Scope& scope, const onnx::NodeProto& proto);
  static void settle_elementwise(Scope& scope, const onnx::NodeProto& proto);
  [[nodiscard]] static bool is_before_weights(const Frame& frame, ValueId id);
  void warn_of_parameters();
  void note_exceptions();
  bool visit_constant(Step& step);
  bool visit_folded(Step& step);
  static void note_filled(const Step& step);
  [[nodiscard]] Types types_of(Step& step);
  [[nodiscard]] static std::vector<const Value*> operands(const Step& step);
  [[nodiscard]] std::int64_t channel_block();
  [[nodiscard]] Types rule_types(const Step& step);
  [[nodiscard]] Types inferred_types(Step& step);
  [[nodiscard]] std::optional<onnx::TypeProto> declared_type(const Step& step, const std::string& name);
  [[nodiscard]] static std::string unknown_cause(const Step& step);
  [[nodiscard]] Value settled(Step& step, const std::string& name, onnx::TypeProto& type);
  void define(Step& step, Types types);
  /// `type`: null for a tensor.
  void define_value(Step& step, const std::string& name, Value value, const onnx::TypeProto* type = nullptr);
  void alias(Step& step, int output, ValueId id);
  [[nodiscard]] static bool has_stored_shape(const Step& step);
  [[nodiscard]] static bool fills_weight(const Step& step);
  [[nodiscard]] static std::vector<ValueId> origins_of(const Step& step);
  void note_constant(const Step& step);
  [[nodiscard]] static bool passes_on(const Step& step, const Value& y);
  [[nodiscard]] static std::optional<std::size_t> unchanged_operand(const Step& step, const Value& y);
  void emit(Step& step, std::vector<Value> values, const Types& types);
  [[nodiscard]] bool merged(Step& step);
  [[nodiscard]] std::vector<std::size_t> identities_of(Frame& frame, const OperatorFacts& facts, const Ids& inputs);
  [[nodiscard]] std::size_t identity_of(Frame& frame, ValueId id);
  [[nodiscard]] std::size_t key_of(Frame& frame, const Step& step, const Ids& inputs);
  [[nodiscard]] bool same_node(Frame& frame, const Node& earlier, const onnx::NodeProto& earlier_proto,
                               const Step& step, const Ids& inputs);
  [[nodiscard]] const Node* find_same(Frame& frame, const Step& step, const Ids& inputs, std::size_t key);
  [[nodiscard]] static bool go_outside(const Frame& body, Ids& inputs);
  [[nodiscard]] std::vector<ValueId> outputs_of(const Scope& scope);

  // frozen_batch.cpp
  [[nodiscard]] Types reshape_types(Step& step);
  [[nodiscard]] Types expand_types(Step& step);
  void adapt_sizes(Step& step);
  void adapt_constants(Step& step);
  void resize_constant(Step& step, std::size_t input, Dims dims);
  void repeat_constant(Step& step, std::size_t input, const Dims& dims);
  void remember(const Scope& scope, const std::string& name, ValueId id);
  [[nodiscard]] const PastValue* past(const Scope& scope, const std::string& name) const;
  [[nodiscard]] bool accepted_by_consumers(Step& step, const Dims& candidate);
  void inherit_position(Step& step);
  void note_combined_items(const Step& step);

  // compress.cpp
  bool visit_compress(Step& step);

  // sequences.cpp
  [[nodiscard]] std::optional<std::vector<ValueId>> tensors_of(Frame& frame, ValueId sequence);
  std::vector<ValueId> visit_made(Step& step, const std::string& op_type, const std::vector<ValueId>& inputs,
                                  const std::map<std::string, std::vector<std::int64_t>>& attributes,
                                  std::size_t outputs, const std::string& name);
  [[nodiscard]] std::optional<std::vector<ValueId>> split_tensors(Step& step);
  bool visit_sequence(Step& step);

  // control_flow.cpp
  void visit_if(Step& step);
  void put_in_place(Step& step, const onnx::GraphProto& branch);
  [[nodiscard]] std::unique_ptr<Frame> try_branch(Step& step, const onnx::GraphProto& branch, const char* label);
  [[nodiscard]] std::unique_ptr<Frame> build_pass(Step& step, const onnx::GraphProto& body, const Scope& around,
                                                  std::span<const Dims> sizes);
  [[nodiscard]] static std::optional<std::int64_t> trip_count(const Step& step);
  void visit_loop(Step& step);
  void finish_loop(Step& step, const Frame& frame);
  void visit_scan(Step& step);
  [[nodiscard]] const onnx::GraphProto& body_of(const Step& step, const std::string& attribute) const;
  [[nodiscard]] std::unique_ptr<Frame> open_body(Step& step);
  void finish_body(Step& step, Scope& scope, const std::string& label);
  void finish_control_flow(Step& step, std::vector<Value> values, const Frame& body);
  [[nodiscard]] ValueId add_formal(Scope& scope, const std::string& name, Value value,
                                   const onnx::TypeProto* outer = nullptr);

  // unroll.cpp
  /// How a pass changes the sizes of what it carries.
  struct SizeChange {
    bool any = false;
    bool is_known = true;       ///< data do not determine the sizes after the pass
    bool grows = false;         ///< some size
    bool shrinks = false;       ///< some size, or a rank changes
    std::vector<Dims> steps{};  ///< by how much, for each value; empty if its rank changes
  };
  struct Unrolled;
  [[nodiscard]] static SizeChange change_of_sizes(const Step& step);
  void unroll(Step& step, const onnx::GraphProto& body);
  void visit_constants(Unrolled& loop);
  void add_pass(Step& step, Unrolled& loop);
  [[nodiscard]] bool add_passes(Step& step, Unrolled& loop, std::int64_t count);
  void collect(Step& step, const Unrolled& loop);

  const onnx::ModelProto& model_;
  const Binding& binding_;
  Visits& visits_;
  LazyHistory* before_;
  History* record_;
  Frame root_{};
  int depth_ = 0, loops_ = 0;       ///< bodies and loops that enclose what is visited
  std::int64_t channel_block_ = 0;  ///< 0 if not determined yet
  std::unordered_map<const onnx::GraphProto*, std::string> impossible_{};  ///< why the shapes of branches do not fit
  std::size_t visited_ = 0;
  std::vector<std::int64_t> sizes_at_error_{};
  std::vector<std::string> scalars_at_error_{};
  std::vector<Dims> output_dims_{};
  bool may_combine_items_ = false;
  std::string combines_items_{};      ///< the first node that does
  double products_ = 0, excess_ = 0;  ///< multiplications of all products, and those that independent items do not take
  std::int64_t unrolled_nodes_ = 0;   ///< visited in passes that stand in place of their loops
  Frame* unrolled_into_ = nullptr;    ///< the outermost frame into which a loop is being unrolled
  std::unordered_map<const void*, ValueId> stored_once_{};  ///< constants of its passes -> values of that frame
  std::deque<onnx::NodeProto> made_nodes_{};                ///< nodes that are visited instead of nodes of the model
  std::map<std::string, int, std::less<>> opsets_{};
  std::unordered_map<std::string, Operator> operators_{};
  std::map<std::pair<const Frame*, ValueId>, Within> within_{};
};

}  // namespace benanza::importer
