// SPDX-License-Identifier: Apache-2.0
// Compares the plans that an engine chose with the best known ones.
#include "candidates_of_row.hpp"
#include "engine_library.hpp"
#include "gap_questions.hpp"
#include <benanza/model/data_type.hpp>
#include <benanza/model/layer.hpp>
#include <benanza/model/layer_signature.hpp>
#include <benanza/results/comparison.hpp>
#include <benanza/results/expected_time.hpp>

#include <algorithm>
#include <cmath>

namespace benanza::gap {

namespace {

const LayerRow* row_of(const Analysis& analysis, const std::string& signature) {
  const LayerRow* found = nullptr;
  for (const auto& row : analysis.rows)
    if (row.signature == signature && (!found || row.form == Form::fused)) found = &row;
  return found;
}

/// Whether the name of an implementation ends in an element type that the layer does not have: `..._bf16` of an f32
/// layer.
bool names_other_type(std::string_view implementation, const Layer& layer) {
  const auto said = data_type_from_name(implementation.substr(implementation.rfind('_') + 1));
  const DataType own = type(layer);
  const bool bytes = said && bits(*said) == 8 && bits(own) == 8;  // signed or not
  return said && *said != own && !bytes;
}

/// The fastest plan of that name, of a library or, if `library` is empty, of any library. For oneDNN, also accepts the
/// way engines write the name of an implementation.
const Measurement* find_candidate(const LayerRow& row, std::string_view library, const std::string& algorithm) {
  const std::string_view name = without_keys(algorithm);
  const auto is_of = [&](const Measurement& candidate) { return library.empty() || candidate.backend == library; };
  const Measurement* exact = fastest(row, [&](const Measurement& candidate) {
    return is_of(candidate) && (candidate.algorithm == algorithm || without_keys(candidate.algorithm) == name);
  });
  const std::string kernel = library == "onednn" ? onednn_kernel(name) : "";
  if (exact || kernel.empty() || names_other_type(name, parse_layer(row.signature))) return exact;
  return fastest(row, [&](const Measurement& candidate) {
    return is_of(candidate) && onednn_kernel(without_keys(candidate.algorithm)) == kernel;
  });
}

/// Uncertainty of the difference of two rows' times; empty if the spread of either is not known.
std::optional<Seconds> uncertainty_between(const Measurement& a, const Measurement& b) {
  const Timing one = timing_of(a), other = timing_of(b);
  if (!one.noise || !other.noise) return std::nullopt;
  return Seconds{std::hypot(*one.noise * one.median.value, *other.noise * other.median.value)};
}

AlgorithmChoice choice_of(const LayerRow& row, const Measurement* chosen, std::string library,
                          const std::string& algorithm) {
  AlgorithmChoice choice{.layer = row.nodes.empty() ? "" : row.nodes.front(),
                         .signature = row.signature,
                         .library = std::move(library),
                         .chosen = algorithm};
  if (chosen) choice.chosen_time = expected_time(*chosen);
  if (row.chosen) {
    choice.best = row.chosen->backend + " " + row.chosen->algorithm;
    choice.best_time = expected_time(*row.chosen);
    if (chosen) choice.uncertainty = uncertainty_between(*chosen, *row.chosen);
  }
  return choice;
}

}  // namespace

std::vector<AlgorithmChoice> algorithm_choices(const Analysis& analysis, const EngineProfile& profile, const Gap& gap) {
  std::vector<AlgorithmChoice> result;
  for (const auto& call : profile.calls) {
    if (call.algorithm.empty() && call.signature.empty()) continue;
    const LayerRow* row = call.signature.empty() ? nullptr : row_of(analysis, call.signature);
    AlgorithmChoice choice =
        row ? choice_of(*row, find_candidate(*row, call.library, call.algorithm), call.library, call.algorithm)
            : AlgorithmChoice{.signature = call.signature, .library = call.library, .chosen = call.algorithm};
    choice.math = call.math;
    choice.count = std::max<std::int64_t>(1, call.count);
    result.push_back(std::move(choice));
  }
  for (const auto& group : gap.groups) {
    if (group.records.size() != 1 || group.signatures.size() != 1) continue;
    const ProfileRecord& record = profile.records[gap.records[group.records.front()].record];
    const LayerRow* row = record.algorithm.empty() ? nullptr : row_of(analysis, group.signatures.front());
    if (!row) continue;
    const Measurement* chosen = find_candidate(*row, library_of(record), record.algorithm);
    if (!chosen) continue;  // not a plan of an available library
    AlgorithmChoice choice = choice_of(*row, chosen, "", record.algorithm);
    choice.layer = group.name;
    result.push_back(std::move(choice));
  }
  std::stable_sort(result.begin(), result.end(), [](const AlgorithmChoice& a, const AlgorithmChoice& b) {
    return a.gain().value_or(Seconds{-1}) > b.gain().value_or(Seconds{-1});
  });
  return result;
}

}  // namespace benanza::gap
