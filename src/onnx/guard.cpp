// SPDX-License-Identifier: Apache-2.0
#include "guard.hpp"

#include "rules.hpp"
#include "size_check.hpp"
#include <benanza/error.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>
#include <string_view>
#include <vector>

namespace benanza::importer {
namespace {

// Products of two larger numbers would overflow.
constexpr std::int64_t largest = std::int64_t{1} << 31;
constexpr std::int64_t highest_rank = 64;
constexpr std::int64_t most_outputs = std::int64_t{1} << 16;  // a rule creates that many

struct Limit {
  std::string_view attribute;
  std::int64_t least;
  std::int64_t most = largest;
};

constexpr std::array limits{
    Limit{"axes", -highest_rank, highest_rank},
    Limit{"axis", -highest_rank, highest_rank},
    Limit{"batch_dims", 0, highest_rank},
    Limit{"bits", 1, 64},
    Limit{"block_size", 0},
    Limit{"blocksize", 1},
    Limit{"ceil_mode", 0, 1},
    Limit{"dilations", 1},
    Limit{"group", 1},
    Limit{"hidden_size", 1},
    Limit{"kernel_shape", 1},
    Limit{"kv_num_heads", 1},
    Limit{"layout", 0, 1},
    Limit{"num_groups", 1},
    Limit{"num_heads", 1},
    Limit{"num_outputs", 1, most_outputs},
    Limit{"output_padding", 0},
    Limit{"output_shape", 0},
    Limit{"pads", -largest},
    Limit{"q_num_heads", 1},
    Limit{"scan_input_axes", -highest_rank, highest_rank},
    Limit{"scan_output_axes", -highest_rank, highest_rank},
    Limit{"strides", 1},
};

void check(std::string_view what, std::int64_t value, std::int64_t least, std::int64_t most = largest) {
  if (value < least || value > most)
    throw InputError(std::string(what) + " holds " + std::to_string(value) + ", expected " + std::to_string(least) +
                     " to " + std::to_string(most));
}

/// The library accepts a list of another length, and numbers that occur twice.
void check_permutation(const Node& node, std::span<const Value* const> inputs) {
  const auto found = node.attributes.find("perm");
  if (found == node.attributes.end() || inputs.empty() || inputs[0] == nullptr) return;
  const auto perm = node.attribute<std::vector<std::int64_t>>("perm", {});
  std::vector<std::int64_t> axes(inputs[0]->dims.size());
  std::iota(axes.begin(), axes.end(), 0);
  if (!std::is_permutation(perm.begin(), perm.end(), axes.begin(), axes.end()))
    throw InputError("attribute 'perm' does not order the " + std::to_string(axes.size()) + " axes of input 0");
}

/// The library's rule for Einsum never ends if a term has anything but letters and one "...".
void check_equation(const Node& node) {
  std::string equation = node.attribute<std::string>("equation", "");
  std::erase(equation, ' ');
  bool dots = false;  // in this term
  for (std::size_t i = 0; i < equation.size(); ++i) {
    const char c = equation[i];
    if (c == ',') {
      dots = false;
    } else if (equation.compare(i, 2, "->") == 0) {
      dots = false;
      ++i;
    } else if (equation.compare(i, 3, "...") == 0 && !dots) {
      dots = true;
      i += 2;
    } else if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z')) {
      throw InputError("attribute 'equation' has '" + equation.substr(i, 1) + "' at place " + std::to_string(i) +
                       ", expected letters and at most one '...' in each term");
    }
  }
}

/// The library subtracts in the operands' type, divides and converts to an integer, whatever the numbers are.
void check_range(std::span<const Value* const> inputs) {
  const auto number = [&](std::size_t i) -> std::optional<double> {
    if (i >= inputs.size() || inputs[i] == nullptr || !inputs[i]->literal) return std::nullopt;
    const Literal& literal = *inputs[i]->literal;
    if (literal.ints.size() + literal.floats.size() != 1) return std::nullopt;
    return literal.ints.empty() ? literal.floats[0] : static_cast<double>(literal.ints[0]);
  };
  const auto start = number(0), limit = number(1), delta = number(2);
  if (!start || !limit || !delta) return;
  const double most = inputs[0]->type == DataType::i32 ? 0x1p31 : 0x1p63, steps = (*limit - *start) / *delta;
  if (!(std::abs(*limit - *start) < most) || !(std::abs(steps) < 0x1p62))
    throw InputError("start, limit and delta give no number of elements");
}

/// Checks the numbers of a constant setting: divisors are positive, and axes are within the rank of the first input.
/// The length of a target shape is limited, because it is the rank of the result.
void check_setting(InputRole role, std::size_t i, std::span<const Value* const> inputs) {
  const std::string what = "input " + std::to_string(i);
  const Value& value = *inputs[i];
  if (role == InputRole::divisor && value.literal)
    for (const auto number : value.literal->ints) check(what, number, 1);
  if (role == InputRole::axis && value.literal && inputs[0] != nullptr) {
    const auto rank = static_cast<std::int64_t>(inputs[0]->dims.size());
    for (const auto number : value.literal->ints) check(what, number, -rank, rank - 1);
  }
  if (role == InputRole::target && !value.dims.empty() && value.dims[0] > highest_rank)
    throw InputError(what + " is a shape of " + std::to_string(value.dims[0]) + " dimensions, expected at most " +
                     std::to_string(highest_rank));
}

/// The library's rule accepts a kernel shape that is not that of the filter.
void check_kernel_shape(const Node& node, std::span<const Value* const> inputs) {
  const auto kernel = node.attribute<std::vector<std::int64_t>>("kernel_shape", {});
  if (kernel.empty() || inputs.size() < 2 || inputs[1] == nullptr || inputs[1]->data_dependent) return;
  const auto& w = inputs[1]->dims;
  if (w.size() < 2 || !std::equal(w.begin() + 2, w.end(), kernel.begin(), kernel.end()))
    throw InputError("attribute 'kernel_shape' is " + shape_text(kernel) + ", its filter has shape " + shape_text(w));
}

/// Throws InputError unless the attribute 'auto_pad' has one of the standard's values.
void check_auto_pad(const Node& node) {
  constexpr std::array<std::string_view, 5> known{"", "NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"};
  const std::string given = node.attribute<std::string>("auto_pad", "");
  if (std::find(known.begin(), known.end(), given) == known.end())
    throw InputError("attribute 'auto_pad' is '" + given + "', expected NOTSET, SAME_UPPER, SAME_LOWER or VALID");
}

/// Throws InputError unless inputs 1 and 2, scale and bias, can be broadcast to x.
void check_scale(std::span<const Value* const> inputs) {
  if (inputs[0] == nullptr || inputs[0]->data_dependent) return;
  const auto& x = inputs[0]->dims;
  for (std::size_t i = 1; i < std::min(inputs.size(), std::size_t{3}); ++i) {
    if (inputs[i] == nullptr || inputs[i]->data_dependent) continue;
    const auto& scale = inputs[i]->dims;
    const bool fits = scale.size() <= x.size() &&
                      std::equal(scale.rbegin(), scale.rend(), x.rbegin(),
                                 [](std::int64_t one, std::int64_t whole) { return one == 1 || one == whole; });
    if (!fits)
      throw InputError("input " + std::to_string(i) + " has shape " + shape_text(scale) +
                       ", which cannot be broadcast to " + shape_text(x));
  }
}

/// The library's rule accepts a filter whose channels are not those of x.
void check_channels(const Node& node, std::span<const Value* const> inputs) {
  if (inputs.size() < 2 || inputs[0] == nullptr || inputs[1] == nullptr || inputs[0]->data_dependent) return;
  const auto &x = inputs[0]->dims, &w = inputs[1]->dims;
  if (x.size() < 2 || w.size() < 2) return;
  const std::int64_t group = node.attribute<std::int64_t>("group", 1);
  if (x[1] != 0 && w[1] != 0 && x[1] / group != w[1])
    throw InputError("x has " + std::to_string(x[1]) + " channels in groups of " + std::to_string(x[1] / group) +
                     ", its filter has groups of " + std::to_string(w[1]));
}

}  // namespace

