// SPDX-License-Identifier: Apache-2.0
// THE list of default patterns.
#pragma once

#include <benanza/fusion/default_patterns.hpp>
#include <benanza/fusion/detail/activation.hpp>
#include <benanza/fusion/detail/attention.hpp>
#include <benanza/fusion/detail/epilogue_group.hpp>
#include <benanza/fusion/detail/expression_group.hpp>
#include <benanza/fusion/detail/gated_product.hpp>
#include <benanza/fusion/detail/normalization.hpp>
#include <benanza/fusion/detail/padding.hpp>
#include <benanza/fusion/detail/residual_norm.hpp>
#include <benanza/fusion/detail/rotary.hpp>
#include <benanza/fusion/detail/shared_input.hpp>
#include <benanza/impl/inline.hpp>

#include <vector>

namespace benanza {

BENANZA_INLINE std::vector<Pattern> default_patterns() {
  return {{"activation", detail::match_activation},
          {"norm", detail::match_norm},
          {"rotary", detail::match_rotary},
          {"attention", detail::match_attention},
          {"padding", detail::match_padding},
          {"product_epilogue", detail::match_product_epilogue},
          {"shared_input", detail::match_shared_input},
          {"gated_product", detail::match_gated_product},
          {"elementwise_chain", detail::match_elementwise_chain},
          {"residual_norm", detail::match_residual_norm},
          {.name = "expression", .over = [](const LayerGraph& single) -> Pattern::Matcher {
             return [groups = detail::ExpressionGroups(single)](const LayerGraph& graph, std::size_t at) mutable {
               return groups.match(graph, at);
             };
           }}};
}

}  // namespace benanza
