// SPDX-License-Identifier: Apache-2.0
// `gap --prove`: measures again with the advised change, if Benanza can make it.
#pragma once

#include "measuring.hpp"
#include <benanza/fusion/model_layers.hpp>
#include <benanza/report/gap_report.hpp>

#include <functional>
#include <vector>

namespace benanza::tool {

struct Proved {
  std::vector<Proof> proofs{};
  int interrupted = 0;  ///< exit code of the signal that ended it early; remaining proofs give that as their reason
};

/// Measures again the calls that would replace the engine's, with every plan of every library: algorithm, layout,
/// fusion and thread count are those that `measure::measure` finds best. A change of type is measured as the model in
/// that type, which `retyped` returns. For branches in parallel, the model's calls are timed again, since no two run at
/// a time. Changes that only the engine could make are listed with the reason.
[[nodiscard]] Proved prove(const GapReport& report, const ModelLayers& model, Session& session, Seconds budget,
                           bool quiet, const std::function<ModelLayers(DataType)>& retyped);

}  // namespace benanza::tool
