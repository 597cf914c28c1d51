// SPDX-License-Identifier: Apache-2.0
// `gap --prove`: advice measured again with the change made, where Benanza can make it.
#pragma once

#include "measuring.hpp"
#include <benanza/fusion/model_layers.hpp>
#include <benanza/report/gap_report.hpp>

#include <functional>
#include <vector>

namespace benanza::tool {

struct Proved {
  std::vector<Proof> proofs{};
  int interrupted = 0;  ///< exit code of the signal that ended it early; other proofs give that as reason
};

/// Measures anew the calls that would take the place of the engine's, every plan of every library: algorithm, layout,
/// fusion and thread count are the ones that `bench::measure` finds best. A change of type is measured as the model in
/// that type, which `retyped` gives; branches in parallel are the model's calls timed anew, since no two run at a time.
/// What only the engine could change is named with the reason.
[[nodiscard]] Proved prove(const GapReport& report, const ModelLayers& model, Session& session, Seconds budget,
                           bool quiet, const std::function<ModelLayers(DataType)>& retyped);

}  // namespace benanza::tool
