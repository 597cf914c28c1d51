// SPDX-License-Identifier: Apache-2.0
// account_of: makes an account of a study from a model's bounds by Benanza's own results.
#pragma once

#include <benanza/bounds/analysis.hpp>
#include <benanza/study/study.hpp>

#include <span>

namespace benanza {

/// The bounds of its rungs, without those that are mostly floors.
[[nodiscard]] Rungs bounds_of(const Analysis& analysis);

/// `analysis` must have candidates (`AnalysisOptions::candidates`); without them nothing is known about advice and
/// layouts. `narrower`: the same model in other types; one that lacks layers is left out.
///
/// With the advised algorithms, a layer takes longer by the difference between the fastest row that a library advises
/// and the fastest row of the libraries that advise: no library advises which library to choose.
[[nodiscard]] StudyAccount account_of(const Analysis& analysis, std::span<const Analysis> narrower = {});

}  // namespace benanza
