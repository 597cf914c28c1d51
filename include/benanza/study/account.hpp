// SPDX-License-Identifier: Apache-2.0
// account_of: a model's bounds from Benanza's own results, as an account of a study.
#pragma once

#include <benanza/bounds/analysis.hpp>
#include <benanza/study/study.hpp>

#include <span>

namespace benanza {

/// The bounds of its rungs.
[[nodiscard]] Rungs bounds_of(const Analysis& analysis);

/// `analysis` has candidates (`AnalysisOptions::candidates`), without which nothing is known of advice and layouts.
/// `narrower`: the same model in other types; one that lacks layers is left out.
///
/// By advice, a layer takes longer by the difference of the fastest row that a library advises and the fastest one of
/// the libraries that advise: the choice among libraries is nobody's advice.
[[nodiscard]] StudyAccount account_of(const Analysis& analysis, std::span<const Analysis> narrower = {});

}  // namespace benanza
