// SPDX-License-Identifier: Apache-2.0
// What else a gap shows: branches, algorithms, fusion, types, layouts, and the library's own distance from the
// roofline.
#pragma once

#include <benanza/gap/gap.hpp>
#include <benanza/model/model_layers.hpp>

namespace benanza::gap {

/// The rungs, each compared with the latency.
[[nodiscard]] std::vector<RungRatio> ratios_of(const Analysis& analysis, const Gap& gap);
[[nodiscard]] ParallelGain parallel_gain(const Analysis& analysis, const Gap& gap);
/// From API logs and from the plans that records name. In algorithm_choices.cpp.
[[nodiscard]] std::vector<AlgorithmChoice> algorithm_choices(const Analysis& analysis, const EngineProfile& profile,
                                                             const Gap& gap);
/// By pattern, over all groups of the fused form.
[[nodiscard]] std::vector<FusionGain> fusion_gains(const Analysis& analysis, const ModelLayers& model, const Gap& gap);
[[nodiscard]] std::vector<TypeGain> type_gains(const Analysis& analysis, const std::vector<Analysis>& others);
[[nodiscard]] std::vector<LayoutGain> layout_gains(const Analysis& analysis);
[[nodiscard]] std::vector<LibraryGap> library_gaps(const Analysis& analysis);
[[nodiscard]] std::vector<BackendGain> backend_gains(const Analysis& analysis, const EngineProfile& profile,
                                                     const Gap& gap);
/// Records whose shapes or types differ from the model's, or whose order its edges do not allow. In deviations.cpp.
[[nodiscard]] std::vector<std::string> deviations_of(const ModelLayers& model, const EngineProfile& profile,
                                                     const Gap& gap);

}  // namespace benanza::gap
