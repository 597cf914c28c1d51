// SPDX-License-Identifier: Apache-2.0
// MissingLayers: what models need and a database lacks.
#pragma once

#include "measure/known.hpp"
#include <benanza/session/session.hpp>

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace benanza {

struct MissingLayers {
  std::vector<measure::Wanted> layers{};
  std::vector<Measurement> earlier{};  ///< rows of layers that are tuned again
  std::string name{};                  ///< name of the run: the models that need it
  std::size_t needed = 0;              ///< number of unique layers of all models
  Seconds saved{};                     ///< least time that measuring took for the layers that are not tuned
};

/// A session that may try plans again that ended the process that tried them.
struct Retry {
  std::string day{};   ///< as a run's date begins: `2026-11-28`
  std::string tool{};  ///< Benanza's version
};

/// `question`: what known rows must be able to answer. With `retry`, layers are tuned again for a plan that ended the
/// last process that tried it, if it has done so in at most two sessions, on other days or with other versions of
/// Benanza. Plans end for reasons outside them: another process took the memory, or somebody killed the worker.
[[nodiscard]] MissingLayers missing_layers(const ResultDatabase& database, std::span<const ModelLayers> models,
                                           const measure::Question& question, Again again,
                                           const std::optional<Retry>& retry = {});

}  // namespace benanza