void guard_node(const Node& node, const OperatorFacts& facts, std::span<const Value* const> inputs,
                std::size_t outputs) {
  if (!node.domain.empty() && node.domain != "com.microsoft") return;  // nothing reads an unknown operator's attributes
  for (const auto& given : node.attributes) {
    const auto& attribute = given.first;
    const auto& value = given.second;
    const auto limit =
        std::find_if(limits.begin(), limits.end(), [&](const Limit& one) { return one.attribute == attribute; });
    if (limit == limits.end()) continue;
    const bool has_heads = !node.domain.empty() || (!inputs.empty() && inputs[0] && inputs[0]->dims.size() == 4);
    if (attribute == "num_heads" && node.op_type == "RotaryEmbedding" && has_heads) continue;  // 0: not stated
    const std::string what = "attribute '" + attribute + "'";
    if (const auto* one = std::get_if<std::int64_t>(&value)) check(what, *one, limit->least, limit->most);
    if (const auto* many = std::get_if<std::vector<std::int64_t>>(&value))
      for (const auto number : *many) check(what, number, limit->least, limit->most);
  }
  if (!facts.sizes.empty()) SizeCheck(node, inputs).check(facts.sizes);
  if (!node.domain.empty()) return;  // an operator of the same name elsewhere has other inputs
  if (node.op_type == "Einsum") check_equation(node);
  if (node.op_type == "Range") check_range(inputs);
  if (node.op_type == "Conv") check_channels(node, inputs);
  if (node.op_type == "Conv" || node.op_type == "ConvTranspose") check_kernel_shape(node, inputs);
  if (node.op_type == "LayerNormalization" || node.op_type == "RMSNormalization") check_scale(inputs);
  if (node.attributes.contains("auto_pad")) check_auto_pad(node);
  if (node.op_type == "Transpose") check_permutation(node, inputs);
  if (node.op_type == "Split" && node.attributes.contains("num_outputs"))  // a rule reads a size for each output
    check("attribute 'num_outputs'", node.attribute<std::int64_t>("num_outputs", 1), static_cast<std::int64_t>(outputs),
          most_outputs);
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i] != nullptr) check_setting(facts.inputs[i], i, inputs);
  for (const auto& [input, least, as] : facts.ranks) {
    if (least == 0 || input >= inputs.size() || inputs[input] == nullptr) continue;
    const std::size_t rank = inputs[input]->dims.size();
    if (rank < least)
      throw InputError("input " + std::to_string(input) + " has rank " + std::to_string(rank) + ", expected " +
                       std::to_string(least) + " or more");
    if (inputs[as] != nullptr && rank != inputs[as]->dims.size())
      throw InputError("input " + std::to_string(input) + " has rank " + std::to_string(rank) +
                       ", expected that of input " + std::to_string(as) + ", " +
                       std::to_string(inputs[as]->dims.size()));
  }
}

}  // namespace benanza::importer
