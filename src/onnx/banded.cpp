// SPDX-License-Identifier: Apache-2.0
#include "banded.hpp"

#include "fold.hpp"
#include <benanza/base/detail/node.hpp>
#include <benanza/operators/lookup.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace benanza::importer {
namespace {

/// The band of a matrix with two different elements. `same(a, b)`: whether the elements with indices a and b are equal.
template <class Same>
std::optional<Band> band_of(std::int64_t rows, std::int64_t columns, const Same& same) {
  Band band;
  std::optional<std::int64_t> outer;
  for (std::int64_t c = columns - 1; c > 0; --c)
    if (!same(0, c)) band.most = c - 1, outer = c;
  for (std::int64_t r = rows - 1; r > 0; --r)
    if (!same(0, r * columns)) band.least = 1 - r, outer = r * columns;
  if (!outer) return std::nullopt;
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < columns; ++c)
      if (!same(c - r >= band.least && c - r <= band.most ? 0 : *outer, r * columns + c)) return std::nullopt;
  return band;
}

/// The band around all nonzero elements of some matrices, if these elements differ. Empty if it reaches both
/// off-diagonal corners of the first matrix, as the band of weights does.
template <class Element>
std::optional<FoundBand> band_of_zeros(DataType type, std::int64_t rows, std::int64_t columns, std::int64_t matrices,
                                       const Element& element) {
  const auto is_zero = [&](std::int64_t at) {
    std::string_view bytes = element(at);
    if (is_float(type) && bits(type) >= 16 && bytes.back() == '\x80') bytes.remove_suffix(1);  // the sign of -0
    return std::all_of(bytes.begin(), bytes.end(), [](char byte) { return byte == 0; });
  };
  if (!is_zero(columns - 1) && !is_zero((rows - 1) * columns)) return std::nullopt;
  Band band{Band::above, Band::below};
  std::optional<std::string> inside;
  bool differ = false;
  for (std::int64_t at = 0; at < matrices * rows * columns; ++at) {
    if (is_zero(at)) continue;
    const std::int64_t diagonal = at % columns - at / columns % rows;
    band = {std::min(band.least, diagonal), std::max(band.most, diagonal)};
    if (!inside) inside = element(at);
    differ = differ || *inside != element(at);
    if (band.covers(rows, columns)) return std::nullopt;
  }
  if (!differ || band.empty()) return std::nullopt;
  if (band.most == columns - 1) band.most = Band::above;
  if (band.least == 1 - rows) band.least = Band::below;
  return FoundBand{band, true};
}

bool is_uniform(const BandedNumbers& numbers) { return numbers.inside == numbers.outside; }
BandedNumbers uniform(double number) { return {.band = {}, .inside = number, .outside = number}; }

/// The same numbers, with the other part as the band.
std::optional<BandedNumbers> turned(const BandedNumbers& numbers) {
  const auto rest = numbers.band.complement();
  return rest ? std::optional(BandedNumbers{*rest, numbers.outside, numbers.inside}) : std::nullopt;
}

std::optional<BandedNumbers> operand(const Value& value) {
  if (value.banded && value.banded->differ) return std::nullopt;
  if (value.banded) return *value.banded;
  if (const auto number = benanza::detail::scalar(value)) return uniform(*number);
  return banded_literal(value);
}

Tensor list_of(DataType type, const std::vector<double>& numbers) {
  Tensor tensor{.type = type, .dims = {static_cast<std::int64_t>(numbers.size())}, .data = {}};
  for (const double number : numbers)
    if (tensor.floating()) tensor.data.floats.push_back(number);
    else tensor.data.ints.push_back(static_cast<std::int64_t>(number));
  return tensor;
}

