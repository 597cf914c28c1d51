// SPDX-License-Identifier: Apache-2.0
// LadderInput: everything that the rungs are made of.
#pragma once

#include <benanza/bounds/analysis.hpp>
#include <benanza/bounds/detail/partition.hpp>
#include <benanza/bounds/detail/row_times.hpp>
#include <benanza/model/model_layers.hpp>

#include <array>

namespace benanza::detail {

struct LadderInput {
  const ModelLayers& model;
  const FormPlans& bound;
  const FormPlans& expected;  ///< equals `bound` if calls have no launch overhead
  const RowTimes& times;
  const Ceilings& ceilings;
  int threads = 1;
  bool device = false;  ///< an accelerator, whose branches overlap
};

using Rungs = std::array<Rung, rung_count>;

}  // namespace benanza::detail
