// SPDX-License-Identifier: Apache-2.0
#include "bind.hpp"

#include "batch_axis.hpp"
#include "declared_inputs.hpp"
#include "proto.hpp"
#include "rules.hpp"
#include <benanza/error.hpp>
#include <benanza/operators/lookup.hpp>

#include <algorithm>
#include <set>

namespace benanza::importer {
namespace {

using Dims = std::vector<std::int64_t>;
using Options = ImportOptions;

// Larger sizes are mistakes, and sums of them would overflow in shape rules.
constexpr std::int64_t largest_dim = std::int64_t{1} << 48;

std::string quoted_list(const std::vector<std::string>& names) {
  if (names.empty()) return "none";
  std::string text;
  for (const auto& name : names) text += (text.empty() ? "'" : ", '") + name + "'";
  return text;
}

void check_size(std::int64_t size, const std::string& what) {
  if (size < 0 || size > largest_dim) throw UsageError(what + " is " + std::to_string(size) + ", expected 0 to 2^48");
}

void check_sizes(const ImportOptions& options) {
  if (options.batch && *options.batch < 1)
    throw UsageError("batch " + std::to_string(*options.batch) + ", expected 1 or more");
  if (options.batch) check_size(*options.batch, "batch");
  for (const auto& [name, size] : options.dims) check_size(size, "dimension '" + name + "'");
  for (const auto& [name, shape] : options.inputs)
    for (const auto size : shape) check_size(size, "a dimension of input '" + name + "'");
}

class Binder {
 public:
  Binder(const onnx::GraphProto& graph, const Options& options, std::size_t axis)
      : graph_(graph), options_(options), untold_axis_(axis), inputs_(declared_inputs(graph)) {}

  Binding bind() {
    check_names();
    find_axes();
    bind_batch();
    bind_shapes();
    bind_arrays();
    for (const auto& defaults : options_.defaults) take_defaults(defaults);
    take_node_inputs();
    assume_batch();
    bind_sums();
    Binding binding{.batch_symbols = batch_symbols(), .executable = options_.executable, .training = options_.training};
    for (const auto& input : inputs_) binding.inputs.push_back(bound(input));
    binding.open = std::move(open_);
    binding.unbound = std::move(unbound_);
    for (const auto& [symbol, size] : sizes_)
      if (symbols_.contains(symbol)) binding.dims.emplace(symbol, size);
    binding.assumed = assumed_;
    find_batch(binding);
    return binding;
  }

 private:
  [[nodiscard]] const DeclaredInput* find_input(const std::string& name) const {
    const auto found = std::find_if(inputs_.begin(), inputs_.end(),
                                    [&](const DeclaredInput& input) { return input.proto->name() == name; });
    return found == inputs_.end() ? nullptr : &*found;
  }

  void check_names() {
    std::vector<std::string> names;
    for (const auto& input : inputs_) {
      names.push_back(input.proto->name());
      if (!input.dims) continue;
      for (const auto& dim : *input.dims)
        if (!dim.symbol.empty()) symbols_.insert(dim.symbol);
    }
    check_sizes(options_);
    for (const auto& [name, size] : options_.dims) {
      if (!symbols_.contains(name))
        throw UsageError("no symbolic dimension '" + name + "': the model's are " +
                         quoted_list({symbols_.begin(), symbols_.end()}));
      sizes_[name] = size;
    }
    shapes_ = options_.inputs;
    if (const auto nameless = shapes_.extract("")) {
      if (names.size() != 1)
        throw UsageError("a shape without the name of its input: the model's are " + quoted_list(names));
      shapes_[names.front()] = nameless.mapped();
    }
    values_ = options_.values;
    const auto check = [&](const auto& given) {
      for (const auto& [name, what] : given)
        if (find_input(name) == nullptr)
          throw UsageError("no input '" + name + "': the model's are " + quoted_list(names));
    };
    check(shapes_);
    check(values_);
  }

  /// The axis of an input whose symbol says that it counts the items of a batch.
  [[nodiscard]] static std::optional<std::size_t> named_axis(const DeclaredInput& input) {
    for (std::size_t i = 0; input.dims && i < input.dims->size(); ++i)
      if (const Dim& dim = (*input.dims)[i]; !dim.anonymous && says_batch(dim.symbol) && !as_sum(dim.symbol)) return i;
    return std::nullopt;
  }