/// The result of an element-wise operator on lists of numbers. Empty if it cannot be determined.
std::vector<double> evaluated(const Node& node, const std::vector<Tensor>& lists) {
  const Fold fold = find_fold(node.op_type);
  std::vector<const Tensor*> inputs;
  for (const auto& list : lists) inputs.push_back(&list);
  const FoldResult result = fold ? fold({.node = node, .inputs = inputs}) : std::nullopt;
  if (!result || result->size() != 1 || result->front().size() != lists.front().size()) return {};
  const Literal& data = result->front().data;
  return data.floats.empty() ? std::vector<double>(data.ints.begin(), data.ints.end()) : data.floats;
}

/// The result of an element-wise operator on operands with at most two different bands.
std::optional<BandedNumbers> elementwise(const Node& node, std::span<const Value* const> inputs, const Value& y) {
  std::vector<BandedNumbers> operands;
  std::vector<Band> bands;
  bool any_filled = false;
  for (const Value* input : inputs) {
    auto numbers = input ? operand(*input) : std::nullopt;
    if (input && !numbers && !input->banded) {
      numbers = filled(*input);
      any_filled = true;
    }
    if (!numbers) return std::nullopt;
    operands.push_back(*numbers);
    if (is_uniform(*numbers)) continue;
    if (!std::equal(input->dims.end() - 2, input->dims.end(), y.dims.end() - 2)) return std::nullopt;  // broadcast
    if (std::find(bands.begin(), bands.end(), numbers->band) == bands.end()) bands.push_back(numbers->band);
  }
  if (bands.size() > 2 || (any_filled && bands.empty())) return std::nullopt;
  const std::size_t cases = std::size_t{1} << bands.size();  // bit b: outside of band b
  std::vector<Tensor> lists;
  for (std::size_t k = 0; k < operands.size(); ++k) {
    std::vector<double> numbers;
    for (std::size_t at = 0; at < cases; ++at) {
      const auto band = std::find(bands.begin(), bands.end(), operands[k].band);
      const bool outside = band != bands.end() && (at >> (band - bands.begin()) & 1) != 0;
      numbers.push_back(outside ? operands[k].outside : operands[k].inside);
    }
    lists.push_back(list_of(inputs[k]->type, numbers));
  }
  const std::vector<double> made = evaluated(node, lists);
  if (made.size() != cases) return std::nullopt;
  if (cases == 1) return uniform(made[0]);
  if (cases == 2) return BandedNumbers{bands[0], made[0], made[1]};
  const auto part = [&](std::size_t b, std::size_t at) {
    return (at >> b & 1) != 0 ? bands[b].complement() : std::optional(bands[b]);
  };
  const auto is_nowhere = [&](std::size_t at) {  // for example if one band is within the other
    const auto first = part(0, at), second = part(1, at);
    return first && second && common(*first, *second).empty();
  };
  for (std::size_t one = 0; one < 4; ++one) {  // the case that differs from the others
    const auto first = part(0, one), second = part(1, one);
    if (!first || !second || is_nowhere(one)) continue;
    std::vector<double> rest;
    for (std::size_t at = 0; at < 4; ++at)
      if (at != one && !is_nowhere(at)) rest.push_back(made[at]);
    if (!rest.empty() && std::count(rest.begin(), rest.end(), rest[0]) == std::ssize(rest))
      return BandedNumbers{common(*first, *second), made[one], rest[0]};
  }
  return std::nullopt;
}

bool is_elementwise(std::string_view op_type) {
  const auto folds = elementwise_folds();
  return std::any_of(folds.begin(), folds.end(), [&](const FoldEntry& entry) { return entry.op_type == op_type; });
}

