// SPDX-License-Identifier: Apache-2.0
// Exchanges between workers.
#pragma once

#include <benanza/op/detail/consistent.hpp>
#include <benanza/op/operator.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace benanza::op {

enum class CollectiveKind : std::uint8_t { all_reduce, reduce_scatter, all_gather };
[[nodiscard]] constexpr std::array<std::string_view, 3> enum_names(CollectiveKind) {
  return {"AllReduce", "ReduceScatter", "AllGather"};
}

/// AllReduce, ReduceScatter, AllGather: exchanges between workers. ONNX has no such operators: training on several
/// workers adds them to an iteration. Each of `ranks` processes calls it. AllReduce: each rank has n elements and gets
/// the sums over all ranks. ReduceScatter: each rank has n elements and gets n / ranks of the sums. AllGather: each
/// rank has n / ranks elements and gets those of all ranks.
template <CollectiveKind K>
struct Collective {
  static constexpr std::string_view kind = enum_names(K)[static_cast<std::size_t>(K)];
  static constexpr Family family = Family::other;
  static constexpr std::array<std::string_view, 0> onnx_types{};
  DataType type = DataType::f32;
  std::int64_t n = 0;      ///< elements of the whole tensor
  std::int64_t ranks = 2;  ///< processes that take part

  template <class Self, class Visit>
  static constexpr void fields(Self& self, Visit&& visit) {
    visit("type", self.type);
    visit("n", self.n);
    visit("ranks", self.ranks);
  }
  constexpr bool operator==(const Collective&) const = default;

  [[nodiscard]] static std::optional<Collective> from(const Node&, const Graph&) { return std::nullopt; }

  [[nodiscard]] constexpr std::int64_t elements_in() const { return K == CollectiveKind::all_gather ? n / ranks : n; }
  [[nodiscard]] constexpr std::int64_t elements_out() const {
    return K == CollectiveKind::reduce_scatter ? n / ranks : n;
  }
  [[nodiscard]] Operands operands() const {
    return {.inputs = {{.name = "x", .type = type, .shape = {elements_in()}}},
            .outputs = {{.name = "y", .type = type, .shape = {elements_out()}}}};
  }
  /// Each element is added ranks - 1 times. The ranks share this work.
  [[nodiscard]] constexpr Arithmetic arithmetic() const {
    if (K == CollectiveKind::all_gather) return {};
    return {.flops = static_cast<double>(n) * static_cast<double>(ranks - 1) / static_cast<double>(ranks)};
  }

  [[nodiscard]] constexpr bool consistent() const {
    constexpr std::int64_t most_ranks = 1 << 20;
    if (n < 1 || n > detail::largest_size || ranks < 2 || ranks > most_ranks) return false;
    return K == CollectiveKind::all_reduce || n % ranks == 0;
  }
};

using AllReduce = Collective<CollectiveKind::all_reduce>;
using ReduceScatter = Collective<CollectiveKind::reduce_scatter>;
using AllGather = Collective<CollectiveKind::all_gather>;

}  // namespace benanza::op
