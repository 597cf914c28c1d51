// SPDX-License-Identifier: Apache-2.0
#include "evaluate.hpp"
#include "function.hpp"
#include "index.hpp"

namespace benanza::reference {

Elements compute(const op::Unary& unary, const Query& query) {
  const bool quantized = is_8_bit(unary.type) && !is_exact_on_integers(unary.fn);
  const DataType type = quantized ? DataType::f64 : unary.type;
  return query.map(
      [&](std::int64_t flat) { return apply(unary.fn, type, query.input(0)[flat], unary.alpha, unary.beta); });
}

Elements compute(const op::Binary& binary, const Query& query) {
  const TensorShape y = binary.y();
  const ConstTensor &a = query.input(0), &b = query.input(binary.same ? 0 : 1);
  const DataType type = binary.scaled ? DataType::f64 : binary.type;
  return query.map([&](std::int64_t flat) {
    const TensorShape at = coordinates(y, flat);
    return apply(binary.fn, type, a[broadcast_index(binary.a, at)], b[broadcast_index(b.shape, at)]);
  });
}

Elements compute(const op::Nary& nary, const Query& query) {
  return query.map([&](std::int64_t flat) {
    double value = query.input(0)[flat];
    for (std::size_t i = 1; i < static_cast<std::size_t>(nary.count); ++i)
      value = apply(nary.fn, nary.type, value, query.input(i)[flat]);
    return nary.mean ? value / static_cast<double>(nary.count) : value;
  });
}

Elements compute(const op::Where& where, const Query& query) {
  const TensorShape output = where.output();
  return query.map([&](std::int64_t flat) {
    const TensorShape at = coordinates(output, flat);
    const ConstTensor& chosen = query.input(query.input(0)[broadcast_index(where.c, at)] != 0 ? 1 : 2);
    return chosen[broadcast_index(chosen.shape, at)];
  });
}

}  // namespace benanza::reference
