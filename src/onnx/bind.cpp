// SPDX-License-Identifier: Apache-2.0
#include "bind.hpp"

#include "proto.hpp"
#include "rules.hpp"
#include <benanza/error.hpp>

#include <algorithm>
#include <set>
#include <unordered_set>

namespace benanza::importer {
namespace {

using Dims = std::vector<std::int64_t>;
using Options = ImportOptions;

// Larger ones are mistakes, and sums of them would overflow in shape rules.
constexpr std::int64_t largest_dim = std::int64_t{1} << 48;

std::string quoted_list(const std::vector<std::string>& names) {
  if (names.empty()) return "none";
  std::string text;
  for (const auto& name : names) text += (text.empty() ? "'" : ", '") + name + "'";
  return text;
}

std::vector<const onnx::ValueInfoProto*> real_inputs(const onnx::GraphProto& graph) {
  std::unordered_set<std::string_view> constants;
  for (const auto& initializer : graph.initializer()) constants.insert(initializer.name());
  std::vector<const onnx::ValueInfoProto*> inputs;
  for (const auto& input : graph.input())
    if (!constants.contains(input.name())) inputs.push_back(&input);
  return inputs;
}

/// A dimension as the file has it: a size, a symbol, or neither.
struct Dim {
  std::optional<std::int64_t> size{};
  std::string symbol{};
};

struct Declared {
  const onnx::ValueInfoProto* proto = nullptr;
  std::optional<std::vector<Dim>> dims{};
};

Declared declared(const onnx::ValueInfoProto& input) {
  Declared result{.proto = &input, .dims = std::nullopt};
  if (!input.type().has_tensor_type() || !input.type().tensor_type().has_shape()) return result;
  result.dims.emplace();
  for (const auto& dim : input.type().tensor_type().shape().dim()) {
    if (dim.has_dim_value()) result.dims->push_back({.size = dim.dim_value(), .symbol = {}});
    else
      result.dims->push_back({.size = std::nullopt, .symbol = dim.has_dim_param() ? dim.dim_param() : std::string()});
  }
  return result;
}

void check_size(std::int64_t size, const std::string& what) {
  if (size < 0 || size > largest_dim) throw UsageError(what + " is " + std::to_string(size) + ", expected 0 to 2^48");
}

class Binder {
 public:
  Binder(const onnx::GraphProto& graph, const Options& options) : options_(options) {
    for (const auto* input : real_inputs(graph)) inputs_.push_back(declared(*input));
  }

  Binding bind() {
    check_names();
    bind_batch();
    bind_shapes();
    Binding binding{.inputs = {}, .dims = {}, .batch = 1, .old_batch = std::nullopt};
    for (const auto& input : inputs_) binding.inputs.push_back(bound(input));
    refuse_unbound();
    for (const auto& [symbol, size] : sizes_)
      if (symbols_.contains(symbol)) binding.dims.emplace(symbol, size);
    const auto first = std::find_if(binding.inputs.begin(), binding.inputs.end(),
                                    [](const BoundInput& input) { return !input.dims.empty() && !input.value; });
    if (first == binding.inputs.end()) return binding;
    binding.batch = first->dims.front();
    const auto& leading = leading_dim();
    const std::int64_t made_for = leading && leading->size ? *leading->size : 1;
    if (made_for != binding.batch) binding.old_batch = made_for;
    return binding;
  }

 private:
  void check_names() {
    std::vector<std::string> names;
    for (const auto& input : inputs_) {
      names.push_back(input.proto->name());
      if (!input.dims) continue;
      for (const auto& dim : *input.dims)
        if (!dim.symbol.empty()) symbols_.insert(dim.symbol);
    }
    for (const auto& [name, size] : options_.dims) {
      if (!symbols_.contains(name))
        throw UsageError("no symbolic dimension '" + name + "': the model's are " +
                         quoted_list({symbols_.begin(), symbols_.end()}));
      check_size(size, "dimension '" + name + "'");
      sizes_[name] = size;
    }
    const auto exists = [&](const std::string& name) {
      return std::find(names.begin(), names.end(), name) != names.end();
    };
    for (const auto& [name, shape] : options_.inputs)
      if (!exists(name)) throw UsageError("no input '" + name + "': the model's are " + quoted_list(names));
    for (const auto& [name, value] : options_.values)
      if (!exists(name)) throw UsageError("no input '" + name + "': the model's are " + quoted_list(names));
  }

  /// The first dimension of the first input that has one.
  [[nodiscard]] std::optional<Dim> leading_dim() const {
    for (const auto& input : inputs_)
      if (input.dims && !input.dims->empty() && !options_.values.contains(input.proto->name()))
        return input.dims->front();
    return std::nullopt;
  }

  void bind_batch() {
    if (!options_.batch) return;
    if (*options_.batch < 1) throw UsageError("batch " + std::to_string(*options_.batch) + ", expected 1 or more");
    check_size(*options_.batch, "batch");
    const auto leading = leading_dim();
    if (!leading) throw UsageError("no input has a dimension that could be the batch");
    if (!leading->symbol.empty()) {
      if (const auto found = sizes_.find(leading->symbol); found != sizes_.end() && found->second != *options_.batch)
        throw UsageError("batch " + std::to_string(*options_.batch) + ", but dimension '" + leading->symbol +
                         "' is bound to " + std::to_string(found->second));
      sizes_[leading->symbol] = *options_.batch;
    }
  }