/// A comparison or difference of a column and a row of numbers that increase by one: the results by column - row.
std::vector<double> compared_places(const Node& node, std::span<const Value* const> inputs, const Value& y) {
  constexpr std::array names{"Less", "LessOrEqual", "Greater", "GreaterOrEqual", "Equal", "Sub"};
  if (std::find(names.begin(), names.end(), node.op_type) == names.end() || inputs.size() != 2) return {};
  const std::int64_t rows = y.dims[y.dims.size() - 2], columns = y.dims.back();
  std::optional<std::size_t> column;  // the operand that has one number for each row
  std::array<std::int64_t, 2> first{};
  for (std::size_t k = 0; k < 2; ++k) {
    if (!inputs[k] || !inputs[k]->literal || inputs[k]->literal->ints.empty()) return {};
    const auto& ints = inputs[k]->literal->ints;
    const auto& dims = inputs[k]->dims;
    for (std::size_t i = 1; i < ints.size(); ++i)
      if (ints[i] - 1 != ints[i - 1]) return {};
    first[k] = ints[0];
    const auto count = static_cast<std::int64_t>(ints.size());
    if (count == rows && dims.size() >= 2 && dims.back() == 1) column = k;
    else if (count != columns || dims.back() != columns) return {};
  }
  if (!column || inputs[1 - *column]->dims.back() != columns) return {};
  std::vector<double> row_numbers, column_numbers;  // for each column - row
  for (std::int64_t d = 1 - rows; d < columns; ++d) {
    row_numbers.push_back(static_cast<double>(first[*column]));
    column_numbers.push_back(static_cast<double>(first[1 - *column] + d));
  }
  const Tensor a = list_of(inputs[*column]->type, row_numbers), b = list_of(inputs[1 - *column]->type, column_numbers);
  return evaluated(node, *column == 0 ? std::vector{a, b} : std::vector{b, a});
}

/// The result of an element-wise operator on numbers by column - row and on single numbers.
std::vector<double> elementwise_diagonals(const Node& node, std::span<const Value* const> inputs, const Value& y) {
  const auto count = to_size(y.dims[y.dims.size() - 2] + y.dims.back() - 1);
  std::vector<Tensor> lists;
  bool any = false;
  for (const Value* input : inputs) {
    if (!input) return {};
    if (input->diagonals) {
      if (!std::equal(input->dims.end() - 2, input->dims.end(), y.dims.end() - 2)) return {};  // broadcast
      lists.push_back(list_of(input->type, *input->diagonals));
      any = true;
    } else if (const auto number = benanza::detail::scalar(*input)) {
      lists.push_back(list_of(input->type, std::vector(count, *number)));
    } else {
      return {};
    }
  }
  return any ? evaluated(node, lists) : std::vector<double>{};
}

/// Numbers by column - row as a band, if there are two different numbers and one of them is inside the band.
std::optional<BandedNumbers> band_of_diagonals(const std::vector<double>& numbers, std::int64_t rows) {
  std::vector<std::int64_t> begins;  // column - row at which each run of equal numbers begins
  for (std::size_t i = 0; i < numbers.size(); ++i)
    if (i == 0 || numbers[i] != numbers[i - 1]) begins.push_back(static_cast<std::int64_t>(i) + 1 - rows);
  const auto number = [&](std::size_t run) { return numbers[to_size(begins[run] + rows - 1)]; };
  if (begins.size() == 1) return uniform(number(0));
  if (begins.size() == 2 && number(0) != 0)
    return BandedNumbers{.band = {.most = begins[1] - 1}, .inside = number(0), .outside = number(1)};
  if (begins.size() == 2) return BandedNumbers{.band = {.least = begins[1]}, .inside = number(1), .outside = number(0)};
  if (begins.size() != 3 || number(0) != number(2)) return std::nullopt;
  return BandedNumbers{.band = {begins[1], begins[2] - 1}, .inside = number(1), .outside = number(0)};
}

std::optional<BandedNumbers> triangle(const Node& node, std::span<const Value* const> inputs) {
  auto x = operand(*inputs[0]);
  if (!x && !inputs[0]->banded) x = filled(*inputs[0]);
  const auto diagonal = inputs.size() > 1 && inputs[1] ? benanza::detail::scalar(*inputs[1]) : 0;
  if (x && !is_uniform(*x) && x->outside != 0) x = turned(*x);
  if (!x || !diagonal || (!is_uniform(*x) && x->outside != 0)) return std::nullopt;
  const auto k = static_cast<std::int64_t>(std::clamp(*diagonal, -1e15, 1e15));
  const Band kept = node.attribute<std::int64_t>("upper", 1) != 0 ? Band{.least = k} : Band{.most = k};
  return BandedNumbers{is_uniform(*x) ? kept : common(kept, x->band), x->inside, 0};
}

