// SPDX-License-Identifier: Apache-2.0
// PoolMode: how a pool reduces a window; and the function that reads a node's windows.
#pragma once

#include <benanza/detail/node.hpp>
#include <benanza/detail/window_axes.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace benanza::op {

enum class PoolMode : std::uint8_t { max, average, lp };
[[nodiscard]] constexpr auto enum_names(PoolMode) { return std::array<std::string_view, 3>{"max", "average", "lp"}; }

/// Windows of a pool, and whether an average counts the cells of the padding.
struct PoolWindows {
  detail::WindowAxes axes{};
  bool include_pad = false;
};

/// The windows of a pool over x, N C spatial..., or of the gradient of a pool. Nothing if the lists do not match.
[[nodiscard]] inline std::optional<PoolWindows> read_pool_windows(const Node& node, std::span<const std::int64_t> x,
                                                                  PoolMode mode) {
  const bool global = node.op_type.find("Global") != std::string::npos;
  const auto kernel = global ? detail::Dims(x.begin() + 2, x.end()) : node.attribute<detail::Dims>("kernel_shape", {});
  auto axes = detail::WindowAxes::read(node, x.subspan(2), kernel);
  if (!axes) return std::nullopt;
  const std::string auto_pad = node.attribute<std::string>("auto_pad", "NOTSET");
  axes->resolve_same_padding(auto_pad);
  const bool padded = !axes->pads().empty();
  if (node.attribute<std::int64_t>("ceil_mode", 0) != 0 && !auto_pad.starts_with("SAME")) axes->resolve_ceil_mode();
  axes->canonicalise();
  const bool include_pad =
      mode == PoolMode::average && padded && node.attribute<std::int64_t>("count_include_pad", 0) != 0;
  return PoolWindows{std::move(*axes), include_pad};
}

}  // namespace benanza::op