  /// Whether the first dimension of `input` is the batch: it is what the first input begins with. A vector of one
  /// element may be anything, so it takes no part.
  [[nodiscard]] bool shares_batch(const Declared& input, const Dim& leading) const {
    if (!input.dims || input.dims->empty()) return false;
    const Dim& own = input.dims->front();
    if (!leading.symbol.empty()) return own.symbol == leading.symbol;
    if (!leading.size) return !own.size && own.symbol.empty();
    return own.size == leading.size && (input.dims->size() > 1 || *leading.size != 1);
  }

  // A full shape binds the symbols that stand in it, for the other inputs too.
  void bind_shapes() {
    for (const auto& [name, shape] : options_.inputs) {
      const auto& input = *std::find_if(inputs_.begin(), inputs_.end(),
                                        [&wanted = name](const Declared& d) { return d.proto->name() == wanted; });
      for (const auto size : shape) check_size(size, "a dimension of input '" + name + "'");
      if (!input.dims) continue;
      if (input.dims->size() != shape.size())
        throw UsageError("input '" + name + "' has " + std::to_string(input.dims->size()) + " dimensions, but " +
                         shape_text(shape) + " was given");
      for (std::size_t i = 0; i < shape.size(); ++i) {
        const std::string& symbol = (*input.dims)[i].symbol;
        if (symbol.empty()) continue;
        if (const auto [found, added] = sizes_.emplace(symbol, shape[i]); !added && found->second != shape[i])
          throw UsageError("dimension '" + symbol + "' is bound to " + std::to_string(found->second) +
                           " and, by input '" + name + "', to " + std::to_string(shape[i]));
      }
    }
  }

  BoundInput bound(const Declared& input) {
    const std::string& name = input.proto->name();
    BoundInput result{.proto = input.proto};
    const auto type = element_type(input.proto->type());
    if (!type) throw InputError("input '" + name + "' has no element type that ONNX knows");
    result.type = *type;
    result.opaque = !input.proto->type().has_tensor_type();
    if (const auto shape = options_.inputs.find(name); shape != options_.inputs.end()) result.dims = shape->second;
    else if (result.opaque) result.dims = {0};
    else if (!input.dims) unbound_.push_back("the shape of '" + name + "' (--input " + name + "=SHAPE)");
    else result.dims = sizes_of(input);
    if (const auto value = options_.values.find(name); value != options_.values.end()) {
      const bool scalar = std::all_of(result.dims.begin(), result.dims.end(), [](auto dim) { return dim == 1; });
      if (is_float(result.type) || result.type == DataType::string || result.opaque || !scalar)
        throw UsageError("input '" + name + "' is " + std::string(benanza::name(result.type)) +
                         shape_text(result.dims) + ", expected an integer or boolean scalar to give a value to");
      result.value = value->second;
    }
    return result;
  }

  Dims sizes_of(const Declared& input) {
    const auto leading = leading_dim();
    Dims dims;
    for (std::size_t i = 0; i < input.dims->size(); ++i) {
      const Dim& dim = (*input.dims)[i];
      const bool batch = i == 0 && options_.batch && leading && shares_batch(input, *leading);
      const auto known = dim.symbol.empty() ? sizes_.end() : sizes_.find(dim.symbol);
      if (batch) dims.push_back(*options_.batch);
      else if (known != sizes_.end()) dims.push_back(known->second);
      else if (dim.size) dims.push_back(checked(*dim.size, input, i));
      else {
        dims.push_back(1);
        leave_open(input, i, dim.symbol, i == 0 && leading && shares_batch(input, *leading));
      }
    }
    return dims;
  }

  static std::int64_t checked(std::int64_t size, const Declared& input, std::size_t axis) {
    if (size < 0 || size > largest_dim)
      throw InputError("input '" + input.proto->name() + "': dimension " + std::to_string(axis) + " is " +
                       std::to_string(size) + ", expected 0 to 2^48 or a symbol");
    return size;
  }

  void leave_open(const Declared& input, std::size_t axis, const std::string& symbol, bool batch) {
    const std::string& name = input.proto->name();
    std::string text;
    if (symbol.empty())
      text = "dimension " + std::to_string(axis) + " of '" + name + "' (" + (batch ? "--batch N or " : "") +
             "--input " + name + "=SHAPE)";
    else text = "'" + symbol + "' (" + (batch ? "--batch N or " : "") + "--dim " + symbol + "=VALUE)";
    if (std::find(unbound_.begin(), unbound_.end(), text) == unbound_.end()) unbound_.push_back(text);
  }

  void refuse_unbound() const {
    if (unbound_.empty()) return;
    std::string text;
    for (const auto& item : unbound_) text += (text.empty() ? "" : ", ") + item;
    throw InputError("dimensions of its inputs are not bound: " + text);
  }

  const Options& options_;
  std::vector<Declared> inputs_{};
  std::set<std::string> symbols_{};
  std::map<std::string, std::int64_t> sizes_{};
  std::vector<std::string> unbound_{};
};

}  // namespace

Binding bind_inputs(const onnx::GraphProto& graph, const ImportOptions& options) {
  return Binder(graph, options).bind();
}

Binding at_old_batch(const Binding& binding, const ImportOptions& options, const onnx::GraphProto& graph) {
  ImportOptions old = options;
  old.batch = binding.old_batch;
  old.inputs.clear();
  old.dims = binding.dims;
  // The first input's leading symbol is the batch: --batch alone says it.
  for (const auto& input : binding.inputs) {
    if (input.opaque || input.value || !input.proto->type().tensor_type().has_shape() ||
        input.proto->type().tensor_type().shape().dim_size() == 0)
      continue;
    old.dims.erase(input.proto->type().tensor_type().shape().dim(0).dim_param());
    break;
  }
  return bind_inputs(graph, old);
}

}  // namespace benanza::importer