std::optional<BandedNumbers> transposed(const Node& node, const BandedNumbers& x, std::size_t rank) {
  const auto perm = node.attribute<std::vector<std::int64_t>>("perm", {});
  const auto last = static_cast<std::int64_t>(rank) - 1;
  if (perm.empty() ? rank == 2 : perm.size() == rank && perm[rank - 1] == last - 1 && perm[rank - 2] == last)
    return BandedNumbers{x.band.transposed(), x.inside, x.outside};
  if (perm.size() == rank && perm[rank - 1] == last && perm[rank - 2] == last - 1) return x;
  return std::nullopt;
}

/// Only for slices with steps of one.
std::optional<BandedNumbers> sliced(const Node& node, std::span<const Value* const> inputs, const BandedNumbers& x) {
  const auto list = [&](const char* key, std::size_t k) -> std::optional<std::vector<std::int64_t>> {
    if (node.attributes.contains(key)) return node.attribute<std::vector<std::int64_t>>(key, {});
    if (k >= inputs.size() || !inputs[k]) return std::vector<std::int64_t>{};
    return inputs[k]->literal ? std::optional(inputs[k]->literal->ints) : std::nullopt;
  };
  const auto starts = list("starts", 1), axes = list("axes", 3), steps = list("steps", 4);
  if (!starts || !axes || !steps || std::any_of(steps->begin(), steps->end(), [](auto step) { return step != 1; }))
    return std::nullopt;
  const auto& dims = inputs[0]->dims;
  std::int64_t first[2] = {0, 0};
  for (std::size_t i = 0; i < starts->size(); ++i) {
    const auto axis = normal_axis(i < axes->size() ? (*axes)[i] : static_cast<std::int64_t>(i), dims.size());
    const std::int64_t start = (*starts)[i] < 0 ? (*starts)[i] + dims[axis] : (*starts)[i];
    if (axis + 2 >= dims.size()) first[axis + 2 - dims.size()] = std::clamp<std::int64_t>(start, 0, dims[axis]);
  }
  return BandedNumbers{x.band.from(first[0], first[1]), x.inside, x.outside};
}

/// For some of the matrices, or for consecutive rows or columns.
std::optional<BandedNumbers> gathered(const Node& node, std::span<const Value* const> inputs, const BandedNumbers& x) {
  const auto& dims = inputs[0]->dims;
  if (dims.size() < 2 || inputs.size() < 2 || !inputs[1]) return std::nullopt;
  const auto axis = normal_axis(node.attribute<std::int64_t>("axis", 0), dims.size());
  if (axis + 2 < dims.size()) return x;
  if (!inputs[1]->literal || inputs[1]->dims.size() != 1) return std::nullopt;
  const auto& places = inputs[1]->literal->ints;
  for (std::size_t i = 0; i < places.size(); ++i)
    if (places[0] < 0 || places[i] != places[0] + static_cast<std::int64_t>(i)) return std::nullopt;
  if (places.empty()) return std::nullopt;
  const bool rows = axis + 2 == dims.size();
  return BandedNumbers{x.band.from(rows ? places[0] : 0, rows ? 0 : places[0]), x.inside, x.outside};
}

/// The band without diagonals outside a matrix of this size.
Band within(const Band& band, std::int64_t rows, std::int64_t columns) { return common(band, {1 - rows, columns - 1}); }