  /// The second axis, if only that one is left open: [6, N, 16], or [L, N, 16] where the caller says L.
  [[nodiscard]] std::optional<std::size_t> open_axis(const DeclaredInput& input) const {
    if (!input.dims || input.dims->size() < 3) return std::nullopt;
    const Dim &first = (*input.dims)[0], &second = (*input.dims)[1];
    const bool is_given = first.size ? *first.size != 1 : options_.dims.contains(first.symbol) && options_.batch;
    const bool is_open = !second.size && !says_other(second.symbol) && !options_.dims.contains(second.symbol);
    return is_given && is_open ? std::optional<std::size_t>(1) : std::nullopt;
  }

  void find_axes() {
    const auto is_recurrent = [](const onnx::NodeProto& node) {
      return facts_of(node.domain(), node.op_type()).is(Trait::recurrent);
    };
    const bool any_recurrent = std::any_of(graph_.node().begin(), graph_.node().end(), is_recurrent);
    for (const auto& input : inputs_) {
      told_axes_.push_back(named_axis(input));
      if (!told_axes_.back() && any_recurrent && input.dims)
        told_axes_.back() = recurrent_batch_axis(graph_, input.proto->name(), input.dims->size());
      if (!told_axes_.back()) told_axes_.back() = open_axis(input);
    }
    if (const DeclaredInput* first = leading_input()) {
      if (const auto told = told_axis(*first)) untold_axis_ = *told;
      leading_size_ = (*first->dims)[axis_of(*first)].size;
    }
  }
  [[nodiscard]] std::optional<std::size_t> told_axis(const DeclaredInput& input) const {
    return told_axes_[static_cast<std::size_t>(&input - inputs_.data())];
  }

  /// The axis of an input that is the batch, if one is. Other inputs have it where the first one has it, unless only
  /// their first axis has its size.
  [[nodiscard]] std::size_t axis_of(const DeclaredInput& input) const {
    if (const auto told = told_axis(input)) return *told;
    if (input.dims->size() <= untold_axis_) return 0;
    return leading_size_ && (*input.dims)[untold_axis_].size != leading_size_ ? 0 : untold_axis_;
  }

  /// The first input that has a dimension and is no single number; or if its dimension is something else by its name,
  /// an input with a dimension that is the batch by its name.
  [[nodiscard]] const DeclaredInput* leading_input() const {
    const DeclaredInput *first = nullptr, *number = nullptr;
    for (const auto& input : inputs_) {
      if (!input.dims || input.dims->empty() || values_.contains(input.proto->name())) continue;
      if (input.dims->size() == 1 && input.dims->front().size == 1) {
        if (number == nullptr) number = &input;
        continue;
      }
      if (first == nullptr) first = &input;
      if (!says_other((*first->dims)[axis_of(*first)].symbol)) return first;
      if (named_axis(input)) return &input;
    }
    return first != nullptr ? first : number;
  }
  [[nodiscard]] const Dim* leading_dim() const {
    const DeclaredInput* input = leading_input();
    return input == nullptr ? nullptr : &(*input->dims)[axis_of(*input)];
  }

  void find_batch(Binding& binding) const {
    const DeclaredInput* input = leading_input();
    if (input == nullptr) {
      const auto first = std::find_if(binding.inputs.begin(), binding.inputs.end(),
                                      [](const BoundInput& each) { return !each.dims.empty() && !each.value; });
      if (first != binding.inputs.end()) binding.batch = first->dims.front();
      return;
    }
    const std::size_t at = axis_of(*input);
    const Dim& leading = (*input->dims)[at];
    binding.batch = binding.inputs[static_cast<std::size_t>(input - inputs_.data())].dims[at];
    binding.leads = at == 0;
    binding.is_frozen = leading.size.has_value();
    binding.is_asked = options_.batch || std::any_of(options_.defaults.begin(), options_.defaults.end(),
                                                     [](const Options& each) { return each.batch.has_value(); });
    const auto& first = input->dims->front().size;
    binding.may_be_second = !told_axis(*input) && input->dims->size() > 1 && first && *first != 1;
    const std::int64_t made_for = leading.size.value_or(1);
    if (made_for != binding.batch) binding.old_batch = made_for;
  }

