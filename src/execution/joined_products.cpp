// SPDX-License-Identifier: Apache-2.0
#include "joined_products.hpp"

#include <benanza/model/make_layer.hpp>

#include <cstring>
#include <utility>

namespace benanza::execution {

namespace {

/// The nodes of each product: the product and its bias.
std::vector<std::span<const std::size_t>> products_of(const Graph& graph, std::span<const std::size_t> nodes) {
  std::vector<std::size_t> begins;
  for (std::size_t i = 0; i < nodes.size(); ++i)
    if (std::holds_alternative<op::MatMul>(make_layer(graph.nodes[nodes[i]], graph))) begins.push_back(i);
  if (begins.empty() || begins[0] != 0) return {};
  std::vector<std::span<const std::size_t>> result;
  for (std::size_t k = 0; k < begins.size(); ++k) {
    const std::size_t end = k + 1 < begins.size() ? begins[k + 1] : nodes.size();
    result.push_back(nodes.subspan(begins[k], end - begins[k]));
  }
  return result;
}

/// One product with its bias. Operands are the row, constant weights and, if there is one, a constant bias.
std::optional<GroupCall> bind_one(const Graph& graph, std::span<const std::size_t> nodes,
                                  const TensorStore& constants) {
  auto head = bind_single(graph, nodes[0], constants);
  auto* product = head ? std::get_if<op::MatMul>(&head->layer) : nullptr;
  if (product == nullptr) return std::nullopt;
  if (nodes.size() > 1) {
    if (!product->post.empty()) return std::nullopt;
    op::MatMul with_bias = *product;
    with_bias.post = {bias};
    head = bind_group(graph, nodes, with_bias, constants);
    product = head ? std::get_if<op::MatMul>(&head->layer) : nullptr;
    if (product == nullptr) return std::nullopt;
  }
  const bool has_bias = product->post == Epilogue{bias};
  if ((!has_bias && !product->post.empty()) || head->operands.size() != (has_bias ? 3U : 2U) ||
      head->operands[0].constant || !head->outputs[0])
    return std::nullopt;
  for (std::size_t i = 1; i < head->operands.size(); ++i)
    if (!head->operands[i].constant) return std::nullopt;
  return head;
}

/// Copies a matrix of `rows` rows into one of `total` columns, after the first `before` columns.
void copy_columns(const Tensor& from, std::byte* to, std::int64_t rows, std::int64_t before, std::int64_t total) {
  const std::size_t row = from.bytes() / static_cast<std::size_t>(rows);
  const std::size_t cell = from.bytes() / static_cast<std::size_t>(from.elements());
  for (std::int64_t i = 0; i < rows; ++i)
    std::memcpy(to + static_cast<std::size_t>(i * total + before) * cell,
                static_cast<const std::byte*>(from.data()) + static_cast<std::size_t>(i) * row, row);
}

}  // namespace

std::optional<GroupCall> bind_products(const Graph& graph, std::span<const std::size_t> nodes, const op::MatMul& all,
                                       const TensorStore& constants) {
  constexpr std::size_t alignment = 64;  // every operand has it (plan/backend.hpp)
  const bool has_bias = all.post == Epilogue{bias};
  if (all.a.size() != 2 || all.m() != 1 || all.b.size() != 2 || !is_float(all.type) || all.b_type || all.y_type ||
      (!has_bias && !all.post.empty()))
    return std::nullopt;
  const auto products = products_of(graph, nodes);
  if (products.size() < 2) return std::nullopt;
  std::vector<GroupCall> parts;
  std::int64_t columns = 0;
  for (const auto product : products) {
    auto one = bind_one(graph, product, constants);
    if (!one) return std::nullopt;
    const auto& layer = std::get<op::MatMul>(one->layer);
    op::MatMul alone = all;
    alone.b[1] = layer.n();
    alone.post = layer.post;
    const auto bytes = static_cast<std::size_t>(columns * bits(all.type) / 8);
    if (layer != alone || (!has_bias && !layer.post.empty()) || bytes % alignment != 0 ||
        (!parts.empty() && one->operands[0].value != parts[0].operands[0].value))
      return std::nullopt;
    columns += layer.n();
    parts.push_back(std::move(*one));
  }
  if (columns != all.n()) return std::nullopt;
  GroupCall group{.layer = all, .shapes = all.operands(), .numbers = parts[0].numbers};
  group.nodes.assign(nodes.begin(), nodes.end());
  group.operands.push_back(parts[0].operands[0]);
  group.outputs.resize(1);
  Tensor weights(all.type, {all.k(), columns}), biases(all.type, {columns});
  std::memset(biases.writable(), 0, biases.bytes());
  std::int64_t before = 0;
  for (const auto& part : parts) {
    const std::int64_t own = std::get<op::MatMul>(part.layer).n();
    copy_columns(*part.operands[1].constant, static_cast<std::byte*>(weights.writable()), all.k(), before, columns);
    if (part.operands.size() > 2)
      copy_columns(*part.operands[2].constant, static_cast<std::byte*>(biases.writable()), 1, before, columns);
    group.parts.push_back({*part.outputs[0], static_cast<std::size_t>(before * bits(all.type) / 8)});
    before += own;
  }
  group.operands.push_back({.constant = std::move(weights)});
  if (has_bias) group.operands.push_back({.constant = std::move(biases)});
  return group;
}

}  // namespace benanza::execution