/// Matrices that are concatenated and together have one band. A matrix with only one number is inside the band or
/// outside of it.
std::optional<BandedNumbers> joined(const Node& node, std::span<const Value* const> inputs) {
  const std::size_t rank = inputs[0]->dims.size();
  const auto axis = normal_axis(node.attribute<std::int64_t>("axis", 0), rank);
  if (rank < 2 || axis + 2 < rank) return std::nullopt;
  const auto from = [rows = axis + 2 == rank](const Band& band, std::int64_t first) {
    return band.from(rows ? first : 0, rows ? 0 : first);
  };
  std::optional<BandedNumbers> whole;
  for (const bool uniform : {false, true}) {
    std::int64_t first = 0;
    for (const Value* input : inputs) {
      if (input == nullptr || input->dims.size() != rank) return std::nullopt;
      auto x = operand(*input);
      if (!x && !input->banded) x = filled(*input);
      if (!x) return std::nullopt;
      if (is_uniform(*x) == uniform && input->elements() > 0) {
        if (!whole && !uniform) whole = BandedNumbers{from(x->band, -first), x->inside, x->outside};
        if (!whole) return std::nullopt;
        const Band own = from(whole->band, first);
        const std::int64_t rows = input->dims[rank - 2], columns = input->dims[rank - 1];
        const bool inside = x->inside == whole->inside && own.covers(rows, columns);
        const bool outside = x->inside == whole->outside && within(own, rows, columns).empty();
        const bool same = within(x->band, rows, columns) == within(own, rows, columns) && x->inside == whole->inside &&
                          x->outside == whole->outside;
        if (uniform ? !inside && !outside : !same) return std::nullopt;
      }
      first += input->dims[axis];
    }
  }
  return whole;
}

}  // namespace

std::optional<FoundBand> find_band(DataType type, std::span<const std::int64_t> dims, std::string_view raw) {
  const std::size_t rank = dims.size();
  if (type == DataType::string || bits(type) < 8 || rank < 2 || dims[rank - 2] < 2 || dims[rank - 1] < 2)
    return std::nullopt;
  const std::int64_t rows = dims[rank - 2], columns = dims[rank - 1], elements = element_count(dims);
  if (elements == 0) return std::nullopt;
  const std::int64_t of_matrix = rows * columns;
  const auto bytes = to_size(bits(type) / 8);
  if (raw.size() % bytes != 0 || raw.size() / bytes != to_size(elements)) return std::nullopt;
  const auto element = [&](std::int64_t at) { return raw.substr(to_size(at) * bytes, bytes); };
  if (const auto band = band_of_zeros(type, rows, columns, elements / of_matrix, element)) return band;
  // Weights have different numbers within their first row or column.
  for (const auto& [count, step] : {std::pair{columns, std::int64_t{1}}, std::pair{rows, columns}}) {
    int changes = 0;
    for (std::int64_t i = 1; i < count && changes < 2; ++i) changes += element(i * step) != element((i - 1) * step);
    if (changes > 1) return std::nullopt;
  }
  const auto band = band_of(rows, columns, [&](std::int64_t a, std::int64_t b) { return element(a) == element(b); });
  const auto matrix = [&](std::int64_t at) {
    return raw.substr(to_size(at * of_matrix) * bytes, to_size(of_matrix) * bytes);
  };
  for (std::int64_t at = 1; band && at < elements / of_matrix; ++at)
    if (matrix(at) != matrix(0)) return std::nullopt;
  return band ? std::optional(FoundBand{*band, false}) : std::nullopt;
}