  void bind_batch() {
    if (!options_.batch) return;
    batch_ = options_.batch;
    const Dim* leading = leading_dim();
    if (leading == nullptr) throw UsageError("no input has a dimension that could be the batch");
    if (leading->symbol.empty()) return;
    if (const auto found = sizes_.find(leading->symbol); found != sizes_.end() && found->second != *batch_)
      throw UsageError("batch " + std::to_string(*batch_) + ", but dimension '" + leading->symbol + "' is bound to " +
                       std::to_string(found->second));
    sizes_[leading->symbol] = *batch_;
  }

  /// Whether that dimension is the batch, which the first input has. A vector of one element does not count, since it
  /// may be anything. The state of a recurrent model, such as 2 x ? x 128, has the batch in its middle.
  [[nodiscard]] bool shares_batch(const DeclaredInput& input, std::size_t axis) const {
    const Dim* leading = leading_dim();
    if (leading == nullptr || !input.dims || axis >= input.dims->size()) return false;
    const Dim& own = (*input.dims)[axis];
    if (!leading->symbol.empty() && own.symbol == leading->symbol) return true;
    if (axis == axis_of(input) && leading->anonymous) return own.anonymous;
    if (axis == axis_of(input) && leading->size)
      return own.size == leading->size && (input.dims->size() > 1 || *leading->size != 1 || told_axis(input));
    return axis == 1 && !leading->size && own.anonymous && input.dims->size() == 3 && (*input.dims)[0].size &&
           (*input.dims)[2].size;
  }

  [[nodiscard]] std::set<std::string> batch_symbols() const {
    std::set<std::string> result;
    for (const auto& input : inputs_)
      for (std::size_t i = 0; input.dims && i < input.dims->size(); ++i)
        if (!(*input.dims)[i].symbol.empty() && shares_batch(input, i)) result.insert((*input.dims)[i].symbol);
    return result;
  }

