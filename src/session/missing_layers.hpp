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
  std::vector<Measurement> earlier{};  ///< rows of layers that are tuned again
  std::string name{};                  ///< name of the run: the models that need it
  std::size_t needed = 0;              ///< number of unique layers of all models
  Seconds saved{};                     ///< least time that measuring took for the layers that are not tuned
};

/// `question`: what known rows must be able to answer.
[[nodiscard]] MissingLayers missing_layers(const ResultDatabase& database, std::span<const ModelLayers> models,
                                           const bench::Question& question, Again again);

}  // namespace benanza