std::optional<BandedNumbers> banded_literal(const Value& value) {
  const std::size_t rank = value.dims.size();
  if (!value.literal || rank < 2) return std::nullopt;
  const std::int64_t rows = value.dims[rank - 2], columns = value.dims[rank - 1];
  const auto& [ints, floats] = *value.literal;
  if (value.elements() == 0 || to_size(value.elements()) != std::max(ints.size(), floats.size())) return std::nullopt;
  std::vector<double> numbers(floats);
  if (floats.empty()) numbers.assign(ints.begin(), ints.end());
  const auto of_matrix = to_size(rows * columns);
  for (std::size_t i = of_matrix; i < numbers.size(); ++i)
    if (numbers[i] != numbers[i - of_matrix]) return std::nullopt;
  const auto band = band_of(rows, columns,
                            [&](std::int64_t a, std::int64_t b) { return numbers[to_size(a)] == numbers[to_size(b)]; });
  if (!band) return std::nullopt;
  const double inside = numbers[0];
  const auto outside = std::find_if(numbers.begin(), numbers.end(), [&](double n) { return n != inside; });
  if (outside == numbers.end()) return std::nullopt;
  return BandedNumbers{*band, inside, *outside};
}

std::optional<BandedNumbers> filled(const Value& value, std::optional<double> number) {
  if (!value.literal) return number ? std::optional(uniform(*number)) : std::nullopt;
  const auto& [ints, floats] = *value.literal;
  const auto all_equal = [](const auto& numbers) {
    return !numbers.empty() && std::count(numbers.begin(), numbers.end(), numbers[0]) == std::ssize(numbers);
  };
  if (all_equal(floats)) return uniform(floats[0]);
  return all_equal(ints) ? std::optional(uniform(static_cast<double>(ints[0]))) : std::nullopt;
}

std::shared_ptr<const std::vector<double>> diagonal_numbers(const Node& node, std::span<const Value* const> inputs,
                                                            const Value& y) {
  const std::size_t rank = y.dims.size();
  if (rank < 2 || inputs.empty() || !inputs[0] || bits(y.type) < 8 || y.elements() == 0) return nullptr;
  const std::int64_t count = y.dims[rank - 2] + y.dims[rank - 1] - 1;
  if (small_enough(y.dims) || !small_enough(std::array{count})) return nullptr;
  const std::string& op = node.op_type;
  if (op == "Expand" || facts_of(node).moves == Moves::shape) {
    const auto& dims = inputs[0]->dims;
    const bool same = dims.size() >= 2 && std::equal(dims.end() - 2, dims.end(), y.dims.end() - 2);
    return same ? inputs[0]->diagonals : nullptr;
  }
  auto numbers = compared_places(node, inputs, y);
  if (numbers.empty() && is_elementwise(op)) numbers = elementwise_diagonals(node, inputs, y);
  return numbers.empty() ? nullptr : std::make_shared<const std::vector<double>>(std::move(numbers));
}

std::optional<BandedNumbers> banded_result(const Node& node, std::span<const Value* const> inputs, const Value& y) {
  if (y.dims.size() < 2 || inputs.empty() || !inputs[0] || bits(y.type) < 8) return std::nullopt;
  const std::string& op = node.op_type;
  if (op == "ConstantOfShape") {
    const auto value = node.attribute<Literal>("value", Literal{.ints = {}, .floats = {0}});
    return uniform(value.floats.empty() ? value.ints.empty() ? 0 : static_cast<double>(value.ints[0])
                                        : value.floats[0]);
  }
  if (op == "Trilu") return triangle(node, inputs);
  if (y.diagonals)
    if (const auto band = band_of_diagonals(*y.diagonals, y.dims[y.dims.size() - 2])) return band;
  if (op == "Concat") return joined(node, inputs);
  const auto x = operand(*inputs[0]);
  if (!x) return std::nullopt;
  const auto& dims = inputs[0]->dims;
  if (op == "Gather") return gathered(node, inputs, *x);
  if (op == "Expand" || facts_of(node).moves == Moves::shape) {
    const bool same = dims.size() >= 2 && std::equal(dims.end() - 2, dims.end(), y.dims.end() - 2);
    return is_uniform(*x) || same ? x : std::nullopt;
  }
  if (op == "Transpose") return transposed(node, *x, dims.size());
  if (op == "Slice") return sliced(node, inputs, *x);
  return is_elementwise(op) ? elementwise(node, inputs, y) : std::nullopt;
}

}  // namespace benanza::importer
