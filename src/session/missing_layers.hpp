// SPDX-License-Identifier: Apache-2.0
// MissingLayers: what models need and a database lacks.
#pragma once

#include <benanza/measure/known.hpp>
#include <benanza/session/session.hpp>

#include <set>
#include <string>
#include <vector>

namespace benanza {

struct MissingLayers {
  std::vector<bench::Wanted> layers{};
  std::vector<Measurement> earlier{};  ///< rows of layers that are tuned once more
  std::string name{};                  ///< name of the run: the models that need it
  std::size_t needed = 0;              ///< unique layers of all the models
  Seconds saved{};                     ///< what measuring those took at least that are not tuned
};

/// `question`: what known rows have to answer for.
[[nodiscard]] MissingLayers missing_layers(const ResultDatabase& database, std::span<const ModelLayers> models,
                                           const bench::Question& question, Again again);

}  // namespace benanza