  // A full shape binds the symbols of its input's dimensions, for the other inputs too.
  void bind_shapes() {
    for (const auto& [name, shape] : shapes_) {
      const DeclaredInput& input = *find_input(name);
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
    const DeclaredInput* const leading = batch_ ? leading_input() : nullptr;
    const auto given = leading == nullptr ? shapes_.end() : shapes_.find(leading->proto->name());
    if (given != shapes_.end() && given->second.at(axis_of(*leading)) != *batch_)
      throw UsageError("batch " + std::to_string(*batch_) + ", but input '" + given->first + "' is given the shape " +
                       shape_text(given->second));
  }

  /// Sizes that the model fixes are not compared here. The code that reads the array compares them, since it knows the
  /// whole shape.
  void bind_arrays() {
    for (const auto& [name, array] : options_.arrays) {
      const DeclaredInput* input = find_input(name);
      if (input == nullptr) continue;
      for (const auto size : array.dims) check_size(size, "a dimension of " + array.described);
      if (!input->dims) {
        shapes_.emplace(name, array.dims);
        continue;
      }
      if (input->dims->size() != array.dims.size()) {
        const auto is_open = [](const Dim& dim) { return !dim.size; };
        if (std::none_of(input->dims->begin(), input->dims->end(), is_open)) continue;
        throw InputError(array.described + ", expected rank " + std::to_string(input->dims->size()) + " of input '" +
                         name + "'");
      }
      for (std::size_t i = 0; i < array.dims.size(); ++i)
        if (const std::string& symbol = (*input->dims)[i].symbol; !symbol.empty())
          sizes_.emplace(symbol, array.dims[i]);
    }
  }

  void take_defaults(const Options& defaults) {
    check_sizes(defaults);
    for (const auto& [name, value] : defaults.values)
      if (find_input(name) != nullptr) values_.emplace(name, value);
    for (const auto& [name, size] : defaults.dims)
      if (symbols_.contains(name)) sizes_.emplace(name, size);
    for (const auto& [name, shape] : defaults.inputs)
      if (const DeclaredInput* input = find_input(name)) take_shape(*input, shape);
    const Dim* leading = leading_dim();
    if (!defaults.batch || batch_ || leading == nullptr) return;
    if (!leading->symbol.empty()) sizes_.emplace(leading->symbol, *defaults.batch);
    else batch_ = defaults.batch;
  }

  /// Binds the open dimensions of that input. Ignores a shape that does not match the input's.
  void take_shape(const DeclaredInput& input, const Dims& shape) {
    if (!input.dims) {
      shapes_.emplace(input.proto->name(), shape);
      return;
    }
    if (input.dims->size() != shape.size()) return;
    for (std::size_t i = 0; i < shape.size(); ++i)
      if (const auto& size = (*input.dims)[i].size; size && *size != shape[i]) return;
    for (std::size_t i = 0; i < shape.size(); ++i)
      if (const std::string& symbol = (*input.dims)[i].symbol; !symbol.empty()) sizes_.emplace(symbol, shape[i]);
  }

  void take_node_inputs() {
    if (options_.node_inputs.empty()) return;
    for (const auto& node : graph_.node()) {
      auto found = options_.node_inputs.find(node.name());
      for (int i = 0; found == options_.node_inputs.end() && i < node.output_size(); ++i)
        found = options_.node_inputs.find(node.output(i));
      if (found == options_.node_inputs.end()) continue;
      for (std::size_t i = 0; i < found->second.size() && i < static_cast<std::size_t>(node.input_size()); ++i)
        if (const DeclaredInput* input = find_input(node.input(static_cast<int>(i))))
          take_shape(*input, found->second[i]);
    }
  }

  /// Whether an unbound dimension counts the items of a batch. This holds for a dimension whose name says so, and for a
  /// leading one, unless its name, another occurrence or a recurrent operator says otherwise.
  [[nodiscard]] bool looks_like_batch(const DeclaredInput& input, std::size_t axis) const {
    const Dim& dim = (*input.dims)[axis];
    if (dim.anonymous) return axis == axis_of(input) || shares_batch(input, axis);
    if (says_batch(dim.symbol)) return true;
    if (axis != axis_of(input) || says_other(dim.symbol)) return false;
    const auto stands_behind = [&](const DeclaredInput& other) {
      for (std::size_t i = 0; other.dims && i < other.dims->size(); ++i)
        if (i != axis_of(other) && (*other.dims)[i].symbol == dim.symbol) return true;
      return false;
    };
    return leading_dim()->symbol == dim.symbol || std::none_of(inputs_.begin(), inputs_.end(), stands_behind);
  }

  /// False for `batch_size x num_heads` or `2*batch`.
  [[nodiscard]] static bool is_one_size(const std::string& symbol) {
    return symbol.find(" x ") == std::string::npos && symbol.find_first_of("*/+-()") == std::string::npos;
  }

  /// Dimensions that are the batch get its size. If it is not known, the size is 1.
  void assume_batch() {
    const Dim* leading = leading_dim();
    if (leading == nullptr) return;
    if (const auto known = sizes_.find(leading->symbol); !batch_ && known != sizes_.end()) batch_ = known->second;
    for (const auto& input : inputs_)
      for (std::size_t i = 0; input.dims && i < input.dims->size(); ++i) {
        const std::string& symbol = (*input.dims)[i].symbol;
        if (symbol.empty() || sizes_.contains(symbol)) continue;
        const bool is_batch = shares_batch(input, i) || (looks_like_batch(input, i) && is_one_size(symbol));
        if (batch_ && is_batch) sizes_[symbol] = *batch_;
        else if (looks_like_batch(input, i)) sizes_[symbol] = assumed_[symbol] = 1;
      }
  }

  void bind_sums() {
    for (const auto& symbol : symbols_) {
      const auto sum = sizes_.contains(symbol) ? std::nullopt : as_sum(symbol);
      if (!sum) continue;
      std::int64_t size = sum->number;
      const bool known = std::all_of(sum->symbols.begin(), sum->symbols.end(), [&](const std::string& part) {
        const auto found = sizes_.find(part);
        if (found != sizes_.end()) size += found->second;
        return found != sizes_.end();
      });
      if (!known) continue;
      check_size(size, "dimension '" + symbol + "'");
      sizes_[symbol] = size;
    }
  }

  BoundInput bound(const DeclaredInput& input) {
    const std::string& name = input.proto->name();
    BoundInput result{.proto = input.proto};
    const auto type = element_type(input.proto->type());
    if (!type) throw InputError("input '" + name + "' has no element type that ONNX knows");
    result.type = *type;
    result.opaque = !input.proto->type().has_tensor_type();
    if (const auto shape = shapes_.find(name); shape != shapes_.end()) result.dims = shape->second;
    else if (result.opaque) result.dims = {0};
    else if (!input.dims) unbound_.push_back("the shape of '" + name + "' (--input " + name + "=SHAPE)");
    else result.dims = sizes_of(input);
    if (const auto value = values_.find(name); value != values_.end()) {
      const bool scalar = std::all_of(result.dims.begin(), result.dims.end(), [](auto dim) { return dim == 1; });
      if (is_float(result.type) || result.type == DataType::string || result.opaque || !scalar)
        throw UsageError("input '" + name + "' is " + std::string(benanza::name(result.type)) +
                         shape_text(result.dims) + ", expected an integer or boolean scalar to give a value to");
      result.value = value->second;
    }
    return result;
  }

  Dims sizes_of(const DeclaredInput& input) {
    Dims dims;
    for (std::size_t i = 0; i < input.dims->size(); ++i) {
      const Dim& dim = (*input.dims)[i];
      const auto known = dim.symbol.empty() ? sizes_.end() : sizes_.find(dim.symbol);
      if (known != sizes_.end()) dims.push_back(known->second);
      else if (dim.size) dims.push_back(batch_ && shares_batch(input, i) ? *batch_ : checked(*dim.size, input, i));
      else {
        dims.push_back(1);
        leave_open(dim.symbol, shares_batch(input, i));
      }
    }
    return dims;
  }

  static std::int64_t checked(std::int64_t size, const DeclaredInput& input, std::size_t axis) {
    if (size > largest_dim)
      throw InputError("input '" + input.proto->name() + "': dimension " + std::to_string(axis) + " is " +
                       std::to_string(size) + ", expected 0 to 2^48 or a symbol");
    return size;
  }

  void leave_open(const std::string& symbol, bool batch) {
    const auto sum = as_sum(symbol);  // a sum of other symbols is bound when they are
    if (sum &&
        std::all_of(sum->symbols.begin(), sum->symbols.end(), [&](const auto& s) { return symbols_.contains(s); }))
      return;
    if (std::find(open_.begin(), open_.end(), symbol) != open_.end()) return;
    open_.push_back(symbol);
    unbound_.push_back("'" + symbol + "' (" + (batch ? "--batch N or " : "") + "--dim " + symbol + "=VALUE)");
  }

  const onnx::GraphProto& graph_;
  const Options& options_;
  std::size_t untold_axis_;
  std::vector<DeclaredInput> inputs_;
  std::vector<std::optional<std::size_t>> told_axes_{};
  std::optional<std::int64_t> leading_size_{};  ///< of the batch, if the file gives it
  std::set<std::string> symbols_{};
  std::map<std::string, std::int64_t> sizes_{}, assumed_{}, values_{};
  std::map<std::string, Dims> shapes_{};
  std::optional<std::int64_t> batch_{};
  std::vector<std::string> open_{}, unbound_{};
};

}  // namespace

Binding bind_inputs(const onnx::GraphProto& graph, const ImportOptions& options, std::size_t axis) {
  Binding binding = Binder(graph, options, axis).bind();
  binding.untold_axis = axis;
  return binding;
}

Binding at_old_batch(const Binding& binding, const ImportOptions& options, const onnx::GraphProto& graph) {
  ImportOptions old{.batch = binding.old_batch, .dims = binding.dims, .values = options.values};
  for (const auto& symbol : binding.batch_symbols) old.dims.erase(symbol);  // only --batch sets them
  for (const auto& input : binding.inputs)
    if (input.value) old.values[input.proto->name()] = *input.value;
  return bind_inputs(graph, old, binding.untold_axis);
}

}  // namespace benanza::importer
